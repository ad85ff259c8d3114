package copies

import (
	"sort"
	"time"
)

// The times of copies are those of a clock that may have been wrong. What one process has stored has an order of
// its own: its change log only grows, and an epoch that it has left since the clock was set back is not continued.

// order is what says when a copy was made.
type order struct {
	name   string
	time   time.Time
	m      *Manifest // nil if it can't be read
	future bool      // whether the time is in the future: then that of another process of the generation counts, too
	most   time.Time // time by which it is sorted

	generation, process string // generation and process that have made it
}

// clocksDiffer is how far a time may be in the future because two clocks differ.
const clocksDiffer = time.Hour

// precedes reports whether a copy was made before another one of the same process, whatever the clock said.
func (o *order) precedes(other *order) bool {
	switch {
	case o.m == nil || other.m == nil || o.generation != other.generation:
		return false
	case !o.future && o.process != other.process:
		return false
	case o.m.LogHead != nil && other.m.LogHead != nil && o.m.LogHead.Seq != other.m.LogHead.Seq:
		return o.m.LogHead.Seq < other.m.LogHead.Seq
	}
	return o.m.Stream != nil && other.m.hasLeft(o.m.Stream.Epoch, o.m.Stream.Number)
}

// hasLeft reports whether what leads to a commit is earlier than the copy, because the server has left the epoch.
func (m *Manifest) hasLeft(epoch string, number uint64) bool {
	for i := range m.Left {
		if h := &m.Left[i]; h.Epoch == epoch && number <= h.Number {
			return true
		}
	}
	return false
}

// sortCopies sorts copies, the newest first.
func sortCopies(all []*Copy) {
	s := sorted{swap: func(i, j int) { all[i], all[j] = all[j], all[i] }}
	for _, c := range all {
		s.orders = append(s.orders, &order{name: c.Name, time: c.Time, m: c.Manifest, future: time.Until(c.Time) > clocksDiffer})
	}
	s.sort()
}

// sortManifests sorts copies, the newest first. Two servers may have gone on with the same data, so nothing is said
// about those of two processes.
func sortManifests(all []*Manifest) {
	s := sorted{swap: func(i, j int) { all[i], all[j] = all[j], all[i] }}
	for _, m := range all {
		s.orders = append(s.orders, &order{name: m.Name(), time: m.Time, m: m})
	}
	s.sort()
}

// sorted sorts copies by their times, the newest first. That of a copy is at most that of each one which it precedes.
type sorted struct {
	orders []*order
	swap   func(i, j int)
}

func (s *sorted) sort() {
	for _, o := range s.orders {
		o.most, o.generation, o.process = o.time, generationOf(o.name), processOf(startOf(o.name))
	}
	for _, o := range s.orders {
		for _, other := range s.orders {
			if other.time.Before(o.most) && o.precedes(other) {
				o.most = other.time
			}
		}
	}
	sort.Stable(s)
}

func (s *sorted) Len() int { return len(s.orders) }

func (s *sorted) Less(i, j int) bool {
	a, b := s.orders[i], s.orders[j]
	switch {
	case !a.most.Equal(b.most):
		return a.most.After(b.most)
	case a.precedes(b):
		return false
	}
	return b.precedes(a) || a.time.After(b.time)
}

func (s *sorted) Swap(i, j int) {
	s.orders[i], s.orders[j] = s.orders[j], s.orders[i]
	s.swap(i, j)
}
