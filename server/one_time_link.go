package server

import (
	"slices"

	"reeve/auth"
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// One-time links let people do something without signing in: set a password, or confirm an e-mail
// address. The link opens a page of this server (link_page.go); programs with pages of their own use
// these operations instead.
var linkRoutes = []Route{
	small(closable(rateLimited(hiding(redact.Fields{Usernames: true}, action("POST", "/admin/password/forgot", public, "Request a password reset", forgotPassword))))),
	small(seeking(rateLimited(action("POST", "/admin/password/link", public, "Set a password with a link", usePasswordLink)))),
	small(seeking(rateLimited(action("POST", "/admin/verify", public, "Confirm an email address", useEmailLink)))),
	small(rateLimited(bySession(action("POST", "/admin/email", signedIn, "Verify your own email address", verifyUserEmail)))),
	small(closable(rateLimited(hiding(redact.Fields{Usernames: true}, action("POST", "/api/password/forgot", public, "Request an app password reset", forgotAppPassword))))),
	small(seeking(rateLimited(action("POST", "/api/password/link", public, "Set an app password with a link", useAppPasswordLink)))),
	small(seeking(rateLimited(action("POST", "/api/verify", public, "Confirm an app user's email", useAppEmailLink)))),
	small(rateLimited(action("POST", "/api/user/email", appOnly, "Verify your own app email", verifyAppEmail))),
	anyQuery(answering(linkPageAnswers, raw(linkPath+":token", public, "Open a one-time link", htmlMedia, openLinkPage))),
	answering(linkFormAnswers, pageForm(linkPath+":token", public, "Use a one-time link", useLinkPage)),
}

// linkPath is the path of links, before the token.
const linkPath = "/link/"

// publicURL returns the start of links for the caller: that of the configuration, or else the one at
// which the caller has reached this server.
func (req *Request) publicURL() string {
	if url := req.s.config.PublicURL; url != "" {
		return url
	}
	scheme := "http://"
	if req.secure() {
		scheme = "https://"
	}
	return scheme + req.http.Host + req.s.config.BasePath
}

type forgotIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username or e-mail address"`
}

// forgotPassword queues the mail with a password reset link. The response is the same whether or not
// there is such a user.
func forgotPassword(req *Request, in *forgotIn) (nothing, error) {
	return req.forgot(false, in.Username)
}

func forgotAppPassword(req *Request, in *forgotIn) (nothing, error) {
	return req.forgot(true, in.Username)
}

func (req *Request) forgot(app bool, login string) (nothing, error) {
	err := req.db.View(store.Anonymous, func(tx *store.Tx) error {
		if !req.s.mailOff(tx).Empty() {
			return errs.New(errs.Denied, "this server does not send mail; ask your administrator for a new password").Coded("mail_off")
		}
		return nil
	})
	if err == nil {
		err = req.auth().Forgot(app, login, req.mailLanguage(), req.Addr, req.counted)
	}
	return nothing{}, err
}

type passwordLinkIn struct {
	Token    string `json:"token" check:"required,max=100" doc:"Token of the link: what follows /link/ in its URL"`
	Password string `json:"password" check:"required,raw,min=8,max=1024" doc:"New password; any characters are allowed"`
}

type linkUsed struct {
	Username string `json:"username" doc:"Username of the person whom the link was for"`
}

// usePasswordLink accepts an invitation, or sets the password that a user has forgotten.
func usePasswordLink(req *Request, in *passwordLinkIn) (*linkUsed, error) {
	return req.useLink(in.Token, &in.Password, "password", accepting(false, store.Invitation, store.PasswordReset))
}

func useAppPasswordLink(req *Request, in *passwordLinkIn) (*linkUsed, error) {
	return req.useLink(in.Token, &in.Password, "password", accepting(true, store.Invitation, store.PasswordReset))
}

type emailLinkIn struct {
	Token string `json:"token" check:"required,max=100" doc:"Token of the link: what follows /link/ in its URL"`
}

func useEmailLink(req *Request, in *emailLinkIn) (*linkUsed, error) {
	return req.useLink(in.Token, nil, "", accepting(false, store.EmailVerification, store.EmailChange))
}

func useAppEmailLink(req *Request, in *emailLinkIn) (*linkUsed, error) {
	return req.useLink(in.Token, nil, "", accepting(true, store.EmailVerification, store.EmailChange, store.Registration))
}

// accepting returns a function that accepts links of a realm for some purposes.
func accepting(app bool, purposes ...string) func(*store.Link) bool {
	return func(l *store.Link) bool {
		return l.Account().App == app && slices.Contains(purposes, l.Purpose)
	}
}

// useLink uses a link. accept is nil for any.
func (req *Request) useLink(token string, password *string, field string, accept func(*store.Link) bool) (*linkUsed, error) {
	l, err := req.auth().UseLink(auth.LinkUse{
		Token: token, Password: password, Field: field, Addr: req.Addr,
		Observe: req.counted, Hashing: &req.mon.hashing, Accept: accept, User: func(who store.Account) { req.origin.User = who },
	})
	if err != nil {
		return nil, err
	}
	out := &linkUsed{}
	err = req.db.View(store.System, func(tx *store.Tx) (err error) {
		out.Username, err = l.Account().Username(tx)
		return err
	})
	if password != nil {
		req.note("password_changed", out.Username, err)
	}
	return out, err
}

type verifyEmailIn struct {
	Email *string `json:"email" check:"max=254,email" doc:"New address, which replaces the present one once it is confirmed; absent to confirm the present one"`
}

type verifyAppEmailIn struct {
	verifyEmailIn
	confirmation
}

type mailQueued struct {
	SentTo string `json:"sent_to" doc:"Address to which the link is mailed"`
}

// verifyUserEmail requires a recent proof for a new address.
func verifyUserEmail(req *Request, in *verifyEmailIn) (*mailQueued, error) {
	return req.verifyEmail(in.Email, func(tx *store.Tx, present string) error {
		if in.Email == nil || *in.Email == "" || fold.SameAddress(*in.Email, present) {
			return nil
		}
		return store.RequireProof(tx)
	})
}

// verifyAppEmail requires the password for a new address.
func verifyAppEmail(req *Request, in *verifyAppEmailIn) (*mailQueued, error) {
	if in.Email != nil && *in.Email == "" {
		in.Email = nil
	}
	confirmed, err := req.confirmEmail(in.Email, in.Password)
	if err != nil {
		return nil, err
	}
	return req.verifyEmail(in.Email, func(_ *store.Tx, present string) error { return needsPassword(in.Email, present, confirmed) })
}

// verifyEmail mails a link to the caller's address, or to a new one, which the link confirms. prove returns an error
// unless the caller may ask for it.
func (req *Request) verifyEmail(address *string, prove func(tx *store.Tx, present string) error) (out *mailQueued, err error) {
	who := store.Account{App: req.Actor.App, ID: req.Actor.ID}
	return out, req.db.Update(req.Actor, func(tx *store.Tx) error {
		if err := req.s.mailReady(tx); err != nil {
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
		return store.RequestEmail(tx, purpose, who, email, req.mailLanguage())
	})
}
