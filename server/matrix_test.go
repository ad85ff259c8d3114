package server

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"reeve/server/web"
	"reeve/store"
)

// callers are the kinds of callers, with what the route table says about each.
var callers = []struct {
	name string
	// token opens a session, a new one for every request, since some routes end it.
	token func(in *instance, rt *web.Route) string
	// refused is the error code with which the route rejects the caller; "" for none.
	refused func(rt *web.Route) string
}{
	{"anonymous", func(*instance, *web.Route) string { return "" }, func(rt *web.Route) string {
		if rt.Access == web.AnyRealm {
			return ""
		}
		return unlessPublic("unauthenticated")(rt)
	}},
	{"the reader of the metrics", func(*instance, *web.Route) string { return metricsSecret }, func(rt *web.Route) string {
		if rt.Access == web.Public || rt.Access == web.MetricsToken {
			return ""
		}
		return "unauthenticated"
	}},
	{"a user without permissions", func(in *instance, _ *web.Route) string {
		return in.signIn(in.person("nobody").ID)
	}, func(rt *web.Route) string {
		if rt.Access == web.AppOnly || rt.Access == web.MetricsToken {
			return "unauthenticated"
		}
		if rt.Open() {
			return ""
		}
		return "denied"
	}},
	{"a user with exactly the permission", func(in *instance, rt *web.Route) string {
		if rt.Open() {
			return in.signIn(in.person("nobody").ID)
		}
		return in.signIn(in.person("with "+rt.Access, rt.Access).ID)
	}, unlessUsers},
	{"a user with exactly the permission and a cookie", func(in *instance, rt *web.Route) string {
		return inCookie + in.signIn(in.person("with "+rt.Access, needs(rt)...).ID)
	}, unlessUsers},
	{"the owner", func(in *instance, _ *web.Route) string { return in.signIn(1) }, unlessUsers},
	{"a personal key with exactly the permission", func(in *instance, rt *web.Route) string {
		return in.keyOf(in.person("with "+rt.Access, needs(rt)...), personalKey)
	}, unlessKeys(personalKey)},
	{"a service key with exactly the permission", func(in *instance, rt *web.Route) string {
		return in.keyOf(in.person("with "+rt.Access, needs(rt)...), serviceKey)
	}, unlessKeys(serviceKey)},
	{"a personal key of the owner", func(in *instance, _ *web.Route) string {
		return in.keyOf(&store.User{Ident: store.Ident{ID: 1}}, personalKey)
	}, unlessKeys(personalKey)},
	{"a disabled key", func(in *instance, _ *web.Route) string {
		_, token := in.key(1, personalKey, func(k *store.APIKey) { k.Status = false })
		return token
	}, unlessMetrics("unknown_key")},
	{"an expired key", func(in *instance, _ *web.Route) string {
		id, token := in.key(1, personalKey)
		in.update(func(tx *store.Tx) error { return expireKey(tx, id) })
		return token
	}, unlessMetrics("unknown_key")},
	{"a key from another network", func(in *instance, _ *web.Route) string {
		_, token := in.key(1, personalKey, func(k *store.APIKey) { k.Networks = []string{"203.0.113.0/24"} })
		return token
	}, unlessMetrics("key_network")},
	{"a disabled user", func(in *instance, rt *web.Route) string {
		u := in.person("disabled")
		in.update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error { u.Status = true; return nil })
			return err
		})
		token := in.signIn(u.ID)
		in.update(func(tx *store.Tx) error { // in the store, so that the session itself is not ended
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error { u.Status = false; return nil })
			return err
		})
		return token
	}, unlessPublic("unauthenticated")},
	{"an expired session", func(in *instance, _ *web.Route) string {
		token := in.signIn(1)
		in.update(func(tx *store.Tx) error {
			ids, err := store.SessionsOf(tx, store.Account{ID: 1})
			if err != nil {
				return err
			}
			_, err = store.Sessions.UpdateQuietly(tx, ids[len(ids)-1], func(s *store.Session) error { s.ExpiresAt = 1; return nil })
			return err
		})
		return token
	}, unlessMetrics("session_expired")},
	{"an app user with a cookie", func(in *instance, _ *web.Route) string {
		return inCookie + in.appSignIn(in.customer("app").ID)
	}, func(rt *web.Route) string {
		if rt.Access == web.Public || rt.Access == web.AppOnly || rt.Access == web.AnyRealm {
			return ""
		}
		return "unauthenticated"
	}},
	{"an app user", func(in *instance, _ *web.Route) string { return in.appSignIn(in.customer("app").ID) }, func(rt *web.Route) string {
		if rt.Access == web.Public || rt.Access == web.AppOnly || rt.Access == web.AnyRealm {
			return ""
		}
		return "unauthenticated"
	}},
}

// unlessMetrics is unlessPublic for what the route of the metrics takes for a wrong token.
func unlessMetrics(code string) func(*web.Route) string {
	return func(rt *web.Route) string {
		if rt.Access == web.MetricsToken {
			return "unauthenticated"
		}
		return unlessPublic(code)(rt)
	}
}

// needs returns the permissions that a role must have for a route.
func needs(rt *web.Route) []string {
	if rt.Open() {
		return nil
	}
	return []string{rt.Access}
}

func (in *instance) keyOf(u *store.User, kind credential) string {
	_, token := in.key(u.ID, kind)
	return token
}

// expireKey ends a key. Its rules do not let anybody set a time in the past.
func expireKey(tx *store.Tx, id store.ID) error {
	secrets, err := store.KeySecretsOf(tx, id)
	for _, s := range secrets {
		if err == nil {
			_, err = store.KeySecrets.Update(tx, s.ID, func(s *store.KeySecret) error { s.ExpiresAt = 1; return nil })
		}
	}
	return err
}

// unlessKeys returns the error code for a key that has every permission of a route.
func unlessKeys(kind credential) func(*web.Route) string {
	return func(rt *web.Route) string {
		switch {
		case rt.Access == web.Public:
			return ""
		case rt.Access == web.AppOnly || rt.Access == web.MetricsToken:
			return "unauthenticated"
		case kind.refuses(rt):
			return "key_not_allowed"
		case rt.KeyAccess != "":
			return "denied"
		}
		return ""
	}
}

func unlessPublic(code string) func(*web.Route) string {
	return func(rt *web.Route) string {
		if rt.Access == web.Public {
			return ""
		}
		return code
	}
}

// unlessUsers returns the error code for an admin user who has every permission.
func unlessUsers(rt *web.Route) string {
	if rt.Access == web.AppOnly || rt.Access == web.MetricsToken {
		return "unauthenticated"
	}
	return ""
}

// person returns the user with a name, created by the first call.
func (in *instance) person(name string, keys ...string) *store.User {
	username := strings.NewReplacer(" ", "-").Replace(name)
	var found *store.User
	in.view(func(tx *store.Tx) error {
		found, _ = store.UserByName.Get(tx, username) // nil if it does not exist
		return nil
	})
	if found == nil {
		found = in.clerk(username, keys...)
	}
	return found
}

// customer returns the app user with a name, created by the first call.
func (in *instance) customer(name string) *store.AppUser {
	var found *store.AppUser
	in.view(func(tx *store.Tx) error {
		found, _ = store.AppUserByName.Get(tx, name) // nil if it does not exist
		return nil
	})
	if found == nil {
		found = in.appUser(name)
	}
	return found
}

// TestAuthorization_EveryRouteAndCaller has, at the small size, a third of the callers of each
// route.
func TestAuthorization_EveryRouteAndCaller(t *testing.T) {
	t.Parallel()
	chosen := third(t)
	in := start(t)
	in.showPages()
	refusals := []string{"unknown_key", "key_network", "key_not_allowed", "unauthenticated", "session_expired", "denied", "password_change_required"}
	all := routes()
	for i := range all {
		rt := &all[i]
		for _, c := range callers {
			if !chosen() {
				continue
			}
			in.tokens["caller"] = c.token(in, rt)
			body := ""
			if rt.Method != "GET" && (rt.Input == nil || !rt.Input.Upload) {
				body = "{}"
			}
			answer, got := in.call(rt.Method, urlOf(rt), body, "caller"), ""
			if isHTML := strings.HasPrefix(answer.Header.Get("Content-Type"), web.HTMLMedia); !isHTML && (answer.Code == 401 || answer.Code == 403) {
				got = answer.envelope().ErrorCode
			}
			if !slices.Contains(refusals, got) {
				got = ""
			}
			want := c.refused(rt)
			if rt.Protocol != nil && !rt.Page { // it has fewer codes
				want = map[string]string{"unknown_key": "unauthenticated", "session_expired": "unauthenticated", "key_network": "denied"}[want]
				want = cmp.Or(want, c.refused(rt))
			}
			if got != want {
				t.Errorf("%s %s (%s) for %s: refused with %q, want %q", rt.Method, rt.Path, rt.Access, c.name, got, want)
			}
		}
	}
}
