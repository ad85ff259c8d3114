package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// unreliable is a connection to a server on which responses get lost.
type unreliable struct {
	url string

	mu   sync.Mutex
	lose int           // responses to lose, after the server has carried the requests out
	next []http.Header // headers of responses to give instead of the server; Status is the status
	seen []http.Header // of all requests
}

func newUnreliable(t testing.TB, server *process) *unreliable {
	u := &unreliable{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { u.pass(t, server.url, w, r) }))
	t.Cleanup(web.Close)
	u.url = web.URL
	return u
}

func (u *unreliable) pass(t testing.TB, to string, w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.seen = append(u.seen, r.Header.Clone())
	lost := u.lose > 0
	if lost {
		u.lose--
	}
	var instead http.Header
	if len(u.next) > 0 {
		instead, u.next = u.next[0], u.next[1:]
	}
	u.mu.Unlock()
	if instead != nil {
		for name, values := range instead {
			w.Header()[name] = values
		}
		status := map[string]int{"429": 429, "502": 502, "503": 503}[instead.Get("Status")]
		w.WriteHeader(status)
		io.WriteString(w, instead.Get("Body"))
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.RequestURI(), r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	out.Header = r.Header
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler) // the client or the server is gone
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if lost || err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	w.Write(body)
}

// loses makes it lose the next responses.
func (u *unreliable) loses(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lose = n
}

// answers makes it answer the next request by itself.
func (u *unreliable) answers(status, body, retryAfter string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	header := http.Header{"Status": {status}, "Body": {body}}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	u.next = append(u.next, header)
}

// take returns the headers of the requests since the last call.
func (u *unreliable) take() []http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	seen := u.seen
	u.seen = nil
	return seen
}
