package web

import (
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Each runs fn once per record and returns the first error. If there are several
// records, they must not change more than kv.MaxRecordsPerWrite records together, including
// dependent ones.
func Each(tx *store.Tx, ids []store.ID, fn func(store.ID) error) error {
	done := make(map[store.ID]bool, len(ids))
	for _, id := range ids {
		if done[id] {
			continue
		}
		done[id] = true
		if err := fn(id); err != nil {
			return err
		}
		if len(done) > 1 && tx.RecordsChanged() > kv.MaxRecordsPerWrite {
			return ErrManyRecords
		}
	}
	return nil
}

// ErrManyRecords is the error of each for more changes than one write function may make.
var ErrManyRecords = errs.Field(errs.Malformed, "ids",
	"select at most %d records, including those that belong to them", kv.MaxRecordsPerWrite)

// deleteOne is the handler of a route that deletes one record.
type deleteOne func(*store.Tx, *Request, *ByID) (Nothing, error)

// DeleteSeveral returns the route that deletes several records, each with one.
func DeleteSeveral(path, access, title string, one deleteOne, options ...Options) Route {
	return deleteOrdered(path, access, title, one, func(_ *store.Tx, ids []store.ID) []store.ID {
		return ids
	}).With(options...)
}

// deleteOrdered is DeleteSeveral for a tree; order sorts children before their parents.
func deleteOrdered(path, access, title string, one deleteOne,
	order func(*store.Tx, []store.ID) []store.ID) Route {
	rt := Write("DELETE", path, access, title,
		func(tx *store.Tx, req *Request, in *ByIDs) (Nothing, error) {
			return Nothing{}, Each(tx, order(tx, in.IDs), func(id store.ID) error {
				_, err := one(tx, req, &ByID{id})
				return err
			})
		})
	rt.Handler = HandlerName(one)
	return rt
}
