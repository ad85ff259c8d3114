package server

import (
	"testing"

	"reeve/store"
	"reeve/store/errs"
)

// A handler notes what it does before its commit has come to its end.
func TestWhatFailedIsNoSuccess(t *testing.T) {
	in := start(t)
	router := in.server.router([]Route{
		write("POST", "/t", public, "T", func(_ *store.Tx, req *Request, _ *none) (nothing, error) {
			req.note(authEvent{Type: "revoked", Username: "bob", Result: "success"})
			return nothing{}, errs.New(errs.Conflict, "not now").Coded("not_now")
		}),
	})
	in.sendTo(router, in.request("POST", "/t", "", "nobody")).brief(409)
	b := <-in.server.monitor.queue
	if len(b.auth) != 1 || b.auth[0].Result != "failed" || b.auth[0].Reason != "not_now" {
		t.Errorf("%+v", b.auth)
	}
}
