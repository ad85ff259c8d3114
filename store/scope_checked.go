package store

import (
	"maps"
	"slices"
)

// ScopeIn returns the data scope of an actor; nil for an app user.
func ScopeIn(tx *Tx, a *Actor) *CheckedScope {
	if a.App {
		return nil
	}
	scope, out := a.Scope(tx), &CheckedScope{UserID: a.ID, DeptIDs: []ID{}}
	if out.All = scope.All; !out.All {
		out.DeptIDs = slices.AppendSeq(out.DeptIDs, maps.Keys(scope.Depts))
		slices.Sort(out.DeptIDs)
	}
	return out
}

// CheckedScope is a data scope in responses.
type CheckedScope struct {
	All     bool `json:"all" doc:"Whether it is everything"`
	UserID  ID   `json:"user_id" doc:"ID of the user, who is always in it"`
	DeptIDs []ID `json:"dept_ids" doc:"IDs of the departments in it, unless it is everything"`
}
