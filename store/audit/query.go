package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"
)

// Query selects entries; the zero value selects all. Conditions are combined with and.
type Query struct {
	Actor      string // Actor.Key; "" for any actor
	Collection string // with ID: a record that was changed; "" for any
	ID         uint64
	From, To   int64 // Unix microseconds, inclusive; 0 for no limit
}

// Limits of one read transaction. Everything is copied out, so that a slow consumer does not hold
// a transaction open.
const (
	firstPage = 16
	maxPage   = 512 // number of entries that are looked at
	pageBytes = 1 << 20
)

// Newest yields the entries that meet q and have a number below before (0 for all), newest first.
// It reads the segments that existed when it began, and not those that were dropped since. yield
// may be slow and may keep the rows. Damage does not end it: it skips what cannot be read and
// returns an error about the first damage in each segment at the end.
func (l *Log) Newest(q Query, before uint64, yield func(Row) bool) error {
	list, err := l.list()
	if err != nil {
		return err
	}
	if before == 0 {
		before = math.MaxUint64
	}
	limit, faults := firstPage, []error(nil)
	for _, s := range slices.Backward(list) {
		if s.first >= before || !s.within(q) {
			continue
		}
		p := &page{query: q, meta: s.meta, low: s.first, high: min(before-1, s.meta.Last)}
		more, fault := p.each(l, s, &limit, yield)
		if fault != nil {
			faults = append(faults, fault)
		}
		if !more {
			break
		}
		before = s.first
	}
	return errors.Join(faults...)
}

// within reports whether a segment may have entries of the times of a query.
func (s *segment) within(q Query) bool {
	return s.fault != nil || (q.From == 0 || s.meta.To >= q.From) && (q.To == 0 || s.meta.From <= q.To)
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

// page is what one transaction reads of a segment: entries with the numbers low to high.
type page struct {
	query     Query
	meta      meta
	low, high uint64
	ascending bool
	rows      []Row
	more      bool  // whether there may be more
	fault     error // the first damage
}

// each yields the entries of a segment page by page; limit grows with every page. more is false
// if yield returned false.
func (p *page) each(l *Log, s *segment, limit *int, yield func(Row) bool) (more bool, fault error) {
	for p.more = true; p.more; {
		p.more, p.rows = false, p.rows[:0]
		err := l.view(s, func(btx *bbolt.Tx) error {
			if p.query.indexed() {
				if err := s.indexing; err != nil {
					return err
				}
			}
			return p.fill(btx, *limit)
		})
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

func (q Query) indexed() bool { return q != Query{} }

// fill reads at most limit entries and narrows low and high to what is left.
func (p *page) fill(btx *bbolt.Tx, limit int) error {
	size := 0
	for seq := range p.candidates(btx) {
		if limit == 0 || size > pageBytes {
			p.more = true
			return nil
		}
		limit--
		if p.ascending {
			p.low = seq + 1
		} else {
			p.high = seq - 1
		}
		row, err := entryAt(btx, seq)
		matches := err == nil
		if matches && p.query.indexed() {
			matches, err = p.query.matches(row)
		}
		if err != nil && p.fault == nil {
			p.fault = err
		}
		if matches {
			p.rows = append(p.rows, row)
			size += len(row.Text)
		}
	}
	return nil
}

// matches reports whether an entry meets all conditions.
func (q Query) matches(row Row) (bool, error) {
	var s subject
	if err := json.Unmarshal(row.Text, &s); err != nil {
		return false, fmt.Errorf("entry %d: %w", row.Seq, err)
	}
	at, err := s.micros()
	if err != nil || q.From != 0 && at < q.From || q.To != 0 && at > q.To || q.Actor != "" && s.Actor.Key() != q.Actor {
		return false, err
	}
	if q.Collection == "" {
		return true, nil
	}
	for _, c := range s.Changes {
		if c.Collection == q.Collection && c.ID == q.ID {
			return true, nil
		}
	}
	return false, nil
}
