package account

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Products send browsers to the hosted pages, from which app users return with a code, see
// auth.Return. The product's server exchanges it for a session here.

// AppReturnRoutes are the routes for products whose app users sign in on the hosted pages.
func AppReturnRoutes() []web.Route {
	return []web.Route{
		web.Action("POST", "/api/login/code", web.Public, "Exchange a code for a session of an app user",
			exchangeCode, web.Options{
				MaxBody:  web.SmallBody,
				Closable: true,
				Note: "For the server of a product to which a browser has returned from GET /app/sign-in. " +
					"Returns the token of a session of its own. 403 return_code if the code has expired, was " +
					"used before, or is of another request; a second use ends the session that the first one has opened.",
			}),
	}
}

// ReturnIn are the parameters with which a product sends a browser to the hosted pages.
type ReturnIn struct {
	To        string `query:"to" doc:"URL of the product to which the browser returns, with code and state in its query, at an origin of the setting app.return_origins; absent to stay here"`
	State     string `query:"state" doc:"With to: random text that comes back, by which the product recognizes the browser: 16 to 128 letters, digits and . _ ~ -"`
	Challenge string `query:"code_challenge" doc:"With to: SHA-256 of the code verifier of RFC 7636, in base64url without padding"`
	Method    string `query:"code_challenge_method" doc:"With to: S256"`
}

const maxReturn = 500 // characters of the URL, which sign-in providers carry along

var (
	stateForm     = regexp.MustCompile(`^[A-Za-z0-9._~-]{16,128}$`)
	challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
)

// ReturnOf returns where the parameters of a page lead after a sign-in; nil for nowhere.
func ReturnOf(tx *store.Tx, query url.Values) (*auth.Return, error) {
	in := ReturnIn{query.Get("to"), query.Get("state"), query.Get("code_challenge"), query.Get("code_challenge_method")}
	if in.To == "" {
		return nil, nil
	}
	if err := CheckReturn(tx, in.To); err != nil {
		return nil, err
	}
	faults := errs.Faults{}
	if !stateForm.MatchString(in.State) {
		faults.Add("state", "must be 16 to 128 letters, digits and . _ ~ -")
	}
	if !challengeForm.MatchString(in.Challenge) {
		faults.Add("code_challenge", "must be a SHA-256 in base64url: 43 characters")
	}
	if in.Method != "S256" {
		faults.Add("code_challenge_method", "must be S256")
	}
	return &auth.Return{To: in.To, State: in.State, Challenge: in.Challenge}, faults.Err(errs.Invalid)
}

// CheckReturn returns an error unless a browser may be sent to a URL of a product.
func CheckReturn(tx *store.Tx, to string) error {
	u, err := url.Parse(to)
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>^`{|}", r) }
	if err != nil || len(to) > maxReturn || u.User != nil || strings.Contains(to, "#") ||
		strings.ContainsFunc(to, odd) || strings.HasPrefix(u.Path, "//") || u.Query().Has("code") || u.Query().Has("state") {
		return errs.Field(errs.Invalid, "to",
			"is not an address to return to: it must be at most %d characters, without a fragment, and without code and state in its query", maxReturn)
	}
	known := slices.ContainsFunc(store.AppReturnOrigins.Origins(tx), func(origin string) bool {
		return strings.HasPrefix(to, origin+"/")
	})
	if !known {
		return errs.New(errs.Denied, "the address to return to is not at an origin of the setting app.return_origins").Coded("unknown_origin")
	}
	return nil
}

// ReturnURL returns where the browser of an app user returns to, with a code. change reports whether
// the user must change the password first. The URL is "" if there is no session.
func ReturnURL(tx *store.Tx, req *web.Request, to *auth.Return) (address string, change bool, err error) {
	session, err := req.AppSession(tx)
	if err != nil || session == nil {
		return "", false, err
	}
	change, err = store.MustChange(tx, session.Actor.Account(), session.Actor.MustChange)
	if err != nil || change {
		return "", change, err
	}
	code, err := req.Auth().NewReturnCode(session, *to)
	if err != nil {
		return "", false, err
	}
	mark := "?"
	if strings.Contains(to.To, "?") {
		mark = "&"
	}
	return to.To + mark + url.Values{"code": {code}, "state": {to.State}}.Encode(), false, nil
}

type exchangeIn struct {
	Code     string `json:"code_token" check:"required,max=500" doc:"The parameter code with which the browser has returned; it can be used once, within a minute"`
	Verifier string `json:"code_verifier" check:"required,min=43,max=128" doc:"Code verifier whose challenge was sent to GET /app/sign-in"`
	To       string `json:"to" check:"required,max=500" doc:"The same URL as was sent there"`
	State    string `json:"state" check:"required,max=128" doc:"The same state as was sent there"`
}

type exchangeOut struct {
	Token              string     `json:"token" doc:"Token of the session, to be sent in the header Authorization: Bearer <token>"`
	ExpiresAt          store.Time `json:"expires_at" doc:"Time at which the session expires; an idle session expires earlier"`
	MustChangePassword store.Flag `json:"must_change_password"`
}

// exchangeCode opens a session for the server of a product.
func exchangeCode(req *web.Request, in *exchangeIn) (*exchangeOut, error) {
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) error { return CheckReturn(tx, in.To) })
	if err != nil {
		return nil, err
	}
	grant, username, err := req.Auth().ExchangeReturnCode(in.Code, in.To, in.State, in.Verifier)
	event := "login"
	if err != nil {
		event = "login_failed"
	}
	req.Note(event, username, err)
	if err != nil {
		return nil, err
	}
	return &exchangeOut{grant.Token, grant.ExpiresAt, store.Flag(grant.MustChange)}, nil
}
