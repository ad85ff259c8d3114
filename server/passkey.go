package server

import (
	"encoding/json"

	"reeve/auth"
	"reeve/store"
)

// Passkeys of users (WebAuthn): a sign-in with one replaces username, password and code, or only the code.
var passkeyRoutes = []Route{
	read("/admin/login/passkey", public, "Get the options to sign in with a passkey", readSignInOptions),
	limited(maxAssertion, rateLimited(action("POST", "/admin/login/passkey", public, "Sign in with a passkey", loginPasskey))),
	enrolling(bySession(diskList("/admin/account/passkey", signedIn, "List your passkeys", &ownPasskeys))),
	enrolling(bySession(read("/admin/account/passkey-options", signedIn, "Get the options for a new passkey", readPasskeyOptions))),
	enrolling(reveals(confirmed(limited(maxCredential, bySession(action("POST", "/admin/account/passkey", signedIn, "Add a passkey", addPasskey)))))),
	enrolling(bySession(onRecord(store.Passkeys, write("PUT", "/admin/account/passkey/:id", signedIn, "Rename your passkey", renamePasskey)))),
	enrolling(bySession(get("/admin/account/passkey/:id", signedIn, "Get your passkey", &ownPasskeys))),
	enrolling(confirmed(bySession(onRecord(store.Passkeys, write("DELETE", "/admin/account/passkey/:id", signedIn, "Remove your passkey", removePasskey))))),
	enrolling(confirmed(bySession(deleteSeveral("/admin/account/passkey", signedIn, "Remove your passkeys", removePasskey)))),
}

// Limits of a body with the response of a passkey, in bytes. One that signs in has about a thousand; that of a new passkey
// can have the certificates of its maker.
const (
	maxAssertion  = 8 << 10
	maxCredential = 64 << 10
)

// passkey is a passkey in responses.
type passkey struct {
	store.Ident
	Name     string     `json:"name"`
	Usable   store.Flag `json:"usable" doc:"0 if it is for another host name than that of server.public_url"`
	Synced   store.Flag `json:"synced" doc:"1 if it can be on several devices of the user, 0 if it is on one"`
	LastUsed store.Time `json:"last_used" null:"true" doc:"Time of the last use; null before the first"`
	store.Versioned
}

func passkeyOf(_ *store.Tx, req *Request, p *store.Passkey) (*passkey, error) {
	return &passkey{p.Ident, p.Name, store.Flag(req.s.auth.IsUsable(p)), p.BackupEligible, p.LastUsed, p.Versioned}, nil
}

var ownPasskeys = Resource[store.Passkey, *passkey]{
	of: store.Passkeys, order: "id, ascending", out: passkeyOf,
	columns: []diskColumn[store.Passkey]{{name: "id", uses: sorted}},
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.PasskeyByUser.AnyOf(req.Actor.ID), true
	},
}

type passkeyOptions struct {
	PublicKey json.RawMessage `json:"public_key" doc:"PublicKeyCredentialRequestOptions as JSON, for PublicKeyCredential.parseRequestOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration"`
}

func readSignInOptions(_ *store.Tx, req *Request, _ *none) (*passkeyOptions, error) {
	options, err := req.auth().SignInOptions()
	return &passkeyOptions{orNull(options)}, err
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

type passkeyLoginIn struct {
	Credential passkeyResponse `json:"credential" check:"required" doc:"Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
	Login      string          `json:"login_token" check:"max=100" doc:"login_token from the response to the first step, to complete a sign-in with a password; empty to sign in with the passkey alone"`
	Cookie     store.Flag      `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device     string          `json:"device_token" check:"max=64" doc:"Token of an earlier sign-in from this device; of the first step, the same"`
}

func loginPasskey(req *Request, in *passkeyLoginIn) (*loginOut, error) {
	text, err := in.Credential.text()
	if err != nil {
		return nil, err
	}
	return req.completeLogin(false, in.Cookie, in.Device, func(a auth.Attempt) (*auth.Grant, string, error) {
		return req.auth().LoginPasskey(a, in.Login, text)
	})
}

// completeLogin runs a sign-in without a username, or the second step of one.
func (req *Request) completeLogin(app bool, cookie store.Flag, device string, login func(auth.Attempt) (*auth.Grant, string, error)) (*loginOut, error) {
	if cookie {
		if err := req.sameOrigin(); err != nil {
			return nil, err
		}
	}
	a := attempt(req, app, "", "")
	a.Device = req.deviceToken(app, device)
	a.Program = req.byProgram(cookie)
	grant, username, err := login(a)
	if username == "" {
		return nil, err // it is not known whose sign-in it is
	}
	a.Username = username
	return req.granted(a, bool(cookie), grant, err)
}

type newPasskeyOptions struct {
	PublicKey json.RawMessage `json:"public_key" doc:"PublicKeyCredentialCreationOptions as JSON, for PublicKeyCredential.parseCreationOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration"`
}

func readPasskeyOptions(tx *store.Tx, req *Request, _ *none) (*newPasskeyOptions, error) {
	options, err := req.auth().PasskeyOptions(tx, req.Session, store.SiteTitle.Get(tx))
	return &newPasskeyOptions{orNull(options)}, err
}

type newPasskeyIn struct {
	Name       string          `json:"name" check:"max=64" doc:"Name by which you recognize it; the browser and the system by default"`
	Credential passkeyResponse `json:"credential" check:"required" doc:"The new passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
}

type newPasskey struct {
	passkey
	recoveryCodesOut
}

func addPasskey(req *Request, in *newPasskeyIn) (*newPasskey, error) {
	text, err := in.Credential.text()
	if err != nil {
		return nil, err
	}
	p, codes, err := req.auth().AddPasskey(req.Session, in.Name, attempt(req, false, "", ""), text)
	req.note("factor_added", req.Actor.Username, err)
	if err != nil {
		return nil, err
	}
	out, err := passkeyOf(nil, req, p)
	return &newPasskey{*out, recoveryCodesOut{orEmpty(codes)}}, err
}

type passkeyNameIn struct {
	byID
	Name *string `json:"name" check:"filled,min=1,max=64"`
}

func renamePasskey(tx *store.Tx, req *Request, in *passkeyNameIn) (*passkey, error) {
	if _, err := ownPasskeys.get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return edit(tx, req, &ownPasskeys, in.ID, func(p *store.Passkey) { set(&p.Name, in.Name) })
}

func removePasskey(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	err := store.RemovePasskey(tx, req.Actor.ID, in.ID)
	req.note("factor_removed", req.Actor.Username, err)
	return nothing{}, err
}
