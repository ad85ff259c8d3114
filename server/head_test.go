package server_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
)

// nonce is the part of a policy that differs in each response.
var nonce = regexp.MustCompile("nonce-[A-Z0-9]+")

// TestHEAD_EveryGET compares the response to HEAD with that to GET, over a connection: the same
// status and headers, and no body.
func TestHEAD_EveryGET(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.Tokens["metrics"] = servertest.MetricsSecret
	base := in.Live()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	ask := func(t *testing.T, method, url, as string) (int, http.Header, string) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, base+url, nil)
		servertest.Must(t, err)
		if token := in.Tokens[as]; token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}

		a, err := client.Do(r)
		servertest.Must(t, err)
		defer a.Body.Close()
		body := ""
		if method == "HEAD" {
			b, err := io.ReadAll(a.Body)
			servertest.Must(t, err)
			body = string(b)
		}

		return a.StatusCode, a.Header, body
	}

	succeeded := 0
	for _, rt := range server.Routes() {
		if rt.Method != "GET" {
			continue
		}
		t.Run(rt.Path, func(t *testing.T) {
			url := strings.NewReplacer(":item_id", "1", ":id", "1", ":seq", "1").Replace(rt.Path)
			url = servertest.URLOf(&web.Route{Path: url})
			code, header, _ := ask(t, "GET", url, holder(&rt))
			headCode, head, body := ask(t, "HEAD", url, holder(&rt))
			if code == 200 {
				succeeded++
			}
			if headCode != code || body != "" {
				t.Errorf("%d and %q, not %d", headCode, body, code)
			}

			for _, name := range slices.Sorted(maps.Keys(header)) {
				switch name {
				case "Date", "X-Request-Id", "Content-Length", "Set-Cookie", "Etag", "Retry-After":
					if name != "Content-Length" && head.Get(name) == "" {
						t.Errorf("%s is missing", name)
					}
				case "Content-Disposition": // with the time
					kind, _, _ := strings.Cut(header.Get(name), ";")
					if !strings.HasPrefix(head.Get(name), kind) {
						t.Errorf("%s is %q, not %q", name, head.Get(name), header.Get(name))
					}
				default:
					if nonce.ReplaceAllString(head.Get(name), "") != nonce.ReplaceAllString(header.Get(name), "") {
						t.Errorf("%s is %q, not %q", name, head.Get(name), header.Get(name))
					}
				}
			}
		})
	}

	if succeeded < 60 {
		t.Errorf("only %d were answered with 200", succeeded)
	}
}

// A stream and a download end at the headers; no use of them is logged.
func TestHEAD_ChangesNothing(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before := in.OK("GET", "/system/audit", "", "owner").Body
	for _, url := range []string{"/system/backup", "/admin/list-export", "/system/event",
		"/system/audit-export"} {
		in.Call("HEAD", url, "", "owner").Brief(200)
	}
	for _, text := range []string{"backup", "export"} {
		if after := in.OK("GET", "/system/audit", "", "owner").Body; strings.Count(after, text) != strings.Count(before, text) {
			t.Errorf("%s was logged: %s", text, after)
		}
	}
}
