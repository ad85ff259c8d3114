package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// Whatever is lost, an owner can sign in afterwards, once `reeve user reset --owner` has set a
// password.
func TestSalvage_HasOwner(t *testing.T) {
	from := t.TempDir()
	realistic(t, from)
	db := open(t, from, Options{})
	picture := mustPut(t, db, "face", []byte("a face"))
	update(t, db, func(tx *Tx) error {
		_, err := SetAvatar(tx, 3, &Avatar{Key: "face", Digest: picture.Digest})
		return err
	})
	shut(t, db)
	for name, test := range map[string]struct {
		file string
		harm func(b []byte)
		says string // line of the report
	}{
		"every second page is lost": {dataName, func(b []byte) {
			for i := 2; i*os.Getpagesize() < len(b); i += 2 {
				clear(b[i*os.Getpagesize():][:os.Getpagesize()])
			}
		}, ""},
		"nothing is left": {dataName, func(b []byte) {
			clear(b)
		}, "made again as the owner role"},
		"no files are left": {"files.db", func(b []byte) {
			clear(b)
		}, "user 3: without the picture"},
		"everything is left": {dataName, func([]byte) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
			for _, file := range []string{dataName, "files.db", keyName, "instance"} {
				b := disktest.ReadFile(t, filepath.Join(from, file))
				if file == test.file {
					test.harm(b)
				}
				disktest.WriteFile(t, filepath.Join(dir, file), b)
			}

			report, err := Salvage(dir, to, Options{})
			noErr(t, err)
			if !slices.ContainsFunc(report.Changed, func(line string) bool {
				return strings.Contains(line, test.says)
			}) && test.says != "" {
				t.Errorf("the report has no %q: %q", test.says, report.Changed)
			}

			db := open(t, to, Options{})
			owners := 0
			view(t, db, func(tx *Tx) error {
				for u, err := range UserByRole.All(tx, OwnerRole) {
					if err != nil {
						return err
					}
					if u.Status {
						owners++
					}
				}
				return nil
			})
			if owners == 0 {
				t.Error("there is no enabled owner")
			}

			disktest.Equal(t, "sessions", len(allOf(t, db, Sessions)), 0)
			update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "new"}) })
		})
	}
}
