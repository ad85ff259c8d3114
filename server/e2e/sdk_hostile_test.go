package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
)

// answering is a server that answers every request with a status, a body, and headers in pairs. It
// is what may be in the place of Reeve: a proxy, another program.
func answering(t *testing.T, status int, body string, header ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// verified are the headers of GET /auth/verify.
var verified = []string{"Remote-User", "zoe", "X-Reeve-User", "7", "X-Reeve-Scope",
	"user=7;depts=3", "Remote-Groups", ""}

// without returns headers in pairs without one of them.
func without(headers []string, name string) (others []string) {
	for i := 0; i < len(headers); i += 2 {
		if headers[i] != name {
			others = append(others, headers[i], headers[i+1])
		}
	}
	return others
}

// strangeAnswers are what a server may answer to the checks of a program, and what the program
// answers then. Nobody is let through, and no text of a proxy is sent to clients.
var strangeAnswers = []struct {
	name   string
	bearer bool
	status int
	body   string
	header []string
	want   int
	says   string
}{
	{"verified", false, 204, "", verified, 200, `7 "zoe" false [3]`},
	{"verified without a scope", false, 204, "", without(verified, "X-Reeve-Scope"), 500, ""},
	{"verified without an ID", false, 204, "", without(verified, "X-Reeve-User"), 500, ""},
	{"verified without a name", false, 204, "", without(verified, "Remote-User"), 500, ""},
	{"verified with another ID", false, 204, "",
		append(without(verified, "X-Reeve-User"), "X-Reeve-User", "x"), 500, ""},
	{"verified with another scope", false, 204, "",
		append(without(verified, "X-Reeve-Scope"), "X-Reeve-Scope", "user=7;depts=3,x"), 500, ""},
	{"nothing, by another program", false, 204, "", nil, 500, ""},
	{"refused by a proxy", false, 403, "<h1>Forbidden</h1>", nil, 500, ""},
	{"refused by Reeve", false, 403,
		`{"data":{},"success":false,"msg":"permission a.b is required","errorCode":"denied"}`, nil,
		403, "permission a.b is required"},
	{"redirected by a proxy", false, 301, "", []string{"Location", "https://evil.example/"}, 500,
		""},
	{"a page", false, 200, "<html>", nil, 500, ""},
	{"too many", false, 429, "<html>", []string{"Retry-After", "100"}, 503, "try again"},
	{"a page for a token", true, 200, "<html>", nil, 500, ""},
	{"no data for a token", true, 200, `{"success":true,"data":null}`, nil, 500, ""},
	{"a list for a token", true, 200, `{"success":true,"data":[]}`, nil, 500, ""},
	{"another program's object for a token", true, 200, `{"active":true}`, nil, 500, ""},
	{"a text for a token", true, 200, `{"success":true,"data":"active"}`, nil, 500, ""},
	{"no permissions for a token", true, 200,
		`{"success":true,"data":{"active":true,"user":{"id":7,"username":"zoe","realm":"admin"},"allowed":{}}}`, nil, 403, "permission shop.order is required"},
	{"truncated for a token", true, 200, `{"success":true,"data":{"active":tr`, nil, 500, ""},
}

func TestGoProtect_StrangeServers(t *testing.T) {
	t.Parallel()
	for _, c := range strangeAnswers {
		other := answering(t, c.status, c.body, c.header...)
		var log bytes.Buffer
		client := goClient(t, reeve.Options{
			URL:     other.URL,
			Key:     "rv_k_secret",
			Origin:  "http://127.0.0.1:3000",
			Retries: -1,
			Logger:  slog.New(slog.NewTextHandler(&log, nil)),
		})
		handler := client.Protect("shop.order")(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			by := reeve.CallerOf(r.Context())
			fmt.Fprintf(w, "%d %q %v %v", by.ID, by.Username, by.Scope.All, by.Scope.DeptIDs)
		}))

		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/orders", nil)
		if c.bearer {
			r.Header.Set("Authorization", "Bearer token-of-a-user")
		}

		handler.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != c.want || !strings.Contains(body, c.says) ||
			strings.Contains(body, "127.0.0.1") || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %s %v, want %d with %q", c.name, w.Code, body, w.Header(), c.want,
				c.says)
		}
		if text := log.String(); strings.Contains(text, "rv_k_secret") ||
			strings.Contains(text, "token-of") ||
			w.Code >= 500 && (text == "" || strings.Contains(text, ":  ")) {
			t.Errorf("%s: the log is %s", c.name, text)
		}
	}
}

// TestGoProtect_ProgramUnaffected: its cookies, its paths, and its connections.
func TestGoProtect_ProgramUnaffected(t *testing.T) {
	t.Parallel()
	other := answering(t, 302, "", "Location", "http://reeve.example/console/open", "Set-Cookie",
		"reeve-state=a", "Set-Cookie", "b=c")
	client := goClient(t, reeve.Options{URL: other.URL, Origin: "https://shop.example.org:443"})
	w := httptest.NewRecorder()
	w.Header().Add("Set-Cookie", "session=mine")
	client.Protect()(nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if got := w.Header()["Set-Cookie"]; fmt.Sprint(got) != "[session=mine reeve-state=a b=c]" {
		t.Errorf("the cookies are %q", got)
	}

	var seen http.Header
	verify := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		w.WriteHeader(401)
	}))
	defer verify.Close()
	client = goClient(t, reeve.Options{URL: verify.URL, Origin: "https://Shop.example.org:443"})
	handler := http.StripPrefix("/shop", client.Protect()(nil))
	for target, want := range map[string]string{
		"/shop/orders?a=%2F":              "/shop/orders?a=%2F",
		"http://evil.example/shop/orders": "/orders",
	} {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("X-Forwarded-Uri", "/evil")
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if got := seen.Get("X-Forwarded-Uri"); got != want ||
			seen.Get("X-Forwarded-Host") != "shop.example.org" {
			t.Errorf("%s: Reeve gets %s at %s, want %s", target, got, seen.Get("X-Forwarded-Host"),
				want)
		}
	}

	// A page of another origin opens a WebSocket with GET, and the browser sends the cookies of the
	// site.
	r := httptest.NewRequest("GET", "/shop/live", nil)
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Origin", "https://evil.example.org")
	w = httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != 403 {
		t.Errorf("a WebSocket of another origin: %d", w.Code)
	}
}

// TestGoClient_ReplacedTransport: a program may have replaced http.DefaultTransport, as tracing
// does.
func TestGoClient_ReplacedTransport(t *testing.T) { // not parallel: it replaces a variable of net/http
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = http.NewFileTransport(http.Dir("."))
	goClient(t, reeve.Options{URL: "http://127.0.0.1"})
}

func TestGoClient_KeepsKey(t *testing.T) {
	t.Parallel()
	client := goClient(t, reeve.Options{URL: "http://127.0.0.1:9", Key: "rv_k_secret", Retries: -1})
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, client); strings.Contains(text, "rv_k_secret") {
			t.Errorf("%s prints %s", format, text)
		}
	}
	for _, path := range []string{"@evil.example/", "80/admin/info", ".evil.example/", ""} {
		err := client.Call(t.Context(), "GET", path, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "path") {
			t.Errorf("a call of %q: %v", path, err)
		}
	}
}

// TestGoClient_RetriesThroughProxies: a proxy that loses its connection to the server may answer
// 503.
func TestGoClient_RetriesThroughProxies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  string
		after string
		want  int64
	}{
		"a proxy that has lost a connection": {"upstream connect error or disconnect/reset before headers", "", 1},
		"a proxy that is busy":               {"", "1", 1},
		"Reeve is busy": {`{"success":false,"msg":"busy","errorCode":"busy"}`,
			"", 2},
		"Reeve, of unknown outcome": {`{"success":false,"msg":"busy","errorCode":"write_outcome_unknown"}`, "1", 1},
	} {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Retry-After", c.after)
			w.WriteHeader(503)
			io.WriteString(w, c.body)
		}))
		defer s.Close()
		err := goClient(t, reeve.Options{URL: s.URL, Key: "key", Retries: 1}).Call(t.Context(),
			"DELETE", "/admin/list", nil, nil)
		if failure(t, err).Status != 503 || asked.Load() != c.want {
			t.Errorf("%s: %d requests, want %d", name, asked.Load(), c.want)
		}
	}

	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.Copy(w, io.LimitReader(strings.NewReader(strings.Repeat("a", 17<<20)), 17<<20))
	}))
	defer s.Close()
	err := goClient(t, reeve.Options{URL: s.URL, Key: "key"}).Call(t.Context(), "GET", "/", nil,
		nil)
	if failed := failure(t, err); failed.Code != "bad_response" || asked.Load() != 1 {
		t.Errorf("17 MiB: %d requests, %v", asked.Load(), err)
	}
}

// TestGoClient_FollowsStrangeServers checks that a response that is not Reeve's configuration
// replaces nothing, and that a server without an ETag is not polled without a pause.
func TestGoClient_FollowsStrangeServers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no data":   `{"success":true,"data":null}`,
		"an object": `{}`,
		"a page":    `<html>`,
		"a list":    `[]`,
	} {
		if _, err := goClient(t, reeve.Options{URL: answering(t, 200, body).URL}).Follow(t.Context(), reeve.ConfigQuery{}); failure(t, err).Code != "bad_response" {
			t.Errorf("%s: %v", name, err)
		}
	}

	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.WriteString(w, `{"success":true,"data":{"settings":{},"withheld":[],"dicts":{}}}`)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	config, err := goClient(t, reeve.Options{URL: s.URL}).Follow(ctx, reeve.ConfigQuery{})
	noErr(t, err)
	changes := make(chan time.Time, 10000)
	config.OnChange(func() { changes <- time.Now() })
	first, second := <-changes, <-changes
	cancel()
	<-config.Done()
	if second.Sub(first) < 900*time.Millisecond || asked.Load() > 4 {
		t.Errorf("%d requests; between two of them %s", asked.Load(), second.Sub(first))
	}
}

func TestTypeScriptClient_StrangeServers(t *testing.T) {
	t.Parallel()
	var cases []map[string]any
	for _, c := range strangeAnswers {
		cases = append(cases, map[string]any{
			"name":   c.name,
			"url":    answering(t, c.status, c.body, c.header...).URL,
			"bearer": c.bearer,
			"want":   c.want,
			"says":   c.says,
		})
	}
	text, err := json.Marshal(cases)
	noErr(t, err)
	runScript(t, "hostile.mjs", "CASES="+string(text))
}
