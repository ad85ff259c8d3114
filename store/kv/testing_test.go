package kv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// childVar is the environment variable with the role of a child process in a test. Tests use child
// processes for a second opener of a database, and for readers of damaged files, which may crash.
const childVar = "REEVE_TEST_CHILD"

func TestMain(m *testing.M) {
	disktest.InMemory()
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "opener":
		os.Exit(openerChild())
	case "memory":
		os.Exit(memoryChild())
	case "restorer":
		os.Exit(restorerChild())
	case "verifier":
		os.Exit(verifierChild())
	}
	os.Exit(64)
}

// child runs this test binary in another process with a role. The limit detects a hang and is far
// longer than the work takes.
func child(t testing.TB, name string, limit time.Duration, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childVar+"="+name)...)
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// open opens a database that is verified and closed when the test ends.
func open(t testing.TB, dir string, options Options) *DB {
	t.Helper()
	db, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := db.LostCommits(); n > 0 {
		t.Errorf("%d commits are lost", n)
	}

	t.Cleanup(func() {
		db.gate.RLock()
		closed := db.closed
		db.gate.RUnlock()
		if !closed {
			mustVerify(t, db)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// checked waits until large collections are verified, and returns the warnings.
func checked(db *DB) []string {
	<-db.check.done
	return db.check.warnings
}

func mustVerify(t testing.TB, db *DB) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		if report := tx.Verify(); len(report.Faults) > 0 {
			t.Errorf("verify: %s", strings.Join(report.Faults, "\n"))
		}
		return nil
	})
	if _, err := db.FilesOpened(); db.files == nil || err != nil {
		return
	}
	report := &Report{}
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

// refusal is the part of an error that callers use.
type refusal struct {
	Kind   errs.Kind
	Code   string
	Fields string // names, sorted and joined
}

func refusalOf(t testing.TB, err error) refusal {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an *errs.Error, got %v", err)
	}
	return refusal{e.Kind, e.Code, joined(e.Fields)}
}

// sameFiles compares two snapshots and reports only names, because contents are long.
func sameFiles(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is gone", name)
		} else if got[name] != want[name] {
			t.Errorf("%s has changed", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}

// bolt changes the closed data.db of a data directory directly, without the engine.
func bolt(t testing.TB, dir string, fn func(*bbolt.Tx) error) {
	t.Helper()
	boltFile(t, dir, dataName, fn)
}

// boltFile is bolt for any database file.
func boltFile(t testing.TB, dir, name string, fn func(*bbolt.Tx) error) {
	t.Helper()
	file, err := bbolt.Open(filepath.Join(dir, name), 0o600, disk.BoltOptions(false))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Update(fn), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// oneLine checks that there is an error, and that its message has one line.
func oneLine(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Error("want an error, got none")
	} else if strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("the error has more than one line:\n%v", err)
	}
}
