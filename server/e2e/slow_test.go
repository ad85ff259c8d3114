package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Clients that hold a connection without progress are disconnected, whatever they have sent
// so far. The server's limits are real time, so this test is skipped in the small size.
func TestSlowClients_Disconnected(t *testing.T) {
	onlyInCI(t, "it waits for half a minute")
	t.Parallel()
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	addr := strings.TrimPrefix(p.url, "http://")
	var wg sync.WaitGroup // not subtests: all must wait at the same time, whatever -parallel is
	for name, tc := range map[string]struct {
		sends string
		drips string // sent repeatedly
	}{
		"nothing is sent":  {"", ""},
		"half of a header": {"GET /health HTTP/1.1\r\nHost: x\r\n", ""},
		"a header that never ends": {"GET /health HTTP/1.1\r\nHost: x\r\n",
			"X-Slow: 1\r\n"},
		"a body that never comes":           {"POST /admin/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", ""},
		"a body that never ends":            {"POST /admin/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{", " "},
		"a body that nobody asked for":      {"POST /no/such/address HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", ""},
		"a body of somebody not signed in":  {"PUT /system/setting HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", ""},
		"a body where none is taken":        {"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", ""},
		"a chunked body that never ends":    {"POST /no/such/address HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n", ""},
		"a second header that never comes":  {"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\n", ""},
		"a body for a list that needs none": {fmt.Sprintf("GET /system/setting HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n", c.token), ""},
	} {
		conn, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		wg.Go(func() {
			if err := cutOff(conn, tc.sends, tc.drips); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}

	c.want(200, "GET", "/admin/rule/parent", "") // other clients are served meanwhile
	wg.Wait()
	c.want(200, "GET", "/admin/rule/parent", "")
}

// cutOff waits for the server to close a connection.
func cutOff(conn net.Conn, sends, drips string) error {
	// The longest limit is 30 s for a body; twice that is a hang.
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, sends); err != nil {
		return err
	}

	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, conn)
		ended <- err
	}()

	for {
		select {
		case err := <-ended:
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return errors.New("the connection is still open")
			}
			return nil
		case <-time.After(200 * time.Millisecond):
			if drips != "" {
				io.WriteString(conn, drips) // the reader reports the end
			}
		}
	}
}
