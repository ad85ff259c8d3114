package ops_test

import (
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// A handler reports an event before its commit.
func TestMonitorEvents_FailedCommit(t *testing.T) {
	in := servertest.Start(t)
	router := in.Server.Router([]web.Route{
		web.Write("POST", "/t", web.Public, "T",
			func(_ *store.Tx, req *web.Request, _ *web.None) (web.Nothing, error) {
				req.Note("revoked", "bob", nil)
				return web.Nothing{}, errs.New(errs.Conflict, "not now").Coded("not_now")
			}),
	})
	in.SendTo(router, in.Request("POST", "/t", "", "nobody")).Brief(409)
	in.Flush()
	in.Lists("/system/monitor/auth?route=/t", "result", "owner", "failed")
	in.Lists("/system/monitor/auth?route=/t", "reason", "owner", "not_now")
}
