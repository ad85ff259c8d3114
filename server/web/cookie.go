package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"reeve/store"
)

// Browsers share cookies between the ports of a host. The names of cookies therefore end with a
// mark of the installation, so that two of them on one host do not replace the cookies of each
// other. Cookies on the origins of programs have the port in their names instead, see
// readOriginCookie.

// CookieMarks are the marks of an installation in the names of its cookies.
type CookieMarks struct {
	Session string // changes with a restore, which ends all sessions: so a copy from a backup beside the original has its own
	Device  string // remains, since devices stay known after a restore
}

func NewCookieMarks(db *store.DB) (m CookieMarks, err error) {
	return m, db.View(store.System, func(tx *store.Tx) error {
		m = CookieMarks{cookieMark(tx.Instance() + " " + db.LogHead().Generation),
			cookieMark(tx.Instance())}
		return nil
	})
}

// cookieMark returns eight hexadecimal digits.
func cookieMark(of string) string {
	sum := sha256.Sum256([]byte("cookies of " + of))
	return "_" + hex.EncodeToString(sum[:4])
}

// The names of cookies begin with these. They were the whole names once: see adoptSession and
// deviceToken.
const (
	SessionName    = "reeve_session"
	AppSessionName = "reeve_app_session"
	DeviceName     = "reeve_device"
	AppDeviceName  = "reeve_app_device"
	PendingName    = "reeve_app_login"   // of a sign-in that waits for its code
	ProductName    = "reeve_app_product" // of the product that a browser came from
)

// SessionCookie returns the name of a realm's cookie with the session.
func (s *Server) SessionCookie(app, secure bool) string {
	return s.CookieName(RealmName(app, SessionName, AppSessionName)+s.Cookies.Session, secure)
}

// OldSessionCookie is SessionCookie without a mark.
func (s *Server) OldSessionCookie(app, secure bool) string {
	return s.CookieName(RealmName(app, SessionName, AppSessionName), secure)
}

// DeviceCookie returns the name of a realm's cookie with the device token.
func (s *Server) DeviceCookie(app bool) string {
	return RealmName(app, DeviceName, AppDeviceName) + s.Cookies.Device
}

// PendingCookie returns the name of the cookie with the token of a sign-in that waits for its code.
func (s *Server) PendingCookie() string { return PendingName + s.Cookies.Session }

// ProductCookie returns the name of the cookie with the origin of the product that a browser came from.
func (s *Server) ProductCookie() string { return ProductName + s.Cookies.Session }

func RealmName(app bool, admin, other string) string {
	if app {
		return other
	}
	return admin
}

// CookieName returns a name with the prefix of secure cookies. Browsers accept __Host- only from the
// host itself, over HTTPS, and only for the whole host; over plain HTTP they refuse both.
func (s *Server) CookieName(name string, secure bool) string {
	switch {
	case !secure:
		return name
	case s.Config.BasePath != "":
		return "__Secure-" + name
	}
	return "__Host-" + name
}

// HiddenCookie returns a cookie of this server, which browsers do not send to other programs of its
// host.
func (s *Server) HiddenCookie(name, value string, seconds int, secure bool) *http.Cookie {
	cookie := HiddenCookie(name, value, seconds, secure)
	cookie.Path = cmp.Or(s.Config.BasePath, "/")
	return cookie
}

// HiddenCookie returns a cookie that scripts cannot read, and that other sites cannot make a
// browser send but by a link. seconds is how long it is kept: 0 until the browser is closed,
// negative to delete it.
func HiddenCookie(name, value string, seconds int, secure bool) *http.Cookie {
	return &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   secure,
	}
}

// SetCookie sets a cookie, and replaces one of the same name in this response: a request can be
// authorized twice.
func (req *Request) SetCookie(c *http.Cookie) {
	h := req.Writer.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool {
		return strings.HasPrefix(line, c.Name+"=")
	})
	h.Add("Set-Cookie", c.String())
}

// setsCookie reports whether this response sets a cookie.
func (req *Request) setsCookie(name string) bool {
	return slices.ContainsFunc(req.Writer.Header()["Set-Cookie"], func(line string) bool {
		return strings.HasPrefix(line, name+"=")
	})
}

// DropCookie deletes a cookie.
func (req *Request) DropCookie(name string) {
	req.SetCookie(req.Server.HiddenCookie(name, "", -1, strings.HasPrefix(name, "__")))
}

// KeepForProvider sends a cookie for the way to a sign-in provider and back. Browsers come back to the
// public URL, so its scheme counts.
func (req *Request) KeepForProvider(name, value string, life time.Duration) {
	s := req.Server
	secure := strings.HasPrefix(s.Config.PublicURL, "https://")
	req.SetCookie(s.HiddenCookie(s.CookieName(name+s.Cookies.Session, secure), value, int(life/time.Second), secure))
}

// KeptForProvider returns the value of a cookie of KeepForProvider, "" for none, and its whole name.
func (req *Request) KeptForProvider(name string) (value, whole string) {
	s := req.Server
	whole = s.CookieName(name+s.Cookies.Session, strings.HasPrefix(s.Config.PublicURL, "https://"))
	if c, err := req.HTTP.Cookie(whole); err == nil {
		value = c.Value
	}
	return value, whole
}
