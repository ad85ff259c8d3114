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
	s.bound()
	sort.Stable(s)
}

// bound sets most of each copy to the time of the earliest one which it precedes, without a comparison of each copy
// with each other one: there may be thousands.
func (s *sorted) bound() {
	groups := map[string][]*order{}
	for _, o := range s.orders {
		if o.m != nil {
			groups[o.process] = append(groups[o.process], o)
			groups[o.generation] = append(groups[o.generation], o)
		}
	}
	for name, group := range groups {
		left := leftIn(group)
		sort.SliceStable(group, func(i, j int) bool { return group[i].entries() > group[j].entries() })
		var earliest, same time.Time // of the copies with more entries, and with as many
		for i, o := range group {
			if i > 0 && o.entries() != group[i-1].entries() {
				earliest = same
			}
			if o.m.LogHead != nil && (same.IsZero() || o.time.Before(same)) {
				same = o.time
			}
			if name != o.generation && o.future || name == o.generation && !o.future {
				continue
			}
			if o.m.LogHead != nil && !earliest.IsZero() && earliest.Before(o.most) {
				o.most = earliest
			}
			if at := left.before(o); !at.IsZero() && at.Before(o.most) {
				o.most = at
			}
		}
	}
}

// entries returns the number of entries of the change log.
func (o *order) entries() uint64 {
	if o.m.LogHead == nil {
		return 0
	}
	return o.m.LogHead.Seq
}

// leavers are copies whose server has left epochs, by the epoch and their entries of the change log.
type leavers map[leftEpoch]map[uint64]time.Time // times of the earliest ones, by the end of the epoch

type leftEpoch struct {
	epoch   string
	entries int64 // anyEntries, or noEntries without a change log
}

const (
	anyEntries = -1
	noEntries  = -2
)

func leftIn(group []*order) leavers {
	out := leavers{}
	for _, o := range group {
		entries := int64(noEntries)
		if o.m.LogHead != nil {
			entries = int64(o.m.LogHead.Seq)
		}
		for _, h := range o.m.Left {
			for _, key := range []leftEpoch{{h.Epoch, entries}, {h.Epoch, anyEntries}} {
				if out[key] == nil {
					out[key] = map[uint64]time.Time{}
				}
				if at, ok := out[key][h.Number]; !ok || o.time.Before(at) {
					out[key][h.Number] = o.time
				}
			}
		}
	}
	return out
}

// before returns the time of the earliest copy that has left what leads to another one; zero for none. If both have a
// change log, they have as many entries.
func (l leavers) before(o *order) (earliest time.Time) {
	if o.m.Stream == nil {
		return earliest
	}
	keys := []leftEpoch{{o.m.Stream.Epoch, anyEntries}}
	if o.m.LogHead != nil {
		keys = []leftEpoch{{o.m.Stream.Epoch, int64(o.m.LogHead.Seq)}, {o.m.Stream.Epoch, noEntries}}
	}
	for _, key := range keys {
		for number, at := range l[key] {
			if o.m.Stream.Number <= number && (earliest.IsZero() || at.Before(earliest)) {
				earliest = at
			}
		}
	}
	return earliest
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
