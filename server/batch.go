package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// each runs fn once per record and returns the first error. If there are several
// records, they must not change more than store.MaxRecordsPerWrite records together, including
// dependent ones.
func each(tx *store.Tx, ids []store.ID, fn func(store.ID) error) error {
	done := make(map[store.ID]bool, len(ids))
	for _, id := range ids {
		if done[id] {
			continue
		}
		done[id] = true
		if err := fn(id); err != nil {
			return err
		}
		if len(done) > 1 && tx.RecordsChanged() > store.MaxRecordsPerWrite {
			return errManyRecords
		}
	}
	return nil
}

// errManyRecords is the error of each for more changes than one write function may make.
var errManyRecords = errs.Field(errs.Malformed, "ids", "select at most %d records, including those that belong to them", store.MaxRecordsPerWrite)

// deleteOne is the handler of a route that deletes one record.
type deleteOne func(*store.Tx, *Request, *byID) (nothing, error)

// deleteSeveral returns the route that deletes several records, each with one.
func deleteSeveral(path, access, title string, one deleteOne) Route {
	return deleteOrdered(path, access, title, one, func(_ *store.Tx, ids []store.ID) []store.ID { return ids })
}

// deleteOrdered is deleteSeveral for a tree; order sorts children before their parents.
func deleteOrdered(path, access, title string, one deleteOne, order func(*store.Tx, []store.ID) []store.ID) Route {
	rt := write("DELETE", path, access, title, func(tx *store.Tx, req *Request, in *byIDs) (nothing, error) {
		return nothing{}, each(tx, order(tx, in.IDs), func(id store.ID) error {
			_, err := one(tx, req, &byID{id})
			return err
		})
	})
	rt.handler = handlerName(one)
	return rt
}
