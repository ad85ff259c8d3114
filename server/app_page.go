package server

import (
	"net/http"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Pages with which app users register, sign in and look after their account, for products that have no
// pages of their own for that. The setting app.pages turns them on. They do what the operations below /api
// do, with the session in the cookie of the realm.

const (
	appPagesPath = "/app/"
	signInPath   = "/app/sign-in"
	registerPath = "/app/register"
	forgotPath   = "/app/forgot"
	signOutPath  = "/app/sign-out"
	accountPath  = "/app/account"
	profilePath  = "/app/account/profile"
	passwordPath = "/app/account/password"
	sessionsPath = "/app/account/sessions"
	deletionPath = "/app/account/delete"
)

var appPageRoutes = []Route{
	appPage(signInPath, public, "Open the sign-in page", signInPage),
	appForm(signInPath, public, "Sign in on the page", signInPage, signInByForm),
	appPage(registerPath, public, "Open the registration page", registerPage),
	limited(percentEncoding*maxForm, appForm(registerPath, public, "Register on the page", registerPage, registerByForm)), // what POST /api/register accepts
	appPage(forgotPath, public, "Open the page for a forgotten password", forgotPage),
	appForm(forgotPath, public, "Request a password reset on the page", forgotPage, forgotByForm),
	appPage(accountPath, appOnly, "Open your account's page", accountPage),
	appPage(profilePath, appOnly, "Open your profile's page", profilePage),
	appForm(profilePath, appOnly, "Change your profile on the page", profilePage, changeProfileByForm),
	beforePasswordChange(appPage(passwordPath, appOnly, "Open your password's page", passwordPage)),
	beforePasswordChange(appForm(passwordPath, appOnly, "Change your password on the page", passwordPage, changePasswordByForm)),
	appPage(sessionsPath, appOnly, "Open your sessions' page", sessionsPage),
	appForm(sessionsPath, appOnly, "End a session on the page", sessionsPage, endSessionByForm),
	appPage(deletionPath, appOnly, "Open the page to delete your account", deletionPage),
	appForm(deletionPath, appOnly, "Delete your account on the page", deletionPage, deleteByForm),
	beforePasswordChange(appForm(signOutPath, appOnly, "Sign out on the page", signInPage, signOutByForm)),
}

// appPageTexts are the texts of the pages for app users in one language.
type appPageTexts struct {
	Optional, Username, UsernameRules, DisplayName, Email, Mobile, Password, Again, CurrentPassword string

	SignInName, SignUp, Forgot, HaveAccount string

	RegisterTitle, RegisterSubmit, EmailConfirmed, EmailDomains, NeedsScript, Checking, Unchecked string
	ClosedTitle, ClosedText, SentTitle, SentText                                                  string

	ForgotTitle, ForgotIntro, ForgotName, ForgotSubmit, ForgotSent, ForgotOff string

	AccountTitle, Confirmed, Unconfirmed, None, Yes, No, SignOut, Back string

	ProfileTitle, EmailPassword, Save, Stale, YourVersion            string
	PasswordTitle, MustChange                                        string
	SessionsTitle, ThisDevice, LastActive, EndSession, UnknownDevice string
	DeleteTitle, DeleteText, DeleteSubmit, FailedTitle, BackToSignIn string

	Factor factorTexts

	Notices map[string]string // by what has been done
}

// appPageIn is the input of a page. Unknown parameters are ignored.
type appPageIn struct {
	Done string `query:"done" doc:"What has just been done, which the page tells"`
}

// appView fills a page.
type appView func(tx *store.Tx, req *Request, p *htmlPage) error

var appPageAnswers = answers{
	200: "The page",
	303: "To the sign-in page, or first to the page of the password",
	403: "A page that says why it is not available",
	404: "The setting app.pages is off",
}

var publicPageAnswers = answers{200: appPageAnswers[200], 403: appPageAnswers[403], 404: appPageAnswers[404]}

var appFormAnswers = answers{
	303: "To the next page, or to the sign-in page if the session has ended",
	403: "A page that says why it is not available, or that the form was sent by a page of another origin",
	404: "The setting app.pages is off",
	409: "The page, and what conflicts with stored data",
	422: "The page, and what is wrong",
	429: "The page, and how long to wait",
}

// appPage returns the route of a page for app users.
func appPage(path, access, title string, view appView) Route {
	rt := raw(path, access, title, htmlMedia, func(req *Request, in *appPageIn, w http.ResponseWriter) error {
		p, err := req.view(view, in.Done)
		if err != nil {
			return err
		}
		return req.sendAppPage(w, p)
	})
	rt.handler, rt.page, rt.shown = handlerName(view), true, store.AppPages.Get
	if access == public {
		return anyQuery(answering(publicPageAnswers, rt))
	}
	return anyQuery(answering(appPageAnswers, rt))
}

// view returns a page as a view fills it.
func (req *Request) view(view appView, done string) (p *htmlPage, err error) {
	return p, req.db.View(req.Actor, func(tx *store.Tx) error {
		p = req.newPage(tx)
		p.done = done
		return view(tx, req, p)
	})
}

// setNotice shows that something was done, if it is one of these.
func (p *htmlPage) setNotice(done ...string) {
	if slices.Contains(done, p.done) {
		p.Notice = p.Words.App.Notices[p.done]
	}
}

// sendAppPage sends a page. Browsers send the origin with its forms, which no-referrer would forbid.
func (req *Request) sendAppPage(w http.ResponseWriter, p *htmlPage) error {
	policy := pagePolicy
	if p.script != "" {
		policy = challengePolicy
	}
	return req.sendHTML(w, p, policy, "same-origin")
}

// seeOther sends a browser to another page of this server.
func (req *Request) seeOther(path string) {
	h := req.w.Header()
	h.Set("Location", req.s.url(path))
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	req.w.WriteHeader(http.StatusSeeOther)
}

// failPage answers a browser that has asked for a page with a page, or sends it to the one where it can go
// on. It reports false if the answer is for a program.
func (req *Request) failPage(e *errs.Error, code int) bool {
	if req.route == nil || !req.route.page || e.Kind == errs.NotFound || !strings.Contains(req.http.Header.Get("Accept"), htmlMedia) {
		return false
	}
	h := req.w.Header()
	switch {
	case e.Kind == errs.Unauthenticated:
		h.Del("WWW-Authenticate")
		req.seeOther(signInPath)
		return true
	case mustChange(e):
		req.seeOther(passwordPath)
		return true
	}
	p, err := req.view(func(_ *store.Tx, req *Request, p *htmlPage) error {
		p.Title, p.Texts, p.Status = p.Words.App.FailedTitle, []string{sentence(e, req.language())}, code
		if e.Kind == errs.TooMany || e.Kind == errs.Busy {
			p.Title = p.Words.Busy
		}
		return nil
	}, "")
	if err != nil {
		return false // the database is closed
	}
	req.sendAppPage(&req.w, p) // an error means that the client has disconnected
	return true
}

// hides reports whether a setting hides a path, so that it answers every method like an unknown one.
func (s *Server) hides(path string) bool {
	if !strings.HasPrefix(path, appPagesPath) {
		return false
	}
	shown := false
	err := s.db.View(store.Anonymous, func(tx *store.Tx) error {
		shown = store.AppPages.Get(tx)
		return nil
	})
	return err != nil || !shown
}
