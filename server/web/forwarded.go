package web

import (
	"net/netip"
	"sync"
	"time"

	"reeve/store/errs"
)

// forwardingHeaders are the headers that reverse proxies add.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// forwarded reports whether the client sends forwarding headers that are ignored, since
// it is not a trusted proxy.
func (req *Request) forwarded() bool {
	peer, err := netip.ParseAddrPort(req.HTTP.RemoteAddr)
	if err != nil || peer.Addr().Unmap().WithZone("") != req.Addr {
		return false
	}
	for _, name := range forwardingHeaders {
		if len(req.HTTP.Header[name]) > 0 {
			return true
		}
	}
	return false
}

const SuspectFor = time.Hour // interval between two log entries about an address, and how long health reports it

const MaxSuspects = 1000

// Suspects are addresses that are probably reverse proxies missing from the
// configuration: all their clients share one address and its limits.
type Suspects struct {
	mu     sync.Mutex
	Logged map[netip.Addr]time.Time
	last   netip.Addr
	seen   time.Time // time of last; zero for never
}

// Note records an address and reports whether to log it.
func (s *Suspects) Note(addr netip.Addr, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.seen = addr, now
	if at, ok := s.Logged[addr]; ok && now.Sub(at) < SuspectFor {
		return false
	}
	if len(s.Logged) >= MaxSuspects {
		for addr, at := range s.Logged {
			if now.Sub(at) >= SuspectFor {
				delete(s.Logged, addr)
			}
		}
		if len(s.Logged) >= MaxSuspects {
			return false
		}
	}
	if s.Logged == nil {
		s.Logged = map[netip.Addr]time.Time{}
	}

	s.Logged[addr] = now
	return true
}

// Recent returns the last address and its time; a zero time if there is none within
// SuspectFor.
func (s *Suspects) Recent(now time.Time) (addr netip.Addr, seen time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen.IsZero() || now.Sub(s.seen) >= SuspectFor {
		return addr, time.Time{}
	}
	return s.last, s.seen
}

// AddressFull logs the probable cause when an address has used up its attempts.
func (req *Request) AddressFull() {
	if !req.forwarded() || !req.Server.Suspects.Note(req.Addr, time.Now()) {
		return
	}
	req.Server.Log.Warn().Str("address", req.Addr.String()).Str("request", req.ID).Msg(SuspectText(req.Addr).String())
}

func SuspectText(addr netip.Addr) errs.Message {
	return errs.Say("sign-in attempts from %s are limited as those of one client, but it sends forwarding headers: "+
		"if it is your reverse proxy, add it to server.trusted_proxies; otherwise one client is guessing passwords", addr)
}
