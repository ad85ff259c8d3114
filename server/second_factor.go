package server

import (
	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// The second factor of users: a code of an authenticator app, which a sign-in asks for after the password.
var factorRoutes = []Route{
	small(rateLimited(action("POST", "/admin/login/totp", public, "Complete a sign-in with a code", loginCode))),
	enrolling(bySession(read("/admin/account/totp", signedIn, "Get your own second factor", readFactor))),
	enrolling(reveals(confirmed(bySession(action("POST", "/admin/account/totp", signedIn, "Set up an authenticator app", beginTOTP))))),
	enrolling(reveals(bySession(small(rateLimited(action("PUT", "/admin/account/totp", signedIn, "Confirm your authenticator app", confirmTOTP)))))),
	enrolling(confirmed(bySession(action("DELETE", "/admin/account/totp", signedIn, "Remove your authenticator app", removeTOTP)))),
	enrolling(reveals(confirmed(bySession(action("POST", "/admin/account/recovery", signedIn, "Replace your recovery codes", renewRecovery))))),
	confirmed(bySession(onRecord(store.Users, write("DELETE", "/admin/list/:id/factor", "admin.list.factor", "Remove a user's second factor", removeFactor)))),
}

// enrolling lets a route be used while a second factor must be set up.
func enrolling(rt Route) Route {
	rt.enrols = true
	return rt
}

type codeIn struct {
	Login  string     `json:"login_token" check:"required,max=100" doc:"login_token from the response to the first step; it is accepted only from the same address and device"`
	Code   string     `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app, or a recovery code; each works once"`
	Cookie store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device string     `json:"device_token" check:"max=64" doc:"The same device_token as in the first step, if one was sent there"`
}

func loginCode(req *Request, in *codeIn) (*loginOut, error) { return completeByCode(req, false, in) }

// completeByCode completes a sign-in to the realm app or admin.
func completeByCode(req *Request, app bool, in *codeIn) (*loginOut, error) {
	return req.completeLogin(app, in.Cookie, in.Device, func(a auth.Attempt) (*auth.Grant, string, error) {
		return req.auth().LoginCode(a, in.Login, in.Code)
	})
}

type secondFactorOut struct {
	Enabled   store.Flag `json:"enabled" doc:"1 if a sign-in asks for a code"`
	CreatedAt store.Time `json:"created_at" null:"true" doc:"Time at which the authenticator app was set up; null without one"`
	LastUsed  store.Time `json:"last_used" null:"true" doc:"Time at which a code was last used; null without one"`
	Recovery  int        `json:"recovery_codes" doc:"Number of recovery codes that are left"`
}

func readFactor(tx *store.Tx, req *Request, _ *none) (*secondFactorOut, error) {
	return factorOf(tx, store.Account{ID: req.Actor.ID})
}

func factorOf(tx *store.Tx, who store.Account) (*secondFactorOut, error) {
	out := &secondFactorOut{}
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

type authenticatorAppOut struct {
	Secret string `json:"secret" doc:"Secret for an authenticator app, in base32; it is shown once"`
	URI    string `json:"uri" doc:"Address of the secret for a QR code: otpauth://totp/…"`
}

// beginTOTP makes a secret, which is not used before a code has confirmed it.
func beginTOTP(req *Request, _ *none) (*authenticatorAppOut, error) {
	issuer := ""
	err := req.db.View(req.Actor, func(tx *store.Tx) error {
		issuer = store.SiteTitle.Get(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	made, err := req.auth().BeginTOTP(req.Session, issuer)
	if err != nil {
		return nil, err
	}
	return &authenticatorAppOut{made.Secret, made.URI}, nil
}

type ownCode struct {
	Code string `json:"otp" check:"required,max=40,text" doc:"Code of the authenticator app"`
}

type recoveryCodesOut struct {
	Codes []string `json:"recovery_codes" doc:"Recovery codes, each of which replaces the second factor once; they are shown once. Empty if there are some already"`
}

func confirmTOTP(req *Request, in *ownCode) (*recoveryCodesOut, error) {
	codes, err := req.auth().ConfirmTOTP(req.Session, req.Addr, in.Code)
	req.note("factor_added", req.Actor.Username, err)
	return &recoveryCodesOut{orEmpty(codes)}, err
}

func removeTOTP(req *Request, _ *none) (nothing, error) {
	err := req.auth().RemoveTOTP(req.Session)
	req.note("factor_removed", req.Actor.Username, err)
	return nothing{}, err
}

func renewRecovery(req *Request, _ *none) (*recoveryCodesOut, error) {
	codes, err := req.auth().RenewRecovery(req.Session)
	return &recoveryCodesOut{orEmpty(codes)}, err
}

// removeFactor lets a user who has lost the second factor sign in with the password alone.
func removeFactor(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	u, err := users.get(tx, req, in.ID)
	if err != nil {
		return nothing{}, err
	}
	return nothing{}, req.removeFactors(tx, store.Account{ID: in.ID}, u.Username)
}

func removeAppFactor(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	u, err := appUsers.get(tx, req, in.ID)
	if err != nil {
		return nothing{}, err
	}
	return nothing{}, req.removeFactors(tx, store.Account{App: true, ID: in.ID}, u.Username)
}

func (req *Request) removeFactors(tx *store.Tx, who store.Account, username string) error {
	had, err := store.RemoveFactors(tx, who)
	if err == nil && !had {
		err = errs.New(errs.NotFound, "%s has no second factor", username)
	}
	req.note("factor_removed", username, err)
	return err
}
