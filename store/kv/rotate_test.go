package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

// secretTexts returns the texts of all secrets, or the error text of those that cannot be
// opened.
func secretTexts(t *testing.T, db *DB) (texts []string) {
	t.Helper()
	err := db.View(System, func(tx *Tx) error {
		for s, err := range Secrets.All(tx) {
			if err != nil {
				return err
			}
			text, err := secretText(tx, s.ID)
			if err != nil {
				text = err.Error()
			}
			texts = append(texts, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return texts
}

// withSecrets creates a database with n secrets.
func withSecrets(t *testing.T, n int) (dir string, want []string) {
	t.Helper()
	dir = t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	for first := 0; first < n; first += MaxRecordsPerWrite / 2 {
		update(t, db, func(tx *Tx) error {
			for i := first; i < min(first+MaxRecordsPerWrite/2, n); i++ {
				if err := createSecret(tx, fmt.Sprintf("password%d", i), fmt.Sprintf("text %d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}

	for i := range n {
		want = append(want, fmt.Sprintf("text %d", i))
	}

	closed(t, db)
	return dir, want
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSealedFields_Declared(t *testing.T) {
	for _, table := range office.Tables {
		if missing := table.table().undeclaredSealed(); len(missing) > 0 {
			t.Errorf("%v: declare it with Sealed", missing)
		}
	}
	type careless struct {
		Ident
		Token Sealed `json:"token"`
		Timestamps
	}
	disktest.Equal(t, "one that is not",
		NewCollection[careless]("careless").untyped.undeclaredSealed(), []string{"careless.Token"})
}

func TestRotateKey(t *testing.T) {
	dir, want := withSecrets(t, 2*MaxRecordsPerWrite+50)
	path := filepath.Join(dir, keyName)
	old := string(disktest.ReadFile(t, path))
	n, err := RotateKey(dir, Options{Schema: &office})
	if err != nil || n != len(want) {
		t.Fatalf("%d values, %v", n, err)
	}

	fresh := string(disktest.ReadFile(t, path))
	if fresh == old || len(fresh) != len(old) {
		t.Errorf("the key file holds %q", fresh)
	}

	db := open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "secrets", secretTexts(t, db), want)
	disktest.Equal(t, "warnings", db.Warnings(), []string(nil))
	if largest := db.Stats().Largest; largest > MaxRecordsPerWrite {
		t.Errorf("a write changed %d records", largest)
	}

	err = db.View(System, func(tx *Tx) error {
		return tx.eachSealed(func(v sealedValue) error {
			if v.Key != db.keys.current.id {
				t.Errorf("%s is sealed with the key %q", v.place, v.Key)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A rotation that is interrupted at any point leaves usable data, and the next rotation
// completes it. The directories are copies as a crash would leave them.
func TestRotateKey_InterruptedIsCompleted(t *testing.T) {
	dir, want := withSecrets(t, MaxRecordsPerWrite+10)
	var images []string
	image := func() {
		to := t.TempDir()
		for _, name := range []string{dataName, blob.FileName, keyName, markerName} {
			disktest.WriteFile(t, filepath.Join(to, name),
				disktest.ReadFile(t, filepath.Join(dir, name)))
		}
		images = append(images, to)
	}

	db := open(t, dir, Options{Schema: &office})
	db.keys.keys = []*secretKey{newSecretKey(), db.keys.current}
	if err := db.keys.write(dir); err != nil {
		t.Fatal(err)
	}

	closed(t, db)
	image() // the file has both keys, the database is unchanged
	db = open(t, dir, Options{Schema: &office})
	db.OnCommit(func(Changes) { image() })
	db.keys.current = db.keys.keys[0]
	if err := db.setKeyID(db.keys.current.id); err != nil {
		t.Fatal(err)
	}
	if err := db.reseal(); err != nil {
		t.Fatal(err)
	}

	closed(t, db)
	if len(images) < 4 {
		t.Fatalf("%d images", len(images))
	}

	for i, dir := range images {
		db := open(t, dir, Options{Schema: &office})
		disktest.Equal(t, "secrets", secretTexts(t, db), want)
		if w := db.Warnings(); !slices.ContainsFunc(w, func(w string) bool {
			return strings.Contains(w, "reeve secret rotate")
		}) {
			t.Errorf("image %d: %q", i, w)
		}

		closed(t, db)
		if n, err := RotateKey(dir, Options{Schema: &office}); err != nil || n != len(want) {
			t.Errorf("image %d: %d values, %v", i, n, err)
		}
		if keys := strings.Fields(string(disktest.ReadFile(t, filepath.Join(dir, keyName)))); len(keys) != 1 {
			t.Errorf("image %d: %d keys are left", i, len(keys))
		}

		db = open(t, dir, Options{Schema: &office})
		disktest.Equal(t, "secrets after it", secretTexts(t, db), want)
		closed(t, db)
	}
}

// flip changes one digit of a key file.
func flip(t *testing.T, path string) {
	t.Helper()
	key := disktest.ReadFile(t, path)
	key[5] = map[bool]byte{true: '1', false: '0'}[key[5] == '0']
	disktest.WriteFile(t, path, key)
}

func TestSecretKey_WrongIsReported(t *testing.T) {
	dir, want := withSecrets(t, 3)
	path := filepath.Join(dir, keyName)
	right := disktest.ReadFile(t, path)
	flip(t, path)
	db := open(t, dir, Options{Schema: &office})
	if w := db.Warnings(); len(w) != 1 ||
		!strings.Contains(w[0], "is not the key of this database") {
		t.Errorf("at the start: %q", w)
	}

	state, err := db.Secrets()
	disktest.Equal(t, "state", state, SecretState{
		WrongKey: true,
		Unopened: []string{"secret password0", "secret password1", "secret password2"},
	})
	if err != nil {
		t.Error(err)
	}

	err = db.Update(System, func(tx *Tx) error {
		return setSecret(tx, 1, "new")
	})
	if err == nil || !strings.Contains(err.Error(), "restore the right file") {
		t.Errorf("a value was sealed with the wrong key: %v", err)
	}

	closed(t, db)
	report, err := VerifyDir(dir, Options{Schema: &office})
	if err != nil || len(report.Faults) != 1 ||
		!strings.Contains(report.Faults[0], "is not the key of this database") {
		t.Errorf("verify: %+v, %v", report, err)
	}
	if _, err := RotateKey(dir, Options{Schema: &office}); err == nil {
		t.Error("a wrong key was rotated")
	}

	disktest.Equal(t, "the file", len(disktest.ReadFile(t, path)), len(right))
	disktest.WriteFile(t, path, right)
	disktest.Equal(t, "with the right file",
		secretTexts(t, open(t, dir, Options{Schema: &office})), want)
}

// In a directory from before keys had IDs, neither values nor the database have the ID of a
// key.
func TestSecretKey_OlderDatabase(t *testing.T) {
	dir, want := withSecrets(t, 3)
	db := open(t, dir, Options{Schema: &office})
	update(t, db, func(tx *Tx) error {
		if _, err := Installs.Update(tx, 1, func(i *Install) error {
			i.SecretKeyID = ""
			return nil
		}); err != nil {
			return err
		}
		return tx.eachSealed(func(v sealedValue) error { v.Key = ""; return nil })
	})
	closed(t, db)
	db = open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "secrets", secretTexts(t, db), want)
	err := db.View(System, func(tx *Tx) error {
		install, err := Installs.Get(tx, 1)
		if err != nil {
			return err
		}
		disktest.Equal(t, "the database's key", install.SecretKeyID, db.keys.current.id)
		return tx.eachSealed(func(v sealedValue) error {
			disktest.Equal(t, v.place, v.Key, install.SecretKeyID)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}

	var old Sealed
	if err := old.UnmarshalJSON([]byte(`"AQID"`)); err != nil || old.Key != "" ||
		string(old.Box) != "\x01\x02\x03" {
		t.Errorf("the older form: %+v, %v", old, err)
	}
}

func TestOpen_LostDatabaseIsNoFirstStart(t *testing.T) {
	for _, name := range []string{keyName, blob.FileName} {
		dir, _ := withSecrets(t, 1)
		for _, gone := range []string{dataName, markerName, markName, keyName, blob.FileName} {
			if gone == name {
				continue
			}
			if err := os.Remove(filepath.Join(dir, gone)); err != nil {
				t.Fatal(err)
			}
		}

		before := disktest.ReadFile(t, filepath.Join(dir, name))
		if _, err := Open(dir, Options{Schema: &office}); err == nil ||
			!strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "reeve restore FILE") {
			t.Errorf("%s alone: %v", name, err)
		}

		disktest.Equal(t, name,
			string(disktest.ReadFile(t, filepath.Join(dir, name))) == string(before), true)
	}
}
