package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/server/mails"
	"reeve/store"
)

// submit sends the form of a link's page.
func (in *instance) submit(token string, form url.Values) *reply {
	in.t.Helper()
	r := in.request("POST", mails.LinkPath+token, form.Encode(), "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return in.send(r)
}

func passwords(one, other string) url.Values {
	return url.Values{"password": {one}, "password_again": {other}}
}

func TestLinkPage(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Shop","site.contact":"<i>Help</i>","security.password_length":"10"}}`, "owner")
	token := in.linkFor(in.guest("ann", ""), "owner")
	page := in.ok("GET", mails.LinkPath+token, "", "nobody")
	page.brief(200, "<h1>Welcome</h1>", "Choose a password for your account ann.", `value="ann" autocomplete="username"`, `minlength="10"`, "At least 10 characters", "Shop", "&lt;i&gt;Help&lt;/i&gt;", `lang="en"`)
	if page.Header.Get("Cache-Control") != "no-store" || page.Header.Get("Referrer-Policy") != "no-referrer" || strings.Contains(page.Body, "<script") || strings.Contains(page.Body, token) {
		t.Errorf("%v %s", page.Header, page.Body)
	}
	in.submit(token, passwords("a good password", "another")).brief(422, "Passwords don&#39;t match.", "<form")
	in.submit(token, url.Values{"password": {"a good password"}}).brief(422, "Passwords don&#39;t match.")
	in.submit(token, passwords("", "")).brief(422, "<form", `role="alert"`)
	in.submit(token, passwords("too short", "too short")).brief(422, "must be at least 10 characters", "<form", `aria-describedby="password-hint fault"`)
	in.submit(token, passwords("password123", "password123")).brief(422, "too common")
	if body := in.submit(token, passwords("hunter2hunter2x", "other")).Body; strings.Contains(body, "hunter2") {
		t.Error("the page repeats the password")
	}
	in.submit(token, passwords("a good password", "a good password")).brief(200, "<h1>Done</h1>", "Sign in with the username ann.", `href="/console/"`)
	in.submit(token, passwords("a good password", "a good password")).brief(404, "This link doesn&#39;t work")
	in.call("GET", mails.LinkPath+token, "", "nobody").brief(404, "This link doesn&#39;t work", "&lt;i&gt;Help&lt;/i&gt;")
	in.ok("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody")
}

func TestLinkPage_BrowserLanguage(t *testing.T) {
	t.Parallel()
	in := start(t)
	token := in.linkFor(in.guest("ann", ""), "owner")
	ask := func(method, token, body string) *reply {
		r := in.request(method, mails.LinkPath+token, body, "nobody")
		r.Header.Set("Accept-Language", "zh-CN,zh;q=0.9")
		if body != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return in.send(r)
	}
	ask("GET", token, "").brief(200, `lang="zh-CN"`, "欢迎", "确认新密码")
	ask("POST", token, passwords("password", "password").Encode()).brief(422, "新密码")
	ask("GET", "junk", "").brief(404, "链接无法使用", "链接无效")
	ask("POST", token, passwords("a good password", "a good password").Encode()).brief(200, "完成")
}

func TestLinkPage_EmailVerification(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("customer")
	link := newTestLink(store.EmailChange, true, 1)
	in.plant(link, "new@example.org")
	in.ok("GET", mails.LinkPath+link.token, "", "nobody").brief(200, "new@example.org", `<button type="submit">Confirm</button>`)
	if body := in.call("GET", mails.LinkPath+link.token, "", "nobody").Body; strings.Contains(body, `type="password"`) {
		t.Error("the page asks for a password")
	}
	in.submit(link.token, url.Values{"confirm": {"1"}}).brief(200, "Email address changed.")
	in.ok("GET", "/api/user", "", "customer").brief(200, `"email":"new@example.org","email_verified":1`)
}

// TestLinkPage_AddressTakenMeanwhile checks that an address is not confirmed once another user has
// it.
func TestLinkPage_AddressTakenMeanwhile(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("customer")
	link := newTestLink(store.EmailChange, true, 1)
	in.plant(link, "new@example.org")
	in.appGuest("faster", "New@example.org")
	in.submit(link.token, nil).brief(415)
	in.submit(link.token, url.Values{"confirm": {"1"}}).brief(409, "already used")
	in.ok("GET", "/api/user", "", "customer").brief(200, `"email":""`)
}

func TestLinkPage_OtherRequests(t *testing.T) {
	t.Parallel()
	in := start(t)
	token := in.linkFor(in.guest("ann", ""), "owner")
	for name, r := range map[string]*http.Request{
		"JSON":            in.request("POST", mails.LinkPath+token, `{"password":"a good password","password_again":"a good password"}`, "nobody"),
		"too large":       in.request("POST", mails.LinkPath+token, "password="+strings.Repeat("x", 10_000), "nobody"),
		"a field twice":   in.request("POST", mails.LinkPath+token, "password=a+good+password&password=b&password_again=a+good+password", "nobody"),
		"no form":         in.request("POST", mails.LinkPath+token, "", "nobody"),
		"deleting":        in.request("DELETE", mails.LinkPath+token, "", "nobody"),
		"a token in caps": in.request("GET", mails.LinkPath+strings.ToUpper(token), "", "nobody"),
		"longer":          in.request("GET", mails.LinkPath+token+"x", "", "nobody"),
		"a session":       in.request("GET", mails.LinkPath+in.tokens["owner"], "", "nobody"),
	} {
		if name == "too large" || name == "a field twice" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if a := in.send(r); a.Code < 400 || a.Code >= 500 {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	in.ok("GET", mails.LinkPath+token+"?utm_source=mail", "", "nobody")
	long := strings.Repeat("密", 341) // 1023 bytes
	in.submit(token+"?utm_source=mail", passwords(long, long)).brief(200, "<h1>Done</h1>")
}
