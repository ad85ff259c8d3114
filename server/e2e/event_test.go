package e2e

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// events is a client of an event stream.
type events struct {
	resp  *http.Response
	lines *bufio.Scanner
	last  string // ID of the last event
}

// streamed is what an event says of a dictionary.
type streamed struct {
	Type string
	Name string
}

// subscribe opens a stream after an event; "" for now. It returns once the stream is open.
func (c *client) subscribe(path, last string) (*events, error) {
	req, err := http.NewRequest("GET", c.base+path, nil)
	if err != nil {
		return nil, err
	}

	req.Header.Set("Authorization", "Bearer "+c.token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}

	resp, err := c.streaming().Do(req)
	if err != nil {
		return nil, err
	}

	e := &events{resp: resp, lines: bufio.NewScanner(resp.Body), last: last}
	if resp.StatusCode != http.StatusOK {
		e.close()
		return nil, fmt.Errorf("status %s", resp.Status)
	}

	_, err = e.next() // open
	return e, err
}

// streaming returns the HTTP client without a timeout.
func (c *client) streaming() *http.Client { return &http.Client{Transport: c.http.Transport} }

func (e *events) close() { e.resp.Body.Close() }

func (e *events) next() (ev streamed, err error) {
	kind := ""
	for e.lines.Scan() {
		name, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch {
		case name == "id":
			e.last = value
		case name == "event":
			kind = value
		case name == "data":
			err = json.Unmarshal([]byte(value), &ev)
		case name == "" && value == "" && kind != "":
			return ev, err
		}
	}
	return ev, fmt.Errorf("the stream has ended: %v", e.lines.Err())
}

// Many streams in another process receive each change, and cost little memory.
func TestStreams_ManyClients(t *testing.T) {
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	n, seconds := size(50, 200, 1000), size(1, 3, 60)
	transport := &http.Transport{MaxIdleConnsPerHost: 0}
	defer transport.CloseIdleConnections()
	reader := newClient(t, p)
	reader.token, reader.http = c.token, &http.Client{Transport: transport}
	p.idle()
	before := p.anonymous()
	streams := make([]*events, n)
	for i := range streams {
		var err error
		if streams[i], err = reader.subscribe("/system/event?types=dict.*", ""); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		defer streams[i].close()
	}

	p.idle()
	perStream := (p.anonymous() - before) / int64(n)
	t.Logf("%d streams: %d bytes of memory each", n, perStream)
	if perStream > 40<<10 {
		t.Errorf("a stream needs %d bytes", perStream)
	}

	const perSecond = 20
	count := seconds * perSecond
	sent := make([]time.Time, count)
	var delays []time.Duration
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range streams {
		wg.Go(func() {
			var own []time.Duration
			for i := range count {
				ev, err := s.next()
				if err != nil || ev.Name != fmt.Sprint("D", i) {
					t.Errorf("event %d: %+v %v", i, ev, err)
					return
				}
				mu.Lock()
				own = append(own, time.Since(sent[i]))
				mu.Unlock()
			}
			mu.Lock()
			delays = append(delays, own...)
			mu.Unlock()
		})
	}

	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		mu.Lock()
		sent[i] = time.Now()
		mu.Unlock()
		c.want(200, "POST", "/system/dict", fmt.Sprintf(`{"code":"c%d","name":"D%d"}`, i, i))
	}

	wg.Wait()
	if slices.Sort(delays); len(delays) > 0 {
		t.Logf("%d events, from the request that commits to the client: p50 %v, p99 %v, at most %v", len(delays), delays[len(delays)/2], delays[len(delays)*99/100], delays[len(delays)-1])
	}
}

// Streams work directly over HTTP/2, and through nginx, which a client reaches over HTTP/2.
func TestStreams_HTTP2AndNginx(t *testing.T) {
	t.Parallel()
	needs(t, "nginx")
	cert, key, pool := selfSigned(t)
	direct := start(t, t.TempDir(), "REEVE_SERVER__TLS_CERT="+cert, "REEVE_SERVER__TLS_KEY="+key)
	behind := start(t, t.TempDir())
	for name, base := range map[string]string{
		"direct": direct.url,
		"nginx":  proxied(t, behind.url, cert, key),
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}},
				ForceAttemptHTTP2: true,
			}
			defer transport.CloseIdleConnections()
			c := &client{
				t:     t,
				base:  base,
				http:  &http.Client{Transport: transport, Timeout: time.Minute},
				extra: map[string]string{},
			}
			c.signIn(password)
			s, err := c.subscribe("/system/event?types=dict.*", "")
			if err != nil {
				t.Fatal(err)
			}

			defer s.close()
			if s.resp.Proto != "HTTP/2.0" {
				t.Errorf("it came over %s", s.resp.Proto)
			}

			for i := range 3 { // each arrives before the next is sent, so nothing is buffered on the way
				c.want(200, "POST", "/system/dict",
					fmt.Sprintf(`{"code":"c%d","name":"D%d"}`, i, i))
				if ev, err := s.next(); err != nil || ev.Name != fmt.Sprint("D", i) {
					t.Errorf("%+v %v", ev, err)
				}
			}
		})
	}
}

// proxied starts nginx before a server, with TLS and HTTP/2, and returns its URL.
func proxied(t *testing.T, upstream, cert, key string) (url string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	address := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	config := fmt.Sprintf(`
daemon off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s ssl http2;
		ssl_certificate %[3]s;
		ssl_certificate_key %[4]s;
		location / {
			proxy_pass %[5]s;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`, dir, address, cert, key, upstream)

	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("nginx", "-c", path, "-p", dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	for range 1000 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "https://" + address
		}
		time.Sleep(10 * time.Millisecond)
	}

	t.Fatal("nginx does not accept connections")
	return ""
}

// A client that continues after the server was killed receives each acknowledged change exactly
// once.
func TestStream_ResumesAfterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var got []int
	var last, token string
	sent := 0
	for round := range size(2, 4, 100) {
		p := start(t, dir)
		c := newClient(t, p)
		if c.token = token; token == "" {
			c.signIn(password)
			token = c.token
		}

		s, err := c.subscribe("/system/event?types=dict.*", last)
		if err != nil {
			t.Fatal(err)
		}
		if last == "" {
			last = s.last
		}

		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(50+37*round%200) * time.Millisecond)
			p.kill()
		}()

		for {
			a, err := c.do("POST", "/system/dict",
				fmt.Sprintf(`{"code":"c%d","name":"%d"}`, sent, sent))
			if err != nil {
				break
			}
			if a.status != http.StatusOK && a.status != http.StatusConflict { // it was stored before the last kill
				t.Fatalf("%d %s", a.status, a.raw)
			}
			sent++
		}

		for {
			ev, err := s.next()
			if err != nil {
				break
			}
			n, err := strconv.Atoi(ev.Name)
			if err != nil {
				t.Fatalf("%+v", ev)
			}
			got = append(got, n)
			last = s.last
		}

		<-killed
		s.close()
	}

	p := start(t, dir)
	c := newClient(t, p)
	c.token = token
	s, err := c.subscribe("/system/event?types=dict.*", last)
	if err != nil {
		t.Fatal(err)
	}

	defer s.close()
	for len(got) == 0 || got[len(got)-1] < sent-1 {
		ev, err := s.next()
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(ev.Name) // 0 is compared below
		got = append(got, n)
	}

	for i, n := range got {
		if i != n {
			t.Fatalf("event %d is about %d; the events are %v", i, n, got)
		}
	}

	t.Logf("%d changes", sent)
}
