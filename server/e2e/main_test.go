// Package e2e has the tests of the whole program as a real process: it is built
// once, run on the loopback with a data directory of its own, spoken to over
// HTTP, signalled, killed and started again. But for the server that a benchmark compares
// it with, it knows nothing of the packages inside; what it holds is what a user of the machine and of the interface sees.
package e2e

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// binary is the program under test. It is set before the first test and never after.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(bareFiles) != "" {
		bare() // this process is the bare server of a benchmark
	}
	if os.Getenv(bareStore) != "" {
		bareWrites()
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "reeve-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := touchSources(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "reeve")
	// Built as it is released, also when the tests themselves run with the race
	// detector, which needs cgo.
	build := exec.Command("go", "build", "-o", binary, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build reeve: %v\n%s", err, out)
		return 1
	}
	defer closeBrowser()
	if err := atOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// atOnce lets four tests run at once on a machine with fewer cores: each waits most of
// the time, for a process or for a page. What -parallel says otherwise stands.
func atOnce() error {
	flag.Parse()
	cores := strconv.Itoa(runtime.GOMAXPROCS(0))
	if parallel := flag.Lookup("test.parallel"); runtime.GOMAXPROCS(0) >= 4 || parallel.Value.String() != cores {
		return nil
	}
	return flag.Set("test.parallel", "4")
}

// touchSources looks at every file that the program is built from. The go command
// notes what a test looks at and runs it again when that has changed; of what the
// build below reads it knows nothing.
func touchSources() error {
	return filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "../.." && (entry.Name() == "data" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		_, err = os.Stat(path)
		return err
	})
}

// size picks how much a test does: the long count with REEVE_TEST_LONG=1, the
// medium one with CI=true, else the small one.
func size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// random is seeded anew for every run and says with what, so that a failure can
// be looked at again with REEVE_TEST_SEED.
func random(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("REEVE_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("REEVE_TEST_SEED: %v", err)
		}
	}
	t.Logf("REEVE_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// eventually polls a condition that another process brings about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never happened that %s", what)
}
