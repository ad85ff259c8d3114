package kv

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"reeve/store/disk/disktest"
)

// archiveWith writes an archive, encrypted if there are recipients.
func archiveWith(t *testing.T, db *DB, withKey bool, recipients ...age.Recipient) (path string) {
	t.Helper()
	b, err := db.Backup(t.Context(), withKey)
	if err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	size := b.Size()
	if len(recipients) > 0 {
		if size, err = b.EncryptedSize(recipients); err == nil {
			err = b.Encrypt(&out, recipients)
		}
	} else {
		_, err = b.WriteTo(&out)
	}
	if err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "size", int64(out.Len()), size)
	path = filepath.Join(t.TempDir(), "backup")
	disktest.WriteFile(t, path, out.Bytes())
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	return path
}

func newIdentity(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// An encrypted backup includes the key and can be restored anywhere with an identity.
func TestEncryptedBackup_Restore(t *testing.T) {
	dir, want := withSecrets(t, 2)
	db := open(t, dir, Options{Schema: &office})
	mustPut(t, db, "file.txt", bytes.Repeat([]byte("bytes of a file "), 10_000))
	right, other := newIdentity(t), newIdentity(t)
	path := archiveWith(t, db, true, right.Recipient(), newIdentity(t).Recipient())
	sealed := disktest.ReadFile(t, path)
	for _, secret := range []string{strings.TrimSpace(string(disktest.ReadFile(t,
		filepath.Join(dir, keyName)))), "manifest.json", "bytes of a file"} {
		if bytes.Contains(sealed, []byte(secret)) {
			t.Errorf("%q can be read in it", secret)
		}
	}

	target := t.TempDir()
	for says, identities := range map[string][]age.Identity{
		"--identity":               nil,
		"for a different identity": {other},
	} {
		if _, err := Restore(target, path, identities, Options{Schema: &office}); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}

	done, err := Restore(target, path, []age.Identity{other, right}, Options{Schema: &office})
	if err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "result", done, Restored{Records: 4})
	disktest.Equal(t, "secrets", secretTexts(t, open(t, target, Options{Schema: &office})), want)
	for name, damage := range map[string]func([]byte) []byte{
		"cut off":     func(b []byte) []byte { return b[:len(b)-20] },
		"a chunk off": func(b []byte) []byte { return b[:len(b)-64<<10-16] },
		"a bit":       func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"prolonged":   func(b []byte) []byte { return append(b, "more"...) },
	} {
		bad, fresh := filepath.Join(t.TempDir(), "bad"), t.TempDir()
		disktest.WriteFile(t, bad, damage(bytes.Clone(sealed)))
		if _, err := Restore(fresh, bad, []age.Identity{right}, Options{Schema: &office}); err == nil {
			t.Errorf("%s: it was restored", name)
		}
		if _, err := os.Stat(filepath.Join(fresh, dataName)); err == nil {
			t.Errorf("%s: something of it was kept", name)
		}
	}
}

// A backup without the key can be restored where the key is. Elsewhere, the secret values that
// must be entered again are listed.
func TestBackup_WithoutKey(t *testing.T) {
	dir, want := withSecrets(t, 2)
	db := open(t, dir, Options{Schema: &office})
	key := disktest.ReadFile(t, filepath.Join(dir, keyName))
	path := archiveWith(t, db, false)
	if bytes.Contains(disktest.ReadFile(t, path), key[:64]) {
		t.Error("it has the key")
	}

	closed(t, db)
	names := []string{"secret password0", "secret password1"}

	done, err := Restore(dir, path, nil, Options{Schema: &office})
	if err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "what is missing where the key is", done.Unopened, []string(nil))
	db = open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "secrets where the key is", secretTexts(t, db), want)
	closed(t, db)

	for name, prepare := range map[string]func(dir string){
		"an empty directory": func(string) {},
		"another database": func(dir string) {
			closed(t, open(t, dir, Options{Schema: &office}))
		},
		"a damaged key there": func(dir string) {
			closed(t, open(t, dir, Options{Schema: &office}))
			disktest.WriteFile(t, filepath.Join(dir, keyName), []byte("x"))
		},
	} {
		target := t.TempDir()
		prepare(target)
		done, err := Restore(target, path, nil, Options{Schema: &office})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		disktest.Equal(t, name, done.Unopened, names)
		db := open(t, target, Options{Schema: &office})
		for _, text := range secretTexts(t, db) {
			if !strings.Contains(text, "enter it again") {
				t.Errorf("%s: %q", name, text)
			}
		}

		state, err := db.Secrets()
		disktest.Equal(t, name+": state", state, SecretState{Unopened: names})
		if err != nil {
			t.Error(err)
		}

		update(t, db, func(tx *Tx) error { // a value that is entered again is sealed with the new key
			return setSecret(tx, 1, "again")
		})
		disktest.Equal(t, name+": again", secretTexts(t, db)[0], "again")
		closed(t, db)
	}
}

// A key that does not fit the database is not restored, and the existing key stays if it fits.
func TestBackup_WithWrongKey(t *testing.T) {
	dir, want := withSecrets(t, 1)
	db := open(t, dir, Options{Schema: &office})
	a := takeApart(t, disktest.ReadFile(t, archiveOf(t, db)))
	wrong := []byte(newSecretKey().text + "\n")
	a.entries[1].data, a.manifest.Entries[1].SHA256 = wrong, sha256.Sum256(wrong)
	closed(t, db)
	path := filepath.Join(t.TempDir(), "backup")
	disktest.WriteFile(t, path, a.together(t))
	target := t.TempDir()
	done, err := Restore(target, path, nil, Options{Schema: &office})
	if err != nil || !done.WrongKey || len(done.Unopened) != 1 {
		t.Errorf("%+v, %v", done, err)
	}

	done, err = Restore(dir, path, nil, Options{Schema: &office})
	if err != nil || !done.WrongKey || len(done.Unopened) != 0 {
		t.Errorf("where the right one is: %+v, %v", done, err)
	}

	disktest.Equal(t, "secrets", secretTexts(t, open(t, dir, Options{Schema: &office})), want)
}
