package server_test

import (
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"reeve/embed"
	"reeve/server/servertest"
)

func withConsole(t *testing.T) *servertest.Instance {
	files, err := fs.Sub(embed.Console, "dist")
	servertest.Must(t, err)
	return servertest.Start(t, func(su *servertest.Setup) { su.Config.Console = files })
}

// ask sends a request like a browser.
func ask(in *servertest.Instance, method, url, accepted string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	r.Header.Set("Accept-Encoding", accepted)
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, r)
	return w
}

func TestConsolePage_NewNonce(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	nonces := map[string]bool{}
	for _, url := range []string{"/console/", "/console/admin/list?page=2",
		"/console/no/such/page"} {
		w := ask(in, "GET", url, "zstd") // the page is compressed with gzip only
		policy := w.Header().Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(policy)
		if w.Code != 200 || nonce == nil || !strings.Contains(w.Body.String(), nonce[1]) ||
			strings.Contains(w.Body.String(), "__NONCE__") {
			t.Fatalf("%s: %d %q %s", url, w.Code, policy, w.Body)
		}
		if nonces[nonce[1]] || w.Header().Get("Cache-Control") != "no-cache" ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %q %q", url, w.Header(), policy)
		}
		nonces[nonce[1]] = true
	}
}

// TestConsolePage_Accent: the page has the accent colors from the start, and its policy stays.
func TestConsolePage_Accent(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	page := func() (policy, body string) {
		w := ask(in, "GET", "/console/", "")
		policy, body = w.Header().Get("Content-Security-Policy"), w.Body.String()
		nonce := regexp.MustCompile(`'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(policy)[1]
		return strings.ReplaceAll(policy, nonce, "N"), strings.ReplaceAll(body, nonce, "N")
	}
	before, plain := page()
	if strings.Contains(plain, "--accent") {
		t.Errorf("it has accent colors: %s", plain)
	}
	in.OK("PUT", "/system/setting", `{"values":{"site.accent":"#A01"}}`, "owner")
	policy, body := page()
	style := regexp.MustCompile(`<style nonce="N">:root\{--accent:#AA0011;--accent-dark:#[0-9a-f]{6};\}</style></head>`)
	if policy != before || !style.MatchString(body) {
		t.Errorf("%s\n%s", policy, body)
	}
}

func TestConsoleAssets(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	asset := regexp.MustCompile(`src="(/console/assets/[^"]+\.js)"`).FindStringSubmatch(ask(in,
		"GET", "/console/", "").Body.String())[1]
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "zstd",
		"gzip, deflate":           "gzip",
		"zstd;q=0, gzip":          "gzip",
		"identity":                "",
		"br":                      "",
	} {
		w := ask(in, "GET", asset, accepted)
		h := w.Header()
		if w.Code != 200 || h.Get("Content-Encoding") != want ||
			!strings.Contains(h.Get("Cache-Control"), "immutable") ||
			!strings.HasPrefix(h.Get("Content-Type"), "text/javascript") ||
			h.Get("Vary") != "Accept-Encoding" || w.Body.Len() == 0 {
			t.Errorf("%q: %d %v", accepted, w.Code, h)
		}
	}

	for _, url := range []string{"/console/assets/none.js", "/console/assets/../index.html",
		"/console/assets/../source", "/console/assets/"} {
		if w := ask(in, "GET", url, "zstd"); w.Code != 404 ||
			!strings.Contains(w.Body.String(), `"errorCode":"not_found"`) {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
}

func TestRoot_RedirectsToConsole(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	for url, to := range map[string]string{
		"/":                      "/console/",
		"/console":               "/console/",
		"/console?span=7d&x=%2F": "/console/?span=7d&x=%2F",
	} {
		if w := ask(in, "GET", url, ""); w.Code != 302 || w.Header().Get("Location") != to {
			t.Errorf("%s: %d %v", url, w.Code, w.Header())
		}
	}
	servertest.Start(t).Call("GET", "/", "", "nobody").Brief(404) // without a console
}

// TestConsoleAssets_Size: it adds less than 3 MiB to the program.
func TestConsoleAssets_Size(t *testing.T) {
	t.Parallel()
	var bytes int64
	servertest.Must(t,
		fs.WalkDir(embed.Console, ".", func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		}))
	t.Logf("%d bytes", bytes)
	if bytes < 500_000 || bytes > 3<<20 {
		t.Errorf("the console has %d bytes", bytes)
	}
}
