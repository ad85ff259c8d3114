package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"reeve/store"
)

// Browsers share cookies between the ports of a host. The names of cookies therefore end with a mark of
// the installation, so that two of them on one host do not replace the cookies of each other. Cookies on the
// origins of programs have the port in their names instead, see originCookie.

// cookieMarks are the marks of an installation in the names of its cookies.
type cookieMarks struct {
	session string // changes with a restore, which ends all sessions: so a copy from a backup beside the original has its own
	device  string // remains, since devices stay known after a restore
}

func newCookieMarks(db *store.DB) (m cookieMarks, err error) {
	return m, db.View(store.System, func(tx *store.Tx) error {
		m = cookieMarks{cookieMark(tx.Instance() + " " + db.LogHead().Generation), cookieMark(tx.Instance())}
		return nil
	})
}

// cookieMark returns eight hexadecimal digits.
func cookieMark(of string) string {
	sum := sha256.Sum256([]byte("cookies of " + of))
	return "_" + hex.EncodeToString(sum[:4])
}

// The names of cookies begin with these. They were the whole names once: see adoptSession and deviceToken.
const (
	sessionName    = "reeve_session"
	appSessionName = "reeve_app_session"
	deviceName     = "reeve_device"
	appDeviceName  = "reeve_app_device"
	pendingName    = "reeve_app_login" // of a sign-in that waits for its code
)

// sessionCookie returns the name of a realm's cookie with the session.
func (s *Server) sessionCookie(app, secure bool) string {
	return s.prefixed(realmName(app, sessionName, appSessionName)+s.cookies.session, secure)
}

// oldSessionCookie is sessionCookie without a mark.
func (s *Server) oldSessionCookie(app, secure bool) string {
	return s.prefixed(realmName(app, sessionName, appSessionName), secure)
}

// deviceCookie returns the name of a realm's cookie with the device token.
func (s *Server) deviceCookie(app bool) string {
	return realmName(app, deviceName, appDeviceName) + s.cookies.device
}

// pendingCookie returns the name of the cookie with the token of a sign-in that waits for its code.
func (s *Server) pendingCookie() string { return pendingName + s.cookies.session }

func realmName(app bool, admin, other string) string {
	if app {
		return other
	}
	return admin
}

// prefixed returns a name with the prefix of secure cookies. Browsers accept __Host- only from the host itself, over
// HTTPS, and only for the whole host; over plain HTTP they refuse both.
func (s *Server) prefixed(name string, secure bool) string {
	switch {
	case !secure:
		return name
	case s.config.BasePath != "":
		return "__Secure-" + name
	}
	return "__Host-" + name
}

// hiddenCookie returns a cookie of this server, which browsers do not send to other programs of its host.
func (s *Server) hiddenCookie(name, value string, seconds int, secure bool) *http.Cookie {
	cookie := hiddenCookie(name, value, seconds, secure)
	cookie.Path = cmp.Or(s.config.BasePath, "/")
	return cookie
}

// hiddenCookie returns a cookie that scripts cannot read, and that other sites cannot make a browser send
// but by a link. seconds is how long it is kept: 0 until the browser is closed, negative to delete it.
func hiddenCookie(name, value string, seconds int, secure bool) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
}

// setCookie sets a cookie, instead of what this response has set under its name: a request can be authorized twice.
func (req *Request) setCookie(c *http.Cookie) {
	h := req.w.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool { return strings.HasPrefix(line, c.Name+"=") })
	h.Add("Set-Cookie", c.String())
}

// setsCookie reports whether this response sets a cookie.
func (req *Request) setsCookie(name string) bool {
	return slices.ContainsFunc(req.w.Header()["Set-Cookie"], func(line string) bool { return strings.HasPrefix(line, name+"=") })
}

// dropCookie deletes a cookie.
func (req *Request) dropCookie(name string) {
	req.setCookie(req.s.hiddenCookie(name, "", -1, strings.HasPrefix(name, "__")))
}
