package names

import (
	"reeve/store"
	"reeve/store/errs"
)

// maxCodes is the number of codes in a fault.
const maxCodes = 10

// departments are addressed by their paths. An actor finds those in the data scope.
var departments = &Kind{
	Doc:   "Path of the department",
	Docs:  "Paths of the departments",
	Form:  "such as Sales/EU, where \\/ is a slash in a name; or # and the code, such as #sales-eu",
	noun:  store.Depts.Noun(),
	find:  deptsAt,
	match: deptsAt,
	near: func(tx *store.Tx, path string) ([]string, error) {
		near := nearestTo(path)
		for path := range store.PolicyCache.Get(tx).ReadableRefs(store.ActorOf(tx).Scope(tx)) {
			near.add(path)
		}
		return near.names(func(string) bool { return true }), nil
	},
	unclear: func(tx *store.Tx, path string, ids []store.ID) errs.Message {
		codes := store.PolicyCache.Get(tx).DeptCodes(ids)
		if len(codes) == 0 {
			return errs.Say("%d departments are named %q; give them codes, and use those", len(ids),
				quoted(path))
		}
		return errs.Say("%d departments are named %q; use a code: %s", len(ids), quoted(path),
			codes[:min(len(codes), maxCodes)])
	},
}

func deptsAt(tx *store.Tx, path string) ([]store.ID, error) {
	return store.PolicyCache.Get(tx).DeptsAt(store.ActorOf(tx).Scope(tx), path), nil
}
