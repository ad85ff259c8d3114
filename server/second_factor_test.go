package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"reeve/server/account"
	"reeve/store"
)

// authenticator is the app of a user that has a second factor.
type authenticator struct {
	t      testing.TB
	secret string
	next   time.Time // of the next code
}

// code returns a code that was not used. Two are valid at once for long enough: those of the first time step and of the
// next one.
func (a *authenticator) code() string {
	a.t.Helper()
	if time.Until(a.next) > store.TOTPStep {
		a.t.Fatal("no other code is valid now")
	}
	code, err := totp.GenerateCode(a.secret, a.next)
	must(a.t, err)
	a.next = a.next.Add(store.TOTPStep)
	return code
}

// beginFactor makes an authenticator app for a user who is signed in with ownerPassword.
func (in *instance) beginFactor(as string) *authenticator {
	in.t.Helper()
	return in.appOf(in.ok("POST", "/admin/account/totp", "", as))
}

// appOf returns the authenticator app of the response that has its secret.
func (in *instance) appOf(a *reply) *authenticator {
	in.t.Helper()
	var made account.AuthenticatorAppOut
	a.data(&made)
	if !strings.HasPrefix(made.URI, "otpauth://totp/") || !strings.Contains(made.URI, "secret="+made.Secret) {
		in.t.Errorf("URI %s", made.URI)
	}
	return &authenticator{in.t, made.Secret, time.Now()}
}

// setUpFactor sets up an authenticator app for a user who is signed in with ownerPassword.
func (in *instance) setUpFactor(as string) (app *authenticator, recovery []string) {
	in.t.Helper()
	app = in.beginFactor(as)
	var out account.RecoveryCodesOut
	in.ok("PUT", "/admin/account/totp", `{"otp":"`+app.code()+`"}`, as).data(&out)
	if len(out.Codes) != 10 || len(slices.Compact(slices.Sorted(slices.Values(out.Codes)))) != 10 {
		in.t.Errorf("recovery codes: %q", out.Codes)
	}
	return app, out.Codes
}

// firstStep signs a user in with the password, from a device with a token, and returns the token for the second step.
func (in *instance) firstStep(name, device string) string {
	in.t.Helper()
	var out account.LoginOut
	a := in.ok("POST", "/admin/login", fmt.Sprintf(`{"username":%q,"password":%q,"device_token":%q}`, name, ownerPassword, device), "nobody")
	a.data(&out)
	if out.Token != "" || out.DeviceToken != "" || out.LoginToken == "" || len(a.Header["Set-Cookie"]) > 0 {
		in.t.Errorf("the first step: %s %q", a.Body, a.Header["Set-Cookie"])
	}
	return out.LoginToken
}

func (in *instance) secondStep(token, code string) *reply {
	in.t.Helper()
	return in.call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code), "nobody")
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("GET", "/admin/account/totp", "", "owner").brief(200, `"data":{"enabled":0,"created_at":null,"last_used":null,"recovery_codes":0}`)
	in.call("PUT", "/admin/account/totp", `{"otp":"123456"}`, "owner").brief(409, "totp_not_begun")
	in.call("POST", "/admin/account/recovery", "", "owner").brief(409, "no_factor")
	in.call("DELETE", "/admin/account/totp", "", "owner").brief(409, "no_factor")

	// Until a code has proved that the app has the secret, no sign-in asks for one.
	in.ok("POST", "/admin/account/totp", "", "owner")
	in.call("PUT", "/admin/account/totp", `{"otp":"000000"}`, "owner").names(422, "otp")
	in.login("admin", ownerPassword).brief(200, `"token":"rv_`)
	in.ok("GET", "/admin/account/totp", "", "owner").brief(200, `"enabled":0`)

	app, recovery := in.setUpFactor("owner")
	in.ok("GET", "/admin/account/totp", "", "owner").brief(200, `"enabled":1`, `"recovery_codes":10`)
	in.ok("GET", "/admin/info", "", "owner").brief(200, `"second_factor":1`)
	in.call("POST", "/admin/account/totp", "", "owner").brief(409, "totp_exists")

	token := in.firstStep("admin", "")
	in.secondStep(token, "000000").brief(401, "wrong_code")
	in.secondStep(token, app.code()).brief(200, `"token":"rv_`, `"login_token":""`)
	in.secondStep(token, recovery[9]).brief(401, "sign_in_again")
	r := pageRequest("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q,"cookie":1}`, in.firstStep("admin", ""), recovery[0]), "http://example.com")
	r.RemoteAddr = in.request("GET", "/", "", "nobody").RemoteAddr
	if a := in.handled(r); a.StatusCode != 200 || cookieNamed(a.Cookies(), sessionCookie(false, false)) == nil {
		t.Errorf("with a cookie: %d %v", a.StatusCode, a.Cookies())
	}
	in.ok("GET", "/system/loginlog?result=failed", "", "owner").brief(200, `"reason":"wrong_code"`, `"username":"admin"`)

	var renewed account.RecoveryCodesOut
	in.ok("POST", "/admin/account/recovery", "", "owner").data(&renewed)
	in.secondStep(in.firstStep("admin", ""), recovery[2]).brief(401)
	in.secondStep(in.firstStep("admin", ""), renewed.Codes[0]).brief(200)
	in.ok("DELETE", "/admin/account/totp", "", "owner")
	in.login("admin", ownerPassword).brief(200, `"token":"rv_`)
	in.ok("GET", "/admin/account/totp", "", "owner").brief(200, `"enabled":0`, `"recovery_codes":0`)
}

// TestSecondFactor_RestoredBackup checks that a code that may have been used since the backup does
// not work again, and that users without a factor at the backup have none.
func TestSecondFactor_RestoredBackup(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.setUpFactor("owner")
	role := in.role("Staff", func(r *store.Role) { r.RequireFactor = true })
	in.member("ada", 0)
	in.member("bob", 0, role)
	in.ok("DELETE", "/admin/account/totp", "", "owner")
	app, recovery := in.setUpFactor("ada")
	withoutKey := in.restored()
	dir := t.TempDir()
	key, err := os.ReadFile(filepath.Join(in.dir, "secret.key"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "secret.key"), key, 0o600))
	restored := in.restoredIn(dir)
	in.setUpFactor("bob")
	in.secondStep(in.firstStep("ada", ""), recovery[0]).brief(200)
	code := app.code()
	in.secondStep(in.firstStep("ada", ""), code).brief(200)
	in.firstStep("bob", "")

	restored.secondStep(restored.firstStep("ada", ""), code).brief(401, "wrong_code")
	restored.secondStep(restored.firstStep("ada", ""), recovery[0]).brief(200)
	restored.signInAs("bob", "bob")
	if left := time.Until(restored.due("bob").Std()); left < 7*24*time.Hour-time.Minute {
		t.Errorf("%v are left to set up a second factor", left)
	}

	withoutKey.secondStep(withoutKey.firstStep("ada", ""), "123456").brief(409, "totp_lost")
	withoutKey.secondStep(withoutKey.firstStep("ada", ""), recovery[0]).brief(200)
}

// TestSecondFactor_RemovedByAdmin covers users whose password the administrator may set, and
// others.
func TestSecondFactor_RemovedByAdmin(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.dept("One", 0)
	in.dept("Two", 0)
	role := in.role("Help desk", func(r *store.Role) { r.DataScope = store.ScopeDept }, "admin.list.query", "admin.list.factor")
	in.member("helper", 1, role)
	for name, dept := range map[string]store.ID{"near": 1, "far": 2} {
		in.member(name, dept)
		in.setUpFactor(name)
	}
	in.setUpFactor("owner")
	id := func(name string) (path string) {
		in.view(func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, name)
			if err == nil {
				path = "/admin/list/" + u.ID.String()
			}
			return err
		})
		return path
	}
	in.ok("GET", id("near"), "", "helper").brief(200, `"second_factor":1`)
	in.call("DELETE", id("far")+"/factor", "", "helper").brief(404)
	in.call("DELETE", "/admin/list/1/factor", "", "helper").brief(404)
	in.call("DELETE", id("near")+"/factor", "", "far").brief(403, "admin.list.factor")
	in.ok("DELETE", id("near")+"/factor", "", "helper")
	in.call("DELETE", id("near")+"/factor", "", "helper").brief(404, "has no second factor")
	in.login("near", ownerPassword).brief(200, `"token":"rv_`)
	in.ok("PUT", fmt.Sprintf("/admin/role/%d", role), `{"data_scope":"all"}`, "owner")
	in.call("DELETE", "/admin/list/1/factor", "", "helper").brief(403) // beyond the ceiling
	in.ok("GET", "/system/audit?collection=authenticator", "", "owner").brief(200, `"operation":"delete"`)

	_, in.tokens["key"] = in.key(1, personalKey)
	in.call("DELETE", id("far")+"/factor", "", "key").brief(403, "key_not_allowed")
	in.call("GET", "/admin/account/totp", "", "key").brief(403, "key_not_allowed")
}

// TestSecondFactor_NotRecorded searches logs, monitoring, the change log, exports and lists.
func TestSecondFactor_NotRecorded(t *testing.T) {
	t.Parallel()
	in := start(t)
	app, recovery := in.setUpFactor("owner")
	token, code := in.firstStep("admin", ""), app.code()
	in.secondStep(token, "wrong-"+recovery[1]).brief(401)
	in.secondStep(token, code).brief(200)
	in.secondStep(in.firstStep("admin", ""), recovery[0]).brief(200)
	in.flush()
	secrets := append(recovery, app.secret, token, code)
	for _, path := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000", "/system/monitor/query?pageSize=1000", "/system/monitor/cache?pageSize=1000",
		"/system/audit?pageSize=1000", "/system/audit-export", "/admin/list/1", "/admin/account/totp", "/system/loginlog",
	} {
		in.ok("GET", path, "", "owner").lacks(secrets...)
	}
}

// TestCodes_TakeLineBreaks covers every field for a code: programs add a line break or a tab to what they copy.
func TestCodes_TakeLineBreaks(t *testing.T) {
	t.Parallel()
	found := 0
	for _, rt := range routes() {
		if rt.Input == nil {
			continue
		}
		for _, f := range rt.Input.Fields {
			if f.Name == "otp" {
				if found++; !f.Text {
					t.Errorf("%s refuses line breaks in %s", rt.Name(), f.Name)
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("%d fields for codes", found)
	}
	in := start(t)
	in.call("POST", "/admin/login/totp", `{"login_token":"x","otp":"123456\r\n\t"}`, "nobody").brief(401, "sign_in_again")
}
