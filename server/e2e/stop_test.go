package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStop_AnswersInFlight(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{
		"SIGTERM": syscall.SIGTERM,
		"SIGINT":  syscall.SIGINT,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, dir)
			c := signedIn(t, p)
			addr := strings.TrimPrefix(p.url, "http://")
			conn, err := net.DialTimeout("tcp", addr, patience)
			if err != nil {
				t.Fatal(err)
			}

			defer conn.Close()
			conn.SetDeadline(time.Now().Add(patience))
			in := bufio.NewReader(conn)
			body := values("site.title", "in flight")
			fmt.Fprintf(conn,
				"PUT /system/setting HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
				addr, c.token, len(body))
			// The server sends 100 when the handler reads the body: from here on the
			// request is in flight.
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
				t.Fatalf("%q, %v; want 100 Continue", line, err)
			}
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, body[:len(body)/2]); err != nil {
				t.Fatal(err)
			}

			p.signal(signal)
			eventually(t, "new connections are refused", func() bool {
				other, err := net.DialTimeout("tcp", addr, time.Second)
				if err == nil {
					other.Close()
				}
				return err != nil
			})
			select {
			case <-p.done:
				t.Fatalf("reeve ended with a request in flight:\n%s", &p.log)
			default:
			}

			if _, err := io.WriteString(conn, body[len(body)/2:]); err != nil {
				t.Fatal(err)
			}

			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}

			rest, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 ||
				!strings.Contains(string(rest), `"success":true`) {
				t.Errorf("%d %s, %v", resp.StatusCode, rest, err)
			}

			p.wait()
			if code := p.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("reeve ended with %d:\n%s", code, &p.log)
			}
			if !slices.Contains(p.log.messages(t, "info"), "stopped") {
				t.Errorf("the log does not say that it stopped:\n%s", &p.log)
			}

			p = start(t, dir)
			c.base = p.url
			if got := c.title(); got != "in flight" {
				t.Errorf("after the next start the title is %q", got)
			}
		})
	}
}

// TestStop_StuckClients: neither a download that its client does not read nor a request that never
// arrives keeps a stop from being orderly.
func TestStop_StuckClients(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		send func(t *testing.T, c *client, conn net.Conn)
		cut  bool // whether the request is cut off at the end of the time for all
	}{
		"a download that nobody reads": {func(t *testing.T, c *client, conn net.Conn) {
			fmt.Fprintf(conn,
				"GET /file/list/%d/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", c.put("big.bin", payload{1, 48 << 20}).ID, c.token)
			if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil ||
				!strings.Contains(line, " 200 ") {
				t.Fatalf("%q, %v", line, err)
			}
		}, false},
		"a body that never arrives": {func(t *testing.T, c *client, conn net.Conn) {
			fmt.Fprintf(conn,
				"PUT /system/setting HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", c.token)
			if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil ||
				!strings.Contains(line, " 100 ") {
				t.Fatalf("%q, %v", line, err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := start(t, dir, "REEVE_SERVER__STOP_TIMEOUT=5s")
			c := signedIn(t, p)
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}

			defer conn.Close()
			conn.SetDeadline(time.Now().Add(patience))
			tc.send(t, c, conn)
			p.stop() // with exit code 0
			if cut := strings.Contains(p.log.String(), "were cut off"); cut != tc.cut {
				t.Errorf("cut off at the end: %t\n%s", cut, &p.log)
			}

			sound(t, dir)
		})
	}
}
