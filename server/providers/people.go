package providers

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Person is a person at a provider who is linked to an account.
type Person struct {
	store.Ident
	ProviderID   store.ID   `json:"provider_id"`
	ProviderName string     `json:"provider_name" doc:"Title of the provider"`
	UserID       store.ID   `json:"user_id" doc:"ID of the user; 0 for an app user"`
	AppUserID    store.ID   `json:"app_user_id" doc:"ID of the app user; 0 for a user"`
	Username     string     `json:"username"`
	Email        string     `json:"email" doc:"Address at the provider, as of the last sign-in"`
	RoleIDs      []store.ID `json:"role_ids" doc:"IDs of the roles that the account has only by a mapping"`
	DeptID       store.ID   `json:"dept_id" doc:"ID of the department that a mapping has set; 0 for none"`
	LastLogin    store.Time `json:"last_login" null:"true" doc:"Time of the last sign-in with the provider; null before the first"`
	kv.Timestamps
}

func personOf(tx *store.Tx, _ *web.Request, i *store.Identity) (*Person, error) {
	out := &Person{Ident: i.Ident, ProviderID: i.ProviderID, UserID: i.UserID, AppUserID: i.AppUserID,
		Email: i.Email, RoleIDs: web.OrEmpty(i.RoleIDs), DeptID: i.DeptID, LastLogin: i.LastLogin,
		Timestamps: i.Timestamps}
	p, err := store.Providers.Get(tx, i.ProviderID)
	if err == nil {
		out.ProviderName = p.Title
		out.Username, err = i.Account().Username(tx)
	}
	return out, err
}

var people = web.Resource[store.Identity, *Person]{
	Collection: store.Identities,
	Keywords:   []string{"email"},
	Order:      "id, ascending",
	Output:     personOf,
	Columns: []web.Column[store.Identity]{
		{Name: "id", Uses: web.Sorted},
		{Name: "provider_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.IdentityByProvider),
			Named: web.ByName("provider", "provider")},
		{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.IdentityByUser),
			Named: web.ByName("user", "user")},
		{Name: "app_user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.IdentityByAppUser),
			Named: web.ByName("app_user", "app_user")},
	},
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.IdentityByUser)
	},
}

var ownPeople = web.Resource[store.Identity, *Person]{
	Collection: store.Identities,
	Order:      "id, ascending",
	Output:     personOf,
	Columns:    []web.Column[store.Identity]{{Name: "id", Uses: web.Sorted}},
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.IdentityByUser.AnyOf(req.Actor.ID), true
	},
}

func disconnect(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := people.Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.Identities.Delete(tx, in.ID)
}

// disconnectOwn disconnects the caller, who must have another way in.
func disconnectOwn(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	one, err := ownPeople.Get(tx, req, in.ID)
	if err != nil {
		return web.Nothing{}, err
	}
	other, err := store.CanSignInWithout(tx, req.Actor.Account(), in.ID)
	if err == nil && !other {
		err = errs.New(errs.Conflict, "this is your only way to sign in; set a password or add a passkey first").Coded("only_sign_in")
	}
	if err == nil {
		req.Note("provider_disconnected", req.Actor.Username, nil)
		req.NoteProvider(one.ProviderName)
		err = store.Identities.Delete(tx, in.ID)
	}
	return web.Nothing{}, err
}
