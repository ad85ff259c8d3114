package server

import (
	"reeve/store"
)

// The devices on which a user has signed in. Ending what is open there needs a confirmation, so that whoever has got hold
// of a session can't sign the user out.
var accountDeviceRoutes = []Route{
	bySession(diskList("/admin/account/device", signedIn, "List your devices", &ownDevices)),
	bySession(get("/admin/account/device/:id", signedIn, "Get your device", &ownDevices)),
	bySession(onRecord(store.Devices, write("PUT", "/admin/account/device/:id", signedIn, "Rename your device", renameDevice))),
	confirmed(bySession(onRecord(store.Devices, write("DELETE", "/admin/account/device/:id", signedIn, "Forget your device", forgetDevice)))),
	confirmed(bySession(deleteSeveral("/admin/account/device", signedIn, "Forget your devices", forgetDevice))),
	confirmed(bySession(write("DELETE", "/admin/account/device/:id/session", signedIn, "Sign out on your device", signOutDevice))),
}

// device is a device in responses.
type device struct {
	store.Ident
	Name      string     `json:"name" doc:"Name that you have given to it; empty for none"`
	Browser   string     `json:"browser" doc:"Browser of the last sign-in; empty if unknown"`
	OS        string     `json:"os" doc:"Operating system of the last sign-in; empty if unknown"`
	IP        string     `json:"ip" doc:"Address of the last sign-in; empty if unknown"`
	LastUsed  store.Time `json:"last_used" null:"true" doc:"Time of the last sign-in, or of the last request of an open session; null if unknown"`
	Sessions  int        `json:"sessions" doc:"Number of open sessions"`
	Current   store.Flag `json:"current" doc:"1 if the session of this request was opened there, else 0"`
	ExpiresAt store.Time `json:"expires_at" doc:"Time at which it is forgotten without another sign-in"`
	store.Versioned
}

func deviceOf(tx *store.Tx, req *Request, d *store.Device) (*device, error) {
	out := &device{
		Ident: d.Ident, Name: d.Name, Browser: d.Browser, OS: d.OS, IP: d.IP, LastUsed: d.LastUsed,
		Current: store.Flag(d.ID == req.Session.DeviceID), ExpiresAt: d.ExpiresAt, Versioned: d.Versioned,
	}
	for s, err := range store.SessionByDevice.All(tx, d.ID) {
		if err != nil {
			return nil, err
		}
		out.Sessions++
		out.LastUsed = max(out.LastUsed, s.LastUsed)
	}
	return out, nil
}

var ownDevices = Resource[store.Device, *device]{
	of: store.Devices, order: "id, descending", descending: true, out: deviceOf,
	columns: []diskColumn[store.Device]{{name: "id", uses: sorted}},
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.DeviceByUser.AnyOf(req.Actor.ID), true
	},
}

type deviceNameIn struct {
	byID
	Name *string `json:"name" check:"max=64" doc:"Name by which you recognize it; empty for none"`
}

func renameDevice(tx *store.Tx, req *Request, in *deviceNameIn) (*device, error) {
	if _, err := ownDevices.get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return edit(tx, req, &ownDevices, in.ID, func(d *store.Device) { set(&d.Name, in.Name) })
}

func forgetDevice(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	if _, err := ownDevices.get(tx, req, in.ID); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.ForgetDevice(tx, in.ID)
}

func signOutDevice(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	if _, err := ownDevices.get(tx, req, in.ID); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.EndDeviceSessions(tx, in.ID)
}
