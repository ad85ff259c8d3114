package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
)

// TestLogSearch_LargeLog builds a log of a million entries and logs how long pages of searches
// take: right after a start, and again.
func TestLogSearch_LargeLog(t *testing.T) {
	entries, r, dir := disktest.Size(40_000, 40_000, 1_000_000), disktest.Random(t), t.TempDir()
	now := clockAt(TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	options := Options{Schema: loggedOffice(), Clock: now.now}
	db := open(t, dir, options)
	for db.LogHead().Seq < uint64(entries) {
		update(t, db, func(tx *Tx) error {
			for range 500 {
				if err := tx.appendEntry(someEntry(r)); err != nil {
					return err
				}
			}
			return nil
		})
		now.Add(int64(time.Minute / time.Microsecond))
		if db.log.isLong() {
			settled(t, db)
		}
	}

	middle := int64(now.now()) - int64(entries)/500*60*1e6/2
	end := db.LogHead().Seq
	shut(t, db)
	for name, q := range map[string]audit.Query{
		"an actor":     {All: [][]string{{audit.ByActor("user", 7)}}},
		"a rare actor": {All: [][]string{{audit.ByActor("user", 700_000)}}},
		"a record":     {All: [][]string{{audit.ByRecord("dept", 7)}}},
		"times":        {From: middle, To: middle + 3600*1e6},
		"an actor, a kind and times": {
			All: [][]string{{audit.ByActor("user", 7)}, {audit.ByChange("dept", "update")}},
			To:  middle,
		},
		"everything": {},
	} {
		began := time.Now()
		db = open(t, dir, options)
		opened := time.Since(began)
		var took [3]time.Duration
		var counted [2]time.Duration
		var rows []audit.Row
		for i := range took {
			began, again := time.Now(), []audit.Row(nil)
			again, err := searched(db, q, 0, 50)
			noErr(t, err)
			if took[i] = time.Since(began); i > 0 {
				sameRows(t, name, again, rows)
			}
			rows = again
		}

		n := 0
		for i := range counted {
			began := time.Now()
			var err error
			n, err = db.CountLog(q)
			noErr(t, err)
			counted[i] = time.Since(began)
		}

		disktest.Equal(t, "entries of "+name, len(rows), min(n, 50))
		if !slices.IsSortedFunc(rows, func(a, b audit.Row) int { return int(b.Seq) - int(a.Seq) }) {
			t.Errorf("%s: %v", name, seqsOf(rows))
		}

		t.Logf("%d entries, %d segments: %s: %d found; open %v; page: first %v, then %v, %v; count: first %v, then %v",
			end, len(db.LogSegments()), name, n, opened, took[0], took[1], took[2], counted[0],
			counted[1])
		shut(t, db)
	}
}

// someEntry is an entry like those of a server: of one of 1000 users, about one of 100,000 records.
func someEntry(r *rand.Rand) *audit.Entry {
	number := func(n uint64) uint64 {
		return 1 + uint64(float64(n)*r.Float64()*r.Float64()*r.Float64())
	}

	collection := []string{"dept", "role", "user", "setting", "dict_item"}[r.IntN(5)]
	operation := []string{"create", "update", "delete"}[r.IntN(3)]
	return &audit.Entry{
		Actor: audit.Actor{Kind: "user", ID: number(1000)},
		Operation: audit.Operation{
			Method: "PUT",
			Route:  "/admin/" + collection + "/:id",
			Title:  "Edit a " + collection,
		},
		SessionID: r.Uint64N(1e6), RequestID: fmt.Sprintf("%016x", r.Uint64()),
		Changes: []audit.Change{{Collection: collection, ID: number(100_000), Operation: operation,
			Fields: []audit.Field{
				{
					Name: "name",
					Old:  audit.Value{Plain: []byte(`"before"`)},
					New:  audit.Value{Plain: []byte(`"after"`)},
				},
				{
					Name: "sort",
					Old:  audit.Value{Plain: []byte(`1`)},
					New:  audit.Value{Plain: []byte(`2`)},
				},
			}}},
	}
}
