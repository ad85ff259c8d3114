package account_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

// atShop is the client of a program that its requests name.
type atShop struct{ address, device, agent string }

// desktop is a client with a browser that recognizes no device.
var desktop = atShop{address: "198.51.100.7", agent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"}

// call sends a request about the client with the key of the program.
func (c atShop) call(in *servertest.Instance, path, fields string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", path, fmt.Sprintf(`{%s,"address":%q,"device_token":%q,"user_agent":%q}`, fields, c.address, c.device, c.agent), "shop")
}

// requests asks for a code and returns the token.
func (c atShop) requests(in *servertest.Instance, name string) string {
	in.T.Helper()
	var out account.CodeRequestOut
	c.call(in, "/auth/login/email", fmt.Sprintf(`"username":%q`, name)).Data(&out)
	if out.Login == "" || out.ExpiresAt == 0 {
		in.T.Errorf("the response to a request is %+v", out)
	}
	return out.Login
}

func (c atShop) enters(in *servertest.Instance, token, code string) *servertest.Reply {
	in.T.Helper()
	return c.call(in, "/auth/login/email-code", fmt.Sprintf(`"login_token":%q,"otp":%q`, token, code))
}

// mailedShop is shop with codes by mail, which next returns, for ann.
func mailedShop(t *testing.T) (in *servertest.Instance, next func() string) {
	t.Helper()
	in = shop(t)
	next, _ = withCodes(in)
	return in, next
}

func TestProgramCode(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	token := desktop.requests(in, "ann@example.org")
	code := next()
	desktop.enters(in, token, "00000000").Brief(401, `"errorCode":"wrong_code"`)
	a := desktop.enters(in, token, code)
	var out account.LoginOut
	a.Data(&out)
	if a.Code != 200 || out.Token == "" || out.DeviceToken == "" || out.LoginToken != "" || a.Header.Get("Set-Cookie") != "" {
		t.Fatalf("the right code: %d %s, %v", a.Code, a.Body, a.Header)
	}
	desktop.enters(in, token, code).Brief(401, `"errorCode":"code_again"`)
	in.Tokens["ann"] = out.Token
	in.OK("GET", "/api/user", "", "ann").Brief(200, `"username":"ann"`)
	in.OK("GET", "/api/session", "", "ann").Brief(200, `"ip":"198.51.100.7"`, `"browser":"Chrome 140.0"`)

	known := desktop
	known.device = out.DeviceToken
	known.enters(in, known.requests(in, "ann"), next()).Brief(200, `"token":"rv_`, `"device_token":"`+out.DeviceToken+`"`)
	in.Flush()
	for _, path := range []string{"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000", "/system/audit?pageSize=1000"} {
		in.OK("GET", path, "", "owner").Lacks(code, token, out.Token)
	}
}

// TestProgramCode_BoundToClient checks that the code of a client works from no other one.
func TestProgramCode_BoundToClient(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	known := atShop{"198.51.100.7", "a device", desktop.agent}
	token := known.requests(in, "ann")
	code := next()
	for name, other := range map[string]atShop{
		"another address": {"198.51.100.8", known.device, known.agent},
		"another device":  {known.address, "b", known.agent},
		"no device":       {known.address, "", known.agent},
		"another browser": {known.address, known.device, "curl/8"},
	} {
		if a := other.enters(in, token, code); a.Code != 401 || a.Envelope().ErrorCode != "code_again" {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	known.enters(in, known.requests(in, "ann"), code).Brief(401, `"errorCode":"wrong_code"`) // the code of another token
	useCode(in, token, code).Brief(401, `"errorCode":"code_again"`)                          // without the program
	known.enters(in, token, code).Brief(200, `"token":"rv_`)
}

func TestProgramCode_SecondFactor(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	var out account.LoginOut
	desktop.enters(in, desktop.requests(in, "ann"), next()).Data(&out)
	in.Tokens["ann"] = out.Token
	app, recovery := in.SetUpAppFactor("ann")
	second := func(c atShop, code string) *servertest.Reply {
		return c.call(in, "/auth/login/totp", fmt.Sprintf(`"login_token":%q,"otp":%q`, out.LoginToken, code))
	}
	for _, code := range []string{app.Code(), recovery[0]} {
		desktop.enters(in, desktop.requests(in, "ann"), next()).Data(&out)
		if out.Token != "" || out.LoginToken == "" || fmt.Sprint(out.Methods) != "[otp recovery]" {
			t.Fatalf("the first step: %+v", out)
		}
		second(atShop{"198.51.100.8", "", desktop.agent}, code).Brief(401, `"errorCode":"sign_in_again"`)
		second(desktop, "000000").Brief(401, `"errorCode":"wrong_code"`)
		second(desktop, code).Brief(200, `"token":"rv_`)
	}
}

func TestProgramCode_Refused(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	in.Tokens["reader"] = in.KeyOf(in.Person("reader", "auth.check"), servertest.ServiceKey)
	const fields = `"address":"198.51.100.7"}`
	for path, body := range map[string]string{
		"/auth/login/email":      `{"username":"ann",` + fields,
		"/auth/login/email-code": `{"login_token":"x","otp":"x",` + fields,
	} {
		in.Call("POST", path, body, "nobody").Brief(401)
		in.Call("POST", path, body, "reader").Brief(403, "auth.login")
		in.Call("POST", path, body, "ann").Brief(401)
	}
	for _, address := range []string{"", "shop", "198.51.100.7:80", "0.0.0.0", "224.0.0.1"} {
		wrong := atShop{address: address}
		wrong.call(in, "/auth/login/email", `"username":"ann"`).Names(422, "address")
		wrong.enters(in, "x", "00000000").Names(422, "address")
	}
	token := desktop.requests(in, "ann")
	code := next()
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":0}}`, "owner")
	desktop.call(in, "/auth/login/email", `"username":"ann"`).Brief(403, `"errorCode":"code_sign_in_off"`)
	desktop.enters(in, token, code).Brief(403, `"errorCode":"code_sign_in_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":1,"mail.enabled":0}}`, "owner")
	desktop.call(in, "/auth/login/email", `"username":"ann"`).Brief(403, `"errorCode":"mail_off"`)
}

// TestProgramCode_LimitOfEachAddress checks that requests and wrong codes count for the network of the client.
func TestProgramCode_LimitOfEachAddress(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":1}}`, "owner")
	const limit = 10 // requests of a network
	for n := range limit {
		desktop.requests(in, fmt.Sprint("name", n))
	}
	desktop.call(in, "/auth/login/email", `"username":"ann"`).Brief(429)
	other := atShop{address: "2001:db8::8", agent: desktop.agent}
	token := other.requests(in, "ann")
	other.enters(in, token, next()).Brief(200, `"token":"rv_`)
}

// TestProgramCode_LongUserAgent checks that a program can pass on what a browser sends.
func TestProgramCode_LongUserAgent(t *testing.T) {
	t.Parallel()
	in, next := mailedShop(t)
	long := atShop{address: desktop.address, agent: desktop.agent + strings.Repeat(" Addition/1.0", 100)}
	long.enters(in, long.requests(in, "ann"), next()).Brief(200, `"token":"rv_`)
}

// TestProgramCode_Language checks that the mail is in the language that the program passes on.
func TestProgramCode_Language(t *testing.T) {
	t.Parallel()
	in, _ := mailedShop(t)
	for header, want := range map[string]string{"zh-CN,zh;q=0.9": "zh", "fr,en": "en"} {
		r := in.Request("POST", "/auth/login/email", `{"username":"ann","address":"198.51.100.7"}`, "shop")
		r.Header.Set("Accept-Language", header)
		in.Send(r).Brief(200)
		in.ResolveRequests()
		in.View(func(tx *store.Tx) error {
			m, err := store.LastMail(tx, store.SignInCode, annOf(tx))
			if err == nil && m.Language != want {
				t.Errorf("%s: the mail is in %s", header, m.Language)
			}
			return err
		})
	}
}
