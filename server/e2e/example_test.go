package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The example of a resource, see docs/adding-a-resource.md. Its files are
// where they would be in the repository, with .txt behind their names; register.diff has the
// lines that other files get. Nothing of it is in the program.
const (
	repository = "../.."
	exampleDir = repository + "/docs/example/announcement"
	exampleDoc = repository + "/docs/adding-a-resource.md"
)

// exampleFiles returns the files of the example, by their path in the repository.
func exampleFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	noErr(t, filepath.WalkDir(exampleDir, func(path string, entry fs.DirEntry, err error) error {
		name, isFile := strings.CutSuffix(path, ".txt")
		if err != nil || !isFile {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err = filepath.Rel(exampleDir, name)
		files[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return files
}

// registered returns the files that register.diff adds lines to, with those lines.
func registered(t *testing.T) map[string]string {
	t.Helper()
	files, name, after := map[string]string{}, "", ""
	for line := range strings.Lines(readText(t, exampleDir+"/register.diff")) {
		switch {
		case strings.HasPrefix(line, "--- "):
			name = strings.TrimSpace(line[4:])
			files[name] = readText(t, filepath.Join(repository, name))
		case line[0] == ' ':
			after = line[1:]
			if n := strings.Count("\n"+files[name], "\n"+after); n != 1 {
				t.Fatalf("%s has the line %q %d times; update the context lines in %s/register.diff and in %s", name, after, n, exampleDir, exampleDoc)
			}
		default:
			files[name] = strings.Replace(files[name], after, after+line[1:], 1)
			after = line[1:]
		}
	}

	return files
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	noErr(t, err)
	return string(text)
}

// writeTree writes files below a directory.
func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		noErr(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noErr(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func runIn(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// writesDocument is a test that writes the OpenAPI document of the program with the
// example.
const writesDocument = `package server_test

import (
	"os"
	"testing"

	"reeve/server/servertest"
)

func TestExampleDocument(t *testing.T) {
	servertest.Must(t, os.WriteFile(os.Getenv("EXAMPLE_DOCUMENT"), []byte(servertest.Start(t).OK("GET", "/openapi.json", "", "nobody").Body), 0o644))
}
`

// exampleTests are the example's own tests and those of all routes, fields and records.
var exampleTests = []string{
	"TestAnnouncements", "TestAnnouncements_InOpenAPIDocument", "TestExampleDocument",
	"TestBody_ValidFields",
	"TestRecord_EveryRouteIsTested", "TestChangeLog_CollectionsHavePermissions",
	"TestOperations_Described", "TestBulkDelete_AllOrNothing", "TestField_Bounds",
	"TestCondition_EveryRoute",
	"TestName_RejectsInvisibleCharacters", "TestName_RejectsDeceptiveCharacters",
	"TestMenus_AccessibleOnly",
}

// TestManualExample_BuildsAndPasses builds the program with the example's files added and
// runs its tests, then checks the types of the console with the example's page.
func TestManualExample_BuildsAndPasses(t *testing.T) {
	t.Parallel()
	onlyInCI(t, "it compiles the server and the console")
	files, dir := exampleFiles(t), t.TempDir()
	for name, text := range registered(t) {
		files[name] = text
	}

	files["server/example_document_test.go"] = writesDocument
	writeTree(t, dir, files)
	root, err := filepath.Abs(repository)
	noErr(t, err)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name := range files {
		if !strings.HasPrefix(name, "embed/console/") {
			overlay.Replace[filepath.Join(root, name)] = filepath.Join(dir, name)
		}
	}

	text, err := json.Marshal(overlay)
	noErr(t, err)
	writeTree(t, dir, map[string]string{
		"overlay.json":                 string(text),
		"server/testdata/openapi.json": "",
	})
	document := filepath.Join(dir, "server/testdata/openapi.json")
	// Vet cannot change into a directory that only the overlay has.
	out := runIn(t, root, []string{"EXAMPLE_DOCUMENT=" + document},
		"go", "test", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-count=1", "-v",
		"-run", "^("+strings.Join(exampleTests, "|")+")$", "./server", "./server/changes",
		"./server/rights")
	for _, name := range exampleTests {
		if !strings.Contains(out, "--- PASS: "+name+" ") {
			t.Errorf("there is no %s", name)
		}
	}

	t.Run("page", func(t *testing.T) { checkPage(t, root, dir) })
}

// checkPage generates the console's types from the document of the program with the
// example, then compiles and lints its sources with the example's page.
func checkPage(t *testing.T, root, dir string) {
	console, copied := filepath.Join(root, "embed/console"), filepath.Join(dir, "embed/console")
	if _, err := os.Stat(filepath.Join(console, "node_modules/.bin/tsc")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run npm ci in embed/console first")
		}
		t.Skip("embed/console/node_modules is missing: run npm ci there to check the example's page")
	}

	page := filepath.Join(dir, "page")
	noErr(t, os.Rename(copied, page)) // files that the example replaces
	noErr(t, os.CopyFS(filepath.Join(copied, "src"), os.DirFS(filepath.Join(console, "src"))))
	for _, name := range []string{"scripts/types.mjs", "tsconfig.json", "package.json",
		"biome.jsonc"} {
		writeTree(t, copied, map[string]string{name: readText(t, filepath.Join(console, name))})
	}

	noErr(t, filepath.WalkDir(page, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(page, path)
		noErr(t, err)
		writeTree(t, copied, map[string]string{name: readText(t, path)})
		return nil
	}))
	noErr(t,
		os.Symlink(filepath.Join(console, "node_modules"), filepath.Join(copied, "node_modules")))
	noErr(t, os.MkdirAll(filepath.Join(dir, "embed/sdk/typescript"), 0o700)) // of the types
	runIn(t, copied, nil, "node", "scripts/types.mjs")
	runIn(t, copied, nil, "node_modules/.bin/tsc", "--noEmit")
	runIn(t, copied, nil, "node_modules/.bin/biome", "check", "--error-on-warnings",
		"src/pages/announcements", "src/i18n/en/announcements.ts", "src/i18n/zh/announcements.ts")
}

// TestManualExample_InManual: the text contains every file of the example in full.
func TestManualExample_InManual(t *testing.T) {
	t.Parallel()
	text, files := readText(t, exampleDoc), exampleFiles(t)
	files["register.diff"] = readText(t, exampleDir+"/register.diff")
	for name, file := range files {
		if !strings.Contains(text, "\n"+file+"```\n") {
			t.Errorf("%s does not have %s as it is in %s", exampleDoc, name, exampleDir)
		}
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s does not name %s", exampleDoc, name)
		}
	}
}

// TestManualExample_Length limits the cost of one more resource: the files that it changes, and
// new lines of Go and of the console, including registration, without tests.
func TestManualExample_Length(t *testing.T) {
	t.Parallel()
	lines := map[bool]int{}
	for name, file := range exampleFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			lines[strings.HasPrefix(name, "embed/console/")] += strings.Count(file, "\n")
		}
	}

	console, test, changed := false, false, 0
	for line := range strings.Lines(readText(t, exampleDir+"/register.diff")) {
		if name, isFile := strings.CutPrefix(line, "--- "); isFile {
			console, test = strings.HasPrefix(name, "embed/console/"), strings.HasSuffix(strings.TrimSpace(name), "_test.go")
			changed++
		} else if line[0] == '+' && !test {
			lines[console]++
		}
	}

	if changed == 0 || changed > 8 {
		t.Errorf("the example changes %d files, of 8", changed)
	}
	if lines[false] == 0 || lines[false] > 100 || lines[true] == 0 || lines[true] > 80 {
		t.Errorf("the example has %d lines of Go, of 100, and %d in the console, of 80: simplify what makes it longer", lines[false], lines[true])
	}

	row := fmt.Sprintf("| A resource | %d lines in 5 new files and %d others |",
		lines[false]+lines[true], changed)
	if !strings.Contains(readText(t, exampleDoc), row) {
		t.Errorf("the chapter does not say %q", row)
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
