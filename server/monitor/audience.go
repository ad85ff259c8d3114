package monitor

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Audience decides which events a caller may see. With the data scope "all" these are all
// events. With any other they are the events of requests of users in the scope; this excludes
// app users, requests without a user, and events of no request. An Audience serves one
// request: it remembers users that it has looked up.
type Audience struct {
	db    *store.DB
	scope *store.Scope
	known map[store.ID]bool
	err   error // first error while reading a user; that user counts as out of scope
}

// NewAudience returns the audience of a caller with a data scope.
func NewAudience(db *store.DB, scope *store.Scope) *Audience {
	return &Audience{db: db, scope: scope, known: map[store.ID]bool{}}
}

// SeesAll reports whether the caller may see all events.
func (a *Audience) SeesAll() bool { return a.scope.All }

// seesKind reports whether the caller may see events of a kind at all. Cache and Redis events
// concern all users.
func (a *Audience) seesKind(kind string) bool {
	return a.scope.All || kind != CacheKind && kind != RedisKind
}

// sees reports whether the caller may see an event.
func (a *Audience) sees(h indexHeader) bool {
	return a.scope.All || !h.app && a.has(h.user)
}

// has reports whether a user is in the scope. A deleted user is not.
func (a *Audience) has(user store.ID) bool {
	if a.scope.All {
		return true
	}

	in, known := a.known[user]
	if !known && user != 0 {
		err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
			u, err := store.Users.Get(tx, user)
			if err == nil {
				in = a.scope.HasUser(u)
			}
			return ignoreNotFound(err)
		})
		if err != nil && a.err == nil {
			a.err = err
		}
		a.known[user] = in
	}

	return in
}

// filterUsers removes users outside the scope from counts by realm and name.
func (a *Audience) filterUsers(counts map[string]int64) error {
	if a.scope.All {
		return nil
	}
	return a.db.View(store.Anonymous, func(tx *store.Tx) error {
		for key := range counts {
			realm, name, _ := strings.Cut(key, " ")
			u, err := store.UserByName.Get(tx, name)
			if ignoreNotFound(err) != nil {
				return err
			}
			if err != nil || realm != "admin" || !a.scope.HasUser(u) {
				delete(counts, key)
			}
		}
		return nil
	})
}

func ignoreNotFound(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
