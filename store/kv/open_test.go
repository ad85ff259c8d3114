package kv

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

func TestOpen_MakesDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	db := open(t, dir, Options{Schema: zoo()})
	disktest.Equal(t, "warnings", db.Warnings(), nil)
	modes := map[string]string{}
	for name, content := range disktest.Snapshot(t, dir) {
		modes[name], _, _ = strings.Cut(content, " ")
	}

	disktest.Equal(t, "modes", modes, map[string]string{
		dataName:   "-rw-------",
		markerName: "-rw-------",
		keyName:    "-rw-------",
		lockName:   "-rw-------",
	})
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(d)
		if err != nil {
			t.Fatal(err)
		}
		disktest.Equal(t, "mode of the directory", info.Mode().String(), "drwx------")
	}

	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "marker", string(disktest.ReadFile(t, filepath.Join(dir, markerName))),
			tx.Instance()+"\n")
		install, err := Installs.Get(tx, 1)
		if err == nil {
			disktest.Equal(t, "install", []any{install.Name, len(install.PasswordKey)},
				[]any{tx.Instance(), 48})
		}
		return err
	})
}

// made creates a closed database of the zoo with one beast and returns its directory.
func made(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, createBeast("Leo"))
	shut(t, db)
	return dir
}

func TestOpen_Refusals(t *testing.T) {
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			disktest.WriteFile(t, filepath.Join(dir, name), []byte(content))
		}
	}
	for name, test := range map[string]struct {
		harm func(*testing.T, string)
		want []string // substrings of the message
	}{
		"a missing database beside its marker": {remove(dataName),
			[]string{"data.db is missing", "reeve restore", "instance"}},
		"an empty database beside its marker": {put(dataName, ""),
			[]string{"data.db is empty", "reeve restore", "instance"}},
		"an empty database without marker": {func(t *testing.T, dir string) {
			put(dataName, "")(t, dir)
			remove(markerName)(t, dir)
		}, []string{"data.db is empty"}},
		"what is no database": {put(dataName, strings.Repeat("no database ", 1000)),
			[]string{"data.db is damaged", "not a database"}},
		"a database cut off after its first pages": {func(t *testing.T, dir string) {
			whole := disktest.ReadFile(t, filepath.Join(dir, dataName))
			disktest.WriteFile(t, filepath.Join(dir, dataName), whole[:2*os.Getpagesize()])
		}, []string{"data.db is damaged"}},
		"a database without a bucket": {func(t *testing.T, dir string) {
			bolt(t, dir, func(btx *bbolt.Tx) error { return btx.DeleteBucket([]byte("keeper")) })
		}, []string{"no collection keeper", "append a migration", "reeve restore"}},
		"a database without its own description": {func(t *testing.T, dir string) {
			bolt(t, dir, func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte(disk.MetaBucket)).Delete(disk.MetaKey)
			})
		}, []string{"_meta file is damaged"}},
		"a record that is kept in memory and damaged": {func(t *testing.T, dir string) {
			bolt(t, dir, func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte("beast")).Put(idKey(1), []byte("junk of some length"))
			})
		}, []string{"beast 1 is damaged"}},
		"a secret key of another length": {put(keyName, "abcd\n"),
			[]string{keyName, "64 hexadecimal digits"}},
		"a secret key that is no hexadecimal": {put(keyName, strings.Repeat("xy", 32)),
			[]string{keyName, "64 hexadecimal digits"}},
		"an empty secret key": {put(keyName, ""),
			[]string{keyName, "64 hexadecimal digits"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t)
			test.harm(t, dir)
			before := disktest.Snapshot(t, dir)
			for range 2 { // a failed Open releases the lock
				db, err := Open(dir, Options{Schema: zoo()})
				if err == nil {
					db.Close()
					t.Fatal("it opened")
				}
				oneLine(t, err)
				for _, part := range test.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%v, want it to contain %q", err, part)
					}
				}
			}

			sameFiles(t, disktest.Snapshot(t, dir), before)
		})
	}
}

func TestOpen_AfterCrash(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, dir string){
		"nothing is left but half a new database": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			disktest.WriteFile(t, filepath.Join(dir, dataName+".new"),
				[]byte(strings.Repeat("half", 5000)))
			disktest.WriteFile(t, filepath.Join(dir, keyName+".new"), []byte("half"))
		},
		"the marker was not written": func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, markerName)); err != nil {
				t.Fatal(err)
			}
			disktest.WriteFile(t, filepath.Join(dir, markerName+".new"), nil)
		},
		"other files lie about": func(t *testing.T, dir string) {
			for _, other := range []string{dataName + ".new", "restore.tmp", "backup-1.tmp",
				"backup-1.tmp.new", dataName + ".schema-1.new"} {
				disktest.WriteFile(t, filepath.Join(dir, other), []byte("half"))
			}
			disktest.WriteFile(t, filepath.Join(dir, lockName), []byte("1\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t)
			harm(t, dir)
			_, err := os.Stat(filepath.Join(dir, dataName))
			want := []string{"Leo"}
			if err != nil {
				want = []string{}
			}
			db := open(t, dir, Options{Schema: zoo()})
			disktest.Equal(t, "names", namesOf(t, db), want)
			disktest.Equal(t, "warnings", db.Warnings(), nil)
			disktest.Equal(t, "files", slices.Sorted(maps.Keys(disktest.Snapshot(t, dir))),
				[]string{dataName, markerName, lockName, keyName})
			disktest.Equal(t, "marker",
				string(disktest.ReadFile(t, filepath.Join(dir, markerName))), db.instance+"\n")
		})
	}
}

func TestOpen_SeedAndUpgrade(t *testing.T) {
	dir := t.TempDir()
	var calls []string
	stop := errors.New("stop")
	options := func(seed, upgrade error) Options {
		return Options{
			Schema: zoo(),
			Seed: func(tx *Tx) error {
				calls = append(calls, "seed")
				return errors.Join(createBeast("seeded")(tx), seed)
			},
			Upgrade: func(tx *Tx) error {
				calls = append(calls, "upgrade")
				if _, err := beastByName.Get(tx, "upgraded"); err == nil {
					return upgrade
				}
				return errors.Join(createBeast("upgraded")(tx), upgrade)
			},
		}
	}
	_, err := Open(dir, options(stop, nil))
	if !errors.Is(err, stop) {
		t.Errorf("a failing seed: %v", err)
	}

	oneLine(t, err)
	for _, name := range []string{dataName, dataName + ".new", markerName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("a failing seed leaves %s", name)
		}
	}

	shut(t, open(t, dir, options(nil, nil)))
	disktest.Equal(t, "calls until the end of the first start", calls, []string{"seed", "seed"})
	shut(t, open(t, dir, options(nil, nil)))
	disktest.Equal(t, "calls until the end of the second start", calls,
		[]string{"seed", "seed", "upgrade"})
	_, err = Open(dir, options(nil, stop))
	if !errors.Is(err, stop) {
		t.Errorf("a failing upgrade: %v", err)
	}

	oneLine(t, err)
	disktest.Equal(t, "names", namesOf(t, open(t, dir, Options{Schema: zoo()})),
		[]string{"seeded", "upgraded"})
}

func TestOpen_LostSecretKeyIsRemade(t *testing.T) {
	dir := made(t)
	path := filepath.Join(dir, keyName)
	old := disktest.ReadFile(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir, Options{Schema: zoo()})
	disktest.Equal(t, "warnings", db.Warnings(),
		[]string{path + " was missing and is replaced by a new key: 0 secret values must be entered again"})
	if fresh := disktest.ReadFile(t, path); len(fresh) != 65 || string(fresh) == string(old) {
		t.Errorf("the new key is %q", fresh)
	}
	disktest.Equal(t, "names", namesOf(t, db), []string{"Leo"})
}
