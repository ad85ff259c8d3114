package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"reeve/server/servertest"
	"reeve/server/web"
)

func TestClientAddress_OfLogin(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		trusted    []netip.Prefix
		want       string
	}{
		{"straight", "203.0.113.5:4000", nil, nil, "203.0.113.5"},
		{"a header that nobody trusts", "203.0.113.5:4000", []string{"1.1.1.1"}, nil,
			"203.0.113.5"},
		{"a header from a stranger", "203.0.113.5:4000", []string{"1.1.1.1"}, proxies,
			"203.0.113.5"},
		{"a header from a proxy", "10.1.2.3:4000", []string{"1.1.1.1, 198.51.100.7", "10.0.0.9"},
			proxies, "198.51.100.7"},
		{"IPv6", "[2001:db8::1]:4000", nil, nil, "2001:db8::1"},
		{"IPv6 with a zone", "[fe80::1%eth0]:4000", nil, nil, "fe80::1"},
		{"IPv4 in IPv6", "[::ffff:203.0.113.5]:4000", nil, nil, "203.0.113.5"},
		{"an IPv6 proxy", "[::1]:4000", []string{"203.0.113.5"}, proxies, "203.0.113.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := servertest.Start(t, func(su *servertest.Setup) {
				su.Config.TrustedProxies = c.trusted
			})
			r := in.Request("POST", "/admin/login",
				`{"username":"admin","password":"`+servertest.OwnerPassword+`"}`, "nobody")
			r.RemoteAddr = c.peer
			for _, line := range c.forwarded {
				r.Header.Add("X-Forwarded-For", line)
			}
			in.Send(r).Brief(200)
			in.OK("GET", "/admin/info", "", "owner").Brief(200, `"login_ip":"`+c.want+`"`)
		})
	}
}

func TestPlainHTTP_BeyondLoopbackIsDetected(t *testing.T) {
	t.Parallel()
	for listen, plain := range map[string]bool{
		"127.0.0.1:8080": false, "127.9.9.9:1": false, "[::1]:8080": false, "localhost:8080": false,
		"0.0.0.0:8080": true, ":8080": true, "[::]:8080": true, "192.0.2.1:80": true,
		"example.org:80": true,
	} {
		if got := (&web.Config{Listen: listen}).PlainBeyondLoopback(); got != plain {
			t.Errorf("%s: %t", listen, got)
		}
		if (&web.Config{Listen: listen, TLSCert: "cert.pem"}).PlainBeyondLoopback() {
			t.Errorf("%s with TLS is called plain", listen)
		}
	}
}

// run serves until the test ends or stop is called. stop waits for the end.
func run(in *servertest.Instance) (base string, stop func()) {
	in.T.Helper()
	ctx, cancel := context.WithCancel(in.T.Context())
	ready, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() { done <- in.Server.Run(ctx, func(a net.Addr) { ready <- a }) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			if err := <-done; err != nil {
				in.T.Errorf("Run: %v", err)
			}
		}
	}
	select {
	case addr := <-ready:
		return "http://" + addr.String(), stop
	case err := <-done:
		in.T.Fatal(err)
		return "", nil
	}
}

func TestServer_OverNetwork(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.Listen = "127.0.0.1:0" })
	base, stop := run(in)
	defer stop()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	ask := func(method, path string, body io.Reader, status int) *http.Response {
		t.Helper()
		r, err := http.NewRequest(method, base+path, body)
		servertest.Must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+in.Tokens["owner"])
		answer, err := client.Do(r)
		servertest.Must(t, err)
		text, err := io.ReadAll(answer.Body)
		servertest.Must(t, err)
		servertest.Must(t, answer.Body.Close())
		if answer.StatusCode != status || method != "HEAD" && !json.Valid(text) {
			t.Errorf("%s %s: %d %.300s, want %d", method, path, answer.StatusCode, text, status)
		}
		return answer
	}
	ask("GET", "/health", nil, 200)
	ask("GET", "/system/setting?pageSize=1000", nil, 200)
	ask("PUT", "/admin/info", strings.NewReader(`{"nickname":"x"}`), 200)
	ask("PUT", "/admin/info", struct{ io.Reader }{strings.NewReader(`{"nickname":"in chunks"}`)},
		200)
	ask("PUT", "/admin/info", struct{ io.Reader }{strings.NewReader("  ")}, 200)
	ask("PUT", "/admin/info",
		struct{ io.Reader }{strings.NewReader(`{"nickname":"` + strings.Repeat("x", 1<<20) + `"}`)}, 413)
	ask("PUT", "/admin/info", strings.NewReader(`{"nickname":"`+strings.Repeat("x", 1<<20)+`"}`),
		413)
	ask("HEAD", "/admin/info", nil, 200)
	ask("HEAD", "/admin/login", nil, 405)
	ask("GET", "/nowhere", nil, 404)
	stop()
	if _, err := client.Get(base + "/health"); err == nil {
		t.Error("it still serves after it was stopped")
	}
}

func TestListenAddress_Unusable(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.Listen = "127.0.0.1:0" })
	base, stop := run(in)
	defer stop()
	taken := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Listen = strings.TrimPrefix(base, "http://")
	})
	err := taken.Server.Run(t.Context(), func(net.Addr) { t.Error("it is ready") })
	if err == nil || !strings.Contains(err.Error(), taken.Server.Config.Listen) {
		t.Errorf("%v", err)
	}

	config := taken.Server.Config
	config.TLSCert, config.TLSKey = "none.pem", "none.key"
	if _, err := web.New(config, taken.DB, taken.Server.Auth, zerolog.Nop()); err == nil ||
		!strings.Contains(err.Error(), "tls_cert") {
		t.Errorf("%v", err)
	}
}
