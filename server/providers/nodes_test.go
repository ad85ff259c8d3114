package providers_test

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestSignIn_AtSeveralNodes goes to the provider and back with each request at another node. What the
// browser brings back can be used once, by whichever node.
func TestSignIn_AtSeveralNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.nodes = servertest.NodesOf(w.Instance, 3, withProviders(t))
	w.Instance = w.nodes.All[0] // builds the requests
	for round := range 4 {      // so that each step is at each node
		b := w.browser()
		a := b.comes()
		a.Brief(200, `"token":"rv_`)
		w.sent += round
	}

	b := w.browser()
	b.arrives()
	kept := maps.Clone(b.cookies)
	n := w.nodes.AtOnce(func(in *servertest.Instance) bool {
		one := &world{Instance: in, idp: w.idp}
		return (&browser{one, maps.Clone(kept)}).signsIn().Code == 200
	})
	if n != 1 {
		t.Errorf("one arrival has opened %d sessions", n)
	}
	again := &browser{w, kept}
	if code := again.refused(); code != "provider_expired" {
		t.Errorf("an arrival that was used: %s", code)
	}
}

// TestBackChannelLogout_AtSeveralNodes sends one message to all nodes.
func TestBackChannelLogout_AtSeveralNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.browser().known()
	w.nodes = servertest.NodesOf(w.Instance, 3, withProviders(t))
	token := w.idp.LogoutToken("message")
	n := w.nodes.AtOnce(func(in *servertest.Instance) bool {
		return (&world{Instance: in}).loggedOut(token) == 200
	})
	if n != 1 {
		t.Errorf("the message was accepted %d times", n)
	}
	for i, in := range w.nodes.All {
		in.Tokens["person"] = w.Tokens["person"]
		servertest.Until(t, fmt.Sprintf("the session ends at node %d", i), func() bool {
			return in.Call("GET", "/admin/info", "", "person").Code == 401
		})
	}
}

// TestStrict_AtProviders: of the operations that need a provider, only the end of sessions there is answered when no
// other node acts on the old state. The test over all operations is in package server.
func TestStrict_AtProviders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	id := w.Person("local").ID
	w.browser().known() // a new account is changed in the commit that creates it, which is confirmed
	w.nodes = servertest.NodesOf(w.Instance, 1, withProviders(t))
	w.Instance = w.nodes.All[0]
	confirmed := atomic.Int64{}
	w.nodes.Log.Confirmed = func(uint64) { confirmed.Add(1) }
	waits := func(what string, want bool, send func()) {
		t.Helper()
		before := confirmed.Load()
		send()
		if got := confirmed.Load() > before; got != want {
			t.Errorf("%s: confirmed is %t, want %t", what, got, want)
		}
	}
	b, local := w.browser(), w.browser()
	waits("GET /auth/provider/:name/callback", false, b.arrives)
	waits("POST /admin/login/provider", false, func() {
		var out struct{ Token string }
		a := b.signsIn()
		a.Brief(200)
		a.Data(&out)
		w.Tokens["person"] = out.Token
	})
	waits("POST /admin/reauth/provider/:name", false, func() { b.begins("person") })
	waits("POST /auth/provider/:name/logout", true, func() {
		if code := w.loggedOut(w.idp.LogoutToken("message")); code != 200 {
			t.Errorf("%d", code)
		}
	})
	w.Call("GET", "/admin/info", "", "person").Brief(401)

	waits("POST /admin/account/provider/:name", false, func() {
		w.browser().sendAs("POST", "/admin/account/provider/idp", "", "local").Brief(200)
	})
	w.idp.Claims["sub"], w.idp.Claims["email"] = "subject-2", "ann2@example.org"
	w.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: id}, "ann2@example.org", true)
	})
	local.arrives()
	if code := local.refused(); code != "provider_link" {
		t.Errorf("the address of another: %s", code)
	}
	waits("POST /admin/account/provider", false, func() { local.sendAs("POST", "/admin/account/provider", "", "local").Brief(200) })
}
