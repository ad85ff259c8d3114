// Command release builds what people install from a clean checkout: programs for each system as
// archives, packages for Debian, images for containers, lists of the software inside (SBOM), checksums
// and a signature. The files of reeve-cluster have the client of etcd in their program. Two builds of
// one commit with one version of Go are the same, byte for byte: every time in them is the commit's.
//
//	cd embed/release && go run . --out /tmp/reeve
//
// It is a module of its own, so that what it needs is not in the program's go.mod. Start with
// release, the list of steps; each file has one kind of result.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	out := flag.String("out", "", "write the files to this `directory`, which must be new or empty")
	only := flag.String("only", "", "build for these `systems`, like linux/amd64,cluster/linux/amd64; all if it is empty")
	dirty := flag.Bool("dirty", false, "build although the checkout has changes; for tests")
	flag.Parse()
	if err := run(*out, *only, *dirty); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one build of all files.
type release struct {
	root    string // directory of the checkout
	out     string
	work    string // directory for programs before they are packed
	version string
	commit  string
	at      time.Time // time of the commit, which all files have
	targets []target
	extra   extras
}

func run(out, only string, dirty bool) (err error) {
	if out == "" {
		return fmt.Errorf("--out is missing")
	}

	r := &release{}
	if r.root, err = filepath.Abs("../.."); err != nil {
		return err
	}
	if r.out, err = emptyDir(out); err != nil {
		return err
	}
	if err := r.readCheckout(dirty); err != nil {
		return err
	}
	if r.targets, err = chosen(only); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "reeve-release-"); err != nil {
		return err
	}

	defer os.RemoveAll(r.work)
	for _, step := range []func() error{
		r.writeExtras, r.build, r.pack, r.checksums,
	} {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

// pack makes the files of each edition from its programs, as many at a time as there are processors.
func (r *release) pack() error {
	var jobs []func() error
	for _, e := range editions {
		for _, t := range r.of(e) {
			if t.deb != "" {
				jobs = append(jobs, func() error { return r.pkg(t) })
			}
			jobs = append(jobs, func() error { return r.archive(t) })
		}
		if len(r.of(e)) > 0 {
			jobs = append(jobs, func() error { return r.image(e) }, func() error { return r.sbom(e) })
		}
	}

	errs := make([]error, len(jobs))
	var running sync.WaitGroup
	turn := make(chan struct{}, runtime.NumCPU())
	for i, job := range jobs {
		turn <- struct{}{}
		running.Go(func() {
			errs[i] = job()
			<-turn
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// emptyDir makes a directory, or accepts one that is empty.
func emptyDir(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", path)
	}
	return path, err
}

// chosen returns the targets of a list, all for "".
func chosen(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var some []target
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown system %q", name)
		}
		some = append(some, targets[i])
	}
	return some, nil
}

// checksums writes SHA256SUMS, in the format of sha256sum, and its signature.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}

	var sums strings.Builder
	for _, e := range entries { // sorted by name
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}

	if err := r.write("SHA256SUMS", []byte(sums.String())); err != nil {
		return err
	}

	return r.sign("SHA256SUMS", []byte(sums.String()))
}

// name returns the name of a file of an edition.
func (r *release) name(e edition, rest string) string { return e.name + "_" + r.version + "_" + rest }

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
		return err
	}
	fmt.Printf("%10d  %s\n", len(content), name)
	return nil
}
