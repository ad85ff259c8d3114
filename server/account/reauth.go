package account

import (
	"encoding/json"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
)

func init() {
	web.Enums(map[string][]string{
		"proof_method": {auth.ByPassword, auth.ByCode, auth.ByPasskey},
	})
}

// Operations that would be most harmful in a stolen session require a recent confirmation of the
// user's identity: see confirmed, and store.RequireProof for those that depend on the change.
func ReauthRoutes() []web.Route {
	return []web.Route{
		web.Read("/admin/reauth", web.SignedIn, "Get how to confirm your identity", readReauth,
			web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
				Note:                "The field that POST requires, and until when nothing has to be confirmed.",
			}),
		web.Action("POST", "/admin/reauth", web.SignedIn, "Confirm your identity", reauth,
			web.Options{
				AllowedBeforeFactor: true,
				Reveals:             true,
				Keys:                web.ByNoKey,
				MaxBody:             MaxAssertion,
				RateLimited:         true,
				Note: "With the strongest factor: a passkey, a code, or the password without a second " +
					"factor. For the next minutes (security.reauth_minutes) the session can use " +
					"sensitive operations, which answer 403 reauth_required otherwise.",
			}),
	}
}

type ReauthOut struct {
	Method    string          `json:"method" enum:"proof_method" doc:"Field that POST requires: that of your strongest factor"`
	Until     store.Time      `json:"until" doc:"Time until which no confirmation is required; it may have passed"`
	PublicKey json.RawMessage `json:"public_key" doc:"For method passkey: PublicKeyCredentialRequestOptions as JSON, to ask a browser for it; null otherwise"`
}

func readReauth(tx *store.Tx, req *web.Request, _ *web.None) (*ReauthOut, error) {
	method, options, err := req.Auth().ProofMethod(tx, req.Session)
	return &ReauthOut{method, req.Actor.Proof.Until(tx), orNull(options)}, err
}

type reauthIn struct {
	Password *string         `json:"password" check:"raw,max=1024" doc:"Password, unless you have a second factor"`
	Code     *string         `json:"otp" check:"max=40,text" doc:"Code of the authenticator app, or a recovery code"`
	Passkey  passkeyResponse `json:"passkey" doc:"Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it"`
}

type ReauthDone struct {
	Until store.Time `json:"until" doc:"Time until which no confirmation is required"`
	Token string     `json:"token" doc:"New token of the session; the present one is accepted for one more minute. Empty if it is in a cookie, or if the token has not changed, because the disk is full"`
}

func reauth(req *web.Request, in *reauthIn) (*ReauthDone, error) {
	text, err := in.Passkey.text()
	if err != nil {
		return nil, err
	}

	until, token, err := req.Auth().Prove(req.Session, req.Addr, auth.Confirmation{
		Password: in.Password,
		Code:     in.Code,
		Passkey:  text,
	})
	req.Note("confirmed", req.Actor.Username, err)
	if err == nil && token != "" && !req.SendsToken() {
		req.SetSession(false, token, req.Session.ExpiresAt)
		token = ""
	}

	return &ReauthDone{until, token}, err
}
