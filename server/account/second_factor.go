package account

import (
	"reeve/auth"
	"reeve/server/people"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// The second factor of users: a code of an authenticator app, which a sign-in asks for after the
// password.
func FactorRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/admin/login/totp", web.Public, "Complete a sign-in with a code",
			loginCode, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Note: "The second step of a sign-in whose response has login_token: within 5 minutes, at " +
					"most 5 times, from the same address and device. The response is that of a sign-in.",
			}),
		web.Read("/admin/account/totp", web.SignedIn, "Get your own second factor", readFactor,
			web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
			}),
		web.Action("POST", "/admin/account/totp", web.SignedIn, "Set up an authenticator app",
			beginTOTP, web.Options{
				AllowedBeforeFactor: true,
				Reveals:             true,
				Confirmed:           true,
				Keys:                web.ByNoKey,
				Note: "Returns the secret of an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 " +
					"seconds). No sign-in asks for a code before PUT on this path has confirmed one.",
			}),
		web.Action("PUT", "/admin/account/totp", web.SignedIn, "Confirm your authenticator app",
			confirmTOTP, web.Options{
				AllowedBeforeFactor: true,
				Reveals:             true,
				Keys:                web.ByNoKey,
				MaxBody:             web.SmallBody,
				RateLimited:         true,
				Note: "With a code that proves that the app has the secret; from then on, sign-ins ask for " +
					"one. Returns ten recovery codes, once.",
			}),
		web.Action("DELETE", "/admin/account/totp", web.SignedIn, "Remove your authenticator app",
			removeTOTP, web.Options{
				AllowedBeforeFactor: true,
				Confirmed:           true,
				Keys:                web.ByNoKey,
				Note: "Without a passkey, the password is then enough to sign in, and the recovery codes " +
					"end, too.",
			}),
		web.Action("POST", "/admin/account/recovery", web.SignedIn, "Replace your recovery codes",
			renewRecovery, web.Options{
				AllowedBeforeFactor: true,
				Reveals:             true,
				Confirmed:           true,
				Keys:                web.ByNoKey,
				Note:                "Returns ten new codes, once. The former ones end.",
			}),
		people.UserRealm.FactorRoute(),
	}
}

type CodeIn struct {
	Login  string     `json:"login_token" check:"required,max=3500" doc:"login_token from the response to the first step; it is accepted only from the same address and device"`
	Code   string     `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code; each works once"`
	Cookie store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device string     `json:"device_token" check:"max=64" doc:"The same device_token as in the first step, if one was sent there"`
}

func loginCode(req *web.Request, in *CodeIn) (*LoginOut, error) {
	return completeByCode(req, false, in)
}

// completeByCode completes a sign-in to the realm app or admin.
func completeByCode(req *web.Request, app bool, in *CodeIn) (*LoginOut, error) {
	return CompleteLogin(req, app, in.Cookie, in.Device,
		func(a auth.Attempt) (*auth.Grant, string, error) {
			return req.Auth().LoginCode(a, in.Login, in.Code)
		})
}

type SecondFactorOut struct {
	Enabled   store.Flag `json:"enabled" doc:"1 if a sign-in asks for a code"`
	CreatedAt store.Time `json:"created_at" null:"true" doc:"Time at which the authenticator app was set up; null without one"`
	LastUsed  store.Time `json:"last_used" null:"true" doc:"Time at which a code was last used; null without one"`
	Recovery  int        `json:"recovery_codes" doc:"Number of recovery codes that are left"`
}

func readFactor(tx *store.Tx, req *web.Request, _ *web.None) (*SecondFactorOut, error) {
	return FactorOf(tx, store.Account{ID: req.Actor.ID})
}

func FactorOf(tx *store.Tx, who store.Account) (*SecondFactorOut, error) {
	out := &SecondFactorOut{}
	t, err := store.TOTPOf(tx, who)
	if err == nil && bool(t.Confirmed) {
		out.Enabled, out.CreatedAt, out.LastUsed = true, t.CreatedAt, t.LastUsed
	}
	if err != nil && !errs.Is(err, errs.NotFound) {
		return nil, err
	}

	c, err := store.RecoveryCodesOf(tx, who)
	if err == nil {
		out.Recovery = len(c.Hashes)
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}

	return out, err
}

type AuthenticatorAppOut struct {
	Secret string `json:"secret" doc:"Secret for an authenticator app, in base32; it is shown once"`
	URI    string `json:"uri" doc:"Address of the secret for a QR code: otpauth://totp/…"`
}

// beginTOTP makes a secret, which is not used before a code has confirmed it.
func beginTOTP(req *web.Request, _ *web.None) (*AuthenticatorAppOut, error) {
	issuer := ""
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		issuer = store.SiteTitle.Get(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	made, err := req.Auth().BeginTOTP(req.Session, issuer)
	if err != nil {
		return nil, err
	}
	return &AuthenticatorAppOut{made.Secret, made.URI}, nil
}

type OwnCode struct {
	Code string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app"`
}

type RecoveryCodesOut struct {
	Codes []string `json:"recovery_codes" doc:"Recovery codes, each of which replaces the second factor once; they are shown once. Empty if there are some already"`
}

func confirmTOTP(req *web.Request, in *OwnCode) (*RecoveryCodesOut, error) {
	codes, err := req.Auth().ConfirmTOTP(req.Session, req.Addr, in.Code)
	req.Note("factor_added", req.Actor.Username, err)
	return &RecoveryCodesOut{web.OrEmpty(codes)}, err
}

func removeTOTP(req *web.Request, _ *web.None) (web.Nothing, error) {
	err := req.Auth().RemoveTOTP(req.Session)
	req.Note("factor_removed", req.Actor.Username, err)
	return web.Nothing{}, err
}

func renewRecovery(req *web.Request, _ *web.None) (*RecoveryCodesOut, error) {
	codes, err := req.Auth().RenewRecovery(req.Session)
	return &RecoveryCodesOut{web.OrEmpty(codes)}, err
}
