package cli

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// write runs `reeve sdk` in the working directory.
func write(version string, args ...string) (string, error) {
	var out bytes.Buffer
	err := Run(Release{Version: version}, append([]string{"sdk"}, args...), &out, &out)
	return out.String(), err
}

func TestSDK_Written(t *testing.T) {
	t.Chdir(t.TempDir())
	for kind, file := range map[string]string{"typescript": "package.json", "go": "go.mod"} {
		if out, err := write("1.2.3", kind, "lib/"+kind); err != nil ||
			!strings.Contains(out, "version 1.2.3") {
			t.Fatalf("%s, %v", out, err)
		}
		for _, name := range []string{file, "LICENSE", sdkList} {
			if info, err := os.Stat(filepath.Join("lib", kind, name)); err != nil ||
				info.Size() == 0 {
				t.Errorf("%s of %s: %v", name, kind, err)
			}
		}
	}
	text, err := os.ReadFile("lib/typescript/package.json")
	if err != nil || !strings.Contains(string(text), `"version": "1.2.3"`) {
		t.Errorf("%v\n%s", err, text)
	}
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir = "lib/go"
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the client for Go does not compile: %v\n%s", err, out)
	}
}

// TestSDK_ReplacesOnlyItsFiles writes a version over another one that had a further file.
func TestSDK_ReplacesOnlyItsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := write("1.2.3", "go", "lib"); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("lib/" + sdkList)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"old.go":  "broken",
		"own.txt": "mine",
		sdkList:   string(list) + "old.go\n",
	} {
		if err := os.WriteFile("lib/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write("1.2.4", "go", "lib"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("lib/old.go"); err == nil {
		t.Error("a file of the version before is left")
	}
	if own, err := os.ReadFile("lib/own.txt"); string(own) != "mine" {
		t.Errorf("a file of the product is %q, %v", own, err)
	}
	if now, err := os.ReadFile("lib/" + sdkList); string(now) != string(list) {
		t.Errorf("the list is %s, %v", now, err)
	}
}

func TestSDK_Refused(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		kind  string
		want  string
	}{
		"another language": {nil, "cobol",
			"there is no client for cobol; there are clients for"},
		"a foreign directory": {map[string]string{"main.go": "mine"}, "go",
			"has files that are not of the client"},
		"another client": {map[string]string{
			sdkList:    "typescript\nindex.js\n",
			"index.js": "theirs",
		}, "go", "has another client"},
		"a file in the way": {map[string]string{
			sdkList:     "go\nx.go\n",
			"client.go": "mine",
		}, "go", "client.go is not of the client"},
		"a list that leads out of the directory": {map[string]string{sdkList: "go\n../precious\n"},
			"go", "outside of the directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for file, content := range test.files {
				if err := os.MkdirAll("lib", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile("lib/"+file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := write("1.2.3", test.kind, "lib"); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			for file, content := range test.files {
				if now, _ := os.ReadFile("lib/" + file); string(now) != content {
					t.Errorf("%s is now %s", file, now)
				}
			}
		})
	}
}

// TestSDK_UpdateKeepsLocks writes the clients of two versions into a product. What the product has
// recorded about the first one is as good for the second: there is no checksum of the client.
func TestSDK_UpdateKeepsLocks(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	t.Setenv("npm_config_cache", t.TempDir())
	t.Setenv("npm_config_offline", "true")
	command := func(name string, words ...string) {
		t.Helper()
		if out, err := exec.Command(name, words...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, words, err, out)
		}
	}
	sdk := func(version string) {
		t.Helper()
		for _, kind := range []string{"typescript", "go"} {
			if out, err := write(version, kind, "lib/"+kind); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
		}
	}
	locks := func() (all map[string]string) {
		t.Helper()
		all = map[string]string{}
		for _, name := range []string{"package.json", "package-lock.json", "go.mod", "go.sum"} {
			b, err := os.ReadFile(name)
			if err != nil && name != "go.sum" { // without checksums there is none
				t.Fatal(err)
			}
			all[name] = string(b)
		}
		return all
	}
	install := func() {
		t.Helper()
		command("node", "--input-type=module", "-e", "import { Reeve } from '@reeve/client'; new Reeve({ url: 'http://localhost' })")
		command("go", "mod", "tidy")
		command("go", "build", "-o", "shop", ".")
	}

	sdk("1.2.3")
	program := "package main\n\nimport \"reeve.internal/reeve\"\n\nfunc main() { println(reeve.New(reeve.Options{URL: \"http://localhost\"})) }\n"
	if err := os.WriteFile("main.go", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("package.json", []byte(`{"name": "shop", "version": "1.0.0", "private": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	command("npm", "install", "--no-audit", "--no-fund", "./lib/typescript")
	command("go", "mod", "init", "shop")
	command("go", "mod", "edit", "-require=reeve.internal/reeve@v0.0.0", "-replace=reeve.internal/reeve=./lib/go")
	install()
	first := locks()
	sdk("1.3.0")
	command("npm", "ci", "--no-audit", "--no-fund")
	install()
	if second := locks(); !maps.Equal(first, second) {
		t.Errorf("an update has changed %q to %q", first, second)
	}
	for name, text := range first {
		if strings.Contains(text, "integrity") || strings.Contains(text, "h1:") {
			t.Errorf("%s has a checksum: %s", name, text)
		}
	}
	command("npm", "install", "--no-audit", "--no-fund")
	lock := strings.Replace(first["package-lock.json"], `"version": "1.2.3"`, `"version": "1.3.0"`, 1)
	if got := locks()["package-lock.json"]; got != lock {
		t.Errorf("npm install has changed more than the version of the client:\n%s", got)
	}
}
