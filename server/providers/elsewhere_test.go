package providers_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// Browsers that ask at another address than server.public_url are sent there first, once: they come
// back there. Where a request can't be sent on, the error names the address.
func TestSignIn_AtAnotherAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	get := func(host, path string) *servertest.Reply {
		r := w.Request("GET", path, "", "nobody")
		r.Host = host
		return w.Send(r)
	}
	const start = "/auth/provider/idp/start"
	const moved = "http://reeve.example.org" + start + "?address=ann%40example.org&moved=1&to=%2Fconsole%2Fhome"
	for host, moves := range map[string]bool{"127.0.0.1:8080": true, "localhost": true, "REEVE.example.org": false, "reeve.example.org:80": false} {
		a := get(host, start+"?to=/console/home&address=ann%40example.org")
		if to := a.Header.Get("Location"); a.Code != 303 || moves != (to == moved) || !moves && !strings.HasPrefix(to, w.idp.URL) {
			t.Errorf("%s: %d to %q %s", host, a.Code, to, a.Body)
		}
	}
	if to := get("127.0.0.1:8080", start+"?moved=1").Header.Get("Location"); !strings.HasPrefix(to, w.idp.URL) {
		t.Errorf("a browser behind a proxy that hides the name goes to %s", to)
	}
	b := w.browser()
	for origin, want := range map[string]string{"http://127.0.0.1:8080": "provider_elsewhere", "http://reeve.example.org": ""} {
		for _, path := range []string{fmt.Sprintf("/system/provider/%d/test", w.id), "/admin/account/provider/idp"} {
			r := w.Request("POST", path, "", "owner")
			r.Header.Set("Origin", origin)
			r.Host = strings.TrimPrefix(origin, "http://")
			if a := w.Send(r); codeOf(a) != want || want != "" && !strings.Contains(a.Body, "http://reeve.example.org") {
				t.Errorf("%s from %s: %d %s", path, origin, a.Code, a.Body)
			}
		}
	}
	if a := w.Call("POST", "/admin/reauth/provider/idp", "", "owner"); codeOf(a) != "proof_not_provider" { // who has a password
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if to := b.returns(w.idp.Authorize(b.starts("idp"))); !strings.HasPrefix(to, "/console/") {
		t.Errorf("at the public address, the browser goes on at %s", to)
	}
}
