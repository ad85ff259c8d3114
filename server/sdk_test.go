package server_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"reeve/server/ops"
	"reeve/server/servertest"
)

// fileOf requests a compiled-in file, with headers in pairs. It is not an operation, so the
// conventions of operations do not apply.
func fileOf(in *servertest.Instance, method, path string,
	headers ...string) *httptest.ResponseRecorder {
	in.T.Helper()
	r := in.Request(method, path, "", "nobody")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, r)
	return w
}

func TestClientLibraries(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var list ops.ClientsOut
	in.OK("GET", "/sdk", "", "nobody").Data(&list)
	a := fileOf(in, "GET", list.TypeScript.Path)
	if sum := sha256.Sum256(a.Body.Bytes()); a.Code != 200 ||
		int64(len(a.Body.String())) != list.TypeScript.Size ||
		hex.EncodeToString(sum[:]) != list.TypeScript.SHA256 {
		t.Fatalf("%d with %d bytes, want %+v", a.Code, len(a.Body.String()), list.TypeScript)
	}

	zipped, err := gzip.NewReader(strings.NewReader(a.Body.String()))
	servertest.Must(t, err)
	names := map[string]string{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		servertest.Must(t, err)
		content, err := io.ReadAll(archive)
		servertest.Must(t, err)
		names[header.Name] = string(content)
	}

	types, err := os.ReadFile("../embed/sdk/typescript/api.d.ts")
	servertest.Must(t, err)
	if names["package/api.d.ts"] != string(types) {
		t.Error("the types in the program are not those of embed/sdk/typescript/api.d.ts: npm run types")
	}
	for _, name := range []string{"package/package.json", "package/dist/index.js",
		"package/LICENSE"} {
		if names[name] == "" {
			t.Errorf("the npm package lacks %s", name)
		}
	}

	if !strings.Contains(names["package/package.json"], `"version": "0.0.0"`) {
		t.Errorf("package.json has another version: %s", names["package/package.json"])
	}

	at := list.Go.Path + "/" + list.Go.Module
	if a := fileOf(in, "GET", at+"/@v/list"); a.Body.String() != list.Go.Version+"\n" {
		t.Errorf("the versions are %q", a.Body.String())
	}

	a = fileOf(in, "GET", at+"/@v/"+list.Go.Version+".zip")
	module, err := zip.NewReader(strings.NewReader(a.Body.String()), int64(len(a.Body.String())))
	servertest.Must(t, err)
	files := []string{}
	for _, file := range module.File {
		name, ok := strings.CutPrefix(file.Name, list.Go.Module+"@"+list.Go.Version+"/")
		if files = append(files, name); !ok || strings.HasSuffix(name, "_test.go") {
			t.Errorf("the module has %s", file.Name)
		}
	}

	for _, name := range []string{"go.mod", "LICENSE", "client.go"} {
		if !slices.Contains(files, name) {
			t.Errorf("the module lacks %s: %q", name, files)
		}
	}

	if again := fileOf(servertest.Start(t), "GET", at+"/@v/"+list.Go.Version+".zip"); again.Body.String() != a.Body.String() {
		t.Error("another server makes another archive of the same version")
	}
}

func TestClientLibraryRequests(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, c := range []struct {
		name, method, path string
		status             int
		kind               string
	}{
		{"a script", "GET", "/sdk/typescript/dist/index.js", 200, "text/javascript; charset=utf-8"},
		{"by HEAD", "HEAD", "/sdk/typescript/dist/index.js", 200, "text/javascript; charset=utf-8"},
		{"the newest version", "GET", "/sdk/go/reeve.internal/reeve/@v/v0.0.0.info", 200,
			"application/json"},
		{"without a version", "GET", "/sdk/typescript/reeve-client.tgz", 302, ""},
		{"another version", "GET", "/sdk/go/reeve.internal/reeve/@v/v0.0.1.zip", 404,
			"application/json"},
		{"another module", "GET", "/sdk/go/github.com/go-chi/chi/v5/@v/list", 404,
			"application/json"},
		{"a directory", "GET", "/sdk/typescript/dist/", 404, "application/json"},
		{"nothing", "GET", "/sdk/", 404, "application/json"},
		{"the source of Go", "GET", "/sdk/go/client.go", 404, "application/json"},
		{"a path upwards", "GET", "/sdk/typescript/../LICENSE", 404, "application/json"},
		{"an encoded path upwards", "GET", "/sdk/typescript/%2e%2e/LICENSE", 404,
			"application/json"},
		{"two slashes", "GET", "/sdk//typescript/package.json", 404, "application/json"},
		{"another method", "POST", "/sdk/typescript/package.json", 405, "application/json"},
	} {
		a := fileOf(in, c.method, c.path)
		if a.Code != c.status || a.Header().Get("Content-Type") != c.kind ||
			a.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", c.name, a.Code, a.Header())
		}
	}

	a := fileOf(in, "GET", "/sdk/typescript/package.json")
	if again := fileOf(in, "GET", "/sdk/typescript/package.json", "If-None-Match",
		a.Header().Get("ETag")); again.Code != 304 {
		t.Errorf("the same again: %d", again.Code)
	}
	if a := fileOf(in, "GET", "/sdk/typescript/reeve-client.tgz"); a.Header().Get("Location") != "reeve-client-0.0.0.tgz" {
		t.Errorf("the package without a version is at %s", a.Header().Get("Location"))
	}

	without := servertest.Start(t, func(su *servertest.Setup) { su.Config.Clients = nil })
	if a := fileOf(without, "GET", "/sdk/typescript/package.json"); a.Code != 404 {
		t.Errorf("without clients: %d", a.Code)
	}
}

// TestClientLibraries_License: the archives contain the license of the program.
func TestClientLibraries_License(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("../LICENSE")
	servertest.Must(t, err)
	clients, err := os.ReadFile("../embed/sdk/LICENSE")
	servertest.Must(t, err)
	if string(program) != string(clients) {
		t.Error("embed/sdk/LICENSE is not a copy of LICENSE")
	}
}
