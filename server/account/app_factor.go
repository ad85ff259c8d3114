package account

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// The second factor of app users, which the setting app.second_factor lets them set up. They have
// no time of a last confirmation: setting it up takes the password, and each change of it
// afterwards a code. Changing the password or the e-mail address and deleting the account take the
// password alone, also with a factor.
func AppFactorRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/api/login/totp", web.Public,
			"Complete a sign-in with a code as an app user", AppLoginCode, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Note: "The second step of a sign-in whose response has login_token: within 5 minutes, at " +
					"most 5 times, from the same address and device. The response is that of a sign-in.",
			}),
		web.Read("/api/user/totp", web.AppOnly, "Get your own second factor as an app user",
			readAppFactor, web.Options{
				Note: "Also whether one may be set up: the setting app.second_factor.",
			}),
		web.Action("POST", "/api/user/totp", web.AppOnly,
			"Set up an authenticator app as an app user", BeginAppTOTP, web.Options{
				Closable:    true,
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "Requires the password, and the setting app.second_factor. Returns the secret of an " +
					"authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). No sign-in asks " +
					"for a code before PUT on this path has confirmed one.",
			}),
		web.Action("PUT", "/api/user/totp", web.AppOnly,
			"Confirm your authenticator app as an app user", ConfirmAppTOTP, web.Options{
				Closable:    true,
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "With a code that proves that the app has the secret; from then on, sign-ins ask for " +
					"one. Returns ten recovery codes, once.",
			}),
		web.Action("DELETE", "/api/user/totp", web.AppOnly,
			"Remove your authenticator app as an app user", RemoveAppTOTP, web.Options{
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "Requires a code of the app, or a recovery code. The password is then enough to sign " +
					"in, and the recovery codes end.",
			}),
		web.Action("POST", "/api/user/recovery", web.AppOnly,
			"Replace your recovery codes as an app user", RenewAppRecovery, web.Options{
				Reveals:     true,
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "Requires a code of the app, or a recovery code. Returns ten new recovery codes, " +
					"once. The former ones end.",
			}),
	}
}

func AppLoginCode(req *web.Request, in *CodeIn) (*LoginOut, error) {
	return completeByCode(req, true, in)
}

type appFactorOut struct {
	SecondFactorOut
	Allowed store.Flag `json:"allowed" doc:"1 if app users may set up an authenticator app: the setting app.second_factor"`
}

func readAppFactor(tx *store.Tx, req *web.Request, _ *web.None) (*appFactorOut, error) {
	own, err := FactorOf(tx, store.Account{App: true, ID: req.Actor.ID})
	if err != nil {
		return nil, err
	}
	return &appFactorOut{*own, store.Flag(store.AppSecondFactor.Get(tx))}, nil
}

// MayAddFactor returns an error unless app users may set up a second factor. Those who have one
// keep it.
func MayAddFactor(tx *store.Tx) error {
	if !store.AppSecondFactor.Get(tx) {
		return errs.New(errs.Denied,
			"authenticator apps are not in use here; ask the administrator").Coded("second_factor_off")
	}
	return nil
}

func BeginAppTOTP(req *web.Request, in *OwnPassword) (*AuthenticatorAppOut, error) {
	if err := req.DB.View(req.Actor, MayAddFactor); err != nil {
		return nil, err
	}
	if err := req.Auth().ConfirmOwner(req.Session, req.Addr, in.Password); err != nil {
		return nil, err
	}
	return beginTOTP(req, nil)
}

func ConfirmAppTOTP(req *web.Request, in *OwnCode) (*RecoveryCodesOut, error) {
	if err := req.DB.View(req.Actor, MayAddFactor); err != nil {
		return nil, err
	}
	return confirmTOTP(req, in)
}

type OwnProof struct {
	Code string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code"`
}

func RemoveAppTOTP(req *web.Request, in *OwnProof) (web.Nothing, error) {
	err := req.Auth().RemoveTOTPByCode(req.Session, req.Addr, in.Code)
	req.Note("factor_removed", req.Actor.Username, err)
	return web.Nothing{}, err
}

func RenewAppRecovery(req *web.Request, in *OwnProof) (*RecoveryCodesOut, error) {
	codes, err := req.Auth().RenewRecoveryByCode(req.Session, req.Addr, in.Code)
	return &RecoveryCodesOut{web.OrEmpty(codes)}, err
}
