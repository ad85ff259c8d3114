package ops_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
)

// brokenOff sends a request whose response is aborted after it has begun.
func brokenOff(in *servertest.Instance) {
	in.T.Helper()
	rt := web.Raw("/t", web.Public, "T", "text/plain",
		func(_ *web.Request, _ *web.None, w http.ResponseWriter) error {
			fmt.Fprint(w, "half of it")
			return errors.New("disk gone")
		})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			in.T.Errorf("the handler ended with %v", p)
		}
	}()
	in.Server.Router([]web.Route{rt}).ServeHTTP(httptest.NewRecorder(),
		in.Request("GET", "/t", "", "nobody"))
}

func TestMonitoring_BrokenResponseIsFailure(t *testing.T) {
	in := servertest.Start(t)
	in.Server.Monitor.SampleReads(1 << 40) // no ordinary request is kept
	brokenOff(in)
	if p := in.Stats("").Total; p.Failed != 1 || p.OK != 0 {
		t.Errorf("counted as %+v", p)
	}
	in.Lists("/system/monitor/request?route=/t", "error", "owner", "internal")
}

// A client that has received a response finds it counted in the metrics.
func TestMetrics_CountedBeforeResponse(t *testing.T) {
	in := servertest.Start(t)
	rt := web.Action("POST", "/t", web.Public, "T",
		func(*web.Request, *web.None) (web.Nothing, error) {
			return web.Nothing{}, nil
		})
	srv := httptest.NewServer(in.Server.Router([]web.Route{rt}))
	defer srv.Close()
	stats := in.Server.Metrics.Of(&rt)
	for i := range uint64(100) {
		resp, err := http.Post(srv.URL+"/t", "", nil)
		servertest.Must(t, err)
		resp.Body.Close()
		if n := stats.Classes[1].Load(); resp.StatusCode != 200 || n != i+1 {
			t.Fatalf("%d, with %d counted of %d", resp.StatusCode, n, i+1)
		}
	}
}
