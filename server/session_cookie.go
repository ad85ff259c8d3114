package server

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// A browser can have its session in a cookie, which scripts cannot read, instead of sending the token in
// a header. Other sites can make a browser send it, so requests that change something are accepted only
// from pages of this server.

// encrypted reports whether the client's connection certainly is, also if a trusted proxy decrypts it.
func (req *Request) encrypted() bool {
	if req.http.TLS != nil {
		return true
	}
	peer, err := netip.ParseAddrPort(req.http.RemoteAddr)
	return err == nil && auth.IsTrusted(peer.Addr().Unmap(), req.s.config.TrustedProxies) && strings.EqualFold(firstForwarded(req.http.Header, "X-Forwarded-Proto"), "https")
}

// secure reports whether the browser's connection is encrypted. A proxy that is not trusted, or says nothing, may decrypt
// it; then the origin of the page counts, or whether the request is for the public URL.
func (req *Request) secure() bool {
	if req.encrypted() {
		return true
	}
	if scheme, _, ok := strings.Cut(req.http.Header.Get("Origin"), "://"); ok {
		return scheme == "https"
	}
	return strings.HasPrefix(req.s.config.PublicURL, "https://") && canonicalOrigin("https://"+req.http.Host) == originOf(req.s.config.PublicURL)
}

// sentSessions returns the cookies with a session of a realm that the client has sent, the one to use first. Browsers send the one with the
// prefix over HTTPS only; the other one is not accepted there, since other hosts of the site can set it.
func (req *Request) sentSessions(app bool) []*http.Cookie {
	return req.sentAs(app, req.s.sessionCookie)
}

func (req *Request) sentAs(app bool, name func(app, secure bool) string) (sent []*http.Cookie) {
	for _, secure := range []bool{true, false} {
		if c, err := req.http.Cookie(name(app, secure)); err == nil && (secure || !req.encrypted()) {
			sent = append(sent, c)
		}
	}
	return sent
}

// keepSession moves the token of a sign-in from the response to a cookie. The session that the browser had before ends.
func (req *Request) keepSession(app bool, out *loginOut) {
	for _, c := range req.sentSessions(app) {
		req.endFormer(app, c.Value)
	}
	for _, c := range req.sentAs(app, req.s.oldSessionCookie) {
		if req.endFormer(app, c.Value) {
			req.dropCookie(c.Name)
		}
	}
	req.setSession(app, out.Token, out.ExpiresAt)
	out.Token = ""
}

// endFormer ends the session of a cookie that is about to be replaced. If that fails, it ends by itself later. It reports
// whether there was one.
func (req *Request) endFormer(app bool, token string) bool {
	var former *auth.Session
	err := req.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		former, err = req.s.auth.Inspect(tx, token) // from any network
		return err
	})
	own := err == nil && former.Key == nil && former.Actor.App == app
	if own {
		err = req.auth().Logout(former)
	}
	if err != nil && !errs.Is(err, errs.Unauthenticated) {
		req.s.log.Warn().Err(err).Str("request", req.ID).Msg("the former session of a browser has not ended")
	}
	return own
}

// setSession sets the cookie of a session, instead of any that the client has sent.
func (req *Request) setSession(app bool, token string, expires store.Time) {
	req.setSessionOver(app, token, expires, req.secure())
}

func (req *Request) setSessionOver(app bool, token string, expires store.Time, secure bool) {
	name := req.s.sessionCookie(app, secure)
	for _, c := range req.sentSessions(app) {
		if c.Name != name {
			req.dropCookie(c.Name)
		}
	}
	req.setCookie(req.s.hiddenCookie(name, token, int(time.Until(expires.Std())/time.Second), secure))
}

// dropSession deletes the cookies of a session that the client has sent, or that adoptSession has set.
func (req *Request) dropSession(app bool) {
	for _, c := range req.sentSessions(app) {
		req.dropCookie(c.Name)
	}
	for _, secure := range []bool{true, false} {
		if name := req.s.sessionCookie(app, secure); req.setsCookie(name) {
			req.dropCookie(name)
		}
	}
}

// adoptSession returns the session in a cookie whose name has no mark of an installation, as it was before there were marks,
// and moves it to one that has. Cookies of other installations stay. It returns nil if there is no such session.
func (req *Request) adoptSession(tx *store.Tx, app bool) (*auth.Session, error) {
	for _, c := range req.sentAs(app, req.s.oldSessionCookie) {
		session, err := req.sessionOf(tx, app, c.Value)
		if errs.Is(err, errs.Unauthenticated) {
			continue
		}
		if err == nil {
			err = req.sameOrigin()
		}
		if err != nil {
			return nil, err
		}
		req.setSessionOver(app, c.Value, session.ExpiresAt, strings.HasPrefix(c.Name, "__"))
		req.dropCookie(c.Name)
		return session, nil
	}
	return nil, nil
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
		sent := req.sentSessions(app)
		if len(sent) == 0 {
			if session, err := req.adoptSession(tx, app); session != nil || err != nil {
				return session, err
			}
		}
		for _, c := range sent {
			if c.Value == "" {
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
				req.dropCookie(c.Name)
			}
			ended = err
		}
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
