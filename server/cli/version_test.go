package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inProject returns the content of a file by its path from the top of the project.
func inProject(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVersion_SameEverywhere compares the version of the program with the changelog, the manual, the
// example of containers, the note of the schema, and the versions that the clients are tested with. The
// manual names only versions that the changelog has.
func TestVersion_SameEverywhere(t *testing.T) {
	version := regexp.MustCompile(`const version = "(.*)"`).FindStringSubmatch(inProject(t, "main.go"))[1]
	head := inProject(t, "embed/manual/changelog.md")
	if !regexp.MustCompile(`^# Changelog\n\n## .*\n\n- Incompatible: `).MatchString(head) {
		t.Error("the first entry of the newest version does not say what is incompatible; nothing, if nothing is")
	}
	var released []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(head, -1) {
		of, isNext := strings.CutPrefix(m[1], "Unreleased: ")
		if !isNext {
			of, _, _ = strings.Cut(m[1], " ")
		}
		if len(released) == 0 && of != version {
			t.Errorf("the changelog begins with %q, the program is %s", m[1], version)
		}
		if isNext && len(released) > 0 || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(of) {
			t.Errorf("the changelog has the heading %q", m[1])
		}
		released = append(released, of)
	}

	for _, path := range []string{"embed/manual/installation.md", "embed/release/compose.yaml"} {
		named := regexp.MustCompile(`reeve[_:-]v?(\d+\.\d+\.\d+)`).FindAllStringSubmatch(inProject(t, path), -1)
		if len(named) == 0 {
			t.Errorf("%s names no version", path)
		}
		for _, m := range named {
			if m[1] != version && (len(released) < 2 || m[1] != released[1]) { // the way back
				t.Errorf("%s names the version %s", path, m[1])
			}
		}
	}

	pages, err := filepath.Glob(filepath.Join("..", "..", "embed", "manual", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(err)
	}
	for _, path := range pages {
		text := inProject(t, filepath.Join("embed", "manual", filepath.Base(path)))
		for _, m := range regexp.MustCompile(`(?:^|[^\d.])(0\.[1-9]\d*\.\d+)\b(?:$|[^.]|\.\D)`).FindAllStringSubmatch(text, -1) {
			if !slices.Contains(released, m[1]) {
				t.Errorf("%s names the version %s, which the changelog does not have", path, m[1])
			}
		}
	}

	since := regexp.MustCompile(`since reeve (\S+)`).FindStringSubmatch(inProject(t, "store/testdata/schema.txt"))
	if since == nil || minor(since[1]) != minor(version) && !slices.Contains(released, since[1]) {
		t.Errorf("the schema is of the version %v", since)
	}

	var minors []string // before the program's
	for _, v := range released {
		if minor(v) != minor(version) && !slices.Contains(minors, minor(v)) {
			minors = append(minors, minor(v))
		}
	}
	var tested []string
	for line := range strings.Lines(inProject(t, "server/e2e/testdata/sdk/versions.tsv")) {
		v, _, _ := strings.Cut(line, "\t")
		tested = append(tested, minor(v))
	}
	if !slices.Equal(tested, minors[:2]) {
		t.Errorf("the clients are tested with %v, not with %v", tested, minors[:2])
	}
}

// minor returns the first two numbers of a version.
func minor(v string) string { return v[:strings.LastIndex(v, ".")] }
