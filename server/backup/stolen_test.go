package backup_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk/disktest"
)

// windowSize is the number of characters of the shortest values that stolen looks for.
const windowSize = 8

// stolen is what is stored at a target, in lower case, by name, with all windows of windowSize bytes in it.
type stolen struct {
	objects map[string][]byte
	windows map[[windowSize]byte]bool
}

// lower returns a text with small letters instead of capital ones, and any other byte as it is.
func lower(text []byte) []byte {
	text = bytes.Clone(text)
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return text
}

// has returns the name of an object that has a value, in its content or in its name; "" for none.
func (s *stolen) has(value []byte) string {
	value = lower(value)
	if len(value) >= windowSize && !s.windows[[windowSize]byte(value)] {
		return ""
	}
	for name, text := range s.objects {
		if bytes.Contains(text, value) {
			return name
		}
	}
	return ""
}

// forms returns a value and, if it is the text of bytes, these.
func forms(value string) [][]byte {
	all := [][]byte{[]byte(value)}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString,
	} {
		if raw, err := decode(value); err == nil && len(raw) >= 2*windowSize {
			all = append(all, raw)
		}
	}
	return all
}

// texts calls fn for each text in a value of JSON.
func texts(value any, fn func(text string)) {
	switch v := value.(type) {
	case string:
		fn(v)
	case []any:
		for _, one := range v {
			texts(one, fn)
		}
	case map[string]any:
		for key, one := range v {
			fn(key)
			texts(one, fn)
		}
	}
}

// sealedFrames checks that a part of the commit stream has a header, whose key is encrypted, and frames.
func sealedFrames(text []byte) error {
	text, ok := bytes.CutPrefix(text, []byte("reeve-stream 1\n"))
	if !ok || len(text) < 4 {
		return errors.New("it is no part of a stream")
	}
	size := binary.BigEndian.Uint32(text)
	var header map[string]any
	if err := json.Unmarshal(text[4:4+size], &header); err != nil {
		return err
	}
	key, err := base64.StdEncoding.DecodeString(fmt.Sprint(header["key"]))
	if err != nil || !bytes.HasPrefix(key, []byte(ageHeader)) || len(header) != 3 {
		return fmt.Errorf("its header has %v, %v", slices.Sorted(maps.Keys(header)), err)
	}
	text = text[4+size:]
	for len(text) > 0 {
		const head = 4 + 1 + 8 + 4 + 4
		frame := text[head : head+int(binary.BigEndian.Uint32(text))]
		if plain, err := s2.Decode(nil, frame); err == nil {
			return fmt.Errorf("a frame has %.40q", plain)
		}
		text = text[head+len(frame):]
	}
	return nil
}

const ageHeader = "age-encryption.org/v1\n"

// TestStolen_ShowsNothing looks in the names and the bytes of all that is stored at a target - copies, contents,
// indexes, proofs, commits, and lists of erasures - for every text of all records of the installation, such as names,
// addresses, hashes and secrets, for their bytes, and for the secrets that users and programs have.
func TestStolen_ShowsNothing(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	secrets := map[string]string{"secret.key": string(bytes.TrimSpace(disktest.ReadFile(t, filepath.Join(k.DB.Dir(), "secret.key")))),
		"identity": k.identity.String(), "password": servertest.OwnerPassword}
	fill := func(when string) {
		k.Dept("Department "+when, 0)
		k.Guest("guest-"+when, when+"@example.org")
		k.AppGuest("buyer-"+when, "app-"+when+"@example.org")
		k.Keep("owner", "Contract "+when+".txt", "signed by both sides "+when)
		k.Create("/system/webhook", fmt.Sprintf(`{"url":"https://hooks-%s.example.org/","types":["*"]}`, when))
		k.Set("site.title", "Title "+when)
		k.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"mail.password":"a mail password %s"}}`, when), "owner")

		who := k.Clerk("clerk-" + when)
		app, codes := k.SetUpFactor("clerk-" + when)
		secrets["authenticator "+when] = app.Secret
		for i, code := range codes {
			secrets[fmt.Sprint("recovery code ", i, " ", when)] = code
		}
		for _, token := range []string{k.Tokens["clerk-"+when], k.SignIn(who.ID)} {
			secrets["session "+token] = token
		}
		_, secrets["API key "+when] = k.Key(who.ID, servertest.PersonalKey)
		link := servertest.NewTestLink(store.Invitation, false, who.ID)
		k.Plant(link, "")
		secrets["link "+when] = link.Token
		secrets["mail password "+when] = "a mail password " + when
	}
	erase := func(name string) {
		u := k.Clerk(name)
		k.OK("POST", fmt.Sprintf("/admin/list/%d/erase", u.ID), fmt.Sprintf(`{"username":%q}`, u.Username), "owner")
	}
	fill("before")
	erase("leaving-before")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	fill("since")
	erase("leaving-since")
	k.stored()
	k.until("contents are stored", func(targetState) bool { return k.Server.Backups.Pending() == 0 })

	found := &stolen{map[string][]byte{}, map[[windowSize]byte]bool{}}
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
		text := disktest.ReadFile(t, path)
		switch {
		case kind == "start":
			if len(text) > 0 {
				t.Errorf("%s has %q", name, text)
			}
		case kind == "stream":
			if err := sealedFrames(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !bytes.HasPrefix(text, []byte(ageHeader)):
			t.Errorf("%s is not encrypted", name)
		}
		text = lower(append([]byte(name+"\n"), bytes.TrimPrefix(text, []byte(ageHeader))...))
		found.objects[name] = text
		for i := range len(text) - windowSize + 1 {
			found.windows[[windowSize]byte(text[i:])] = true
		}
		return nil
	})
	servertest.Must(t, err)
	for _, kind := range []string{"start", ".data", ".manifest", ".proof", ".index", "files", "stream", ".erased"} {
		if kinds[kind] == 0 {
			t.Errorf("there is none of %s", kind)
		}
	}
	if len(kinds) != 8 || kinds["files"] != 2 {
		t.Errorf("%v", kinds)
	}

	values, of := map[string]string{}, map[string]int{} // with the collections that have them
	k.View(func(tx *store.Tx) error {
		for _, table := range store.Tables() {
			for record, err := range table.Records(tx) {
				servertest.Must(t, err)
				var fields any
				servertest.Must(t, json.Unmarshal(servertest.EncodeJSON(t, record), &fields))
				texts(fields, func(text string) {
					if len(text) >= windowSize && text != k.DB.Instance() && text != k.DB.LogHead().Generation { // with which names begin
						values[text] = table.Name()
						of[table.Name()]++
					}
				})
			}
		}
		return nil
	})
	for _, collection := range []string{"user", "app_user", "password_hash", "key_secret", "session_token", "authenticator",
		"recovery_code", "link", "webhook_secret", "setting_secret", "dept", "file"} {
		if of[collection] == 0 {
			t.Errorf("there is no text of %s", collection)
		}
	}
	for name, secret := range secrets {
		values[secret] = name
	}
	for _, name := range []string{"signed by both sides", "Contract", "Department", "Title ", "guest-", "buyer-", "leaving-", "example.org", "secret.key", "data.db"} {
		values[name] = "what users have written"
	}
	for value, of := range values {
		for _, form := range forms(value) {
			if name := found.has(form); name != "" {
				t.Errorf("%s has %q, of %s", name, form, of)
			}
		}
	}
	t.Logf("%d values, %d objects: %v", len(values), len(found.objects), kinds)

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
