package server

import (
	"net/http/httptest"
	"testing"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/web"
	"reeve/store"
)

func TestTrace_KeepsEveryOperation(t *testing.T) {
	in := start(t)
	router := in.server.Router([]web.Route{web.Read("/t", web.SignedIn, "T", func(tx *store.Tx, _ *web.Request, _ *web.None) (web.Nothing, error) {
		for range 2000 {
			if _, err := store.Users.Count(tx); err != nil {
				return web.Nothing{}, err
			}
		}
		return web.Nothing{}, nil
	})})
	operations := func(as string) (n int) {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, in.request("GET", "/t", "", as))
		in.flush()
		var out ops.RequestStory
		in.ok("GET", "/system/monitor/request/"+w.Header().Get("X-Request-Id"), "", "owner").data(&out)
		for _, e := range out.Events {
			if e.Kind == monitor.QueryKind {
				n++
			}
		}
		return n
	}
	in.clerk("clerk")
	if n := operations("owner"); n != 100 {
		t.Errorf("%d operations without a trace", n)
	}
	in.ok("POST", "/system/monitor/trace", `{"user_id":1}`, "owner")
	if n := operations("owner"); n != 1000 {
		t.Errorf("%d operations with a trace", n)
	}
	if n := operations("clerk"); n != 100 {
		t.Errorf("%d operations of another user", n)
	}
}
