package account

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Passkeys of app users, if the setting app.passkeys is on. One replaces username, password and code;
// a password still asks for no second factor because of it.
func AppPasskeyRoutes() []web.Route {
	return []web.Route{
		web.Read("/api/login/passkey", web.Public, "Get the options to sign in with a passkey as an app user",
			readAppSignInOptions, web.Options{
				Note: "For navigator.credentials.get() of a browser, also to offer passkeys while the form of " +
					"the sign-in is filled in (conditional mediation). The challenge is valid for an hour, and " +
					"once. null unless the setting app.passkeys is on.",
			}),
		web.Action("POST", "/api/login/passkey", web.Public, "Sign in with a passkey as an app user",
			LoginAppPasskey, web.Options{
				MaxBody:     MaxAssertion,
				Closable:    true,
				RateLimited: true,
				Note: "Without login_token, the passkey has to verify the user, with a fingerprint or the like, " +
					"and no second factor is asked for. With it, the passkey is the second factor of a sign-in " +
					"whose account has one. The response is that of a sign-in.",
			}),
		web.List("/api/user/passkey", web.AppOnly, "List your passkeys as an app user", &ownPasskeys),
		web.Read("/api/user/passkey-options", web.AppOnly,
			"Get the options for a new passkey as an app user", readPasskeyOptions, web.Options{
				Note: "For navigator.credentials.create() of a browser, within 5 minutes. null unless the " +
					"setting app.passkeys is on.",
			}),
		web.Action("POST", "/api/user/passkey", web.AppOnly, "Add a passkey as an app user",
			AddAppPasskey, web.Options{
				MaxBody:     MaxCredential,
				RateLimited: true,
				Note:        "Requires the password, and the setting app.passkeys.",
			}),
		web.Write("PUT", "/api/user/passkey/:id", web.AppOnly, "Rename your passkey as an app user",
			renamePasskey, web.Options{Record: web.RecordOf(store.Passkeys)}),
		web.Get("/api/user/passkey/:id", web.AppOnly, "Get your passkey as an app user", &ownPasskeys),
		web.Action("DELETE", "/api/user/passkey", web.AppOnly, "Remove your passkey as an app user",
			RemoveAppPasskey, web.Options{
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note:        "Requires the password.",
			}),
	}
}

func readAppSignInOptions(tx *store.Tx, req *web.Request, _ *web.None) (*PasskeyOptions, error) {
	options, err := req.Auth().SignInOptions(tx, true)
	return &PasskeyOptions{orNull(options)}, err
}

func LoginAppPasskey(req *web.Request, in *PasskeyLoginIn) (*LoginOut, error) {
	return loginByPasskey(req, true, in)
}

type AppPasskeyIn struct {
	newPasskeyIn
	OwnPassword
}

// NewAppPasskey returns the input of AddAppPasskey for a response of a browser.
func NewAppPasskey(response map[string]any, password *string) *AppPasskeyIn {
	return &AppPasskeyIn{newPasskeyIn{Credential: response}, OwnPassword{password}}
}

// AddAppPasskey stores a passkey of the caller, who confirms it with the password.
func AddAppPasskey(req *web.Request, in *AppPasskeyIn) (*Passkey, error) {
	if err := req.Auth().ConfirmOwner(req.Session, req.Addr, in.Password); err != nil {
		return nil, err
	}
	out, err := addPasskey(req, &in.newPasskeyIn)
	if err != nil {
		return nil, err
	}
	return &out.Passkey, nil
}

type PasskeyRemovalIn struct {
	ID store.ID `json:"id" check:"required" doc:"ID of the passkey"`
	OwnPassword
}

// RemoveAppPasskey removes a passkey of the caller, who confirms it with the password: it may be the
// only other way to sign in.
func RemoveAppPasskey(req *web.Request, in *PasskeyRemovalIn) (web.Nothing, error) {
	if err := req.Auth().ConfirmOwner(req.Session, req.Addr, in.Password); err != nil {
		return web.Nothing{}, err
	}
	err := req.DB.Update(req.Actor, func(tx *store.Tx) error {
		return store.RemovePasskey(tx, req.Actor.Account(), in.ID)
	})
	if errs.Is(err, errs.NotFound) {
		err = errs.Field(errs.Invalid, "id", "is none of your passkeys").Coded("not_your_passkey")
	}
	req.Note("factor_removed", req.Actor.Username, err)
	return web.Nothing{}, err
}
