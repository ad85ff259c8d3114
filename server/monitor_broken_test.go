package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// brokenOff asks for an answer that breaks off after it has begun.
func (in *instance) brokenOff() {
	in.t.Helper()
	rt := raw("/t", public, "T", "text/plain", func(_ *Request, _ *none, w http.ResponseWriter) error {
		fmt.Fprint(w, "half of it")
		return errors.New("disk gone")
	})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			in.t.Errorf("the handler ended with %v", p)
		}
	}()
	in.server.router([]Route{rt}).ServeHTTP(httptest.NewRecorder(), in.request("GET", "/t", "", "nobody"))
}

func TestAnAnswerThatBreaksOffIsAFailure(t *testing.T) {
	in := start(t)
	m := in.server.monitor
	m.reads.every.Store(1 << 40) // nothing ordinary is kept
	m.tallies.now = newTally()
	in.brokenOff()
	m.tallies.settle()
	if p := m.tallies.now.point(m.tallies.minute); p.Failed != 1 || p.OK != 0 {
		t.Errorf("counted as %+v", p)
	}
	select {
	case b := <-m.queue:
		if !b.marks.failed || b.request.Error != "internal" {
			t.Errorf("kept as %+v", b.request)
		}
	default:
		t.Error("it is not kept")
	}
}

// A client that has an answer finds it in the metrics.
func TestAnAnswerIsCountedBeforeItIsSent(t *testing.T) {
	in := start(t)
	rt := free("POST", "/t", public, "T", func(*Request, *none) (nothing, error) { return nothing{}, nil })
	srv := httptest.NewServer(in.server.router([]Route{rt}))
	defer srv.Close()
	stats := in.server.metrics.of(&rt)
	for i := range uint64(100) {
		resp, err := http.Post(srv.URL+"/t", "", nil)
		must(t, err)
		resp.Body.Close()
		if n := stats.classes[1].Load(); resp.StatusCode != 200 || n != i+1 {
			t.Fatalf("%d, with %d counted of %d", resp.StatusCode, n, i+1)
		}
	}
}
