package e2e

import (
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// entryWords are labels, buttons and texts of the pages to sign in without a password, in a language.
type entryWords struct {
	language                                                                    string
	signInName, password, signIn, account, signOut                              string
	byCode, send, onItsWay, code                                                string
	passkeys, add, current, added, byPasskey, proceed, remove, confirm, removed string
	verify, verified, product                                                   string
}

var entryTexts = []entryWords{
	{"en", "Username, email address or mobile number", "Password", "Sign in", "Your account", "Sign out",
		"Sign in with a code by email", "Send the code", "a code of eight digits is on its way", "Code from the email",
		"Passkeys", "Add a passkey", "Current password", "Passkey added.", "Sign in with a passkey", "Continue",
		"Remove a passkey", "Remove", "Passkey removed.",
		"Confirm your email address", "Confirm", "Continue to shop.example.org"},
	{"zh-CN", "用户名、邮箱地址或手机号", "密码", "登录", "您的账号", "退出登录",
		"使用邮件验证码登录", "发送验证码", "八位验证码正在发往该邮箱", "邮件中的验证码",
		"通行密钥", "添加通行密钥", "当前密码", "通行密钥已添加。", "使用通行密钥登录", "继续",
		"移除通行密钥", "移除", "通行密钥已移除。",
		"确认邮箱地址", "确认", "前往 shop.example.org"},
}

var (
	linkInMail = regexp.MustCompile(`/link/(rv_l_[A-Za-z0-9_-]{49})`)
	codeInMail = regexp.MustCompile(`(?m)^(\d{8})\r$`)
)

// productQuery are the parameters of a product that sends a browser to the hosted pages.
const productQuery = "?to=https%3A%2F%2Fshop.example.org%2F.reeve%2Fapp&state=state-of-this-browser" +
	"&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

// find waits for a text in the newest mail.
func (o *postOffice) find(t *testing.T, pattern *regexp.Regexp) (found string) {
	t.Helper()
	eventually(t, "the mail is sent", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.messages) == 0 {
			return false
		}
		last := strings.ReplaceAll(o.messages[len(o.messages)-1], "=\r\n", "") // quoted-printable
		if match := pattern.FindStringSubmatch(last); match != nil {
			found = match[1]
		}
		return found != ""
	})
	return found
}

// TestPagesToSignInWithoutPassword signs in with a code by mail and with a passkey, in both languages.
func TestPagesToSignInWithoutPassword(t *testing.T) {
	t.Parallel()
	for _, w := range entryTexts {
		t.Run(w.language, func(t *testing.T) {
			t.Parallel()
			server, post := withPasskeys(t), newPostOffice(t)
			c := signedIn(t, server)
			c.want(200, "PUT", "/system/setting",
				values("app.pages", true, "app.passkeys", true, "app.code_sign_in", true, "site.title", "Shop", "app.return_origins", "https://shop.example.org",
					"mail.enabled", true, "mail.host", "127.0.0.1", "mail.port", post.Addr().(*net.TCPAddr).Port,
					"mail.security", "none", "mail.from", "reeve@example.org"))
			c.create("/user/list", "username", "ann", "password", password, "email", "ann@example.org")

			p := console(t, server)
			p.authenticator()
			send(p, network.SetExtraHTTPHeaders,
				network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": w.language}})
			p.visit(p.base + "/app/sign-in")
			p.fill(w.signInName, "ann")
			p.fill(w.password, password)
			p.click("button", w.signIn)
			p.looksGood("hosted-account-unconfirmed-" + w.language)
			p.click("button", w.verify)
			p.gone(w.verify)
			p.looksGood("hosted-account-sent-" + w.language)
			p.visit(p.base + "/app/forgot" + productQuery)
			p.visit(p.base + "/link/" + post.find(t, linkInMail))
			p.click("button", w.verified)
			p.find("link", w.product)
			p.looksGood("hosted-link-product-" + w.language)
			p.visit(p.base + "/app/account")
			p.click("button", w.signOut)
			p.find("button", w.signIn)
			p.visit(p.base + "/app/sign-in")
			p.looksGood("hosted-sign-in-" + w.language)
			p.click("link", w.byCode)
			p.looksGood("hosted-email-" + w.language)
			p.fill(w.signInName, "ann")
			p.click("button", w.send)
			p.see(w.onItsWay)
			p.looksGood("hosted-email-code-" + w.language)
			p.fill(w.code, post.find(t, codeInMail))
			p.click("button", w.signIn)
			p.find("heading", w.account)

			p.click("link", w.passkeys)
			p.looksGood("hosted-passkeys-" + w.language)
			p.click("link", w.add)
			p.looksGood("hosted-passkey-add-" + w.language)
			p.fill(w.current, password)
			p.click("button", w.add)
			p.see(w.added)
			p.looksGood("hosted-passkeys-added-" + w.language)
			p.visit(p.base + "/app/account")
			p.click("button", w.signOut)
			p.click("link", w.byPasskey)
			p.looksGood("hosted-passkey-" + w.language)
			p.click("button", w.proceed)
			p.find("heading", w.account)
			p.click("link", w.passkeys)
			p.click("link", w.remove)
			p.looksGood("hosted-passkey-remove-" + w.language)
			p.fill(w.current, password)
			p.click("button", w.confirm)
			p.see(w.removed)
		})
	}
}
