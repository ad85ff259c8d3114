package auth

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// deviceUse is a device token that somebody presents with an attempt to sign in. It
// says how the attempt is throttled, not who makes it.
type deviceUse struct {
	counters *counters
	key      string // of the counter of attempts in progress; "" for no token
	pending  int    // attempts in progress with this token, this one included
	token    string
	hash     string
	id       store.ID // of the device; 0 unless it is that of the user
}

// maxDeviceAttempt is longer than any attempt takes.
const maxDeviceAttempt = time.Hour

// useDevice counts the attempt before the device is read, so that a burst with one
// token cannot make more attempts than failures end it. end must follow.
func (a *Auth) useDevice(token string) *deviceUse {
	u := &deviceUse{counters: a.counters}
	if hash, ok := hashToken(token); ok && plausible(token) {
		u.token, u.hash, u.key = token, hash.String(), "device "+hash.String()
		u.pending, _ = a.counters.add(u.key, 1, maxDeviceAttempt)
	}
	return u
}

func (u *deviceUse) end() {
	if u.key != "" {
		u.counters.add(u.key, -1, maxDeviceAttempt)
	}
}

// find reads the device if it belongs to the account.
func (u *deviceUse) find(tx *store.Tx, account store.Account) error {
	if u.key == "" {
		return nil
	}
	d, err := store.DeviceOf(tx, account, u.hash)
	if err != nil {
		return unlessNone(err)
	}
	if int(d.Failures)+u.pending <= store.MaxDeviceFailures {
		u.id = d.ID
	}
	return nil
}

// valid reports whether the token is that of a device of the user.
func (u *deviceUse) valid() bool { return u.id != 0 }

// failed notes that the password was wrong.
func (u *deviceUse) failed(tx *store.Tx) error {
	if !u.valid() {
		return nil
	}
	return store.FailDevice(tx, u.id)
}

// succeeded returns the token for the next attempt: this one, or that of a new device.
func (u *deviceUse) succeeded(tx *store.Tx, account store.Account) (token string, err error) {
	if u.valid() {
		err := store.RenewDevice(tx, u.id)
		if !errs.Is(err, errs.NotFound) { // else it has just been ended
			return u.token, err
		}
	}
	token, hash := newToken()
	return token, store.AddDevice(tx, account, hash.String())
}
