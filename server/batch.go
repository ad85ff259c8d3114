package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// each runs fn for records, each once; the first that is refused is the error. Several
// must not change more than store.MaxRecords together, with what belongs to them.
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
		if len(done) > 1 && tx.Touched() > store.MaxRecords {
			return errs.Field(errs.Malformed, "ids", "are more than %d records together with those that belong to them; name fewer", store.MaxRecords)
		}
	}
	return nil
}

// deleteOne is the handler of a route that deletes one record.
type deleteOne func(*store.Tx, *Request, *byID) (nothing, error)

// deleteSeveral makes the route that deletes several records, each as one deletes it.
func deleteSeveral(path, access, title string, one deleteOne) Route {
	return deleteOrdered(path, access, title, one, func(_ *store.Tx, ids []store.ID) []store.ID { return ids })
}

// deleteOrdered is deleteSeveral of a tree; order puts what is below others first.
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
