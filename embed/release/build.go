package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// edition is a way to build the program. In archives, packages and images of each, the program is reeve.
type edition struct {
	name  string // name of its archives, packages and images
	tags  string // build tags
	about string // last line of the description of the package
	other string // package that it takes the place of: both have the same files
}

var (
	oneNode = edition{
		name:  "reeve",
		other: "reeve-cluster",
	}
	severalNodes = edition{
		name:  "reeve-cluster",
		tags:  "cluster,grpcnotrace",
		about: "\nThis program can also be one of several nodes, with the client of etcd.",
		other: "reeve",
	}
	editions = []edition{oneNode, severalNodes}
)

// target is a system that an edition is built for.
type target struct {
	edition  edition
	os, arch string
	deb      string // architecture of the Debian package; "" for none
	image    bool   // whether the image is for it, too
}

var targets = []target{
	{edition: oneNode, os: "linux", arch: "amd64", deb: "amd64", image: true},
	{edition: oneNode, os: "linux", arch: "arm64", deb: "arm64", image: true},
	{edition: oneNode, os: "linux", arch: "arm", deb: "armhf"},
	{edition: oneNode, os: "darwin", arch: "arm64"},
	{edition: oneNode, os: "darwin", arch: "amd64"},
	{edition: oneNode, os: "windows", arch: "amd64"},
	{edition: severalNodes, os: "linux", arch: "amd64", deb: "amd64", image: true},
	{edition: severalNodes, os: "linux", arch: "arm64", deb: "arm64", image: true},
}

// String returns the name of the target in --only.
func (t target) String() string {
	name := t.os + "/" + t.arch
	if t.edition == severalNodes {
		name = "cluster/" + name
	}
	return name
}

// program returns the name of the program on the system.
func (t target) program() string {
	if t.os == "windows" {
		return "reeve.exe"
	}
	return "reeve"
}

// built returns the path of the program that was built for a target.
func (r *release) built(t target) string {
	return filepath.Join(r.work, t.edition.name, t.os+"_"+t.arch, t.program())
}

// of returns the targets of an edition.
func (r *release) of(e edition) (some []target) {
	for _, t := range r.targets {
		if t.edition == e {
			some = append(some, t)
		}
	}
	return some
}

// changed returns an error that names the first changed files in the output of git status.
func changed(status string) error {
	const most = 10
	lines := strings.Split(strings.TrimRight(status, "\n"), "\n")
	text := strings.Join(lines[:min(len(lines), most)], "\n  ")
	if more := len(lines) - most; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return fmt.Errorf("the checkout has changes, commit them first:\n  %s", text)
}

// readCheckout reads version, commit and time. A checkout with changes is an error, because its
// build could not be repeated.
func (r *release) readCheckout(dirty bool) error {
	changes, err := r.git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" && !dirty {
		return changed(changes)
	}
	if r.commit, err = r.git("rev-parse", "HEAD"); err != nil {
		return err
	}

	seconds, err := r.git("show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return err
	}

	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}

	r.at = time.Unix(unix, 0).UTC()
	source, err := os.ReadFile(filepath.Join(r.root, "main.go"))
	if err != nil {
		return err
	}

	found := regexp.MustCompile(`const version = "([^"]+)"`).FindSubmatch(source)
	if found == nil {
		return errors.New("main.go has no version")
	}

	r.version = string(found[1])
	return nil
}

func (r *release) git(words ...string) (string, error) {
	cmd := exec.Command("git", words...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build builds the program for each target: static, without symbols, and without the paths of this
// machine.
func (r *release) build() error {
	for _, t := range r.targets {
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w",
			"-tags", t.edition.tags, "-o", r.built(t), ".")
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch,
			"GOAMD64=v1", "GOARM64=v8.0", "GOARM=7", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build for %s: %w", t, err)
		}
	}
	return nil
}
