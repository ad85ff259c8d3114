package account

import (
	"encoding/json"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func init() {
	web.Enums(map[string][]string{
		"proof_method": {auth.ByPassword, auth.ByCode, auth.ByPasskey, auth.ByProvider, auth.BySignIn},
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
					"factor. Those who have none of them sign in again at their provider, see POST " +
					"/admin/reauth/provider/:name. For the next minutes (security.reauth_minutes) the session can use " +
					"sensitive operations, which answer 403 reauth_required otherwise.",
			}),
	}
}

type ReauthOut struct {
	Method    string          `json:"method" enum:"proof_method" doc:"Field that POST requires: that of your strongest factor. sign_in: there is none, and only signing in again confirms it"`
	Until     store.Time      `json:"until" doc:"Time until which no confirmation is required; it may have passed"`
	PublicKey json.RawMessage `json:"public_key" doc:"For method passkey: PublicKeyCredentialRequestOptions as JSON, to ask a browser for it; null otherwise"`
	Provider  string          `json:"provider" doc:"For method provider: its name; empty otherwise"`
	Title     string          `json:"provider_name" doc:"For method provider: its title; empty otherwise"`
}

func readReauth(tx *store.Tx, req *web.Request, _ *web.None) (*ReauthOut, error) {
	method, options, err := req.Auth().ProofMethod(tx, req.Session)
	if err != nil {
		return nil, err
	}
	out := &ReauthOut{Method: method, Until: req.Actor.Proof.Until(tx), PublicKey: orNull(options)}
	if method == auth.ByProvider {
		p, err := store.ConfirmingProvider(tx, req.Actor.Account(), req.SessionID())
		if err != nil {
			return nil, err
		}
		out.Provider, out.Title = p.Name, p.Title
	}
	return out, nil
}

type reauthIn struct {
	Password *string         `json:"password" check:"raw,max=1024" doc:"Password, unless you have a second factor"`
	Code     *string         `json:"otp" check:"max=40,text" doc:"Code of the authenticator app, or a recovery code"`
	Provider store.Flag      `json:"provider" doc:"1 for a browser that has come back from the provider with POST /admin/reauth/provider/:name"`
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

	confirmation := auth.Confirmation{Password: in.Password, Code: in.Code, Passkey: text}
	cookie := ""
	if in.Provider {
		if confirmation.Arrival, cookie = req.KeptForProvider(ArrivalCookie); confirmation.Arrival == "" {
			return nil, errs.Field(errs.Invalid, "provider", "the browser has not come back from the provider").Coded("provider_not_back")
		}
	}
	until, token, err := req.Auth().Prove(req.Session, req.Addr, confirmation)
	if err == nil && cookie != "" {
		req.DropCookie(cookie)
	}
	req.Note("confirmed", req.Actor.Username, err)
	if err == nil && token != "" && !req.SendsToken() {
		req.SetSession(false, token, req.Session.ExpiresAt)
		token = ""
	}

	return &ReauthDone{until, token}, err
}
