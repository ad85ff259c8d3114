package store

import (
	"errors"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Device is a client on which a user has signed in before. The rate limit of sign-ins treats
// known devices separately from unknown clients. A device token authorizes nothing else.
type Device struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	Hash      string `json:"hash" log:"secret"`  // SHA-256 of the token, hexadecimal
	Failures  int64  `json:"failures" log:"-"`   // failed sign-ins since the last successful one
	ExpiresAt Time   `json:"expires_at" log:"-"` // DeviceLife after the last successful sign-in
	Timestamps
}

// Limits of devices.
const (
	DeviceLife        = 90 * 24 * time.Hour
	MaxDeviceFailures = 10
	maxDevices        = 20 // per user; adding another deletes the one that expires first
)

// Devices and their indexes. A device is deleted with its user.
var (
	Devices         = kv.NewCollection[Device]("device")
	DeviceByUser    = kv.NewRef(Devices, "user_id", Users, func(d *Device) ID { return d.UserID }, kv.Cascade)
	DeviceByAppUser = kv.NewRef(Devices, "app_user_id", AppUsers, func(d *Device) ID { return d.AppUserID }, kv.Cascade)
	DeviceByHash    = kv.NewUnique(Devices, "hash", func(d *Device) string { return d.Hash })
	DeviceByExpiry  = kv.NewMany(Devices, "expires_at", func(d *Device) []Time { return []Time{d.ExpiresAt} })
)

// DeviceOf returns the device of a user with this hash. The error is NotFound if there is none
// or it has expired.
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

// AddDevice stores a new device of a user.
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

// RenewDevice records a successful sign-in: it resets the failures and extends the expiry.
func RenewDevice(tx *Tx, id ID) error {
	_, err := Devices.UpdateQuietly(tx, id, func(d *Device) error {
		d.Failures, d.ExpiresAt = 0, tx.Now().Add(DeviceLife)
		return nil
	})
	return err
}

// FailDevice records a failed sign-in. After MaxDeviceFailures in a row, the device is deleted.
func FailDevice(tx *Tx, id ID) error {
	d, err := Devices.UpdateQuietly(tx, id, func(d *Device) error { d.Failures++; return nil })
	if err == nil && d.Failures >= MaxDeviceFailures {
		err = Devices.Delete(tx, id)
	}
	if errs.Is(err, errs.NotFound) {
		return nil // it was deleted concurrently
	}
	return err
}

// EndExpiredDevices deletes up to limit expired devices and reports whether there may be more.
func EndExpiredDevices(tx *Tx, limit int) (more bool, err error) {
	ids, err := DeviceByExpiry.Below(tx, tx.Now()+1, limit)
	for _, id := range ids {
		err = errors.Join(err, Devices.Delete(tx, id))
	}
	return len(ids) == limit, err
}

// endDevices deletes all devices of a user.
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
