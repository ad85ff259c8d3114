// Package e2e tests the whole program as a real process: the tests build it once, run it on
// the loopback with a data directory of its own, send it requests over HTTP and signals,
// kill and restart it. Except for the server that a benchmark compares it with, the tests
// do not use the packages of the program: they check what operators and clients observe.
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

	"reeve/store/disk/disktest"
)

// binary is the path of the program under test, set before the first test.
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
	// Built like a release, even if the tests run with the race detector, which needs cgo.
	build := exec.Command("go", "build", "-o", binary, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build reeve: %v\n%s", err, out)
		return 1
	}

	disktest.InMemory()
	defer closeBrowser()
	if err := atOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	return m.Run()
}

// atOnce runs four tests in parallel on a machine with fewer cores, since each mostly waits
// for a process or a page. An explicit -parallel takes precedence.
func atOnce() error {
	flag.Parse()
	cores := strconv.Itoa(runtime.GOMAXPROCS(0))
	if parallel := flag.Lookup("test.parallel"); runtime.GOMAXPROCS(0) >= 4 ||
		parallel.Value.String() != cores {
		return nil
	}
	return flag.Set("test.parallel", "4")
}

// touchSources stats every file that the program is built from. The go command caches the
// result of a test by the files that the test opens; it does not know those that the build
// below reads.
func touchSources() error {
	return filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "../.." &&
			(entry.Name() == "data" || entry.Name() == "node_modules" ||
				strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		_, err = os.Stat(path)
		return err
	})
}

// size returns long with REEVE_TEST_LONG=1, medium with CI=true, else small.
func size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// nightly reports whether checks run that take too long for each change.
func nightly() bool { return size(0, 0, 1) == 1 }

// random returns a generator with a new seed for every run, and logs the seed, so that a
// failure can be repeated with REEVE_TEST_SEED.
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

// eventually polls a condition that another process makes true.
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
