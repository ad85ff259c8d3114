package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// termsOf are the terms of an entry, built again.
func termsOf(e Entry) map[string]bool {
	terms := map[string]bool{fmt.Sprintf("actor %s:%d", e.Actor.Kind, e.Actor.ID): true}
	if e.Operation.Method != "" {
		terms["operation "+e.Operation.Method+" "+e.Operation.Route] = true
	} else {
		terms["operation "+e.Operation.Title] = true
	}
	if e.Action != "" {
		terms["action "+e.Action] = true
	}
	for _, c := range e.Changes {
		terms[fmt.Sprintf("record %s:%d", c.Collection, c.ID)] = true
		terms["change "+c.Collection+":"+c.Operation] = true
	}
	return terms
}

// naive is Newest over all rows.
func (c *chain) naive(q Query, before uint64) (found []Row) {
	for i, row := range slices.Backward(c.rows) {
		at, terms := c.times[i], termsOf(c.entries[i])
		matches := (before == 0 || row.Seq < before) && (q.From == 0 || at >= q.From) &&
			(q.To == 0 || at <= q.To)
		for _, list := range q.All {
			matches = matches && slices.ContainsFunc(list, func(t string) bool { return terms[t] })
		}
		if matches {
			found = append(found, row)
		}
	}
	return found
}

// randomTerm is a term that entries have, or almost one.
func randomTerm(r *rand.Rand) string {
	collection, operation := testCollections[r.IntN(4)], testOperations[r.IntN(2)]
	switch r.IntN(8) {
	case 0, 1:
		return ByActor(testKinds[r.IntN(4)], r.Uint64N(4))
	case 2, 3:
		return ByRecord(collection, r.Uint64N(5))
	case 4:
		return ByChange(collection, operation)
	case 5:
		return ByOperation([]string{"", "xx", "PUT /admin/x", "xxxxx"}[r.IntN(4)])
	case 6:
		return ByAction(Denied)
	}
	return []string{"", "actor", "actor user", separator,
		ByAction(Denied) + separator + ByActor("user", 1)}[r.IntN(5)]
}

func randomQuery(r *rand.Rand, c *chain, begin time.Time) (q Query) {
	moment := func() int64 {
		return begin.Add(time.Duration(r.Int64N(int64(max(0, c.at.Sub(begin))) + 1))).UnixMicro()
	}

	for range r.IntN(4) {
		var list []string
		for range 1 + r.IntN(4) {
			list = append(list, randomTerm(r))
		}
		q.All = append(q.All, list)
	}

	if r.IntN(30) == 0 {
		q.All = append(q.All, nil) // which no entry meets
	}
	if r.IntN(3) == 0 {
		q.From = moment()
	}
	if r.IntN(3) == 0 {
		q.To = moment()
	}
	if r.IntN(6) == 0 { // a single moment, which several entries may share
		q.To = q.From
	}

	return q
}

func TestQuery_EqualsNaiveScan(t *testing.T) {
	r, found := disktest.Random(t), 0
	for range disktest.Size(2, 10, 50) {
		for _, back := range []bool{false, true} {
			c := newChain()
			begin := c.at
			c.random(t, r, 100+r.IntN(900), back)
			dir := t.TempDir()
			write(t, openLog(t, dir), c.rows, 1+r.IntN(400)+len(c.rows)/20)
			l := openLog(t, dir)
			for range 150 {
				q, before, n := randomQuery(r, c, begin), uint64(r.IntN(len(c.rows)+2)), 1+r.IntN(30)
				if r.IntN(2) == 0 {
					n = math.MaxInt
				}
				got, err := newest(l, q, before, n)
				must(t, err)
				want := c.naive(q, before)
				found += len(want)
				what := fmt.Sprintf("%+v before %d", q, before)
				same(t, what, got, want[:min(n, len(want))])
				count, err := l.Count(q, before)
				must(t, err)
				disktest.Equal(t, "count of "+what, count, len(want))
				c.checkMatcher(t, q, c.naive(q, 0))
			}
		}
	}
	if found < 500 {
		t.Errorf("the queries found only %d entries", found)
	}
}

// checkMatcher compares the entries that a matcher accepts with those that are wanted, the newest
// first.
func (c *chain) checkMatcher(t *testing.T, q Query, want []Row) {
	t.Helper()
	var got []Row
	matches := q.Matcher()
	for i, row := range slices.Backward(c.rows) {
		if keys := c.entries[i].Keys(c.times[i]); matches(&keys) {
			got = append(got, row)
		}
	}
	same(t, fmt.Sprintf("matcher of %+v", q), got, want)
}

// TestQuery_ReadsFewEntries checks that a page of a query reads no entry that does not meet it, and
// a count none at all.
func TestQuery_ReadsFewEntries(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 500, true)
	dir := t.TempDir()
	path, err := WriteSegment(dir, values(c.rows), nil)
	must(t, err)
	q := Query{
		All:  [][]string{{ByActor("user", 1)}, {ByRecord("dict", 1), ByRecord("dict", 2)}},
		From: c.times[50],
		To:   c.times[450],
	}
	want := c.naive(q, 0)
	if len(want) == 0 {
		t.Skip("no entry meets the query") // with hardly any seed
	}

	wanted := map[uint64]bool{}
	for _, row := range want {
		wanted[row.Seq] = true
	}

	changeSegment(t, path, func(s *testSegment) {
		for _, row := range c.rows {
			if !wanted[row.Seq] {
				s.raw(entryBucket, seqKey(row.Seq), []byte("damaged"))
			}
		}
	})
	l := openLog(t, dir)
	got, err := newest(l, q, 0, math.MaxInt)
	must(t, err)
	same(t, "entries", got, want)
	must(t, l.Close())
	changeSegment(t, path, func(s *testSegment) { s.drop(entryBucket) })
	count, err := openLog(t, dir).Count(q, 0)
	must(t, err)
	disktest.Equal(t, "count", count, len(want))
}

// TestCount_WithDamage counts what is in the other segments.
func TestCount_WithDamage(t *testing.T) {
	c, dir := newChain().random(t, disktest.Random(t), 60, true), t.TempDir()
	l := openLog(t, dir)
	write(t, l, c.rows, 20)
	must(t, l.Close())
	changeSegment(t, segmentPaths(t, dir)[1], func(s *testSegment) { s.drop(termBucket) })
	q := Query{All: [][]string{{ByActor("user", 1), ByActor("system", 1)}}}
	n, err := openLog(t, dir).Count(q, 0)
	if want := len(c.naive(q, 21)) + len(c.naive(q, 0)) - len(c.naive(q, 41)); n != want ||
		err == nil {
		t.Errorf("counted %d, want %d and an error: %v", n, want, err)
	}
}

func TestPositions(t *testing.T) {
	r := disktest.Random(t)
	for range disktest.Size(300, 1000, 10_000) {
		n := 1 + r.Uint64N(300)
		p, set := newPositions(n), map[uint64]bool{}
		for range r.IntN(100) {
			at := r.Uint64N(n)
			p.add(at)
			set[at] = true
		}

		limit := r.Uint64N(n + 70)
		var got, want []uint64
		p.descending(limit, func(at uint64) bool { got = append(got, at); return true })
		for at := min(limit, n); ; at-- {
			if set[at] {
				want = append(want, at)
			}
			if at == 0 {
				break
			}
		}

		disktest.Equal(t, "descending", got, want)
		below := 0
		for at := range set {
			if at < limit {
				below++
			}
		}

		disktest.Equal(t, "count", p.countBelow(limit), below)
		disktest.Equal(t, "all", fullPositions(n).countBelow(math.MaxUint64), int(n))
	}
}

// TestIndex_LargeSegment has postings of many bytes.
func TestIndex_LargeSegment(t *testing.T) {
	c := newChain()
	for i := range 3000 {
		c.at = c.at.Add(time.Duration(i%7-3) * time.Hour)
		c.add(t, Entry{Actor: Actor{Kind: "user", ID: uint64(i % 2)}})
	}
	l := openLog(t, t.TempDir())
	write(t, l, c.rows, 3000)
	q := Query{All: [][]string{{ByActor("user", 1)}}, From: c.times[1000], To: c.times[0]}
	got, err := newest(l, q, 2500, math.MaxInt)
	must(t, err)
	same(t, "entries", got, c.naive(q, 2500))
}
