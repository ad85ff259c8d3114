package auth

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// The ways in which a user confirms who it is during a session, see store.Proof.
const (
	ByPassword = store.ByPassword
	ByCode     = "otp"
	ByPasskey  = store.ByPasskey
	ByProvider = store.ByProvider // with a new sign-in at a provider
	BySignIn   = "sign_in"        // not in this session: with a new one
	ByRecovery = "recovery"       // with a recovery code, sent as otp
)

// Confirmation has the proofs with which a user confirms it. The way that ProofMethod returns has
// to be among them.
type Confirmation struct {
	Password *string
	Code     *string         // code of the authenticator app, or a recovery code
	Passkey  json.RawMessage // response of a passkey; nil for none
	Arrival  string          // token of an arrival with the purpose ToConfirm; "" for none
}

// ProofMethod returns the way in which the user of a session has to confirm who it is: with the
// strongest factor. A recovery code replaces it. options are for asking a browser for a passkey;
// nil unless that is the way.
func (a *Auth) ProofMethod(tx *store.Tx,
	s *Session) (method string, options json.RawMessage, err error) {
	passkeys, err := a.usablePasskeys(tx, s.account)
	if err != nil {
		return "", nil, err
	}
	if len(passkeys) > 0 {
		options, err = a.requestPasskey(toConfirm, s.bound(), ceremonyLife, passkeys)
		return ByPasskey, options, err
	}
	has, err := store.HasFactor(tx, s.account)
	if err != nil || has {
		return ByCode, nil, err
	}
	hash, err := store.SignInHash(tx, s.account)
	if err != nil || hash != "" {
		return ByPassword, nil, err
	}
	p, err := store.ConfirmingProvider(tx, s.account, s.ID)
	if err != nil || p != nil {
		return ByProvider, nil, err
	}
	return BySignIn, nil, nil
}

// Prove renews the proof of a session, see store.RequireProof, and replaces its token. On a full
// disk, the proof is renewed in memory only, and token is "".
func (a *Auth) Prove(s *Session, addr netip.Addr,
	in Confirmation) (until store.Time, token string, err error) {
	if s.replaced != 0 {
		return 0, "", errReplaced
	}

	var method string
	err = a.db.View(s.Actor, func(tx *store.Tx) (err error) {
		method, _, err = a.ProofMethod(tx, s)
		return err
	})
	if err != nil {
		return 0, "", err
	}

	token, hash := newToken(tokenPrefix)
	full := s.isHeld()
	switch {
	case method == ByPasskey && in.Passkey != nil:
		err = a.proveByPasskey(s, in.Passkey, hash, &full)
	case method == ByCode &&
		in.Code != nil, method == ByPasskey && in.Code != nil &&
		len(plainCode(*in.Code)) != codeDigits:
		err = a.proving(s, addr, func() error { return a.proveByCode(s, *in.Code, hash, &full) })
	case method == ByPassword && in.Password != nil:
		if err = a.Confirm(s, addr, *in.Password); err == nil {
			err = a.renewProof(s, "", hash, func(*store.Tx) error { return nil })
		}
		if errs.Is(err, errs.Full) && !a.several() {
			full, err = true, nil
		}
	case method == ByProvider && in.Arrival != "":
		err = a.proveByProvider(s, in.Arrival, hash, &full)
	case method == BySignIn:
		err = errSignInAgain
	default:
		err = errs.Field(errs.Invalid, method, "is required to confirm that it is you").Coded("proof_method")
	}
	if err != nil {
		return 0, "", err
	}

	proof := store.NewProof(kv.TimeOf(time.Now()))
	if full { // otherwise requests with the previous token, which share the actor, must not get the proof
		token = ""
		s.Actor.Proof.Renew(proof.At())
	}

	err = a.db.View(s.Actor, func(tx *store.Tx) error { until = proof.Until(tx); return nil })
	return until, token, err
}

// errReplaced rejects a confirmation with a token that another confirmation has replaced.
var errReplaced = errs.New(errs.Conflict,
	"this token was replaced by a confirmation; use the new one").Coded("token_replaced")

// errSignInAgain rejects a confirmation by a user who has no factor, no password, and no provider that
// says when its people sign in.
var errSignInAgain = errs.New(errs.Conflict,
	"you have nothing to confirm this session with: sign out and sign in again, then add a passkey or an authenticator app").Coded("proof_sign_in")

// proveByCode uses up a code and renews the proof of a session. It sets full if that could not be
// stored.
func (a *Auth) proveByCode(s *Session, code string, token tokenHash, full *bool) error {
	err := a.renewProof(s, "", token, func(tx *store.Tx) error {
		return a.useFactor(tx, s.account, code)
	})
	if !errs.Is(err, errs.Full) || a.several() {
		return err
	}

	*full = true
	var step int64
	err = a.db.View(s.Actor, func(tx *store.Tx) (err error) {
		step, err = a.heldStep(tx, s.account, code)
		return err
	})
	if err == nil && !a.held.useStep(s.account, step) {
		err = store.ErrWrongCode
	}

	return err
}

// proveByPasskey verifies the response of a passkey and renews the proof of a session. It sets full
// if that could not be stored.
func (a *Auth) proveByPasskey(s *Session, credential json.RawMessage, token tokenHash,
	full *bool) error {
	parsed, err := a.parseAssertion("passkey", credential)
	if err != nil {
		return err
	}
	p, err := a.verifyAssertion(s.account, parsed, toConfirm, s.bound())
	if err == nil {
		err = a.renewProof(s, ByPasskey, token, p.use)
	}
	if errs.Is(err, errs.Full) {
		*full = true
		err = a.spendHeld(p.challenge, err, errOldChallenge)
	}
	return ofPasskey("passkey", err)
}

// renewProof stores that a user has confirmed a session now, and its new token, in the transaction
// of the check. means replaces that of the session; "" for none.
func (a *Auth) renewProof(s *Session, means string, token tokenHash, check func(tx *store.Tx) error) error {
	return a.db.Update(s.Actor, func(tx *store.Tx) error {
		if !s.isHeld() {
			now, err := store.TokenOf(tx, s.ID)
			if err != nil {
				return err
			}
			if now.Hash != s.hash.String() {
				return errReplaced
			}
		}
		if err := check(tx); err != nil {
			return err
		}

		tx.LogAction("reauth", nil)
		if s.isHeld() {
			return nil
		}
		if _, err := store.Sessions.UpdateQuietly(tx, s.ID, func(s *store.Session) error {
			s.ProvedAt, s.Means = tx.Now(), cmp.Or(means, s.Means)
			return nil
		}); err != nil {
			return err
		}

		return store.ReplaceToken(tx, s.ID, token.String())
	})
}
