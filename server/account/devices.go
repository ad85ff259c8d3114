package account

import (
	"net/http"
	"strings"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// The devices on which a user has signed in. Signing a device out needs a confirmation, so that a
// thief of a session can't sign the user out.
func DeviceRoutes() []web.Route {
	return []web.Route{
		web.List("/admin/account/device", web.SignedIn, "List your devices", &ownDevices,
			web.Options{
				Keys: web.ByNoKey,
				Note: "The browsers in which you have signed in, each known by a token that it keeps for " +
					"90 days, the newest first.",
			}),
		web.Get("/admin/account/device/:id", web.SignedIn, "Get your device", &ownDevices,
			web.Options{Keys: web.ByNoKey}),
		web.Write("PUT", "/admin/account/device/:id", web.SignedIn, "Rename your device",
			renameDevice, web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.Devices),
				Note:   "Only you see the name.",
			}),
		web.Write("DELETE", "/admin/account/device/:id", web.SignedIn, "Forget your device",
			forgetDevice, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.Devices),
				Note: "Ends the sessions that were opened there. The next sign-in there is one on a new " +
					"device.",
			}),
		web.DeleteSeveral("/admin/account/device", web.SignedIn, "Forget your devices",
			forgetDevice, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note:      "Ends the sessions that were opened there.",
			}),
		web.Write("DELETE", "/admin/account/device/:id/session", web.SignedIn,
			"Sign out on your device", signOutDevice, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note:      "Ends the sessions that were opened there. The device remains known.",
			}),
	}
}

// Device is a device in responses.
type Device struct {
	store.Ident
	Name      string     `json:"name" doc:"Name that you have given to it; empty for none"`
	Browser   string     `json:"browser" doc:"Browser of the last sign-in; empty if unknown"`
	OS        string     `json:"os" doc:"Operating system of the last sign-in; empty if unknown"`
	IP        string     `json:"ip" doc:"Address of the last sign-in; empty if unknown"`
	Provider  string     `json:"provider_name" doc:"Title of the sign-in provider that you came from at the last sign-in; empty otherwise"`
	LastUsed  store.Time `json:"last_used" null:"true" doc:"Time of the last sign-in, or of the last request of an open session; null if unknown"`
	Sessions  int        `json:"sessions" doc:"Number of open sessions"`
	Current   store.Flag `json:"current" doc:"1 if the session of this request was opened there, else 0"`
	ExpiresAt store.Time `json:"expires_at" doc:"Time at which it is forgotten without another sign-in"`
	store.Versioned
}

func deviceOf(tx *store.Tx, req *web.Request, d *store.Device) (*Device, error) {
	out := &Device{
		Ident:     d.Ident,
		Name:      d.Name,
		Browser:   d.Browser,
		OS:        d.OS,
		IP:        d.IP,
		Provider:  d.Provider,
		LastUsed:  d.LastUsed,
		Current:   store.Flag(d.ID == req.Session.DeviceID),
		ExpiresAt: d.ExpiresAt,
		Versioned: d.Versioned,
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

var ownDevices = web.Resource[store.Device, *Device]{
	Collection: store.Devices,
	Order:      "id, descending",
	Descending: true,
	Output:     deviceOf,
	Columns:    []web.Column[store.Device]{{Name: "id", Uses: web.Sorted}},
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.DeviceByUser.AnyOf(req.Actor.ID), true
	},
}

type deviceNameIn struct {
	web.ByID
	Name *string `json:"name" check:"max=64" doc:"Name by which you recognize it; empty for none"`
}

func renameDevice(tx *store.Tx, req *web.Request, in *deviceNameIn) (*Device, error) {
	if _, err := ownDevices.Get(tx, req, in.ID); err != nil {
		return nil, err
	}
	return web.Edit(tx, req, &ownDevices, in.ID, func(d *store.Device) {
		web.Set(&d.Name, in.Name)
	})
}

func forgetDevice(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := ownDevices.Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.ForgetDevice(tx, in.ID)
}

func signOutDevice(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := ownDevices.Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.EndDeviceSessions(tx, in.ID)
}

// deviceToken returns the device token that the client sent in the body, or else in the
// cookie, which may have a name without the mark of an installation from before there were marks.
func deviceToken(req *web.Request, app bool, sent string) string {
	if sent != "" {
		return sent
	}
	for _, name := range []string{req.Server.DeviceCookie(app),
		web.RealmName(app, web.DeviceName, web.AppDeviceName)} {
		if cookie, err := req.HTTP.Cookie(name); err == nil {
			return cookie.Value
		}
	}
	return ""
}

// byProgram reports whether a program signs in, such as curl or a client library: for a token
// instead of a cookie, and not from a page.
func byProgram(req *web.Request, cookie store.Flag) bool {
	return !bool(cookie) && !strings.HasPrefix(req.HTTP.UserAgent(), "Mozilla/")
}

// keepDevice sets the device token as a cookie that scripts cannot read. One without a mark is
// deleted if it is of this installation.
func keepDevice(req *web.Request, app bool, token string) {
	cookie := req.Server.HiddenCookie(req.Server.DeviceCookie(app), token,
		int(store.DeviceLife/time.Second), req.Secure())
	cookie.SameSite = http.SameSiteStrictMode
	req.SetCookie(cookie)
	if old, err := req.HTTP.Cookie(web.RealmName(app, web.DeviceName, web.AppDeviceName)); err == nil && old.Value == token {
		req.DropCookie(old.Name)
	}
}

const ()

// SignInHealth reports degraded while clients behind an address that is probably a
// proxy are rate-limited.
func SignInHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "sign-in",
		State:   web.Healthy,
		Message: errs.Say("no address that looks like a reverse proxy is at its limit"),
		Figures: map[string]int64{},
	}
	for what, n := range s.Auth.Stats().Throttled {
		p.Figures[what+"_throttled"] = int64(n)
	}
	if addr, seen := s.Suspects.Recent(time.Now()); !seen.IsZero() {
		p.State, p.Message, p.Since = web.Degraded, web.SuspectText(addr), kv.TimeOf(seen)
	}
	return p
}
