package auth

import (
	"sync/atomic"

	"reeve/store"
	"reeve/store/errs"
)

// loginUnavailable is the result of a sign-in that could not be decided, because of
// overload or an internal error. The other results are those of the login log.
const loginUnavailable = "unavailable"

// Values of the operation label of throttling metrics.
const (
	throttledLogin        = "login"
	throttledPassword     = "password"
	throttledRegistration = "registration"
	throttledForgot       = "forgot_password"
	throttledLink         = "link"
	throttledChallenge    = "challenge"
	throttledOwnChange    = "own_change"
	throttledFactor       = "second_factor"
	throttledCode         = "sign_in_code"
)

// stats counts sign-ins and rate-limited attempts. Its maps are not changed after
// creation.
type stats struct {
	logins    map[loginKey]*atomic.Uint64
	throttled map[string]*atomic.Uint64
}

type loginKey struct{ realm, result string }

func newStats() *stats {
	s := &stats{map[loginKey]*atomic.Uint64{}, map[string]*atomic.Uint64{}}
	for _, app := range []bool{false, true} {
		for _, result := range []string{store.LoginSucceeded, store.LoginFailed,
			store.LoginThrottled, loginUnavailable} {
			s.logins[loginKey{realm(app), result}] = new(atomic.Uint64)
		}
	}
	for _, operation := range []string{throttledLogin, throttledPassword, throttledRegistration,
		throttledForgot, throttledLink, throttledChallenge, throttledOwnChange, throttledFactor,
		throttledCode} {
		s.throttled[operation] = new(atomic.Uint64)
	}
	return s
}

// login counts a sign-in by its result.
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

// LoginCount is the number of sign-ins with one result in one realm.
type LoginCount struct {
	Realm, Result string
	Count         uint64
}

// Stats is a snapshot of the counters since start, and of the number of sessions.
type Stats struct {
	Logins    []LoginCount      // every realm and result, unordered
	Throttled map[string]uint64 // attempts rejected by rate limiting, by operation
	Sessions  map[string]int    // cached in memory, by realm: those used within the last hour or so
}

// Stats returns the current counts.
func (a *Auth) Stats() Stats {
	all := Stats{Throttled: map[string]uint64{}, Sessions: a.sessions.count()}
	for key, n := range a.stats.logins {
		all.Logins = append(all.Logins, LoginCount{key.realm, key.result, n.Load()})
	}
	for operation, n := range a.stats.throttled {
		all.Throttled[operation] = n.Load()
	}
	return all
}
