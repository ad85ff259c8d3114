package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// monitorSize returns the total size of the files of monitoring in bytes.
func monitorSize(t testing.TB, dir string) (total int64) {
	entries, err := os.ReadDir(filepath.Join(dir, "monitor"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}

	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed since
		}
		if err != nil {
			t.Error(err)
			return total
		}
		total += info.Size()
	}

	return total
}

// metric returns one value of the metrics, which require metricsToken.
func metric(t testing.TB, p *process, name string) float64 {
	t.Helper()
	c := newClient(t, p)
	c.token = metricsToken
	for line := range strings.Lines(string(c.want(200, "GET", "/metrics", "").raw)) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// dropped returns the number of requests that were not recorded, by the statistics.
func (c *client) dropped() int64 {
	c.t.Helper()
	return into[struct{ Dropped int64 }](c.t, c.want(200, "GET", "/system/monitor/stats", "")).Dropped
}

// keeps reports whether the request with an ID was recorded.
func (c *client) keeps(id string) bool {
	c.t.Helper()
	a := c.call("GET", "/system/monitor/request/"+url.PathEscape(id), "")
	if a.status != 200 && a.status != 404 {
		c.t.Fatalf("request %s: %d %s", id, a.status, a.raw)
	}
	return a.status == 200
}

// write changes a setting, a request that is always recorded, and returns the request's ID.
func (c *client) write() (id string) {
	c.t.Helper()
	return c.want(200, "PUT", "/system/setting",
		values("site.title", fmt.Sprint(time.Now().UnixNano()))).header.Get("X-Request-Id")
}

// mixed is a request of a flood, with the status that it must get.
type mixed struct {
	request []byte
	status  int
}

// mixture returns cached reads, lists, writes, and failures of every kind.
func mixture(c *client, p *process) []mixed {
	host := strings.TrimPrefix(p.url, "http://")
	put := func(body string) []byte {
		return fmt.Appendf(nil,
			"PUT /system/setting HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", host, c.token, len(body), body)
	}
	return []mixed{
		{rawRequest(p, "/admin/rule/parent", c.token), 200},
		{rawRequest(p, "/system/setting", c.token), 200},
		{rawRequest(p, "/no/such/address?with=a+query&and=another", c.token), 404},
		{rawRequest(p, "/admin/list?page=1&keywordSearch=person", c.token), 200},
		{rawRequest(p, "/admin/list?page=x", c.token), 400},
		{put(values("site.title", "flooded")), 200},
		{rawRequest(p, "/admin/rule/parent", ""), 401},
		{put(values("no.such.setting", "x")), 422},
		{rawRequest(p, "/admin/list/987654", c.token), 404},
	}
}

// pour sends a mixture over many connections until done returns true, and returns the
// number of responses. Each connection sends all requests in turn.
func pour(t testing.TB, p *process, all []mixed, done func() bool) (answers int64) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for first := range connections {
		w, err := dial(p)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			n := int64(0)
			for i := first; !done(); i++ {
				m := all[i%len(all)]
				status, _, err := w.ask(m.request)
				if err != nil || status != m.status {
					t.Errorf("%.60q: %d, want %d (%v)", m.request, status, m.status, err)
					break
				}
				n++
			}
			mu.Lock()
			defer mu.Unlock()
			answers += n
		})
	}

	wg.Wait()
	return answers
}
