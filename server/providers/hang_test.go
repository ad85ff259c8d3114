package providers_test

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/server/provider/providertest"
	"reeve/server/servertest"
)

// atOnce is how many people may wait for a provider.
const atOnce = 8

// hanging is a provider that no longer answers, and the browsers that wait for it.
type hanging struct {
	idp      *providertest.Provider
	browsers [atOnce + 1]*browser // the last one does not wait
	backs    [atOnce + 1]*url.URL
	step     func(i int)
}

// hangs adds a provider that hangs at a path until the test ends.
func (w *world) hangs(t testing.TB, path string) *hanging {
	t.Helper()
	h := &hanging{idp: providertest.New(t)}
	w.adds("hangs", h.idp)
	asks := 1 // discovery is asked once for all
	h.step = func(i int) { h.browsers[i].starts("hangs") }
	for i := range h.browsers {
		h.browsers[i] = w.browser()
	}
	if path == "/token" {
		asks = atOnce
		h.step = func(i int) { h.browsers[i].returns(h.backs[i]) }
		for i, b := range h.browsers {
			h.backs[i] = h.idp.Authorize(b.starts("hangs"))
		}
	}

	release, asked := make(chan struct{}), make(chan struct{}, atOnce)
	h.idp.Answer = func(_ http.ResponseWriter, at string) bool {
		if at == path {
			asked <- struct{}{}
			<-release
		}
		return false
	}
	var waiting sync.WaitGroup
	t.Cleanup(waiting.Wait) // before the provider ends
	t.Cleanup(func() { close(release) })
	for i := range atOnce {
		waiting.Go(func() { h.step(i) })
	}
	for range asks {
		<-asked
	}
	return h
}

// While a provider hangs, some people wait for it and more are refused at once. Other providers and
// passwords work.
func TestHanging_HoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.well-known/openid-configuration", "/token"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `"creates":"always"`)
			h := w.hangs(t, path)
			if path == "/token" {
				h.step(atOnce)
				if code := h.browsers[atOnce].refused(); code != "provider_busy" {
					t.Errorf("one more than may wait: %s", code)
				}
			}
			w.browser().known()
			w.withPassword()
		})
	}
}

// withPassword signs a person in with a password.
func (w *world) withPassword() {
	w.Person("by-password")
	w.OK("POST", "/admin/login", `{"username":"by-password","password":"`+servertest.OwnerPassword+`"}`, "nobody")
}

// The slowest of one hundred sign-ins where a provider hangs, compared with those on a server where none
// does.
func BenchmarkSignIn_WhileAnotherHangs(b *testing.B) {
	calm, busy := newWorld(b, `"creates":"always"`), newWorld(b, `"creates":"always"`)
	busy.hangs(b, "/token")
	b.ReportMetric(0, "ns/op")
	for name, signIn := range map[string]func(*world){
		"p99-password": (*world).withPassword,
		"p99-provider": func(w *world) { w.browser().known() },
	} {
		took := map[*world][]time.Duration{}
		for range 1000 {
			for _, w := range []*world{calm, busy} {
				start := time.Now()
				signIn(w)
				took[w] = append(took[w], time.Since(start))
			}
		}
		p99 := func(w *world) float64 {
			slices.Sort(took[w])
			return float64(took[w][len(took[w])*99/100])
		}
		b.ReportMetric(p99(busy)/p99(calm), name)
	}
}
