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

// anonymous is the memory of a process that is its own, in bytes; 0 where the
// system does not tell.
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

// idle waits until the program has done next to nothing for three seconds: the search index,
// which takes memory of its own, follows the last changes after a start.
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

// exporting begins an export of which little fits between the two ends, so that
// the program waits for its reader.
func (c *client) exporting() io.ReadCloser {
	c.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
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

// TestExportsAreStreamed has several slow readers take all users at the same time:
// what the program holds meanwhile does not grow with how many there are.
func TestExportsAreStreamed(t *testing.T) {
	t.Parallel()
	users, readers := size(20_000, 20_000, 50_000), 8 // far more than fits into the connections
	const limit = 48 << 20                            // all exports together are 64 MiB, and twice that if they were collected in memory
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	wide := strings.Repeat("x", 60)
	for first := 1; first <= users; first += 5_000 {
		c.importCSV("username,nickname,email,mobile", first, first+4_999, func(n int) string {
			return fmt.Sprintf("user%d,%s,%d@%s.%s.%s.example.org,+49 30 %020d", n, strings.Repeat("日", 60), n, wide, wide, wide, n)
		})
	}
	p.stop()
	p = start(t, dir) // without the memory that the imports took
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
		open = slices.DeleteFunc(open, func(body io.ReadCloser) bool { // a step of each by turns
			n, err := io.ReadFull(body, step)
			total, lines = total+n, lines+bytes.Count(step[:n], []byte("\n"))
			return err != nil // the lines tell whether it was the end
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
