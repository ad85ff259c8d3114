package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reeve/store/errs"
)

// TestBeats_Serving: a node serves while an answer counts that it asked for less than a second ago, that had its key,
// and whose last entry it has applied.
func TestBeats_Serving(t *testing.T) {
	const ms, applied = time.Millisecond, 10
	ahead := func(age time.Duration) beat { return beat{-age, applied + 1, true} }
	level := func(age time.Duration) beat { return beat{-age, applied, true} }
	keyless := func(age time.Duration) beat { return beat{-age, applied, false} }
	for name, c := range map[string]struct {
		answers []beat // in the order in which they come
		want    string // code of the error; "" if it serves
	}{
		"no answer yet":                                  {nil, "node_alone"},
		"asked just now":                                 {[]beat{level(0)}, ""},
		"asked almost a second ago":                      {[]beat{level(999 * ms)}, ""},
		"asked a second ago":                             {[]beat{level(time.Second)}, "node_alone"},
		"the machine was suspended":                      {[]beat{level(9000 * ms), level(8750 * ms), level(8500 * ms)}, "node_alone"},
		"an answer that took long":                       {[]beat{level(1500 * ms)}, "node_alone"},
		"an entry is missing":                            {[]beat{ahead(100 * ms)}, "node_behind"},
		"an entry is missing, and the answer is old":     {[]beat{ahead(1100 * ms)}, "node_alone"},
		"more applied than there was":                    {[]beat{{-100 * ms, applied - 5, true}}, ""},
		"an entry is missing that was not there before":  {[]beat{level(600 * ms), ahead(100 * ms)}, ""},
		"an entry is missing for a second":               {[]beat{level(1000 * ms), ahead(750 * ms), ahead(500 * ms)}, "node_behind"},
		"without its key":                                {[]beat{keyless(100 * ms)}, "node_alone"},
		"without its key since a moment ago":             {[]beat{level(300 * ms), keyless(50 * ms)}, "node_alone"},
		"with its key again":                             {[]beat{keyless(300 * ms), level(50 * ms)}, ""},
		"with its key again, but an entry is missing":    {[]beat{level(500 * ms), keyless(300 * ms), ahead(50 * ms)}, "node_alone"},
		"a late answer without its key":                  {[]beat{level(50 * ms), keyless(300 * ms)}, ""},
		"a late answer with its key":                     {[]beat{keyless(50 * ms), level(300 * ms)}, "node_alone"},
		"a late answer of when nothing was missing":      {[]beat{ahead(50 * ms), level(300 * ms)}, ""},
		"a late answer of when nothing was missing, old": {[]beat{ahead(50 * ms), level(1000 * ms)}, "node_behind"},
	} {
		var b beats
		for _, one := range c.answers {
			b.add(one)
		}
		got := ""
		if err := b.serving(0, applied); err != nil {
			got = errs.Of(err).Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestBeats_Kept: whatever the order of the answers, those to the newest questions are kept, newest first.
func TestBeats_Kept(t *testing.T) {
	for range 100 {
		var b beats
		n := rand.IntN(3 * beatsKept)
		for _, i := range rand.Perm(n) {
			b.add(beat{asked: time.Duration(i)})
		}
		want := []beat{}
		for i := n - 1; i >= max(0, n-beatsKept); i-- {
			want = append(want, beat{asked: time.Duration(i)})
		}
		if !slices.Equal(b.all, want) {
			t.Fatalf("of %d: %v", n, b.all)
		}
	}
}

// TestBeats_KeptAreEnough: while questions are asked as often as they are, none is forgotten whose answer counts.
func TestBeats_KeptAreEnough(t *testing.T) {
	if beatsKept*beatEvery < beatValid {
		t.Errorf("%d answers are kept, of %v", beatsKept, beatsKept*beatEvery)
	}
}
