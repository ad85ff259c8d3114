package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rawForm returns a request with one small file and any Content-Length, in two parts: all
// up to the last line of the form, and that line.
func rawForm(c *client, length int, name string) (head, end string) {
	return fmt.Sprintf("POST /file/list HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n",
			c.token, boundary, length) + formPart(name) + strings.Repeat("content ", 10_000) + "\r\n",
		formEnd
}

// rawLength returns the true length of the body of rawForm.
func rawLength(c *client, name string) int {
	head, end := rawForm(c, 0, name)
	_, body, _ := strings.Cut(head, "\r\n\r\n")
	return len(body) + len(end)
}

// nothingKept checks that there is no file, and no content of one after a restart.
func nothingKept(t *testing.T, p *process, c *client, dir string) {
	t.Helper()
	if all := c.listed("/file/list"); len(all) > 0 {
		t.Errorf("there are %v", all)
	}
	var differs string
	for wait := time.Duration(0); wait < 30*time.Second; wait = 2*wait + 20*time.Millisecond {
		time.Sleep(wait) // nothing reports that the sweep is complete
		p.stop()
		if differs = storedIn(t, dir).onlyThose(nil); differs == "" {
			return
		}
		p = start(t, dir)
	}
	t.Error(differs)
}

func TestUpload_FalseContentLength(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	for name, tc := range map[string]struct {
		more int  // announced bytes that are never sent
		cut  bool // before the form's end
	}{
		"shorter than the file":              {more: -50_000},
		"shorter by a byte":                  {more: -1},
		"longer, and the form is whole":      {more: 1},
		"much longer, and the form is whole": {more: 1 << 30},
		"longer, and the form has no end":    {more: 1000, cut: true},
	} {
		length := rawLength(c, "file")
		head, end := rawForm(c, length+tc.more, "file")
		if tc.cut {
			end = ""
		}

		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.url, "http://"), patience)
		if err != nil {
			t.Fatal(err)
		}

		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second)) // less than Content-Length: the early end must be detected
		io.WriteString(conn, head+end)                     // fails if the server has already responded
		conn.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(conn)
		if ne, ok := err.(net.Error); ok && ne.Timeout() ||
			!strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
			t.Errorf("%s: %v %.300q", name, err, got)
		}
	}

	nothingKept(t, p, c, dir)
}

// A client that stops in the middle of an upload is disconnected; a slow one is not. The
// limit is 30 seconds, so this test is skipped in the small size.
func TestUpload_StalledIsAborted(t *testing.T) {
	onlyInCI(t, "it waits for half a minute")
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	slow := make(chan error, 1)
	go func() {
		from, to := io.Pipe()
		go func() {
			for range 40 { // longer than the limit without progress
				io.WriteString(to, strings.Repeat("x", 10_000))
				time.Sleep(time.Second)
			}
			to.Close()
		}()
		a, err := c.send("slow", 400_000, from)
		if err == nil && a.status != 200 {
			err = fmt.Errorf("%d %s", a.status, a.raw)
		}
		slow <- err
	}()

	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.url, "http://"), patience)
	if err != nil {
		t.Fatal(err)
	}

	defer conn.Close()
	head, _ := rawForm(c, 1<<20, "stalled")
	if err := cutOff(conn, head, ""); err != nil {
		t.Errorf("the stalled upload: %v", err)
	}
	if err := <-slow; err != nil {
		t.Errorf("the slow upload: %v", err)
	}

	all := c.listed("/file/list")
	if len(all) != 1 {
		t.Errorf("there are %v, want the slow one", all)
	}

	for id := range all {
		c.discard(id)
	}

	nothingKept(t, p, c, dir)
}

// Each slow reader costs the memory of a chunk, not of its file.
func TestSlowDownloads_BoundedMemory(t *testing.T) {
	t.Parallel()
	const readers, bytes, limit = 64, 8 << 20, 160 << 20
	p := start(t, t.TempDir())
	c := signedIn(t, p)
	f := c.put("file", payload{1, bytes})
	transport := &http.Transport{DialContext: func(ctx context.Context,
		network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			err = tcp.SetReadBuffer(128 << 10)
		}
		return conn, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	grown := p.grown(func() {
		open := make([]io.ReadCloser, readers)
		for i := range open {
			req, err := http.NewRequest("GET", c.base+content(f.ID), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+c.token)
			resp, err := transport.RoundTrip(req)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v, %v", resp, err)
			}
			open[i] = resp.Body
			defer resp.Body.Close()
		}

		step := make([]byte, 128<<10)
		for range bytes / len(step) { // a part of each in turn
			for i, body := range open {
				if _, err := io.ReadFull(body, step); err != nil {
					t.Fatalf("reader %d: %v", i, err)
				}
			}
		}
	})
	if grown > limit {
		t.Errorf("%d readers of %s take %s", readers, mib(bytes), mib(grown))
	}

	t.Logf("%d slow readers of %s: memory grows by %s", readers, mib(bytes), mib(grown))
}

// TestDownload_ResumesAfterRestart stops a server in the middle of a download, which ends with the time
// for stopping, and gets the rest from the next one by a range.
func TestDownload_ResumesAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "REEVE_SERVER__STOP_TIMEOUT=1s")
	c := signedIn(t, p)
	var content []byte
	for len(content) < 32<<20 { // more than the buffers of a connection
		content = fmt.Appendf(content, "%d ", len(content))
	}
	path := c.upload("film", string(content)) + "/content"
	request := func(server string) *http.Request {
		r, err := http.NewRequest("GET", server+path, nil)
		noErr(t, err)
		r.Header.Set("Authorization", "Bearer "+c.token)
		return r
	}

	resp, err := http.DefaultClient.Do(request(p.url))
	noErr(t, err)
	got := make([]byte, 1<<20)
	if _, err := io.ReadFull(resp.Body, got); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGTERM)
	p.wait()
	more, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if got = append(got, more...); err == nil || len(got) == len(content) {
		t.Fatalf("the download was not cut off: %d bytes, %v", len(got), err)
	}

	p = start(t, dir)
	r := request(p.url)
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-", len(got)))
	r.Header.Set("If-Range", resp.Header.Get("ETag"))
	resp, err = http.DefaultClient.Do(r)
	noErr(t, err)
	more, err = io.ReadAll(resp.Body)
	noErr(t, err)
	resp.Body.Close()
	if resp.StatusCode != 206 || !bytes.Equal(append(got, more...), content) {
		t.Errorf("%s after %d bytes, with %d more", resp.Status, len(got), len(more))
	}
	p.stop()
}
