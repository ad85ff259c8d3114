package rights

import (
	"strings"

	"reeve/auth"
	"reeve/server/people"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Operations with which a program checks the user or key of a token that it has received, and their
// permissions. The answers are those of the next request with the token.
func AccessCheckRoutes() []web.Route {
	return []web.Route{
		web.Following(&web.OAuth, "POST", "/auth/introspect", "auth.introspect",
			"Introspect a token", introspect, web.Options{
				ClientCredentials: true,
				ReadOnly:          true,
				Note: "RFC 7662: tells whether the next request with a token would be accepted, and whose " +
					"it is. A token that is not known or not valid any more gives active: false alone.",
			}),
		web.Action("POST", "/auth/check", "auth.check", "Check permissions", checkAccess,
			web.Options{
				ReadOnly: true,
				Note: "Answers for a token as the next request with it would be answered, at most 100 " +
					"permissions at a time. A user is named by user_id or user, and must be in your data scope.",
			}),
	}
}

type introspectIn struct {
	Token string `form:"token" check:"required,max=4000" doc:"Token of a session of a user or an app user, or an API key"`
	Hint  string `form:"token_type_hint" check:"max=64" doc:"Ignored: tokens of all kinds are recognized"`

	Client string `form:"client_id" check:"max=255" doc:"Ignored: the key says which program it is"`
	Secret string `form:"client_secret" check:"max=200" doc:"API key, for programs that send it neither as a bearer token nor by Basic authentication"`
}

// introspection is the response of RFC 7662, with members of our own after the standard ones.
type introspection struct {
	Active    bool     `json:"active" doc:"Whether the next request with the token would be accepted"`
	Scope     string   `json:"scope,omitempty" doc:"Keys of the permissions, separated by spaces"`
	Username  string   `json:"username,omitempty"`
	TokenType string   `json:"token_type,omitempty" doc:"Always Bearer"`
	Expires   int64    `json:"exp,omitempty" doc:"Time at which the token expires at the latest, in seconds since 1970"`
	Subject   string   `json:"sub,omitempty" doc:"Whom the token belongs to: user:7 or app_user:3"`
	Realm     string   `json:"realm,omitempty" doc:"Realm: admin or app"`
	UserID    store.ID `json:"user_id,omitempty" doc:"ID of the user or app user; of an API key, of its owner"`
	KeyID     store.ID `json:"key_id,omitempty" doc:"ID of the API key; absent for a session"`
	KeyName   string   `json:"key_name,omitempty" doc:"Name of the API key"`

	Fields map[string]any `json:"fields,omitempty" doc:"Values of the custom fields of the user or app user that programs may read, by key; absent for an API key"`
}

func introspect(req *web.Request, in *introspectIn) (out *introspection, err error) {
	out = &introspection{}
	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		session, err := req.Auth().Inspect(tx, in.Token)
		if errs.Is(err, errs.Unauthenticated) {
			return nil
		}
		if err != nil {
			return err
		}
		if blocked, err := session.Actor.Blocked(tx); err != nil || blocked {
			return err
		}

		a := session.Actor
		*out = introspection{
			Active:    true,
			Scope:     strings.Join(a.PermissionKeys(tx), " "),
			Username:  a.Username,
			TokenType: "Bearer",
			Expires:   int64(session.ExpiresAt) / 1e6,
			Subject:   a.Account().Subject(),
			Realm:     a.Account().Realm(),
			UserID:    a.ID,
		}

		if session.Key != nil {
			out.KeyID, out.KeyName = session.Key.ID, session.Key.Name
			return nil
		}

		out.Fields, err = store.ProgramFields(tx, a)
		return err
	})
}

type checkIn struct {
	Token       string     `json:"token" check:"max=4000" doc:"Token of a session or an API key; one of token, user_id and app_user_id is required"`
	UserID      store.ID   `json:"user_id" names:"user,user" doc:"ID of a user in your data scope"`
	AppUserID   store.ID   `json:"app_user_id" names:"app_user,app_user" doc:"ID of an app user"`
	Permissions []string   `json:"permissions" check:"max=100" doc:"Keys of permissions; empty or absent to ask only whose token it is"`
	Explain     store.Flag `json:"explain" doc:"1 to get reasons"`
}

type CheckOut struct {
	Active  bool                `json:"active" doc:"Whether the next request with the token would be accepted, or the user is enabled"`
	User    *checkedUser        `json:"user" null:"true" doc:"Whom the token belongs to; null if it is not active"`
	Allowed map[string]bool     `json:"allowed" doc:"Whether the user or key has each permission, by key"`
	Unknown []string            `json:"unknown,omitempty" doc:"Keys of permissions that do not exist, perhaps mistyped; absent if there are none"`
	Reasons map[string]string   `json:"reasons,omitempty" doc:"Why or why not, by key, as in GET /admin/permission/explain; also unknown_token and password_change_required. Absent unless explain is 1"`
	Scope   *store.CheckedScope `json:"data_scope" null:"true" doc:"Data scope; null if the token is not active, or of an app user"`
}

type checkedUser struct {
	ID       store.ID `json:"id"`
	Username string   `json:"username"`
	Realm    string   `json:"realm" doc:"Realm: admin or app"`
	KeyID    store.ID `json:"key_id,omitempty" doc:"ID of the API key that acts for the user; absent for the user"`
	KeyName  string   `json:"key_name,omitempty" doc:"Name of that key"`

	Fields map[string]any `json:"fields,omitempty" doc:"Values of the custom fields of the user that programs may read, by key; absent for an API key, and if there are none"`
}

// checkAccess answers for a token as the next request with it would be answered, and for a user as
// the next one with a session would be.
func checkAccess(req *web.Request, in *checkIn) (out *CheckOut, err error) {
	faults := errs.Faults{}
	named := 0
	for _, sent := range []bool{in.Token != "", in.UserID != 0, in.AppUserID != 0} {
		if sent {
			named++
		}
	}

	switch {
	case named == 0:
		faults.Add("user_id", "exactly one of token, user_id and app_user_id is required")
	case named > 1 && in.AppUserID != 0:
		faults.Add("app_user_id", "exactly one of token, user_id and app_user_id is required")
	case named > 1:
		faults.Add("token", "exactly one of token, user_id and app_user_id is required")
	}

	for _, key := range in.Permissions {
		if len(key) == 0 || len(key) > 255 {
			faults.Add("permissions", "must be keys of permissions")
		}
	}

	if len(faults) > 0 {
		return nil, faults.Err(errs.Invalid)
	}

	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		c, err := checked(req, tx, in)
		if err != nil {
			return err
		}

		out = &CheckOut{Allowed: make(map[string]bool, len(in.Permissions))}
		if c.actor != nil && c.refused == "" {
			out.Active, out.Scope = true, store.ScopeIn(tx, c.actor)
			if out.User, err = c.user(tx); err != nil {
				return err
			}
		}
		if in.Explain {
			out.Reasons = make(map[string]string, len(in.Permissions))
		}

		for _, key := range in.Permissions {
			out.Allowed[key] = out.Active && c.actor.HasPermission(tx, key)
			if !out.Allowed[key] && !c.policy(tx).HasPermissionKey(key) {
				out.Unknown = append(out.Unknown, key)
			}
			if in.Explain {
				if out.Reasons[key], err = c.reason(tx, key); err != nil {
					return err
				}
			}
		}

		return nil
	})
}

// checkedCaller is whom a check is about.
type checkedCaller struct {
	actor   *store.Actor // nil for an unknown token and a disabled user
	app     bool         // whether an app user was named
	refused string       // why it can't do anything; "" if it can
}

// checked returns the subject of a check. A user outside the caller's data scope is not found. With
// a token there is no such limit: its holder can find out its permissions anyway.
func checked(req *web.Request, tx *store.Tx, in *checkIn) (c checkedCaller, err error) {
	switch {
	case in.Token != "":
		var session *auth.Session
		session, err = req.Auth().Inspect(tx, in.Token)
		if errs.Is(err, errs.Unauthenticated) {
			return checkedCaller{refused: "unknown_token"}, nil
		}
		if err == nil {
			c.actor = session.Actor
		}
	case in.AppUserID != 0:
		c.app = true
		c.actor, err = enabledAppUser(tx, in.AppUserID)
	default:
		c.actor, err = enabledUser(req, tx, in.UserID)
	}
	must := false
	if err == nil && c.actor != nil {
		must, err = store.MustChange(tx, c.actor.Account(), c.actor.MustChange)
	}
	switch {
	case err != nil:
	case c.actor == nil:
		c.refused = "user_disabled"
	case must:
		c.refused = "password_change_required"
	case c.actor.MustAddFactor(tx):
		c.refused = "factor_required"
	}
	return c, err
}

// enabledUser returns the actor of a user in the caller's data scope; nil if the user is disabled.
func enabledUser(req *web.Request, tx *store.Tx, id store.ID) (*store.Actor, error) {
	_, err := people.Users.Get(tx, req, id)
	if errs.Is(err, errs.NotFound) {
		err = errs.Field(errs.Invalid, "user_id", "%s %d not found", errs.Noun(store.Users.Noun()),
			id)
	}
	if err != nil {
		return nil, err
	}
	return store.EnabledUser(tx, id)
}

// enabledAppUser returns the actor of an app user; nil if the app user is disabled or pending.
func enabledAppUser(tx *store.Tx, id store.ID) (*store.Actor, error) {
	u, err := store.AppUsers.Get(tx, id)
	if errs.Is(err, errs.NotFound) {
		err = errs.Field(errs.Invalid, "app_user_id", "%s %d not found",
			errs.Noun(store.AppUsers.Noun()), id)
	}
	if err != nil || !bool(u.Usable()) {
		return nil, err
	}
	return store.AppActor(u), nil
}

// policy returns the policy of the realm of the checked caller; that of users for an unknown token.
func (c *checkedCaller) policy(tx *store.Tx) *store.Policy {
	if c.actor == nil {
		return store.PolicyOf(tx, &store.Actor{App: c.app})
	}
	return store.PolicyOf(tx, c.actor)
}

func (c *checkedCaller) user(tx *store.Tx) (u *checkedUser, err error) {
	u = &checkedUser{ID: c.actor.ID, Username: c.actor.Username, Realm: c.actor.Account().Realm()}
	if c.actor.Key != nil {
		u.KeyID, u.KeyName = c.actor.Key.ID, c.actor.Key.Name
		return u, nil
	}
	u.Fields, err = store.ProgramFields(tx, c.actor)
	return u, err
}

// reason returns why the actor has a permission or not.
func (c *checkedCaller) reason(tx *store.Tx, key string) (string, error) {
	if c.refused != "" {
		return c.refused, nil
	}
	e, err := c.explain(tx, key)
	if err != nil {
		return "", err
	}
	return e.Reason, nil
}

func (c *checkedCaller) explain(tx *store.Tx, key string) (*store.Explanation, error) {
	if c.actor.Key == nil {
		return c.actor.Account().Explain(tx, key)
	}
	k, err := store.APIKeys.Get(tx, c.actor.Key.ID)
	if err != nil {
		return nil, err
	}
	return store.ExplainKey(tx, k, key)
}
