package kv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// older returns the schema before the migrations: the zoo without chips.
func older() *Schema {
	return &Schema{Tables: []Table{Installs, cages, keepers, beasts}, Caches: []AnyCache{census}}
}

// newer returns the zoo with some migrations. Each adds a beast; the first also uses the collection
// that is new with it.
func newer(titles ...string) *Schema {
	s := zoo()
	for i, title := range titles {
		s.Migrations = append(s.Migrations, Migration{title, func(tx *Tx) error {
			b := &beast{Name: title}
			err := beasts.Create(tx, b)
			if err == nil && i == 0 {
				err = chips.Create(tx, &chip{BeastID: b.ID})
			}
			if err == nil && strings.HasPrefix(title, "broken") {
				err = errors.New("it does not work")
			}
			return err
		}})
	}
	return s
}

// madeOlder creates a database with the older schema and one beast, closes it, and returns its
// directory.
func madeOlder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: older(), Version: "1.0"})
	update(t, db, createBeast("Leo"))
	shut(t, db)
	return dir
}

func metaOf(t testing.TB, db *DB) (meta fileMeta) {
	t.Helper()
	view(t, db, func(tx *Tx) (err error) { meta, err = readMeta(tx); return err })
	return meta
}

func TestMigrations(t *testing.T) {
	all := []string{"first", "second", "third"}
	for n := 1; n <= len(all); n++ {
		t.Run(fmt.Sprint(n, " at once"), func(t *testing.T) {
			dir := madeOlder(t)
			db := open(t, dir, Options{Schema: newer(all[:n]...), Version: "2.0"})
			disktest.Equal(t, "names", namesOf(t, db), append([]string{"Leo"}, all[:n]...))
			disktest.Equal(t, "chips", allOf(t, db, chips)[0].BeastID, ID(2))
			disktest.Equal(t, "meta", metaOf(t, db), fileMeta{Schema: 1 + n, Version: "2.0"})
			disktest.Equal(t, "warnings", len(db.Warnings()), 1)
			shut(t, db)
			again := open(t, dir, Options{Schema: newer(all[:n]...), Version: "2.1"})
			disktest.Equal(t, "names after another start", namesOf(t, again),
				append([]string{"Leo"}, all[:n]...))
			disktest.Equal(t, "warnings at another start", again.Warnings(), nil)
		})
	}

	t.Run("one after the other", func(t *testing.T) {
		dir := madeOlder(t)
		for n := 1; n <= len(all); n++ {
			db := open(t, dir, Options{Schema: newer(all[:n]...), Version: "2.0"})
			disktest.Equal(t, "names", namesOf(t, db), append([]string{"Leo"}, all[:n]...))
			shut(t, db)
		}
		for n := 1; n <= len(all); n++ {
			if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("data.db.schema-%d", n))); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a new database needs none", func(t *testing.T) {
		db := open(t, t.TempDir(), Options{Schema: newer(all...), Version: "2.0"})
		disktest.Equal(t, "names", namesOf(t, db), []string{})
		disktest.Equal(t, "meta", metaOf(t, db), fileMeta{Schema: 4, Version: "2.0"})
	})
}

func TestMigration_CopyOpensAsBefore(t *testing.T) {
	dir := madeOlder(t)
	shut(t, open(t, dir, Options{Schema: newer("first"), Version: "2.0"}))
	kept := t.TempDir()
	path := filepath.Join(dir, "data.db.schema-1")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	disktest.Equal(t, "mode", info.Mode().String(), "-rw-------")
	disktest.WriteFile(t, filepath.Join(kept, dataName), disktest.ReadFile(t, path))
	db := open(t, kept, Options{Schema: older(), Version: "1.0"})
	disktest.Equal(t, "names", namesOf(t, db), []string{"Leo"})
	disktest.Equal(t, "meta", metaOf(t, db), fileMeta{Schema: 1, Version: "1.0"})
}

func TestMigration_FailureKeepsEarlier(t *testing.T) {
	dir := madeOlder(t)
	for range 2 {
		_, err := Open(dir,
			Options{Schema: newer("first", "broken second", "third"), Version: "2.0"})
		oneLine(t, err)
		if err == nil ||
			!strings.Contains(err.Error(), "to schema 3 (broken second): it does not work") {
			t.Errorf("got %v", err)
		}
	}

	shut(t, open(t, dir, Options{Schema: newer("first"), Version: "2.0"})) // fails unless only the first has run
	db := open(t, dir, Options{Schema: newer("first", "second", "third"), Version: "2.1"})
	disktest.Equal(t, "names", namesOf(t, db), []string{"Leo", "first", "second", "third"})
	for _, n := range []int{1, 2} {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("data.db.schema-%d", n))); err != nil {
			t.Error(err)
		}
	}
}

func TestDowngrade_NewerFileRefused(t *testing.T) {
	dir := madeOlder(t)
	shut(t, open(t, dir, Options{Schema: newer("first", "second"), Version: "2.0"}))
	before := disktest.Snapshot(t, dir)
	for name, try := range map[string]func() error{
		"open": func() error {
			_, err := Open(dir, Options{Schema: newer("first"), Version: "1.5"})
			return err
		},
		"verify": func() error {
			_, err := VerifyDir(dir, Options{Schema: newer("first"), Version: "1.5"})
			return err
		},
	} {
		err := try()
		oneLine(t, err)
		for _, part := range []string{"reeve 2.0 (schema 3)", "reeve 1.5", "schema 2"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want it to name %s", name, err, part)
			}
		}
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
}

// The command in the error message restores the data from before the migration, with its files.
func TestDowngrade_NamesCommand(t *testing.T) {
	old := office
	old.Migrations = office.Migrations[:len(office.Migrations)-1]
	recent := office
	dir := filepath.Join(t.TempDir(), "my data's")
	before := Options{Schema: &old, Version: "1.0"}
	db := open(t, dir, before)
	f := mustPut(t, db, "kept", []byte("its bytes"))
	shut(t, db)
	db = open(t, dir, Options{Schema: &recent, Version: "2.0"})
	shut(t, db)
	_, err := Open(dir, before)
	oneLine(t, err)
	_, command, found := strings.Cut(fmt.Sprint(err), "`reeve restore --data ")
	command, _, closed := strings.Cut(command, "`")
	if !found || !closed ||
		!strings.Contains(err.Error(), fmt.Sprint("data.db.schema-", old.Version())) {
		t.Fatalf("%v", err)
	}

	words, err := exec.Command("sh", "-c", "printf '%s\n' "+command).Output() // the arguments as a shell splits them
	noErr(t, err)
	args := strings.Split(strings.TrimSpace(string(words)), "\n")
	disktest.Equal(t, "arguments", args,
		[]string{dir, filepath.Join(dir, fmt.Sprint("data.db.schema-", old.Version()))})
	done, err := Restore(args[0], args[1], nil, before)
	kept := done.Kept
	noErr(t, err)
	if kept == "" {
		t.Error("nothing is kept")
	}

	db = open(t, dir, before)
	if data, err := readBlob(db, f.Digest); err != nil || string(data) != "its bytes" {
		t.Errorf("%q, %v", data, err)
	}

	shut(t, db)
	noErr(t, os.Remove(args[1]))
	shut(t, open(t, dir, Options{Schema: &recent, Version: "2.0"}))
	noErr(t, os.Remove(args[1])) // the start above has made the copy again
	_, err = Open(dir, before)
	if oneLine(t, err); err == nil || !strings.Contains(err.Error(), "FILE`") {
		t.Errorf("without a copy: %v", err)
	}
}

func TestVerify_OlderFileNeedsStart(t *testing.T) {
	dir := madeOlder(t)
	before := disktest.Snapshot(t, dir)
	_, err := VerifyDir(dir, Options{Schema: newer("first"), Version: "2.0"})
	oneLine(t, err)
	if err == nil || !strings.Contains(err.Error(), "start the server once") {
		t.Errorf("got %v", err)
	}
	sameFiles(t, disktest.Snapshot(t, dir), before)
}

func TestRestore_MigratesOlderBackup(t *testing.T) {
	// A restore ends sessions, which the zoo does not have.
	real := func(own []Table, migrations ...Migration) *Schema {
		return &Schema{
			Tables:     slices.Concat(office.Tables, own),
			Caches:     []AnyCache{census},
			Restored:   office.Restored,
			Migrations: migrations,
		}
	}

	from, dir := t.TempDir(), t.TempDir()
	db := open(t, from, Options{Schema: real(older().Tables[1:]), Version: "1.0"})
	update(t, db, createBeast("Leo"))
	backup := archiveOf(t, db)
	options := Options{
		Schema:  real(zoo().Tables[1:], newer("first", "second").Migrations...),
		Version: "2.0",
	}
	if done, err := Restore(dir, backup, nil, options); err != nil || done.Kept != "" {
		t.Fatalf("restore: %q, %v", done.Kept, err)
	}

	restored := open(t, dir, options)
	disktest.Equal(t, "names", namesOf(t, restored), []string{"Leo", "first", "second"})
	disktest.Equal(t, "chips", len(allOf(t, restored, chips)), 1)
	disktest.Equal(t, "meta", metaOf(t, restored), fileMeta{Schema: 3, Version: "2.0"})
	disktest.Equal(t, "the backup itself", db.instance, restored.instance)
}

func TestRestore_UnmigratableRefused(t *testing.T) {
	dir, backup := made(t), filepath.Join(madeOlder(t), dataName)
	before := disktest.Snapshot(t, dir)
	_, err := Restore(dir, backup, nil, Options{Schema: newer("first", "broken second")})
	oneLine(t, err)
	if err == nil || !strings.Contains(err.Error(), "broken second") {
		t.Errorf("got %v", err)
	}
	sameFiles(t, disktest.Snapshot(t, dir), before)
}
