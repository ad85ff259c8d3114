package store

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// The files of a data directory.
const (
	dataName = "data.db"
	keyName  = "secret.key"
)

// The environment variables of a test binary that runs as a child process.
const (
	childVar = "REEVE_TEST_CHILD"
	dirVar   = "REEVE_TEST_DIR"
	modeVar  = "REEVE_TEST_MODE"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "flips":
		os.Exit(flipsChild())
	case "migrate":
		os.Exit(migrateChild())
	}
	os.Exit(64)
}

// dirOf returns the data directory of a child process.
func dirOf() string { return os.Getenv(dirVar) }

// child runs this test binary as a child process. limit is there to detect a hang.
func child(t testing.TB, name string, limit time.Duration, env ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childVar+"="+name)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// open opens a database. It is verified and closed at the end of the test.
func open(t testing.TB, dir string, options Options) *DB {
	t.Helper()
	db, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if db.Healthy() == nil {
			mustVerify(t, db)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustVerify(t testing.TB, db *DB) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		report := tx.Verify()
		if len(report.Faults) > 0 {
			t.Errorf("verify: %s", strings.Join(report.Faults, "\n"))
		}
		return nil
	})
	update(t, db, func(tx *Tx) error { // in a read, the rules may be those of a later commit
		caches, err := kv.Caches(tx)
		if slices.ContainsFunc(caches, func(c kv.CacheStats) bool { return c.Name == "rules" }) {
			err = errors.Join(err, rulesHold(tx))
		}
		return err
	})
	if _, err := db.FilesOpened(); err != nil {
		return
	}

	report := &kv.Report{}
	if err := db.VerifyFiles(report); err != nil || len(report.Faults) > 0 {
		t.Errorf("verify files: %v\n%s", err, strings.Join(report.Faults, "\n"))
	}
}

func shut(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// shutVerified verifies a database and closes it.
func shutVerified(t testing.TB, db *DB) {
	t.Helper()
	mustVerify(t, db)
	shut(t, db)
}

func view(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.View(System, fn); err != nil {
		t.Fatal(err)
	}
}

func update(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.Update(System, fn); err != nil {
		t.Fatal(err)
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// allOf returns all records of a collection.
func allOf[T any](t testing.TB, db *DB, c *kv.Collection[T]) (all []*T) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		for v, err := range c.All(tx) {
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		return nil
	})
	return all
}

// refusal is the part of an error that callers use.
type refusal struct {
	Kind   errs.Kind
	Code   string
	Fields string // names of the fields, sorted and joined
}

func refusalOf(t testing.TB, err error) refusal {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an *errs.Error, got %v", err)
	}
	return refusal{e.Kind, e.Code, strings.Join(slices.Sorted(maps.Keys(e.Fields)), " ")}
}

// oneLine requires an error of one line that fits a terminal.
func oneLine(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Error("want an error, got none")
	} else if strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("the error has more than one line:\n%v", err)
	}
}

// farOff is later than the end of any test.
const farOff Time = 200_000_000_000_000_000

// frozen is a clock that always returns the same time.
func frozen() Time { return 1_700_000_000_000_000 }

// clock is a clock that a test sets while background work reads it.
type clock struct{ atomic.Int64 }

func (c *clock) now() Time { return Time(c.Load()) }

func clockAt(t Time) *clock {
	c := &clock{}
	c.Store(int64(t))
	return c
}
