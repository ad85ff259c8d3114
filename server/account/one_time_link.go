package account

import (
	"slices"

	"reeve/auth"
	"reeve/server/mails"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// One-time links let people do something without signing in: set a password, or confirm an e-mail
// address. The link opens a page of this server (server/pages/link.go); programs with pages of
// their own use these operations instead.
func LinkRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/admin/password/forgot", web.Public, "Request a password reset",
			forgotPassword, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "Mails a link with which the user sets a new password, valid for an hour. The " +
					"response is the same, after the same time, whether or not there is such a user. At " +
					"most three mails per user and hour.",
			}),
		web.Action("POST", "/admin/password/link", web.Public, "Set a password with a link",
			usePasswordLink, web.Options{
				MaxBody:      web.SmallBody,
				Closable:     true,
				MayBeMissing: true,
				RateLimited:  true,
				Note: "Accepts an invitation, or sets a forgotten password. The link works once; all " +
					"sessions end. For programs that have a page of their own for it.",
			}),
		web.Action("POST", "/admin/verify", web.Public, "Confirm an email address", useEmailLink,
			web.Options{
				MaxBody:      web.SmallBody,
				MayBeMissing: true,
				RateLimited:  true,
				Note:         "Confirms the address to which the link was sent. The link works once.",
			}),
		web.Action("POST", "/admin/email", web.SignedIn, "Verify your own email address",
			verifyUserEmail, web.Options{
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Keys:        web.ByNoKey,
				Note: "Mails a link that confirms your address, or a new one, which then replaces the " +
					"present one. At most three mails an hour.",
			}),
		web.Action("POST", "/api/password/forgot", web.Public, "Request an app password reset",
			ForgotAppPassword, web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "Mails a link with which the app user sets a new password, valid for an hour. The " +
					"response is the same, after the same time, whether or not there is such a user. At " +
					"most three mails per user and hour.",
			}),
		web.Action("POST", "/api/password/link", web.Public, "Set an app password with a link",
			useAppPasswordLink, web.Options{
				MaxBody:      web.SmallBody,
				Closable:     true,
				MayBeMissing: true,
				RateLimited:  true,
				Note: "Accepts an invitation, or sets a forgotten password. The link works once; all " +
					"sessions end. For programs that have a page of their own for it.",
			}),
		web.Action("POST", "/api/verify", web.Public, "Confirm an app user's email",
			useAppEmailLink, web.Options{
				MaxBody:      web.SmallBody,
				MayBeMissing: true,
				RateLimited:  true,
				Note:         "Confirms the address to which the link was sent. The link works once.",
			}),
		web.Action("POST", "/api/user/email", web.AppOnly, "Verify your own app email",
			VerifyAppEmail, web.Options{
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Note: "Mails a link that confirms your address, or a new one, which then replaces the " +
					"present one. At most three mails an hour.",
			}),
	}
}

type ForgotIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username or e-mail address"`
}

// forgotPassword queues the mail with a password reset link. The response is the same whether or
// not there is such a user.
func forgotPassword(req *web.Request, in *ForgotIn) (web.Nothing, error) {
	return forgot(req, false, in.Username)
}

func ForgotAppPassword(req *web.Request, in *ForgotIn) (web.Nothing, error) {
	return forgot(req, true, in.Username)
}

func forgot(req *web.Request, app bool, login string) (web.Nothing, error) {
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if !mails.MailOff(req.Server, tx).Empty() {
			return errs.New(errs.Denied,
				"this server does not send mail; ask your administrator for a new password").Coded("mail_off")
		}
		return nil
	})
	if err == nil {
		err = req.Auth().Forgot(app, login, mails.MailLanguage(req), req.Addr, req.Counted)
	}
	return web.Nothing{}, err
}

type passwordLinkIn struct {
	Token    string `json:"token" check:"required,max=100" doc:"Token of the link: what follows /link/ in its URL"`
	Password string `json:"password" check:"required,raw,min=8,max=1024" doc:"New password; any characters are allowed"`
}

type LinkUsed struct {
	Username string `json:"username" doc:"Username of the person whom the link was for"`
}

// usePasswordLink accepts an invitation, or sets the password that a user has forgotten.
func usePasswordLink(req *web.Request, in *passwordLinkIn) (*LinkUsed, error) {
	return UseLink(req, in.Token, &in.Password, "password",
		accepting(false, store.Invitation, store.PasswordReset))
}

func useAppPasswordLink(req *web.Request, in *passwordLinkIn) (*LinkUsed, error) {
	return UseLink(req, in.Token, &in.Password, "password",
		accepting(true, store.Invitation, store.PasswordReset))
}

type emailLinkIn struct {
	Token string `json:"token" check:"required,max=100" doc:"Token of the link: what follows /link/ in its URL"`
}

func useEmailLink(req *web.Request, in *emailLinkIn) (*LinkUsed, error) {
	return UseLink(req, in.Token, nil, "",
		accepting(false, store.EmailVerification, store.EmailChange))
}

func useAppEmailLink(req *web.Request, in *emailLinkIn) (*LinkUsed, error) {
	return UseLink(req, in.Token, nil, "",
		accepting(true, store.EmailVerification, store.EmailChange, store.Registration))
}

// accepting returns a function that accepts links of a realm for some purposes.
func accepting(app bool, purposes ...string) func(*store.Link) bool {
	return func(l *store.Link) bool {
		return l.Account().App == app && slices.Contains(purposes, l.Purpose)
	}
}

// UseLink uses a link. accept is nil for any.
func UseLink(req *web.Request, token string, password *string, field string,
	accept func(*store.Link) bool) (*LinkUsed, error) {
	l, err := req.Auth().UseLink(auth.LinkUse{
		Token:    token,
		Password: password,
		Field:    field,
		Addr:     req.Addr,
		Observe:  req.Counted,
		Hashing:  &req.Observed.Hashing,
		Accept:   accept,
		User:     func(who store.Account) { req.Origin.User = who },
	})
	if err != nil {
		return nil, err
	}

	out := &LinkUsed{}
	err = req.DB.View(store.System, func(tx *store.Tx) (err error) {
		out.Username, err = l.Account().Username(tx)
		return err
	})
	if password != nil {
		req.Note("password_changed", out.Username, err)
	}

	return out, err
}

type VerifyEmailIn struct {
	Email *string `json:"email" check:"max=254,email" doc:"New address, which replaces the present one once it is confirmed; absent to confirm the present one"`
}

type VerifyAppEmailIn struct {
	VerifyEmailIn
	Confirmation
}

type mailQueued struct {
	SentTo string `json:"sent_to" doc:"Address to which the link is mailed"`
}

// verifyUserEmail requires a recent proof for a new address.
func verifyUserEmail(req *web.Request, in *VerifyEmailIn) (*mailQueued, error) {
	return verifyEmail(req, in.Email, func(tx *store.Tx, present string) error {
		if in.Email == nil || *in.Email == "" || fold.SameAddress(*in.Email, present) {
			return nil
		}
		return store.RequireProof(tx)
	})
}

// VerifyAppEmail requires the password for a new address.
func VerifyAppEmail(req *web.Request, in *VerifyAppEmailIn) (*mailQueued, error) {
	if in.Email != nil && *in.Email == "" {
		in.Email = nil
	}
	confirmed, err := confirmEmail(req, in.Email, in.Password)
	if err != nil {
		return nil, err
	}
	return verifyEmail(req, in.Email, func(_ *store.Tx, present string) error {
		return needsPassword(in.Email, present, confirmed)
	})
}

// verifyEmail mails a link to the caller's address, or to a new one, which the link confirms. prove
// returns an error unless the caller may ask for it.
func verifyEmail(req *web.Request, address *string,
	prove func(tx *store.Tx, present string) error) (out *mailQueued, err error) {
	who := req.Actor.Account()
	return out, req.DB.Update(req.Actor, func(tx *store.Tx) error {
		if err := mails.MailReady(req.Server, tx); err != nil {
			return err
		}

		present, err := who.Email(tx)
		if err == nil {
			err = prove(tx, present)
		}
		if err != nil {
			return err
		}

		email, purpose := present, store.EmailVerification
		if address != nil && *address != "" && !fold.SameAddress(*address, present) {
			email, purpose = *address, store.EmailChange
		}
		if email == "" {
			return errs.Field(errs.Invalid, "email", "is required")
		}

		out = &mailQueued{email}
		return store.RequestEmail(tx, purpose, who, email, mails.MailLanguage(req))
	})
}
