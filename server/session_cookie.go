package server

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// A browser can have its session in a cookie, which scripts cannot read, instead of sending the token in
// a header. Other sites can make a browser send it, so requests that change something are accepted only
// from pages of this server.

// sessionCookie returns the name of a realm's cookie. Browsers accept the prefix only from the host itself,
// over HTTPS; over plain HTTP they refuse it.
func sessionCookie(app, secure bool) string {
	name := "reeve_session"
	if app {
		name = "reeve_app_session"
	}
	if secure {
		return "__Host-" + name
	}
	return name
}

// secure reports whether the client's connection is encrypted, also if a trusted proxy decrypts it.
func (req *Request) secure() bool {
	if req.http.TLS != nil {
		return true
	}
	peer, err := netip.ParseAddrPort(req.http.RemoteAddr)
	return err == nil && req.http.Header.Get("X-Forwarded-Proto") == "https" && auth.IsTrusted(peer.Addr().Unmap(), req.s.config.TrustedProxies)
}

// keepSession moves the token of a sign-in from the response to a cookie. The session that the browser had before ends.
func (req *Request) keepSession(app bool, out *loginOut) {
	if c, err := req.http.Cookie(sessionCookie(app, req.secure())); err == nil {
		req.endFormer(app, c.Value)
	}
	req.setSession(app, out.Token, out.ExpiresAt)
	out.Token = ""
}

// endFormer ends the session of a cookie that is about to be replaced. If that fails, it ends by itself later.
func (req *Request) endFormer(app bool, token string) {
	var former *auth.Session
	err := req.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		former, err = req.s.auth.Inspect(tx, token) // from any network
		return err
	})
	if err == nil && former.Key == nil && former.Actor.App == app {
		err = req.auth().Logout(former)
	}
	if err != nil && !errs.Is(err, errs.Unauthenticated) {
		req.s.log.Warn().Err(err).Str("request", req.ID).Msg("the former session of a browser has not ended")
	}
}

// setSession sets the cookie of a session.
func (req *Request) setSession(app bool, token string, expires store.Time) {
	secure := req.secure()
	http.SetCookie(&req.w, hiddenCookie(sessionCookie(app, secure), token, int(time.Until(expires.Std())/time.Second), secure))
}

// hiddenCookie returns a cookie that scripts cannot read, and that other sites cannot make a browser send
// but by a link. seconds is how long it is kept: 0 until the browser is closed, negative to delete it.
func hiddenCookie(name, value string, seconds int, secure bool) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
}

// dropSession deletes the cookie of a session, if the client has sent one.
func (req *Request) dropSession(app bool) {
	secure := req.secure()
	name := sessionCookie(app, secure)
	deletion := hiddenCookie(name, "", -1, secure).String()
	if _, err := req.http.Cookie(name); err == nil && !slices.Contains(req.w.Header()["Set-Cookie"], deletion) { // a request can be authorized twice
		req.w.Header().Add("Set-Cookie", deletion)
	}
}

// byCookie returns the session in the cookie of the route's realm; nil for none. Cookies whose session has
// ended are deleted, since scripts cannot do that. For a route of any realm they are like none.
func (req *Request) byCookie(tx *store.Tx, rt *Route) (*auth.Session, error) {
	if len(req.http.Header["Cookie"]) == 0 {
		return nil, nil
	}
	realms := []bool{rt.Access == appOnly}
	if rt.Access == anyRealm {
		realms = []bool{true, false}
	}
	var ended error
	for _, app := range realms {
		c, err := req.http.Cookie(sessionCookie(app, req.secure()))
		if err != nil || c.Value == "" {
			continue
		}
		if err := req.sameOrigin(); err != nil {
			return nil, err
		}
		session, err := req.sessionOf(tx, app, c.Value)
		if err == nil || !errs.Is(err, errs.Unauthenticated) {
			return session, err
		}
		if !errors.Is(err, auth.ErrOtherNetwork) { // that session goes on
			req.dropSession(app)
		}
		ended = err
	}
	if rt.Access == anyRealm {
		ended = nil
	}
	return nil, ended
}

// sessionOf returns the session of a token in the cookie of a realm.
func (req *Request) sessionOf(tx *store.Tx, app bool, token string) (*auth.Session, error) {
	if auth.IsKey(token) {
		return nil, errs.New(errs.Unauthenticated, "an API key must be sent in the header `Authorization: Bearer <key>`")
	}
	session, err := req.s.auth.Authenticate(tx, token, req.Addr)
	if err == nil && session.Actor.App != app {
		err = errOtherRealm
	}
	return session, err
}
