package server

import (
	"net/http/httptest"
	"testing"

	"reeve/store"
)

func TestATraceKeepsEveryOperation(t *testing.T) {
	in := start(t)
	router := in.server.router([]Route{read("/t", signedIn, "T", func(tx *store.Tx, _ *Request, _ *none) (nothing, error) {
		for range 2 * tracedOps {
			if _, err := store.Users.Count(tx); err != nil {
				return nothing{}, err
			}
		}
		return nothing{}, nil
	})})
	ops := func(as string) int {
		router.ServeHTTP(httptest.NewRecorder(), in.request("GET", "/t", "", as))
		return len((<-in.server.monitor.queue).ops)
	}
	in.clerk("clerk")
	for len(in.server.monitor.queue) > 0 {
		<-in.server.monitor.queue
	}
	if n := ops("owner"); n != 100 {
		t.Errorf("%d operations without a trace", n)
	}
	in.ok("POST", "/system/monitor/trace", `{"user_id":1}`, "owner")
	if n := ops("owner"); n != tracedOps {
		t.Errorf("%d operations with a trace", n)
	}
	if n := ops("clerk"); n != 100 {
		t.Errorf("%d operations of somebody else", n)
	}
}
