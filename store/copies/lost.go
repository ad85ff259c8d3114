package copies

import (
	"context"
	"slices"
	"time"
)

// Loss is what a target has lost since this process has read it.
type Loss struct {
	Copy        time.Time // time of a copy whose manifest is gone; zero for commits
	First, Last uint64    // numbers of the commits
	Until       time.Time // time of the last one
	Damage      error     // reason for which they can't be restored; nil if they are gone
}

// gone is a copy, or commits, that the target had, and that this process has not deleted.
type gone struct {
	copy  *Copy // nil for commits
	part  part
	since time.Time
}

const (
	goneSaid  = 7 * 24 * time.Hour // how long it is said that something is gone
	cycleSlow = 48 * time.Hour     // how much earlier than others of its age a life cycle may delete an object
)

// Lost returns what was found to be missing or damaged.
func (r *Repository) Lost() (all []Loss) {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	for _, g := range r.ship.gone {
		if g.copy != nil {
			all = append(all, Loss{Copy: g.copy.Time})
		} else {
			all = append(all, Loss{First: g.part.First, Last: g.part.Last, Until: time.UnixMicro(g.part.Time).UTC()})
		}
	}
	for _, u := range r.ship.unreadable {
		all = append(all, Loss{First: u.from.Number + 1, Last: u.to.Number, Until: timeOfHead(u.to), Damage: u.err})
	}
	return all
}

// noteGone compares a scan with the ones before. Missing ones are listed again: a segment may have replaced
// its parts while they were listed.
func (r *Repository) noteGone(ctx context.Context, s *Scan) error {
	if !s.Other.IsZero() { // that server may have deleted it
		r.ship.mu.Lock()
		defer r.ship.mu.Unlock()
		r.ship.gone = nil
		return nil
	}
	there := map[string]bool{}
	for _, c := range s.Copies {
		there[c.Name] = true
	}
	for name, c := range r.known {
		if there[name] {
			continue
		}
		delete(r.known, name)
		if c.Fault == nil && !r.expires(s, c.Time) {
			r.ship.mu.Lock()
			r.ship.gone = append(r.ship.gone, gone{copy: c, since: time.Now()})
			r.ship.mu.Unlock()
		}
	}

	parts := s.parts
	missing := r.missing(s, parts)
	if len(missing) > 0 {
		again, err := r.listParts(ctx)
		if err != nil {
			return err
		}
		parts = slices.Concat(parts, again)
		missing = r.missing(s, parts)
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	covered := merge(slices.Concat(parts, r.ship.added))
	var all []gone
	for _, g := range r.ship.gone {
		switch {
		case time.Since(g.since) > goneSaid:
		case g.copy != nil && !there[g.copy.Name]:
			all = append(all, g)
		case g.copy == nil:
			for _, p := range without(g.part, covered) {
				all = append(all, gone{part: p, since: g.since})
			}
		}
	}
	for _, p := range missing {
		all = append(all, gone{part: p, since: time.Now()})
	}
	r.ship.gone, r.ship.had = all, hourly(parts)
	return nil
}

// missing returns the commits that the target had and that are not in parts.
func (r *Repository) missing(s *Scan, parts []part) (out []part) {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	parts = merge(slices.Concat(parts, r.ship.added))
	for _, had := range r.ship.had {
		for _, p := range without(had, parts) {
			if !r.expires(s, time.UnixMicro(p.Time)) {
				out = append(out, p)
			}
		}
	}
	return out
}

// expires reports whether the target may have deleted by itself what was stored at a time.
func (r *Repository) expires(s *Scan, at time.Time) bool {
	return r.options.NoDelete && (len(s.Copies) == 0 || at.Before(s.Copies[len(s.Copies)-1].Time.Add(cycleSlow)))
}

// hourly is merge with a part for each hour, so that the time of each is known.
func hourly(parts []part) (out []part) {
	sortParts(parts)
	for begin := 0; begin < len(parts); {
		end := begin + 1
		for end < len(parts) && parts[end].Epoch == parts[begin].Epoch && parts[end].Time-parts[begin].Time < time.Hour.Microseconds() {
			end++
		}
		out = append(out, merge(parts[begin:end:end])...)
		begin = end
	}
	return out
}

// without returns the commits of a part that others, which are merged, do not have.
func without(p part, others []part) (out []part) {
	for _, o := range others {
		if o.Epoch != p.Epoch || o.Last < p.First || o.First > p.Last {
			continue
		}
		if o.First > p.First {
			before := p
			before.Last = o.First - 1
			out = append(out, before)
		}
		if o.Last >= p.Last {
			return out
		}
		p.First = o.Last + 1
	}
	return append(out, p)
}
