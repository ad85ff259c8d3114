package store

import (
	"slices"
	"sync/atomic"
	"time"

	"reeve/store/errs"
)

// Proof is when a user last proved to be there in a session: by signing in, or by confirming it
// since with the strongest factor. Operations that would be most harmful in a stolen session
// require a recent one.
type Proof struct{ at atomic.Int64 }

// NewProof returns the proof that was given at a time.
func NewProof(at Time) *Proof {
	p := &Proof{}
	p.Renew(at)
	return p
}

// Renew records that the user has proved it again.
func (p *Proof) Renew(at Time) { p.at.Store(int64(at)) }

// At returns when the user last proved it.
func (p *Proof) At() Time { return Time(p.at.Load()) }

// Until returns the time at which the proof is no longer recent.
func (p *Proof) Until(tx *Tx) Time {
	return p.At().Add(time.Duration(ReauthMinutes.Get(tx)) * time.Minute)
}

// lasting is the proof of a job that was started with a recent one.
var lasting = NewProof(1 << 61)

// ErrReauth rejects what requires a recent proof.
var ErrReauth = errs.New(errs.Denied, "confirm first that it is you, with POST /admin/reauth").Coded("reauth_required")

// RequireProof returns ErrReauth unless the actor has a recent proof. API keys never have one.
func RequireProof(tx *Tx) error {
	a := ActorOf(tx)
	switch {
	case a.system, a.operator:
		return nil
	case a.Key != nil:
		return ErrKeyForbidden
	case a.By != nil:
		return ErrActing
	case a.Proof == nil || tx.Now() >= a.Proof.Until(tx):
		return ErrReauth
	}
	return nil
}

// RequireSessionProof is RequireProof for people: an API key does it with the permission alone.
func RequireSessionProof(tx *Tx) error {
	if a := ActorOf(tx); a.App || a.Key != nil {
		return nil
	}
	return RequireProof(tx)
}

// requireOwnerProof requires a recent proof for giving the owner role to a user, or taking it away.
func requireOwnerProof(tx *Tx, old, new *User) error {
	owner := func(u *User) bool { return u != nil && slices.Contains(u.RoleIDs, OwnerRole) }
	if owner(old) == owner(new) {
		return nil
	}
	return RequireProof(tx)
}
