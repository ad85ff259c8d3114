package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// The second factor of app users, which the setting app.second_factor lets them set up. They have no time of a last
// confirmation: setting it up takes the password, and each change of it afterwards a code. Changing the password or the
// e-mail address and deleting the account take the password alone, also with a factor.
var appFactorRoutes = []Route{
	small(rateLimited(action("POST", "/api/login/totp", public, "Complete a sign-in with a code as an app user", appLoginCode))),
	read("/api/user/totp", appOnly, "Get your own second factor as an app user", readAppFactor),
	closable(reveals(small(rateLimited(action("POST", "/api/user/totp", appOnly, "Set up an authenticator app as an app user", beginAppTOTP))))),
	closable(reveals(small(rateLimited(action("PUT", "/api/user/totp", appOnly, "Confirm your authenticator app as an app user", confirmAppTOTP))))),
	small(rateLimited(action("DELETE", "/api/user/totp", appOnly, "Remove your authenticator app as an app user", removeAppTOTP))),
	reveals(small(rateLimited(action("POST", "/api/user/recovery", appOnly, "Replace your recovery codes as an app user", renewAppRecovery)))),
}

func appLoginCode(req *Request, in *codeIn) (*loginOut, error) { return completeByCode(req, true, in) }

type appFactorOut struct {
	secondFactorOut
	Allowed store.Flag `json:"allowed" doc:"1 if app users may set up an authenticator app: the setting app.second_factor"`
}

func readAppFactor(tx *store.Tx, req *Request, _ *none) (*appFactorOut, error) {
	own, err := factorOf(tx, store.Account{App: true, ID: req.Actor.ID})
	if err != nil {
		return nil, err
	}
	return &appFactorOut{*own, store.Flag(store.AppSecondFactor.Get(tx))}, nil
}

// mayAddFactor returns an error unless app users may set up a second factor. Those who have one keep it.
func mayAddFactor(tx *store.Tx) error {
	if !store.AppSecondFactor.Get(tx) {
		return errs.New(errs.Denied, "authenticator apps are not in use here; ask the administrator").Coded("second_factor_off")
	}
	return nil
}

func beginAppTOTP(req *Request, in *ownPassword) (*authenticatorAppOut, error) {
	if err := req.db.View(req.Actor, mayAddFactor); err != nil {
		return nil, err
	}
	if err := req.auth().Confirm(req.Session, req.Addr, in.Password); err != nil {
		return nil, err
	}
	return beginTOTP(req, nil)
}

func confirmAppTOTP(req *Request, in *ownCode) (*recoveryCodesOut, error) {
	if err := req.db.View(req.Actor, mayAddFactor); err != nil {
		return nil, err
	}
	return confirmTOTP(req, in)
}

type ownProof struct {
	Code string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code"`
}

func removeAppTOTP(req *Request, in *ownProof) (nothing, error) {
	err := req.auth().RemoveTOTPByCode(req.Session, req.Addr, in.Code)
	req.note("factor_removed", req.Actor.Username, err)
	return nothing{}, err
}

func renewAppRecovery(req *Request, in *ownProof) (*recoveryCodesOut, error) {
	codes, err := req.auth().RenewRecoveryByCode(req.Session, req.Addr, in.Code)
	return &recoveryCodesOut{orEmpty(codes)}, err
}
