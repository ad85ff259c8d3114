package server_test

import (
	"cmp"
	"fmt"
	"image"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/server"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// A request is authorized when its header has arrived, and executed when its body has.
// Permissions revoked in between must not be used.

// caller is the sender of a test's request, with a role that has every permission.
type caller struct {
	account store.Account
	role    store.ID // 0 in the app realm
	session store.ID // 0 for an API key
	key     store.ID // 0 for a session
}

// revocations are the ways to revoke what a request needs, by name.
var revocations = map[string]struct {
	run       func(tx *store.Tx, c caller, permission store.ID) error
	adminOnly bool // app users have no roles
	notFor    servertest.Credential
}{
	"sign-out": {run: func(tx *store.Tx, c caller, _ store.ID) error {
		if c.key != 0 {
			return store.APIKeys.Delete(tx, c.key)
		}
		return store.Sessions.Delete(tx, c.session)
	}},
	"ending all sessions": {run: func(tx *store.Tx, c caller, _ store.ID) error {
		if c.key != 0 {
			_, err := store.APIKeys.Update(tx, c.key, func(k *store.APIKey) error {
				k.Status = false
				return nil
			})
			return err
		}
		return store.EndSessions(tx, c.account, 0)
	}},
	"password reset": {notFor: servertest.ServiceKey,
		run: func(tx *store.Tx, c caller, _ store.ID) error {
			h, err := store.HashOf(tx, c.account)
			if err != nil {
				return err
			}
			return store.SetHash(tx, c.account, h.Hash, true, 0)
		}},
	"disabling the user": {run: func(tx *store.Tx, c caller, _ store.ID) error { // without ending the session
		if c.account.App {
			_, err := store.AppUsers.Update(tx, c.account.ID, func(u *store.AppUser) error {
				u.Status = false
				return nil
			})
			return err
		}
		_, err := store.Users.Update(tx, c.account.ID, func(u *store.User) error {
			u.Status = false
			return nil
		})
		return err
	}},
	"deleting the user": {run: func(tx *store.Tx, c caller, _ store.ID) error {
		if c.account.App {
			return store.AppUsers.Delete(tx, c.account.ID)
		}
		return store.Users.Delete(tx, c.account.ID)
	}},
	"removing the permission from the role": {adminOnly: true,
		run: func(tx *store.Tx, c caller, permission store.ID) error {
			_, err := store.Roles.Update(tx, c.role, func(r *store.Role) error {
				r.RuleIDs = slices.DeleteFunc(r.RuleIDs, func(id store.ID) bool {
					return id == permission
				})
				return nil
			})
			return err
		}},
	"removing the role from the user": {adminOnly: true,
		run: func(tx *store.Tx, c caller, _ store.ID) error {
			_, err := store.Users.Update(tx, c.account.ID, func(u *store.User) error {
				u.RoleIDs = nil
				return nil
			})
			return err
		}},
	"disabling the role": {adminOnly: true, run: func(tx *store.Tx, c caller, _ store.ID) error {
		_, err := store.Roles.Update(tx, c.role, func(r *store.Role) error {
			r.Status = false
			return nil
		})
		return err
	}},
}

// slowCaller creates a new caller for a route and signs them in as "slow", with one kind of
// credential unless the route refuses it.
func slowCaller(in *servertest.Instance, rt *web.Route, kind servertest.Credential) caller {
	in.T.Helper()
	var c caller
	if in.Credential = kind; kind.Refuses(rt) || rt.KeyAccess != "" {
		in.Credential = servertest.BySessionToken
	}

	defer func() { in.Credential = servertest.BySessionToken }()
	name := fmt.Sprintf("slow%d", in.Last.Add(1))
	if rt.Access == web.AppOnly {
		c.account = store.Account{App: true, ID: in.AppUser(name).ID}
	} else {
		u := in.Clerk(name, slices.Sorted(maps.Keys(server.Keys()))...)
		c.account, c.role = store.Account{ID: u.ID}, u.RoleIDs[0]
	}

	in.Tokens["slow"] = in.Tokens[name]
	in.View(func(tx *store.Tx) error {
		if in.Credential.IsKey() && !c.account.App {
			ids, err := store.KeyByUser.IDs(tx, c.account.ID)
			c.key = ids[0]
			return err
		}
		ids, err := store.SessionsOf(tx, c.account)
		c.session = ids[0]
		return err
	})
	return c
}

// permissionOf returns the permission that a route requires, 0 for none.
func permissionOf(in *servertest.Instance, rt *web.Route) store.ID {
	if rt.Open() {
		return 0
	}
	return in.Permission(rt.Access)
}

// revocable are the routes that change data for a signed-in caller.
func revocable() []web.Route {
	return slices.DeleteFunc(server.Routes(), func(rt web.Route) bool {
		return rt.Method == "GET" || rt.Access == web.Public
	})
}

// slowBody is a body that blocks until the test releases it.
type slowBody struct {
	io.Reader
	asked, send chan struct{}
	once        sync.Once
}

func newSlowBody(text string) *slowBody {
	return &slowBody{
		Reader: strings.NewReader(text),
		asked:  make(chan struct{}),
		send:   make(chan struct{}),
	}
}

func (b *slowBody) Read(p []byte) (int, error) {
	b.once.Do(func() { close(b.asked) })
	<-b.send
	return b.Reader.Read(p)
}

// goodPageForms are forms of pages that are accepted.
var goodPageForms = map[string]string{
	"POST /app/account/profile":  "nickname=Ann",
	"POST /app/account/password": "old_password=" + url.QueryEscape(servertest.OwnerPassword) + "&new_password=long+enough+it+is&password_again=long+enough+it+is",
	"POST /app/account/sessions": "id=1",
	"POST /app/account/delete":   "password=" + url.QueryEscape(servertest.OwnerPassword),
	"POST /app/sign-out":         "confirm=1",
}

// changing builds a request that a route accepts.
func changing(in *servertest.Instance, rt *web.Route, wrap func(string) io.Reader) *http.Request {
	url, body, media := servertest.URLOf(rt), "{}", "application/json"
	if good, ok := goodBodies()[rt.Name()]; ok {
		url, body = good.url, good.body
	} else if rt.Input.Has("query", "ids") {
		url += "?ids=999999"
	}
	if rt.Input.Upload {
		body, media = servertest.MultipartBody(servertest.FilePart("people.csv",
			"username\nfresh\n")), "multipart/form-data; boundary=edge"
		if strings.HasSuffix(rt.Path, "avatar") {
			body = servertest.MultipartBody(servertest.FilePart("a.png",
				string(picturetest.PNG(in.T, image.NewNRGBA(image.Rect(0, 0, 4, 4))))))
		}
	}
	if rt.Protocol != nil && rt.Protocol.Form {
		body, media = cmp.Or(goodPageForms[rt.Name()], "token=x"), "application/x-www-form-urlencoded"
	}

	r := httptest.NewRequest(rt.Method, url, wrap(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", media)
	servertest.Authorize(r, in.Tokens["slow"])
	return r
}

func refusedAsRevoked(a *servertest.Reply) bool {
	return a.Code == http.StatusUnauthorized || a.Code == http.StatusForbidden
}

// eachRevocation runs a test for combinations of routes and revocations; the smaller
// sizes test only some revocations per route, different ones for each route.
func eachRevocation(t *testing.T,
	test func(in *servertest.Instance, rt *web.Route, revoke func(*store.Tx) error)) {
	in := withGoodBodies(t)
	ways := slices.Sorted(maps.Keys(revocations))
	for i, rt := range revocable() {
		for j := range servertest.Size(1, 3, len(ways)) {
			name := ways[(i+j)%len(ways)]
			way := revocations[name]
			kind := credentials[(i+j)%len(credentials)]
			if way.adminOnly && rt.Open() || way.notFor == kind {
				continue
			}
			c, permission := slowCaller(in, &rt, kind), permissionOf(in, &rt)
			t.Run(rt.Name()+" after "+name, func(t *testing.T) {
				test(in.In(t), &rt, func(tx *store.Tx) error { return way.run(tx, c, permission) })
			})
		}
	}
}

func TestRevocation_RejectsSlowRequest(t *testing.T) {
	t.Parallel()
	eachRevocation(t, func(in *servertest.Instance, rt *web.Route, revoke func(*store.Tx) error) {
		var body *slowBody
		r := changing(in, rt, func(text string) io.Reader { body = newSlowBody(text); return body })
		answered := make(chan *servertest.Reply)
		go func() { answered <- in.Send(r) }()
		<-body.asked // the caller has been authorized
		in.Update(revoke)
		before := in.DB.Stats().Commits
		close(body.send)
		if a := <-answered; !refusedAsRevoked(a) {
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
		if commits := in.DB.Stats().Commits - before; commits != 0 {
			in.T.Errorf("%d commits were made", commits)
		}
	})
}

// TestRevocation_RejectsWriteInSameCommit: a write that is queued behind a
// revocation sees it, in the same commit too.
func TestRevocation_RejectsWriteInSameCommit(t *testing.T) {
	t.Parallel()
	eachRevocation(t, func(in *servertest.Instance, rt *web.Route, revoke func(*store.Tx) error) {
		release, held := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			in.Update(func(*store.Tx) error { close(held); <-release; return nil })
		})
		<-held
		wg.Go(func() { in.Update(revoke) })
		waitQueued(in, 1, nil)
		answered := make(chan *servertest.Reply, 1)
		wg.Go(func() {
			answered <- in.Send(changing(in, rt, func(text string) io.Reader {
				return strings.NewReader(text)
			}))
		})
		waits := waitQueued(in, 2, answered)
		close(release)
		wg.Wait()
		if a := <-answered; waits && !refusedAsRevoked(a) { // other requests change nothing in the database, like a trace
			in.T.Errorf("%d %s", a.Code, a.Body)
		}
	})
}

// waitQueued waits until that many write functions wait for the writer. It reports
// false if the request is answered before.
func waitQueued(in *servertest.Instance, n int, answered chan *servertest.Reply) bool {
	for in.DB.Stats().Queued < n {
		if len(answered) > 0 {
			return false
		}
		time.Sleep(100 * time.Microsecond)
	}
	return true
}
