package reeve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// App users sign in on the hosted pages of Reeve, and come back with a code, which the program
// exchanges for the token of a session. The browser keeps the token in a cookie of the program's
// host. Until then, a signed cookie has what the code is bound to: a state, by which the program
// recognizes the browser, and the verifier of RFC 7636, which never leaves the two.

// AppCallbackPath is the path of the program that AppCallback serves.
const AppCallbackPath = "/.reeve/app"

const (
	tokenCookie  = "reeve-app"
	beginCookie  = "reeve-app-begin-" // and the beginning of the state: each tab has its own
	beginLife    = time.Hour
	maxBegun     = 4    // cookies of sign-ins that have begun in a browser
	maxReturn    = 1500 // bytes of the path of a page that is kept over a sign-in
	stateInNames = 8    // characters of the state
)

// ProtectApp returns a middleware that lets app users through that have all of some permissions:
// those with the header Authorization, and browsers that have signed in on the hosted pages if
// Options.Origin is set. Browsers that open a page without having signed in are sent there; other
// requests get 401, and 403 without a permission. Requests that change something are refused if a
// page of another origin makes a browser send them.
//
// The key of the client needs the permission auth.check. Origin must be in the setting
// app.return_origins of Reeve, app.pages must be on, and AppCallbackPath must lead to AppCallback.
// ProtectApp panics if a text is not the key of a permission.
//
//	mux.Handle(reeve.AppCallbackPath, client.AppCallback())
//	mux.Handle("GET /orders", client.ProtectApp()(orders))
//	mux.Handle("POST /sign-out", client.AppSignOut("/"))
func (c *Client) ProtectApp(permissions ...string) func(http.Handler) http.Handler {
	return c.protect(App, permissions)
}

// appCaller returns the app user whose browser sends a request; nil if it has answered the request.
func (c *Client) appCaller(ctx context.Context, w http.ResponseWriter, r *http.Request,
	permissions []string) *Caller {
	signIn := unauthorized
	if navigates(r) {
		signIn = func(w http.ResponseWriter) { c.beginApp(w, r) }
	}
	cookie, err := r.Cookie(c.cookieName(tokenCookie))
	if err != nil {
		signIn(w)
		return nil
	}
	if c.crossOrigin(r) {
		refuse(w, http.StatusForbidden,
			"requests of other origins must have the header Authorization")
		return nil
	}
	return c.callerByToken(ctx, w, cookie.Value, App, permissions, signIn)
}

// navigates reports whether a browser opens a page: requests of scripts can accept HTML, too. Older
// browsers, and those over plain HTTP, do not say how they have made a request.
func navigates(r *http.Request) bool {
	h := r.Header
	if r.Method != http.MethodGet || !strings.Contains(h.Get("Accept"), "text/html") || h.Get("X-Requested-With") != "" {
		return false
	}
	if dest := h.Get("Sec-Fetch-Dest"); dest != "" {
		return dest == "document"
	}
	mode := h.Get("Sec-Fetch-Mode")
	return mode == "" || mode == "navigate"
}

// begun is a sign-in that has begun in a browser.
type begun struct {
	State    string `json:"s"`
	Verifier string `json:"v"`
	Path     string `json:"p"` // path of the program to open afterwards
	Ends     int64  `json:"e"` // expiry, seconds since 1970
}

// beginApp sends a browser to the sign-in page.
func (c *Client) beginApp(w http.ResponseWriter, r *http.Request) {
	one := begun{rand.Text(), rand.Text() + rand.Text(), "/", time.Now().Add(beginLife).Unix()}
	if path := requested(r); isLocal(path) && len(path) <= maxReturn {
		one.Path = path
	}
	c.forgetBegun(w, r)
	c.setCookie(w, beginCookie+one.State[:stateInNames], c.sealed(&one), beginLife)
	challenge := sha256.Sum256([]byte(one.Verifier))
	query := url.Values{
		"to":                    {c.appCallback()},
		"state":                 {one.State},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
	redirect(w, c.public+"/app/sign-in?"+query.Encode())
}

// forgetBegun deletes the cookies of sign-ins that were begun if there are many: people leave tabs
// at the sign-in page.
func (c *Client) forgetBegun(w http.ResponseWriter, r *http.Request) {
	prefix, _, _ := strings.Cut(c.cookieName(beginCookie+"*"), "*")
	var names []string
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, prefix) {
			names = append(names, cookie.Name)
		}
	}
	if len(names) < maxBegun {
		return
	}
	for _, name := range names {
		http.SetCookie(w, c.cookie(name, "", -1))
	}
}

func (c *Client) appCallback() string {
	return c.origin.Scheme + "://" + c.origin.Host + AppCallbackPath
}

// AppCallback returns the handler of AppCallbackPath, where the browsers of app users come back from
// the hosted pages. It panics if Options.Origin is not set.
func (c *Client) AppCallback() http.Handler {
	if c.origin == nil {
		panic("reeve: AppCallback needs Options.Origin")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "method not allowed")
			return
		}
		query := r.URL.Query()
		one := c.begunIn(r, query.Get("state"))
		if one == nil || query.Get("code") == "" {
			unfinished(w, r, "/")
			return
		}

		ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
		defer cancel()
		session, err := c.exchange(ctx, query.Get("code"), one)
		var failed *Error
		switch {
		case errors.As(err, &failed) && (failed.Code == "return_code" || failed.Status == http.StatusUnprocessableEntity):
			c.setCookie(w, beginCookie+one.State[:stateInNames], "", -1)
			unfinished(w, r, one.Path)
			return
		case err != nil:
			c.refuseFailed(ctx, w, err)
			return
		}

		c.endFormer(ctx, r)
		c.setCookie(w, beginCookie+one.State[:stateInNames], "", -1)
		c.setCookie(w, tokenCookie, session.Token, time.Until(session.ExpiresAt))
		redirect(w, one.Path)
	})
}

// exchange returns the session of a code. It is sent once: a second use would end the session.
func (c *Client) exchange(ctx context.Context, code string, one *begun) (*Session, error) {
	s := new(Session)
	in := map[string]string{
		"code_token":    code,
		"code_verifier": one.Verifier,
		"to":            c.appCallback(),
		"state":         one.State,
	}
	err := c.As("").Call(ctx, http.MethodPost, "/api/login/code", in, s)
	if err == nil && s.Token == "" {
		err = fmt.Errorf("reeve: POST /api/login/code: %s answers in another form than expected; is the URL right?", c.url)
	}
	return s, err
}

// AppSignOut returns a handler that ends the session of a browser, deletes its cookie and sends the
// browser to a path of the program. It takes POST, from pages of the program only.
//
// The session that the browser has on the hosted pages goes on, so that the next sign-in needs no
// password; AppSignOutEverywhere ends it, too. Both panic if Options.Origin is not set, or to is not
// a path.
func (c *Client) AppSignOut(to string) http.Handler { return c.appSignOut(to, "") }

// AppSignOutEverywhere is AppSignOut by way of Reeve's page to sign out, which asks once more.
func (c *Client) AppSignOutEverywhere(to string) http.Handler {
	return c.appSignOut(to, c.public+"/app/sign-out?to=")
}

func (c *Client) appSignOut(to, page string) http.Handler {
	if c.origin == nil || !isLocal(to) {
		panic("reeve: AppSignOut needs Options.Origin and a path")
	}
	if page != "" {
		to = page + url.QueryEscape(c.origin.Scheme+"://"+c.origin.Host+to)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, "method not allowed")
			return
		case c.crossOrigin(r):
			refuse(w, http.StatusForbidden, "requests of other origins can't sign out")
			return
		}

		ctx, cancel := context.WithTimeout(r.Context(), c.timeout)
		defer cancel()
		c.endFormer(ctx, r)
		c.setCookie(w, tokenCookie, "", -1)
		redirect(w, to)
	})
}

// endFormer ends the session in the cookie of a request, which is about to be replaced or deleted.
func (c *Client) endFormer(ctx context.Context, r *http.Request) {
	cookie, err := r.Cookie(c.cookieName(tokenCookie))
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxToken {
		return
	}
	if err := c.As(cookie.Value).SignOut(ctx, App); err != nil && c.warned.now() {
		c.logger.Warn("reeve: a session could not be ended; it ends when it expires", "error", err)
	}
}

// isLocal reports whether a text is a path of the program, which leads a browser nowhere else.
func isLocal(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") &&
		!strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f })
}

func redirect(w http.ResponseWriter, to string) {
	h := w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusSeeOther)
}

// unfinished tells a person that the sign-in has to begin again.
func unfinished(w http.ResponseWriter, r *http.Request, path string) {
	language, text, link := "en", "This sign-in has expired, or was completed already.", "Continue"
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "zh") {
		language, text, link = "zh-CN", "此次登录已过期或已完成。", "继续"
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, `<!doctype html><html lang="%s"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%[2]s</title><p>%[2]s</p><p><a href="%s">%s</a></p></html>`,
		language, text, html.EscapeString(path), link) // the client may be gone
}

// cookieName returns the name of a cookie of the program. Browsers accept the prefix only from the
// host itself, over HTTPS. The port is in the name, since browsers share cookies between the ports of
// a host.
func (c *Client) cookieName(name string) string {
	if port := c.origin.Port(); port != "" {
		name = "p" + port + "-" + name
	}
	if c.origin.Scheme == "https" {
		return "__Host-" + name
	}
	return name
}

func (c *Client) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	seconds := int(life / time.Second)
	if value == "" {
		seconds = -1
	}
	http.SetCookie(w, c.cookie(c.cookieName(name), value, seconds))
}

func (c *Client) cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   c.origin.Scheme == "https",
	}
}

// sealKey returns the key with which cookies are signed: one for all processes with the same key of
// Reeve, so that each can finish what another one has begun.
func sealKey(key string) []byte {
	if key == "" {
		key = rand.Text() + rand.Text()
	}
	mac := hmac.New(sha256.New, []byte("reeve app sign-in"))
	mac.Write([]byte(key)) // a hash never fails
	return mac.Sum(nil)
}

// sealed returns the value of the cookie of a sign-in.
func (c *Client) sealed(one *begun) string {
	text, _ := json.Marshal(one) // it has only texts and a number
	value := base64.RawURLEncoding.EncodeToString(text)
	return value + "." + c.signature(value)
}

func (c *Client) signature(value string) string {
	mac := hmac.New(sha256.New, c.seal)
	mac.Write([]byte(value)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// begunIn returns the sign-in with a state that was begun in the browser of a request; nil for none.
func (c *Client) begunIn(r *http.Request, state string) *begun {
	if len(state) < stateInNames {
		return nil
	}
	cookie, err := r.Cookie(c.cookieName(beginCookie + state[:stateInNames]))
	if err != nil {
		return nil
	}
	value, signature, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(signature), []byte(c.signature(value))) {
		return nil
	}
	one := new(begun)
	text, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || json.Unmarshal(text, one) != nil || one.State != state || time.Now().Unix() >= one.Ends || !isLocal(one.Path) {
		return nil
	}
	return one
}
