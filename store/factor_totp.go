package store

import (
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// TOTP is the authenticator app of a person: it makes a code of six digits from a secret and the
// time (RFC 6238), which is asked for besides the password.
type TOTP struct {
	Ident
	UserID    ID        `json:"user_id"`
	AppUserID ID        `json:"app_user_id"`
	Secret    kv.Sealed `json:"secret"`            // base32 text
	Confirmed Flag      `json:"confirmed"`         // whether a code has proved that the app has the secret: before, none is asked for
	LastStep  int64     `json:"last_step" log:"-"` // time step of the last code that was used; codes of it and of earlier ones are not accepted
	LastUsed  Time      `json:"last_used" log:"-"` // 0 for never
	kv.Timestamps
}

// RecoveryCodes replace a second factor that is lost. Each works once.
type RecoveryCodes struct {
	Ident
	UserID    ID       `json:"user_id"`
	AppUserID ID       `json:"app_user_id"`
	Hashes    []string `json:"hashes" log:"secret"` // SHA-256 of those that are left, in the form of package auth
	kv.Timestamps
}

// Authenticator apps and recovery codes, at most one record of a person. They are deleted with the
// person.
var (
	TOTPs         = kv.NewCollection[TOTP]("authenticator")
	TOTPByUser    = refToUser(TOTPs, func(t *TOTP) ID { return t.UserID }, kv.Cascade)
	TOTPByAppUser = refToAppUser(TOTPs, func(t *TOTP) ID { return t.AppUserID }, kv.Cascade)
	totpByPerson  = kv.NewUnique(TOTPs, "person", func(t *TOTP) string {
		return t.Account().Person()
	})

	RecoverySets   = kv.NewCollection[RecoveryCodes]("recovery_code")
	RecoveryByUser = refToUser(RecoverySets, func(c *RecoveryCodes) ID {
		return c.UserID
	}, kv.Cascade)
	RecoveryByAppUser = refToAppUser(RecoverySets, func(c *RecoveryCodes) ID {
		return c.AppUserID
	}, kv.Cascade)
	recoveryCodesByPerson = kv.NewUnique(RecoverySets, "person", func(c *RecoveryCodes) string {
		return c.Account().Person()
	})

	_ = TOTPs.Authorize(func(tx *Tx, t *TOTP) error { return authorizeFactor(tx, t.Account()) }).
		Constraint(func(tx *Tx, _, new *TOTP) error {
			if new == nil {
				return nil
			}
			return ownFactor(tx, new.Account())
		}).
		Sealed(func(t *TOTP) *kv.Sealed {
			return &t.Secret
		}, func(t *TOTP) string { return totpPlace(t.Account()) },
			func(tx *Tx, t *TOTP) (string, error) {
				return "second factor of " + t.Account().nameOr(tx), nil
			})
	_ = RecoverySets.Authorize(func(tx *Tx, c *RecoveryCodes) error {
		return authorizeFactor(tx, c.Account())
	}).
		Constraint(func(tx *Tx, _, new *RecoveryCodes) error {
			if new == nil {
				return nil
			}
			return ownFactor(tx, new.Account())
		})
)

var _ = manage(Access{Table: RecoverySets, Query: "admin.list.query"})

var _ = manage(Access{Table: TOTPs, Query: "admin.list.query"})

// Account returns the person whose authenticator app it is.
func (t *TOTP) Account() Account { return accountOf(t.UserID, t.AppUserID) }

// Account returns the person whose codes they are.
func (c *RecoveryCodes) Account() Account { return accountOf(c.UserID, c.AppUserID) }

// totpPlace is the place that a secret is bound to, see kv.Tx.Seal.
func totpPlace(who Account) string { return "totp " + who.Person() }

// ownFactor requires that a factor is added or changed by its person, or by the program for the
// person.
func ownFactor(tx *Tx, who Account) error {
	if ActorOf(tx).system || ownActor(tx, who) {
		return nil
	}
	return errs.New(errs.Denied, "only the users themselves can set up their second factor").Coded("factor_not_yours")
}

// authorizeFactor lets a factor be removed by its person, and by actors who may set that person's
// password.
func authorizeFactor(tx *Tx, who Account) error {
	if ownFactor(tx, who) == nil {
		return nil
	}
	if ActorOf(tx).App {
		return Users.NotFound(who.ID)
	}
	if who.App {
		return nil // app users are outside the data scope; the route requires a permission
	}
	u, err := Users.Get(tx, who.ID)
	if err != nil {
		return err
	}
	return checkUserChange(tx, u)
}

// TOTPStep is how long an authenticator app shows a code.
const TOTPStep = 30 * time.Second

// spendCodes makes codes unusable that may have been used since a backup was made.
func spendCodes(tx *Tx) error {
	next := tx.Now().Std().Add(TOTPStep).Unix() / int64(TOTPStep/time.Second)
	for t, err := range TOTPs.All(tx) {
		if err == nil {
			_, err = TOTPs.UpdateQuietly(tx, t.ID, func(t *TOTP) error {
				t.LastStep = max(t.LastStep, next)
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TOTPOf returns the authenticator app of a person. The error is NotFound if there is none.
func TOTPOf(tx *Tx, who Account) (*TOTP, error) { return totpByPerson.Get(tx, who.Person()) }

// HasTOTP reports whether a person has an authenticator app.
func HasTOTP(tx *Tx, who Account) (bool, error) {
	t, err := TOTPOf(tx, who)
	return err == nil && bool(t.Confirmed), ignoreMissing(err)
}

// FactorsOf reports whether a person has an authenticator app, and returns the number of passkeys.
func FactorsOf(tx *Tx, who Account) (app Flag, passkeys int, err error) {
	has, err := HasTOTP(tx, who)
	if err == nil {
		passkeys, err = passkeysBy(who).Count(tx, who.ID)
	}
	return Flag(has), passkeys, err
}

// HasFactor reports whether a sign-in of a person with the password requires a second factor.
func HasFactor(tx *Tx, who Account) (bool, error) {
	has, err := HasTOTP(tx, who)
	if err != nil || has || who.App {
		return has, err
	}
	n, err := PasskeyByUser.Count(tx, who.ID)
	return n > 0, err
}

// BeginTOTP stores the secret of a new authenticator app, which has to be confirmed. It replaces
// one that was not.
func BeginTOTP(tx *Tx, who Account, secret string) error {
	old, err := TOTPOf(tx, who)
	switch {
	case err == nil && bool(old.Confirmed):
		return errs.New(errs.Conflict, "an authenticator app is set up already; remove it first").Coded("totp_exists")
	case err == nil:
		err = TOTPs.Delete(tx, old.ID)
	}

	if err := ignoreMissing(err); err != nil {
		return err
	}

	t := &TOTP{}
	t.UserID, t.AppUserID = who.IDs()
	if t.Secret, err = tx.Seal(totpPlace(who), secret); err != nil {
		return err
	}

	return TOTPs.Create(tx, t)
}

// Reveal returns the secret.
func (t *TOTP) Reveal(tx *Tx) (string, error) {
	secret, err := tx.Unseal(totpPlace(t.Account()), t.Secret)
	if err != nil {
		return "", errs.New(errs.Conflict,
			"the secret of this authenticator app can't be decrypted with secret.key; use a recovery code, or have the app removed").Coded("totp_lost").Because(err)
	}
	return secret, nil
}

// UseTOTP records that the code of a time step was used, and confirms the authenticator app.
func UseTOTP(tx *Tx, id ID, step int64) error {
	added := false
	t, err := TOTPs.UpdateQuietly(tx, id, func(t *TOTP) error {
		added = !bool(t.Confirmed)
		t.Confirmed, t.LastStep, t.LastUsed = true, step, tx.Now()
		return nil
	})
	if err != nil || !added {
		return err
	}
	return followFactor(tx, t.Account())
}

// ErrWrongCode is returned for a code that a person's second factor does not have, or that was
// used.
var ErrWrongCode = errs.New(errs.Unauthenticated, "wrong code, or it was used already").Coded("wrong_code")

// UseRecoveryCode removes the recovery code with a hash.
func UseRecoveryCode(tx *Tx, who Account, hash string) error {
	c, err := RecoveryCodesOf(tx, who)
	if err == nil {
		_, err = RecoverySets.Update(tx, c.ID, func(c *RecoveryCodes) error {
			i := slices.Index(c.Hashes, hash)
			if i < 0 {
				return ErrWrongCode
			}
			c.Hashes = slices.Delete(slices.Clone(c.Hashes), i, i+1)
			return nil
		})
	}
	if errs.Is(err, errs.NotFound) {
		return ErrWrongCode
	}

	return err
}

// RecoveryCodesOf returns the recovery codes of a person. The error is NotFound if there are none.
func RecoveryCodesOf(tx *Tx, who Account) (*RecoveryCodes, error) {
	return recoveryCodesByPerson.Get(tx, who.Person())
}

// SetRecoveryCodes replaces the recovery codes of a person by those with other hashes.
func SetRecoveryCodes(tx *Tx, who Account, hashes []string) error {
	old, err := RecoveryCodesOf(tx, who)
	if err == nil {
		_, err = RecoverySets.Update(tx, old.ID, func(c *RecoveryCodes) error {
			c.Hashes = hashes
			return nil
		})
		return err
	}
	if err := ignoreMissing(err); err != nil {
		return err
	}
	c := &RecoveryCodes{Hashes: hashes}
	c.UserID, c.AppUserID = who.IDs()
	return RecoverySets.Create(tx, c)
}

// RemoveTOTP removes the authenticator app of a person, and the recovery codes with the last
// factor. It reports whether there was one.
func RemoveTOTP(tx *Tx, who Account) (had bool, err error) {
	t, err := TOTPOf(tx, who)
	if err == nil {
		had = bool(t.Confirmed)
		err = TOTPs.Delete(tx, t.ID)
	}
	if err := ignoreMissing(err); err != nil {
		return false, err
	}
	return had, factorRemoved(tx, who)
}

// factorRemoved removes recovery codes that replace nothing.
func factorRemoved(tx *Tx, who Account) error {
	has, err := HasFactor(tx, who)
	if err != nil || has {
		return err
	}
	if err := followFactor(tx, who); err != nil {
		return err
	}
	c, err := RecoveryCodesOf(tx, who)
	if err == nil {
		err = RecoverySets.Delete(tx, c.ID)
	}
	return ignoreMissing(err)
}

// RemoveFactors removes everything that is asked for besides the password of a person, and passkeys,
// and reports whether there was something.
func RemoveFactors(tx *Tx, who Account) (had bool, err error) {
	if had, err = HasFactor(tx, who); err != nil {
		return false, err
	}
	ids, err := passkeysBy(who).IDs(tx, who.ID)
	for _, id := range ids {
		had = true
		if err == nil {
			err = Passkeys.Delete(tx, id)
		}
	}
	if err != nil {
		return false, err
	}
	if _, err = RemoveTOTP(tx, who); err != nil || !had || ownActor(tx, who) {
		return had, err
	}

	return true, tellFactorRemoved(tx, who)
}

// ownActor reports whether the actor is a person in a session.
func ownActor(tx *Tx, who Account) bool {
	a := ActorOf(tx)
	return a.App == who.App && a.ID == who.ID && a.Key == nil && a.By == nil
}

// tellFactorRemoved tells a person that another user has removed the second factor. App users have
// no notices.
func tellFactorRemoved(tx *Tx, who Account) error {
	if !who.App {
		if err := addNotice(tx, who.ID, Notice{Kind: FactorRemoved, At: tx.Now()}); err != nil {
			return err
		}
	}
	if !MailEnabled.Get(tx) {
		return nil
	}
	email, err := who.Email(tx)
	if err != nil || email == "" {
		return err
	}
	return tryNotice(tx, FactorRemoved, who, "en")
}
