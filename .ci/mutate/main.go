// Mutate puts faults into a copy of the source, one at a time, and reports which of them the tests
// of their package and those of server, at the small size, find:
//
//	go run ./.ci/mutate [-compile] [REGEXP]
//
// The faults are in faults.tsv. REGEXP selects some by path and text; -compile runs no test. All of
// them take hours.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed faults.tsv
var table string

// fault replaces a text, which the file at path has once.
type fault struct{ path, text, with string }

func main() {
	compile := flag.Bool("compile", false, "only compile")
	flag.Parse()
	if err := run(regexp.MustCompile(flag.Arg(0)), *compile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(selected *regexp.Regexp, compile bool) error {
	dir, err := os.MkdirTemp("", "reeve-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("sh", "-c", `git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$0"`, dir).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the source: %w: %s", err, out)
	}
	if !compile {
		if out, failed := test(dir, "./auth", "./store/...", "./server"); failed {
			return fmt.Errorf("without a fault:\n%s", out)
		}
	}
	passed := 0
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		columns := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || !selected.MatchString(line) {
			continue
		}
		if len(columns) != 3 {
			return fmt.Errorf("row %d: %d columns, want 3", n+1, len(columns))
		}
		found, err := try(dir, fault{columns[0], columns[1], columns[2]}, compile)
		if err != nil {
			return fmt.Errorf("row %d: %w", n+1, err)
		}
		if !found {
			passed++
		}
	}
	if passed > 0 {
		return fmt.Errorf("%d faults were not found", passed)
	}
	return nil
}

// try puts in a fault, reports whether a test finds it, and takes it out.
func try(dir string, f fault, compile bool) (found bool, err error) {
	path := filepath.Join(dir, f.path)
	source, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if n := strings.Count(string(source), f.text); n != 1 {
		return false, fmt.Errorf("%s has %q %d times", f.path, f.text, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(source), f.text, f.with, 1)), 0o600); err != nil {
		return false, err
	}
	defer func() {
		if undone := os.WriteFile(path, source, 0o600); err == nil {
			err = undone
		}
	}()
	of := "./" + filepath.ToSlash(filepath.Dir(f.path))
	if out, err := exec.Command("go", "-C", dir, "build", "./server", of).CombinedOutput(); err != nil {
		return false, fmt.Errorf("%s with %q does not compile: %s", f.path, f.with, out)
	}
	if compile {
		fmt.Printf("compiles\t%s\t%s\n", f.path, f.with)
		return true, nil
	}
	began, out := time.Now(), ""
	for _, pkg := range []string{of, "./server"} {
		if out, found = test(dir, pkg); found || of == pkg {
			break
		}
	}
	result := map[bool]string{true: "found", false: "NOT FOUND"}[found]
	fmt.Printf("%-9s\t%.0f s\t%s\t%s\t%s\n", result, time.Since(began).Seconds(), f.path, f.with, firstFailure(out))
	return found, nil
}

// test runs the tests of packages at the small size. failed also means that they were too slow.
func test(dir string, packages ...string) (out string, failed bool) {
	cmd := exec.Command("go", append([]string{"-C", dir, "test", "-timeout", "20m", "-failfast"}, packages...)...)
	cmd.Env = append(os.Environ(), "CI=", "REEVE_TEST_LONG=")
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}

// firstFailure returns the name of the first test that has failed.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		if name, failed := strings.CutPrefix(line, "--- FAIL: "); failed {
			return strings.Fields(name)[0]
		}
	}
	return ""
}
