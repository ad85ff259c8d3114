package s3test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Proxy passes requests on to a server and can fail them.
type Proxy struct {
	URL string

	mu    sync.Mutex
	fail  func(*http.Request) Failure
	after func(*http.Request)
	seen  []string // method and path of the requests
}

// Failure is what a Proxy does with a request.
type Failure int

// Failures of requests.
const (
	None  Failure = iota
	Drop          // the connection is closed before the request is passed on
	Lose          // the request is passed on, and the connection closed instead of an answer
	Hang          // nothing is answered until the client gives up
	Error         // the answer is 500
	Late          // the request is passed on after 200 ms, even if the client has given up by then
)

// Proxy starts a proxy of the server.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: "http://" + l.Addr().String()}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which is signed
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { cut(w) }}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p.failure(r) {
		case Drop:
			cut(w)
		case Lose:
			pass.ServeHTTP(&nowhere{http.Header{}}, r)
			cut(w)
		case Hang:
			io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
			<-r.Context().Done()
		case Error:
			w.WriteHeader(http.StatusInternalServerError)
		case Late:
			time.Sleep(200 * time.Millisecond)
			r = r.WithContext(context.WithoutCancel(r.Context()))
			fallthrough
		default:
			pass.ServeHTTP(w, r)
			p.mu.Lock()
			after := p.after
			p.mu.Unlock()
			if after != nil {
				after(r)
			}
		}
	})}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return p
}

func (p *Proxy) failure(r *http.Request) Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r.Method+" "+r.URL.Path)
	if p.fail == nil {
		return None
	}
	return p.fail(r)
}

// Fail sets what is done with each request; nil for nothing.
func (p *Proxy) Fail(fail func(*http.Request) Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

// After sets a function that is called after each request that was passed on.
func (p *Proxy) After(after func(*http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = after
}

// Seen returns the method and the path of the requests since the last call.
func (p *Proxy) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// cut closes the connection of a request.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			conn.Close()
		}
	}
}

// nowhere is a response that is thrown away.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}
