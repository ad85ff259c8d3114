package providers_test

import (
	"fmt"
	"maps"
	"testing"

	"reeve/server/servertest"
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
