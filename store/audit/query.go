package audit

import (
	"errors"
	"math"

	"go.etcd.io/bbolt"
)

// Query selects entries; the zero value selects all.
type Query struct {
	// All are lists of terms: an entry must have at least one term of each list. See ByActor.
	All      [][]string
	From, To int64 // Unix microseconds, inclusive; 0 for no limit
}

// Limits of one read transaction. Everything is copied out, so that a slow consumer does not hold
// a transaction open.
const (
	firstPage = 16
	maxPage   = 512 // number of entries
	pageBytes = 1 << 20
)

// Newest yields the entries that meet q and have a number below before (0 for all), newest first.
// It reads the segments that existed when it began, and not those that were dropped since. yield
// may be slow and may keep the rows. Damage does not end it: it skips what cannot be read and
// returns an error about the first damage in each segment at the end.
func (l *Log) Newest(q Query, before uint64, yield func(Row) bool) error {
	limit, faults := firstPage, []error(nil)
	err := l.backward(q, before, func(s *segment, high uint64) bool {
		p := &page{query: q, meta: s.meta, low: s.first, high: high}
		more, fault := p.each(l, s, &limit, yield)
		if fault != nil {
			faults = append(faults, fault)
		}
		return more
	})
	if err != nil {
		return err
	}
	return errors.Join(faults...)
}

// Count returns the number of the entries that meet q and have a number below before (0 for all).
// It reads no entry. Like Newest, it skips what cannot be read and returns an error about it.
func (l *Log) Count(q Query, before uint64) (n int, err error) {
	faults := []error(nil)
	err = l.backward(q, before, func(s *segment, high uint64) bool {
		if s.fault == nil && !q.selects() {
			n += int(high - s.first + 1)
			return true
		}
		fault := l.viewIndexes(s, func(btx *bbolt.Tx) error {
			found, err := q.matching(btx, s.meta)
			n += found.countBelow(high - s.first + 1)
			return err
		})
		if fault != nil && !errors.Is(fault, errGone) {
			faults = append(faults, fault)
		}
		return true
	})
	if err != nil {
		return 0, err
	}

	return n, errors.Join(faults...)
}

// backward calls visit for the segments that may have entries for a query, the newest first, and
// the highest number that counts in each, until it returns false. An entry that is in two segments
// counts in the newer one.
func (l *Log) backward(q Query, before uint64, visit func(s *segment, high uint64) bool) error {
	list, err := l.list()
	if err != nil {
		return err
	}
	if before == 0 {
		before = math.MaxUint64
	}

	for i := len(list) - 1; i >= 0; i-- {
		s := list[i]
		if s.first >= before {
			continue
		}
		if s.within(q) && !visit(s, min(before-1, s.meta.Last)) {
			return nil
		}
		before = s.first
	}

	return nil
}

// viewIndexes is view for a function that relies on the indexes.
func (l *Log) viewIndexes(s *segment, fn func(btx *bbolt.Tx) error) error {
	return l.view(s, func(btx *bbolt.Tx) error {
		if s.indexing != nil {
			return s.indexing
		}
		return fn(btx)
	})
}

// within reports whether a segment may have entries of the times of a query.
func (s *segment) within(q Query) bool {
	return s.fault != nil ||
		(q.From == 0 || s.meta.To >= q.From) && (q.To == 0 || s.meta.From <= q.To)
}

// Oldest yields the entries with the number from and above, oldest first, in the same way as
// Newest.
func (l *Log) Oldest(from uint64, yield func(Row) bool) error {
	list, err := l.list()
	if err != nil {
		return err
	}

	limit, faults := firstPage, []error(nil)
	for _, s := range list {
		if s.fault == nil && s.meta.Last < from {
			continue
		}
		p := &page{meta: s.meta, low: max(from, s.first), high: s.meta.Last, ascending: true}
		more, fault := p.each(l, s, &limit, yield)
		if fault != nil {
			faults = append(faults, fault)
		}
		if !more {
			break
		}
		from = max(from, s.meta.Last+1)
	}

	return errors.Join(faults...)
}

// page is the part of a segment that one transaction reads: entries with the numbers low to high.
type page struct {
	query     Query
	meta      meta
	low, high uint64
	ascending bool
	found     positions // hits of a query that selects; nil before the first transaction
	rows      []Row
	more      bool  // whether there may be more
	fault     error // the first damage
}

// each yields the entries of a segment page by page; limit grows with every page. more is false
// if yield returned false.
func (p *page) each(l *Log, s *segment, limit *int, yield func(Row) bool) (more bool, fault error) {
	view := l.view
	if p.query.selects() {
		view = l.viewIndexes
	}

	for p.more = true; p.more; {
		p.more, p.rows = false, p.rows[:0]
		err := view(s, func(btx *bbolt.Tx) error { return p.fill(btx, *limit) })
		*limit = min(2**limit, maxPage)
		if err != nil && !errors.Is(err, errGone) && p.fault == nil {
			p.fault = err
		}
		for _, row := range p.rows {
			if !yield(row) {
				return false, named(s, p.fault)
			}
		}
	}

	return true, named(s, p.fault)
}

// named names the file in an error that is about an entry.
func named(s *segment, err error) error {
	if err == nil || errors.Is(err, errClosed) {
		return err
	}
	return damaged(s.path, err)
}

// selects reports whether the query has a condition.
func (q Query) selects() bool { return len(q.All) > 0 || q.From != 0 || q.To != 0 }

// fill reads at most limit entries and narrows low and high to the remaining ones.
func (p *page) fill(btx *bbolt.Tx, limit int) (err error) {
	if p.query.selects() && p.found == nil {
		if p.found, err = p.query.matching(btx, p.meta); err != nil || p.found == nil {
			return err
		}
	}

	size := 0
	p.numbers(func(seq uint64) bool {
		if limit == 0 || size > pageBytes {
			p.more = true
			return false
		}

		limit--
		if p.ascending {
			p.low = seq + 1
		} else {
			p.high = seq - 1
		}

		row, err := entryAt(btx, seq)
		if err == nil {
			p.rows = append(p.rows, row)
			size += len(row.Text)
		} else if p.fault == nil {
			p.fault = err
		}

		return true
	})
	return nil
}

// numbers yields the numbers from low up or from high down, of a query that selects those found.
func (p *page) numbers(yield func(uint64) bool) {
	low, high := p.low, p.high // fill changes them
	switch {
	case low > high:
	case p.found != nil:
		p.found.descending(high-p.meta.First, func(position uint64) bool {
			return yield(p.meta.First + position)
		})
	case p.ascending:
		for seq := low; seq <= high && yield(seq); seq++ {
		}
	default:
		for seq := high; seq >= low && yield(seq); seq-- {
		}
	}
}
