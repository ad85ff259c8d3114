package account_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

// withCodes turns on codes by mail, for ann, who has a verified address. It returns a function that
// sends what waits and returns the code in the last mail to her, and one with the recipients so far.
func withCodes(in *servertest.Instance) (code func() string, recipients func() []string) {
	in.T.Helper()
	box := in.OpenMailbox()
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":1}}`, "owner")
	in.AppUser("ann")
	setAddress(in, "ann", true)
	code = func() string {
		in.T.Helper()
		in.ResolveRequests()
		in.SendMails()
		_, text := box.Last(in.T, "ann@example.org").Text(in.T)
		code := eightDigits.FindString(text)
		if code == "" {
			in.T.Fatalf("no code in %q", text)
		}
		return code
	}
	return code, func() (to []string) {
		for _, m := range box.All() {
			to = append(to, m.To)
		}
		return to
	}
}

func setAddress(in *servertest.Instance, name string, verified bool) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		u, err := store.AppUserByName.Get(tx, name)
		if err != nil {
			return err
		}
		return store.SetEmail(tx, store.Account{App: true, ID: u.ID}, name+"@example.org", verified)
	})
}

// requestCode asks for a code and returns the token.
func requestCode(in *servertest.Instance, name string) string {
	in.T.Helper()
	a := in.Call("POST", "/api/login/email", `{"username":"`+name+`"}`, "nobody")
	a.Brief(200, `"login_token":"rv_`)
	var out struct {
		Data struct {
			Token string `json:"login_token"`
		}
	}
	servertest.Must(in.T, json.Unmarshal([]byte(a.Body), &out))
	return out.Data.Token
}

var errorCode = regexp.MustCompile(`"errorCode":"[^"]*"`)

var eightDigits = regexp.MustCompile(`(?m)\b\d{8}\b`)

func useCode(in *servertest.Instance, token, code string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/api/login/email-code", `{"login_token":"`+token+`","otp":"`+code+`"}`, "nobody")
}

func TestCodeSignIn(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	next, _ := withCodes(in)
	token := requestCode(in, "ann@example.org")
	code := next()
	useCode(in, token, "00000000").Brief(401, `"errorCode":"wrong_code"`)
	useCode(in, requestCode(in, "ann"), code).Brief(401, `"errorCode":"wrong_code"`) // the code of another token
	useCode(in, token, code[:4]+" "+code[4:]).Brief(200, `"token":"rv_`)
	useCode(in, token, code).Brief(401, `"errorCode":"code_again"`)

	in.Flush()
	for _, path := range []string{"/system/monitor/request?pageSize=1000",
		"/system/monitor/auth?pageSize=1000", "/system/mail?pageSize=100", "/system/audit?pageSize=1000",
		"/admin/loginlog?pageSize=100"} {
		in.OK("GET", path, "", "owner").Lacks(code, token)
	}
	in.View(func(tx *store.Tx) error { // the code is forgotten when its mail was sent
		m, err := store.LastMail(tx, store.SignInCode, annOf(tx))
		if err == nil && (m.State != store.MailSent || len(m.Login.Box) > 0) {
			t.Errorf("the mail is %+v", m)
		}
		return err
	})
}

func annOf(tx *store.Tx) store.Account {
	u, err := store.AppUserByName.Get(tx, "ann")
	if err != nil {
		return store.Account{App: true}
	}
	return store.Account{App: true, ID: u.ID}
}

// TestCodeSignIn_TellsNothing compares the answers for names that get no code with those for ann.
func TestCodeSignIn_TellsNothing(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	next, recipients := withCodes(in)
	in.AppUser("bob")
	in.AppUser("dan")
	setAddress(in, "bob", false)
	setAddress(in, "dan", true)
	in.Update(func(tx *store.Tx) error {
		u, err := store.AppUserByName.Get(tx, "dan")
		if err == nil {
			_, err = store.AppUsers.Update(tx, u.ID, func(u *store.AppUser) error {
				u.Status = false
				return nil
			})
		}
		return err
	})
	var want []string
	for _, name := range []string{"ann", "bob", "dan", "nobody-has-this"} {
		token := requestCode(in, name)
		var got []string
		for range 6 {
			a := useCode(in, token, "00000000")
			got = append(got, fmt.Sprint(a.Code, errorCode.FindString(a.Body)))
		}
		if want == nil {
			want = got
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s is answered with\n%s\nand ann with\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	next()
	if to := recipients(); !slices.Equal(to, []string{"ann@example.org"}) {
		t.Errorf("mails to %q", to)
	}
}

func TestCodeSignIn_EndsWithTheUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	next, _ := withCodes(in)
	change := func(set func(u *store.AppUser)) {
		in.Update(func(tx *store.Tx) error {
			_, err := store.AppUsers.Update(tx, annOf(tx).ID, func(u *store.AppUser) error {
				set(u)
				return nil
			})
			return err
		})
	}
	for name, set := range map[string]func(u *store.AppUser){
		"disabled":      func(u *store.AppUser) { u.Status = false },
		"other address": func(u *store.AppUser) { u.Email = "other@example.org" },
		"passwords off": func(u *store.AppUser) { u.PasswordSignIn = store.PasswordOff },
	} {
		token := requestCode(in, "ann")
		code := next()
		change(set)
		if a := useCode(in, token, code); a.Code != 401 && a.Code != 403 {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		change(func(u *store.AppUser) { u.Status, u.PasswordSignIn = true, "" })
		setAddress(in, "ann", true)
	}

	token := requestCode(in, "ann")
	code := next()
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":0}}`, "owner")
	useCode(in, token, code).Brief(403, `"errorCode":"code_sign_in_off"`)
	in.Call("POST", "/api/login/email", `{"username":"ann"}`, "nobody").Brief(403, `"errorCode":"code_sign_in_off"`)
}

// TestCodeSignIn_Limits checks the life of codes, their number in an hour, and that guesses count like
// wrong passwords.
func TestCodeSignIn_Limits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		in.OK("PUT", "/system/setting",
			`{"values":{"mail.enabled":1,"mail.host":"127.0.0.1","mail.from":"reeve@example.org","app.code_sign_in":1}}`, "owner")
		in.AppUser("ann")
		setAddress(in, "ann", true)
		token := requestCode(in, "ann")
		time.Sleep(store.SignInCodeLife)
		useCode(in, token, "00000000").Brief(401, `"errorCode":"code_again"`)

		queued := 0
		for range 9 {
			requestCode(in, "ann")
			in.ResolveRequests()
			in.Update(func(tx *store.Tx) error {
				m, err := store.LastMail(tx, store.SignInCode, annOf(tx))
				if err == nil && m != nil && m.State == store.MailQueued {
					queued++
					_, err = store.Mails.Update(tx, m.ID, func(m *store.Mail) error {
						m.End(store.MailSent)
						return nil
					})
				}
				return err
			})
		}
		if queued != 5 {
			t.Errorf("%d codes in an hour, want 5", queued)
		}

		first := requestCode(in, "ann")
		for range 5 {
			useCode(in, first, "00000000").Brief(401, `"errorCode":"wrong_code"`)
		}
		useCode(in, first, "00000000").Brief(401, `"errorCode":"code_again"`)
		useCode(in, requestCode(in, "ann"), "00000000").Brief(429)
		in.Call("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`, "nobody").Brief(429)
	})
}

func TestCodeSignIn_SecondFactor(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	next, _ := withCodes(in)
	in.Hosted(`"app.second_factor":1`)
	app, _ := in.SetUpAppFactor("ann")
	v := in.GuestBrowser()
	v.Get(pages.SignInPath).Brief(200, `href="`+pages.EmailPath+`"`)
	v.Post(pages.EmailPath, "username", "ann").Leads(pages.EmailCodePath)
	v.Get(pages.EmailCodePath).Brief(200, `name="otp"`, "eight digits")
	v.Post(pages.EmailCodePath, "otp", "00000000").Brief(422, "is wrong")
	v.Post(pages.EmailCodePath, "otp", next()).Leads(pages.CodePath)
	v.Get(pages.AccountPath).Leads(pages.SignInPath)
	v.Post(pages.CodePath, "otp", app.Code()).Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>")

	v = in.GuestBrowser()
	v.Post(pages.EmailCodePath, "otp", "00000000").Leads(pages.EmailPath + "?done=code_expired")
	v.Get(pages.EmailPath+"?done=code_expired").Brief(200, "Ask for another one.")
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":0}}`, "owner")
	v.Get(pages.SignInPath).Lacks(pages.EmailPath)
	v.Get(pages.EmailPath).Brief(403, "not possible here")
}

// TestCodeSignIn_ManyFromOneAddress checks that sign-ins that succeed do not count against their network.
func TestCodeSignIn_ManyFromOneAddress(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":1,"security.login_tries":1}}`, "owner")
	const limit = 10 // attempts of an address
	for i := range limit + 5 {
		name := fmt.Sprint("user", i)
		u := in.AppUser(name)
		setAddress(in, name, true)
		token, code := requestCode(in, name), ""
		in.ResolveRequests()
		in.View(func(tx *store.Tx) error {
			m, err := store.LastMail(tx, store.SignInCode, store.Account{App: true, ID: u.ID})
			if err == nil {
				code, err = store.SignInCodeOf(tx, m)
			}
			return err
		})
		useCode(in, token, code).Brief(200, `"token":"rv_`)
	}
	for range limit {
		requestCode(in, "user0")
	}
	in.Call("POST", "/api/login/email", `{"username":"user0"}`, "nobody").Brief(429)
}
