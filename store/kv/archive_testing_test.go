package kv

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

// writeArchive takes a backup and writes it to a file. It can be called from any goroutine.
func writeArchive(t testing.TB, db *DB) (path string, err error) {
	b, err := db.Backup(t.Context(), true)
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

// archived is a decoded archive, for tests that change it and write it again.
type archived struct {
	manifest manifest
	entries  []archivedEntry // entries after the manifest
	comment  string          // comment of the first header; "" for the correct one
	text     []byte          // encoded manifest; nil to encode it
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

// together returns the archive with its changes.
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

// filesIn returns the content of all files by name.
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

// withFiles creates a database with a secret, files of several sizes, two of them with the same
// content, and an avatar.
func withFiles(t testing.TB, dir string) (*DB, map[string]string) {
	t.Helper()
	db := open(t, dir, Options{Schema: &office, Version: "1.0", Seed: func(tx *Tx) error {
		return errors.Join(Users.Create(tx, &User{Username: "ann"}),
			createSecret(tx, "password", "hush"))
	}})

	want := map[string]string{
		"empty": "",
		"small": "some text",
		"twin":  "some text",
		"large": string(randomData(t, blob.ChunkSize+100)),
	}
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
		return Avatars.Create(tx, &Avatar{UserID: 1, Digest: digest})
	})
	return db, want
}

// archiveBytes returns an archive of a database that withFiles made.
func archiveBytes(t testing.TB) []byte {
	t.Helper()
	db, _ := withFiles(t, filepath.Join(t.TempDir(), "source"))
	defer shut(t, db)
	return disktest.ReadFile(t, archiveOf(t, db))
}
