package auth

import (
	"sync/atomic"

	"reeve/store"
	"reeve/store/errs"
)

// loginUnavailable is, beside those of the login log, how a sign-in can end: not
// decided, because of too many at once or an error of ours.
const loginUnavailable = "unavailable"

// What is throttled, as metrics name it.
const (
	throttledLogin        = "login"
	throttledPassword     = "password"
	throttledRegistration = "registration"
)

// stats counts sign-ins and refusals. Its maps are made once and only read.
type stats struct {
	logins    map[loginKey]*atomic.Uint64
	throttled map[string]*atomic.Uint64
}

type loginKey struct{ realm, result string }

func newStats() *stats {
	s := &stats{map[loginKey]*atomic.Uint64{}, map[string]*atomic.Uint64{}}
	for _, app := range []bool{false, true} {
		for _, result := range []string{store.LoginSucceeded, store.LoginFailed, store.LoginThrottled, loginUnavailable} {
			s.logins[loginKey{realm(app), result}] = new(atomic.Uint64)
		}
	}
	for _, what := range []string{throttledLogin, throttledPassword, throttledRegistration} {
		s.throttled[what] = new(atomic.Uint64)
	}
	return s
}

// login counts a sign-in by how it ended.
func (s *stats) login(app bool, err error) {
	result := loginUnavailable
	switch {
	case err == nil:
		result = store.LoginSucceeded
	case errs.Is(err, errs.Unauthenticated):
		result = store.LoginFailed
	case errs.Is(err, errs.TooMany):
		result = store.LoginThrottled
	}
	s.logins[loginKey{realm(app), result}].Add(1)
}

// LoginCount is how many sign-ins of a realm have ended in one way.
type LoginCount struct {
	Realm, Result string
	Count         uint64
}

// Stats is what has happened since the start, and who is signed in.
type Stats struct {
	Logins    []LoginCount      // every realm and result, in no order
	Throttled map[string]uint64 // attempts refused unheard, by what was attempted
	Sessions  map[string]int    // kept in memory, by realm: those used within the last hour or so
}

// Stats reads the counters.
func (a *Auth) Stats() Stats {
	all := Stats{Throttled: map[string]uint64{}, Sessions: a.sessions.count()}
	for key, n := range a.stats.logins {
		all.Logins = append(all.Logins, LoginCount{key.realm, key.result, n.Load()})
	}
	for what, n := range a.stats.throttled {
		all.Throttled[what] = n.Load()
	}
	return all
}
