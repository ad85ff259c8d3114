package rights_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/server/rights"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
)

func TestIntrospection(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Program()
	in.Clerk("clerk", "system.dict.query", "system.info")
	in.AppUser("customer")
	key := in.NewKey("key", "/admin/account/key", `{"name":"laptop"}`, "clerk")
	ask := func(token string) *servertest.Reply {
		return in.Introspect(url.Values{
			"token":           {token},
			"token_type_hint": {"access_token"},
			"extension":       {"x"},
		}.Encode(), "program")
	}
	ask(in.Tokens["clerk"]).Brief(200,
		`{"active":true,"scope":"system.dict.query system.info","username":"clerk","token_type":"Bearer","exp":`, `"sub":"user:2","realm":"admin","user_id":2}`)
	ask(in.Tokens["customer"]).Brief(200, `"active":true,"username":"customer"`,
		`"sub":"app_user:1","realm":"app","user_id":1}`)
	ask(key.Token).Brief(200, `"active":true,"scope":"system.dict.query system.info"`,
		`"key_id":2,"key_name":"laptop"}`)
	inactive := []string{"x", strings.Repeat("x", 3900), "rv_" + strings.Repeat("A", 49),
		key.Token + "A", in.Tokens["clerk"][:20], strings.ToUpper(key.Token)}
	in.OK("DELETE", "/admin/key/2", "", "owner")
	in.OK("POST", "/api/logout", "", "customer")
	in.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, 2, func(u *store.User) error {
			u.MustChangePassword = true
			return nil
		})
		return err
	})
	for _, token := range append(inactive, key.Token, in.Tokens["customer"], in.Tokens["clerk"]) {
		if a := ask(token); a.Code != 200 || a.Body != "{\"active\":false}\n" {
			t.Errorf("%s: %d %s", token, a.Code, a.Body)
		}
	}

	for form, status := range map[string]int{
		"":                                   415,
		"token=":                             400,
		"token_type_hint=x":                  400,
		"token=a&token=b":                    400,
		"token=%zz":                          400,
		"token=" + strings.Repeat("x", 5000): 413,
	} {
		if a := in.Introspect(form, "program"); a.Code != status ||
			!strings.HasPrefix(a.Body, `{"error":"invalid_request","error_description":"`) {
			t.Errorf("%.30s: %d %s, want %d", form, a.Code, a.Body, status)
		}
	}

	if a := in.Call("POST", "/auth/introspect", `{"token":"x"}`, "program"); a.Code != 415 {
		t.Errorf("JSON: %d %s", a.Code, a.Body)
	}

	for as, want := range map[string]string{"customer": `401 {"error":"invalid_token"`} {
		if a := in.Introspect("token=x", as); !strings.HasPrefix(fmt.Sprint(a.Code, " ", a.Body),
			want) || a.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s", as, a.Code, a.Body)
		}
	}

	in.Clerk("other", "auth.check")
	if a := in.Introspect("token=x", "other"); !strings.HasPrefix(a.Body,
		`{"error":"insufficient_scope"`) || a.Code != 403 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestIntrospection_ClientSecret: most resource servers send nothing else (RFC 6749, 2.3.1).
func TestIntrospection_ClientSecret(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Program()
	key, bare := in.Tokens["program"], in.NewKey("bare", "/admin/key",
		fmt.Sprintf(`{"name":"bare","role_ids":[%d]}`, in.Role("Bare", nil, "auth.check")),
		"owner").Token

	const basic, bearer = `Basic realm="Reeve"`, "Bearer"
	for _, c := range []struct {
		name, username, password, form, header string
		status                                 int
		code, challenge                        string
	}{
		{"Basic", "svc", key, "", "", 200, "", ""},
		{"Basic, without a name", "", key, "", "", 200, "", ""},
		{"Basic, and the name in the form", "svc", key, "&client_id=svc", "", 200, "", ""},
		{"in the form", "", "", "&client_id=svc&client_secret=" + key, "", 200, "", ""},
		{"in the form, beside a header for a proxy", "", "", "&client_secret=" + key,
			"Negotiate x", 200, "", ""},
		{"a wrong secret", "svc", key + "x", "", "", 401, "invalid_client", basic},
		{"the password of a user", "admin", servertest.OwnerPassword, "", "", 401,
			"invalid_client", basic},
		{"a token of a session", "svc", in.Tokens["owner"], "", "", 401, "invalid_client", basic},
		{"a wrong secret in the form", "", "", "&client_id=svc&client_secret=x", "", 401,
			"invalid_client", basic},
		{"an empty secret in the form", "", "", "&client_id=svc&client_secret=", "", 401,
			"invalid_client", basic},
		{"nothing", "", "", "", "", 401, "invalid_client", basic},
		{"a wrong token", "", "", "&client_secret=" + key, "Bearer x", 401, "invalid_token",
			bearer},
		{"a key without the permission", "svc", bare, "", "", 403, "insufficient_scope", ""},
	} {
		r := httptest.NewRequest("POST", "/auth/introspect",
			strings.NewReader("token="+in.Tokens["owner"]+c.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if c.username+c.password != "" {
			r.SetBasicAuth(c.username, c.password)
		}
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}

		a := in.Send(r)
		want := `{"active":true`
		if c.code != "" {
			want = `{"error":"` + c.code + `"`
		}
		if a.Code != c.status || !strings.HasPrefix(a.Body, want) ||
			a.Header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d %s %s", c.name, a.Code, a.Header.Get("WWW-Authenticate"), a.Body)
		}
	}

	r := in.Request("POST", "/auth/check", `{"token":"x"}`, "nobody") // follows no specification
	r.SetBasicAuth("svc", key)
	if a := in.Send(r); a.Code != 401 || a.Header.Get("WWW-Authenticate") != bearer {
		t.Errorf("another operation: %d %s", a.Code, a.Body)
	}

	in.Flush()
	if body := in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Body; strings.Contains(body, key) || strings.Contains(body, servertest.OwnerPassword) {
		t.Error("monitoring has a secret")
	}
}

func TestPermissionCheck(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Program()
	in.Create("/admin/rule", `{"type":2,"key":"shop.order.refund","name":"Refund"}`)
	in.Dept("Top", 0)
	role := in.Role("Clerks", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "shop.order.refund")
	id := in.Member("clerk", 1, role)
	in.AppUser("customer")
	in.NewKey("clerk's", "/admin/account/key", `{"name":"laptop"}`, "clerk")
	body := func(token string) string {
		return fmt.Sprintf(`{"token":%q,"permissions":["shop.order.refund","system.info","no.such"],"explain":true}`, token)
	}
	in.OK("POST", "/auth/check", body(in.Tokens["clerk"]), "program").Brief(200,
		fmt.Sprintf(`"active":true,"user":{"id":%d,"username":"clerk","realm":"admin"}`, id),
		`"allowed":{"no.such":false,"shop.order.refund":true,"system.info":false}`,
		`"reasons":{"no.such":"unknown_permission","shop.order.refund":"granted","system.info":"not_granted"}`,
		fmt.Sprintf(`"data_scope":{"all":false,"user_id":%d,"dept_ids":[1]}`, id))
	in.OK("POST", "/auth/check", body(in.Tokens["clerk's"]), "program").Brief(200,
		`"key_id":2,"key_name":"laptop"`, `"shop.order.refund":true`)
	in.OK("POST", "/auth/check", body(in.Tokens["customer"]), "program").Brief(200,
		`"active":true`, `"realm":"app"`, `"shop.order.refund":false`,
		`"shop.order.refund":"unknown_permission"`, `"data_scope":null`)
	in.OK("POST", "/auth/check", body("rv_x"), "program").Brief(200,
		`"active":false,"user":null,"allowed":{"no.such":false,"shop.order.refund":false,"system.info":false}`, `"system.info":"unknown_token"`, `"data_scope":null`)
	in.OK("POST", "/auth/check",
		fmt.Sprintf(`{"user_id":%d,"permissions":["shop.order.refund"]}`, id), "program").Brief(200, `"allowed":{"shop.order.refund":true}`)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
	in.OK("POST", "/auth/check", body(in.Tokens["clerk"]), "program").Brief(200, `"active":false`)
	in.OK("POST", "/auth/check",
		fmt.Sprintf(`{"user_id":%d,"permissions":["shop.order.refund"],"explain":1}`, id),
		"program").Brief(200, `"active":false`, `"shop.order.refund":"user_disabled"`)

	in.Call("POST", "/auth/check", `{"permissions":["a.b"]}`, "program").Names(422, "user_id")
	in.Call("POST", "/auth/check", `{"token":"x","user_id":1,"permissions":["a.b"]}`, "program").Names(422, "token")
	in.OK("POST", "/auth/check", `{"token":"x"}`, "program").Brief(200, `"active":false`,
		`"allowed":{}`)
	in.OK("POST", "/auth/check", `{"token":"x","permissions":["system.info","no.such"]}`,
		"program").Brief(200, `"unknown":["no.such"]`)
	in.OK("POST", "/auth/check", fmt.Sprintf(`{"token":%q,"permissions":[]}`, in.Tokens["owner"]),
		"program").Brief(200, `"active":true`, `"allowed":{}`)
	in.Call("POST", "/auth/check",
		`{"token":"x","permissions":[`+strings.Repeat(`"a.b",`, 100)+`"a.b"]}`, "program").Names(422, "permissions")
	in.Call("POST", "/auth/check", `{"user_id":99,"permissions":["a.b"]}`, "program").Names(422,
		"user_id")

	self := in.Role("Self", nil, "auth.check")
	in.Member("self", 0, self)
	in.Call("POST", "/auth/check", `{"user_id":1,"permissions":["system.info"]}`, "self").Names(422, "user_id") // not in the data scope
	in.OK("POST", "/auth/check", body(in.Tokens["owner"]), "self").Brief(200, `"system.info":true`)             // who has the token could ask as its user
}

// A token that is sent in a body is not in monitoring or the logs.
func TestPermissionCheck_TokenIsNotRecorded(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Program()
	in.OK("POST", "/auth/check",
		fmt.Sprintf(`{"token":%q,"permissions":["system.info"]}`, in.Tokens["owner"]), "program")
	in.Introspect("token="+in.Tokens["owner"], "program").Brief(200)
	in.Call("POST", "/auth/check", fmt.Sprintf(`{"token":%q,"permissions":1}`, in.Tokens["owner"]),
		"program").Brief(422)
	in.Flush()
	for _, url := range []string{"/system/monitor/request?pageSize=100",
		"/system/monitor/auth?pageSize=100", "/system/audit"} {
		if a := in.OK("GET", url, "", "owner"); strings.Contains(a.Body, in.Tokens["owner"][8:]) {
			t.Errorf("%s has the token", url)
		}
	}
}

// TestPermissionCheck_MatchesEnforcement makes random changes and compares the answers of checks
// with those of the routes, for sessions and keys.
func TestPermissionCheck_MatchesEnforcement(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t), disktest.Random(t)
	in.Program()
	paths := map[string]string{
		"admin.list.query": "/admin/list", "admin.role.query": "/admin/role",
		"admin.dept.query": "/admin/dept", "system.dict.query": "/system/dict",
		"file.list.query": "/file/list", "system.job": "", "system.info": "/system/info",
		"admin.key.query": "/admin/key", "system.webhook.query": "/system/webhook",
	}
	delete(paths, "system.job")
	var roles []store.ID
	for n := range 4 {
		roles = append(roles, in.Role(fmt.Sprint("R", n), nil))
	}

	var tokens []string
	for n := range 3 {
		id := in.Member(fmt.Sprint("user", n), 0, roles[n])
		_, personal := in.Key(id, servertest.PersonalKey)
		_, service := in.Key(id, servertest.ServiceKey)
		tokens = append(tokens, in.Tokens[fmt.Sprint("user", n)], personal, service)
	}

	keys := make([]string, 0, len(paths))
	for key := range paths {
		keys = append(keys, key)
	}

	slices.Sort(keys)
	quoted := `"` + strings.Join(keys, `","`) + `"`
	some := func(from []store.ID) (ids []store.ID) {
		for _, id := range from {
			if r.IntN(2) == 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}

	var rules []store.ID
	for _, key := range keys {
		rules = append(rules, in.Permission(key))
	}

	in.Update(func(tx *store.Tx) error { // or few would have any
		for _, id := range roles {
			if _, err := store.Roles.Update(tx, id, func(v *store.Role) error {
				v.RuleIDs = rules
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	allowed, refused := 0, 0
	for range disktest.Size(60, 300, 3000) {
		in.Update(func(tx *store.Tx) (err error) {
			switch r.IntN(6) {
			case 0:
				_, err = store.Roles.Update(tx, roles[r.IntN(4)], func(v *store.Role) error {
					v.RuleIDs = some(rules)
					return nil
				})
			case 1:
				_, err = store.Roles.Update(tx, roles[r.IntN(4)], func(v *store.Role) error {
					v.Status = r.IntN(3) > 0
					return nil
				})
			case 2:
				_, err = store.Users.Update(tx, store.ID(2+r.IntN(3)), func(v *store.User) error {
					v.RoleIDs = some(roles)
					return nil
				})
			case 3:
				_, err = store.Users.Update(tx, store.ID(2+r.IntN(3)), func(v *store.User) error {
					v.Status = r.IntN(3) > 0
					return nil
				})
			case 4:
				_, err = store.APIKeys.Update(tx, store.ID(2+r.IntN(6)),
					func(v *store.APIKey) error {
						v.Status = r.IntN(3) > 0
						return nil
					})
			case 5:
				_, err = store.Permissions.Update(tx, rules[r.IntN(len(rules))],
					func(v *store.Permission) error {
						v.Status = r.IntN(3) > 0
						return nil
					})
			}
			return err
		})
		token := tokens[r.IntN(len(tokens))]
		in.Tokens["checked"] = token
		var out rights.CheckOut
		in.OK("POST", "/auth/check", fmt.Sprintf(`{"token":%q,"permissions":[%s]}`, token, quoted),
			"program").Data(&out)
		for _, key := range keys {
			code := in.Call("GET", paths[key]+"?pageSize=1", "", "checked").Code
			if code == http.StatusBadRequest { // the tree and the state of the system have no pages
				code = in.Call("GET", paths[key], "", "checked").Code
			}
			if out.Allowed[key] {
				allowed++
			} else {
				refused++
			}
			if want := map[bool]int{true: 200, false: 403}[out.Allowed[key]]; code != want &&
				(out.Active || code != 401) {
				t.Fatalf("%s: the check says %t, the route %d", key, out.Allowed[key], code)
			}
		}
	}

	if allowed < 20 || refused < 20 {
		t.Errorf("%d allowed, %d refused", allowed, refused)
	}
}

// TestPermissionCheck_NeverStale asks on several connections while the permission is granted and
// revoked. A check that begins after a change was acknowledged has its result.
func TestPermissionCheck_NeverStale(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("asker", "auth.check") // not an API key, whose rate is limited
	u := in.Clerk("ada", "system.info")
	granted := fmt.Sprintf(`{"rule_ids":[%d]}`, in.Permission("system.info"))
	body := fmt.Sprintf(`{"token":%q,"permissions":["system.info"]}`, in.Tokens["ada"])
	var acknowledged atomic.Int64 // even: granted; odd: revoked
	done := make(chan struct{})
	var wg sync.WaitGroup
	var checks atomic.Int64
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}

				before := acknowledged.Load()
				a := in.Call("POST", "/auth/check", body, "asker")
				if after := acknowledged.Load(); after != before || a.Code != 200 {
					continue // it changed meanwhile
				}

				checks.Add(1)
				if allowed := strings.Contains(a.Body, `"system.info":true`); allowed &&
					before%2 == 1 {
					t.Errorf("after revocation %d: %s", before, a.Body)
				}
			}
		})
	}

	for n := range servertest.Size(20, 100, 1000) {
		rules := `{"rule_ids":[]}`
		if n%2 == 1 {
			rules = granted
			acknowledged.Add(1) // a check from here on may find it granted
		}
		in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), rules, "owner")
		if n%2 == 0 {
			acknowledged.Add(1)
		}
		for from := checks.Load(); checks.Load() < from+5; {
			runtime.Gosched()
		}
	}

	close(done)
	wg.Wait()
}
