package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// unreadMemory is the memory that clients can take that send requests and never read, in bytes.
const unreadMemory = 64 << 20

// TestUnreadAnswers_TakeBoundedMemory sends every request with a large answer many times, over
// HTTP/1.1 and over HTTP/2 with a closed window, and reads nothing.
func TestUnreadAnswers_TakeBoundedMemory(t *testing.T) {
	cert, key, pool := selfSigned(t)
	p := start(t, t.TempDir(), "REEVE_SERVER__TLS_CERT="+cert, "REEVE_SERVER__TLS_KEY="+key)
	c := newClient(t, p)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	c.http = &http.Client{Transport: transport, Timeout: time.Minute}
	c.signIn(password)
	c.want(200, "POST", "/admin/list",
		object("username", "other", "password", password+"2", "role_ids", []int{1}))
	paths := largeAnswers(t, c)
	readLoad(t, c, paths) // the heap grows to what the load of clients that read needs
	before := p.settled(t)
	dial := func(proto string) *tls.Conn {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{
			RootCAs:    pool,
			NextProtos: []string{proto},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	for _, path := range paths {
		for range 4 {
			for _, token := range []string{c.token, ""} {
				conn := dial("h2")
				if _, err := conn.Write(unreadStreams(path, token, 40)); err != nil {
					t.Fatal(err)
				}
			}
		}

		for range 8 {
			fmt.Fprintf(dial("http/1.1"),
				"GET %s HTTP/1.1\r\nHost: reeve\r\nAuthorization: Bearer %s\r\n\r\n", path, c.token)
		}

		now := p.settled(t)
		t.Logf("%-40s %6.1f MiB", path, float64(now-before)/(1<<20))
		if now-before > unreadMemory {
			t.Errorf("after %s, unread answers take %d MiB", path, (now-before)>>20)
		}
	}

	other := newClient(t, p)
	other.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}).DialContext,
	}}

	signed := other.want(200, "POST", "/admin/login",
		object("username", "other", "password", password+"2"))
	other.token = into[grant](t, signed).Token
	other.want(200, "PUT", "/admin/password",
		object("old_password", password+"2", "new_password", password+"3"))
	for _, path := range paths {
		if got := other.call("GET", path, ""); got.status != 200 &&
			!strings.HasPrefix(path, "/system/backup") {
			t.Errorf("another client gets %d %s for %s", got.status, got.raw, path)
		}
	}
}

// readLoad reads each answer many times, with several clients at once.
func readLoad(t *testing.T, c *client, paths []string) {
	t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, path := range paths {
				for range 10 {
					if _, err := c.do("GET", path, ""); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// largeAnswers fills the server and returns the paths whose answers have more than 32 KiB.
func largeAnswers(t *testing.T, c *client) (paths []string) {
	t.Helper()
	for i := range size(60, 200, 1000) {
		c.want(200, "POST", "/system/setting",
			fmt.Sprintf(`{"group_id":1,"key":"k%d","title":"T","type":"textarea","values":%q}`, i,
				strings.Repeat("x", 8<<10)))
		c.want(200, "POST", "/admin/role",
			fmt.Sprintf(`{"name":"R%d","data_scope":"self","description":%q}`, i,
				strings.Repeat("y", 200)))
	}

	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(c.call("GET", "/openapi.json", "").raw, &doc); err != nil {
		t.Fatal(err)
	}

	for path, methods := range doc.Paths {
		if methods["get"] == nil || strings.Contains(path, "{") ||
			strings.Contains(path, "/event") {
			continue
		}
		for _, p := range []string{path, path + "?pageSize=1000"} {
			if len(c.call("GET", p, "").raw) > 32<<10 {
				paths = append(paths, p)
			}
		}
	}

	if len(paths) < 10 {
		t.Fatalf("only %q have large answers", paths)
	}

	return paths
}

// settled returns the anonymous memory of the process in bytes once it does not grow any more.
func (p *process) settled(t *testing.T) int64 {
	t.Helper()
	largest, since := p.anonymous(), 0
	for since < 10 {
		time.Sleep(30 * time.Millisecond)
		now := p.anonymous()
		if since++; now > largest+1<<19 {
			largest, since = now, 0
		}
	}
	return largest
}

// unreadStreams returns the bytes of an HTTP/2 connection whose client requests a path on n streams
// and lets the server send no data.
func unreadStreams(path, token string, n int) []byte {
	out := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	frame := func(kind, flags byte, stream uint32, payload []byte) {
		out = append(out, byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload)), kind,
			flags)
		out = append(out, byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
		out = append(out, payload...)
	}

	const settings, headers, endOfAll, initialWindow = 4, 1, 0x1 | 0x4, 4
	frame(settings, 0, 0, []byte{0, initialWindow, 0, 0, 0, 0})
	fields := []byte{0x80 | 2, 0x80 | 7}     // :method GET, :scheme https, of the static table (RFC 7541, appendix A)
	field := func(name byte, value string) { // literal, not indexed
		if name < 15 {
			fields = append(fields, name)
		} else {
			fields = append(fields, 15, name-15)
		}
		fields = append(append(fields, byte(len(value))), value...)
	}
	field(1, "reeve")
	field(4, path)
	if token != "" {
		field(23, "Bearer "+token)
	}

	for i := range n {
		frame(headers, endOfAll, uint32(2*i+1), fields)
	}

	return out
}
