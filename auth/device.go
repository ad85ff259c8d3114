package auth

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// deviceUse is the device token of one sign-in attempt. It decides how the attempt is
// rate-limited; it does not identify the user.
type deviceUse struct {
	counters *counters
	key      string // key of the counter of attempts in progress; "" without a token
	pending  int    // attempts in progress with this token, including this one
	token    string
	hash     string
	id       store.ID // ID of the device; 0 unless the device belongs to the user
}

// maxDeviceAttempt is an upper bound for the duration of one attempt.
const maxDeviceAttempt = time.Hour

// useDevice counts the attempt before the device is read, so that a burst with one
// token cannot make more attempts than the failures that end it. The caller must call
// end.
func (a *Auth) useDevice(token string) *deviceUse {
	u := &deviceUse{counters: a.counters}
	if hash, prefix, ok := hashToken(token); ok && prefix == tokenPrefix && plausible(token) {
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

// find looks up the device. Devices of other accounts are ignored.
func (u *deviceUse) find(tx *store.Tx, account store.Account) error {
	if u.key == "" {
		return nil
	}
	d, err := store.DeviceOf(tx, account, u.hash)
	if err != nil {
		return ignoreNotFound(err)
	}
	if int(d.Failures)+u.pending <= store.MaxDeviceFailures {
		u.id = d.ID
	}
	return nil
}

// valid reports whether the token belongs to a device of the user.
func (u *deviceUse) valid() bool { return u.id != 0 }

// failed counts a wrong password against the device.
func (u *deviceUse) failed(tx *store.Tx) error {
	if !u.valid() {
		return nil
	}
	return store.FailDevice(tx, u.id)
}

// succeeded returns the device token for the next attempt and the device: this one, or a new one.
// unknown names the new part of the sign-in, see store.UnknownIn.
func (u *deviceUse) succeeded(tx *store.Tx, account store.Account,
	at store.Client) (token string, id store.ID, unknown string, err error) {
	if u.valid() {
		if unknown, err = store.UnknownIn(tx, account, u.id, at); err != nil {
			return "", 0, "", err
		}
		err := store.RenewDevice(tx, u.id, at)
		if !errs.Is(err, errs.NotFound) { // otherwise it has just been ended
			return u.token, u.id, unknown, err
		}
	}

	token, hash := newToken(tokenPrefix)
	d, err := store.AddDevice(tx, account, hash.String(), at)
	if err != nil {
		return "", 0, "", err
	}

	return token, d.ID, store.NewDevice, nil
}
