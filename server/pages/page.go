// Package pages has the HTML pages for app users, and for people who open a one-time link. A
// page calls the handlers of the operations that do the same for programs.
package pages

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Pages with which app users register, sign in and look after their account, for products that have
// no pages of their own for that. The setting app.pages turns them on. They do what the operations
// below /api do, with the session in the cookie of the realm.

const (
	AppPagesPath = "/app/"
	SignInPath   = "/app/sign-in"
	RegisterPath = "/app/register"
	ForgotPath   = "/app/forgot"
	ProviderPath = "/app/sign-in/provider"
	SignOutPath  = "/app/sign-out"
	AccountPath  = "/app/account"
	ProfilePath  = "/app/account/profile"
	VerifyPath   = "/app/account/verify"
	PasswordPath = "/app/account/password"
	SessionsPath = "/app/account/sessions"
	DeletionPath = "/app/account/delete"
)

func Routes(ps *Pages) []web.Route {
	return []web.Route{
		pageOf[returnPageIn](ps, SignInPath, web.Public, "Open the sign-in page", signInPage, web.Options{
			Note: "With to, state, code_challenge and code_challenge_method, the browser returns to a " +
				"product after the sign-in, at once if it has a session: to the URL in to, with the " +
				"parameters code, for POST /api/login/code, and state.",
		}),
		appForm(ps, SignInPath, web.Public, "Sign in on the page", signInPage, signInByForm,
			web.Options{
				Note: "Does what POST /api/login does, with the session in a cookie. A form that a page of " +
					"another origin sends is rejected, here and on the other pages.",
			}),
		arrivalPage(ps),
		appPage(ps, RegisterPath, web.Public, "Open the registration page", registerPage,
			web.Options{
				Note: "The page with the form, if the settings allow it. It has a script only if the " +
					"setting app.registration_challenge is on.",
			}),
		appForm(ps, RegisterPath, web.Public, "Register on the page", registerPage, registerByForm,
			web.Options{
				MaxBody: web.PercentEncoding * web.MaxForm,
				Note:    "Does what POST /api/register does, with the session in a cookie.",
			}), // what POST /api/register accepts
		appPage(ps, ForgotPath, web.Public, "Open the page for a forgotten password", forgotPage),
		appForm(ps, ForgotPath, web.Public, "Request a password reset on the page", forgotPage,
			forgotByForm, web.Options{
				Note: "Does what POST /api/password/forgot does.",
			}),
		appPage(ps, AccountPath, web.AppOnly, "Open your account's page", accountPage, web.Options{
			Note: "The account, with links to the pages that change it. A browser without a session is " +
				"sent to the sign-in page. The pages are off unless the setting app.pages is on.",
		}),
		appForm(ps, VerifyPath, web.AppOnly, "Verify your address on the page", accountPage,
			verifyByForm, web.Options{
				Note: "Does what POST /api/user/email does for the address that the account has.",
			}),
		appPage(ps, ProfilePath, web.AppOnly, "Open your profile's page", profilePage),
		appForm(ps, ProfilePath, web.AppOnly, "Change your profile on the page", profilePage,
			changeProfileByForm),
		appPage(ps, PasswordPath, web.AppOnly, "Open your password's page", passwordPage,
			web.Options{
				AllowedBeforePasswordChange: true,
				Note: "The only page of the account while the password must be changed; the others lead " +
					"there.",
			}),
		appForm(ps, PasswordPath, web.AppOnly, "Change your password on the page", passwordPage,
			changePasswordByForm, web.Options{AllowedBeforePasswordChange: true}),
		appPage(ps, SessionsPath, web.AppOnly, "Open your sessions' page", sessionsPage),
		appForm(ps, SessionsPath, web.AppOnly, "End a session on the page", sessionsPage,
			endSessionByForm),
		appPage(ps, DeletionPath, web.AppOnly, "Open the page to delete your account",
			deletionPage),
		appForm(ps, DeletionPath, web.AppOnly, "Delete your account on the page", deletionPage,
			deleteByForm),
		pageOf[signOutPageIn](ps, SignOutPath, web.Public, "Open the page to sign out", signOutPage, web.Options{
			Note: "With to, the browser goes to that URL of a product afterwards.",
		}),
		appForm(ps, SignOutPath, web.AppOnly, "Sign out on the page", signInPage, signOutByForm,
			web.Options{AllowedBeforePasswordChange: true, Answers: signOutAnswers()}),
	}
}

// appPageTexts are the texts of the pages for app users in one language.
type appPageTexts struct {
	Optional, Username, UsernameRules, DisplayName, Email, Mobile, Password, Again, CurrentPassword string

	SignInName, SignUp, Forgot, HaveAccount, WithProvider, WithPassword string

	RegisterTitle, RegisterSubmit, EmailConfirmed, EmailDomains, NeedsScript, Checking, Unchecked string
	ClosedTitle, ClosedText, SentTitle, SentText                                                  string

	ForgotTitle, ForgotIntro, ForgotName, ForgotSubmit, ForgotSent, ForgotOff string

	AccountTitle, Confirmed, Unconfirmed, Verify, None, Yes, No, SignOut, Back string

	ProfileTitle, EmailPassword, Save, Stale, YourVersion                          string
	PasswordTitle, MustChange                                                      string
	SessionsTitle, ThisDevice, LastActive, SignedInWith, EndSession, UnknownDevice string
	DeleteTitle, DeleteText, DeleteSubmit, FailedTitle, BackToSignIn               string

	Factor    factorTexts
	EmailCode emailCodeTexts
	Passkey   passkeyTexts

	Notices map[string]string // notices by completed operation
}

// appPageIn is the input of a page. Unknown parameters are ignored.
type appPageIn struct {
	Done string `query:"done" doc:"What has just been done, which the page tells"`
}

func (in *appPageIn) shown() string { return in.Done }

// appView fills a page.
type appView func(tx *store.Tx, req *web.Request, p *HTMLPage) error

var appPageAnswers = web.Answers{
	200: "The page",
	303: "To the sign-in page, or first to the page of the password",
	403: "A page that says why it is not available",
	404: "The setting app.pages is off",
}

var publicPageAnswers = web.Answers{
	200: appPageAnswers[200],
	403: appPageAnswers[403],
	404: appPageAnswers[404],
}

var appFormAnswers = web.Answers{
	303: "To the next page, or to the sign-in page if the session has ended",
	403: "A page that says why it is not available, or that the form was sent by a page of another origin",
	404: "The setting app.pages is off",
	409: "The page, and what conflicts with stored data",
	422: "The page, and what is wrong",
	429: "The page, and how long to wait",
}

func signOutAnswers() web.Answers {
	answers := maps.Clone(appFormAnswers)
	answers[200] = "The sign-in page, from which the browser goes on to sign out at the provider"
	return answers
}

// appPage returns the route of a page for app users.
func appPage(ps *Pages, path, access, title string, view appView,
	options ...web.Options) web.Route {
	return pageOf[appPageIn](ps, path, access, title, view, options...)
}

// pageOf is appPage with another input.
func pageOf[In any, P interface {
	*In
	shown() string
}](ps *Pages, path, access, title string, view appView, options ...web.Options) web.Route {
	rt := web.Raw(path, access, title, web.HTMLMedia,
		func(req *web.Request, in *In, w http.ResponseWriter) error {
			if err := mayReturn(req); err != nil {
				return err
			}
			if sent, err := sendBack(req); sent || err != nil {
				return err
			}
			p, err := ps.view(req, view, P(in).shown())
			if err != nil {
				return err
			}
			return sendAppPage(req, w, p)
		})
	rt.Handler, rt.Page, rt.Visible = web.HandlerName(view), true, store.AppPages.Get
	answers := maps.Clone(appPageAnswers)
	if access == web.Public {
		answers = maps.Clone(publicPageAnswers)
	}
	if returning[path] {
		answers[422] = "A page that says what is wrong with the address of the product to return to"
	}
	if path == SignInPath || path == SignOutPath {
		answers[303] = "To the product that has sent the browser here"
	}
	return rt.With(web.Options{AnyQuery: true, Answers: answers}).With(options...)
}

// view returns a page as a view fills it.
func (ps *Pages) view(req *web.Request, view appView, done string) (p *HTMLPage, err error) {
	return p, req.DB.View(req.Actor, func(tx *store.Tx) error {
		p = ps.NewPage(tx, req)
		p.done = done
		if origin, err := checkReturn(tx, req); err == nil && origin != "" { // else a page that tells the fault
			p.kept, p.formTo = returnQuery(req), " "+origin
			if remembered[req.Route.Path] {
				keepProduct(req, origin)
			}
		}
		return view(tx, req, p)
	})
}

// setNotice shows that something was done, if it is one of these.
func (p *HTMLPage) setNotice(done ...string) {
	if slices.Contains(done, p.done) {
		p.Notice = p.Words.App.Notices[p.done]
	}
}

// sendAppPage sends a page. Browsers send the origin with its forms, which no-referrer would
// forbid.
func sendAppPage(req *web.Request, w http.ResponseWriter, p *HTMLPage) error {
	policy := PagePolicy
	if p.script != "" {
		policy = ChallengePolicy
	}
	policy = strings.Replace(policy, "form-action 'self'", "form-action 'self'"+p.formTo, 1)
	return sendHTML(req, w, p, policy, "same-origin")
}

// seeOther sends a browser to another page of this server.
func seeOther(req *web.Request, path string) {
	h := req.Writer.Header()
	h.Set("Location", req.Server.URL(path))
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	req.Writer.WriteHeader(http.StatusSeeOther)
}

// Fail answers a browser that has asked for a page with a page, or sends it to the one where it can
// go on. It reports false if the answer is for a program.
func (ps *Pages) Fail(req *web.Request, e *errs.Error, code int) bool {
	if req.Route == nil || !req.Route.Page || e.Kind == errs.NotFound ||
		!strings.Contains(req.HTTP.Header.Get("Accept"), web.HTMLMedia) {
		return false
	}

	h := req.Writer.Header()
	switch {
	case e.Kind == errs.Unauthenticated:
		h.Del("WWW-Authenticate")
		seeOther(req, nextPage(req, SignInPath))
		return true
	case mustChange(e):
		seeOther(req, PasswordPath)
		return true
	}

	p, err := ps.view(req, func(_ *store.Tx, req *web.Request, p *HTMLPage) error {
		p.Title, p.Texts, p.Status = p.Words.App.FailedTitle, []string{Sentence(e, req.Language())}, code
		if e.Kind == errs.TooMany || e.Kind == errs.Busy {
			p.Title = p.Words.Busy
		}
		return nil
	}, "")
	if err != nil {
		return false // the database is closed
	}

	sendAppPage(req, &req.Writer, p) // an error means that the client has disconnected
	return true
}

// HidesPages reports whether a setting hides a path, so that it answers every method like an
// unknown one.
func HidesPages(s *web.Server, path string) bool {
	if !strings.HasPrefix(path, AppPagesPath) {
		return false
	}
	shown := false
	err := s.DB.View(store.Anonymous, func(tx *store.Tx) error {
		shown = store.AppPages.Get(tx)
		return nil
	})
	return err != nil || !shown
}
