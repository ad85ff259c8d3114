package forward

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reeve/auth"
	"reeve/server/pages"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// How a browser gets the token for the origin of a program: see package auth. People restore
// several tabs at once, leave the sign-in page open over lunch, and go back, so a callback can come
// late, twice, or with the state of another tab. Then a browser that has a token is sent on, and
// another one begins again, once.

// Cookies on the origin of a program. Both last until the browser is closed: a state belongs to all
// tabs.
const (
	forwardCookie = "reeve-forward"
	stateCookie   = "reeve-state"
)

// callbackPath is the path that proxies pass to this server on the origins of programs.
const callbackPath = "/.reeve/callback"

// signOutPath is the path that proxies pass to this server for signing out.
const signOutPath = "/.reeve/sign-out"

const (
	MaxPath     = 8000            // bytes of the address of a page that is kept over a sign-in
	maxPathText = 3*MaxPath + 100 // the same percent-encoded, in the path of a second try
	maxRedirect = 3000            // of the redirect to the sign-in page, for nginx, whose buffer is 4 KiB for all headers
)

// readOriginCookie returns the name of a cookie on an origin. Browsers accept the prefix only from
// the host itself, over HTTPS. The port is in the name, since browsers share cookies between the
// ports of a host.
func originCookie(origin, name string) string {
	scheme, host, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name += "-" + host[i+1:]
	}
	if scheme == "https" {
		return "__Host-" + name
	}
	return name
}

func setOriginCookie(w http.ResponseWriter, origin, name, value string) {
	http.SetCookie(w,
		web.HiddenCookie(originCookie(origin, name), value, 0,
			strings.HasPrefix(origin, "https://")))
}

func readOriginCookie(req *web.Request, origin, name string) string {
	c, err := req.HTTP.Cookie(originCookie(origin, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// forwardOrigin returns the origin of the request that a proxy has received, if it is configured.
func forwardOrigin(req *web.Request) (string, error) {
	h := req.HTTP.Header
	origin := web.CanonicalOrigin(web.FirstForwarded(h, "X-Forwarded-Proto") + "://" + web.FirstForwarded(h, "X-Forwarded-Host"))
	for _, known := range req.Server.Now().Forward.Origins {
		if known == origin {
			return known, nil
		}
	}
	return "", errs.New(errs.Denied,
		"the origin %s is not in forward_auth.origins of the configuration",
		web.Truncate(origin, 200)).Coded("unknown_origin")
}

// opensPage reports whether a browser opens a page: requests of scripts can accept HTML, too, and
// follow redirects.
func opensPage(req *web.Request) bool {
	h := req.HTTP.Header
	method, page := web.FirstForwarded(h, "X-Forwarded-Method"), navigates(h)
	return (method == "" || method == http.MethodGet) &&
		strings.Contains(h.Get("Accept"), web.HTMLMedia) && h.Get("X-Requested-With") == "" &&
		(page || !saysHow(h))
}

// saysHow reports whether a browser says how it has made a request. Older browsers, and those over
// plain HTTP, don't. A program behind which Node.js asks has Sec-Fetch-Mode alone, which is about
// its own request.
func saysHow(h http.Header) bool {
	return h.Get("Sec-Fetch-Dest") != "" || h.Get("Sec-Fetch-Site") != ""
}

// navigates reports whether a browser says that it opens a page.
func navigates(h http.Header) bool {
	if dest := h.Get("Sec-Fetch-Dest"); dest != "" {
		return dest == "document"
	}
	return h.Get("Sec-Fetch-Mode") == "navigate"
}

// sendToSignIn sends a browser that opens a page without a valid token to the sign-in page.
func sendToSignIn(req *web.Request, origin string, in *verifyIn, w http.ResponseWriter) error {
	to := localPath(req.HTTP.Header.Get("X-Forwarded-Uri"))
	status, limit := http.StatusFound, 0
	if in.Redirect == "401" {
		status, limit = http.StatusUnauthorized, maxRedirect
	}
	if len(to) > MaxPath {
		to = "/"
	}
	begin(req, w, origin, to, limit)
	w.WriteHeader(status)
	return nil
}

// begin sets the URL of the sign-in page, which leads back to a path, and the state that what comes
// back is bound to. The path is / if the URL is longer than limit, which is 0 for none.
func begin(req *web.Request, w http.ResponseWriter, origin, to string, limit int) {
	state := readOriginCookie(req, origin, stateCookie)
	if !auth.IsForwardState(state) {
		state = auth.NewForwardState()
	}
	setOriginCookie(w, origin, stateCookie, state)
	query := url.Values{"origin": {origin}, "to": {to}, "state": {auth.HashState(state)}}
	page := req.Server.Config.Forward.URL + "/console/open?"
	if limit > 0 && len(page)+len(query.Encode()) > limit {
		query.Set("to", "/")
	}
	w.Header().Set("Location", page+query.Encode())
	w.Header().Set("Cache-Control", "no-store")
}

// localPath returns a path on the same origin: text, or / if it would lead elsewhere.
func localPath(text string) string {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") ||
		strings.ContainsAny(text, "\\") {
		return "/"
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return "/"
		}
	}
	return text
}

type openForwardedIn struct {
	Origin string `json:"origin" check:"required,max=255" doc:"Origin of the program, from the address of this page"`
	To     string `json:"to" check:"max=24100" doc:"Path to open there, from the address of this page"`
	State  string `json:"state" check:"required,min=64,max=64" doc:"Hash that binds the sign-in to the browser, from the address of this page"`
}

type OpenForwardedOut struct {
	URL string `json:"url" doc:"Where to send the browser within a minute; it can be used once"`
}

// openForwarded returns the URL with which the browser of a signed-in user opens a program behind a
// proxy.
func openForwarded(req *web.Request, in *openForwardedIn) (*OpenForwardedOut, error) {
	origin := web.CanonicalOrigin(in.Origin)
	if !slices.Contains(req.Server.Now().Forward.Origins, origin) {
		return nil, errs.Field(errs.Invalid, "origin",
			"the origin %s is not in forward_auth.origins of the configuration", in.Origin)
	}
	code, err := req.Server.Auth.NewForwardCode(req.Session, origin, in.State)
	if err != nil {
		return nil, err
	}
	query := url.Values{"code_token": {code}, "to": {localPath(in.To)}}
	return &OpenForwardedOut{origin + callbackPath + "?" + query.Encode()}, nil
}

type finishIn struct {
	Code string `query:"code_token" check:"max=500" doc:"Code from POST /auth/forward"`
	To   string `query:"to" check:"max=24100" doc:"Path to open"`
}

// SecondTry begins the path of a page that a browser asks for again because its callback has
// failed. It is a path of its own, so that a browser without cookies does not go round in circles.
const SecondTry = callbackPath + "?to="

// page returns the path of the page to open, and whether this is the second try.
func (in *finishIn) page() (to string, again bool) {
	text, again := strings.CutPrefix(in.To, SecondTry)
	if again {
		text, _ = url.QueryUnescape(text) // "" for one that was changed
	}
	return localPath(text), again
}

// finishForwarded exchanges a code for the cookie of an origin, and opens the page that was asked
// for.
func (f *Forwarder) finishForwarded(req *web.Request, in *finishIn, w http.ResponseWriter) error {
	origin, err := forwardOrigin(req)
	if err != nil {
		return err
	}

	to, again := in.page()
	token, err := req.Auth().ExchangeForwardCode(in.Code, origin, readOriginCookie(req, origin, stateCookie))
	refused := errs.Is(err, errs.Denied) || errs.Is(err, errs.Unauthenticated)
	switch {
	case err == nil:
		setOriginCookie(w, origin, forwardCookie, token)
	case !refused || !opensPage(req):
		return err
	case hasToken(req, origin):
	case !again:
		begin(req, w, origin, SecondTry+url.QueryEscape(to), 0)
		w.WriteHeader(http.StatusFound)
		return nil
	default:
		return f.showForwardFault(req, w, errs.Of(err), &to)
	}

	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
	return nil
}

// hasToken reports whether the browser has a valid token for an origin, perhaps from another tab.
func hasToken(req *web.Request, origin string) bool {
	return req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		_, err := req.Server.Auth.Forwarded(tx, readOriginCookie(req, origin, forwardCookie),
			origin)
		return err
	}) == nil
}

// showForwardFault sends a page for people that says why they can't open a page of a program, and to
// those who are signed in, as whom they are. to is the path to try again with; nil for none.
func (f *Forwarder) showForwardFault(req *web.Request, w http.ResponseWriter, e *errs.Error,
	to *string) error {
	var p *pages.HTMLPage
	err := req.DB.View(store.System, func(tx *store.Tx) error {
		p = f.Pages.NewPage(tx, req)
		return nil
	})
	if err != nil {
		return err
	}

	req.Shown = e           // so that it is counted and recorded
	p.Logo, p.Base = "", "" // the page is on the origin of the program
	p.Status, p.Title, p.Texts = web.Status[errs.Denied].Code, p.Words.Refused, []string{pages.Sentence(e, req.Language())}
	if req.Actor.Username != "" && e.Code != "cross_origin" {
		p.Texts = append(p.Texts, fmt.Sprintf(p.Words.AskFor, req.Actor.Username))
		p.Links = []pages.PageLink{{Path: signOutPath, Text: p.Words.App.SignOut}}
	}
	if to != nil {
		p.Title, p.Next = p.Words.Unfinished, pages.PageLink{Path: *to, Text: p.Words.Continue}
	}

	return pages.SendPage(req, w, p)
}

// askSignOut sends a page with a button that signs out.
func (f *Forwarder) askSignOut(req *web.Request, _ *web.None, w http.ResponseWriter) error {
	if _, err := forwardOrigin(req); err != nil {
		return err
	}
	return f.sendPage(req, w, func(p *pages.HTMLPage) {
		p.Title, p.Texts = p.Words.App.SignOut, []string{p.Words.EndsAll}
		p.AddButton(p.Words.App.SignOut)
	})
}

// signOut ends the session of a user, from a page of the program or that of askSignOut.
func (f *Forwarder) signOut(req *web.Request, w http.ResponseWriter) error {
	origin, err := forwardOrigin(req)
	if err != nil {
		return err
	}
	_, host, _ := strings.Cut(origin, "://")
	sent := &http.Request{Method: http.MethodPost, Host: host, Header: req.HTTP.Header}
	if err := web.CheckOrigin(programs, sent); err != nil {
		return err
	}

	next, err := endForwarded(req, origin)
	if err != nil {
		return err
	}
	http.SetCookie(w, web.HiddenCookie(originCookie(origin, forwardCookie), "", -1,
		strings.HasPrefix(origin, "https://")))
	if next != "" { // a redirect would be a form that leads to another server, which the policy forbids
		w.Header().Set("Refresh", "0; url="+next)
	}
	return f.sendPage(req, w, func(p *pages.HTMLPage) {
		p.Title, p.Texts = p.Words.App.SignOut, []string{p.Words.App.Notices["signed_out"]}
		p.Next = pages.PageLink{Path: "/", Text: p.Words.SignIn}
	})
}

// endForwarded ends the session of the browser's token for an origin, if there is one. next is where
// the browser signs out at the provider with which it was opened; "" for none.
func endForwarded(req *web.Request, origin string) (next string, err error) {
	var session *auth.Session
	err = req.DB.View(store.System, func(tx *store.Tx) (err error) {
		session, err = req.Server.Auth.Forwarded(tx, readOriginCookie(req, origin, forwardCookie), origin)
		if err == nil {
			next, err = store.ProviderEndURL(tx, session.ID)
		}
		return err
	})
	if errs.Is(err, errs.Unauthenticated) {
		return "", nil // it has ended already
	}
	if err == nil {
		req.Note("logout", session.Actor.Username, nil)
		err = req.Auth().Logout(session)
	}
	return next, err
}

// sendPage sends a page on the origin of a program.
func (f *Forwarder) sendPage(req *web.Request, w http.ResponseWriter, fill func(*pages.HTMLPage)) error {
	var p *pages.HTMLPage
	err := req.DB.View(store.System, func(tx *store.Tx) error {
		p = f.Pages.NewPage(tx, req)
		return nil
	})
	if err != nil {
		return err
	}
	p.Logo, p.Base = "", "" // the page is on the origin of the program
	fill(p)
	return pages.SendFormPage(req, w, p)
}
