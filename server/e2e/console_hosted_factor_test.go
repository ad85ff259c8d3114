package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// factorWords are labels, buttons and texts of the pages about the second factor in a language.
type factorWords struct {
	language                                                                  string
	signInName, password, account, title, current, setUp, code, on            string
	saved, once, signOut, signedOut, anyCode, next, wrong, renew, remove, off string
	removed                                                                   string
}

var factorTexts = []factorWords{
	{"en", "Username, email address or mobile number", "Password", "Your account",
		"Authenticator app", "Current password", "Set up authenticator app",
		"6-digit code that the app shows", "Turn on",
		"I have saved them", "They are shown only once.", "Sign out", "You have signed out.",
		"Code from the app, or a recovery code", "Continue", "is wrong",
		"Create new recovery codes", "Turn off authenticator app", "Turn off",
		"Authenticator app turned off."},
	{"zh-CN", "用户名、邮箱地址或手机号", "密码", "您的账号", "身份验证器", "当前密码", "设置身份验证器", "应用显示的 6 位验证码", "启用",
		"我已保存", "恢复代码仅显示一次。", "退出登录", "您已退出登录。", "应用中的验证码，或恢复代码", "继续", "错误", "重新生成恢复代码",
		"停用身份验证器", "停用", "已停用身份验证器。"},
}

// TestPagesForASecondFactor sets up an authenticator app, signs in with it, and turns it off,
// without JavaScript in the pages and in both languages.
func TestPagesForASecondFactor(t *testing.T) {
	t.Parallel()
	for _, w := range factorTexts {
		t.Run(w.language, func(t *testing.T) {
			t.Parallel()
			server := start(t, t.TempDir())
			c := signedIn(t, server)
			c.want(200, "PUT", "/system/setting",
				values("app.pages", true, "app.second_factor", true, "site.title", "Shop"))
			c.create("/user/list", "username", "ann", "password", password)
			p := console(t, server)
			send(p, network.SetExtraHTTPHeaders,
				network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": w.language}})
			signIn := func() {
				p.visit(p.base + "/app/sign-in")
				p.fill(w.signInName, "ann")
				p.fill(w.password, password)
				p.press("Enter")
			}
			signIn()
			p.find("heading", w.account)
			p.click("link", w.title)
			p.looksGood("hosted-factor-" + w.language)
			p.fill(w.current, password)
			p.click("button", w.setUp)
			p.find("button", w.on)
			p.looksGood("hosted-factor-qr-" + w.language)
			var secret string
			if err := evaluate(p, "document.querySelector('.codes code').innerText", &secret); err != nil {
				t.Fatal(err)
			}

			secret = strings.ReplaceAll(secret, " ", "")
			p.fill(w.code, "000000")
			p.expect(422, "/app/account/authenticator/confirm")
			p.click("button", w.on)
			p.see(w.wrong)
			p.looksGood("hosted-factor-wrong-" + w.language)
			p.fill(w.code, codeOf(t, secret, false))
			p.click("button", w.on)
			p.see(w.once)
			p.looksGood("hosted-factor-codes-" + w.language)
			var recovery []string
			if err := evaluate(p,
				"[...document.querySelectorAll('.codes code')].map((e) => e.innerText)", &recovery); err != nil || len(recovery) != 10 {
				t.Fatalf("%q, %v", recovery, err)
			}

			p.click("link", w.saved)
			p.click("button", w.signOut)
			p.see(w.signedOut)

			signIn()
			p.find("button", w.next)
			p.looksGood("hosted-code-" + w.language)
			p.fill(w.anyCode, recovery[0])
			p.press("Enter")
			p.find("heading", w.account)
			p.click("link", w.title)
			p.looksGood("hosted-factor-on-" + w.language)
			p.click("link", w.renew)
			p.looksGood("hosted-factor-renew-" + w.language)
			p.visit(p.base + "/app/account/authenticator")
			p.click("link", w.remove)
			p.looksGood("hosted-factor-remove-" + w.language)
			p.fill(w.anyCode, recovery[1])
			p.click("button", w.off)
			p.see(w.removed)
		})
	}
}
