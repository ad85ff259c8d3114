package webhook

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/outgoing"
)

// portOf returns the port of a test server.
func portOf(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	must(t, err)
	return u.Port()
}

func TestConnect_LoopbackRefused(t *testing.T) {
	server, connections := counted(t)
	port := portOf(t, server)
	c := testClient(t)
	for _, scheme := range []string{"http", "https"} {
		for host, code := range map[string]string{
			"127.0.0.1": "webhook_address", "[::1]": "webhook_address",
			"0.0.0.0": "webhook_address", "[::]": "webhook_address",
			"[::ffff:127.0.0.1]": "webhook_address",
			"[::127.0.0.1]":      "webhook_address", "[64:ff9b::7f00:1]": "webhook_address",
			"127.1": "webhook_url_host", "2130706433": "webhook_url_host",
			"017700000001": "webhook_url_host", "0x7f000001": "webhook_url_host",
			"0177.0.0.1": "webhook_url_host", "0x7f.1": "webhook_url_host",
		} {
			failed(t, c, scheme+"://"+host+":"+port+hiddenPath, code)
		}
	}
	// A host name is resolved when the connection is made.
	failed(t, c, "https://localhost:"+port+hiddenPath, "webhook_address")
	failed(t, c, "http://localhost:"+port+hiddenPath, "webhook_plain")
	failed(t, testClient(t, "10.0.0.1"), "http://localhost:"+port+hiddenPath, "webhook_address")
	if n := connections.Load(); n != 0 {
		t.Errorf("the server received %d connections", n)
	}
}

func TestAllowedDestinations(t *testing.T) {
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {})
	byName := strings.Replace(url, "127.0.0.1", "localhost", 1)
	for _, test := range []struct {
		url, allow string
	}{
		{url, "127.0.0.1"}, {url, "127.0.0.0/8"}, {byName, "127.0.0.0/8"}, {byName, "localhost"},
		{strings.Replace(byName, "localhost", "LOCALHOST", 1), "localhost"},
	} {
		if r := sent(t, testClient(t, test.allow), test.url); r.Status != 200 {
			t.Errorf("%s with %s: %s", test.url, test.allow, r.Fault)
		}
	}
	failed(t, testClient(t, "localhost"), url, "webhook_address") // the name does not allow its address
}

// A proxy of the environment is not used.
func TestConnect_IgnoresProxy(t *testing.T) {
	proxy, connections := counted(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy",
		"https_proxy"} {
		t.Setenv(name, proxy)
	}
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {})
	if r := sent(t, testClient(t, "127.0.0.1"), url); r.Status != 200 || connections.Load() != 0 {
		t.Errorf("%s, %d connections", r.Fault, connections.Load())
	}
}

// nameServer answers every question for an IPv4 address with the next of a list, and
// others with none. Without a list it knows no name.
func nameServer(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	var asked atomic.Int64
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}

			q := buffer[:n]
			end := 12
			for q[end] != 0 {
				end += int(q[end]) + 1
			}

			question := q[12 : end+5]
			answer := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
			switch {
			case len(addresses) == 0:
				answer[3] |= 3 // no such name
			case binary.BigEndian.Uint16(q[end+1:]) == 1: // type A
				addr := netip.MustParseAddr(addresses[min(int(asked.Add(1)), len(addresses))-1])
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, addr.AsSlice()...)
			}

			conn.WriteTo(answer, from)
		}
	}()

	return &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
		}}
}

// What an address may be connected to for is checked for every connection, whatever
// was known of its URL.
func TestConnect_AddressCheckedEachTime(t *testing.T) {
	c := testClient(t, "10.0.0.0/8")
	for text, want := range map[string]struct{ secure, plain string }{
		"10.0.0.1": {}, "::ffff:10.0.0.1": {}, "64:ff9b::10.0.0.1": {},
		"8.8.8.8": {"", "webhook_plain"}, "2600::1": {"", "webhook_plain"},
		"127.0.0.1":        {"webhook_address", "webhook_address"},
		"::ffff:127.0.0.1": {"webhook_address", "webhook_address"},
		"fe80::1%eth0":     {"webhook_address", "webhook_address"},
	} {
		for plain, code := range map[bool]string{false: want.secure, true: want.plain} {
			err := c.allow.Check(netip.MustParseAddr(text), plain)
			if (err == nil) != (code == "") ||
				err != nil &&
					c.faultOf(t.Context(), &net.OpError{Op: "dial", Err: err}, "host").Code() != code {
				t.Errorf("%s, plain %v: %v, want %q", text, plain, err, code)
			}
		}
	}
}

// A name that first resolves to an allowed address, and then to another, is refused.
func TestRebinding(t *testing.T) {
	var served atomic.Int64
	server := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		w.Header().Set("Connection", "close")
	})
	url := "http://rebinding.example:" + portOf(t, server) + hiddenPath
	dialer := &net.Dialer{Resolver: nameServer(t, "127.0.0.1", "127.0.0.2", "127.0.0.3")}
	c := newClient(allowing(t, "127.0.0.1"), "test", &tls.Config{}, dialer, defaultLimits)
	t.Cleanup(c.Close)
	if r := sent(t, c, url); r.Status != 200 {
		t.Fatalf("the first time: %s", r.Fault)
	}

	for _, want := range []string{"127.0.0.2", "127.0.0.3"} {
		if fault := failed(t, c, url, "webhook_address"); !strings.Contains(fault.String(), want) {
			t.Errorf("%s does not name %s", fault, want)
		}
	}

	if served.Load() != 1 {
		t.Errorf("%d requests were served", served.Load())
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	must(t, l.Close())
	fault := failed(t, testClient(t, "127.0.0.1"), "http://"+address+hiddenPath, "webhook_refused")
	if want := "the connection to " + address + " was refused"; fault.String() != want {
		t.Errorf("%s, want %s", fault, want)
	}
	c := newClient(outgoing.Allow{}, "test", &tls.Config{}, &net.Dialer{Resolver: nameServer(t)},
		defaultLimits)
	t.Cleanup(c.Close)
	failed(t, c, "https://host.invalid"+hiddenPath, "webhook_resolve")
}

// A name server that does not answer costs no more than the time for a connection.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
		}}}
	c := newClient(outgoing.Allow{}, "test", &tls.Config{}, dialer, shortLimits)
	t.Cleanup(c.Close)
	if r := sent(t, c, "https://silent.example"+hiddenPath); r.Status != 0 ||
		r.Fault.Code() != "webhook_resolve" && r.Fault.Code() != "webhook_connect_timeout" {
		t.Errorf("%s", r.Fault)
	}
}

func TestCertificates(t *testing.T) {
	now := time.Now()
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	valid, trusted := validCertificate(t)
	expired, trustedExpired := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour), loopback)
	future, trustedFuture := certificate(t, now.Add(time.Hour), now.Add(2*time.Hour), loopback)
	other, trustedOther := certificate(t, now.Add(-time.Hour), now.Add(time.Hour), nil,
		"other.example")
	serve := func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(500)
		}
	}
	url := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{valid}}, serve)
	if r := sent(t, testClientWith(t, trusted, defaultLimits, "127.0.0.1"), url); r.Status != 200 {
		t.Errorf("a valid certificate, HTTP/2: %d, %s", r.Status, r.Fault)
	}

	for reason, fault := range map[string]string{
		"its issuer is not trusted": failed(t, testClient(t, "127.0.0.1"), url,
			"webhook_certificate").String(),
		"it has expired or is not valid yet": failed(t,
			testClientWith(t, trustedExpired, defaultLimits, "127.0.0.1"),
			tlsServer(t, &tls.Config{Certificates: []tls.Certificate{expired}}, serve),
			"webhook_certificate").String(),
		"it has expired or is not valid yet ": failed(t,
			testClientWith(t, trustedFuture, defaultLimits, "127.0.0.1"),
			tlsServer(t, &tls.Config{Certificates: []tls.Certificate{future}}, serve),
			"webhook_certificate").String(),
		"it is not for 127.0.0.1": failed(t,
			testClientWith(t, trustedOther, defaultLimits, "127.0.0.1"),
			tlsServer(t, &tls.Config{Certificates: []tls.Certificate{other}}, serve),
			"webhook_certificate").String(),
	} {
		if fault != "the TLS certificate is not valid: "+strings.TrimSpace(reason) {
			t.Errorf("%s, want %s", fault, reason)
		}
	}

	old := tlsServer(t, &tls.Config{
		Certificates: []tls.Certificate{valid},
		MinVersion:   tls.VersionTLS10,
		MaxVersion:   tls.VersionTLS11,
	}, serve)
	failed(t, testClientWith(t, trusted, defaultLimits, "127.0.0.1"), old, "webhook_tls")
	plain := testServer(t, serve)
	failed(t, testClient(t, "127.0.0.1"), strings.Replace(plain, "http:", "https:", 1),
		"webhook_not_tls")
}
