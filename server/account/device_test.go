package account_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// attempt signs in from an address and returns the response.
func attempt(in *servertest.Instance, path, body, addr string,
	edit ...func(*http.Request)) *servertest.Reply {
	in.T.Helper()
	r := in.Request("POST", path, body, "nobody")
	r.RemoteAddr = addr + ":1234"
	for _, e := range edit {
		e(r)
	}
	return in.Send(r)
}

// behindProxy adds the headers of a reverse proxy.
func behindProxy(r *http.Request) { r.Header.Set("X-Forwarded-For", "198.51.100.1") }

// guesses fails to sign in 50 times with different names.
func guesses(in *servertest.Instance, addr string, edit ...func(*http.Request)) {
	in.T.Helper()
	for i := range 50 {
		if r := attempt(in, "/admin/login",
			fmt.Sprintf(`{"username":"u%d","password":"wrong wrong"}`, i), addr, edit...); r.Code != 401 {
			in.T.Fatalf("guess %d: %d %s", i, r.Code, r.Body)
		}
	}
}

func TestDeviceToken_InCookieAndBody(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := fmt.Sprintf(`{"username":"admin","password":%q}`, servertest.OwnerPassword)
	for _, secure := range []bool{false, true} {
		r := attempt(in, "/admin/login", body, "192.0.2.1", func(r *http.Request) {
			if secure {
				r.TLS = &tls.ConnectionState{}
			}
		})
		var out account.LoginOut
		r.Data(&out)
		c := r.CookieOf()
		if c.Name != servertest.DeviceCookie(false) || c.Value != out.DeviceToken ||
			c.Value == "" ||
			c.Value == out.Token || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode ||
			c.Path != "/" || c.Secure != secure || c.MaxAge != 90*24*3600 {
			t.Errorf("TLS %t: %+v, %s", secure, c, r.Body)
		}
	}
}

// TestUnconfiguredProxy_KnownDevicesStay makes 50 failed sign-ins through a
// proxy that the configuration does not name.
func TestUnconfiguredProxy_KnownDevicesStay(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	customer := in.AppUser("customer")
	body := fmt.Sprintf(`{"username":"admin","password":%q}`, servertest.OwnerPassword)
	appBody := fmt.Sprintf(`{"username":%q,"password":%q}`, customer.Username,
		servertest.OwnerPassword)
	const proxy = "203.0.113.1"
	cookie, appCookie := attempt(in, "/admin/login", body, proxy).CookieOf(), attempt(in,
		"/api/login", appBody, proxy).CookieOf()
	if appCookie.Name != servertest.DeviceCookie(true) {
		t.Errorf("the app's cookie is called %s", appCookie.Name)
	}

	guesses(in, proxy, behindProxy)
	for _, tc := range []struct {
		name, path, body string
		cookie           *http.Cookie
		want             int
	}{
		{"a stranger", "/admin/login", body, nil, 429},
		{"the browser", "/admin/login", body, cookie, 200},
		{"an API client", "/admin/login",
			strings.Replace(body, "{", fmt.Sprintf(`{"device_token":%q,`, cookie.Value), 1), nil,
			200},
		{"an API client with junk", "/admin/login",
			strings.Replace(body, "{", `{"device_token":"junk",`, 1), nil, 429},
		{"a stranger to the app", "/api/login", appBody, nil, 429},
		{"the app's browser", "/api/login", appBody, appCookie, 200},
		{"a cookie of the other realm", "/api/login", appBody, &http.Cookie{
			Name:  appCookie.Name,
			Value: cookie.Value,
		}, 429},
		{"a wrong password", "/admin/login", `{"username":"admin","password":"wrong wrong"}`,
			cookie, 401},
	} {
		for tc.want == 429 && attempt(in, "/admin/login", `{"username":"stranger","password":"wrong wrong"}`, proxy, behindProxy).Code != 429 {
			// on a slow machine some of the attempts that the proxy has used up have come back
		}
		r := attempt(in, tc.path, tc.body, proxy, behindProxy, func(r *http.Request) {
			if tc.cookie != nil {
				r.AddCookie(tc.cookie)
			}
		})
		if r.Code != tc.want {
			t.Errorf("%s: %d %s", tc.name, r.Code, r.Body)
		}
	}

	if text := log.String(); strings.Count(text, "server.trusted_proxies") != 1 ||
		!strings.Contains(text, `"address":"`+proxy+`"`) {
		t.Errorf("the cause is not logged once: %s", text)
	}

	in.Flush()
	data, err := os.ReadFile(filepath.Join(in.Dir, "data.db"))
	servertest.Must(t, err)
	for where, text := range map[string]string{
		"the log": log.String(), "data.db": string(data),
		"monitoring": in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Body + in.OK("GET", "/system/monitor/auth?pageSize=1000", "", "owner").Body,
	} {
		if strings.Contains(text, cookie.Value) || len(text) < 1000 {
			t.Errorf("a device token is in %s, or that is empty", where)
		}
	}

	_, parts := in.HealthParts()
	if p := parts["sign-in"]; p.State != web.Degraded ||
		!strings.Contains(p.Text, "server.trusted_proxies") || !strings.Contains(p.Text, proxy) ||
		p.Since == 0 {
		t.Errorf("%+v", p)
	}
}

// TestUnconfiguredProxy_NotSuspected has clients without any sign of a proxy.
func TestUnconfiguredProxy_NotSuspected(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Log = &log
		su.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("203.0.113.2/32")}
	})
	guesses(in, "203.0.113.1")              // no header
	guesses(in, "203.0.113.2", behindProxy) // a proxy in the configuration
	if _, parts := in.HealthParts(); parts["sign-in"].State != web.Healthy ||
		strings.Contains(log.String(), "trusted_proxies") {
		t.Errorf("%+v, %s", parts["sign-in"], log.String())
	}
}

func TestProxySuspects_BoundedAndExpire(t *testing.T) {
	t.Parallel()
	var s web.Suspects
	now := time.Now()
	addr := netip.MustParseAddr("10.0.0.0")
	for range web.MaxSuspects {
		if !s.Note(addr, now) || s.Note(addr, now.Add(web.SuspectFor-1)) {
			t.Fatal("it is not logged once an hour")
		}
		addr = addr.Next()
	}

	if s.Note(addr, now) || len(s.Logged) != web.MaxSuspects {
		t.Errorf("%d addresses are kept", len(s.Logged))
	}
	if got, _ := s.Recent(now); got != addr {
		t.Errorf("the last one is %s", got)
	}
	if _, seen := s.Recent(now.Add(web.SuspectFor)); !seen.IsZero() {
		t.Error("it is shown for ever")
	}
	if !s.Note(addr, now.Add(web.SuspectFor)) || len(s.Logged) != 1 {
		t.Errorf("%d addresses are kept", len(s.Logged))
	}
}

// TestDeviceToken_EndedByEachRoute covers every path.
func TestDeviceToken_EndedByEachRoute(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for i, tc := range []struct {
		name string
		end  func(id store.ID)
	}{
		{"a password reset", func(id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner")
		}},
		{"the status", func(id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
		}},
		{"a change of the record", func(id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"status":0}`, "owner")
		}},
		{"deletion", func(id store.ID) {
			in.OK("DELETE", fmt.Sprintf("/admin/list/%d", id), "", "owner")
		}},
	} {
		name := fmt.Sprintf("clerk%d", i)
		u := in.Clerk(name)
		r := attempt(in, "/admin/login",
			fmt.Sprintf(`{"username":%q,"password":%q}`, name, servertest.OwnerPassword),
			"192.0.2.1")
		if r.Code != 200 {
			t.Fatalf("%d %s", r.Code, r.Body)
		}

		tc.end(u.ID)
		in.View(func(tx *store.Tx) error {
			for d, err := range store.DeviceByUser.All(tx, u.ID) {
				t.Errorf("%s leaves device %+v, %v", tc.name, d, err)
			}
			return nil
		})
	}
}
