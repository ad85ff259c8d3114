package account_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

func registering(name, email string) string {
	return fmt.Sprintf(`{"username":%q,"password":"long enough it is","email":%q,"nickname":"N","mobile":"5551"}`, name, email)
}

func register(in *servertest.Instance, name, email string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/api/register", registering(name, email), "nobody")
}

func appLogin(in *servertest.Instance, name string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/api/login",
		fmt.Sprintf(`{"username":%q,"password":"long enough it is"}`, name), "nobody")
}

func TestRegistration_Confirmed(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed()
	in.Call("POST", "/api/register", `{"username":"ann","password":"long enough it is"}`, "nobody").Names(422, "email")
	register(in, "ann", "Ann@example.org").ConfirmationSent()
	appLogin(in, "ann").Brief(401, "wrong_credentials")
	appLogin(in, "Ann@example.org").Brief(401, "wrong_credentials")
	appLogin(in, "5551").Brief(401, "wrong_credentials")
	in.OK("GET", "/user/list?pending=1", "", "owner").Brief(200, `"username":"ann"`, `"email":""`,
		`"pending":1,"pending_email":"Ann@example.org"`, `"login_time":null`)
	in.Lists(`/user/list?filter={"pending":["0"]}`, "username", "owner")
	in.Lists("/system/loginlog?pageSize=1&sorter="+`{"id":"ascend"}`, "result", "owner", "failed")
	in.OK("GET", "/system/loginlog", "", "owner").Brief(200, `"reason":"pending"`)

	in.SendMails()
	mail := box.Last(t, "Ann@example.org")
	if _, text := mail.Text(t); !strings.Contains(text,
		"the account ann on Reeve with the address Ann@example.org") ||
		strings.Contains(text, "Hello N") {
		t.Errorf("the mail is %s", text)
	}

	token := mail.Token(t)
	in.OK("GET", mails.LinkPath+token, "", "nobody").Brief(200, "Ann@example.org",
		"the username ann")
	appLogin(in, "ann").Brief(401) // opening changes nothing
	in.Call("POST", "/admin/verify", `{"token":"`+token+`"}`, "nobody").Brief(404)
	in.Call("POST", "/api/password/link", `{"token":"`+token+`","password":"another password"}`,
		"nobody").Brief(404)
	in.OK("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").Brief(200, `"username":"ann"`)
	in.Call("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").Brief(404)
	for _, name := range []string{"ann", "ann@example.org", "5551"} {
		appLogin(in, name).Brief(200, `"token":"rv_`)
	}

	in.OK("GET", "/user/list/1", "", "owner").Brief(200,
		`"email":"Ann@example.org","email_verified":1`, `"pending":0,"pending_email":""`)
}

// TestRegistration_NoAccountEnumeration checks that neither the response, nor the operations
// possible afterwards, nor the accepted usernames reveal which accounts exist.
func TestRegistration_NoAccountEnumeration(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed()
	in.Update(func(tx *store.Tx) error {
		return store.AppUsers.Create(tx, &store.AppUser{
			Username:      "resident",
			Email:         "known@example.org",
			EmailVerified: true,
			Nickname:      "R",
			Status:        true,
		})
	})
	for _, email := range []string{"known@example.org", "unknown@example.org"} {
		name := strings.Split(email, "@")[0]
		register(in, name, strings.ToUpper(email)).ConfirmationSent()
		register(in, name, "other-"+email).Brief(409, `"errors":{"username":`) // the name is taken
		register(in, name+".2", email).ConfirmationSent()                      // replaces the first
		register(in, name, "other-"+email).ConfirmationSent()                  // so that its name is free
		appLogin(in, name+".2").Brief(401, "wrong_credentials")
		in.OK("POST", "/api/password/forgot", `{"username":"`+name+`.2"}`, "nobody")
		register(in, "resident", email).Brief(409, `"errors":{"username":`)
	}

	in.ResolveRequests()
	in.SendMails()
	subjects := map[string][]string{}
	for _, m := range box.All() {
		subject, text := m.Text(t)
		subjects[m.To] = append(subjects[m.To], subject)
		if m.To == "known@example.org" &&
			(strings.Contains(text, "/link/") ||
				!strings.Contains(text, "You have an account there already: resident.") ||
				strings.Contains(text, "known.2")) {
			t.Errorf("the known address got %s", text)
		}
	}

	if got, want := subjects["known@example.org"], []string{"You already have an account on Reeve"}; !slices.Equal(got, want) {
		t.Errorf("the known address got %q", got)
	}
	if got, want := subjects["unknown@example.org"], []string{"Confirm your registration on Reeve"}; !slices.Equal(got, want) {
		t.Errorf("the unknown address got %q", got)
	}

	in.OK("GET", "/user/list/1", "", "owner").Brief(200,
		`"username":"resident","nickname":"R","email":"known@example.org","email_verified":1`)
}

// TestRegistration_NewReplacesOld: a link that was sent for one must not confirm another. Fields
// that app users can't change keep their values.
func TestRegistration_NewReplacesOld(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed()
	in.Create("/system/field",
		`{"realm":"app","key":"company","title":"Company","type":"input","self_access":"write"}`)
	in.Call("POST", "/api/register",
		strings.Replace(registering("evil", "ann@example.org"), "{",
			`{"fields":{"company":"Evil"},`, 1), "nobody").ConfirmationSent()
	in.SendMails()
	old := box.Last(t, "ann@example.org").Token(t)
	in.Create("/system/field",
		`{"realm":"app","key":"risk","title":"Risk","type":"input","required":1}`)
	in.OK("PUT", "/user/list/1", `{"fields":{"risk":"low"}}`, "owner") // app users don't have access to it
	in.Call("POST", "/api/register",
		strings.Replace(registering("ann", "ann@example.org"), "long enough it is",
			"a password of Ann", 1), "nobody").ConfirmationSent()
	in.Call("POST", "/api/verify", `{"token":"`+old+`"}`, "nobody").Brief(404)
	in.SendMails()
	in.OK("POST", "/api/verify", `{"token":"`+box.Last(t, "ann@example.org").Token(t)+`"}`,
		"nobody").Brief(200, `"username":"ann"`)
	appLogin(in, "ann").Brief(401)
	in.OK("POST", "/api/login", `{"username":"ann","password":"a password of Ann"}`, "nobody")
	in.Lists("/user/list", "username", "owner", "ann")
	in.OK("GET", "/user/list", "", "owner").Brief(200, `"fields":{"risk":"low"}`)
}

// TestEmailChange_ConfirmedFirst checks that, where registrations are confirmed, an app user can't
// take the address of another person.
func TestEmailChange_ConfirmedFirst(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	v := in.SignedIn("ann")
	in.Tokens["ann"] = v.Cookies[servertest.SessionCookie(true, false)]
	in.OK("POST", "/user/list", `{"username":"ben","email":"ben@example.org"}`, "owner")
	box := in.Confirmed(`"app.registration_domains":"example.org"`)
	for _, email := range []string{"new@example.org", "ben@example.org"} {
		in.Call("PUT", "/api/user",
			`{"email":"`+email+`","password":"`+servertest.OwnerPassword+`"}`, "ann").Names(422,
			"email")
	}

	in.Call("POST", "/api/user/email",
		`{"email":"ann@example.net","password":"`+servertest.OwnerPassword+`"}`, "ann").Names(422,
		"email")

	v.Post(pages.ProfilePath, "nickname", "Ann", "email", "ann@example.net", "password",
		servertest.OwnerPassword).Brief(422, "must be in one of these domains: example.org")
	v.Post(pages.ProfilePath, "nickname", "Ann", "email", "new@example.org", "password", "wrong").Brief(422, "is not the current password")
	v.Post(pages.ProfilePath, "nickname", "Ann", "email", "new@example.org", "password",
		servertest.OwnerPassword).Leads(pages.AccountPath + "?done=email")
	v.Get(pages.AccountPath+"?done=email").Brief(200, "Open it to confirm the change.")
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"nickname":"Ann","email":""`)
	in.SendMails()
	in.OK("POST", "/api/verify", `{"token":"`+box.Last(t, "new@example.org").Token(t)+`"}`,
		"nobody")
	in.OK("GET", "/user/list/1", "", "owner").Brief(200,
		`"email":"new@example.org","email_verified":1`)
	in.OK("PUT", "/api/user",
		`{"email":"NEW@example.org","password":"`+servertest.OwnerPassword+`"}`, "ann")
}

func TestRegistration_MailsPerAddressLimited(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"a known one": true, "an unknown one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			box := in.Confirmed()
			if known {
				in.AppGuest("resident", "ann@example.org")
			}

			var codes []int
			for i := range 5 {
				codes = append(codes, register(in, fmt.Sprint("name.", i), "ann@example.org").Code)
				in.SendMails()
			}

			if want := []int{200, 200, 200, 429, 429}; !slices.Equal(codes, want) ||
				len(box.All()) != 3 {
				t.Errorf("answered %v with %d mails", codes, len(box.All()))
			}
		})
	}
}

func TestRegistration_Domains(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Confirmed(`"app.registration_domains":" Example.org, example.net"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.registration_confirm":0}}`, "owner")
	for _, bad := range []string{"", "ann@example.com", "ann@sub.example.org",
		"ann@example.org.evil.test", "ann@xexample.org", "ann@example.org."} {
		register(in, "ann", bad).Names(422, "email")
	}

	register(in, "ann", "ann@evil.test@example.org").Names(422, "email")
	register(in, "ann", "ann@EXAMPLE.org").ConfirmationSent()
	register(in, "ben", "ben@example.net").ConfirmationSent()
	for _, bad := range []string{"example", "@example.org", "*", "example.org;example.net",
		"a b.org", "example.org,", "https://example.org"} {
		in.Call("PUT", "/system/setting", `{"values":{"app.registration_domains":"`+bad+`"}}`,
			"owner").Names(422, "values.app.registration_domains")
	}
}

func TestRegistration_WithoutMail(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting",
		`{"values":{"app.registration":1,"app.registration_confirm":1}}`, "owner")
	before := in.Dump()
	register(in, "ann", "ann@example.org").Brief(403, `"errorCode":"mail_off"`)
	in.Unchanged(before)
}

func TestRegistration_AcceptedByAdmin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.Confirmed()
	in.Clerk("clerk", "user.list.query", "user.list.update")
	register(in, "ann", "ann@example.org").ConfirmationSent()
	in.SendMails()
	token := box.Last(t, "ann@example.org").Token(t)
	in.Call("POST", "/user/list/1/invite", `{"send":0}`, "owner").Brief(409,
		`"errorCode":"user_pending"`)
	in.Call("POST", "/user/list/1/reset-link", `{"send":0}`, "owner").Brief(409,
		`"errorCode":"user_pending"`)
	in.OK("PUT", "/user/list/1", `{"pending":1,"nickname":"M"}`, "clerk").Brief(200, `"pending":1`)
	in.OK("PUT", "/user/list/1", `{"pending":0}`, "clerk").Brief(200,
		`"email":"ann@example.org","email_verified":0`, `"pending":0`)
	in.Call("PUT", "/user/list/1", `{"pending":1}`, "owner").Names(422, "pending")
	in.Call("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").Brief(404)
	appLogin(in, "ann").Brief(200)
	// The address stays with whoever has it.
	register(in, "ben", "ann@example.org").ConfirmationSent()
	in.OK("PUT", "/user/list/2", `{"pending":0}`, "owner").Brief(200, `"email":""`, `"pending":0`)
	// Another address than that of the registration needs the permission as always.
	register(in, "cat", "cat@example.org").ConfirmationSent()
	in.Call("PUT", "/user/list/3", `{"pending":0,"email":"clerk@example.org"}`, "clerk").Brief(403,
		"user.list.password")
}
