package web

import (
	"slices"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// maxBatchUsers is the maximum number of users that one request can change.
const maxBatchUsers = 10_000

func Demand(tx *store.Tx, key string) error {
	if !store.ActorOf(tx).HasPermission(tx, key) {
		return errs.New(errs.Denied, "permission %s is required", key)
	}
	return nil
}

// Selection selects records of a list by ID or by its filters.
type Selection struct {
	IDs    []store.ID `query:"ids" doc:"IDs of the records, at most 200, as repeated keys or separated by commas"`
	All    store.Flag `query:"all" doc:"1, instead of ids, for all records that the parameters of the list select, at most 10000. Requires the permission to list them"`
	Except []store.ID `query:"except" doc:"IDs of records to leave out, only with all=1; at most 200, as repeated keys or separated by commas"`
}

// SelectIDs returns the IDs of the records that a request selects. permission is that of the list.
func SelectIDs[T, Out any](tx *store.Tx, req *Request, list *Resource[T, Out], d *Input,
	in *Selection, permission string) ([]store.ID, error) {
	ask, err := list.Info().parse(req, d)
	if err != nil {
		return nil, err
	}

	selected := in.IDs
	switch {
	case bool(in.All) && in.IDs != nil:
		return nil, errs.Field(errs.Malformed, "all", "conflicts with %s", "ids")
	case !bool(in.All) && in.IDs == nil:
		return nil, errs.Field(errs.Malformed, "ids", "is required, or use all=1")
	case !bool(in.All) && ask.narrowed():
		return nil, errs.Field(errs.Malformed, "ids",
			"conflicts with the list parameters; use all=1 with them")
	case !bool(in.All) && in.Except != nil:
		return nil, errs.Field(errs.Malformed, "except", "can only be used with all=1")
	case bool(in.All):
		if err := Demand(tx, permission); err != nil {
			return nil, err
		}
		if selected, err = list.FindIDs(tx, req, ask, maxBatchUsers+1); err != nil {
			return nil, err
		}
		if len(selected) > maxBatchUsers {
			return nil, errs.Field(errs.Invalid, "all", "select at most %d of them", maxBatchUsers)
		}
		selected = slices.DeleteFunc(selected, func(id store.ID) bool {
			return slices.Contains(in.Except, id)
		})
	}

	seen := make(map[store.ID]bool, len(selected))
	return slices.DeleteFunc(selected, func(id store.ID) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	}), nil
}

// StepWeight is the maximum number of records that one step changes, sessions included. It
// leaves room for sessions that are opened after they were counted.
const StepWeight = kv.MaxRecordsPerWrite - 20
