package server

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// fixture is a prepared instance. It is made once, by the first test that needs it; its data
// directory, of about one megabyte, is kept in memory, and each test gets a copy.
type fixture struct {
	prepare func(in *instance) // makes it from an instance that startNew has returned

	once     sync.Once
	files    map[string][]byte // by path in the data directory; nil if preparing has failed
	tokens   map[string]string
	names    int64 // see instance.last
	lastDump *dumpState
}

// fresh is what start copies.
var fresh = &fixture{prepare: func(*instance) {}}

// clone returns a copy of the fixture with a configuration. Its options must not be about how a
// database is created.
func (f *fixture) clone(t testing.TB, options ...func(*setup)) *instance {
	t.Helper()
	f.once.Do(func() { f.make(t) })
	if f.files == nil {
		t.Fatal("the fixture could not be prepared: see the first test that has failed")
	}
	dir := t.TempDir()
	for name, content := range f.files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, content, 0o600))
	}
	in := open(t, dir, options...)
	maps.Copy(in.tokens, f.tokens)
	in.last.Store(f.names)
	in.lastDump = f.lastDump
	return in
}

func (f *fixture) make(t testing.TB) {
	t.Helper()
	in := startNew(t)
	f.prepare(in)
	in.dump()
	in.close()
	files := map[string][]byte{}
	must(t, fs.WalkDir(os.DirFS(in.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files[name], err = os.ReadFile(filepath.Join(in.dir, name))
		}
		return err
	}))
	f.files, f.tokens, f.names, f.lastDump = files, in.tokens, in.last.Load(), in.lastDump
}

// builtAt is the earliest time at which a prepared directory can have been created.
var builtAt = time.Now()

// shapesNew reports whether an option changes how a database is created.
func shapesNew(options []func(*setup)) bool {
	var su setup
	for _, o := range options {
		o(&su)
	}
	return su.seed != nil || su.must || su.file != ""
}
