package ops_test

import (
	"net/http/httptest"
	"testing"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestTrace_KeepsEveryOperation(t *testing.T) {
	in := servertest.Start(t)
	router := in.Server.Router([]web.Route{web.Read("/t", web.SignedIn, "T",
		func(tx *store.Tx, _ *web.Request, _ *web.None) (web.Nothing, error) {
			for range 2000 {
				if _, err := store.Users.Count(tx); err != nil {
					return web.Nothing{}, err
				}
			}
			return web.Nothing{}, nil
		})})
	operations := func(as string) (n int) {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, in.Request("GET", "/t", "", as))
		in.Flush()
		var out ops.RequestStory
		in.OK("GET", "/system/monitor/request/"+w.Header().Get("X-Request-Id"), "", "owner").Data(&out)
		for _, e := range out.Events {
			if e.Kind == monitor.QueryKind {
				n++
			}
		}
		return n
	}

	in.Clerk("clerk")
	if n := operations("owner"); n != 100 {
		t.Errorf("%d operations without a trace", n)
	}

	in.OK("POST", "/system/monitor/trace", `{"user_id":1}`, "owner")
	if n := operations("owner"); n != 1000 {
		t.Errorf("%d operations with a trace", n)
	}
	if n := operations("clerk"); n != 100 {
		t.Errorf("%d operations of another user", n)
	}
}
