package monitor

import (
	"testing"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

func TestSampling_Burst(t *testing.T) {
	for name, tc := range map[string]struct {
		before, now int // requests in the previous second and in this one
		most        int // maximum number that are kept
	}{
		"a few are all kept":      {0, 150, 150},
		"a burst out of silence":  {0, 40_000, 1200},
		"a burst out of traffic":  {1_000, 40_000, 1000},
		"what goes on as it was":  {40_000, 40_000, keepPerSecond + 1},
		"what becomes less":       {40_000, 1_000, 3},
		"a flood out of silence":  {0, 4_000_000, 2000},
		"nothing before or after": {0, 0, 0},
	} {
		var s sampler
		for range tc.before {
			s.pick()
		}

		s.adapt()
		kept, represented := 0, int64(0)
		for range tc.now {
			if n, keep := s.pick(); keep {
				kept++
				represented += n
			}
		}

		if kept > tc.most || tc.now <= 150 && kept < tc.now {
			t.Errorf("%s: of %d %d are kept, want at most %d", name, tc.now, kept, tc.most)
		}
		if off := int64(tc.now) - represented; off > int64(tc.now)/5+800 ||
			off < -int64(tc.now)/5-800 {
			t.Errorf("%s: they represent %d of %d", name, represented, tc.now)
		}
	}
}

// TestSampling keeps every nth ordinary request and all notable ones.
func TestSampling(t *testing.T) {
	m := open(t)
	info, list := &Route{Name: "GET /info", Pattern: "/info"}, &Route{
		Name:    "GET /list",
		Pattern: "/list",
	}
	for range 7*keepPerSecond + 3 {
		m.Done(answered("GET", info, 200))
	}

	m.reads.adapt()
	if every := m.reads.every.Load(); every != 7 {
		t.Fatalf("one in %d is kept", every)
	}

	before, represented := weight(t, m, "/info")
	for range 700 {
		m.Done(answered("GET", info, 200))
	}

	kept, all := weight(t, m, "/info")
	if kept-before != 100 || all-represented != 700 {
		t.Errorf("%d of 700 are kept and represent %d", kept-before, all-represented)
	}

	for range 30 {
		m.Done(answered("GET", list, 403))
		m.Done(answered("GET", nil, 404))
		m.Done(answered("PUT", info, 200))
		slow := answered("GET", list, 200)
		slow.Took = time.Minute
		m.Done(slow)
		aborted := answered("GET", list, 200)
		aborted.Err = errs.New(errs.Internal, "disk gone")
		m.Done(aborted)
	}

	if notable, represented := weight(t, m, "/list"); notable != 90 || represented != 90 {
		t.Errorf("%d denied, slow or aborted requests are kept and represent %d", notable,
			represented)
	}
	if all, _ := weight(t, m, "/info"); all != kept+30 {
		t.Errorf("%d writes are kept", all-kept)
	}

	m.reads.adapt()
	m.reads.adapt()
	if every := m.reads.every.Load(); every != 1 {
		t.Errorf("without requests, one in %d is kept", every)
	}

	stats, err := m.Stats(time.Now().Add(-time.Hour), time.Now(), time.Minute, everybody)
	must(t, err)
	if want := int64(7*keepPerSecond + 3 + 700 + 5*30); stats.Total.Requests != want {
		t.Errorf("%d requests are counted, want %d", stats.Total.Requests, want)
	}
}

// TestSampling_Writes keeps every write; under load, only every nth with its events.
func TestSampling_Writes(t *testing.T) {
	m := open(t)
	info := &Route{Name: "PUT /info", Pattern: "/info", Access: "signed in", Open: true}
	write := func(status int) {
		f := answered("PUT", info, status)
		f.Store.Ops = []kv.Op{{Statement: "PUT user"}}
		f.Authorized = status == 200
		m.Done(f)
	}

	m.writes.every.Store(7)
	m.writes.last.Store(1 << 40)
	for range 70 {
		write(200)
	}

	write(401)
	write(403)
	whole, notable := 0, 0
	for _, e := range recorded(t, m, RequestKind) {
		switch {
		case e.Sampled != 1:
			t.Errorf("a write represents %d", e.Sampled)
		case e.Status != 200 && e.Events == 2:
			notable++
		case e.Status == 200 && e.Events == 2:
			whole++
		}
	}

	if n := len(recorded(t, m, RequestKind)); n != 72 || whole != 10 || notable != 2 {
		t.Errorf("%d writes are kept, %d of them with their events, and %d denials", n, whole,
			notable)
	}

	represented := int64(0)
	for _, e := range recorded(t, m, QueryKind) {
		represented += e.Sampled
	}

	if represented != 72 {
		t.Errorf("the operations that are kept represent %d", represented)
	}
}
