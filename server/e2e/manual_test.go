package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manualPassword is the password in the examples.
const manualPassword = "choose a better one"

// notRun is the number of shell blocks that the test cannot run. Each has its reason beside
// it.
const notRun = 18

// snippet is a fenced code block of a page.
type snippet struct {
	line           int
	language, note string // the two parts after the fence
	code           string
}

// fence matches a block that begins at the start of a line.
var fence = regexp.MustCompile("(?ms)^```(\\w+)[ \t]*([^\n]*)\n(.*?)^```$")

// manualPages returns the README and the pages of the manual, by path.
func manualPages(t *testing.T) map[string][]snippet {
	t.Helper()
	paths, err := filepath.Glob("../../embed/manual/*.md")
	docs, _ := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}

	pages := map[string][]snippet{}
	for _, path := range append(append(paths, docs...), "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fence.FindAllSubmatchIndex(text, -1) {
			part := func(i int) string { return string(text[m[2*i]:m[2*i+1]]) }
			pages[path] = append(pages[path],
				snippet{1 + strings.Count(string(text[:m[0]]), "\n"), part(1), part(2), part(3)})
		}
	}

	return pages
}

// TestManualSnippets runs the shell blocks of each page against a new server, in one shell.
func TestManualSnippets(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	needs(t, "bash")
	skipped, tests := 0, commandTests(t)
	for path, page := range manualPages(t) {
		var script strings.Builder
		for _, s := range page {
			reason, marked := strings.CutPrefix(s.note, "no-run")
			tester, tested := strings.CutPrefix(s.note, "tested ")
			switch {
			case s.language != "sh":
			case tested:
				if !strings.Contains(tests[tester], "func "+tester+"(") {
					t.Errorf("%s:%d: there is no test %s", path, s.line, tester)
				}
			case marked && strings.TrimSpace(reason) == "":
				t.Errorf("%s:%d is not run, without a reason", path, s.line)
			case marked:
				skipped++
			case s.note != "":
				t.Errorf("%s:%d has the unknown mark %q", path, s.line, s.note)
			default:
				fmt.Fprintf(&script, "echo; echo '== line %d'\n%s\n", s.line, s.code)
			}
		}
		if script.Len() > 0 {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				var environment []string
				if filepath.Base(path) == "sign-in-providers.md" { // where a provider is switched on
					environment = []string{"REEVE_SERVER__PUBLIC_URL=https://reeve.example.org"}
				}
				runSnippets(t, script.String(), environment...)
			})
		}
	}

	if skipped != notRun {
		t.Errorf("%d blocks are not run; notRun is %d", skipped, notRun)
	}
}

// prepareCurl makes what the curl commands of the manual name: a token, a key, roles, settings, a
// dictionary and a flag.
const prepareCurl = `
json='Content-Type: application/json'
TOKEN=$(curl -s localhost:8080/admin/login -H "$json" -d '{"username":"admin","password":"` + manualPassword + `"}' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
make() { curl -s "localhost:8080$1" -H "Authorization: Bearer $TOKEN" -H "$json" -d "$2"; }
for name in two three four five; do make /admin/role "{\"name\":\"$name\"}"; done
make /system/setting-group '{"key":"payment","title":"Payment"}'
make /system/setting-group '{"key":"shop","title":"Shop","public":1}'
make /system/setting '{"key":"checkout","title":"Checkout","type":"flag","group_id":9,"values":{"enabled":true,"variants":{"new":true},"default":"new"}}'
make /system/dict '{"code":"order_state","name":"State of an order","public":1}'
KEY=$(make /admin/account/key '{"name":"manual"}' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
`

// endless are commands that go on until they are stopped.
var endless = regexp.MustCompile(`(?m)^curl -N `)

// TestManualCurl runs the commands with which blocks begin that also show their output.
func TestManualCurl(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	needs(t, "bash")
	script, ran := prepareCurl, 0
	for path, page := range manualPages(t) {
		for _, s := range page {
			command, _, _ := strings.Cut(s.code, "\n\n")
			if s.language != "text" || !strings.HasPrefix(command, "curl ") {
				continue
			}
			ran++
			command = strings.NewReplacer("127.0.0.1:8080", "localhost:8080", "rv_…", "$KEY").Replace(strings.TrimSpace(command))
			if endless.MatchString(command) {
				command = endless.ReplaceAllString(command, "curl -N --max-time 1 ") + " || [ $? = 28 ]"
			}
			script += fmt.Sprintf("echo; echo '== %s, line %d'\n%s\n", filepath.Base(path), s.line,
				command)
		}
	}

	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}

	runSnippets(t, script)
}

// needs skips a test if a program is missing, and fails it in continuous integration.
func needs(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", name)
	}
	t.Skipf("%s is missing", name)
}

// runSnippets runs a script in an empty directory, where reeve serves ./data. A failing
// command and an error response end it.
func runSnippets(t *testing.T, script string, environment ...string) {
	dir, home := t.TempDir(), t.TempDir()
	server := start(t, filepath.Join(dir, "data"), append(environment, "REEVE_ADMIN_PASSWORD="+manualPassword)...)
	if err := os.WriteFile(filepath.Join(home, ".curlrc"), []byte("fail-with-body\nshow-error\n"),
		0o600); err != nil {
		t.Fatal(err)
	}

	script = strings.ReplaceAll(script, "localhost:8080", strings.TrimPrefix(server.url, "http://"))
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "REEVE_")
	}),
		"PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "CURL_HOME="+home, "HOME="+home)

	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}

	server.stop()
}

// TestManualTypeScript checks the types of each ts block, as a separate module.
func TestManualTypeScript(t *testing.T) {
	t.Parallel()
	tsc, err := filepath.Abs("../../embed/console/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tsc is missing: npm ci in embed/console")
		}
		t.Skip("tsc is missing: npm ci in embed/console")
	}

	dir := t.TempDir()
	client, err := filepath.Abs("../../embed/sdk/typescript")
	noErr(t, err)
	noErr(t, os.MkdirAll(filepath.Join(dir, "node_modules", "@reeve"), 0o755))
	noErr(t, os.Symlink(client, filepath.Join(dir, "node_modules", "@reeve", "client")))
	args := []string{"--noEmit", "--strict", "--noUncheckedIndexedAccess", "--module", "esnext",
		"--moduleResolution", "bundler", "--target", "es2022", "--lib", "es2023,dom,dom.iterable",
		"--types", ""}
	for path, page := range manualPages(t) {
		if filepath.Base(path) == "adding-a-resource.md" {
			continue // fragments of the console: TestManualExample_BuildsAndPasses checks them in place
		}
		for _, s := range page {
			if s.language != "ts" {
				continue
			}
			name := filepath.Join(dir, fmt.Sprintf("%s-%d.ts", filepath.Base(path), s.line))
			if err := os.WriteFile(name, []byte(s.code+"\nexport {}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
	}

	cmd := exec.Command(tsc, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
