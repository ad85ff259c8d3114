package server

import (
	"encoding/json"

	"reeve/auth"
	"reeve/store"
)

// Operations that would harm most if somebody else used the session require that its user has confirmed who it is
// within the last minutes: see confirmed, and store.RequireProof for those that depend on what changes.
var reauthRoutes = []Route{
	enrolling(bySession(read("/admin/reauth", signedIn, "Get how to confirm your identity", readReauth))),
	enrolling(reveals(bySession(limited(maxAssertion, rateLimited(action("POST", "/admin/reauth", signedIn, "Confirm your identity", reauth)))))),
}

// confirmed requires a recent proof, see store.Proof. API keys can't give one: they need a permission of their own, or
// can't use the route.
func confirmed(rt Route) Route {
	rt.confirmed = true
	if rt.keyAccess == "" {
		rt.keys = byNoKey
	}
	return rt
}

// proving declares that the store requires a recent proof for what the route usually does, though not
// for every input.
func proving(rt Route) Route {
	rt.proves = true
	return rt
}

type reauthOut struct {
	Method    string          `json:"method" enum:"proof_method" doc:"Field that POST requires: that of your strongest factor"`
	Until     store.Time      `json:"until" doc:"Time until which no confirmation is required; it may have passed"`
	PublicKey json.RawMessage `json:"public_key" doc:"For method passkey: PublicKeyCredentialRequestOptions as JSON, to ask a browser for it; null otherwise"`
}

func readReauth(tx *store.Tx, req *Request, _ *none) (*reauthOut, error) {
	method, options, err := req.auth().ProofMethod(tx, req.Session)
	return &reauthOut{method, req.Actor.Proof.Until(tx), orNull(options)}, err
}

type reauthIn struct {
	Password *string         `json:"password" check:"raw,max=1024" doc:"Password, unless you have a second factor"`
	Code     *string         `json:"otp" check:"max=40,text" doc:"Code of the authenticator app, or a recovery code"`
	Passkey  passkeyResponse `json:"passkey" doc:"Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
}

type reauthDone struct {
	Until store.Time `json:"until" doc:"Time until which no confirmation is required"`
	Token string     `json:"token" doc:"New token of the session; the present one is accepted for one more minute. Empty if it is in a cookie, or if the token has not changed, because the disk is full"`
}

func reauth(req *Request, in *reauthIn) (*reauthDone, error) {
	text, err := in.Passkey.text()
	if err != nil {
		return nil, err
	}
	until, token, err := req.auth().Prove(req.Session, req.Addr, auth.Confirmation{Password: in.Password, Code: in.Code, Passkey: text})
	req.note("confirmed", req.Actor.Username, err)
	if err == nil && token != "" && !req.sendsToken() {
		req.setSession(false, token, req.Session.ExpiresAt)
		token = ""
	}
	return &reauthDone{until, token}, err
}
