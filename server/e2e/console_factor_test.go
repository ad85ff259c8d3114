package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// codeOf returns the code of an authenticator app: the present one, or the next, which is accepted
// already.
func codeOf(t testing.TB, secret string, next bool) string {
	t.Helper()
	at := time.Now()
	if next {
		at = at.Add(30 * time.Second)
	}
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// factor sets up an authenticator app for the user.
func (c *client) factor() {
	c.t.Helper()
	made := into[struct{ Secret string }](c.t, c.want(200, "POST", "/admin/account/totp", ""))
	c.want(200, "PUT", "/admin/account/totp", object("otp", codeOf(c.t, made.Secret, false)))
}

var recoveryCode = regexp.MustCompile(`(?m)^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)

// TestConsoleSecondFactor sets up an authenticator app, signs in with it and with a recovery code,
// and removes it.
func TestConsoleSecondFactor(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account/security")
	p.see("With a second factor")
	p.see("Passkeys need the server’s public address")
	p.looksGood("factor-off")
	p.click("button", "Set up authenticator app")
	p.find("image", "QR code of the secret")
	secret := p.value("Secret, if you can’t scan")
	p.looksGood("factor-scan")
	p.expect(422, "/admin/account/totp")
	p.fill("Then enter the 6-digit code that the app shows.", "000000")
	p.click("button", "Turn on")
	p.see("Wrong code, or it was used already")
	p.fill("Then enter the 6-digit code that the app shows.", codeOf(t, secret, false))
	p.click("button", "Turn on")

	d := p.dialog()
	d.see("They are shown only once.")
	p.looksGood("factor-codes")
	name, file := p.download(func() { d.click("button", "Download") })
	codes := recoveryCode.FindAllString(string(file), -1)
	if len(codes) != 10 || name != "recovery-codes-admin.txt" ||
		!strings.Contains(string(file), "admin") {
		t.Fatalf("%s: %s", name, file)
	}

	d.click("button", "I have saved them")
	p.gone("They are shown only once.")
	p.see("10 recovery codes left.")
	p.looksGood("factor-on")
	p.forgot(codes[0])
	p.forgot(secret)

	for i, code := range []string{codeOf(t, secret, true), codes[0]} {
		q := console(t, server)
		q.open("/")
		q.signIn("admin", password)
		q.see("One more step to sign in.")
		q.audit()
		q.fill("Code from the app, or a recovery code", "000000")
		q.expect(401, "/admin/login/totp")
		q.click("button", "Continue")
		q.see("Wrong code, or it was used already.")
		if i == 0 {
			q.looksGood("factor-sign-in")
		}

		q.fill("Code from the app, or a recovery code", code)
		q.press("Enter")
		q.find("button", "Administrator")
	}

	p.open("/account/security")
	p.see("9 recovery codes left.")
	p.click("button", "New recovery codes")
	p.dialog().see("Replace your recovery codes?")
	p.confirm("New recovery codes")
	p.see("They are shown only once.")
	p.dialog().click("button", "I have saved them")
	p.gone("They are shown only once.")
	p.see("10 recovery codes left.")
	p.click("button", "Turn off")
	p.dialog().see("Turn off your second factor?")
	p.audit()
	p.confirm("Turn off")
	p.see("Second factor turned off.")
	p.missing("button", "New recovery codes")
	signedIn(t, server).want(200, "GET", "/admin/info", "") // with the password alone
}

func TestConsoleSecondFactor_RemovedForOther(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	id := c.create("/admin/list", "username", "bea", "password", password)
	bea := newClient(t, server)
	bea.token = into[grant](t,
		bea.want(200, "POST", "/admin/login", object("username", "bea", "password", password))).Token
	bea.factor()
	p := signedInAt(t, server, c, fmt.Sprintf("/admin/list/%d", id))
	p.see("authenticator app")
	p.more("bea", "Remove second factor")
	p.confirm("Remove second factor")
	p.see("removed.")
	p.see("Nothing set up")
	p.audit()
	user := into[struct {
		Factor int `json:"second_factor"`
	}](t, c.want(200, "GET", fmt.Sprintf("/admin/list/%d", id), ""))
	if user.Factor != 0 {
		t.Error("bea still has a second factor")
	}
}

// TestConsoleSecondFactor_InChinese looks at the pages in Chinese.
func TestConsoleSecondFactor_InChinese(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.factor()
	p := console(t, server)
	p.as(c.token)
	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	p.open("/account/security")
	p.see("剩余 10 个恢复代码")
	p.looksGood("zh-factor")
}

// TestConsoleHelp_NamesMissingPermissions: users who can help with sign-ins in one way are told which permissions the
// other ways require, by mouse, keys and screen reader. Users who only read are not.
func TestConsoleHelp_NamesMissingPermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	id := c.create("/admin/list", "username", "bea", "password", password)
	bea := signedInAs(t, server, "bea")
	bea.factor()
	for range 5 {
		newClient(t, server).want(401, "POST", "/admin/login", object("username", "bea", "password", "wrong"))
	}
	clerk := c.holder(server, "clerk", "admin.list", "admin.list.query", "admin.list.password")
	reader := c.holder(server, "reader", "admin.list", "admin.list.query")
	const refused = "Remove second factor Required permission: admin.list.factor"

	p := signedInAt(t, server, clerk, "/admin/list")
	p.click("button", "More actions for bea")
	p.find("menuitem", refused)
	var text string
	if err := evaluate(p, "document.querySelector('[data-search]').closest('div').innerText", &text); err != nil || strings.Contains(text, "0") {
		t.Errorf("the filters say %q, %v", text, err)
	}
	p.find("menuitem", "Sessions Required permission: system.session.query")
	p.missing("menuitem", "Delete")
	p.press("Tab") // into the menu
	p.until("reach the reason by keys", func() error {
		p.press("ArrowDown")
		return evaluate(p, "(() => { if (!document.activeElement.innerText.includes('admin.list.factor')) throw new Error('at ' + document.activeElement.outerHTML) })()", nil)
	})
	p.looksGood("help-missing")
	p.press("Enter")
	p.missing("dialog", "Remove the second factor of bea?")

	p.open(fmt.Sprintf("/admin/list/%d", id))
	p.see("Unlock: Required permission: admin.list.unlock")
	p.click("button", "More actions for bea")
	p.find("menuitem", refused)
	p.find("menuitem", "Reset password")
	p.looksGood("help-missing-person")

	p = signedInAt(t, server, clerk, fmt.Sprintf("/admin/list/%d", id), inChinese)
	p.see("解除锁定：所需权限：admin.list.unlock")
	p.click("button", "bea 的更多操作")
	p.find("menuitem", "移除双重验证 所需权限：admin.list.factor")

	p = signedInAt(t, server, reader, fmt.Sprintf("/admin/list/%d", id))
	p.see("Locked out until")
	p.gone("Required permission")
	p.missing("button", "More actions for bea")
}
