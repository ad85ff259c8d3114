package pages

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"rsc.io/qr"

	"reeve/server/account"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Pages for the second factor of app users. The secret and the recovery codes are shown in the
// answer to a form, never at an address.

const (
	CodePath             = "/app/sign-in/code"
	AuthenticatorPath    = "/app/account/authenticator"
	ConfirmAppPath       = AuthenticatorPath + "/confirm"
	RenewCodesPath       = AuthenticatorPath + "/recovery"
	RemoveAppPath        = AuthenticatorPath + "/remove"
	pendingCookieSeconds = 10 * 60 // as long as a pending sign-in lives, or longer
)

func FactorRoutes(ps *Pages) []web.Route {
	return []web.Route{
		appPage(ps, CodePath, web.Public, "Open the page for the code of a sign-in", codePage),
		appForm(ps, CodePath, web.Public, "Complete a sign-in on the page", codePage,
			signInCodeByForm, web.Options{MaxBody: web.SmallBody}),
		appPage(ps, AuthenticatorPath, web.AppOnly, "Open your authenticator app's page",
			authenticatorPage),
		appForm(ps, AuthenticatorPath, web.AppOnly, "Set up an authenticator app on the page",
			authenticatorPage, beginAppByForm, showsOnce()),
		appPage(ps, ConfirmAppPath, web.AppOnly, "Open the page to confirm your authenticator app",
			confirmAppPage),
		appForm(ps, ConfirmAppPath, web.AppOnly, "Confirm your authenticator app on the page",
			confirmAppPage, confirmAppByForm, showsOnce()),
		appPage(ps, RenewCodesPath, web.AppOnly, "Open the page to replace your recovery codes",
			renewCodesPage),
		appForm(ps, RenewCodesPath, web.AppOnly, "Replace your recovery codes on the page",
			renewCodesPage, renewCodesByForm, showsOnce()),
		appPage(ps, RemoveAppPath, web.AppOnly, "Open the page to remove your authenticator app",
			removeAppPage),
		appForm(ps, RemoveAppPath, web.AppOnly, "Remove your authenticator app on the page",
			removeAppPage, removeAppByForm, web.Options{MaxBody: web.SmallBody}),
	}
}

// showsOnce are the options of a form whose page shows once what must be in no address.
func showsOnce() web.Options {
	answers := maps.Clone(appFormAnswers)
	answers[200] = "The page, with what it shows only once"
	return web.Options{Reveals: true, MaxBody: web.SmallBody, Answers: answers}
}

// onceShown has the values that the answer to a form shows once.
type onceShown struct {
	app   *account.AuthenticatorAppOut
	codes []string
}

// factorTexts are the texts of the pages about the second factor in one language.
type factorTexts struct {
	Title, CodeText, AnyCode, Continue                           string
	About, SetUp, Scan, QR, Secret, Then, TurnOn, Begin          string
	On, Left                                                     string
	RecoveryTitle, RecoveryText, RecoveryOnce, Saved             string
	RenewTitle, RenewText, RemoveTitle, RemoveText, RemoveSubmit string
}

// keepPending sets the cookie of a pending sign-in, or deletes it if the token is empty. path is that
// of the page that asks for the code.
func keepPending(req *web.Request, path, token string) {
	seconds := pendingCookieSeconds
	if token == "" {
		seconds = -1
	}
	cookie := req.Server.HiddenCookie(req.Server.PendingCookie(), token, seconds, req.Secure())
	cookie.Path, cookie.SameSite = req.Server.URL(path), http.SameSiteStrictMode
	req.SetCookie(cookie)
}

// pendingToken returns the token of a pending sign-in; "" for none.
func pendingToken(req *web.Request) string {
	c, err := req.HTTP.Cookie(req.Server.PendingCookie())
	if err != nil || len(c.Value) > 3500 {
		return ""
	}
	return c.Value
}

// codeField returns the field of a code. A recovery code has letters, too.
func codeField(label string, recovery bool) htmlField {
	f := htmlField{
		Name:         "otp",
		Type:         "text",
		Label:        label,
		Autocomplete: "one-time-code",
		Required:     true,
		Max:          40,
	}
	if !recovery {
		f.Mode = "numeric"
	}
	return f
}

// errWrongOTP is store.ErrWrongCode as an error of the field: the browser has no credentials to offer.
var errWrongOTP = errs.Field(errs.Invalid, "otp", "is wrong, or was used already").Coded("wrong_code")

// codePage asks for the code that a sign-in requires after the password.
func codePage(_ *store.Tx, _ *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Factor
	p.Title, p.Texts = p.Words.SignIn, []string{words.CodeText}
	p.Forms = []htmlForm{{
		Submit: words.Continue,
		Fields: []htmlField{codeField(words.AnyCode, true)},
	}}
	p.Links = []PageLink{{SignInPath, p.Words.App.BackToSignIn}}
	return nil
}

func signInCodeByForm(req *web.Request, in *account.OwnProof) (string, error) {
	const again = SignInPath + "?done=expired"
	token := pendingToken(req)
	if token == "" {
		return again, nil
	}

	_, err := account.AppLoginCode(req, &account.CodeIn{Login: token, Code: in.Code, Cookie: true})
	e := errs.Of(err)
	switch {
	case err == nil:
		keepPending(req, CodePath, "")
		return AccountPath, nil
	case e.Code == "wrong_code":
		return "", errWrongOTP
	case e.Kind == errs.Unauthenticated:
		keepPending(req, CodePath, "")
		return again, nil
	}

	return "", err
}

// authenticatorPage shows whether an authenticator app is set up, and begins to set one up. Once
// begun, it shows the secret.
func authenticatorPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Factor
	p.Title = words.Title
	p.back()
	if once, ok := req.Once.(*onceShown); ok {
		p.Texts, p.Codes, p.CodesTitle = []string{words.Scan}, []string{spaced(once.app.Secret)}, words.Secret
		p.Forms = []htmlForm{{
			Action: ConfirmAppPath,
			Submit: words.TurnOn,
			Fields: []htmlField{codeField(words.Then, false)},
		}}
		var err error
		p.Picture, err = qrSVG(once.app.URI, words.QR)
		return err
	}

	own, err := account.FactorOf(tx, store.Account{App: true, ID: req.Actor.ID})
	if err != nil {
		return err
	}
	if own.Enabled {
		p.Texts = []string{words.On, fmt.Sprintf(words.Left, own.Recovery)}
		p.Menu = []PageLink{{RenewCodesPath, words.RenewTitle}, {RemoveAppPath, words.RemoveTitle}}
		return nil
	}
	if err := account.MayAddFactor(tx); err != nil {
		p.refuse(req, err)
		return nil
	}

	p.Texts = []string{words.About}
	fields, err := p.confirmFields(tx, req, p.Words.App.CurrentPassword)
	p.Forms = []htmlForm{{Submit: words.SetUp, Fields: fields}}
	return err
}

func beginAppByForm(req *web.Request, in *account.OwnPassword) (string, error) {
	made, err := account.BeginAppTOTP(req, in)
	if err == nil {
		req.Once = &onceShown{app: made}
	}
	return "", err
}

// confirmAppPage asks for a code of the authenticator app that is being set up, and then shows the
// recovery codes.
func confirmAppPage(_ *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Factor
	if p.showCodes(req) {
		return nil
	}
	p.Title = words.SetUp
	p.Forms = []htmlForm{{Submit: words.TurnOn, Fields: []htmlField{codeField(words.Then, false)}}}
	p.Links = []PageLink{{AuthenticatorPath, words.Begin}}
	return nil
}

func confirmAppByForm(req *web.Request, in *account.OwnCode) (string, error) {
	out, err := account.ConfirmAppTOTP(req, in)
	return showOnce(req, out, err)
}

// showOnce lets the page show recovery codes.
func showOnce(req *web.Request, out *account.RecoveryCodesOut, err error) (next string, _ error) {
	if err != nil {
		return "", err
	}
	if len(out.Codes) == 0 { // the form was sent twice
		return AuthenticatorPath, nil
	}
	req.Once = &onceShown{codes: out.Codes}
	return "", nil
}

// showCodes shows recovery codes if there are new ones.
func (p *HTMLPage) showCodes(req *web.Request) bool {
	once, ok := req.Once.(*onceShown)
	if !ok {
		return false
	}
	words := &p.Words.App.Factor
	p.Title, p.Texts = words.RecoveryTitle, []string{words.RecoveryText, words.RecoveryOnce}
	p.Codes, p.Next = once.codes, PageLink{AccountPath, words.Saved}
	return true
}

// renewCodesPage asks for a code to replace the recovery codes, and then shows them.
func renewCodesPage(_ *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Factor
	if p.showCodes(req) {
		return nil
	}
	p.Title, p.Texts = words.RenewTitle, []string{words.RenewText}
	p.Forms = []htmlForm{{
		Submit: words.RenewTitle,
		Fields: []htmlField{codeField(words.AnyCode, true)},
	}}
	p.Links = []PageLink{{AuthenticatorPath, words.Title}}
	return nil
}

func renewCodesByForm(req *web.Request, in *account.OwnProof) (string, error) {
	out, err := account.RenewAppRecovery(req, in)
	return showOnce(req, out, err)
}

// removeAppPage asks for a code to remove the authenticator app.
func removeAppPage(_ *store.Tx, _ *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Factor
	p.Title, p.Texts = words.RemoveTitle, []string{words.RemoveText}
	p.Forms = []htmlForm{{
		Submit: words.RemoveSubmit,
		Kind:   "danger",
		Fields: []htmlField{codeField(words.AnyCode, true)},
	}}
	p.Links = []PageLink{{AuthenticatorPath, words.Title}}
	return nil
}

func removeAppByForm(req *web.Request, in *account.OwnProof) (string, error) {
	_, err := account.RemoveAppTOTP(req, in)
	return AccountPath + "?done=factor_removed", err
}

// spaced returns a secret in groups of four characters, which are easier to type.
func spaced(secret string) string {
	var b strings.Builder
	for i := 0; i < len(secret); i += 4 {
		b.WriteString(" " + secret[i:min(i+4, len(secret))])
	}
	return strings.TrimSpace(b.String())
}

// qrSVG returns a QR code as an SVG element, black on white in every colour scheme, with the quiet
// zone of four modules that ISO 18004 requires. Pages need no script for it.
func qrSVG(text, label string) (string, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", err
	}

	const quiet = 4
	var b strings.Builder
	size := code.Size + 2*quiet
	fmt.Fprintf(&b,
		`<svg class="qr" role="img"%s viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="%[2]d" height="%[3]d" fill="#fff"/><path d="`, attribute("aria-label", label), size, size)
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}

	b.WriteString(`"/></svg>`)
	return b.String(), nil
}
