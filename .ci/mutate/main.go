// Mutate puts faults into a copy of the source, one at a time, and reports which of them the tests
// of their package and those of server, at the small size, find:
//
//	go run ./.ci/mutate [-compile] [REGEXP]
//
// The faults are in faults.tsv. REGEXP selects some by path and text. All of them take hours;
// -compile puts all in at once and compiles them, without a test.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	if out, err := exec.Command("sh", "-c",
		`git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$0"`, dir).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the source: %w: %s", err, out)
	}
	if !compile {
		if out, failed := test(dir,
			append([]string{"./auth", "./store/...", "./server"}, features(dir)...)...); failed {
			return fmt.Errorf("without a fault:\n%s", out)
		}
	}

	passed, broken := 0, 0
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if strings.HasPrefix(line, "#") || !selected.MatchString(line) {
			continue
		}

		f, source, err := putIn(dir, strings.Split(line, "\t"))
		if err != nil {
			fmt.Printf("row %d: %v\n", n+1, err) // the source has changed: the row has to follow
			broken++
			continue
		}
		if compile {
			continue
		}
		if !f.isFound(dir) {
			passed++
		}
		if err := os.WriteFile(filepath.Join(dir, f.path), source, 0o600); err != nil {
			return err
		}
	}

	if compile {
		if out, err := exec.Command("go", "-C", dir, "build", "./...").CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	if passed+broken > 0 {
		return fmt.Errorf("%d faults were not found, %d cannot be put in", passed, broken)
	}

	return nil
}

// putIn puts in the fault of a row, and returns the file as it was.
func putIn(dir string, row []string) (f fault, source []byte, err error) {
	if len(row) != 3 {
		return f, nil, fmt.Errorf("%d columns, want 3", len(row))
	}
	f = fault{row[0], row[1], row[2]}
	path := filepath.Join(dir, f.path)
	if source, err = os.ReadFile(path); err != nil {
		return f, nil, err
	}
	if n := strings.Count(string(source), f.text); n != 1 {
		return f, nil, fmt.Errorf("%s has %q %d times", f.path, f.text, n)
	}
	return f, source, os.WriteFile(path,
		[]byte(strings.Replace(string(source), f.text, f.with, 1)), 0o600)
}

// features returns the packages below server, except e2e, which tests whole programs.
func features(dir string) (pkgs []string) {
	entries, err := os.ReadDir(filepath.Join(dir, "server"))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "e2e" && e.Name() != "testdata" {
			pkgs = append(pkgs, "./server/"+e.Name())
		}
	}
	return pkgs
}

// isFound reports whether a test finds the fault, which is in the copy.
func (f fault) isFound(dir string) (found bool) {
	began, out := time.Now(), ""
	of := "./" + filepath.ToSlash(filepath.Dir(f.path))
	others := slices.DeleteFunc(append([]string{"./server"}, features(dir)...),
		func(pkg string) bool {
			return pkg == of
		})
	for _, pkg := range append([]string{of}, others...) {
		if out, found = test(dir, pkg); found {
			break
		}
	}

	result, by := "NOT FOUND", ""
	if found {
		result, by = "found", firstFailure(out)
	}

	fmt.Printf("%-9s\t%.0f s\t%s\t%s\t%s\n", result, time.Since(began).Seconds(), f.path, f.with,
		by)
	return found
}

// test runs the tests of packages at the small size. failed also means that they were too slow.
func test(dir string, packages ...string) (out string, failed bool) {
	cmd := exec.Command("go",
		append([]string{"-C", dir, "test", "-timeout", "20m", "-failfast"}, packages...)...)
	cmd.Env = append(os.Environ(), "CI=", "REEVE_TEST_LONG=")
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}

// firstFailure returns the name of the first test that has failed; "" if none could run.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		if name, failed := strings.CutPrefix(line, "--- FAIL: "); failed {
			return strings.Fields(name)[0]
		}
	}
	return ""
}
