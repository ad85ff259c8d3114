package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// browser signs the owner in from a device and an address, and returns the name of its token.
func browser(in *servertest.Instance, name, device, addr string) (deviceToken string) {
	in.T.Helper()
	r := in.Request("POST", "/admin/login",
		fmt.Sprintf(`{"username":"admin","password":%q,"device_token":%q}`,
			servertest.OwnerPassword, device), "nobody")
	r.RemoteAddr = addr + ":1"
	r.Header.Set("User-Agent",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	var out account.LoginOut
	a := in.Send(r)
	a.Brief(200)
	a.Data(&out)
	in.Tokens[name] = out.Token
	return out.DeviceToken
}

func ownDevices(in *servertest.Instance, as string) []account.Device {
	in.T.Helper()
	var page struct{ Data []account.Device }
	in.OK("GET", "/admin/account/device", "", as).Data(&page)
	return page.Data
}

func TestOwnDevices(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	browser(in, "laptop", "", "192.0.2.1")
	phone := browser(in, "phone", "", "198.51.100.7")
	browser(in, "phone again", phone, "198.51.100.8")
	all := ownDevices(in, "laptop")
	if len(all) != 2 || all[0].Browser != "Firefox 140.0" || all[0].OS != "Linux x86_64" ||
		all[0].IP != "198.51.100.8" || all[0].Sessions != 2 || bool(all[0].Current) ||
		!bool(all[1].Current) || all[1].LastUsed == 0 {
		t.Fatalf("%+v", all)
	}

	other := fmt.Sprint("/admin/account/device/", all[0].ID)
	in.OK("PUT", other, `{"name":"Phone"}`, "laptop").Brief(200, `"name":"Phone"`)
	in.Call("PUT", other, `{"name":"`+strings.Repeat("x", 65)+`"}`, "laptop").Names(422, "name")
	in.Clerk("clerk")
	in.Call("GET", other, "", "clerk").Brief(404)
	in.Call("PUT", other, `{"name":"Mine"}`, "clerk").Brief(404)
	in.Call("DELETE", other, "", "clerk").Brief(404)
	in.Call("DELETE", other+"/session", "", "clerk").Brief(404)
	in.Lists("/admin/account/device", "id", "clerk")

	in.OK("DELETE", other+"/session", "", "laptop")
	in.Call("GET", "/admin/info", "", "phone").Brief(401)
	in.Call("GET", "/admin/info", "", "phone again").Brief(401)
	in.OK("GET", other, "", "laptop").Brief(200, `"sessions":0`, `"name":"Phone"`)
	browser(in, "phone", phone, "198.51.100.8")
	in.OK("GET", other, "", "laptop").Brief(200, `"sessions":1`)
	in.OK("DELETE", other, "", "laptop")
	in.Call("GET", "/admin/info", "", "phone").Brief(401)
	if next := browser(in, "phone", phone, "198.51.100.8"); next == phone {
		t.Error("a forgotten device is still known")
	}

	in.OK("GET", "/system/session", "", "laptop").Brief(200, `"device_id":`)
}

// TestSignInNotice checks that the user's other devices are notified of a sign-in, and that the new
// device can't dismiss the notice.
func TestSignInNotice(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	in.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: 1}, "owner@example.org", true)
	})
	notices := func(as string) []account.Notice {
		var out struct{ Notices []account.Notice }
		in.OK("GET", "/admin/info", "", as).Data(&out)
		return out.Notices
	}

	laptop := browser(in, "laptop", "", "192.0.2.1")
	in.Update(func(tx *store.Tx) error { return store.DropNotices(tx, 1, tx.Now(), 0, 0) })
	thief := browser(in, "thief", "", "198.51.100.7")
	browser(in, "thief again", thief, "198.51.100.7")
	for _, as := range []string{"thief", "thief again"} {
		if got := notices(as); len(got) != 0 {
			t.Errorf("%s is told %+v", as, got)
		}
	}

	got := notices("laptop")
	if len(got) != 1 || got[0].Kind != store.NewDevice || got[0].IP != "198.51.100.7" ||
		got[0].Browser != "Firefox 140.0" || got[0].OS != "Linux x86_64" || got[0].DeviceID == 0 {
		t.Fatalf("the laptop is told %+v", got)
	}

	browser(in, "thief elsewhere", "", "198.51.100.7") // the new device of a second sign-in
	late, err := kv.TimeOf(time.Now().Add(time.Hour)).MarshalJSON()
	servertest.Must(t, err)
	for _, as := range []string{"thief", "thief again", "thief elsewhere"} {
		in.OK("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, as)
	}

	if got := notices("laptop"); len(got) != 2 || got[0].DeviceID != 2 {
		t.Errorf("after the thief has dismissed them: %+v", got)
	}

	for range 12 { // nor can further sign-ins push it out
		browser(in, "thief elsewhere", "", "198.51.100.7")
	}

	browser(in, "thief again", thief, "198.51.100.7")
	in.OK("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, "thief again")
	for _, n := range notices("thief again") {
		if n.Dismissible {
			t.Errorf("the thief may dismiss %+v", n)
		}
	}

	browser(in, "laptop", laptop, "192.0.2.1") // the thief's sign-ins have ended its session
	if got := notices("laptop"); len(got) != 10 || got[0].DeviceID != 2 ||
		!bool(got[0].Dismissible) {
		t.Errorf("after many sign-ins: %+v", got)
	}

	in.SendMails()
	mails := box.All()
	if len(mails) != 5 { // each is about one of them
		t.Errorf("%d mails", len(mails))
	}

	text := fmt.Sprint(mails[0])
	for _, want := range []string{"New sign-in to Reeve", "Firefox, Linux", "198.51.100.7"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail has no %s: %s", want, text)
		}
	}

	in.OK("PUT", "/admin/account/notice", `{"until":`+string(late)+`}`, "laptop")
	if got := notices("laptop"); len(got) != 0 {
		t.Errorf("after the laptop has dismissed it: %+v", got)
	}

	browser(in, "laptop away", laptop, "203.0.113.1")
	if got := notices("laptop away"); len(got) != 0 {
		t.Errorf("a sign-in tells itself %+v", got)
	}
	if got := notices("laptop"); len(got) != 1 || got[0].Kind != store.NewNetwork ||
		got[0].IP != "203.0.113.1" {
		t.Errorf("from a new network: %+v", got)
	}
}

// TestSignInNotice_MailsAreLimited checks that an attacker who knows the password can't flood the
// user's mailbox.
func TestSignInNotice_MailsAreLimited(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	in.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: 1}, "owner@example.org", true)
	})
	for i := range 12 {
		browser(in, "thief", "", fmt.Sprintf("198.51.%d.7", i))
		in.SendMails()
	}
	if n := len(box.All()); n == 0 || n > 5 {
		t.Errorf("%d mails", n)
	}
}

// TestSession_BoundToNetwork is refused from another network, also as a cookie.
func TestSession_BoundToNetwork(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	browser(in, "laptop", "", "192.0.2.1")
	in.OK("PUT", "/system/setting", `{"values":{"security.session_network":1}}`, "owner")
	from := func(addr string) *servertest.Reply {
		r := in.Request("GET", "/admin/info", "", "laptop")
		r.RemoteAddr = addr + ":1"
		return in.Send(r)
	}
	from("192.0.2.200").Brief(200)
	from("192.0.3.1").Brief(401, "session_network")
	from("192.0.2.1").Brief(200)

	// A browser keeps the cookie of the session, which goes on.
	in.Tokens["laptop"] = servertest.InCookie + in.Tokens["laptop"]
	if a := from("192.0.3.1"); a.Code != 401 || len(a.Header["Set-Cookie"]) > 0 {
		t.Errorf("with a cookie: %d %q", a.Code, a.Header["Set-Cookie"])
	}

	from("192.0.2.1").Brief(200)
}
