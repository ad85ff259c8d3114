package store

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"reeve/store/disk/disktest"
)

// writeArchive takes a backup and writes it to a file. A goroutine may use it.
func writeArchive(t testing.TB, db *DB) (path string, err error) {
	b, err := db.Backup(true)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(t.TempDir(), "*.tar")
	if err != nil {
		return "", errors.Join(err, b.Close())
	}
	n, err := b.WriteTo(f)
	if err == nil && n != b.Size() {
		t.Errorf("the archive has %d bytes, %d were promised", n, b.Size())
	}
	return f.Name(), errors.Join(err, f.Close(), b.Close())
}

func archiveOf(t testing.TB, db *DB) string {
	t.Helper()
	path, err := writeArchive(t, db)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// archived is an archive taken apart, to be changed and put together again.
type archived struct {
	manifest manifest
	entries  []archivedEntry // what follows the manifest
	comment  string          // "" for the right one
	text     []byte          // of the manifest, nil for what it encodes as
}

type archivedEntry struct {
	header tar.Header
	data   []byte
}

func takeApart(t testing.TB, archive []byte) *archived {
	t.Helper()
	a := &archived{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return a
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err == nil && h.Name == manifestName {
			err = json.Unmarshal(data, &a.manifest)
		} else {
			a.entries = append(a.entries, archivedEntry{*h, data})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// together writes the archive as it is now.
func (a *archived) together(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	text := a.text
	if text == nil {
		var err error
		if text, err = json.Marshal(a.manifest); err != nil {
			t.Fatal(err)
		}
	}
	head := a.manifest.ownHeader(text)
	if a.comment != "" {
		head.PAXRecords["comment"] = a.comment
	}
	err := w.WriteHeader(head)
	if err == nil {
		_, err = w.Write(text)
	}
	for _, e := range a.entries {
		if err == nil {
			err = w.WriteHeader(&e.header)
		}
		if err == nil && e.header.Typeflag == tar.TypeReg {
			_, err = w.Write(e.data)
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// filesIn is what a test knows of a database with files: their bytes by name.
func filesIn(t testing.TB, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range allOf(t, db, Files) {
		data, err := readBlob(db, f.Digest)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(data)
	}
	return all
}

// withFiles makes a database with a secret, files of several sizes, of which two
// are the same, and an avatar.
func withFiles(t testing.TB, dir string) (*DB, map[string]string) {
	t.Helper()
	db := open(t, dir, Options{Version: "1.0", Seed: func(tx *Tx) error {
		group := &SettingGroup{Key: "mail", Title: "Mail"}
		err := errors.Join(SettingGroups.Create(tx, group), Users.Create(tx, &User{Username: "ann", Status: true}))
		return errors.Join(err, CreateSetting(tx, &Setting{GroupID: group.ID, Key: "password", Type: "secret", Values: "hush", Props: []Prop{}, Options: []Option{}}))
	}})
	want := map[string]string{"empty": "", "small": "some text", "twin": "some text", "large": string(randomData(t, chunkSize+100))}
	for name, data := range want {
		mustPut(t, db, name, []byte(data))
	}
	u, err := db.NewUpload()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Release()
	if _, err := u.Write([]byte("a face")); err != nil {
		t.Fatal(err)
	}
	digest, err := u.Finish()
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error {
		_, err := SetAvatar(tx, 1, &Avatar{Key: "face", MIME: "image/png", Digest: digest})
		return err
	})
	return db, want
}

// archiveBytes is an archive of a database with files.
func archiveBytes(t testing.TB) []byte {
	t.Helper()
	db, _ := withFiles(t, filepath.Join(t.TempDir(), "source"))
	defer shut(t, db)
	return disktest.ReadFile(t, archiveOf(t, db))
}
