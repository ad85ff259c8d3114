package server

import (
	"testing"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// A handler reports an event before its commit.
func TestMonitorEvents_FailedCommit(t *testing.T) {
	in := start(t)
	router := in.server.Router([]web.Route{
		web.Write("POST", "/t", web.Public, "T", func(_ *store.Tx, req *web.Request, _ *web.None) (web.Nothing, error) {
			req.Note("revoked", "bob", nil)
			return web.Nothing{}, errs.New(errs.Conflict, "not now").Coded("not_now")
		}),
	})
	in.sendTo(router, in.request("POST", "/t", "", "nobody")).brief(409)
	in.flush()
	in.lists("/system/monitor/auth?route=/t", "result", "owner", "failed")
	in.lists("/system/monitor/auth?route=/t", "reason", "owner", "not_now")
}
