package account

import (
	"reeve/auth"
	"reeve/server/mails"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Sign-in of app users with a code by mail, instead of a password.
func CodeSignInRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/api/login/email", web.Public, "Request a code to sign in as an app user",
			RequestCode, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				Reveals:     true,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "Mails a code of eight digits to the verified address of the app user, valid for 10 " +
					"minutes, if the setting app.code_sign_in is on. The response is the same, after the same " +
					"time, whether or not there is such a user. At most five codes per user and hour.",
			}),
		web.Action("POST", "/api/login/email-code", web.Public,
			"Sign in with a code by email as an app user", LoginByCode, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Note: "With the login_token of POST /api/login/email and the code that was mailed, within 10 " +
					"minutes, at most 5 times, from the same address and device. The response is that of a " +
					"sign-in. Wrong codes count like wrong passwords.",
			}),
	}
}

type CodeRequestIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
	Device   string `json:"device_token" check:"max=64" doc:"device_token from an earlier sign-in on this device; the same is to be sent with the code"`
}

type CodeRequestOut struct {
	Login     string     `json:"login_token" doc:"Token to send with the code"`
	ExpiresAt store.Time `json:"expires_at" doc:"End of the validity of the code"`
}

func RequestCode(req *web.Request, in *CodeRequestIn) (*CodeRequestOut, error) {
	a := attempt(req, true, in.Username, "")
	a.Device = deviceToken(req, true, in.Device)
	return requestCode(req, a)
}

// requestCode has a code mailed to the app user whom an attempt names, if the settings allow it.
func requestCode(req *web.Request, a auth.Attempt) (*CodeRequestOut, error) {
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if !store.AppCodeSignIn.Get(tx) {
			return store.ErrNoCodeSignIn
		}
		if !mails.MailOff(req.Server, tx).Empty() {
			return errs.New(errs.Denied, "this server does not send mail; sign in in another way").Coded("mail_off")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	token, expires, err := req.Auth().RequestCode(a)
	if err != nil {
		return nil, err
	}
	return &CodeRequestOut{token, expires}, nil
}

type MailCodeIn struct {
	Login  string     `json:"login_token" check:"required,max=3500" doc:"login_token from the response to the request; it is accepted only from the same address and device"`
	Code   string     `json:"otp" check:"required,max=40,text" doc:"Code from the mail; it works once"`
	Cookie store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device string     `json:"device_token" check:"max=64" doc:"The same device_token as in the request, if one was sent there"`
}

func LoginByCode(req *web.Request, in *MailCodeIn) (*LoginOut, error) {
	return CompleteLogin(req, true, in.Cookie, in.Device,
		func(a auth.Attempt) (*auth.Grant, string, error) {
			return req.Auth().LoginMailed(a, in.Login, in.Code)
		})
}
