package auth

import (
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// loginProof is the password, and the second factor if there is one, of a sign-in.
type loginProof struct {
	hash    string        // hash that the password was compared with; "" for no password
	fresh   string        // hash of the password to store instead; "" for none
	since   store.Time    // seen, as of the first step; 0 in the first step
	seen    store.Time    // last change of the hash, or end of all sessions; of the user, without a password
	code    *string       // code of the second factor; nil for none
	passkey *assertion    // nil for none
	pending *pendingLogin // first step; nil in the first step
	uses    []once        // values that the session uses up

	mailed   bool     // whether a code by mail was the proof, instead of a password
	arrival  *Arrival // answer of a provider; nil for a password
	identity store.ID // identity of the person; 0 without arrival
}

// means returns Session.Means of the session that the proof opens.
func (p *loginProof) means() string {
	switch {
	case p.passkey != nil:
		return store.ByPasskey
	case p.arrival != nil:
		return store.ByProvider
	case p.mailed:
		return store.ByMail
	}
	return store.ByPassword
}

// checkHash returns an error if the password has changed since it was compared, or the sessions of
// the user were ended since the first step. Without a password, any change of the user ends it.
func (p *loginProof) checkHash(tx *store.Tx, account store.Account) (err error) {
	if p.mailed {
		if err := store.CheckCodeSignIn(tx, account); err != nil {
			return err
		}
	}
	if p.arrival != nil || p.mailed {
		if p.seen, err = account.ChangedAt(tx); err == nil && p.since != 0 && p.seen != p.since {
			err = errPending
		}
		return err
	}
	if p.hash == "" && p.since == 0 {
		return nil
	}
	if err := store.CheckPasswordUse(tx, account); err != nil {
		return err
	}
	stored, err := store.HashOf(tx, account)
	switch {
	case err != nil && !errs.Is(err, errs.NotFound):
		return err
	case p.since != 0 && (err != nil || stored.UpdatedAt != p.since):
		return errPending
	case err != nil || p.since == 0 && stored.Hash != p.hash:
		return errWrong
	}
	p.seen = stored.UpdatedAt
	return nil
}

// grant opens the session. In the first step of a sign-in, it returns nil if there is a second one.
func (a *Auth) grant(account store.Account, proof *loginProof, in Attempt,
	device *deviceUse) (*Grant, error) {
	var g *Grant
	err := a.inStep(proof, func(tx *store.Tx) error {
		g = nil
		if err := proof.checkHash(tx, account); err != nil {
			return err
		}
		if pending, err := a.secondFactor(tx, account, proof); err != nil || pending {
			return err
		}

		mustChange, first, err := signedIn(tx, account, in.Addr.String())
		if err != nil {
			return err
		}
		if proof.fresh != "" {
			stored, err := store.HashOf(tx, account)
			if err == nil {
				_, err = store.PasswordHashes.Update(tx, stored.ID,
					func(h *store.PasswordHash) error {
						h.Hash = proof.fresh
						return nil
					})
			}
			if err != nil {
				return err
			}
		}

		g, err = open(tx, account, in, device, first, proof)
		if err == nil {
			g.MustChange, err = store.MustChange(tx, account, mustChange)
		}
		for _, o := range proof.uses {
			if err == nil {
				err = a.spend(tx, o)
			}
		}

		return refuseUsed(err, errPending)
	})
	if errs.Is(err, errs.Full) && proof.arrival == nil && !proof.mailed {
		return a.hold(account, proof, in, err)
	}

	return g, err
}

// inStep runs the transaction of a sign-in: in the second step, one that counts a wrong code.
func (a *Auth) inStep(proof *loginProof, fn func(tx *store.Tx) error) error {
	if proof.pending == nil {
		return a.db.Update(store.System, fn)
	}
	return a.try(proof.pending, errPending, fn)
}

// allUses returns what the session uses up, with the challenge of a passkey.
func (p *loginProof) allUses() []once {
	if p.passkey == nil {
		return p.uses
	}
	return append(slices.Clip(p.uses), p.passkey.challenge)
}
