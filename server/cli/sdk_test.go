package cli

import (
	"bytes"
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
