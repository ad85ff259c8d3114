package account

import (
	"encoding/json"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// Passkeys of users (WebAuthn): a sign-in with one replaces username, password and code, or only
// the code.
func PasskeyRoutes() []web.Route {
	return []web.Route{
		web.Read("/admin/login/passkey", web.Public, "Get the options to sign in with a passkey",
			readSignInOptions, web.Options{
				Note: "For navigator.credentials.get() of a browser, also to offer passkeys while the form " +
					"of the sign-in is filled in (conditional mediation). The challenge is valid for an " +
					"hour, and once.",
			}),
		web.Action("POST", "/admin/login/passkey", web.Public, "Sign in with a passkey",
			loginPasskey, web.Options{
				MaxBody:     MaxAssertion,
				Closable:    true,
				RateLimited: true,
				Note: "With login_token, it completes a sign-in with a password. Without, it is a sign-in " +
					"of its own, for which the passkey has to verify the user, with a fingerprint or the " +
					"like. The response is that of a sign-in.",
			}),
		web.List("/admin/account/passkey", web.SignedIn, "List your passkeys", &ownPasskeys,
			web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
			}),
		web.Read("/admin/account/passkey-options", web.SignedIn,
			"Get the options for a new passkey", readPasskeyOptions, web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
				Note:                "For navigator.credentials.create() of a browser, within 5 minutes.",
			}),
		web.Action("POST", "/admin/account/passkey", web.SignedIn, "Add a passkey", addPasskey,
			web.Options{
				AllowedBeforeFactor: true,
				Reveals:             true,
				Confirmed:           true,
				MaxBody:             MaxCredential,
				Keys:                web.ByNoKey,
				Note: "From then on, sign-ins with the password ask for a second factor. Returns ten " +
					"recovery codes with the first factor, once.",
			}),
		web.Write("PUT", "/admin/account/passkey/:id", web.SignedIn, "Rename your passkey",
			renamePasskey, web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
				Record:              web.RecordOf(store.Passkeys),
			}),
		web.Get("/admin/account/passkey/:id", web.SignedIn, "Get your passkey", &ownPasskeys,
			web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
			}),
		web.Write("DELETE", "/admin/account/passkey/:id", web.SignedIn, "Remove your passkey",
			removePasskey, web.Options{
				AllowedBeforeFactor: true,
				Confirmed:           true,
				Keys:                web.ByNoKey,
				Record:              web.RecordOf(store.Passkeys),
				Note:                "The recovery codes end with the last factor.",
			}),
		web.DeleteSeveral("/admin/account/passkey", web.SignedIn, "Remove your passkeys",
			removePasskey, web.Options{
				AllowedBeforeFactor: true,
				Confirmed:           true,
				Keys:                web.ByNoKey,
				Note:                "The recovery codes end with the last factor.",
			}),
	}
}

// Limits of a body with the response of a passkey, in bytes. One that signs in has about a
// thousand; that of a new passkey can have the certificates of its maker.
const (
	MaxAssertion  = 8 << 10
	MaxCredential = 64 << 10
)

// Passkey is a passkey in responses.
type Passkey struct {
	store.Ident
	Name     string     `json:"name"`
	Usable   store.Flag `json:"usable" doc:"0 if it is for another host name than that of server.public_url"`
	Synced   store.Flag `json:"synced" doc:"1 if it can be on several devices of the user, 0 if it is on one"`
	LastUsed store.Time `json:"last_used" null:"true" doc:"Time of the last use; null before the first"`
	store.Versioned
}

func PasskeyOf(_ *store.Tx, req *web.Request, p *store.Passkey) (*Passkey, error) {
	return &Passkey{p.Ident, p.Name, store.Flag(req.Server.Auth.IsUsable(p)), p.BackupEligible,
		p.LastUsed, p.Versioned}, nil
}

var ownPasskeys = web.Resource[store.Passkey, *Passkey]{
	Collection: store.Passkeys, Order: "id, ascending", Output: PasskeyOf,
	Columns: []web.Column[store.Passkey]{{Name: "id", Uses: web.Sorted}},
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.ByRealm(req.Actor.App, store.PasskeyByUser, store.PasskeyByAppUser).AnyOf(req.Actor.ID), true
	},
}

type PasskeyOptions struct {
	PublicKey json.RawMessage `json:"public_key" doc:"PublicKeyCredentialRequestOptions as JSON, for PublicKeyCredential.parseRequestOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration"`
}

func readSignInOptions(tx *store.Tx, req *web.Request, _ *web.None) (*PasskeyOptions, error) {
	options, err := req.Auth().SignInOptions(tx, false)
	return &PasskeyOptions{orNull(options)}, err
}

func orNull(options json.RawMessage) json.RawMessage {
	if options == nil {
		return json.RawMessage("null")
	}
	return options
}

// passkeyResponse is the response of a passkey. Browsers may add fields to it.
type passkeyResponse map[string]any

func (c passkeyResponse) text() (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	return json.Marshal(c)
}

// PasskeyLoginIn is a sign-in with a passkey.
type PasskeyLoginIn struct {
	Credential passkeyResponse `json:"credential" check:"required" doc:"Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
	Login      string          `json:"login_token" check:"max=3500" doc:"login_token from the response to the first step, to complete a sign-in with a password; empty to sign in with the passkey alone"`
	Cookie     store.Flag      `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device     string          `json:"device_token" check:"max=64" doc:"Token of an earlier sign-in from this device; of the first step, the same"`
}

func loginPasskey(req *web.Request, in *PasskeyLoginIn) (*LoginOut, error) {
	return loginByPasskey(req, false, in)
}

func loginByPasskey(req *web.Request, app bool, in *PasskeyLoginIn) (*LoginOut, error) {
	text, err := in.Credential.text()
	if err != nil {
		return nil, err
	}
	return CompleteLogin(req, app, in.Cookie, in.Device,
		func(a auth.Attempt) (*auth.Grant, string, error) {
			return req.Auth().LoginPasskey(a, in.Login, text)
		})
}

// CompleteLogin runs a sign-in without a username, or the second step of one.
func CompleteLogin(req *web.Request, app bool, cookie store.Flag, device string,
	login func(auth.Attempt) (*auth.Grant, string, error)) (*LoginOut, error) {
	if cookie {
		if err := req.SameOrigin(); err != nil {
			return nil, err
		}
	}
	return completeLogin(req, app, cookie, device, func(a *auth.Attempt) (*auth.Grant, string, error) {
		return login(*a)
	})
}

func completeLogin(req *web.Request, app bool, cookie store.Flag, device string,
	login func(*auth.Attempt) (*auth.Grant, string, error)) (*LoginOut, error) {
	a := attempt(req, app, "", "")
	a.Device = deviceToken(req, app, device)
	a.Program = byProgram(req, cookie)
	grant, username, err := login(&a)
	if username == "" && a.Provider == "" {
		return nil, err // it is not known whose sign-in it is
	}
	a.Username = username
	return granted(req, a, bool(cookie), grant, err)
}

type newPasskeyOptions struct {
	PublicKey json.RawMessage `json:"public_key" doc:"PublicKeyCredentialCreationOptions as JSON, for PublicKeyCredential.parseCreationOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration"`
}

func readPasskeyOptions(tx *store.Tx, req *web.Request, _ *web.None) (*newPasskeyOptions, error) {
	options, err := req.Auth().PasskeyOptions(tx, req.Session, store.SiteTitle.Get(tx))
	return &newPasskeyOptions{orNull(options)}, err
}

type newPasskeyIn struct {
	Name       string          `json:"name" check:"max=64" doc:"Name by which you recognize it; the browser and the system by default"`
	Credential passkeyResponse `json:"credential" check:"required" doc:"The new passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
}

type NewPasskey struct {
	Passkey
	RecoveryCodesOut
}

func addPasskey(req *web.Request, in *newPasskeyIn) (*NewPasskey, error) {
	text, err := in.Credential.text()
	if err != nil {
		return nil, err
	}
	p, codes, err := req.Auth().AddPasskey(req.Session, in.Name, attempt(req, req.Actor.App, "", ""), text)
	req.Note("factor_added", req.Actor.Username, err)
	if err != nil {
		return nil, err
	}
	out, err := PasskeyOf(nil, req, p)
	return &NewPasskey{*out, RecoveryCodesOut{web.OrEmpty(codes)}}, err
}

type passkeyNameIn struct {
	web.ByID
	Name *string `json:"name" check:"filled,min=1,max=64"`
}

func renamePasskey(tx *store.Tx, req *web.Request, in *passkeyNameIn) (*Passkey, error) {
	if _, err := ownPasskeys.Get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return web.Edit(tx, req, &ownPasskeys, in.ID, func(p *store.Passkey) {
		web.Set(&p.Name, in.Name)
	})
}

func removePasskey(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	err := store.RemovePasskey(tx, req.Actor.Account(), in.ID)
	req.Note("factor_removed", req.Actor.Username, err)
	return web.Nothing{}, err
}
