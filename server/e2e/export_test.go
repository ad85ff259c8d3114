package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// anonymous returns the anonymous memory of a process in bytes; 0 if the system does not
// report it.
func (p *process) anonymous() int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	if err != nil {
		return 0
	}

	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "RssAnon:" {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return kb << 10
		}
	}

	return 0
}

// idle waits until the server has been idle for three seconds: after a start the search
// index, which uses memory, catches up with the last changes.
func (p *process) idle() {
	p.t.Helper()
	used := cpuTime(p.t, p)
	quiet := 0
	for begun := time.Now(); quiet < 6; time.Sleep(500 * time.Millisecond) {
		now := cpuTime(p.t, p)
		if quiet++; now-used > 25*time.Millisecond {
			quiet = 0
		}
		used = now
		if time.Since(begun) > patience {
			p.t.Fatal("reeve is never idle")
		}
	}
}

// exporting starts an export with small buffers on both ends, so that the server waits for
// the client.
func (c *client) exporting() io.ReadCloser {
	c.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context,
		network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.SetReadBuffer(128<<10))
		}
		return conn, err
	}}
	c.t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequest("GET", c.base+"/admin/list-export", nil)
	if err != nil {
		c.t.Fatal(err)
	}

	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := transport.RoundTrip(req)
	if err != nil || resp.StatusCode != 200 {
		c.t.Fatalf("export: %v, %v", resp, err)
	}

	return resp.Body
}

// TestExport_Streamed has several slow clients export all users at the same time: the
// memory of the server must not grow with the number of users.
func TestExport_Streamed(t *testing.T) {
	t.Parallel()
	users, readers := size(20_000, 20_000, 50_000), 8 // far more than the connections buffer
	const limit = 48 << 20                            // all exports together have 64 MiB, and would take twice that if collected in memory
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	wide := strings.Repeat("x", 60)
	for first := 1; first <= users; first += 5_000 {
		c.importCSV("username,nickname,email,mobile", first, first+4_999, func(n int) string {
			return fmt.Sprintf("user%d,%s,%d@%s.%s.%s.example.org,+49 30 %020d", n,
				strings.Repeat("日", 60), n, wide, wide, wide, n)
		})
	}

	p.stop()
	p = start(t, dir) // without the memory of the imports
	c = signedIn(t, p)
	p.idle()
	before := p.anonymous()
	if before == 0 {
		t.Skip("this system does not tell a process's memory")
	}

	most, lines, total := before, 0, 0
	open := make([]io.ReadCloser, readers)
	for i := range open {
		open[i] = c.exporting()
		defer open[i].Close()
	}

	for step := make([]byte, 256<<10); len(open) > 0; most = max(most, p.anonymous()) {
		open = slices.DeleteFunc(open, func(body io.ReadCloser) bool { // a part of each in turn
			n, err := io.ReadFull(body, step)
			total, lines = total+n, lines+bytes.Count(step[:n], []byte("\n"))
			return err != nil // the number of lines shows whether it was complete
		})
	}

	if want := readers * (1 + 1 + users); lines != want {
		t.Errorf("%d lines came, want %d", lines, want)
	}
	if most-before > limit {
		t.Errorf("exports of %d users take %d MiB", users, (most-before)>>20)
	}

	t.Logf("%d exports at the same time, %d MiB together: %.1f MiB before, %.1f at most, %.1f after", readers, total>>20,
		float64(before)/(1<<20), float64(most)/(1<<20), float64(p.anonymous())/(1<<20))
}
