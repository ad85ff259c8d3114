package server

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// deviceToken returns the device token that the client sent in the body, or else in the
// cookie, which may have a name without the mark of an installation from before there were marks.
func (req *Request) deviceToken(app bool, sent string) string {
	if sent != "" {
		return sent
	}
	for _, name := range []string{req.s.deviceCookie(app), realmName(app, deviceName, appDeviceName)} {
		if cookie, err := req.http.Cookie(name); err == nil {
			return cookie.Value
		}
	}
	return ""
}

// byProgram reports whether a program signs in, such as curl or a client library: for a token instead of a cookie, and not from
// a page.
func (req *Request) byProgram(cookie store.Flag) bool {
	return !bool(cookie) && !strings.HasPrefix(req.http.UserAgent(), "Mozilla/")
}

// keepDevice sets the device token as a cookie that scripts cannot read. One without a mark is deleted if it is of this
// installation.
func (req *Request) keepDevice(app bool, token string) {
	cookie := req.s.hiddenCookie(req.s.deviceCookie(app), token, int(store.DeviceLife/time.Second), req.secure())
	cookie.SameSite = http.SameSiteStrictMode
	req.setCookie(cookie)
	if old, err := req.http.Cookie(realmName(app, deviceName, appDeviceName)); err == nil && old.Value == token {
		req.dropCookie(old.Name)
	}
}

// forwardingHeaders are the headers that reverse proxies add.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// forwarded reports whether the client sends forwarding headers that are ignored, since
// it is not a trusted proxy.
func (req *Request) forwarded() bool {
	peer, err := netip.ParseAddrPort(req.http.RemoteAddr)
	if err != nil || peer.Addr().Unmap().WithZone("") != req.Addr {
		return false
	}
	for _, name := range forwardingHeaders {
		if len(req.http.Header[name]) > 0 {
			return true
		}
	}
	return false
}

const (
	suspectFor  = time.Hour // interval between two log entries about an address, and how long health reports it
	maxSuspects = 1000
)

// suspects are addresses that are probably reverse proxies missing from the
// configuration: all their clients share one address and its limits.
type suspects struct {
	mu     sync.Mutex
	logged map[netip.Addr]time.Time
	last   netip.Addr
	seen   time.Time // time of last; zero for never
}

// note records an address and reports whether to log it.
func (s *suspects) note(addr netip.Addr, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.seen = addr, now
	if at, ok := s.logged[addr]; ok && now.Sub(at) < suspectFor {
		return false
	}
	if len(s.logged) >= maxSuspects {
		for addr, at := range s.logged {
			if now.Sub(at) >= suspectFor {
				delete(s.logged, addr)
			}
		}
		if len(s.logged) >= maxSuspects {
			return false
		}
	}
	if s.logged == nil {
		s.logged = map[netip.Addr]time.Time{}
	}
	s.logged[addr] = now
	return true
}

// recent returns the last address and its time; a zero time if there is none within
// suspectFor.
func (s *suspects) recent(now time.Time) (addr netip.Addr, seen time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen.IsZero() || now.Sub(s.seen) >= suspectFor {
		return addr, time.Time{}
	}
	return s.last, s.seen
}

// addressFull logs the probable cause when an address has used up its attempts.
func (req *Request) addressFull() {
	if !req.forwarded() || !req.s.suspects.note(req.Addr, time.Now()) {
		return
	}
	req.s.log.Warn().Str("address", req.Addr.String()).Str("request", req.ID).Msg(suspectText(req.Addr).String())
}

func suspectText(addr netip.Addr) errs.Message {
	return errs.Say("sign-in attempts from %s are limited as those of one client, but it sends forwarding headers: "+
		"if it is your reverse proxy, add it to server.trusted_proxies; otherwise one client is guessing passwords", addr)
}

// signInHealth reports degraded while clients behind an address that is probably a
// proxy are rate-limited.
func (s *Server) signInHealth() part {
	p := part{Name: "sign-in", State: healthy, message: errs.Say("no address that looks like a reverse proxy is at its limit"), Figures: map[string]int64{}}
	for what, n := range s.auth.Stats().Throttled {
		p.Figures[what+"_throttled"] = int64(n)
	}
	if addr, seen := s.suspects.recent(time.Now()); !seen.IsZero() {
		p.State, p.message, p.Since = degraded, suspectText(addr), store.TimeOf(seen)
	}
	return p
}
