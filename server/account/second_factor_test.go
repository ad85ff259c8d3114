package account_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reeve/server"
	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

func secondStep(in *servertest.Instance, token, code string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/admin/login/totp",
		fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code), "nobody")
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("GET", "/admin/account/totp", "", "owner").Brief(200,
		`"data":{"enabled":0,"created_at":null,"last_used":null,"recovery_codes":0}`)
	in.Call("PUT", "/admin/account/totp", `{"otp":"123456"}`, "owner").Brief(409, "totp_not_begun")
	in.Call("POST", "/admin/account/recovery", "", "owner").Brief(409, "no_factor")
	in.Call("DELETE", "/admin/account/totp", "", "owner").Brief(409, "no_factor")

	// Until a code has proved that the app has the secret, no sign-in asks for one.
	in.OK("POST", "/admin/account/totp", "", "owner")
	in.Call("PUT", "/admin/account/totp", `{"otp":"000000"}`, "owner").Names(422, "otp")
	in.Login("admin", servertest.OwnerPassword).Brief(200, `"token":"rv_`)
	in.OK("GET", "/admin/account/totp", "", "owner").Brief(200, `"enabled":0`)

	app, recovery := in.SetUpFactor("owner")
	in.OK("GET", "/admin/account/totp", "", "owner").Brief(200, `"enabled":1`,
		`"recovery_codes":10`)
	in.OK("GET", "/admin/info", "", "owner").Brief(200, `"second_factor":1`)
	in.Call("POST", "/admin/account/totp", "", "owner").Brief(409, "totp_exists")

	token := in.FirstStep("admin", "")
	secondStep(in, token, "000000").Brief(401, "wrong_code")
	secondStep(in, token, app.Code()).Brief(200, `"token":"rv_`, `"login_token":""`)
	secondStep(in, token, recovery[9]).Brief(401, "sign_in_again")
	r := pageRequest("POST", "/admin/login/totp",
		fmt.Sprintf(`{"login_token":%q,"otp":%q,"cookie":1}`, in.FirstStep("admin", ""),
			recovery[0]), "http://example.com")
	r.RemoteAddr = in.Request("GET", "/", "", "nobody").RemoteAddr
	if a := in.Handled(r); a.StatusCode != 200 ||
		servertest.CookieNamed(a.Cookies(), servertest.SessionCookie(false, false)) == nil {
		t.Errorf("with a cookie: %d %v", a.StatusCode, a.Cookies())
	}

	in.OK("GET", "/system/loginlog?result=failed", "", "owner").Brief(200, `"reason":"wrong_code"`,
		`"username":"admin"`)

	var renewed account.RecoveryCodesOut
	in.OK("POST", "/admin/account/recovery", "", "owner").Data(&renewed)
	secondStep(in, in.FirstStep("admin", ""), recovery[2]).Brief(401)
	secondStep(in, in.FirstStep("admin", ""), renewed.Codes[0]).Brief(200)
	in.OK("DELETE", "/admin/account/totp", "", "owner")
	in.Login("admin", servertest.OwnerPassword).Brief(200, `"token":"rv_`)
	in.OK("GET", "/admin/account/totp", "", "owner").Brief(200, `"enabled":0`, `"recovery_codes":0`)
}

// TestSecondFactor_RestoredBackup checks that a code that may have been used since the backup does
// not work again, and that users without a factor at the backup have none.
func TestSecondFactor_RestoredBackup(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.SetUpFactor("owner")
	role := in.Role("Staff", func(r *store.Role) { r.RequireFactor = true })
	in.Member("ada", 0)
	in.Member("bob", 0, role)
	in.OK("DELETE", "/admin/account/totp", "", "owner")
	app, recovery := in.SetUpFactor("ada")
	withoutKey := in.Restored()
	dir := t.TempDir()
	key, err := os.ReadFile(filepath.Join(in.Dir, "secret.key"))
	servertest.Must(t, err)
	servertest.Must(t, os.WriteFile(filepath.Join(dir, "secret.key"), key, 0o600))
	restored := in.RestoredIn(dir)
	in.SetUpFactor("bob")
	secondStep(in, in.FirstStep("ada", ""), recovery[0]).Brief(200)
	code := app.Code()
	secondStep(in, in.FirstStep("ada", ""), code).Brief(200)
	in.FirstStep("bob", "")

	secondStep(restored, restored.FirstStep("ada", ""), code).Brief(401, "wrong_code")
	secondStep(restored, restored.FirstStep("ada", ""), recovery[0]).Brief(200)
	signInAs(restored, "bob", "bob")
	if left := time.Until(due(restored, "bob").Std()); left < 7*24*time.Hour-time.Minute {
		t.Errorf("%v are left to set up a second factor", left)
	}

	secondStep(withoutKey, withoutKey.FirstStep("ada", ""), "123456").Brief(409, "totp_lost")
	secondStep(withoutKey, withoutKey.FirstStep("ada", ""), recovery[0]).Brief(200)
}

// TestSecondFactor_RemovedByAdmin covers users whose password the administrator may set, and
// others.
func TestSecondFactor_RemovedByAdmin(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("One", 0)
	in.Dept("Two", 0)
	role := in.Role("Help desk", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query", "admin.list.factor")
	in.Member("helper", 1, role)
	for name, dept := range map[string]store.ID{"near": 1, "far": 2} {
		in.Member(name, dept)
		in.SetUpFactor(name)
	}

	in.SetUpFactor("owner")
	id := func(name string) (path string) {
		in.View(func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, name)
			if err == nil {
				path = "/admin/list/" + u.ID.String()
			}
			return err
		})
		return path
	}
	in.OK("GET", id("near"), "", "helper").Brief(200, `"second_factor":1`)
	in.Call("DELETE", id("far")+"/factor", "", "helper").Brief(404)
	in.Call("DELETE", "/admin/list/1/factor", "", "helper").Brief(404)
	in.Call("DELETE", id("near")+"/factor", "", "far").Brief(403, "admin.list.factor")
	in.OK("DELETE", id("near")+"/factor", "", "helper")
	in.Call("DELETE", id("near")+"/factor", "", "helper").Brief(404, "has no second factor")
	in.Login("near", servertest.OwnerPassword).Brief(200, `"token":"rv_`)
	in.OK("PUT", fmt.Sprintf("/admin/role/%d", role), `{"data_scope":"all"}`, "owner")
	in.Call("DELETE", "/admin/list/1/factor", "", "helper").Brief(403) // beyond the ceiling
	in.OK("GET", "/system/audit?collection=authenticator", "", "owner").Brief(200,
		`"operation":"delete"`)

	_, in.Tokens["key"] = in.Key(1, servertest.PersonalKey)
	in.Call("DELETE", id("far")+"/factor", "", "key").Brief(403, "key_not_allowed")
	in.Call("GET", "/admin/account/totp", "", "key").Brief(403, "key_not_allowed")
}

// TestSecondFactor_NotRecorded searches logs, monitoring, the change log, exports and lists.
func TestSecondFactor_NotRecorded(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	app, recovery := in.SetUpFactor("owner")
	token, code := in.FirstStep("admin", ""), app.Code()
	secondStep(in, token, "wrong-"+recovery[1]).Brief(401)
	secondStep(in, token, code).Brief(200)
	secondStep(in, in.FirstStep("admin", ""), recovery[0]).Brief(200)
	in.Flush()
	secrets := append(recovery, app.Secret, token, code)
	for _, path := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000",
		"/system/monitor/query?pageSize=1000", "/system/monitor/cache?pageSize=1000",
		"/system/audit?pageSize=1000", "/system/audit-export", "/admin/list/1",
		"/admin/account/totp", "/system/loginlog",
	} {
		in.OK("GET", path, "", "owner").Lacks(secrets...)
	}
}

// TestCodes_TakeLineBreaks covers every field for a code: programs add a line break or a tab to
// what they copy.
func TestCodes_TakeLineBreaks(t *testing.T) {
	t.Parallel()
	found := 0
	for _, rt := range server.Routes() {
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

	in := servertest.Start(t)
	in.Call("POST", "/admin/login/totp", `{"login_token":"x","otp":"123456\r\n\t"}`, "nobody").Brief(401, "sign_in_again")
}
