package web

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

// A browser can have its session in a cookie, which scripts cannot read, instead of sending the
// token in a header. Other sites can make a browser send it, so requests that change something are
// accepted only from pages of this server.

// encrypted reports whether the client's connection certainly is, even if a trusted proxy decrypts
// it.
func (req *Request) encrypted() bool {
	if req.HTTP.TLS != nil {
		return true
	}
	peer, err := netip.ParseAddrPort(req.HTTP.RemoteAddr)
	return err == nil && auth.IsTrusted(peer.Addr().Unmap(), req.Server.Now().TrustedProxies) &&
		strings.EqualFold(FirstForwarded(req.HTTP.Header, "X-Forwarded-Proto"), "https")
}

// Secure reports whether the browser's connection is encrypted. A proxy that is not trusted, or
// says nothing, may decrypt it; then the origin of the page counts, or whether the request is for
// the public URL.
func (req *Request) Secure() bool {
	if req.encrypted() {
		return true
	}
	if scheme, _, ok := strings.Cut(req.HTTP.Header.Get("Origin"), "://"); ok {
		return scheme == "https"
	}
	return strings.HasPrefix(req.Server.Config.PublicURL, "https://") &&
		CanonicalOrigin("https://"+req.HTTP.Host) == originOf(req.Server.Config.PublicURL)
}

// sentSessions returns the cookies with a session of a realm that the client has sent, the one to
// use first. Browsers send the one with the prefix over HTTPS only; the other one is not accepted
// there, since other hosts of the site can set it.
func (req *Request) sentSessions(app bool) []*http.Cookie {
	return req.sentAs(app, req.Server.SessionCookie)
}

func (req *Request) sentAs(app bool, name func(app, secure bool) string) (sent []*http.Cookie) {
	for _, secure := range []bool{true, false} {
		if c, err := req.HTTP.Cookie(name(app, secure)); err == nil &&
			(secure || !req.encrypted()) {
			sent = append(sent, c)
		}
	}
	return sent
}

// KeepSession sends the token of a sign-in in a cookie. The session that the browser had before
// ends.
func (req *Request) KeepSession(app bool, token string, expires store.Time) {
	for _, c := range req.sentSessions(app) {
		req.endFormer(app, c.Value)
	}
	for _, c := range req.sentAs(app, req.Server.OldSessionCookie) {
		if req.endFormer(app, c.Value) {
			req.DropCookie(c.Name)
		}
	}
	req.SetSession(app, token, expires)
}

// endFormer ends the session of a cookie that is about to be replaced. If that fails, it ends by
// itself later. It reports whether there was one.
func (req *Request) endFormer(app bool, token string) bool {
	var previous *auth.Session
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		previous, err = req.Server.Auth.Inspect(tx, token) // from any network
		return err
	})
	own := err == nil && previous.Key == nil && previous.Actor.App == app
	if own {
		err = req.Auth().Logout(previous)
	}
	if err != nil && !errs.Is(err, errs.Unauthenticated) {
		req.Server.Log.Warn().Err(err).Str("request", req.ID).Msg("the previous session of a browser has not ended")
	}
	return own
}

// SetSession sets the cookie of a session, instead of any that the client has sent.
func (req *Request) SetSession(app bool, token string, expires store.Time) {
	req.setSessionOver(app, token, expires, req.Secure())
}

func (req *Request) setSessionOver(app bool, token string, expires store.Time, secure bool) {
	name := req.Server.SessionCookie(app, secure)
	for _, c := range req.sentSessions(app) {
		if c.Name != name {
			req.DropCookie(c.Name)
		}
	}
	req.SetCookie(req.Server.HiddenCookie(name, token, int(time.Until(expires.Std())/time.Second),
		secure))
}

// DropSession deletes the cookies of a session that the client has sent, or that adoptSession has
// set.
func (req *Request) DropSession(app bool) {
	for _, c := range req.sentSessions(app) {
		req.DropCookie(c.Name)
	}
	for _, secure := range []bool{true, false} {
		if name := req.Server.SessionCookie(app, secure); req.setsCookie(name) {
			req.DropCookie(name)
		}
	}
}

// adoptSession returns the session in a cookie whose name has no mark of an installation, as it was
// before there were marks, and moves it to one that has. Cookies of other installations stay. It
// returns nil if there is no such session.
func (req *Request) adoptSession(tx *store.Tx, app bool) (*auth.Session, error) {
	for _, c := range req.sentAs(app, req.Server.OldSessionCookie) {
		session, err := req.sessionOf(tx, app, c.Value)
		if errs.Is(err, errs.Unauthenticated) {
			continue
		}
		if err == nil {
			err = req.SameOrigin()
		}
		if err != nil {
			return nil, err
		}
		req.setSessionOver(app, c.Value, session.ExpiresAt, strings.HasPrefix(c.Name, "__"))
		req.DropCookie(c.Name)
		return session, nil
	}
	return nil, nil
}

// byCookie returns the session in the cookie of the route's realm; nil for none. Cookies whose
// session has ended are deleted, since scripts cannot do that. For a route of any realm they are
// like none.
func (req *Request) byCookie(tx *store.Tx, rt *Route) (*auth.Session, error) {
	if len(req.HTTP.Header["Cookie"]) == 0 {
		return nil, nil
	}

	realms := []bool{rt.Access == AppOnly}
	if rt.Access == AnyRealm {
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
			if err := req.SameOrigin(); err != nil {
				return nil, err
			}
			session, err := req.sessionOf(tx, app, c.Value)
			if err == nil || !errs.Is(err, errs.Unauthenticated) {
				return session, err
			}
			if !errors.Is(err, auth.ErrOtherNetwork) { // that session goes on
				req.DropCookie(c.Name)
			}
			ended = err
		}
	}

	if rt.Access == AnyRealm {
		ended = nil
	}

	return nil, ended
}

// AppSession returns the session of the app user whose cookie a request for a public page has; nil
// for none.
func (req *Request) AppSession(tx *store.Tx) (*auth.Session, error) {
	session, err := req.byCookie(tx, &Route{Access: AppOnly})
	if errs.Is(err, errs.Unauthenticated) {
		err = nil
	}
	return session, err
}

// sessionOf returns the session of a token in the cookie of a realm.
func (req *Request) sessionOf(tx *store.Tx, app bool, token string) (*auth.Session, error) {
	if auth.IsKey(token) {
		return nil, errs.New(errs.Unauthenticated,
			"an API key must be sent in the header `Authorization: Bearer <key>`")
	}
	session, err := req.Server.Auth.Authenticate(tx, token, req.Addr)
	if err == nil && session.Actor.App != app {
		err = errOtherRealm
	}
	return session, err
}
