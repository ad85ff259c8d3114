package kv

import (
	"archive/tar"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

// sameData compares a database with what withFiles created.
func sameData(t testing.TB, db *DB, want map[string]string) {
	t.Helper()
	if got := filesIn(t, db); !maps.Equal(got, want) {
		t.Errorf("the files are %q, want %q", slices.Sorted(maps.Keys(got)),
			slices.Sorted(maps.Keys(want)))
	}

	for _, a := range allOf(t, db, Avatars) {
		if face, err := readBlob(db, a.Digest); err != nil || string(face) != "a face" {
			t.Errorf("the avatar is %q, %v", face, err)
		}
	}

	view(t, db, func(tx *Tx) error {
		secret, err := secretText(tx, 1)
		disktest.Equal(t, "the secret", secret, "hush")
		disktest.Equal(t, "avatars", len(allOf(t, db, Avatars)), 1)
		return err
	})
}

func TestRestore_Everything(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	db, want := withFiles(t, source)
	archive := archiveOf(t, db)
	for name, dir := range map[string]string{
		"into nothing": filepath.Join(t.TempDir(), "new"),
		"over another": made(t),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "over another" { // made is a database of the zoo; this test needs one of the office
				dir = t.TempDir()
				other := open(t, dir, Options{Schema: &office})
				mustPut(t, other, "other", []byte("other bytes"))
				shut(t, other)
			}

			before := map[string]string{}
			if name == "over another" {
				before = disktest.Snapshot(t, dir)
			}

			done, err := Restore(dir, archive, nil, Options{Schema: &office})
			kept := done.Kept
			if err != nil {
				t.Fatal(err)
			}

			disktest.Equal(t, "kept something", kept != "", len(before) > 0)
			for _, file := range []string{dataName, blob.FileName, keyName} {
				if len(before) > 0 &&
					"-rw------- "+string(disktest.ReadFile(t, filepath.Join(kept, file))) != before[file] {
					t.Errorf("%s is not kept as it was", file)
				}
			}

			restored := open(t, dir, Options{Schema: &office})
			sameData(t, restored, want)
			disktest.Equal(t, "warnings", restored.Warnings(), nil)
			shut(t, restored)
		})
	}

	sameData(t, db, want)
}

func TestRestore_UndoneFromKeptCopy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, want := withFiles(t, dir)
	shut(t, db)
	other := open(t, filepath.Join(t.TempDir(), "other"), Options{Schema: &office})
	done, err := Restore(dir, archiveOf(t, other), nil, Options{Schema: &office})
	kept := done.Kept
	if err != nil {
		t.Fatal(err)
	}

	restored := open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "files", len(allOf(t, restored, Files)), 0)
	shut(t, restored)
	if _, err := Restore(dir, kept, nil, Options{Schema: &office}); err != nil {
		t.Fatal(err)
	}

	sameData(t, open(t, dir, Options{Schema: &office}), want)
}

func TestRestore_DirectoryInUseRefused(t *testing.T) {
	db, _ := withFiles(t, filepath.Join(t.TempDir(), "source"))
	dir := made(t)
	before := disktest.Snapshot(t, dir)
	_, err := Restore(dir, db.dir, nil, Options{Schema: &office})
	var used *InUseError
	if !errors.As(err, &used) {
		t.Errorf("got %v", err)
	}
	sameFiles(t, disktest.Snapshot(t, dir), before)
}

// A backup of data.db alone has no records of later files, whose content the first start would
// delete. So files.db is moved away together with their records.
func TestRestore_RecordsAlone(t *testing.T) {
	dir, bare := t.TempDir(), filepath.Join(t.TempDir(), "data.db")
	db := open(t, dir, Options{Schema: &office, Seed: func(tx *Tx) error {
		return Users.Create(tx, &User{Username: "old"})
	}})
	disktest.WriteFile(t, bare, func() []byte {
		shut(t, db)
		return disktest.ReadFile(t, filepath.Join(dir, dataName))
	}())
	db = open(t, dir, Options{Schema: &office})
	mustPut(t, db, "later", []byte("some bytes"))
	shut(t, db)
	before := disktest.Snapshot(t, dir)
	done, err := Restore(dir, bare, nil, Options{Schema: &office})
	kept := done.Kept
	if err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "what stays", string(disktest.ReadFile(t, filepath.Join(dir, keyName))),
		strings.TrimPrefix(before[keyName], "-rw------- "))
	shut(t, open(t, dir, Options{Schema: &office}))
	if _, err := Restore(dir, kept, nil, Options{Schema: &office}); err != nil {
		t.Fatal(err)
	}

	restored := open(t, dir, Options{Schema: &office})
	disktest.Equal(t, "files", filesIn(t, restored), map[string]string{"later": "some bytes"})
	shut(t, restored)

	disktest.WriteFile(t, bare, disktest.ReadFile(t, filepath.Join(kept, dataName)))
	before = disktest.Snapshot(t, dir)
	_, err = Restore(dir, bare, nil, Options{Schema: &office})
	oneLine(t, err)
	if err == nil || !strings.Contains(err.Error(), "1 file") ||
		!strings.Contains(err.Error(), "nothing is changed") {
		t.Errorf("records alone that have files: %v", err)
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
}

func TestRestore_TamperedArchiveRefused(t *testing.T) {
	good := archiveBytes(t)
	dir := filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, dir)
	shut(t, db)
	before := disktest.Snapshot(t, dir)
	entry := func(name, data string) archivedEntry {
		return archivedEntry{tar.Header{
			Typeflag: tar.TypeReg,
			Name:     name,
			Size:     int64(len(data)),
			Mode:     0o600,
			Format:   tar.FormatPAX,
		}, []byte(data)}
	}

	last := func(a *archived) *archivedEntry { return &a.entries[len(a.entries)-1] }
	for name, test := range map[string]struct {
		harm func(a *archived)
		want string
	}{
		"an extra entry": {func(a *archived) {
			a.entries = append(a.entries, entry("extra", "x"))
		}, "something was added"},
		"an extra entry that needs no room": {func(a *archived) {
			a.entries = append(a.entries[:len(a.entries)-1],
				entry("files/"+strings.Repeat("0", 64),
					strings.Repeat("x", int(last(a).header.Size))))
		}, "is not in its manifest"},
		"a missing entry": {func(a *archived) { a.entries = a.entries[:len(a.entries)-1] }, "was not restored, nothing is changed"}, // which size is the first to be impossible depends on the seed
		"a missing manifest": {func(a *archived) {
			a.entries[0].header.Name = dataName
			a.text = nil
			a.manifest.Entries = nil
		}, "must name data.db"},
		"an entry twice": {func(a *archived) {
			a.entries = append(a.entries, a.entries[1])
		}, "something was added"},
		"an entry in the place of another": {func(a *archived) {
			a.entries[1] = entry(dataName, string(a.entries[1].data))
		}, "is in the place of secret.key"},
		"swapped entries": {func(a *archived) {
			a.entries[0], a.entries[1] = a.entries[1], a.entries[0]
		}, "is in the place of"},
		"a name that escapes": {func(a *archived) {
			last(a).header.Name = "../" + last(a).header.Name[3:]
		}, "is not in its manifest"},
		"a name that escapes, in the manifest too": {func(a *archived) {
			name := "files/../../" + last(a).header.Name[12:]
			last(a).header.Name, a.manifest.Entries[len(a.entries)-1].Name = name, name
		}, "is not the name of a file"},
		"an absolute name": {func(a *archived) {
			last(a).header.Name = "/" + last(a).header.Name[1:]
		}, "is not in its manifest"},
		"a name in capital letters": {func(a *archived) {
			name := "files/" + strings.ToUpper(last(a).header.Name[6:])
			last(a).header.Name, a.manifest.Entries[len(a.entries)-1].Name = name, name
		}, "is not the name of a file"},
		"another name for data.db": {func(a *archived) {
			a.manifest.Entries[0].Name = "instance"
		}, "must name data.db"},
		"a symbolic link": {func(a *archived) {
			for i := range a.entries {
				if e := &a.entries[i]; e.header.Size == 0 {
					e.header.Typeflag, e.header.Linkname = tar.TypeSymlink, "/etc/passwd"
				}
			}
		}, "not a plain file"},
		"a directory": {func(a *archived) {
			for i := range a.entries {
				if e := &a.entries[i]; e.header.Size == 0 {
					e.header.Typeflag = tar.TypeDir
				}
			}
		}, "is not"},
		"a manifest that lies of a size": {func(a *archived) {
			a.manifest.Entries[1].Size--
		}, "its manifest says"},
		"a manifest that lies of a digest": {func(a *archived) {
			a.manifest.Entries[0].SHA256[0] ^= 1
		}, "data.db: it is damaged"},
		"a manifest with a huge size": {func(a *archived) {
			a.manifest.Entries[2].Size = 1 << 62
		}, "which is impossible"},
		"a manifest with a negative size": {func(a *archived) {
			a.manifest.Entries[2].Size = -1
		}, "which is impossible"},
		"a manifest with an entry twice": {func(a *archived) {
			a.manifest.Entries[3] = a.manifest.Entries[2]
		}, "comes twice"},
		"a manifest of nothing": {func(a *archived) {
			a.text = []byte("{}")
		}, "there is no format 0"},
		"a manifest that is no JSON": {func(a *archived) {
			a.text = []byte("no")
		}, "is damaged"},
		"a manifest that was changed": {func(a *archived) {
			a.comment = manifestSum([]byte("before"))
		}, "its SHA-256 is not"},
		"a manifest of another installation": {func(a *archived) {
			a.manifest.Instance = strings.Repeat("A", len(a.manifest.Instance))
		}, "another installation"},
		"a manifest that lies of the number of records": {func(a *archived) {
			a.manifest.Records++
		}, "records, not"},
		"a manifest with a change log": {func(a *archived) {
			a.manifest.LogHead = &audit.Head{Seq: 7}
		}, "its change log ends with no entry, not with entry 7"},
		"a newer format": {func(a *archived) {
			a.manifest.Format, a.manifest.Version = apartFormat+1, "9.0"
		}, "reeve 9.0"},
		"a file without which there is a record": {func(a *archived) {
			dropFile(a)
		}, "are missing in files.db"},
		"a key that is none": {func(a *archived) {
			replace(a, 1, []byte(strings.Repeat("xy", 32)+"\n"))
		}, "64 hexadecimal digits"},
		"a data.db that is none": {func(a *archived) {
			replace(a, 0, []byte("text"))
		}, "not a database"},
		"a data.db that is empty": {func(a *archived) {
			replace(a, 0, nil)
		}, "it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			a := takeApart(t, good)
			test.harm(a)
			refused(t, dir, a.together(t), test.want)
			sameFiles(t, disktest.Snapshot(t, dir), before)
		})
	}
}
