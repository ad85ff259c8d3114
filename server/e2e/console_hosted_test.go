package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// hostedWords are labels, buttons and texts of the pages for app users in a language.
type hostedWords struct {
	language                                                                                string
	username, email, password, again, register, account, profile, name, save, saved         string
	change, current, fresh, freshAgain, changed, sessions, device, back, signOut, signedOut string
	forgot, forgotName, sendLink, sent, signIn, signInName, wrong, delete, deleted, differ  string
}

var hostedTexts = []hostedWords{
	{"en", "Username", "Email address", "Password", "Confirm password", "Create account",
		"Your account", "Edit profile", "Display name", "Save", "Profile saved.",
		"Change password", "Current password", "New password", "Confirm new password",
		"Password changed.", "Sessions", "This device", "Back to your account", "Sign out",
		"You have signed out.",
		"Forgot your password?", "Username or email address", "Send link", "Check your email",
		"Sign in", "Username, email address or mobile number", "Wrong username or password",
		"Delete account", "Account deleted.", "Passwords don't match."},
	{"zh-CN", "用户名", "邮箱地址", "密码", "确认密码", "注册", "您的账号", "编辑资料", "昵称", "保存", "资料已保存。",
		"修改密码", "当前密码", "新密码", "确认新密码", "密码已修改。", "会话", "当前设备", "返回您的账号", "退出登录", "您已退出登录。",
		"忘记密码？", "用户名或邮箱地址", "发送链接", "请查收邮件", "登录", "用户名、邮箱地址或手机号", "用户名或密码错误", "注销账号", "账号已注销。",
		"两次输入的密码不一致。"},
}

// TestPagesForAppUsers registers, changes everything about the account, and deletes it, in both
// languages.
func TestPagesForAppUsers(t *testing.T) {
	t.Parallel()
	for _, words := range hostedTexts {
		t.Run(words.language, func(t *testing.T) {
			t.Parallel()
			server, c, post := withMail(t)
			c.want(200, "PUT", "/system/setting",
				values("app.pages", true, "app.registration", true, "site.title", "Shop",
					"site.contact", "help@example.org"))
			options := []map[string]string{{"label": "Gold", "value": "g"}, {
				"label": "Silver",
				"value": "s",
			}}
			for _, more := range [][]any{
				{"key", "company", "title", "Company", "type", "input", "required", 1, "describe",
					"As on the bill"},
				{"key", "tags", "title", "Tags", "type", "checkbox", "options", options},
				{"key", "tier", "title", "Tier", "type", "select", "options", options},
				{"key", "about", "title", "About", "type", "textarea"},
			} {
				c.create("/system/field", append(more, "realm", "app", "self_access", "write")...)
			}

			p := console(t, server)
			send(p, network.SetExtraHTTPHeaders,
				network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": words.language}})
			p.registers(&words)
			p.changes(&words)
			p.forgets(&words)
			p.leaves(&words)
			eventually(t, "the mail is sent", func() bool { return post.count() == 1 })
		})
	}
}

// registers creates the account ann, first with a mistake.
func (p *page) registers(w *hostedWords) {
	p.t.Helper()
	p.visit(p.base + "/app/register")
	p.looksGood("hosted-register-" + w.language)
	p.fill(w.username, "ann")
	p.fill(w.email, "ann@example.org")
	p.fill("Company", "Acme")
	p.fill("About", "We sell\nanvils")
	p.click("checkbox", "Silver")
	p.fill(w.password, password)
	p.fill(w.again, password+"x")
	p.expect(422, "/app/register")
	p.click("button", w.register)
	p.see(w.differ)
	p.looksGood("hosted-fault-" + w.language)
	if p.value(w.username) != "ann" || p.value(w.password) != "" {
		p.t.Errorf("the form has %q, %q", p.value(w.username), p.value(w.password))
	}

	p.fill(w.password, password)
	p.fill(w.again, password)
	p.press("Enter")
	p.see("ann@example.org")
	p.see("Acme")
	p.see("Silver")
	p.find("heading", w.account)
	p.looksGood("hosted-account-" + w.language)
}

// changes edits the profile and the password, and looks at the sessions.
func (p *page) changes(w *hostedWords) {
	p.t.Helper()
	p.click("link", w.profile)
	p.fill(w.name, "Ann <b>of</b> Example")
	p.looksGood("hosted-profile-" + w.language)
	p.click("button", w.save)
	p.see(w.saved)
	p.see("Ann <b>of</b> Example")
	p.click("link", w.change)
	p.looksGood("hosted-password-" + w.language)
	p.fill(w.current, password)
	p.fill(w.fresh, "a long enough secret")
	p.fill(w.freshAgain, "a long enough secret")
	p.click("button", w.change)
	p.see(w.changed)
	p.looksGood("hosted-changed-" + w.language)
	p.click("link", w.sessions)
	p.see(w.device)
	p.looksGood("hosted-sessions-" + w.language)
	p.click("link", w.back)
	p.click("button", w.signOut)
	p.see(w.signedOut)
}

// forgets asks for a link for a new password.
func (p *page) forgets(w *hostedWords) {
	p.t.Helper()
	p.click("link", w.forgot)
	p.looksGood("hosted-forgot-" + w.language)
	p.fill(w.forgotName, "ann")
	p.click("button", w.sendLink)
	p.see(w.sent)
	p.looksGood("hosted-sent-" + w.language)
	p.click("link", w.signIn)
}

// leaves signs in, first with a wrong password, ends another session and deletes the account.
func (p *page) leaves(w *hostedWords) {
	p.t.Helper()
	p.fill(w.signInName, "ann")
	p.fill(w.password, "not the password")
	p.expect(422, "/app/sign-in")
	p.click("button", w.signIn)
	p.see(w.wrong)
	p.looksGood("hosted-sign-in-" + w.language)
	p.fill(w.password, "a long enough secret")
	p.press("Enter")
	p.find("heading", w.account)
	p.visit(p.base + "/app/account/delete")
	p.looksGood("hosted-delete-" + w.language)
	p.fill(w.password, "a long enough secret")
	p.click("button", w.delete)
	p.see(w.deleted)
	p.visit(p.base + "/app/account")
	p.find("heading", w.signIn)
}

// TestPagesEndASession of another browser.
func TestPagesEndASession(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("app.pages", true))
	c.create("/user/list", "username", "ann", "password", "only for the start")
	c.want(200, "PUT", "/user/list/1/password", object("password", password))
	open := func() *page {
		p := console(t, server)
		p.visit(p.base + "/app/sign-in")
		p.fill("Username, email address or mobile number", "ann")
		p.fill("Password", password)
		p.press("Enter")
		return p
	}
	first := open()
	first.see("Set a new password to continue.") // an administrator knows it
	first.looksGood("hosted-must-change")
	first.fill("Current password", password)
	first.fill("New password", "a long enough secret")
	first.fill("Confirm new password", "a long enough secret")
	first.press("Enter")
	first.see("Password changed.")
	second := console(t, server)
	second.visit(second.base + "/app/sign-in")
	second.fill("Username, email address or mobile number", "ann")
	second.fill("Password", "a long enough secret")
	second.press("Enter")
	second.find("heading", "Your account")
	first.click("link", "Sessions")
	first.looksGood("hosted-two-sessions")
	first.click("button", "End session")
	first.see("Session ended.")
	second.visit(second.base + "/app/account/profile")
	second.find("heading", "Sign in")
}

// TestPagesSolveTheChallenge also where browsers have no cryptography: at another name than
// localhost, over plain HTTP.
func TestPagesSolveTheChallenge(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting",
		values("app.pages", true, "app.registration", true, "app.registration_challenge", true,
			"security.login_tries", 3))
	p := console(t, server)
	p.base = strings.Replace(server.url, "127.0.0.1", lanName, 1)
	p.watch.also = p.base
	p.visit(p.base + "/app/register")
	var secure bool
	if err := evaluate(p, "isSecureContext", &secure); err != nil || secure {
		t.Fatalf("secure: %t, %v", secure, err)
	}

	p.looksGood("hosted-challenge")
	p.fill("Username", "ann")
	p.fill("Password", password)
	p.fill("Confirm password", password)
	p.click("button", "Create account")
	p.find("heading", "Your account")
	p.click("button", "Sign out")
	p.see("You have signed out.")

	p.visit(p.base + "/app/register")
	p.fill("Username", "ann") // is taken
	p.fill("Password", password)
	p.fill("Confirm password", password)
	p.expect(409, "/app/register")
	p.press("Enter")
	p.see("Username: ")
	p.fill("Username", "bea")
	p.fill("Password", password)
	p.fill("Confirm password", password)
	for range 60 { // as many as an address gets
		c.call("GET", "/api/challenge", "")
	}

	p.expect(429, "/api/challenge")
	p.press("Enter")
	p.see("Too many attempts")
	p.looksGood("hosted-challenge-failed")
	c.want(200, "PUT", "/system/setting", values("app.registration", false))
	p.expect(403, "/api/challenge")
	p.expect(403, "/app/register")
	p.click("button", "Create account")
	p.find("heading", "Registration is closed")
}
