package store

import (
	"errors"
	"time"

	"reeve/store/errs"
)

// Device is a client from which a user has signed in. Sign-in does not rate-limit a
// known device together with strangers; a device token proves nothing else.
type Device struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	Hash      string `json:"hash"`       // SHA-256 of its token, in hexadecimal
	Failures  int64  `json:"failures"`   // failed sign-ins since the last successful one
	ExpiresAt Time   `json:"expires_at"` // DeviceLife after the last successful sign-in
	Stamps
}

// Limits of devices.
const (
	DeviceLife        = 90 * 24 * time.Hour
	MaxDeviceFailures = 10
	maxDevices        = 20 // of one user; one more ends the one that expires first
)

// Devices and their indexes. They are deleted with their user.
var (
	Devices         = NewCollection[Device]("device")
	DeviceByUser    = NewRef(Devices, "user_id", Users, func(d *Device) ID { return d.UserID }, Owned)
	DeviceByAppUser = NewRef(Devices, "app_user_id", AppUsers, func(d *Device) ID { return d.AppUserID }, Owned)
	DeviceByHash    = NewUnique(Devices, "hash", func(d *Device) string { return d.Hash })
	DeviceByExpiry  = NewMany(Devices, "expires_at", func(d *Device) []Time { return []Time{d.ExpiresAt} })
)

// DeviceOf returns the user's device with this hash; NotFound when there is none or
// it has expired.
func DeviceOf(tx *Tx, a Account, hash string) (*Device, error) {
	d, err := DeviceByHash.Get(tx, hash)
	if err != nil {
		return nil, err
	}
	if (Account{App: d.AppUserID != 0, ID: max(d.UserID, d.AppUserID)}) != a || tx.Now() >= d.ExpiresAt {
		return nil, Devices.NotFound(d.ID)
	}
	return d, nil
}

// AddDevice makes a device of the user.
func AddDevice(tx *Tx, a Account, hash string) error {
	all, err := devicesOf(tx, a)
	if err != nil {
		return err
	}
	for ; len(all) >= maxDevices; all = all[1:] {
		for i, d := range all {
			if d.ExpiresAt < all[0].ExpiresAt {
				all[0], all[i] = d, all[0]
			}
		}
		if err := Devices.Delete(tx, all[0].ID); err != nil {
			return err
		}
	}
	d := &Device{Hash: hash, ExpiresAt: tx.Now().Add(DeviceLife)}
	if a.App {
		d.AppUserID = a.ID
	} else {
		d.UserID = a.ID
	}
	return Devices.Create(tx, d)
}

// RenewDevice notes a successful sign-in.
func RenewDevice(tx *Tx, id ID) error {
	_, err := Devices.Touch(tx, id, func(d *Device) error {
		d.Failures, d.ExpiresAt = 0, tx.Now().Add(DeviceLife)
		return nil
	})
	return err
}

// FailDevice notes a failed sign-in; MaxDeviceFailures in a row end the device.
func FailDevice(tx *Tx, id ID) error {
	d, err := Devices.Touch(tx, id, func(d *Device) error { d.Failures++; return nil })
	if err == nil && d.Failures >= MaxDeviceFailures {
		err = Devices.Delete(tx, id)
	}
	if errs.Is(err, errs.NotFound) {
		return nil // it has just been ended
	}
	return err
}

// EndExpiredDevices deletes up to limit expired devices and reports whether there
// may be more.
func EndExpiredDevices(tx *Tx, limit int) (more bool, err error) {
	ids, err := DeviceByExpiry.Below(tx, tx.Now()+1, limit)
	for _, id := range ids {
		err = errors.Join(err, Devices.Delete(tx, id))
	}
	return len(ids) == limit, err
}

// endDevices ends all of a user's devices.
func endDevices(tx *Tx, a Account) error {
	all, err := devicesOf(tx, a)
	for _, d := range all {
		err = errors.Join(err, Devices.Delete(tx, d.ID))
	}
	return err
}

func devicesOf(tx *Tx, a Account) (all []*Device, err error) {
	by := DeviceByUser
	if a.App {
		by = DeviceByAppUser
	}
	for d, err := range by.All(tx, a.ID) {
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
