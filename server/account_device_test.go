package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/store"
)

// browser signs the owner in from a device and an address, and returns the name of its token.
func (in *instance) browser(name, device, addr string) (deviceToken string) {
	in.t.Helper()
	r := in.request("POST", "/admin/login", fmt.Sprintf(`{"username":"admin","password":%q,"device_token":%q}`, ownerPassword, device), "nobody")
	r.RemoteAddr = addr + ":1"
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	var out account.LoginOut
	a := in.send(r)
	a.brief(200)
	a.data(&out)
	in.tokens[name] = out.Token
	return out.DeviceToken
}

// plantDevice adds a device of the owner with the hash of a token, and returns its ID.
func (in *instance) plantDevice(hash string) (id store.ID) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		d, err := store.AddDevice(tx, store.Account{ID: 1}, hash, store.Client{Browser: "Firefox 140.0", OS: "Linux", IP: "192.0.2.1"})
		if err == nil {
			id = d.ID
		}
		return err
	})
	return id
}

func (in *instance) ownDevices(as string) []account.Device {
	in.t.Helper()
	var page struct{ Data []account.Device }
	in.ok("GET", "/admin/account/device", "", as).data(&page)
	return page.Data
}

func TestOwnDevices(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.browser("laptop", "", "192.0.2.1")
	phone := in.browser("phone", "", "198.51.100.7")
	in.browser("phone again", phone, "198.51.100.8")
	all := in.ownDevices("laptop")
	if len(all) != 2 || all[0].Browser != "Firefox 140.0" || all[0].OS != "Linux x86_64" || all[0].IP != "198.51.100.8" || all[0].Sessions != 2 || bool(all[0].Current) || !bool(all[1].Current) || all[1].LastUsed == 0 {
		t.Fatalf("%+v", all)
	}
	other := fmt.Sprint("/admin/account/device/", all[0].ID)
	in.ok("PUT", other, `{"name":"Phone"}`, "laptop").brief(200, `"name":"Phone"`)
	in.call("PUT", other, `{"name":"`+strings.Repeat("x", 65)+`"}`, "laptop").names(422, "name")
	in.clerk("clerk")
	in.call("GET", other, "", "clerk").brief(404)
	in.call("PUT", other, `{"name":"Mine"}`, "clerk").brief(404)
	in.call("DELETE", other, "", "clerk").brief(404)
	in.call("DELETE", other+"/session", "", "clerk").brief(404)
	in.lists("/admin/account/device", "id", "clerk")

	in.ok("DELETE", other+"/session", "", "laptop")
	in.call("GET", "/admin/info", "", "phone").brief(401)
	in.call("GET", "/admin/info", "", "phone again").brief(401)
	in.ok("GET", other, "", "laptop").brief(200, `"sessions":0`, `"name":"Phone"`)
	in.browser("phone", phone, "198.51.100.8")
	in.ok("GET", other, "", "laptop").brief(200, `"sessions":1`)
	in.ok("DELETE", other, "", "laptop")
	in.call("GET", "/admin/info", "", "phone").brief(401)
	if next := in.browser("phone", phone, "198.51.100.8"); next == phone {
		t.Error("a forgotten device is still known")
	}
	in.ok("GET", "/system/session", "", "laptop").brief(200, `"device_id":`)
}

// TestSignInNotice checks that the user's other devices are notified of a sign-in, and that the new
// device can't dismiss the notice.
func TestSignInNotice(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	in.update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: 1}, "owner@example.org", true)
	})
	notices := func(as string) []account.Notice {
		var out struct{ Notices []account.Notice }
		in.ok("GET", "/admin/info", "", as).data(&out)
		return out.Notices
	}
	laptop := in.browser("laptop", "", "192.0.2.1")
	in.update(func(tx *store.Tx) error { return store.DropNotices(tx, 1, tx.Now(), 0, 0) })
	thief := in.browser("thief", "", "198.51.100.7")
	in.browser("thief again", thief, "198.51.100.7")
	for _, as := range []string{"thief", "thief again"} {
		if got := notices(as); len(got) != 0 {
			t.Errorf("%s is told %+v", as, got)
		}
	}
	got := notices("laptop")
	if len(got) != 1 || got[0].Kind != store.NewDevice || got[0].IP != "198.51.100.7" || got[0].Browser != "Firefox 140.0" || got[0].OS != "Linux x86_64" || got[0].DeviceID == 0 {
		t.Fatalf("the laptop is told %+v", got)
	}
	in.browser("thief elsewhere", "", "198.51.100.7") // the new device of a second sign-in
	late, err := store.TimeOf(time.Now().Add(time.Hour)).MarshalJSON()
	must(t, err)
	for _, as := range []string{"thief", "thief again", "thief elsewhere"} {
		in.ok("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, as)
	}
	if got := notices("laptop"); len(got) != 2 || got[0].DeviceID != 2 {
		t.Errorf("after the thief has dismissed them: %+v", got)
	}
	for range 12 { // nor can further sign-ins push it out
		in.browser("thief elsewhere", "", "198.51.100.7")
	}
	in.browser("thief again", thief, "198.51.100.7")
	in.ok("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, "thief again")
	for _, n := range notices("thief again") {
		if n.Dismissible {
			t.Errorf("the thief may dismiss %+v", n)
		}
	}
	in.browser("laptop", laptop, "192.0.2.1") // the thief's sign-ins have ended its session
	if got := notices("laptop"); len(got) != 10 || got[0].DeviceID != 2 || !bool(got[0].Dismissible) {
		t.Errorf("after many sign-ins: %+v", got)
	}
	in.sendMails()
	mails := box.all()
	if len(mails) != 5 { // each is about one of them
		t.Errorf("%d mails", len(mails))
	}
	text := fmt.Sprint(mails[0])
	for _, want := range []string{"New sign-in to Reeve", "Firefox, Linux", "198.51.100.7"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail has no %s: %s", want, text)
		}
	}
	in.ok("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, "laptop")
	if got := notices("laptop"); len(got) != 0 {
		t.Errorf("after the laptop has dismissed it: %+v", got)
	}
	in.browser("laptop away", laptop, "203.0.113.1")
	if got := notices("laptop away"); len(got) != 0 {
		t.Errorf("a sign-in tells itself %+v", got)
	}
	if got := notices("laptop"); len(got) != 1 || got[0].Kind != store.NewNetwork || got[0].IP != "203.0.113.1" {
		t.Errorf("from a new network: %+v", got)
	}
}

// TestSignInNotice_MailsAreLimited checks that an attacker who knows the password can't flood the
// user's mailbox.
func TestSignInNotice_MailsAreLimited(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	in.update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: 1}, "owner@example.org", true)
	})
	for i := range 12 {
		in.browser("thief", "", fmt.Sprintf("198.51.%d.7", i))
		in.sendMails()
	}
	if n := len(box.all()); n == 0 || n > 5 {
		t.Errorf("%d mails", n)
	}
}

// TestSession_BoundToNetwork is refused from another network, also as a cookie.
func TestSession_BoundToNetwork(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.browser("laptop", "", "192.0.2.1")
	in.ok("PUT", "/system/setting", `{"values":{"security.session_network":1}}`, "owner")
	from := func(addr string) *reply {
		r := in.request("GET", "/admin/info", "", "laptop")
		r.RemoteAddr = addr + ":1"
		return in.send(r)
	}
	from("192.0.2.200").brief(200)
	from("192.0.3.1").brief(401, "session_network")
	from("192.0.2.1").brief(200)

	// A browser keeps the cookie of the session, which goes on.
	in.tokens["laptop"] = inCookie + in.tokens["laptop"]
	if a := from("192.0.3.1"); a.Code != 401 || len(a.Header["Set-Cookie"]) > 0 {
		t.Errorf("with a cookie: %d %q", a.Code, a.Header["Set-Cookie"])
	}
	from("192.0.2.1").brief(200)
}
