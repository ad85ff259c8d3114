package e2e

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// planned is a proxy. The first part of a path is a plan for the requests with it, such as
// lose.create: what is before the dot happens to the first of them, and the others are passed on.
// With always.lose.create it happens to all. GET /seen/PLAN lists them.
type planned struct {
	*httptest.Server
	pass http.Handler
	mu   sync.Mutex
	seen map[string][]plannedRequest
}

type plannedRequest struct {
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Key    string      `json:"key"` // Idempotency-Key
	Header http.Header `json:"-"`
}

func newPlanned(t *testing.T, server string) *planned {
	t.Helper()
	to, err := url.Parse(server)
	noErr(t, err)
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.ErrorLog = log.New(io.Discard, "", 0) // the server may be stopped
	p := &planned{pass: pass, seen: map[string][]plannedRequest{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *planned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	plan, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if plan == "seen" {
		json.NewEncoder(w).Encode(append([]plannedRequest{}, p.requests(path)...))
		return
	}

	p.mu.Lock()
	first := len(p.seen[plan]) == 0
	p.seen[plan] = append(p.seen[plan],
		plannedRequest{r.Method, path, r.Header.Get("Idempotency-Key"), r.Header.Clone()})
	p.mu.Unlock()
	r.URL.Path = "/" + path
	kind, rest, _ := strings.Cut(plan, ".")
	if kind == "always" {
		kind, _, _ = strings.Cut(rest, ".")
	} else if !first {
		kind = "pass"
	}

	p.follow(kind, w, r)
}

func (p *planned) follow(kind string, w http.ResponseWriter, r *http.Request) {
	switch kind {
	case "pass":
		p.pass.ServeHTTP(w, r)
	case "lose": // the response, after the request was carried out
		p.pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case "hang":
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	case "busy":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"success":false,"errorCode":"busy","msg":"the server is busy"}`)
	case "unknown":
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w,
			`{"success":false,"errorCode":"write_outcome_unknown","msg":"the disk failed"}`)
	default: // status and seconds of Retry-After
		status, after, _ := strings.Cut(kind, "-")
		w.Header().Set("Retry-After", after)
		w.Header().Set("Location", p.URL+"/elsewhere/")
		code, _ := strconv.Atoi(status)
		w.WriteHeader(code)
	}
}

func (p *planned) requests(plan string) []plannedRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[plan]
}
