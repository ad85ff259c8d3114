package servertest

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"reeve/server/rights"
	"reeve/store"
)

// Introspect sends a form to the introspection endpoint.
func (in *Instance) Introspect(form, as string) *Reply {
	in.T.Helper()
	r := httptest.NewRequest("POST", "/auth/introspect", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+in.Tokens[as])
	return in.Send(r)
}

// Program creates a service key that may check and introspect.
func (in *Instance) Program() {
	in.T.Helper()
	role := in.Role("Programs", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "auth.check", "auth.introspect")
	in.NewKey("program", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, role),
		"owner")
}

// NewKey creates a key through the API; as is the name under which requests use it.
func (in *Instance) NewKey(as, url, body, creator string) (k rights.KeyWithToken) {
	in.T.Helper()
	in.OK("POST", url, body, creator).Data(&k)
	in.Tokens[as] = k.Token
	return k
}

// RoleIDs returns the IDs of the roles of a user.
func (in *Instance) RoleIDs(user string) []store.ID {
	in.T.Helper()
	var ids []store.ID
	in.View(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, user)
		if err == nil {
			ids = u.RoleIDs
		}
		return err
	})
	return ids
}
