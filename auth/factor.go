package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"golang.org/x/text/unicode/norm"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// The second factor of a person: an authenticator app (TOTP, RFC 6238), and recovery codes for when
// it is lost.

const (
	codeDigits    = 6
	codeSkew      = 1 // time steps by which the clocks of the server and the person may differ
	recoveryCodes = 10
	recoveryBytes = 10 // 80 random bits, too many to guess, so that a fast hash is enough
)

// NewTOTP is a new authenticator app, to be set up by the person.
type NewTOTP struct {
	Secret string // base32 text for an app that can't scan the address
	URI    string // otpauth address, for a QR code
}

const secretBytes = 20 // of an authenticator app, as RFC 4226 recommends

// BeginTOTP makes the secret of a new authenticator app for a signed-in user. It is asked for after
// ConfirmTOTP.
func (a *Auth) BeginTOTP(s *Session, issuer string) (*NewTOTP, error) {
	bytes := make([]byte, secretBytes)
	rand.Read(bytes) // never fails: crypto/rand ends the program instead
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(bytes)
	err := a.db.Update(s.Actor, func(tx *store.Tx) error {
		return store.BeginTOTP(tx, s.account, secret)
	})
	return &NewTOTP{secret, totpURI(issuer, s.Actor.Username, secret)}, err
}

// totpURI returns the otpauth address of a secret (Key Uri Format of Google Authenticator). Apps
// split the label at a colon, and not all of them take + for a space. Everything else is
// percent-encoded, in the label and in the query alike.
func totpURI(issuer, username, secret string) string {
	escape := func(text string) string {
		return strings.ReplaceAll(url.QueryEscape(strings.ReplaceAll(text, ":", " ")), "+", "%20")
	}
	return "otpauth://totp/" + escape(issuer) + ":" + escape(username) + "?algorithm=SHA1&digits=" + strconv.Itoa(codeDigits) +
		"&issuer=" + escape(issuer) + "&period=" + strconv.Itoa(int(store.TOTPStep/time.Second)) + "&secret=" + secret
}

// ConfirmTOTP sets up the authenticator app of a signed-in user whose code proves that it has the
// secret. It returns recovery codes with the first factor, of which only the hashes are stored.
func (a *Auth) ConfirmTOTP(s *Session, addr netip.Addr, code string) (codes []string, err error) {
	return a.withCodes(s, false, func(write func(tx *store.Tx) error) error {
		return a.proving(s, addr, func() error {
			return a.db.Update(s.Actor, func(tx *store.Tx) error {
				t, err := store.TOTPOf(tx, s.account)
				switch {
				case errs.Is(err, errs.NotFound) || err == nil && bool(t.Confirmed):
					return errs.New(errs.Conflict,
						"no authenticator app is being set up; begin with POST on this path").Coded("totp_not_begun")
				case err != nil:
					return err
				}
				if err := a.useTOTP(tx, t, code); err != nil {
					return err
				}
				return write(tx)
			})
		})
	})
}

// RenewRecovery replaces the recovery codes of a signed-in user.
func (a *Auth) RenewRecovery(s *Session) (codes []string, err error) {
	return a.withCodes(s, true, func(write func(tx *store.Tx) error) error {
		return a.db.Update(s.Actor, func(tx *store.Tx) error {
			has, err := store.HasFactor(tx, s.account)
			if err == nil && !has {
				err = errs.New(errs.Conflict,
					"recovery codes replace a second factor, and there is none").Coded("no_factor")
			}
			if err != nil {
				return err
			}
			return write(tx)
		})
	})
}

// RenewRecoveryByCode replaces the recovery codes of a signed-in app user, who proves the second
// factor with one of its codes.
func (a *Auth) RenewRecoveryByCode(s *Session, addr netip.Addr,
	code string) (codes []string, err error) {
	return a.withCodes(s, true, func(write func(tx *store.Tx) error) error {
		return a.byCode(s, addr, code, write)
	})
}

// RemoveTOTPByCode removes the authenticator app of a signed-in app user, who proves it with one of
// its codes, or with a recovery code.
func (a *Auth) RemoveTOTPByCode(s *Session, addr netip.Addr, code string) error {
	return a.byCode(s, addr, code, func(tx *store.Tx) error {
		_, err := store.RemoveTOTP(tx, s.account)
		return err
	})
}

// byCode uses up a code of the second factor in the transaction of the change that it allows.
func (a *Auth) byCode(s *Session, addr netip.Addr, code string,
	change func(tx *store.Tx) error) error {
	return a.proving(s, addr, func() error {
		return a.db.Update(s.Actor, func(tx *store.Tx) error {
			has, err := store.HasFactor(tx, s.account)
			if err == nil && !has {
				err = errNoApp
			}
			if err == nil {
				err = a.useFactor(tx, s.account, code)
			}
			if err != nil {
				return err
			}
			return change(tx)
		})
	})
}

var errNoApp = errs.New(errs.Conflict, "no authenticator app is set up").Coded("no_factor")

// withCodes makes recovery codes in the transaction of a change, and returns them. If there are
// some already, it keeps them and returns none, unless renew is set.
func (a *Auth) withCodes(s *Session, renew bool,
	change func(write func(tx *store.Tx) error) error) (codes []string, err error) {
	kept := false
	codes = newRecoveryCodes()
	hashes := make([]string, len(codes))
	for i, c := range codes {
		hashes[i] = hashRecovery(s.account, plainCode(c))
	}

	err = change(func(tx *store.Tx) error {
		_, err := store.RecoveryCodesOf(tx, s.account)
		if kept = err == nil && !renew; kept {
			return nil
		}
		return store.SetRecoveryCodes(tx, s.account, hashes)
	})
	if err != nil || kept {
		return nil, err
	}

	return codes, nil
}

// RemoveTOTP removes the authenticator app of a signed-in user.
func (a *Auth) RemoveTOTP(s *Session) error {
	return a.db.Update(s.Actor, func(tx *store.Tx) error {
		had, err := store.RemoveTOTP(tx, s.account)
		if err == nil && !had {
			err = errNoApp
		}
		return err
	})
}

// proving runs a check of a signed-in user's code that fails with ErrWrongCode for a wrong one,
// which is rate-limited apart from the codes of sign-ins.
func (a *Auth) proving(s *Session, addr netip.Addr, check func() error) error {
	at, err := a.beginFactor(sessionFactor, s.account, addr, false, nil)
	if err != nil {
		return err
	}
	err = check()
	switch {
	case err == nil:
		at.succeeded()
	case errs.Of(err).Code == wrongCode:
		return errs.Field(errs.Invalid, "otp", "is wrong, or was used already").Coded("wrong_code")
	default:
		at.withdraw()
	}
	return err
}

const wrongCode = "wrong_code"

// The kinds of attempts that are counted apart.
const (
	signInFactor  = "factor"
	sessionFactor = "confirm" // in a session, which others can't disturb
	passkeyFactor = "passkey"
)

// beginFactor counts an attempt at the second factor of an account. known reports whether it comes
// from a device of the account.
func (a *Auth) beginFactor(kind string, who store.Account, addr netip.Addr, known bool,
	observe func(kv.CacheEvent)) (at *throttleCheck, err error) {
	var wait time.Duration
	if err := a.unlock(); err != nil {
		return nil, err
	}
	err = a.db.View(store.Anonymous, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		at = newThrottleCheck(observedCounters{a.counters, observe}, kind+":"+realm(who.App),
			who.ID.String(), addr, window)
		at.addr = "" // the limits by account are enough
		if kind == signInFactor {
			at.who = who
		}
		wait = at.begin(store.LoginTries.Get(tx), func() bool { return known })
		return nil
	})
	if err == nil && wait > 0 {
		err = a.tooMany(throttledFactor, wait)
	}

	return at, err
}

// secondFactor uses up the second factor. pending reports that there is one that was not asked for
// yet.
func (a *Auth) secondFactor(tx *store.Tx, who store.Account,
	proof *loginProof) (pending bool, err error) {
	switch {
	case proof.passkey != nil:
		return false, proof.passkey.use(tx)
	case proof.code != nil:
		return false, a.useFactor(tx, who, *proof.code)
	case proof.arrival != nil && proof.arrival.Factor:
		return false, nil
	}
	return store.HasFactor(tx, who)
}

// heldStep returns the time step of a code for a session that is held in memory, because the disk
// is full. Recovery codes can't be used up then.
func (a *Auth) heldStep(tx *store.Tx, who store.Account, code string) (step int64, err error) {
	t, err := store.TOTPOf(tx, who)
	if errs.Is(err, errs.NotFound) || err == nil && !bool(t.Confirmed) {
		return 0, store.ErrWrongCode
	}
	if err != nil {
		return 0, err
	}
	return stepOf(tx, t, plainCode(code), max(t.LastStep, a.held.lastStep(who)))
}

// useFactor uses up a code of an authenticator app, or a recovery code, in the transaction that it
// allows.
func (a *Auth) useFactor(tx *store.Tx, who store.Account, code string) error {
	code = plainCode(code)
	if len(code) != codeDigits {
		return store.UseRecoveryCode(tx, who, hashRecovery(who, code))
	}
	t, err := store.TOTPOf(tx, who)
	if errs.Is(err, errs.NotFound) || err == nil && !bool(t.Confirmed) {
		return store.ErrWrongCode
	}
	if err != nil {
		return err
	}
	return a.useTOTP(tx, t, code)
}

// useTOTP uses up a code of an authenticator app.
func (a *Auth) useTOTP(tx *store.Tx, t *store.TOTP, code string) error {
	step, err := stepOf(tx, t, plainCode(code), max(t.LastStep, a.held.lastStep(t.Account())))
	if err != nil {
		return err
	}
	return store.UseTOTP(tx, t.ID, step)
}

// stepOf returns the time step of a code that can be used now, see matchStep.
func stepOf(tx *store.Tx, t *store.TOTP, code string, last int64) (step int64, err error) {
	secret, err := t.Reveal(tx)
	if err != nil {
		return 0, err
	}
	return matchStep(secret, code, timeStep(tx.Now().Std()), last)
}

// timeStep returns the number of a time step of RFC 6238.
func timeStep(at time.Time) int64 { return at.Unix() / int64(store.TOTPStep/time.Second) }

// matchStep returns the time step of a code, of those near now and after last.
func matchStep(secret, code string, now, last int64) (step int64, err error) {
	for candidate := now - codeSkew; candidate <= now+codeSkew; candidate++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(candidate), hotp.ValidateOpts{
			Digits:    otp.DigitsSix,
			Algorithm: otp.AlgorithmSHA1,
		})
		if err != nil {
			return 0, err
		}
		if candidate > last && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step = candidate
		}
	}
	if step == 0 {
		return 0, store.ErrWrongCode
	}
	return step, nil
}

// newRecoveryCodes returns new recovery codes, in four groups of letters and digits.
func newRecoveryCodes() (codes []string) {
	for range recoveryCodes {
		var secret [recoveryBytes]byte
		rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
		text := strings.ToLower(base32.StdEncoding.EncodeToString(secret[:]))
		codes = append(codes, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
	}
	return codes
}

// plainCode removes what people and programs put into a code to make it readable, which need not be
// ASCII, and maps letters and digits of full width, which Chinese input methods write.
func plainCode(code string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Dash, unicode.Cf) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(code))
}

// hashRecovery returns the hash of a recovery code of an account, hexadecimal.
func hashRecovery(who store.Account, plain string) string {
	sum := sha256.Sum256([]byte("recovery " + who.Person() + " " + plain))
	return hex.EncodeToString(sum[:])
}
