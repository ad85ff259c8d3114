package backup_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk/disktest"
)

// TestStolen_ShowsNothing looks for names, addresses, contents, hashes and secrets of the installation in
// all that is stored at a target: copies, contents, indexes, proofs, commits, and lists of erasures.
func TestStolen_ShowsNothing(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	fill := func(when string) {
		k.Dept("Department "+when, 0)
		k.Guest("guest-"+when, when+"@example.org")
		k.Keep("owner", "Contract "+when+".txt", "signed by both sides "+when)
		k.Create("/system/webhook", fmt.Sprintf(`{"url":"https://hooks-%s.example.org/","types":["*"]}`, when))
		k.Set("site.title", "Title "+when)
	}
	fill("before")
	u := k.Clerk("leaving")
	k.OK("POST", fmt.Sprintf("/admin/list/%d/erase", u.ID), fmt.Sprintf(`{"username":%q}`, u.Username), "owner")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	fill("since")
	k.until("contents are stored", func(targetState) bool { return k.Server.Backups.Pending() == 0 })
	k.stored()

	secret := bytes.TrimSpace(disktest.ReadFile(t, filepath.Join(k.DB.Dir(), "secret.key")))
	forbidden := [][]byte{secret, []byte(k.identity.String()), []byte("example.org"), []byte("signed by both sides"), []byte("Contract"),
		[]byte("Department"), []byte("Title "), []byte("guest-"), []byte("leaving"), []byte("secret.key"), []byte("data.db")}
	if raw, err := base64.StdEncoding.DecodeString(string(secret)); err == nil {
		forbidden = append(forbidden, raw)
	}
	if raw, err := hex.DecodeString(string(secret)); err == nil {
		forbidden = append(forbidden, raw)
	}
	k.View(func(tx *store.Tx) error {
		for f, err := range store.Files.All(tx) {
			servertest.Must(t, err)
			forbidden = append(forbidden, f.Digest[:], []byte(f.Digest.String()))
		}
		for u, err := range store.Users.All(tx) {
			servertest.Must(t, err)
			if len(u.Username) > 4 {
				forbidden = append(forbidden, []byte(u.Username))
			}
		}
		for h, err := range store.PasswordHashes.All(tx) {
			servertest.Must(t, err)
			forbidden = append(forbidden, []byte(fmt.Sprint(h.Hash)))
		}
		return nil
	})
	kinds := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		kind := strings.Split(name, "/")[4]
		if ext := filepath.Ext(name); ext == ".proof" || ext == ".manifest" || ext == ".data" || ext == ".index" || ext == ".erased" {
			kind = ext
		}
		kinds[kind]++
		text, err := os.ReadFile(path)
		for _, what := range forbidden {
			if bytes.Contains(text, what) || bytes.Contains(bytes.ToLower(text), bytes.ToLower(what)) || strings.Contains(strings.ToLower(name), strings.ToLower(string(what))) {
				t.Errorf("%s has %q", name, what)
			}
		}
		if len(text) > 0 && !bytes.HasPrefix(text, []byte("age-encryption.org/v1\n")) && kind != "stream" {
			t.Errorf("%s is not encrypted", name)
		}
		return err
	})
	for _, kind := range []string{"start", ".data", ".manifest", ".proof", ".index", "files", "stream", ".erased"} {
		if kinds[kind] == 0 {
			t.Errorf("there is none of %s", kind)
		}
	}
	if err != nil || len(kinds) != 8 || len(forbidden) < 17 {
		t.Errorf("%v, %d forbidden, %v", kinds, len(forbidden), err)
	}

	// All of it is there for the identity.
	in, _, err := k.restore(dir, copies.Moment{At: time.Now()})
	servertest.Must(t, err)
	all := fmt.Sprint(in.Dump())
	for _, want := range []string{"Department since", "since@example.org", "Contract since", "hooks-since", "Title since"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not restored", want)
		}
	}
}
