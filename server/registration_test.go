package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/store"
)

// confirmed opens the registration with addresses that are confirmed, and returns the mail server.
func (in *instance) confirmed(settings ...string) *mailbox {
	in.t.Helper()
	box := in.openMailbox()
	all := append([]string{`"app.registration":1,"app.registration_confirm":1,"security.login_tries":50`}, settings...)
	in.ok("PUT", "/system/setting", `{"values":{`+strings.Join(all, ",")+`}}`, "owner")
	return box
}

func registering(name, email string) string {
	return fmt.Sprintf(`{"username":%q,"password":"long enough it is","email":%q,"nickname":"N","mobile":"5551"}`, name, email)
}

const confirmationSent = `{"data":{"confirmation_sent":true},"success":true,"msg":"ok","showType":0}`

func (in *instance) register(name, email string) *reply {
	in.t.Helper()
	return in.call("POST", "/api/register", registering(name, email), "nobody")
}

func (in *instance) appLogin(name string) *reply {
	in.t.Helper()
	return in.call("POST", "/api/login", fmt.Sprintf(`{"username":%q,"password":"long enough it is"}`, name), "nobody")
}

func (a *reply) confirmationSent() {
	a.t.Helper()
	if a.Code != 200 || strings.TrimSpace(a.Body) != confirmationSent || a.Header.Get("Set-Cookie") != "" {
		a.t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestRegistration_Confirmed(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.confirmed()
	in.call("POST", "/api/register", `{"username":"ann","password":"long enough it is"}`, "nobody").names(422, "email")
	in.register("ann", "Ann@example.org").confirmationSent()
	in.appLogin("ann").brief(401, "wrong_credentials")
	in.appLogin("Ann@example.org").brief(401, "wrong_credentials")
	in.appLogin("5551").brief(401, "wrong_credentials")
	in.ok("GET", "/user/list?pending=1", "", "owner").brief(200, `"username":"ann"`, `"email":""`, `"pending":1,"pending_email":"Ann@example.org"`, `"login_time":null`)
	in.lists(`/user/list?filter={"pending":["0"]}`, "username", "owner")
	in.lists("/system/loginlog?pageSize=1&sorter="+`{"id":"ascend"}`, "result", "owner", "failed")
	in.ok("GET", "/system/loginlog", "", "owner").brief(200, `"reason":"pending"`)

	in.sendMails()
	mail := box.last(t, "Ann@example.org")
	if _, text := mail.text(t); !strings.Contains(text, "the account ann on Reeve with the address Ann@example.org") || strings.Contains(text, "Hello N") {
		t.Errorf("the mail is %s", text)
	}
	token := mail.token(t)
	in.ok("GET", mails.LinkPath+token, "", "nobody").brief(200, "Ann@example.org", "the username ann")
	in.appLogin("ann").brief(401) // opening changes nothing
	in.call("POST", "/admin/verify", `{"token":"`+token+`"}`, "nobody").brief(404)
	in.call("POST", "/api/password/link", `{"token":"`+token+`","password":"another password"}`, "nobody").brief(404)
	in.ok("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").brief(200, `"username":"ann"`)
	in.call("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").brief(404)
	for _, name := range []string{"ann", "ann@example.org", "5551"} {
		in.appLogin(name).brief(200, `"token":"rv_`)
	}
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"email":"Ann@example.org","email_verified":1`, `"pending":0,"pending_email":""`)
}

// TestRegistration_NoAccountEnumeration checks that neither the response, nor the operations
// possible afterwards, nor the accepted usernames reveal which accounts exist.
func TestRegistration_NoAccountEnumeration(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.confirmed()
	in.update(func(tx *store.Tx) error {
		return store.AppUsers.Create(tx, &store.AppUser{Username: "resident", Email: "known@example.org", EmailVerified: true, Nickname: "R", Status: true})
	})
	for _, email := range []string{"known@example.org", "unknown@example.org"} {
		name := strings.Split(email, "@")[0]
		in.register(name, strings.ToUpper(email)).confirmationSent()
		in.register(name, "other-"+email).brief(409, `"errors":{"username":`) // the name is taken
		in.register(name+".2", email).confirmationSent()                      // replaces the first
		in.register(name, "other-"+email).confirmationSent()                  // so that its name is free
		in.appLogin(name+".2").brief(401, "wrong_credentials")
		in.ok("POST", "/api/password/forgot", `{"username":"`+name+`.2"}`, "nobody")
		in.register("resident", email).brief(409, `"errors":{"username":`)
	}
	in.resolveRequests()
	in.sendMails()
	subjects := map[string][]string{}
	for _, m := range box.all() {
		subject, text := m.text(t)
		subjects[m.to] = append(subjects[m.to], subject)
		if m.to == "known@example.org" && (strings.Contains(text, "/link/") || !strings.Contains(text, "You have an account there already: resident.") || strings.Contains(text, "known.2")) {
			t.Errorf("the known address got %s", text)
		}
	}
	if got, want := subjects["known@example.org"], []string{"You already have an account on Reeve"}; !slices.Equal(got, want) {
		t.Errorf("the known address got %q", got)
	}
	if got, want := subjects["unknown@example.org"], []string{"Confirm your registration on Reeve"}; !slices.Equal(got, want) {
		t.Errorf("the unknown address got %q", got)
	}
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"username":"resident","nickname":"R","email":"known@example.org","email_verified":1`)
}

// TestRegistration_NewReplacesOld: a link that was sent for one must not confirm another. Fields that app users can't
// change keep their values.
func TestRegistration_NewReplacesOld(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.confirmed()
	in.create("/system/field", `{"realm":"app","key":"company","title":"Company","type":"input","self_access":"write"}`)
	in.call("POST", "/api/register", strings.Replace(registering("evil", "ann@example.org"), "{", `{"fields":{"company":"Evil"},`, 1), "nobody").confirmationSent()
	in.sendMails()
	old := box.last(t, "ann@example.org").token(t)
	in.create("/system/field", `{"realm":"app","key":"risk","title":"Risk","type":"input","required":1}`)
	in.ok("PUT", "/user/list/1", `{"fields":{"risk":"low"}}`, "owner") // app users don't have access to it
	in.call("POST", "/api/register", strings.Replace(registering("ann", "ann@example.org"), "long enough it is", "a password of Ann", 1), "nobody").confirmationSent()
	in.call("POST", "/api/verify", `{"token":"`+old+`"}`, "nobody").brief(404)
	in.sendMails()
	in.ok("POST", "/api/verify", `{"token":"`+box.last(t, "ann@example.org").token(t)+`"}`, "nobody").brief(200, `"username":"ann"`)
	in.appLogin("ann").brief(401)
	in.ok("POST", "/api/login", `{"username":"ann","password":"a password of Ann"}`, "nobody")
	in.lists("/user/list", "username", "owner", "ann")
	in.ok("GET", "/user/list", "", "owner").brief(200, `"fields":{"risk":"low"}`)
}

// TestEmailChange_ConfirmedFirst checks that, where registrations are confirmed, an app user can't
// take the address of another person.
func TestEmailChange_ConfirmedFirst(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.hosted()
	v := in.signedIn("ann")
	in.tokens["ann"] = v.cookies[sessionCookie(true, false)]
	in.ok("POST", "/user/list", `{"username":"ben","email":"ben@example.org"}`, "owner")
	box := in.confirmed(`"app.registration_domains":"example.org"`)
	for _, email := range []string{"new@example.org", "ben@example.org"} {
		in.call("PUT", "/api/user", `{"email":"`+email+`","password":"`+ownerPassword+`"}`, "ann").names(422, "email")
	}
	in.call("POST", "/api/user/email", `{"email":"ann@example.net","password":"`+ownerPassword+`"}`, "ann").names(422, "email")

	v.post(pages.ProfilePath, "nickname", "Ann", "email", "ann@example.net", "password", ownerPassword).brief(422, "must be in one of these domains: example.org")
	v.post(pages.ProfilePath, "nickname", "Ann", "email", "new@example.org", "password", "wrong").brief(422, "is not the current password")
	v.post(pages.ProfilePath, "nickname", "Ann", "email", "new@example.org", "password", ownerPassword).leads(pages.AccountPath + "?done=email")
	v.get(pages.AccountPath+"?done=email").brief(200, "Open it to confirm the change.")
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"nickname":"Ann","email":""`)
	in.sendMails()
	in.ok("POST", "/api/verify", `{"token":"`+box.last(t, "new@example.org").token(t)+`"}`, "nobody")
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"email":"new@example.org","email_verified":1`)
	in.ok("PUT", "/api/user", `{"email":"NEW@example.org","password":"`+ownerPassword+`"}`, "ann")
}

func TestRegistration_MailsPerAddressLimited(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"a known one": true, "an unknown one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			box := in.confirmed()
			if known {
				in.appGuest("resident", "ann@example.org")
			}
			var codes []int
			for i := range 5 {
				codes = append(codes, in.register(fmt.Sprint("name.", i), "ann@example.org").Code)
				in.sendMails()
			}
			if want := []int{200, 200, 200, 429, 429}; !slices.Equal(codes, want) || len(box.all()) != 3 {
				t.Errorf("answered %v with %d mails", codes, len(box.all()))
			}
		})
	}
}

func TestRegistration_Domains(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.confirmed(`"app.registration_domains":" Example.org, example.net"`)
	in.ok("PUT", "/system/setting", `{"values":{"app.registration_confirm":0}}`, "owner")
	for _, bad := range []string{"", "ann@example.com", "ann@sub.example.org", "ann@example.org.evil.test", "ann@xexample.org", "ann@example.org."} {
		in.register("ann", bad).names(422, "email")
	}
	in.register("ann", "ann@evil.test@example.org").names(422, "email")
	in.register("ann", "ann@EXAMPLE.org").confirmationSent()
	in.register("ben", "ben@example.net").confirmationSent()
	for _, bad := range []string{"example", "@example.org", "*", "example.org;example.net", "a b.org", "example.org,", "https://example.org"} {
		in.call("PUT", "/system/setting", `{"values":{"app.registration_domains":"`+bad+`"}}`, "owner").names(422, "values.app.registration_domains")
	}
}

func TestRegistration_WithoutMail(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("PUT", "/system/setting", `{"values":{"app.registration":1,"app.registration_confirm":1}}`, "owner")
	before := in.dump()
	in.register("ann", "ann@example.org").brief(403, `"errorCode":"mail_off"`)
	in.unchanged(before)
}

func TestRegistration_AcceptedByAdmin(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.confirmed()
	in.clerk("clerk", "user.list.query", "user.list.update")
	in.register("ann", "ann@example.org").confirmationSent()
	in.sendMails()
	token := box.last(t, "ann@example.org").token(t)
	in.call("POST", "/user/list/1/invite", `{"send":0}`, "owner").brief(409, `"errorCode":"user_pending"`)
	in.call("POST", "/user/list/1/reset-link", `{"send":0}`, "owner").brief(409, `"errorCode":"user_pending"`)
	in.ok("PUT", "/user/list/1", `{"pending":1,"nickname":"M"}`, "clerk").brief(200, `"pending":1`)
	in.ok("PUT", "/user/list/1", `{"pending":0}`, "clerk").brief(200, `"email":"ann@example.org","email_verified":0`, `"pending":0`)
	in.call("PUT", "/user/list/1", `{"pending":1}`, "owner").names(422, "pending")
	in.call("POST", "/api/verify", `{"token":"`+token+`"}`, "nobody").brief(404)
	in.appLogin("ann").brief(200)
	// The address stays with whoever has it.
	in.register("ben", "ann@example.org").confirmationSent()
	in.ok("PUT", "/user/list/2", `{"pending":0}`, "owner").brief(200, `"email":""`, `"pending":0`)
	// Another address than that of the registration needs the permission as always.
	in.register("cat", "cat@example.org").confirmationSent()
	in.call("PUT", "/user/list/3", `{"pending":0,"email":"clerk@example.org"}`, "clerk").brief(403, "user.list.password")
}
