package server

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// audience decides which events a caller may see. With the data scope "all" these are
// all; otherwise those of requests of users in the scope, which leaves out app users,
// strangers and what the server does by itself.
type audience struct {
	db    *store.DB
	scope *store.Scope
	known map[store.ID]bool
	err   error // of the first user that could not be read, who counts as out of scope
}

func (req *Request) audience() (*audience, error) {
	a := &audience{db: req.s.db, known: map[store.ID]bool{}}
	err := req.db.View(req.Actor, func(tx *store.Tx) error {
		a.scope = tx.Actor().Scope(tx)
		return nil
	})
	return a, err
}

// hears reports whether the caller may see events of a kind at all: caches and Redis
// are everybody's.
func (a *audience) hears(kind string) bool {
	return a.scope.All || kind != cacheKind && kind != redisKind
}

// sees reports whether the caller may see an event.
func (a *audience) sees(m marks) bool {
	return a.scope.All || !m.app && a.has(m.user)
}

// has reports whether a user is in the scope; one who has been deleted is not.
func (a *audience) has(user store.ID) bool {
	if a.scope.All {
		return true
	}
	in, asked := a.known[user]
	if !asked && user != 0 {
		err := a.db.View(store.Nobody, func(tx *store.Tx) error {
			u, err := store.Users.Get(tx, user)
			if err == nil {
				in = a.scope.HasUser(u)
			}
			return unlessNone(err)
		})
		if err != nil && a.err == nil {
			a.err = err
		}
		a.known[user] = in
	}
	return in
}

// names takes out of counts by realm and name those of users who are not in the scope.
func (a *audience) names(counts map[string]int64) error {
	if a.scope.All {
		return nil
	}
	return a.db.View(store.Nobody, func(tx *store.Tx) error {
		for key := range counts {
			realm, name, _ := strings.Cut(key, " ")
			u, err := store.UserByName.Get(tx, store.Fold(name))
			if unlessNone(err) != nil {
				return err
			}
			if err != nil || realm != "admin" || !a.scope.HasUser(u) {
				delete(counts, key)
			}
		}
		return nil
	})
}

func unlessNone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
