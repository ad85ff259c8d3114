package e2e

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
)

// canaries are texts that neither etcd nor the bucket may show, by what they are.
type canaries map[string]string

// unseen returns a text that comes once in the world.
func unseen(kind string) string { return "canary-" + kind + "-" + strings.ToLower(rand.Text()[:12]) }

// plant gives a cluster secrets, at each node some.
func (d *drill) plant() canaries {
	t := d.t
	t.Helper()
	all := canaries{"session": d.token}
	for _, kind := range []string{"username", "name", "mail", "password", "department", "setting", "file", "content", "key name"} {
		all[kind] = unseen(strings.ReplaceAll(kind, " ", "-"))
	}
	all["mail"] += "@example.org"
	d.at(0, d.token).want(200, "POST", "/admin/list", object("username", all["username"], "nickname", all["name"],
		"email", all["mail"], "password", all["password"]))
	d.at(1, d.token).want(200, "PUT", "/system/setting", values("mail.password", all["setting"]))
	d.at(2, d.token).want(200, "POST", "/admin/dept", object("name", all["department"], "status", 1))
	all["role"] = unseen("role")
	role := d.at(0, d.token).want(200, "POST", "/admin/role", object("name", all["role"], "data_scope", "all"))
	key := d.at(0, d.token).want(200, "POST", "/admin/key", object("name", all["key name"], "role_ids", []int{into[struct{ ID int }](t, role).ID}))
	all["key"] = into[struct{ Token string }](t, key).Token
	d.at(1, d.token).upload(all["file"], strings.Repeat("a text with "+all["content"]+" in it\n", 5000))
	return all
}

var hashed = regexp.MustCompile(`\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}`)

// grow adds what only the data of a node know: the hashes, and the key of the cluster.
func (all canaries) grow(t *testing.T, dir string, rows map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	noErr(t, err)
	secret := strings.TrimSpace(string(text))
	raw, err := hex.DecodeString(secret)
	noErr(t, err)
	all["secret.key"], all["bytes of secret.key"] = secret, string(raw)
	hashes := map[string]bool{}
	for _, value := range rows {
		for _, hash := range hashed.FindAllString(value, -1) {
			hashes[hash] = true
		}
	}
	if len(hashes) < 2 {
		t.Fatalf("the records have %d hashes of passwords", len(hashes))
	}
	for i, hash := range slices.Sorted(maps.Keys(hashes)) {
		all[fmt.Sprint("hash ", i)] = hash
	}
	values := slices.Collect(maps.Values(rows))
	for _, kind := range []string{"username", "name", "mail", "department", "file", "role", "key name", "hash 0"} { // the others are hashed, sealed or elsewhere
		if !slices.ContainsFunc(values, func(value string) bool { return strings.Contains(value, all[kind]) }) {
			t.Errorf("the records have no %s, so that none can be found", kind)
		}
	}
}

// in returns which of the texts bytes have: as they are, in base64, or compressed.
func (all canaries) in(text []byte) (found []string) {
	look := func(text []byte) {
		for kind, canary := range all {
			if bytes.Contains(text, []byte(canary)) || bytes.Contains(text, []byte(base64.RawStdEncoding.EncodeToString([]byte(canary)[:len(canary)/3*3]))) {
				found = append(found, kind)
			}
		}
	}
	look(text)
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], []byte{0x1f, 0x8b, 8})
		if i < 0 {
			break
		}
		at += i
		if r, err := gzip.NewReader(bytes.NewReader(text[at:])); err == nil {
			unpacked, _ := io.ReadAll(r) // up to its end, or up to what is none
			look(unpacked)
		}
	}
	return found
}

// inValue returns which of the texts a value has, which may be compressed as a whole, after a few bytes.
func (all canaries) inValue(value []byte) (found []string) {
	found = all.in(value)
	for skip := range min(len(value), 16) {
		if n, err := s2.DecodedLen(value[skip:]); err == nil && n < 8<<20 {
			if unpacked, err := s2.Decode(nil, value[skip:]); err == nil {
				found = append(found, all.in(unpacked)...)
			}
		}
		unpacked, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(value[skip:])), 8<<20))
		found = append(found, all.in(unpacked)...)
	}
	return found
}

// inFiles looks for the texts in the names and contents of the files of a directory.
func (all canaries) inFiles(t *testing.T, dir string) (found []string) {
	t.Helper()
	size := 0
	noErr(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		text = bytes.TrimRight(text, "\x00") // etcd makes files larger than they need to be
		size += len(text)
		for _, kind := range append(all.in(text), all.in([]byte(path))...) {
			found = append(found, fmt.Sprintf("%s in %s", kind, path))
		}
		return err
	}))
	if size == 0 {
		t.Errorf("%s has no files", dir)
	}
	return found
}

// inEtcd looks for the texts in all keys and values.
func (all canaries) inEtcd(t *testing.T, url string) (found []string) {
	t.Helper()
	resp, err := http.Post(url+"/v3/kv/range", "application/json", strings.NewReader(`{"key":"AA==","range_end":"AA=="}`))
	noErr(t, err)
	defer resp.Body.Close()
	var got struct{ Kvs []struct{ Key, Value []byte } }
	noErr(t, json.NewDecoder(resp.Body).Decode(&got))
	if len(got.Kvs) < 5 {
		t.Errorf("etcd has %d keys", len(got.Kvs))
	}
	for i, kv := range got.Kvs {
		look := all.in
		if i < 100 || i >= len(got.Kvs)-100 { // the others are entries like these
			look = all.inValue
		}
		for _, kind := range append(look(kv.Value), all.in(kv.Key)...) {
			found = append(found, fmt.Sprintf("%s in %s", kind, kv.Key))
		}
	}
	return found
}

// checkStolen looks at the servers as a thief of their disks does.
func (d *drill) checkStolen(all canaries) {
	t := d.t
	t.Helper()
	found := all.inEtcd(t, d.etcd[0].URL)
	for _, member := range d.etcd {
		found = append(found, all.inFiles(t, member.Dir)...)
	}
	if found = append(found, all.inFiles(t, d.s3.Dir)...); len(found) > 0 {
		t.Errorf("a thief finds %q", found)
	}
}

// TestStolen_Found: what is stored as it is, or compressed, is found.
func TestStolen_Found(t *testing.T) {
	all := canaries{"name": unseen("name")}
	var packed, bare bytes.Buffer
	zip := gzip.NewWriter(&packed)
	fmt.Fprint(zip, "a record of ", all["name"])
	noErr(t, zip.Close())
	deflate, err := flate.NewWriter(&bare, 9)
	noErr(t, err)
	fmt.Fprint(deflate, "a record of ", all["name"])
	noErr(t, deflate.Close())
	for name, text := range map[string][]byte{
		"raw":    []byte("a record of " + all["name"]),
		"gzip":   append([]byte("head \x1f\x8b\x08 "), packed.Bytes()...),
		"s2":     append([]byte("head"), s2.Encode(nil, []byte("a record of "+all["name"]))...),
		"flate":  append([]byte("head"), bare.Bytes()...),
		"base64": []byte(base64.StdEncoding.EncodeToString([]byte(all["name"]))),
	} {
		if len(all.inValue(text)) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
	if found := all.inValue([]byte("another text")); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
