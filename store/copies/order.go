package copies

import (
	"slices"
	"sort"
	"time"

	"reeve/store/stream"
)

// The times of copies are those of a clock that may have been wrong. What one process has stored has an order of
// its own: its change log only grows, and an epoch that it has left since the clock was set back is not continued.

// order is what says when a copy was made.
type order struct {
	name   string
	time   time.Time
	m      *Manifest // nil if it can't be read
	future bool      // whether the time is in the future: then that of another process of the generation counts, too
}

// clocksDiffer is how far a time may be in the future because two clocks differ.
const clocksDiffer = time.Hour

// precedes reports whether a copy was made before another one of the same process, whatever the clock said.
func (o *order) precedes(other *order) bool {
	switch {
	case o.m == nil || other.m == nil || generationOf(o.name) != generationOf(other.name):
		return false
	case !o.future && processOf(startOf(o.name)) != processOf(startOf(other.name)):
		return false
	case o.m.LogHead != nil && other.m.LogHead != nil && o.m.LogHead.Seq != other.m.LogHead.Seq:
		return o.m.LogHead.Seq < other.m.LogHead.Seq
	}
	return o.m.Stream != nil && other.m.hasLeft(o.m.Stream.Epoch, o.m.Stream.Number)
}

// hasLeft reports whether what leads to a commit is earlier than the copy, because the server has left the epoch.
func (m *Manifest) hasLeft(epoch string, number uint64) bool {
	return slices.ContainsFunc(m.Left, func(h stream.Head) bool { return h.Epoch == epoch && number <= h.Number })
}

// times returns the time of each copy, but at most that of each one that it precedes.
func times(all []*order) []time.Time {
	out := make([]time.Time, len(all))
	for i, o := range all {
		out[i] = o.time
		for _, other := range all {
			if other.time.Before(out[i]) && o.precedes(other) {
				out[i] = other.time
			}
		}
	}
	return out
}

// sortCopies sorts copies, the newest first.
func sortCopies(all []*Copy) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Time.After(all[j].Time) })
	orders := make([]*order, len(all))
	for i, c := range all {
		orders[i] = &order{c.Name, c.Time, c.Manifest, time.Until(c.Time) > clocksDiffer}
	}
	sort.Stable(&sorted{times(orders), orders, func(i, j int) { all[i], all[j] = all[j], all[i] }})
}

// sortManifests sorts copies, the newest first. Two servers may have gone on with the same data, so nothing is said
// about those of two processes.
func sortManifests(all []*Manifest) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Time.After(all[j].Time) })
	orders := make([]*order, len(all))
	for i, m := range all {
		orders[i] = &order{m.Name(), m.Time, m, false}
	}
	sort.Stable(&sorted{times(orders), orders, func(i, j int) { all[i], all[j] = all[j], all[i] }})
}

// sorted sorts copies by their times, the newest first.
type sorted struct {
	times  []time.Time
	orders []*order
	swap   func(i, j int)
}

func (s *sorted) Len() int { return len(s.times) }

func (s *sorted) Less(i, j int) bool {
	if s.times[i].Equal(s.times[j]) {
		return s.orders[j].precedes(s.orders[i])
	}
	return s.times[i].After(s.times[j])
}

func (s *sorted) Swap(i, j int) {
	s.times[i], s.times[j] = s.times[j], s.times[i]
	s.orders[i], s.orders[j] = s.orders[j], s.orders[i]
	s.swap(i, j)
}
