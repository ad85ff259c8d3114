package webhook

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// wait keeps a connection open until the client or the test closes it.
func wait(conn net.Conn) { io.Copy(io.Discard, conn) }

// repeat sends a text until the connection is closed.
func repeat(conn net.Conn, text string) {
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

// drip sends a text again and again, slower than a timeout between reads would notice.
func drip(conn net.Conn, text string) {
	for range time.Tick(20 * time.Millisecond) {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\n"

// A faulty receiver neither hangs an attempt nor costs memory.
func TestFaultyReceivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		serve  func(conn net.Conn)
		status int
		codes  string
	}{
		"no response": {wait, 0, "webhook_no_response"},
		"slow header": {func(c net.Conn) {
			io.WriteString(c, ok)
			drip(c, "a: b\r\n")
		}, 0, "webhook_no_response"},
		"slow status line": {func(c net.Conn) { drip(c, "H") }, 0, "webhook_no_response"},
		"endless status line": {func(c net.Conn) {
			repeat(c, strings.Repeat("H", 4096))
		}, 0, "webhook_header webhook_protocol"},
		"endless header": {func(c net.Conn) {
			io.WriteString(c, ok)
			repeat(c, "a: "+strings.Repeat("b", 4096)+"\r\n")
		}, 0, "webhook_header"},
		"endless header line": {func(c net.Conn) {
			io.WriteString(c, ok+"a: ")
			repeat(c, strings.Repeat("b", 4096))
		}, 0, "webhook_header"},
		"large header": {func(c net.Conn) {
			io.WriteString(c, ok+"a: "+strings.Repeat("b", 17<<10)+"\r\n\r\n")
		}, 0, "webhook_header"},
		"endless 1xx": {func(c net.Conn) {
			repeat(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		}, 0, "webhook_header webhook_protocol webhook_failed"},
		"slow 1xx": {func(c net.Conn) {
			drip(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
		}, 0, "webhook_no_response webhook_timeout"},
		"switching protocols": {func(c net.Conn) {
			io.WriteString(c,
				"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
			repeat(c, "path-canary ")
		}, 101, "webhook_status"},
		"closed at once": {func(c net.Conn) {}, 0, "webhook_closed"},
		"reset": {func(c net.Conn) {
			c.(*net.TCPConn).SetLinger(0)
		}, 0, "webhook_closed"},
		"closed in the header": {func(c net.Conn) {
			io.WriteString(c, ok+"a: b")
		}, 0, "webhook_closed"},
		"garbage": {func(c net.Conn) {
			io.WriteString(c, "path-canary?\r\n\r\n")
		}, 0, "webhook_protocol"},
		"binary garbage": {func(c net.Conn) {
			repeat(c, "\x00\xff\r\n")
		}, 0, "webhook_protocol"},
		"bad status": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 abc path-canary\r\n\r\n")
		}, 0, "webhook_protocol"},
		"bad header": {func(c net.Conn) {
			io.WriteString(c, ok+"path-canary\r\n\r\n")
		}, 0, "webhook_protocol"},
		"bad length": {func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: path-canary\r\n\r\n")
		}, 0, "webhook_protocol"},
		"two lengths": {func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\na")
		}, 0, "webhook_protocol webhook_failed"},
		"bad encoding": {func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: path-canary\r\n\r\n")
		}, 0, "webhook_protocol"},
		"slow body": {func(c net.Conn) {
			io.WriteString(c, ok+"\r\n")
			drip(c, "a")
		}, 200, ""},
		"endless body": {func(c net.Conn) {
			io.WriteString(c, ok+"\r\n")
			repeat(c, strings.Repeat("a", 4096))
		}, 200, ""},
		"endless chunks": {func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			repeat(c, "1\r\na\r\n")
		}, 200, ""},
		"huge chunk": {func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n")
			repeat(c, "aaaa")
		}, 200, ""},
		"endless trailer": {func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n0\r\n")
			repeat(c, "a: b\r\n")
		}, 200, ""},
		"announces too much": {func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: 9223372036854775807\r\n\r\na")
		}, 200, ""},
		"body ends early": {func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: 10\r\n\r\nabc")
		}, 200, ""},
		"broken chunks": {func(c net.Conn) {
			io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\npath-canary")
		}, 200, ""},
		"error with a slow body": {func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 500 No\r\n\r\n")
			drip(c, "a")
		}, 500, "webhook_status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sent(t, testClientWith(t, nil, shortLimits, "127.0.0.1"), rawServer(t, test.serve))
			code := r.Fault.Code()
			if r.Status != test.status || (code == "") != (test.codes == "") ||
				code != "" && !strings.Contains(test.codes, code) {
				t.Errorf("status %d, %q (%s), want %d, %s", r.Status, r.Fault, code, test.status,
					test.codes)
			}
		})
	}
}

// A receiver that does not read a large request does not hang the attempt.
func TestReceiver_DoesNotRead(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	url := rawServer(t, func(conn net.Conn) { <-stop })
	t.Cleanup(func() { close(stop) })
	r := testClientWith(t, nil, shortLimits, "127.0.0.1").Send(t.Context(), url,
		[]string{NewSecret()}, &Message{
			ID:   "msg_1",
			Body: make([]byte, 32<<20),
		})
	if code := r.Fault.Code(); r.Status != 0 ||
		code != "webhook_timeout" && code != "webhook_no_response" {
		t.Errorf("%d, %s", r.Status, r.Fault)
	}
}

// A server that accepts the connection and says nothing in the TLS handshake.
func TestSilentHandshake(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	failed(t, testClientWith(t, nil, shortLimits, "127.0.0.1"),
		"https://"+l.Addr().String()+hiddenPath, "webhook_connect_timeout")
}

// Receivers that use HTTP/2 are bounded in the same way.
func TestFaultyReceiversWithHTTP2(t *testing.T) {
	t.Parallel()
	certificate, trusted := validCertificate(t)
	for name, test := range map[string]struct {
		serve  http.HandlerFunc
		status int
		code   string
	}{
		"no response": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, 0, "webhook_no_response"},
		"large header": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("a", strings.Repeat("b", 20<<10))
		}, 0, "webhook_protocol"},
		"many headers": {func(w http.ResponseWriter, r *http.Request) {
			for i := range 130 {
				w.Header().Set(fmt.Sprint("a", i), strings.Repeat("b", 100))
			}
		}, 0, "webhook_header"},
		"aborts": {func(w http.ResponseWriter, r *http.Request) {
			panic(http.ErrAbortHandler)
		}, 0, "webhook_closed"},
		"endless body": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write(make([]byte, 4096))
			}
		}, 200, ""},
		"slow body": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{certificate}},
				test.serve)
			r := sent(t, testClientWith(t, trusted, shortLimits, "127.0.0.1"), url)
			if r.Status != test.status || r.Fault.Code() != test.code {
				t.Errorf("status %d, %q, want %d, %s", r.Status, r.Fault, test.status, test.code)
			}
		})
	}
}

// No goroutine of a client is left once it is closed, however its receivers behave.
func TestClient_NoGoroutinesLeft(t *testing.T) {
	c := testClientWith(t, nil, shortLimits, "127.0.0.1")
	for _, serve := range []func(net.Conn){wait, func(c net.Conn) {
		io.WriteString(c, ok+"\r\n")
		repeat(c, "a")
	}, func(c net.Conn) { io.WriteString(c, ok+"Content-Length: 0\r\n\r\n"); wait(c) }} {
		sent(t, c, rawServer(t, serve))
	}

	c.Close()
	buffer := make([]byte, 1<<20)
	for late := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
		stacks := string(buffer[:runtime.Stack(buffer, true)])
		if !strings.Contains(stacks, "net/http.(*persistConn)") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("a connection is left:\n%s", stacks)
		}
	}
}
