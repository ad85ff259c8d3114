package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reeve/server/account"
	"reeve/server/web"
	"reeve/store"
)

// A product can send a browser to the sign-in page with parameters that say where it returns to. The
// pages on the way keep them in their addresses, so that each tab has its own.

// returning are the pages that keep the parameters.
var returning = map[string]bool{
	SignInPath:    true,
	RegisterPath:  true,
	ForgotPath:    true,
	CodePath:      true,
	EmailPath:     true,
	EmailCodePath: true,
	PasskeyPath:   true,
	ProviderPath:  true,
	PasswordPath:  true,
	SignOutPath:   true,
}

// returnPageIn is the input of the sign-in page.
type returnPageIn struct {
	appPageIn
	account.ReturnIn
}

// signOutPageIn is the input of the page to sign out.
type signOutPageIn struct {
	appPageIn
	To string `query:"to" doc:"URL of a product to which the browser goes afterwards, at an origin of the setting app.return_origins; absent to stay here"`
}

// remembered are the pages after which a browser comes back without the parameters: from the mail of a
// registration or a password reset, or from the sign-out at a provider. They keep the product in a
// cookie.
var remembered = map[string]bool{RegisterPath: true, ForgotPath: true, SignOutPath: true}

const productCookieSeconds = 24 * 60 * 60 // the life of the link of a registration

// keepProduct sets the cookie with the origin of a product.
func keepProduct(req *web.Request, origin string) {
	req.SetCookie(req.Server.HiddenCookie(req.Server.ProductCookie(), origin, productCookieSeconds, req.Secure()))
}

// productLink returns the link to the first page of the product that a browser came from; without a
// path if it is not known. The product begins a new sign-in there: its old one may have expired, or
// have begun in another browser.
func (p *HTMLPage) productLink(tx *store.Tx, req *web.Request) PageLink {
	c, err := req.HTTP.Cookie(req.Server.ProductCookie())
	if err != nil || !slices.Contains(store.AppReturnOrigins.Origins(tx), c.Value) {
		return PageLink{}
	}
	_, host, _ := strings.Cut(c.Value, "://")
	return PageLink{c.Value + "/", fmt.Sprintf(p.Words.ToProduct, host)}
}

var returnParameters = []string{"to", "state", "code_challenge", "code_challenge_method"}

// returnQuery returns the parameters of a request that say where the browser returns to; "" for none.
func returnQuery(req *web.Request) string {
	sent, kept := req.HTTP.URL.Query(), url.Values{}
	if req.Route == nil || !returning[req.Route.Path] || sent.Get("to") == "" {
		return ""
	}
	for _, name := range returnParameters {
		if value := sent.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	return kept.Encode()
}

// nextPage returns a page that follows that of a request, with the parameters that it keeps. Instead
// of the account, a browser that returns goes to the sign-in page, which sends it on.
func nextPage(req *web.Request, path string) string {
	kept := returnQuery(req)
	if kept != "" && req.Route.Path == SignOutPath { // which goes on without a session
		path = SignOutPath
	}
	return keepQuery(path, kept)
}

func keepQuery(path, kept string) string {
	page, query, _ := strings.Cut(path, "?")
	switch {
	case kept == "":
		return path
	case page == AccountPath:
		return SignInPath + "?" + kept
	case strings.HasPrefix(page, "/auth/provider/"):
		return path + "&to=" + url.QueryEscape(SignInPath+"?"+kept)
	case !returning[page]:
		return path
	case query != "":
		return path + "&" + kept
	}
	return path + "?" + kept
}

// AfterProvider returns the page for a browser that comes back from a sign-in provider, where to is
// what the link to the provider had.
func AfterProvider(to string) string {
	if kept, ok := strings.CutPrefix(to, SignInPath+"?"); ok {
		return ProviderPath + "?" + kept
	}
	return ProviderPath
}

// checkReturn returns an error if the parameters of a page lead where it may not.
func checkReturn(tx *store.Tx, req *web.Request) (origin string, err error) {
	query := req.HTTP.URL.Query()
	switch {
	case returnQuery(req) == "":
		return "", nil
	case req.Route.Path == SignOutPath:
		err = account.CheckReturn(tx, query.Get("to"))
	default:
		_, err = account.ReturnOf(tx, query)
	}
	if err != nil {
		return "", err
	}
	return originOf(query.Get("to")), nil
}

// originOf returns the origin of a URL that was checked.
func originOf(to string) string {
	scheme, rest, _ := strings.Cut(to, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// keepReturn makes a page keep where its browser returns to, if it comes from the sign-in page of a
// product: to is what the link to the provider had.
func (p *HTMLPage) keepReturn(tx *store.Tx, to string) {
	kept, _ := strings.CutPrefix(to, SignInPath+"?")
	query, err := url.ParseQuery(kept)
	if err != nil {
		return
	}
	if back, err := account.ReturnOf(tx, query); err == nil && back != nil { // else the next page tells the fault
		p.kept, p.formTo = kept, " "+originOf(back.To)
	}
}

// mayReturn is checkReturn for a request that has no transaction yet.
func mayReturn(req *web.Request) error {
	if returnQuery(req) == "" {
		return nil
	}
	return req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		_, err := checkReturn(tx, req)
		return err
	})
}

// sendBack sends a browser that has a session on from the sign-in page to the product that it came
// from, and from the page to sign out without one. It reports whether it has.
func sendBack(req *web.Request) (sent bool, err error) {
	if req.HTTP.Method != http.MethodGet || returnQuery(req) == "" {
		return false, nil
	}
	switch req.Route.Path {
	case SignInPath:
		return goOn(req)
	case SignOutPath:
		return leave(req)
	}
	return false, nil
}

func goOn(req *web.Request) (sent bool, err error) {
	var address string
	var change bool
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		to, err := account.ReturnOf(tx, req.HTTP.URL.Query())
		if err == nil {
			address, change, err = account.ReturnURL(tx, req, to)
		}
		return err
	})
	switch {
	case err != nil:
		return false, err
	case change:
		seeOther(req, nextPage(req, PasswordPath))
	case address != "":
		sendTo(req, address)
	}
	return change || address != "", nil
}

// leave sends a browser without a session back.
func leave(req *web.Request) (sent bool, err error) {
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		session, err := req.AppSession(tx)
		sent = err == nil && session == nil
		return err
	})
	if sent {
		sendTo(req, req.HTTP.URL.Query().Get("to"))
	}
	return sent, err
}

// sendTo sends a browser to an address of a product, which was checked.
func sendTo(req *web.Request, address string) {
	h := req.Writer.Header()
	h.Set("Location", address)
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	req.Writer.WriteHeader(http.StatusSeeOther)
}

// signOutPage asks whether to sign out, for products that lead here.
func signOutPage(_ *store.Tx, _ *web.Request, p *HTMLPage) error {
	p.Title = p.Words.App.SignOut
	p.Forms = []htmlForm{{Submit: p.Words.App.SignOut}}
	return nil
}
