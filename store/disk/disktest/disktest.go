// Package disktest contains helpers for the tests of packages that store files: sizes
// of tests, seeded random numbers, snapshots of directories, and small and full disks.
package disktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Size returns how often a test repeats something: small by default, medium if CI=true, long
// if REEVE_TEST_LONG=1.
func Size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// Random returns a source of random numbers and logs its seed; REEVE_TEST_SEED sets it.
func Random(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	if text := os.Getenv("REEVE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("REEVE_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Equal reports an error that shows got and want as JSON if they differ.
func Equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, Shown(got), Shown(want))
	}
}

// Shown returns a value as JSON with its type.
func Shown(v any) string {
	if b, err := json.Marshal(v); err == nil {
		return fmt.Sprintf("%s (%T)", b, v)
	}
	return fmt.Sprintf("%+v", v)
}

// Snapshot returns the mode and content of each file below dir, by name.
func Snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "commit-mark") { // commit-mark is written from time to time
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = info.Mode().String() + " " + string(ReadFile(t, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return files
}

// ReadFile is like os.ReadFile, but an error ends the test.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// WriteFile writes a file with mode 0600; an error ends the test.
func WriteFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ownProcess is set in the process that InOwnProcess starts.
const ownProcess = "REEVE_TEST_OWN_PROCESS"

// InOwnProcess runs the test that calls it in a process of its own, and reports whether this is
// that process. It is for tests that change a limit of the process: the log that the go command
// keeps of a test process obeys it, too.
func InOwnProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownProcess) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), ownProcess+"="+t.Name())
	out, err := OutputOfSelf(t, cmd)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// OutputOfSelf runs cmd, which starts the test's own program, like cmd.CombinedOutput. The test is
// skipped where an emulator runs the program, which the system can't start.
func OutputOfSelf(t *testing.T, cmd *exec.Cmd) ([]byte, error) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) && os.Getenv("CI") == "" {
		t.Skip("this system can't start the test's program, which an emulator runs")
	}
	return out, err
}

// Fill uses up to n bytes of free space in the directory at until remove is called.
func Fill(t testing.TB, at string, n int) (remove func()) {
	t.Helper()
	path := filepath.Join(at, "ballast")
	if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil &&
		!errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
