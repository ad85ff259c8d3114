package server_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// callers are the kinds of callers, with what the route table says about each.
var callers = []struct {
	name string
	// token opens a session, a new one for every request, since some routes end it.
	token func(in *servertest.Instance, rt *web.Route) string
	// refused is the error code with which the route rejects the caller; "" for none.
	refused func(rt *web.Route) string
}{
	{"anonymous", func(*servertest.Instance, *web.Route) string {
		return ""
	}, func(rt *web.Route) string {
		if rt.Access == web.AnyRealm {
			return ""
		}
		return unlessPublic("unauthenticated")(rt)
	}},
	{"the reader of the metrics", func(*servertest.Instance, *web.Route) string {
		return servertest.MetricsSecret
	}, func(rt *web.Route) string {
		if rt.Access == web.Public || rt.Access == web.MetricsToken {
			return ""
		}
		return "unauthenticated"
	}},
	{"a user without permissions", func(in *servertest.Instance, _ *web.Route) string {
		return in.SignIn(in.Person("nobody").ID)
	}, func(rt *web.Route) string {
		if rt.Access == web.AppOnly || rt.Access == web.MetricsToken {
			return "unauthenticated"
		}
		if rt.Open() {
			return ""
		}
		return "denied"
	}},
	{"a user with exactly the permission", func(in *servertest.Instance, rt *web.Route) string {
		if rt.Open() {
			return in.SignIn(in.Person("nobody").ID)
		}
		return in.SignIn(in.Person("with "+rt.Access, rt.Access).ID)
	}, unlessUsers},
	{"a user with exactly the permission and a cookie",
		func(in *servertest.Instance, rt *web.Route) string {
			return servertest.InCookie + in.SignIn(in.Person("with "+rt.Access, needs(rt)...).ID)
		}, unlessUsers},
	{"the owner", func(in *servertest.Instance, _ *web.Route) string {
		return in.SignIn(1)
	}, unlessUsers},
	{"a command", func(*servertest.Instance, *web.Route) string {
		return servertest.ByCommand + "someone"
	}, func(rt *web.Route) string {
		if (rt.Access == web.SignedIn || rt.Access == web.AppOnly) && !rt.AllowedForCommands {
			return "denied"
		}
		return ""
	}},
	{"a personal key with exactly the permission",
		func(in *servertest.Instance, rt *web.Route) string {
			return in.KeyOf(in.Person("with "+rt.Access, needs(rt)...), servertest.PersonalKey)
		}, unlessKeys(servertest.PersonalKey)},
	{"a service key with exactly the permission",
		func(in *servertest.Instance, rt *web.Route) string {
			return in.KeyOf(in.Person("with "+rt.Access, needs(rt)...), servertest.ServiceKey)
		}, unlessKeys(servertest.ServiceKey)},
	{"a personal key of the owner", func(in *servertest.Instance, _ *web.Route) string {
		return in.KeyOf(&store.User{Ident: store.Ident{ID: 1}}, servertest.PersonalKey)
	}, unlessKeys(servertest.PersonalKey)},
	{"a disabled key", func(in *servertest.Instance, _ *web.Route) string {
		_, token := in.Key(1, servertest.PersonalKey, func(k *store.APIKey) { k.Status = false })
		return token
	}, unlessMetrics("unknown_key")},
	{"an expired key", func(in *servertest.Instance, _ *web.Route) string {
		id, token := in.Key(1, servertest.PersonalKey)
		in.Update(func(tx *store.Tx) error { return expireKey(tx, id) })
		return token
	}, unlessMetrics("unknown_key")},
	{"a key from another network", func(in *servertest.Instance, _ *web.Route) string {
		_, token := in.Key(1, servertest.PersonalKey, func(k *store.APIKey) {
			k.Networks = []string{"203.0.113.0/24"}
		})
		return token
	}, unlessMetrics("key_network")},
	{"a disabled user", func(in *servertest.Instance, rt *web.Route) string {
		u := in.Person("disabled")
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
				u.Status = true
				return nil
			})
			return err
		})
		token := in.SignIn(u.ID)
		in.Update(func(tx *store.Tx) error { // in the store, so that the session itself is not ended
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
				u.Status = false
				return nil
			})
			return err
		})
		return token
	}, unlessPublic("unauthenticated")},
	{"an expired session", func(in *servertest.Instance, _ *web.Route) string {
		token := in.SignIn(1)
		in.Update(func(tx *store.Tx) error {
			ids, err := store.SessionsOf(tx, store.Account{ID: 1})
			if err != nil {
				return err
			}
			_, err = store.Sessions.UpdateQuietly(tx, ids[len(ids)-1],
				func(s *store.Session) error {
					s.ExpiresAt = 1
					return nil
				})
			return err
		})
		return token
	}, unlessMetrics("session_expired")},
	{"an app user with a cookie", func(in *servertest.Instance, _ *web.Route) string {
		return servertest.InCookie + in.AppSignIn(in.Customer("app").ID)
	}, func(rt *web.Route) string {
		if rt.Access == web.Public || rt.Access == web.AppOnly || rt.Access == web.AnyRealm {
			return ""
		}
		return "unauthenticated"
	}},
	{"an app user", func(in *servertest.Instance, _ *web.Route) string {
		return in.AppSignIn(in.Customer("app").ID)
	}, func(rt *web.Route) string {
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

// expireKey ends a key. Its rules do not let anybody set a time in the past.
func expireKey(tx *store.Tx, id store.ID) error {
	secrets, err := store.KeySecretsOf(tx, id)
	for _, s := range secrets {
		if err == nil {
			_, err = store.KeySecrets.Update(tx, s.ID, func(s *store.KeySecret) error {
				s.ExpiresAt = 1
				return nil
			})
		}
	}
	return err
}

// unlessKeys returns the error code for a key that has every permission of a route.
func unlessKeys(kind servertest.Credential) func(*web.Route) string {
	return func(rt *web.Route) string {
		switch {
		case rt.Access == web.Public:
			return ""
		case rt.Access == web.AppOnly || rt.Access == web.MetricsToken:
			return "unauthenticated"
		case kind.Refuses(rt):
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

// TestAuthorization_EveryRouteAndCaller has, at the small size, a third of the callers of each
// route.
func TestAuthorization_EveryRouteAndCaller(t *testing.T) {
	t.Parallel()
	chosen := third(t)
	in := servertest.Start(t)
	in.ShowPages()
	refusals := []string{"unknown_key", "key_network", "key_not_allowed", "unauthenticated",
		"session_expired", "denied", "password_change_required"}
	all := server.Routes()
	for i := range all {
		rt := &all[i]
		for _, c := range callers {
			if !chosen() {
				continue
			}

			in.Tokens["caller"] = c.token(in, rt)
			body := ""
			if rt.Method != "GET" && (rt.Input == nil || !rt.Input.Upload) {
				body = "{}"
			}

			answer, got := in.Call(rt.Method, servertest.URLOf(rt), body, "caller"), ""
			if isHTML := strings.HasPrefix(answer.Header.Get("Content-Type"), web.HTMLMedia); !isHTML && (answer.Code == 401 || answer.Code == 403) {
				got = answer.Envelope().ErrorCode
			}
			if !slices.Contains(refusals, got) {
				got = ""
			}

			want := c.refused(rt)
			if rt.Protocol != nil && !rt.Page { // it has fewer codes
				want = map[string]string{
					"unknown_key":     "unauthenticated",
					"session_expired": "unauthenticated",
					"key_network":     "denied",
				}[want]
				want = cmp.Or(want, c.refused(rt))
			}
			if got != want {
				t.Errorf("%s %s (%s) for %s: refused with %q, want %q", rt.Method, rt.Path,
					rt.Access, c.name, got, want)
			}
		}
	}
}
