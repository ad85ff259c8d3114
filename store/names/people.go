package names

import (
	"reeve/store"
	"reeve/store/fold"
	"reeve/store/kv"
)

// checkPermission lets programs learn the name of every user in their data scope, by ID.
const checkPermission = "auth.check"

// An actor finds users and app users by name who may read their names: with the permission to list
// or to check them. All actors find themselves.
var (
	users = people(store.Users, store.UserByName, "Username of the user", "admin.list.query",
		func(u *store.User) string { return u.Username },
		func(tx *store.Tx, u *store.User) bool {
			a := store.ActorOf(tx)
			return !a.App && u.ID == a.ID || a.Scope(tx).HasUser(u) &&
				(reads(tx, "admin.list.query") || reads(tx, checkPermission))
		},
		func(tx *store.Tx, q *kv.Query[store.User]) {
			if in, narrow := store.ActorOf(tx).Scope(tx).Users(); narrow {
				q.Where = append(q.Where, in)
			}
		})
	appUsers = people(store.AppUsers, store.AppUserByName, "Username of the app user",
		"user.list.query", func(u *store.AppUser) string { return u.Username },
		func(tx *store.Tx, _ *store.AppUser) bool {
			return reads(tx, "user.list.query") || reads(tx, checkPermission)
		},
		func(*store.Tx, *kv.Query[store.AppUser]) {})
)

// people returns the kind of users of a realm. query is the permission to list them. may reports
// whether the actor finds a user, and narrow limits a search to the data scope.
func people[T any](records *kv.Collection[T], by *kv.Unique[T], doc, query string,
	nameOf func(*T) string, may func(*store.Tx, *T) bool,
	narrow func(*store.Tx, *kv.Query[T])) *Kind {
	k := &Kind{
		Doc:   doc,
		noun:  records.Noun(),
		find:  unique(records, by, may),
		match: unique(records, by, anyone),
	}
	// near searches for users whose texts contain the name: there may be too many to compare.
	k.near = func(tx *store.Tx, name string) (near []string, err error) {
		if !reads(tx, query) {
			return nil, nil
		}
		q := kv.Query[T]{Search: fold.Search(name), Limit: maxNear}
		narrow(tx, &q)
		found, _, _, err := records.FindIntact(tx, q)
		for _, v := range found {
			near = append(near, nameOf(v))
		}
		return near, err
	}
	return k
}
