package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func listenLoopback() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// rawRequest returns the bytes of a GET request without compression.
func rawRequest(p *process, path, token string) []byte {
	host := strings.TrimPrefix(p.url, "http://")
	head := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return []byte(head + "\r\n")
}

// rawPost returns the bytes of a sign-in request.
func rawPost(p *process, path, forwarded, body string) []byte {
	return rawPostAs(p, path, "", forwarded, body)
}

// rawPostAs returns the bytes of a request with a token; "" for none.
func rawPostAs(p *process, path, token, forwarded, body string) []byte {
	host := strings.TrimPrefix(p.url, "http://")
	if token != "" {
		token = "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, host, forwarded, token, len(body), body)
}

// wire is a keep-alive connection that costs the client almost nothing: a request is one
// write of prepared bytes, and of a response only status and length are parsed.
type wire struct {
	conn  net.Conn
	in    *bufio.Reader
	body  *bytes.Buffer // of the last response with a length; nil to drop it
	asked int           // number of requests
}

func dial(p *process) (*wire, error) {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.url, "http://"), patience)
	if err != nil {
		return nil, err
	}
	return newWire(conn), nil
}

func newWire(conn net.Conn) *wire {
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
}

var contentLength, transferEncoding = []byte("Content-Length: "), []byte("Transfer-Encoding: chunked")

// ask sends a request and reads its response.
func (w *wire) ask(request []byte) (status, size int, err error) {
	if w.asked%1024 == 0 { // a deadline for each request would take part of the time that is measured
		w.conn.SetDeadline(time.Now().Add(2 * patience))
	}

	w.asked++
	if _, err := w.conn.Write(request); err != nil {
		return 0, 0, err
	}

	size = -1
	chunked := false
	for first := true; ; first = false {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		switch {
		case first:
			if len(line) < 12 {
				return 0, 0, fmt.Errorf("the answer begins with %q", line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, 0, err
			}
		case bytes.HasPrefix(line, contentLength):
			if size, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, 0, err
			}
		case bytes.HasPrefix(line, transferEncoding):
			chunked = true
		case len(line) <= 2:
			if chunked {
				size, err := w.chunks()
				return status, size, err
			}
			if size < 0 {
				return 0, 0, fmt.Errorf("an answer of %d without a length", status)
			}
			to := io.Discard
			if w.body != nil {
				w.body.Reset()
				to = w.body
			}
			_, err = io.CopyN(to, w.in, int64(size))
			return status, size, err
		}
	}
}

// chunks reads a chunked body and returns its size in bytes.
func (w *wire) chunks() (size int, err error) {
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return 0, err
		}
		if _, err := w.in.Discard(int(n) + len("\r\n")); err != nil || n == 0 {
			return size, err
		}
		size += int(n)
	}
}

// load sends requests to a target over a number of connections for some time, and returns
// the number of responses. Any unexpected response ends the benchmark.
func load(b *testing.B, t *target, connections int, during time.Duration) int64 {
	var total atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(during)
	for range connections {
		w, err := dial(t.process)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			n := int64(0)
			for time.Now().Before(end) {
				status, size, err := w.ask(t.request)
				if err != nil || status != 200 || size != t.size {
					b.Errorf("%d with %d bytes, want 200 with %d (%v)", status, size, t.size, err)
					break
				}
				n++
			}
			total.Add(n)
		})
	}

	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}

	return total.Load()
}
