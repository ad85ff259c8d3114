package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/server/servertest"
	"reeve/store"
)

func TestLinkPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting",
		`{"values":{"site.title":"Shop","site.contact":"<i>Help</i>","security.password_length":"10"}}`, "owner")
	token := in.LinkFor(in.Guest("ann", ""), "owner")
	page := in.OK("GET", mails.LinkPath+token, "", "nobody")
	page.Brief(200, "<h1>Welcome</h1>", "Choose a password for your account ann.",
		`value="ann" autocomplete="username"`, `minlength="10"`, "At least 10 characters", "Shop",
		"&lt;i&gt;Help&lt;/i&gt;", `lang="en"`)
	if page.Header.Get("Cache-Control") != "no-store" ||
		page.Header.Get("Referrer-Policy") != "no-referrer" ||
		strings.Contains(page.Body, "<script") || strings.Contains(page.Body, token) {
		t.Errorf("%v %s", page.Header, page.Body)
	}

	in.Submit(token, servertest.Passwords("a good password", "another")).Brief(422,
		"Passwords don&#39;t match.", "<form")
	in.Submit(token, url.Values{"password": {"a good password"}}).Brief(422,
		"Passwords don&#39;t match.")
	in.Submit(token, servertest.Passwords("", "")).Brief(422, "<form", `role="alert"`)
	in.Submit(token, servertest.Passwords("too short", "too short")).Brief(422,
		"must be at least 10 characters", "<form", `aria-describedby="password-hint fault"`)
	in.Submit(token, servertest.Passwords("password123", "password123")).Brief(422, "too common")
	if body := in.Submit(token, servertest.Passwords("hunter2hunter2x", "other")).Body; strings.Contains(body, "hunter2") {
		t.Error("the page repeats the password")
	}

	in.Submit(token, servertest.Passwords("a good password", "a good password")).Brief(200,
		"<h1>Done</h1>", "Sign in with the username ann.", `href="/console/"`)
	in.Submit(token, servertest.Passwords("a good password", "a good password")).Brief(404,
		"This link doesn&#39;t work")
	in.Call("GET", mails.LinkPath+token, "", "nobody").Brief(404, "This link doesn&#39;t work",
		"&lt;i&gt;Help&lt;/i&gt;")
	in.OK("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody")
}

func TestLinkPage_BrowserLanguage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	token := in.LinkFor(in.Guest("ann", ""), "owner")
	ask := func(method, token, body string) *servertest.Reply {
		r := in.Request(method, mails.LinkPath+token, body, "nobody")
		r.Header.Set("Accept-Language", "zh-CN,zh;q=0.9")
		if body != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return in.Send(r)
	}
	ask("GET", token, "").Brief(200, `lang="zh-CN"`, "欢迎", "确认新密码")
	ask("POST", token, servertest.Passwords("password", "password").Encode()).Brief(422, "新密码")
	ask("GET", "junk", "").Brief(404, "链接无法使用", "链接无效")
	ask("POST", token, servertest.Passwords("a good password", "a good password").Encode()).Brief(200, "完成")
}

func TestLinkPage_EmailVerification(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("customer")
	link := servertest.NewTestLink(store.EmailChange, true, 1)
	in.Plant(link, "new@example.org")
	in.OK("GET", mails.LinkPath+link.Token, "", "nobody").Brief(200, "new@example.org",
		`<button type="submit">Confirm</button>`)
	if body := in.Call("GET", mails.LinkPath+link.Token, "", "nobody").Body; strings.Contains(body,
		`type="password"`) {
		t.Error("the page asks for a password")
	}
	in.Submit(link.Token, url.Values{"confirm": {"1"}}).Brief(200, "Email address changed.")
	in.OK("GET", "/api/user", "", "customer").Brief(200,
		`"email":"new@example.org","email_verified":1`)
}

// TestLinkPage_AddressTakenMeanwhile checks that an address is not confirmed once another user has
// it.
func TestLinkPage_AddressTakenMeanwhile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("customer")
	link := servertest.NewTestLink(store.EmailChange, true, 1)
	in.Plant(link, "new@example.org")
	in.AppGuest("faster", "New@example.org")
	in.Submit(link.Token, nil).Brief(415)
	in.Submit(link.Token, url.Values{"confirm": {"1"}}).Brief(409, "already used")
	in.OK("GET", "/api/user", "", "customer").Brief(200, `"email":""`)
}

func TestLinkPage_OtherRequests(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	token := in.LinkFor(in.Guest("ann", ""), "owner")
	for name, r := range map[string]*http.Request{
		"JSON": in.Request("POST", mails.LinkPath+token,
			`{"password":"a good password","password_again":"a good password"}`, "nobody"),
		"too large": in.Request("POST", mails.LinkPath+token,
			"password="+strings.Repeat("x", 10_000), "nobody"),
		"a field twice": in.Request("POST", mails.LinkPath+token,
			"password=a+good+password&password=b&password_again=a+good+password", "nobody"),
		"no form":         in.Request("POST", mails.LinkPath+token, "", "nobody"),
		"deleting":        in.Request("DELETE", mails.LinkPath+token, "", "nobody"),
		"a token in caps": in.Request("GET", mails.LinkPath+strings.ToUpper(token), "", "nobody"),
		"longer":          in.Request("GET", mails.LinkPath+token+"x", "", "nobody"),
		"a session":       in.Request("GET", mails.LinkPath+in.Tokens["owner"], "", "nobody"),
	} {
		if name == "too large" || name == "a field twice" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if a := in.Send(r); a.Code < 400 || a.Code >= 500 {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}

	in.OK("GET", mails.LinkPath+token+"?utm_source=mail", "", "nobody")
	long := strings.Repeat("密", 341) // 1023 bytes
	in.Submit(token+"?utm_source=mail", servertest.Passwords(long, long)).Brief(200,
		"<h1>Done</h1>")
}
