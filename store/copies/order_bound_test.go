package copies

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/stream"
)

// BenchmarkSortCopies sorts a year of hourly copies of a server without changes.
func BenchmarkSortCopies(b *testing.B) {
	begun := time.Now().AddDate(-1, 0, 0)
	var all []*Copy
	for i := range 8760 {
		at := begun.Add(time.Duration(i) * time.Hour)
		name := fmt.Sprintf("I/G/P-%d/copies/%s", i/2000, at.UTC().Format(timeLayout))
		all = append(all, &Copy{Name: name, Time: at, Manifest: &Manifest{Time: at, LogHead: &audit.Head{Seq: 1}, Stream: &stream.Head{Epoch: "e", Number: uint64(i)}}})
	}
	for b.Loop() {
		sortCopies(all)
	}
}

// TestOrder_EachWithEach compares the bounds of copies with those that follow from each pair of them.
func TestOrder_EachWithEach(t *testing.T) {
	rng := disktest.Random(t)
	now := time.Now()
	bounded := 0
	for round := range 200 {
		s := sorted{swap: func(int, int) {}}
		for i := range 1 + rng.IntN(12) {
			o := &order{name: fmt.Sprint(i), time: now.Add(time.Duration(rng.IntN(8)) * time.Minute), future: rng.IntN(3) == 0}
			o.generation = fmt.Sprint("I/", rng.IntN(2))
			o.process = fmt.Sprint(o.generation, "/P", rng.IntN(2), "-")
			o.most = o.time
			if rng.IntN(8) > 0 {
				o.m = randomManifest(rng)
			}
			s.orders = append(s.orders, o)
		}
		var want []time.Time
		for _, o := range s.orders {
			most := o.time
			for _, other := range s.orders {
				if other.time.Before(most) && o.precedes(other) {
					most = other.time
				}
			}
			if most != o.time {
				bounded++
			}
			want = append(want, most)
		}
		s.bound()
		for i, o := range s.orders {
			if !o.most.Equal(want[i]) {
				t.Fatalf("round %d: %s is bounded by %s, not by %s", round, o.time, o.most, want[i])
			}
		}
	}
	if bounded < 50 {
		t.Errorf("%d copies were bounded", bounded)
	}
}

func randomManifest(rng *rand.Rand) *Manifest {
	m := &Manifest{}
	if rng.IntN(5) > 0 {
		m.LogHead = &audit.Head{Seq: uint64(rng.IntN(4))}
	}
	if rng.IntN(5) > 0 {
		m.Stream = &stream.Head{Epoch: fmt.Sprint(rng.IntN(2)), Number: uint64(rng.IntN(4))}
	}
	for range rng.IntN(3) {
		m.Left = append(m.Left, stream.Head{Epoch: fmt.Sprint(rng.IntN(2)), Number: uint64(rng.IntN(4))})
	}
	return m
}
