package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
)

// naive is Newest over all rows.
func (c *chain) naive(q Query, before uint64) (found []Row) {
	for i, row := range slices.Backward(c.rows) {
		e, at := c.entries[i], c.times[i]
		changed := slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Collection == q.Collection && c.ID == q.ID })
		switch {
		case before != 0 && row.Seq >= before:
		case q.Actor != "" && q.Actor != fmt.Sprintf("%s:%d", e.Actor.Kind, e.Actor.ID):
		case q.Collection != "" && !changed:
		case q.From != 0 && at < q.From || q.To != 0 && at > q.To:
		default:
			found = append(found, row)
		}
	}
	return found
}

func randomQuery(r *rand.Rand, c *chain, begin time.Time) (q Query) {
	moment := func() int64 {
		return begin.Add(time.Duration(r.Int64N(int64(max(0, c.at.Sub(begin))) + 1))).UnixMicro()
	}
	if r.IntN(2) == 0 {
		q.Actor = Actor{Kind: testKinds[r.IntN(4)], ID: r.Uint64N(4)}.Key()
	}
	if r.IntN(2) == 0 {
		q.Collection, q.ID = testCollections[r.IntN(4)], r.Uint64N(5)
	}
	if r.IntN(3) == 0 {
		q.From = moment()
	}
	if r.IntN(3) == 0 {
		q.To = moment()
	}
	if r.IntN(4) == 0 { // a single moment, which several entries may share
		q.To = q.From
	}
	return q
}

func TestQueriesMatchANaiveScan(t *testing.T) {
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
				same(t, fmt.Sprintf("%+v before %d", q, before), got, want[:min(n, len(want))])
			}
		}
	}
	if found < 500 {
		t.Errorf("the queries found only %d entries", found)
	}
}

// TestQueriesUseTheIndexes checks that a query with one condition looks at no entry in vain, and
// one with two at no more than one of the conditions selects.
func TestQueriesUseTheIndexes(t *testing.T) {
	for _, back := range []bool{false, true} {
		c := newChain()
		begin := c.at
		c.random(t, disktest.Random(t), 500, back)
		l := openLog(t, t.TempDir())
		write(t, l, c.rows, 500)
		from, to := begin.Add(100*time.Second).UnixMicro(), begin.Add(200*time.Second).UnixMicro()
		actor, record, times := Query{Actor: "user:1"}, Query{Collection: "dict", ID: 1}, Query{From: from, To: to}
		for name, test := range map[string]struct{ query, most Query }{
			"actor":            {actor, actor},
			"record":           {record, record},
			"times":            {times, times},
			"actor and record": {Query{Actor: "user:1", Collection: "dict", ID: 1}, record},
			"actor and times":  {Query{Actor: "user:1", From: from, To: to}, actor},
		} {
			p, s := &page{query: test.query, meta: l.segments[0].meta, low: 1, high: 500}, l.segments[0]
			var looked []Row
			must(t, l.view(s, func(btx *bbolt.Tx) error {
				for seq := range p.candidates(btx) {
					looked = append(looked, c.rows[seq-1])
				}
				return nil
			}))
			most := c.naive(test.most, 0)
			if len(most) == 0 || len(most) > 300 || len(looked) == 0 || len(looked) > len(most) {
				t.Errorf("%s: looked at %d entries, %d meet the condition", name, len(looked), len(most))
			}
			if test.query == test.most {
				same(t, name, looked, most)
			}
		}
	}
}
