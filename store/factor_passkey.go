package store

import (
	"reeve/store/errs"
	"reeve/store/kv"
)

// Passkey is a public key of a person, whose private key is in a device or a password manager
// (WebAuthn).
type Passkey struct {
	Ident
	UserID         ID       `json:"user_id"`
	AppUserID      ID       `json:"app_user_id"`
	Name           string   `json:"name" log:"personal" visible:"name"`
	RPID           string   `json:"rp_id"`         // host name that the passkey is for
	CredentialID   string   `json:"credential_id"` // base64url without padding
	PublicKey      []byte   `json:"public_key"`    // COSE key
	AAGUID         []byte   `json:"aaguid"`        // model of the authenticator; zeros if it is not told
	Transports     []string `json:"transports"`
	BackupEligible Flag     `json:"backup_eligible"`    // whether it can be synchronized between devices
	BackedUp       Flag     `json:"backed_up" log:"-"`  // whether it is
	SignCount      int64    `json:"sign_count" log:"-"` // counter of the last use; 0 without a counter
	LastUsed       Time     `json:"last_used" log:"-"`  // 0 for never
	Versioned
}

// MaxPasskeys is the number of passkeys of a person.
const MaxPasskeys = 20

// Passkeys and their indexes. They are deleted with the person.
var (
	Passkeys            = kv.NewCollection[Passkey]("passkey")
	PasskeyByUser       = refToUser(Passkeys, func(p *Passkey) ID { return p.UserID }, kv.Cascade)
	PasskeyByAppUser    = refToAppUser(Passkeys, func(p *Passkey) ID { return p.AppUserID }, kv.Cascade)
	PasskeyByCredential = kv.NewUnique(Passkeys, "credential_id", func(p *Passkey) string {
		return p.CredentialID
	})

	_ = Passkeys.Authorize(func(tx *Tx, p *Passkey) error {
		return authorizeFactor(tx, p.Account())
	}).
		Constraint(func(tx *Tx, _, new *Passkey) error {
			if new == nil {
				return nil
			}
			return ownFactor(tx, new.Account())
		})
)

var _ = manage(Access{Table: Passkeys, Query: "admin.list.query"})

// Account returns the person whose passkey it is.
func (p *Passkey) Account() Account { return accountOf(p.UserID, p.AppUserID) }

func passkeysBy(who Account) *kv.Ref[Passkey] {
	return ByRealm(who.App, PasskeyByUser, PasskeyByAppUser)
}

// PasskeysOf returns the passkeys of a person, the oldest first.
func PasskeysOf(tx *Tx, who Account) (all []*Passkey, err error) {
	for p, err := range passkeysBy(who).All(tx, who.ID) {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// ErrAppPasskeysOff is returned while app users can't have passkeys. Those that they have are kept.
var ErrAppPasskeysOff = errs.New(errs.Denied,
	"passkeys are not in use here; ask the administrator").Coded("app_passkeys_off")

// AddPasskey stores a new passkey.
func AddPasskey(tx *Tx, p *Passkey) error {
	who := p.Account()
	if who.App && !AppPasskeys.Get(tx) {
		return ErrAppPasskeysOff
	}
	if n, err := passkeysBy(who).Count(tx, who.ID); err != nil || n >= MaxPasskeys {
		if err == nil {
			err = errs.New(errs.Conflict,
				"you have %d passkeys, which is the most; remove one first", n).Coded("too_many_passkeys")
		}
		return err
	}
	if err := Passkeys.Create(tx, p); err != nil {
		return err
	}
	return followFactor(tx, who)
}

// ErrWrongPasskey is returned for an unknown passkey, and for one whose signature is wrong.
var ErrWrongPasskey = errs.New(errs.Unauthenticated, "this passkey is not accepted").Coded("wrong_passkey")

// UsePasskey records the use of a passkey with the count that it has signed, which an authenticator
// that counts increases with each use: otherwise it is a copy, or a response that was used before.
func UsePasskey(tx *Tx, id ID, count int64, eligible, backedUp bool) error {
	_, err := Passkeys.UpdateQuietly(tx, id, func(p *Passkey) error {
		if (count != 0 || p.SignCount != 0) && count <= p.SignCount {
			return ErrWrongPasskey
		}
		p.SignCount, p.BackupEligible, p.BackedUp, p.LastUsed = count, Flag(eligible), Flag(backedUp), tx.Now()
		return nil
	})
	if errs.Is(err, errs.NotFound) {
		return ErrWrongPasskey
	}
	return err
}

// RemovePasskey removes a passkey of a person, and the recovery codes with the last factor.
func RemovePasskey(tx *Tx, who Account, id ID) error {
	p, err := Passkeys.Get(tx, id)
	if err == nil && p.Account() != who {
		err = Passkeys.NotFound(id)
	}
	if err == nil {
		err = Passkeys.Delete(tx, id)
	}
	if err != nil {
		return err
	}
	return factorRemoved(tx, who)
}
