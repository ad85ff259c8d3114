package auth

import (
	"net/netip"

	"reeve/store"
)

// A session that can't be used because passwords were turned off can be used again once they are on.
// Its client can end it all the same: the functions here find such a session, too.

// AuthenticateToEnd is Authenticate for a client that ends the session.
func (a *Auth) AuthenticateToEnd(tx *store.Tx, token string, addr netip.Addr) (*Session, error) {
	s, err := a.Authenticate(tx, token, addr)
	return toEnd(tx, token, s, err)
}

// InspectToEnd is Inspect for a session that is about to end.
func (a *Auth) InspectToEnd(tx *store.Tx, token string) (*Session, error) {
	s, err := a.Inspect(tx, token)
	return toEnd(tx, token, s, err)
}

// ForwardedToEnd is Forwarded for a client that ends the session.
func (a *Auth) ForwardedToEnd(tx *store.Tx, token, origin string) (*Session, error) {
	hash, err := a.forwardedHash(tx, token, origin)
	if err != nil {
		return nil, err
	}
	s, err := a.inspect(tx, a.sessions.get(hash), hash, false)
	if err == errPasswordSession {
		return ending(tx, hash)
	}
	return s, err
}

func toEnd(tx *store.Tx, token string, s *Session, err error) (*Session, error) {
	if err != errPasswordSession {
		return s, err
	}
	hash, _, _ := hashToken(token) // it was found with it
	return ending(tx, hash)
}

// ending returns a session whose end is not refused because passwords were turned off. It is not cached.
func ending(tx *store.Tx, hash tokenHash) (*Session, error) {
	s, err := load(tx, hash)
	if err == nil {
		s.password = nil
	}
	return s, err
}
