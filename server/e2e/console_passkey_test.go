package e2e

import (
	"net"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
)

// withPasskeys starts a server at http://localhost, where browsers have passkeys without HTTPS.
func withPasskeys(t *testing.T) *process {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	url := "http://" + strings.Replace(address, "127.0.0.1", "localhost", 1)
	server := start(t, t.TempDir(), "--listen", address, "REEVE_SERVER__PUBLIC_URL="+url)
	server.url = url
	return server
}

// authenticator gives the page a device that keeps passkeys. The device answers at once, also to a
// request for suggestions, as if the user touched it and was recognized; the functions set whether
// it does.
func (p *page) authenticator() (touch, recognize func(bool)) {
	p.t.Helper()
	send(p, webauthn.Enable, webauthn.EnableParams{})
	id := send(p, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol:                    webauthn.AuthenticatorProtocolCtap2,
			Transport:                   webauthn.AuthenticatorTransportInternal,
			HasResidentKey:              true,
			HasUserVerification:         true,
			IsUserVerified:              true,
			AutomaticPresenceSimulation: true,
			DefaultBackupEligibility:    true,
		}}).AuthenticatorID
	touch = func(on bool) {
		p.t.Helper()
		send(p, webauthn.SetAutomaticPresenceSimulation,
			webauthn.SetAutomaticPresenceSimulationParams{
				AuthenticatorID: id,
				Enabled:         on,
			})
	}

	recognize = func(on bool) {
		p.t.Helper()
		send(p, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{
			AuthenticatorID: id,
			IsUserVerified:  on,
		})
	}
	return touch, recognize
}

// signOut signs out by the user's menu.
func (p *page) signOut() {
	p.t.Helper()
	p.settle() // what is under way then is answered with 401
	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
}

// TestConsolePasskeys adds a passkey, renames it, confirms and signs in with it, and removes it.
func TestConsolePasskeys(t *testing.T) {
	t.Parallel()
	server := withPasskeys(t)
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account/security")
	touch, recognize := p.authenticator()
	p.see("With a second factor")
	p.looksGood("passkey-none")
	p.click("button", "Add passkey")
	d := p.dialog()
	d.fill("Name", "Laptop")
	p.looksGood("passkey-add")
	d.click("button", "Add passkey")
	d.see("They are shown only once.")
	d.click("button", "I have saved them")
	p.gone("They are shown only once.")
	p.see("10 recovery codes left.")
	p.row("Laptop").see("Synced")
	p.looksGood("passkey-one")
	p.click("button", "Add passkey")
	d.click("button", "Add passkey")
	d.see("This device already has one of your passkeys.")
	p.audit()
	d.click("button", "Cancel")
	p.row("Laptop").click("button", "Rename Laptop")
	d.fill("Name", "Work laptop")
	d.click("button", "Save")
	p.row("Work laptop")

	c.outlast()
	p.click("button", "New recovery codes")
	p.expect(403, "/admin/account/recovery")
	p.confirm("New recovery codes")
	p.focused("e.innerText === 'Use passkey'")
	p.looksGood("passkey-confirm")
	d.click("button", "Use a recovery code instead")
	d.fill("Recovery code", "aaaa-aaaa-aaaa-aaaa")
	p.expect(422, "/admin/reauth")
	d.click("button", "Confirm")
	d.see("Wrong code, or it was used already")
	p.looksGood("passkey-confirm-code")
	d.click("button", "Use a passkey instead")
	d.click("button", "Use passkey")
	d.see("They are shown only once.")
	d.click("button", "I have saved them")
	p.gone("They are shown only once.")

	p.signOut()
	p.at("/")
	p.find("button", "Administrator") // the device has answered to the suggestions in the field
	touch(false)
	p.signOut()
	p.find("button", "Sign in with a passkey")
	p.looksGood("passkey-sign-in")
	recognize(false)
	touch(true)
	p.click("button", "Sign in with a passkey")
	p.see("No passkey was used.")
	p.audit()
	recognize(true)
	p.click("button", "Sign in with a passkey")
	p.find("button", "Administrator")
	touch(false)
	p.signOut()
	p.signIn("admin", password)
	touch(true)
	p.see("One more step to sign in.")
	p.looksGood("passkey-second")
	p.click("button", "Use a recovery code instead")
	p.find("textbox", "Recovery code")
	p.click("button", "Use a passkey instead")
	p.click("button", "Use passkey")
	p.find("button", "Administrator")

	p.open("/account/security")
	p.row("Work laptop").click("button", "More actions for Work laptop")
	p.click("menuitem", "Remove")
	p.dialog().see("Your password alone will be enough to sign in")
	p.audit()
	p.confirm("Remove")
	p.see("Passkey removed.")
	p.missing("button", "New recovery codes")
	signedIn(t, server).want(200, "GET", "/admin/info", "") // with the password alone
}

// TestConsolePasskeys_InChinese looks at the pages in Chinese.
func TestConsolePasskeys_InChinese(t *testing.T) {
	t.Parallel()
	server := withPasskeys(t)
	p := signedInAt(t, server, signedIn(t, server), "/account/security",
		`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	touch, _ := p.authenticator()
	p.click("button", "添加通行密钥")
	p.looksGood("zh-passkey-add")
	p.dialog().click("button", "添加通行密钥") // with the name that the server gives it
	p.dialog().click("button", "我已保存")
	p.row("Linux").see("已同步")
	p.see("剩余 10 个恢复代码")
	p.looksGood("zh-passkey")
	touch(false)
	p.click("button", "Administrator")
	p.click("menuitem", "退出登录")
	p.find("button", "使用通行密钥登录")
	p.looksGood("zh-passkey-sign-in")
	p.fill("用户名", "admin")
	p.fill("密码", password)
	p.press("Enter")
	p.see("还需一步即可登录。")
	p.looksGood("zh-passkey-second")
}

// TestConsolePasskeys_OtherAddress checks that passkeys are not offered at another address than the
// public one.
func TestConsolePasskeys_OtherAddress(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir(), "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org")
	p := console(t, server)
	p.open("/")
	p.settle()
	p.missing("button", "Sign in with a passkey")
	p.signIn("admin", password)
	p.find("button", "Administrator")
	p.open("/account/security")
	p.see("Passkeys work only at reeve.example.org.")
	p.missing("button", "Add passkey")
}
