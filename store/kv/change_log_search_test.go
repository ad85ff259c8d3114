package kv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// randomly writes an entry: it creates, changes or deletes a department, or logs an action.
func randomly(r *rand.Rand, ids *[]ID) func(tx *Tx) error {
	choice, n := r.IntN(8), r.IntN(1000)
	return func(tx *Tx) error {
		switch {
		case choice == 0:
			tx.LogAction([]string{"export", audit.Denied}[n%2], n)
			return nil
		case choice < 5 || len(*ids) == 0:
			d := &Dept{Name: fmt.Sprint("D", n)}
			err := Depts.Create(tx, d)
			*ids = append(*ids, d.ID)
			return err
		case choice == 5:
			id := (*ids)[n%len(*ids)]
			*ids = slices.DeleteFunc(*ids, func(i ID) bool { return i == id })
			return Depts.Delete(tx, id)
		}
		_, err := Depts.Update(tx, (*ids)[n%len(*ids)], func(d *Dept) error {
			d.Name += "x"
			return nil
		})
		return err
	}
}

// naiveLog is SearchLog over all rows, with terms that are built again.
func naiveLog(t testing.TB, rows []audit.Row, q audit.Query, before uint64) (found []audit.Row) {
	t.Helper()
	for _, row := range slices.Backward(rows) {
		e, err := row.Decode()
		noErr(t, err)
		var at Time
		noErr(t, at.UnmarshalJSON([]byte(`"`+e.At+`"`)))
		terms := map[string]bool{"actor system:0": true, "action " + e.Action: true}
		for _, c := range e.Changes {
			terms[fmt.Sprint("record ", c.Collection, ":", c.ID)] = true
			terms["change "+c.Collection+":"+c.Operation] = true
		}

		matches := (before == 0 || row.Seq < before) && (q.From == 0 || int64(at) >= q.From) &&
			(q.To == 0 || int64(at) <= q.To)
		for _, list := range q.All {
			matches = matches && slices.ContainsFunc(list, func(t string) bool { return terms[t] })
		}

		if matches {
			found = append(found, row)
		}
	}
	return found
}

// randomLogQuery is a query about what randomly writes, with times of some of the entries.
func randomLogQuery(r *rand.Rand, times []int64) (q audit.Query) {
	terms := func() string {
		return []string{
			audit.ByActor("system", 0), audit.ByActor("user", 1), audit.ByAction("export"),
			audit.ByAction(audit.Denied), audit.ByChange("dept", "change"),
			audit.ByRecord("dept", 1+r.Uint64N(40)), audit.ByRecord("dept", 1+r.Uint64N(40)),
		}[r.IntN(7)]
	}
	for range r.IntN(3) {
		var list []string
		for range 1 + r.IntN(3) {
			list = append(list, terms())
		}
		q.All = append(q.All, list)
	}

	if len(times) > 0 && r.IntN(2) == 0 {
		q.From = times[r.IntN(len(times))]
	}
	if len(times) > 0 && r.IntN(2) == 0 {
		q.To = times[r.IntN(len(times))]
	}

	return q
}

// searched returns at most n entries that SearchLog finds.
func searched(db *DB, q audit.Query, before uint64, n int) (rows []audit.Row, err error) {
	err = db.SearchLog(q, before, func(row audit.Row) bool {
		rows = append(rows, row)
		return len(rows) < n
	})
	return rows, err
}

func seqsOf(rows []audit.Row) (list []uint64) {
	for _, row := range rows {
		list = append(list, row.Seq)
	}
	return list
}

// sameRows reports an error unless rows are equal; it shows only the numbers.
func sameRows(t testing.TB, what string, got, want []audit.Row) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b audit.Row) bool {
		return a.Seq == b.Seq && string(a.Text) == string(b.Text)
	}) {
		t.Errorf("%s: got %v, want %v", what, seqsOf(got), seqsOf(want))
	}
}

// timesOf returns the times of all entries in data.db.
func timesOf(db *DB) (times []int64) {
	for _, e := range db.log.tail.now() {
		times = append(times, e.keys.Micros)
	}
	return times
}

// checkSearches compares random searches with naive ones, when nothing is written.
func checkSearches(t testing.TB, r *rand.Rand, db *DB, n int) {
	t.Helper()
	rows, times := wholeLog(t, db), timesOf(db)
	for range n {
		q, before := randomLogQuery(r, times), r.Uint64N(uint64(len(rows))+3)
		got, err := searched(db, q, before, math.MaxInt)
		noErr(t, err)
		sameRows(t, fmt.Sprintf("%+v before %d", q, before), got, naiveLog(t, rows, q, before))
		count, err := db.CountLog(q)
		noErr(t, err)
		disktest.Equal(t, fmt.Sprintf("count of %+v", q), count, len(naiveLog(t, rows, q, 0)))
	}

	for _, want := range rows {
		row, err := db.LogEntry(want.Seq)
		noErr(t, err)
		sameRows(t, "entry", []audit.Row{row}, []audit.Row{want})
	}

	for _, seq := range []uint64{0, rows[len(rows)-1].Seq + 1, math.MaxUint64} {
		if _, err := db.LogEntry(seq); !errs.Is(err, errs.NotFound) {
			t.Errorf("entry %d: %v", seq, err)
		}
	}
}

// TestLogSearch compares searches with a scan of all entries, and again after the log was reopened.
func TestLogSearch(t *testing.T) {
	r, dir := disktest.Random(t), t.TempDir()
	db := logged(t, dir)
	if got, err := searched(db, audit.Query{}, 0, 9); err != nil || len(got) > 0 {
		t.Errorf("an empty log has %d entries, %v", len(got), err)
	}

	var ids []ID
	for range disktest.Size(3, 6, 40) {
		for range r.IntN(120) {
			update(t, db, randomly(r, &ids))
		}
		update(t, db, randomly(r, &ids))
		settled(t, db)
		checkSearches(t, r, db, 40)
		before := db.log.tail.now()
		shut(t, db)
		db = open(t, dir, Options{Schema: loggedOffice(), drainFrom: 1 << 30})
		disktest.Equal(t, "keys after a restart", fmt.Sprint(db.log.tail.now()), fmt.Sprint(before))
		checkSearches(t, r, db, 40)
		shut(t, db)
		db = logged(t, dir)
	}

	segments := db.LogSegments()
	if len(segments) == 0 {
		t.Fatal("no entries were moved")
	}

	for _, s := range segments {
		data, err := db.LogCheckpoint(s.First)
		if err != nil || len(data) == 0 {
			t.Errorf("checkpoint %+v: %q, %v", s, data, err)
		}
	}

	if _, err := db.LogCheckpoint(2); !errs.Is(err, errs.NotFound) {
		t.Errorf("a checkpoint of no segment: %v", err)
	}

	shut(t, db)
}

// TestLogSearch_WhileEntriesMove searches while entries are written and moved: each search finds
// exactly the entries that there were when it began.
func TestLogSearch_WhileEntriesMove(t *testing.T) {
	r := disktest.Random(t)
	db := logged(t, t.TempDir())
	var done atomic.Bool
	var readers sync.WaitGroup
	searches := make([]int, 3)
	for i := range searches {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		readers.Go(func() {
			for !done.Load() || searches[i] == 0 {
				checkRacingSearch(t, r, db)
				searches[i]++
			}
		})
	}

	var ids []ID
	least := disktest.Size(400, 1000, 10_000)
	for n := 0; n < least || len(db.LogSegments()) < 3; n++ { // they are moved in the background
		if err := db.Update(System, randomly(r, &ids)); err != nil {
			t.Error(err)
		}
	}

	done.Store(true)
	readers.Wait()
	settled(t, db)
	checkSearches(t, r, db, 20)
	shut(t, db)
}

// checkRacingSearch compares a search and a read of the whole log with each other. The entries that
// there were before the search must be in both.
func checkRacingSearch(t *testing.T, r *rand.Rand, db *DB) {
	before := db.LogHead().Seq
	q := randomLogQuery(r, timesOf(db))
	got, err := searched(db, q, 0, math.MaxInt)
	if err != nil {
		t.Error(err)
	}
	if _, err := db.CountLog(q); err != nil {
		t.Error(err)
	}

	rows := allLogged(t, db)
	for i, row := range rows {
		if row.Seq != uint64(i+1) {
			t.Errorf("ReadLog: entry %d at position %d", row.Seq, i)
			return
		}
	}

	if uint64(len(rows)) < before {
		t.Errorf("ReadLog: %d entries, there were %d", len(rows), before)
		return
	}

	newest := before
	if len(got) > 0 {
		newest = max(newest, got[0].Seq)
	}

	want := naiveLog(t, rows, q, newest+1)
	if i := slices.IndexFunc(want, func(row audit.Row) bool {
		return row.Seq <= before || len(got) > 0 && row.Seq <= got[0].Seq
	}); i > 0 {
		want = want[i:] // those that were written meanwhile
	}

	sameRows(t, fmt.Sprintf("%+v", q), got, want)
	if before > 0 {
		seq := 1 + r.Uint64N(before)
		row, err := db.LogEntry(seq)
		if err != nil || string(row.Text) != string(rows[seq-1].Text) {
			t.Errorf("entry %d: %q, %v", seq, row.Text, err)
		}
	}
}

// TestLogSearch_DamagedSegment finds what is in the others and in data.db, and returns an error.
func TestLogSearch_DamagedSegment(t *testing.T) {
	r, dir := disktest.Random(t), t.TempDir()
	db := logged(t, dir)
	for range 4 {
		makeDepts(t, db, 60)
		settled(t, db)
	}

	rows, infos := wholeLog(t, db), db.log.segments.Segments()
	shut(t, db)
	hurt := infos[r.IntN(len(infos))]
	noErr(t, os.Truncate(hurt.Path, 4096))
	db = logged(t, dir)
	want := slices.DeleteFunc(rows, func(row audit.Row) bool {
		return row.Seq >= hurt.First && row.Seq <= hurt.Last
	})
	for _, q := range []audit.Query{{}, {All: [][]string{{audit.ByChange("dept", "change")}}}} {
		got, err := searched(db, q, 0, math.MaxInt)
		if err == nil || !strings.Contains(err.Error(), hurt.Path) {
			t.Errorf("the error does not name %s: %v", hurt.Path, err)
		}
		sameRows(t, "entries", got, naiveLog(t, want, q, 0))
		n, err := db.CountLog(q)
		if n != len(naiveLog(t, want, q, 0)) || err == nil {
			t.Errorf("counted %d, %v", n, err)
		}
	}

	if _, err := db.LogEntry(hurt.First); err == nil || errs.Is(err, errs.NotFound) {
		t.Errorf("an entry that is lost: %v", err)
	}

	damaged := slices.DeleteFunc(db.LogSegments(), func(s audit.Info) bool { return s.Err == nil })
	if len(damaged) != 1 || damaged[0].Path != hurt.Path {
		t.Errorf("damaged segments: %+v", damaged)
	}

	shut(t, db)
}

// TestLogSearch_EntriesInBothPlaces searches between the two steps of a move.
func TestLogSearch_EntriesInBothPlaces(t *testing.T) {
	r := disktest.Random(t)
	db := open(t, t.TempDir(), Options{Schema: loggedOffice(), drainFrom: 1 << 30})
	makeDepts(t, db, 120)
	d, _, err := db.newDraining()
	noErr(t, err)
	_, err = db.log.segments.Write(func(yield func(audit.Row, error) bool) {
		for row, err := range d.rows {
			if row.Keys == nil {
				t.Errorf("entry %d has no keys", row.Seq)
			}
			if !yield(row, err) {
				return
			}
		}
	}, nil)
	noErr(t, err)
	checkSearches(t, r, db, 20)
	seen := 0
	noErr(t, db.SearchLog(audit.Query{}, 0, func(row audit.Row) bool { // removed from data.db during the search
		if seen++; seen == 5 {
			noErr(t, db.removeRows(d.next-1))
		}
		if want := uint64(121 - seen); row.Seq != want {
			t.Errorf("entry %d, want %d", row.Seq, want)
			return false
		}
		return true
	}))
	disktest.Equal(t, "entries", seen, 120)
	checkSearches(t, r, db, 20)
	shut(t, db)
}

// TestLogTail_Bound bounds the memory that the keys of the entries in data.db need.
func TestLogTail_Bound(t *testing.T) {
	var tail logTail
	for i := range uint64(drainFrom) {
		e := audit.Entry{Actor: audit.Actor{Kind: "user", ID: i % 50}, Operation: audit.Operation{
			Method: "PUT",
			Route:  "/admin/user/role/:id",
		},
			Changes: []audit.Change{{Collection: "user", ID: i, Operation: "update"}}}
		var keys audit.KeyList
		keys.Append(&e, int64(i))
		tail.append(i, &keys)
	}

	bytes := cap(tail.entries) * 32
	for _, e := range tail.entries {
		bytes += (e.keys.Size() + 15) / 16 * 16
	}

	if bytes > 3<<20 {
		t.Errorf("%d bytes", bytes)
	}

	t.Log(bytes)
}
