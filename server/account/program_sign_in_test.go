package account_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

// signsIn signs an app user in for a client of the program.
func signsIn(in *servertest.Instance, username, password, address string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/auth/login", fmt.Sprintf(`{"username":%q,"password":%q,"address":%q,"user_agent":"Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"}`,
		username, password, address), "shop")
}

// shop is an instance with the app users customer and other, and the key of a program.
func shop(t *testing.T) *servertest.Instance {
	t.Helper()
	in := servertest.Start(t)
	in.AppUser("customer")
	in.AppUser("other")
	in.Tokens["shop"] = in.KeyOf(in.Person("shop", "auth.login"), servertest.ServiceKey)
	return in
}

// A program that says where its clients are has a limit by address for each of them.
func TestProgramSignIn_LimitOfEachAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, limitOfEachAddress)
}

func limitOfEachAddress(t *testing.T) {
	in := shop(t)
	for n := range 60 {
		signsIn(in, fmt.Sprint("name", n), "wrong password", "198.51.100.7").Brief(map[bool]int{true: 401, false: 429}[n < 50])
	}
	signsIn(in, "customer", servertest.OwnerPassword, "198.51.100.7").Brief(429)
	var out account.LoginOut
	a := signsIn(in, "customer", servertest.OwnerPassword, "2001:db8::8")
	a.Data(&out)
	if out.Token == "" || out.DeviceToken == "" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("another client: %d %s, %v", a.Code, a.Body, a.Header)
	}
	in.View(func(tx *store.Tx) error {
		for s, err := range store.Sessions.All(tx) {
			if err != nil {
				return err
			}
			if s.AppUserID == 1 && s.IP == "2001:db8::8" && s.Browser == "Chrome 140.0" {
				return nil
			}
		}
		t.Error("no session has the address and the browser of the client")
		return nil
	})
}

// The limits by username hold over all addresses.
func TestProgramSignIn_LimitOfUsername(t *testing.T) {
	t.Parallel()
	in := shop(t)
	for n := range 25 {
		signsIn(in, "customer", "wrong password", fmt.Sprintf("198.51.100.%d", n)).Brief(map[bool]int{true: 401, false: 429}[n < 20])
	}
	signsIn(in, "other", servertest.OwnerPassword, "198.51.100.200").Brief(200)
}

func TestProgramSignIn_Refused(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.Tokens["reader"] = in.KeyOf(in.Person("reader", "auth.check"), servertest.ServiceKey)
	const body = `{"username":"customer","password":"x","address":"198.51.100.7"}`
	for _, path := range []string{"/auth/login", "/auth/login/totp"} {
		in.Call("POST", path, body, "nobody").Brief(401)
		in.Call("POST", path, body, "reader").Brief(403, "auth.login")
	}
	for _, address := range []string{"", "shop", "198.51.100.7:80", "198.51.100.0/24", "0.0.0.0", "::", "224.0.0.1", "1.2.3.4, 5.6.7.8"} {
		signsIn(in, "customer", servertest.OwnerPassword, address).Names(422, "address")
	}
	// A mapped address is that of the client.
	for range 5 {
		signsIn(in, "customer", "wrong password", "::ffff:198.51.100.9").Brief(401)
	}
	signsIn(in, "customer", servertest.OwnerPassword, "198.51.100.9").Brief(429)
}
