package server_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
)

// TestSecurityHeaders_EveryRoute has every route and class of status. In all other tests, call and
// send check the headers, too.
func TestSecurityHeaders_EveryRoute(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	servertest.EachRoute(t, in, nil, func(in *servertest.Instance, rt *web.Route) {
		logout := strings.HasSuffix(rt.Path, "/logout")
		for _, who := range []string{"nobody", holder(rt)} { // 401, and then 200, 404 or an input error
			if !logout || who == "nobody" {
				in.Call(rt.Method, servertest.URLOf(rt), "", who)
			}
		}

		in.Call(rt.Method, servertest.URLOf(rt)+"?no=1", "", holder(rt)) // 400
		r := in.Request(rt.Method, servertest.URLOf(rt), "", "nobody")
		r.TLS = &tls.ConnectionState{}
		in.Send(r)
		in.Call("PATCH", servertest.URLOf(rt), "", "nobody") // 405
		in.Call("OPTIONS", servertest.URLOf(rt), "", "nobody")
		if rt.Ranges {
			in.Call("HEAD", servertest.URLOf(rt), "", holder(rt))
		}
	})
}

func TestSecurityHeaders_EveryStatusClass(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	codes := map[int]bool{}
	call := func(method, url, body string, headers ...string) {
		r := in.Request(method, url, body, "owner")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		codes[in.Send(r).Code] = true
	}

	in.Upload("/file/list", "a text", "owner")
	in.OK("PUT", "/file/list/1", `{"public":1}`, "owner")
	call("GET", "/system/setting-value", "")
	call("GET", "/system/setting-value", "", "If-None-Match", "*")
	call("GET", "/file/list/1/content", "")
	call("GET", "/file/list/1/content", "", "Range", "bytes=1-2")
	call("GET", "/file/list/1/content", "", "Range", "bytes=100-")
	call("GET", "/system/backup", "")
	call("GET", "/admin/list-export", "")
	call("GET", "/nowhere", "")
	call("DELETE", "/health", "")
	call("PUT", "/admin/info", "{")
	call("PUT", "/admin/info", `{"sex":7}`)
	call("PUT", "/admin/info", `{"sex":1}`, "Content-Type", "text/plain")
	call("POST", "/admin/login", strings.Repeat(" ", 5000))
	for i := range 7 {
		call("POST", "/admin/login", fmt.Sprintf(`{"username":"none","password":"%d"}`, i))
	}

	in.Server.Limits.BodyMemory.Total = 0
	call("PUT", "/admin/info", `{"nickname":"`+strings.Repeat("x", 50_000)+`"}`)
	for _, code := range []int{200, 206, 304, 400, 401, 404, 405, 413, 415, 416, 422, 429, 503} {
		if !codes[code] {
			t.Errorf("no answer was %d", code)
		}
	}

	for _, url := range []string{in.PublicURL(1), "/media/none"} {
		in.Call("GET", url, "", "nobody")
	}

	in.Call("POST", "/admin/logout", "", "owner").Brief(200)
	in.Call("POST", "/admin/logout", "", "owner").Brief(401)
}

// TestSecurityHeaders_Console checks that the console has its own content security policy.
func TestSecurityHeaders_Console(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	for url, policy := range map[string]string{
		"/":                       "default-src 'none'; frame-ancestors 'none'",
		"/console?x=1":            "default-src 'none'; frame-ancestors 'none'",
		"/console/":               "script-src 'self'",
		"/console/assets/none.js": "default-src 'none'; frame-ancestors 'none'",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := ask(in, method, url, "zstd")
			h := w.Header()
			if got := h.Get("Content-Security-Policy"); !strings.Contains(got, policy) ||
				!strings.Contains(got, "frame-ancestors 'none'") {
				t.Errorf("%s %s: %d with the policy %q", method, url, w.Code, got)
			}

			referrer := "no-referrer"
			if url == "/console/" {
				referrer = "same-origin"
			}
			if h.Get("Referrer-Policy") != referrer ||
				h.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
				h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %v", method, url, h)
			}
		}
	}
}

// TestSecurityHeaders_Errors has a panic and an aborted response, too.
func TestSecurityHeaders_Errors(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	handler := in.Server.Headers(in.Server.Cors(in.Server.Router(servertest.FailingRoutes())))
	for _, rt := range servertest.FailingRoutes() {
		w := httptest.NewRecorder()
		func() {
			defer func() { recover() }() // of an aborted response
			handler.ServeHTTP(w, in.Request(rt.Method, rt.Path, "", "nobody"))
		}()
		a := &servertest.Reply{
			T:      t,
			Code:   w.Code,
			Header: w.Header(),
			Body:   "",
			Sent:   rt.Name(),
			Bytes:  0,
		}
		a.CheckHeaders(in.Request(rt.Method, rt.Path, "", "nobody"))
	}
}

func TestSecurityHeaders_HSTSNeedsTLS(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for tlsOn, srv := range map[bool]*httptest.Server{
		false: httptest.NewServer(in.Server.Handler()),
		true:  httptest.NewTLSServer(in.Server.Handler()),
	} {
		defer srv.Close()
		resp, err := srv.Client().Get(srv.URL + "/health")
		servertest.Must(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Strict-Transport-Security"); (got != "") != tlsOn {
			t.Errorf("TLS %t: %q", tlsOn, got)
		}
	}
}
