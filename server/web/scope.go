package web

import (
	"maps"
	"slices"

	"reeve/store"
)

// ScopeIn returns the data scope of an actor; nil for an app user.
func ScopeIn(tx *store.Tx, a *store.Actor) *CheckedScope {
	if a.App {
		return nil
	}
	scope, out := a.Scope(tx), &CheckedScope{UserID: a.ID, DeptIDs: []store.ID{}}
	if out.All = scope.All; !out.All {
		out.DeptIDs = slices.AppendSeq(out.DeptIDs, maps.Keys(scope.Depts))
		slices.Sort(out.DeptIDs)
	}
	return out
}

type CheckedScope struct {
	All     bool       `json:"all" doc:"Whether it is everything"`
	UserID  store.ID   `json:"user_id" doc:"ID of the user, who is always in it"`
	DeptIDs []store.ID `json:"dept_ids" doc:"IDs of the departments in it, unless it is everything"`
}
