package store

import (
	"errors"
	"net/netip"
	"slices"
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
	Name      string `json:"name" log:"personal" visible:"name"` // given by the user; "" for none
	Hash      string `json:"hash" log:"secret"`                  // SHA-256 of the token, hexadecimal
	Failures  int64  `json:"failures" log:"-"`                   // failed sign-ins since the last successful one
	ExpiresAt Time   `json:"expires_at" log:"-"`                 // DeviceLife after the last successful sign-in

	// Of the last sign-in; "" and 0 if it was before schema 19. Their sessions have them in the
	// change log.
	Browser  string   `json:"browser" log:"-"`
	OS       string   `json:"os" log:"-"`
	IP       string   `json:"ip" log:"-"`
	Provider string   `json:"provider_name" log:"-"` // title of the sign-in provider; "" for none
	LastUsed Time     `json:"last_used" log:"-"`
	Networks []string `json:"networks" log:"-"` // networks of sign-ins, the newest last, see NetworkOf
	Versioned
}

// Client is the browser or program of a sign-in, its network, and the title of the sign-in provider
// that the person came from; "" for none.
type Client struct{ Browser, OS, IP, Provider string }

// Limits of devices.
const (
	DeviceLife        = 90 * 24 * time.Hour
	MaxDeviceFailures = 10
	maxDevices        = 20 // per user; adding another deletes the one that expires first
	maxNetworks       = 20 // per device; another one replaces that of the earliest sign-in
)

// Devices and their indexes. A device is deleted with its user.
var (
	Devices         = kv.NewCollection[Device]("device")
	DeviceByUser    = refToUser(Devices, func(d *Device) ID { return d.UserID }, kv.Cascade)
	DeviceByAppUser = refToAppUser(Devices, func(d *Device) ID { return d.AppUserID }, kv.Cascade)
	DeviceByHash    = kv.NewUnique(Devices, "hash", func(d *Device) string { return d.Hash })
	DeviceByExpiry  = kv.NewEach(Devices, "expires_at", func(d *Device) Time { return d.ExpiresAt })
)

var _ = manage(Access{Table: Devices, Query: "admin.list.query"})

// DeviceOf returns the device of a user with this hash. The error is NotFound if there is none
// or it has expired.
func DeviceOf(tx *Tx, a Account, hash string) (*Device, error) {
	d, err := DeviceByHash.Get(tx, hash)
	if err != nil {
		return nil, err
	}
	if accountOf(d.UserID, d.AppUserID) != a || tx.Now() >= d.ExpiresAt {
		return nil, Devices.NotFound(d.ID)
	}
	return d, nil
}

// AddDevice stores a new device of a user, who signs in there.
func AddDevice(tx *Tx, a Account, hash string, at Client) (*Device, error) {
	all, err := devicesOf(tx, a)
	if err != nil {
		return nil, err
	}

	for ; len(all) >= maxDevices; all = all[1:] {
		for i, d := range all {
			if d.ExpiresAt < all[0].ExpiresAt {
				all[0], all[i] = d, all[0]
			}
		}
		if err := Devices.Delete(tx, all[0].ID); err != nil {
			return nil, err
		}
	}

	d := &Device{Hash: hash}
	d.UserID, d.AppUserID = a.IDs()
	d.use(tx, at)
	return d, Devices.Create(tx, d)
}

// RenewDevice records a successful sign-in: it resets the failures and extends the expiry.
func RenewDevice(tx *Tx, id ID, at Client) error {
	_, err := Devices.UpdateQuietly(tx, id, func(d *Device) error { d.use(tx, at); return nil })
	return err
}

// use records a successful sign-in.
func (d *Device) use(tx *Tx, at Client) {
	d.Failures, d.ExpiresAt, d.LastUsed = 0, tx.Now().Add(DeviceLife), tx.Now()
	d.Browser, d.OS, d.IP, d.Provider = at.Browser, at.OS, at.IP, at.Provider
	if network := at.network(); network != "" {
		d.Networks = slices.DeleteFunc(slices.Clone(d.Networks), func(n string) bool {
			return n == network
		})
		d.Networks = append(d.Networks, network)
		d.Networks = d.Networks[max(0, len(d.Networks)-maxNetworks):]
	}
}

// NetworkOf returns the network of an address: /24 of IPv4, /48 of IPv6.
func NetworkOf(addr netip.Addr) netip.Prefix {
	bits := 48
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 24
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no address
	}
	return p
}

func (c Client) network() string {
	addr, err := netip.ParseAddr(c.IP)
	if err != nil {
		return ""
	}
	return NetworkOf(addr).String()
}

// UnknownIn returns which part of a sign-in is new to the devices of a person: NewDevice,
// NewNetwork or "". known is the ID of the device; 0 for a new one.
func UnknownIn(tx *Tx, a Account, known ID, at Client) (kind string, err error) {
	if known == 0 {
		return NewDevice, nil
	}

	all, err := devicesOf(tx, a)
	network, before := at.network(), false
	for _, d := range all {
		if slices.Contains(d.Networks, network) {
			return "", err
		}
		before = before || len(d.Networks) > 0
	}
	if err != nil || network == "" || !before { // from before networks were recorded
		return "", err
	}

	return NewNetwork, nil
}

// KnowsNetwork reports whether a person has used one of its devices in the network of a sign-in.
func KnowsNetwork(tx *Tx, a Account, at Client) (bool, error) {
	all, err := devicesOf(tx, a)
	network := at.network()
	return network != "" && slices.ContainsFunc(all, func(d *Device) bool {
		return slices.Contains(d.Networks, network)
	}), err
}

// ForgetDevice deletes a device and ends the sessions that were opened there.
func ForgetDevice(tx *Tx, id ID) error {
	if err := EndDeviceSessions(tx, id); err != nil {
		return err
	}
	return Devices.Delete(tx, id)
}

// EndDeviceSessions ends the sessions that were opened on a device.
func EndDeviceSessions(tx *Tx, id ID) error {
	open, err := SessionByDevice.IDs(tx, id)
	for _, session := range open {
		if err == nil {
			err = Sessions.Delete(tx, session)
		}
	}
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

// endDevices deletes all devices of a user except keep.
func endDevices(tx *Tx, a Account, keep ID) error {
	all, err := devicesOf(tx, a)
	for _, d := range all {
		if d.ID != keep {
			err = errors.Join(err, Devices.Delete(tx, d.ID))
		}
	}
	return err
}

func devicesOf(tx *Tx, a Account) (all []*Device, err error) {
	for d, err := range ByRealm(a.App, DeviceByUser, DeviceByAppUser).All(tx, a.ID) {
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
