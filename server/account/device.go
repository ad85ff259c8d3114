package account

import (
	"net/http"
	"strings"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// deviceToken returns the device token that the client sent in the body, or else in the
// cookie, which may have a name without the mark of an installation from before there were marks.
func deviceToken(req *web.Request, app bool, sent string) string {
	if sent != "" {
		return sent
	}
	for _, name := range []string{req.Server.DeviceCookie(app),
		web.RealmName(app, web.DeviceName, web.AppDeviceName)} {
		if cookie, err := req.HTTP.Cookie(name); err == nil {
			return cookie.Value
		}
	}
	return ""
}

// byProgram reports whether a program signs in, such as curl or a client library: for a token
// instead of a cookie, and not from a page.
func byProgram(req *web.Request, cookie store.Flag) bool {
	return !bool(cookie) && !strings.HasPrefix(req.HTTP.UserAgent(), "Mozilla/")
}

// keepDevice sets the device token as a cookie that scripts cannot read. One without a mark is
// deleted if it is of this installation.
func keepDevice(req *web.Request, app bool, token string) {
	cookie := req.Server.HiddenCookie(req.Server.DeviceCookie(app), token,
		int(store.DeviceLife/time.Second), req.Secure())
	cookie.SameSite = http.SameSiteStrictMode
	req.SetCookie(cookie)
	if old, err := req.HTTP.Cookie(web.RealmName(app, web.DeviceName, web.AppDeviceName)); err == nil && old.Value == token {
		req.DropCookie(old.Name)
	}
}

const ()

// SignInHealth reports degraded while clients behind an address that is probably a
// proxy are rate-limited.
func SignInHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "sign-in",
		State:   web.Healthy,
		Message: errs.Say("no address that looks like a reverse proxy is at its limit"),
		Figures: map[string]int64{},
	}
	for what, n := range s.Auth.Stats().Throttled {
		p.Figures[what+"_throttled"] = int64(n)
	}
	if addr, seen := s.Suspects.Recent(time.Now()); !seen.IsZero() {
		p.State, p.Message, p.Since = web.Degraded, web.SuspectText(addr), kv.TimeOf(seen)
	}
	return p
}
