package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/embed"
)

var updateNotice = flag.Bool("update", false, "write NOTICE")

const (
	root    = "../.."
	console = root + "/embed/console/"
)

// TestNotice_UpToDate compares NOTICE with what is in the program: the Go modules that are
// linked on any system, the npm packages of the console, and data.
func TestNotice_UpToDate(t *testing.T) {
	if _, err := os.Stat(console + "node_modules"); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") == "true" {
			t.Fatal("no embed/console/node_modules")
		}
		t.Skip("no embed/console/node_modules; `npm ci` in embed/console makes it")
	}

	n := &notice{}
	n.section(t, "Reeve", []component{{"reeve", licenses(t, root)}})
	n.section(t, "Go",
		append(goModules(t), component{"the standard library", licenses(t, goRoot(t))}))
	n.section(t, "Console", npmPackages(t))
	n.section(t, "Data", []component{
		{"the common passwords, of @zxcvbn-ts/language-common 4.1.3",
			[]string{read(t, root+"/embed/common-passwords.LICENSE")}},
	})
	want := n.String()
	if *updateNotice {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = io.WriteString(w, want)
		}
		if err = errors.Join(err, w.Close(), os.WriteFile(root+"/embed/NOTICE", []byte(want), 0o644),
			os.WriteFile(root+"/embed/NOTICE.gz", packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		return // the program has what was there when it was built
	}
	if printed, err := embed.Notice(); err != nil || printed != want {
		t.Errorf("NOTICE.gz is not NOTICE: `go test ./server/cli -run Notice -update` writes it: %v", err)
	}
	if have := read(t, root+"/embed/NOTICE"); have != want {
		t.Errorf("NOTICE is out of date: `go test ./server/cli -run Notice -update` writes it\n%s",
			firstDifference(have, want))
	}
}

// firstDifference describes the first lines that differ.
func firstDifference(have, want string) string {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("it has %d lines, want %d", len(a), len(b))
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// goCommand runs the go command in the root of the module.
func goCommand(t *testing.T, system string, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.TrimSpace(string(out))
}

func goRoot(t *testing.T) string { return goCommand(t, "linux", "env", "GOROOT") }

// goModules returns the modules that are linked on any of the systems that .ci/run builds
// for, also in the program for several nodes.
func goModules(t *testing.T) []component {
	t.Helper()
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}`
	dirs := map[string][]string{} // by module
	for _, system := range []string{"linux", "windows", "darwin", "freebsd"} {
		for line := range strings.Lines(goCommand(t, system, "list", "-deps", "-f", format, ".", "./store/etcd")) {
			parts := strings.Split(strings.TrimSpace(line), "\t")
			if len(parts) != 3 {
				continue // a package of the standard library or of this module
			}
			// A package that was copied into a module may have a license of its own.
			for dir := parts[2]; len(dir) >= len(parts[1]); dir = filepath.Dir(dir) {
				dirs[parts[0]] = append(dirs[parts[0]], dir)
			}
		}
	}

	var all []component
	for name, list := range dirs {
		slices.Sort(list)
		c := component{name: name}
		for _, dir := range slices.Compact(list) {
			c.texts = append(c.texts, licenses(t, dir)...)
		}
		all = append(all, c)
	}

	return all
}

// elsewhere has the packages whose license is in an unusual file, or is a part of one.
var elsewhere = map[string]struct{ file, from, to string }{
	"@ant-design/icons-svg": {file: "@ant-design/icons/LICENSE"}, // of the same repository
	"is-mobile":             {file: "is-mobile/README.md", from: "(MIT)"},
	"vite":                  {file: "vite/LICENSE.md", to: "# Licenses of bundled dependencies"}, // only vite's own code is in the build
}

// npmPackages returns the packages that the build of the console has listed.
func npmPackages(t *testing.T) (all []component) {
	t.Helper()
	var dirs []string
	decode(t, "packages.json", &dirs)
	for _, dir := range dirs {
		var p struct{ Name, Version string }
		decode(t, dir+"/package.json", &p)
		c := component{name: p.Name + " " + p.Version}
		if e, ok := elsewhere[p.Name]; ok {
			text := read(t, console+"node_modules/"+e.file)
			_, text, _ = strings.Cut(text, e.from)
			if e.to != "" {
				text, _, _ = strings.Cut(text, e.to)
			}
			c.texts = []string{text}
		} else {
			c.texts = licenses(t, console+dir)
		}
		all = append(all, c)
	}

	return all
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, console+name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|patents|notice)(\.md|\.txt)?$`)

// licenses returns the license texts in a directory.
func licenses(t *testing.T, dir string) (texts []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if dir == filepath.Join(root, "embed") && e.Name() == "NOTICE" {
			continue
		}
		if licenseFile.MatchString(e.Name()) && e.Type().IsRegular() {
			texts = append(texts, read(t, filepath.Join(dir, e.Name())))
		}
	}
	return texts
}
