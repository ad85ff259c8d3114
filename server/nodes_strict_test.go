package server_test

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// takesNothing are the operations that take nothing away, as patterns of their names: with several nodes, they
// are answered without waiting for the other ones.
var takesNothing = regexp.MustCompile(`^(` + strings.Join([]string{
	// They read, ask or try.
	`POST /auth/(check|forward|introspect)`, `POST /admin/role-reach`, `POST /access/v1/evaluations?`, `POST /ofrep/.*`, `POST /system/setting/flag-preview`,
	`POST /system/setup/plan`, `POST /system/(mail-test|webhook/:id/test|provider/:id/test)`, `POST /file/list/:id/link`,
	// They create, or send.
	`POST /admin/(dept|role|rule|key|list|account/key|account/passkey|account/totp|email|list-import)`,
	`POST /user/(role|rule|list|list-import)`, `POST /api/user/(passkey|totp)`, `POST /(admin|api)/password/forgot`,
	`POST /file/(group|list)`, `POST /system/(dict|dict/:id/item|field|provider|setting|setting-group|webhook|monitor/trace|backup-file)`,
	`POST /(admin|api)/login(/passkey|/totp)?`, `POST /auth/login(/totp)?`, `POST /(api|auth)/login/(email|email-code|code)`,
	`POST /(api|app)/register`, `POST /app/(forgot|sign-in|sign-in/.*)`, `POST /app/account/(verify|authenticator|passkeys/add)`, `POST /system/(field/:id/apply|mail/:id/retry)`,
	// They change records that give no access.
	`(POST|PUT|DELETE) /system/webhook.*`, `(PUT|DELETE) /file/group.*`, `(PUT|DELETE) /system/field.*`, `(PUT|DELETE) /system/dict/:id/item.*`,
	`(PUT|DELETE) /admin/account/device(/:id)?`, `(POST|PUT|DELETE) /admin/view.*`, `PUT /admin/account/notice`, `DELETE /system/mail.*`,
	// They give back.
	`DELETE /(admin|user)/list/:id/lockout`,
	// They work on this node.
	`DELETE /system/monitor/trace.*`, `POST /system/(backup-target|file-move)/cancel`, `POST /system/(compact|health/acknowledge)`,
	`DELETE /admin/act-as`, // without acting as another user
}, "|") + `)$`)

// notSent are the operations that the test below does not send, with the reason.
var notSent = map[string]string{
	"POST /admin/login/provider":         "needs a provider: TestStrict_AtProviders in server/providers",
	"POST /admin/account/provider":       "needs a provider: TestStrict_AtProviders in server/providers",
	"POST /admin/account/provider/:name": "needs a provider: TestStrict_AtProviders in server/providers",
	"POST /admin/reauth/provider/:name":  "needs a provider: TestStrict_AtProviders in server/providers",
	"POST /auth/provider/:name/sign-in":  "needs a directory: it leads back as GET /auth/provider/:name/callback does, which is below",
	"POST /auth/provider/:name/logout":   "needs a provider: TestStrict_AtProviders in server/providers",
	"GET /auth/provider/:name/callback":  "needs a provider: TestStrict_AtProviders in server/providers",
	"POST /system/provider/:id/test":     "needs a provider; it asks for its addresses and stores nothing",
	"POST /system/file-move":             "needs two storages; it is about the contents of files, not about records that give rights",
	"POST /system/backup-target/check":   "needs a target; it only reads",
}

// strictRequest returns a request that a node accepts, after those that it needs.
func strictRequest(in *servertest.Instance, rt *web.Route) (url, body string) {
	in.T.Helper()
	last := func(user store.ID) string {
		in.SignIn(user)
		ids := in.SessionsOf(user)
		return fmt.Sprint(ids[len(ids)-1])
	}
	made := func(path, body string) func() string {
		return func() string { return fmt.Sprint(path, "/", in.Made(path, body)) }
	}
	named := map[string]func() string{
		"/admin/account/device/:id":         func() string { return "/admin/account/device/1" },
		"/admin/account/device/:id/session": func() string { return onDevice(in) + "/session" },
		"/admin/session/:id":                func() string { return "/admin/session/" + last(1) },
		"/system/session/:id":               func() string { return "/system/session/" + last(2) },
		"/admin/list-session/:id":           func() string { in.SignIn(2); return "/admin/list-session/2" },
		"/user/list-session/:id":            func() string { in.AppSignIn(1); return "/user/list-session/1" },
		"/api/session/:id":                  func() string { return "/api/session/" + appSession(in) },
		"/admin/invite/:id":                 func() string { return "/admin/invite/" + fmt.Sprint(invitedTwo(false)(in)[0]) },
		"/user/invite/:id":                  func() string { return "/user/invite/" + fmt.Sprint(invitedTwo(true)(in)[0]) },
		"/file/trash/:id":                   func() string { in.OK("DELETE", "/file/list/1", "", "owner"); return "/file/trash/1" },
		"/admin/list/:id":                   func() string { return "/admin/list/2" },
		"/system/dict/:id/item/:id":         func() string { return "/system/dict/1/item/1" },
		"/admin/role/:id":                   made("/admin/role", `{"name":"Unused"}`),
		"/admin/rule/:id":                   made("/admin/rule", `{"type":1,"key":"unused","name":"Unused","path":"/unused"}`),
		"/system/setting-group/:id":         made("/system/setting-group", `{"key":"unused","title":"Unused"}`),
		"/system/dict/:id":                  made("/system/dict", `{"code":"unused","name":"Unused"}`),
		"/system/audit/:seq/undo": func() string {
			in.OK("PUT", "/admin/list/2/status", `{"status":0}`, "owner")
			return fmt.Sprintf("/system/audit/%d/undo", in.NewestEntry())
		},
	}
	path, list := rt.Path, rt.Method == "DELETE" && rt.Input.Has("query", "ids")
	if list {
		path += "/:id"
	}
	if strings.HasSuffix(path, "/passkey/:id") && rt.Method == "DELETE" {
		newCredential(in, strings.HasPrefix(path, "/api"), false)
	}
	removes := rt.Method == "DELETE" || strings.HasSuffix(path, "/undo") || path == "/file/trash/:id"
	if get := named[path]; get != nil && removes {
		url = get()
	} else if good, ok := goodBodies()["PUT "+path]; ok && removes {
		url = good.url
	} else {
		return goodRequest(rt)
	}
	if i := strings.LastIndexByte(url, '/'); list {
		url = url[:i] + "?ids=" + url[i+1:]
	}
	return url, goodBodies()[rt.Name()].body
}

// onDevice opens a session with a device, and returns the path of the device.
func onDevice(in *servertest.Instance) string {
	in.T.Helper()
	in.SignIn(1)
	ids := in.SessionsOf(1)
	in.Update(func(tx *store.Tx) error {
		_, err := store.Sessions.Update(tx, ids[len(ids)-1], func(s *store.Session) error { s.DeviceID = 1; return nil })
		return err
	})
	return "/admin/account/device/1"
}

// appSession opens a session of an app user, and returns its ID.
func appSession(in *servertest.Instance) (id string) {
	in.T.Helper()
	in.AppSignIn(1)
	in.View(func(tx *store.Tx) error {
		for session, err := range store.Sessions.All(tx) {
			if err != nil {
				return err
			}
			if session.AppUserID == 1 {
				id = fmt.Sprint(session.ID)
			}
		}
		return nil
	})
	return id
}

// TestNodes_WhatIsTakenAwayIsConfirmed goes over all operations: each that takes something away is answered only
// when no other node acts on the old state, and no other one waits for that.
func TestNodes_WhatIsTakenAwayIsConfirmed(t *testing.T) {
	t.Parallel()
	left := maps.Clone(preparedRequests)
	for name := range notSent {
		left[name] = nil
	}
	for _, rt := range server.Routes() {
		prepare := preparedRequests[rt.Name()]
		delete(left, rt.Name())
		if _, skip := notSent[rt.Name()]; skip || rt.Method == "GET" { // those are below
			continue
		}
		t.Run(rt.Name(), func(t *testing.T) {
			s := servertest.NodesOf(withGoodBodies(t), 1)
			in := s.All[0]
			if prepare == nil {
				prepare = func(in *servertest.Instance) send {
					url, body := strictRequest(in, &rt)
					return call(in, rt.Method, url, withCode(in, &rt, body), holder(&rt))
				}
			}
			send, confirmed := prepare(in), atomic.Int64{}
			s.Log.Confirmed = func(uint64) { confirmed.Add(1) }
			if a := send(); a.Code != 200 && a.Code != 303 && a.Code != 204 || strings.Contains(a.Body, `role="alert"`) {
				t.Fatalf("%s: %d %s", a.Sent, a.Code, a.Body)
			}
			if got, want := confirmed.Load() > 0, !takesNothing.MatchString(rt.Name()); got != want {
				t.Errorf("confirmed is %t, want %t: see store/rights.go and takesNothing", got, want)
			}
		})
	}
	for name := range left {
		t.Errorf("there is no operation %s: see preparedRequests and notSent", name)
	}
}

// TestNodes_GetTakesNothing sends a GET of every route: none waits for other nodes.
func TestNodes_GetTakesNothing(t *testing.T) {
	t.Parallel()
	s := servertest.NodesOf(withGoodBodies(t), 1)
	in, confirmed := s.All[0], atomic.Int64{}
	s.Clusters[0].Told = web.NodesState{Nodes: []web.NodeState{}, Etcd: []web.EtcdMember{}}
	s.Log.Confirmed = func(uint64) { confirmed.Add(1) }
	for _, rt := range server.Routes() {
		if rt.Method != "GET" {
			continue
		}
		before := confirmed.Load()
		a := in.Call("GET", servertest.URLOf(&rt), "", holder(&rt))
		if confirmed.Load() != before {
			t.Errorf("%s: %d: it has taken something away", rt.Name(), a.Code)
		}
	}
}
