package names

import (
	"reeve/store"
	"reeve/store/errs"
)

// departments are addressed by their paths. An actor finds those in the data scope.
var departments = &Kind{
	Doc:  "Path of the department",
	Docs: "Paths of the departments",
	Form: "such as Sales/EU, where \\/ is a slash in a name",
	noun: store.Depts.Noun(),
	find: func(tx *store.Tx, path string) ([]store.ID, error) {
		return store.PolicyCache.Get(tx).DeptsAt(store.ActorOf(tx).Scope(tx), path), nil
	},
	near: func(tx *store.Tx, path string) ([]string, error) {
		near := nearestTo(path)
		for path := range store.PolicyCache.Get(tx).ReadablePaths(store.ActorOf(tx).Scope(tx)) {
			near.add(path)
		}
		return near.names(func(string) bool { return true }), nil
	},
	unclear: func(_ *store.Tx, path string, ids []store.ID) errs.Message {
		return errs.Say("%d departments are named %q", len(ids), quoted(path))
	},
}
