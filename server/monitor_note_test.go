package server

import (
	"testing"

	"reeve/store"
	"reeve/store/errs"
)

// A handler reports an event before its commit.
func TestWhatFailedIsNoSuccess(t *testing.T) {
	in := start(t)
	router := in.server.router([]Route{
		write("POST", "/t", public, "T", func(_ *store.Tx, req *Request, _ *none) (nothing, error) {
			req.note("revoked", "bob", nil)
			return nothing{}, errs.New(errs.Conflict, "not now").Coded("not_now")
		}),
	})
	in.sendTo(router, in.request("POST", "/t", "", "nobody")).brief(409)
	in.flush()
	in.lists("/system/monitor/auth?route=/t", "result", "owner", "failed")
	in.lists("/system/monitor/auth?route=/t", "reason", "owner", "not_now")
}
