package providers_test

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/provider/providertest"
	"reeve/server/servertest"
)

// hang lets people come from the provider "idp", which does not answer when it is asked who they are. It
// returns once some wait. release ends that.
func (w *world) hang(people int) (waiting *atomic.Int64, release func()) {
	w.T.Helper()
	waiting = &atomic.Int64{}
	over := make(chan struct{})
	w.idp.Answer = func(_ http.ResponseWriter, path string) bool {
		if path != "/token" {
			return false
		}
		waiting.Add(1)
		<-over
		waiting.Add(-1)
		return true
	}
	var all sync.WaitGroup
	for range people {
		b := w.browser()
		back := w.idp.Authorize(b.starts("idp"))
		all.Go(func() { b.send("GET", back.Path+"?"+back.RawQuery, "") })
	}
	for waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	return waiting, func() { close(over); all.Wait() }
}

// While a provider hangs, people sign in with a password and with another provider.
func TestSignIn_WhileAProviderHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := providertest.New(t)
	w.adds("other", other, `"creates":"always"`)
	waiting, release := w.hang(20)
	defer release()
	for range 20 {
		w.Login("admin", servertest.OwnerPassword).Brief(200)
		b := w.browser()
		b.returns(other.Authorize(b.starts("other")))
		if a := b.signsIn(); a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	if waiting.Load() == 0 {
		t.Error("these sign-ins waited until those at the provider had ended")
	}
}

// BenchmarkSignIn_WhileAProviderHangs compares sign-ins with a password, in turns.
func BenchmarkSignIn_WhileAProviderHangs(b *testing.B) {
	w := newWorld(b)
	var took [2][]time.Duration
	for range b.N {
		for hangs := range took {
			release := func() {}
			if hangs == 1 {
				_, release = w.hang(20)
			}
			for range 200 {
				begun := time.Now()
				w.Login("admin", servertest.OwnerPassword).Brief(200)
				took[hangs] = append(took[hangs], time.Since(begun))
			}
			release()
		}
	}
	at := func(list []time.Duration, share float64) float64 {
		slices.Sort(list)
		return float64(list[int(share*float64(len(list)-1))])
	}
	b.ReportMetric(at(took[1], .5)/at(took[0], .5), "median-ratio")
	b.ReportMetric(at(took[1], .99)/at(took[0], .99), "p99-ratio")
}
