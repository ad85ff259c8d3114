package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// loggedOffice is the test schema with a change log.
func loggedOffice() *Schema {
	schema := office
	schema.LogEntry = changesOf
	schema.LogCheckpoint = func(tx *Tx) ([]byte, error) {
		return json.Marshal(tx.bucket(Depts.Name()).Stats().KeyN)
	}
	return &schema
}

// loggedZoo is the other test schema with a change log.
func loggedZoo() *Schema {
	schema := zoo()
	schema.LogEntry = changesOf
	return schema
}

// changesOf is an entry with whole records.
func changesOf(_ *Tx, changed []RecordChange, e *audit.Entry) (logged bool, err error) {
	e.Actor.Kind = "system"
	for _, c := range changed {
		e.Changes = append(e.Changes,
			audit.Change{Collection: c.Table.Name(), ID: uint64(c.ID), Operation: "change",
				Fields: []audit.Field{{
					Name: "record",
					Old:  audit.Value{Plain: c.Old},
					New:  audit.Value{Plain: c.New},
				}}})
	}
	return true, nil
}

// mustBeLogged fails unless the records of the zoo are those that its whole log has left.
func mustBeLogged(t testing.TB, db *DB) {
	t.Helper()
	logged := map[ID]string{}
	for _, row := range wholeLog(t, db) {
		e, err := row.Decode()
		noErr(t, err)
		for _, c := range e.Changes {
			if c.Collection != beasts.Name() {
				continue
			}
			f := c.Fields[0]
			if logged[ID(c.ID)] != string(f.Old.Plain) {
				t.Fatalf("entry %d: beast %d was %s, it says %s", e.Seq, c.ID, logged[ID(c.ID)],
					f.Old.Plain)
			}
			if logged[ID(c.ID)] = string(f.New.Plain); f.New.Plain == nil {
				delete(logged, ID(c.ID))
			}
		}
	}

	stored := map[ID]string{}
	view(t, db, func(tx *Tx) error {
		cursor := tx.bucket(beasts.Name()).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			stored[ID(binary.BigEndian.Uint64(key))] = string(value[disk.FrameHead:])
		}
		return nil
	})
	disktest.Equal(t, "records and what the log has left", logged, stored)
}

// logged opens a directory with a change log that is moved to segments after 50 entries.
func logged(t testing.TB, dir string) *DB {
	t.Helper()
	return open(t, dir, Options{Schema: loggedOffice(), drainFrom: 50})
}

// wholeLog returns all entries, from the segments and data.db, and fails if they are not a chain
// from 1 to the head.
func wholeLog(t testing.TB, db *DB) []audit.Row {
	t.Helper()
	rows := allLogged(t, db)
	var verifier audit.Verifier
	for _, row := range rows {
		noErr(t, verifier.Add(row))
	}
	verifier.Expect(db.LogHead())
	noErr(t, verifier.Finish())
	if uint64(len(rows)) != db.LogHead().Seq {
		t.Fatalf("%d entries, the head is %d", len(rows), db.LogHead().Seq)
	}
	return rows
}

// allLogged returns all entries.
func allLogged(t testing.TB, db *DB) (all []audit.Row) {
	t.Helper()
	for {
		rows, err := db.ReadLog(uint64(len(all))+1, math.MaxInt)
		noErr(t, err)
		if len(rows) == 0 {
			return all
		}
		all = append(all, rows...)
	}
}

// settled waits until data.db has few entries.
func settled(t testing.TB, db *DB) {
	t.Helper()
	for range 3000 {
		if !db.log.isLong() {
			return
		}
		if problem := db.LogProblem(); problem != "" {
			t.Fatal(problem)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the entries are not moved to a segment")
}

func makeDepts(t testing.TB, db *DB, n int) {
	t.Helper()
	for i := range n {
		update(t, db, func(tx *Tx) error {
			return Depts.Create(tx, &Dept{Name: fmt.Sprint("D", i)})
		})
	}
}

func TestLog_MovedToSegments(t *testing.T) {
	dir := t.TempDir()
	db := logged(t, dir)
	makeDepts(t, db, 220)
	settled(t, db)
	if n := len(wholeLog(t, db)); n < 220 || len(db.log.segments.Segments()) == 0 {
		t.Errorf("%d entries, segments %v", n, db.log.segments.Segments())
	}

	before := wholeLog(t, db)
	mustVerify(t, db)
	shut(t, db)
	db = logged(t, dir)
	settled(t, db)
	disktest.Equal(t, "entries after a restart", len(wholeLog(t, db)), len(before))
	makeDepts(t, db, 60)
	settled(t, db)
	disktest.Equal(t, "entries after further changes", len(wholeLog(t, db)), len(before)+60)
	mustVerify(t, db)
	shut(t, db)
}

// Large entries are moved when they need much space, however few they are.
func TestLog_LargeEntriesMoved(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: loggedOffice()})
	name := strings.Repeat("x", 1<<20)
	for range 24 {
		update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: name}) })
	}

	settled(t, db)
	if len(db.log.segments.Segments()) == 0 || db.log.bytes.Load() > drainBytes {
		t.Errorf("segments %v, %d bytes in data.db", db.log.segments.Segments(),
			db.log.bytes.Load())
	}

	wholeLog(t, db)
	shut(t, db)
	db = open(t, dir, Options{Schema: loggedOffice()})
	var bytes int64
	view(t, db, func(tx *Tx) error {
		return tx.LogRows(0, func(row audit.Row) bool {
			bytes += int64(len(row.Text))
			return true
		})
	})
	disktest.Equal(t, "bytes after a restart", db.log.bytes.Load(), bytes)
	shut(t, db)
}

// A crash after a segment was written and before its entries were removed from data.db leaves them
// in both.
func TestEntriesInBothPlaces(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: loggedOffice(), drainFrom: 1 << 30})
	makeDepts(t, db, 120)
	d, _, err := db.newDraining()
	noErr(t, err)
	_, err = db.log.segments.Write(d.rows, nil)
	noErr(t, err)
	shut(t, db)
	db = logged(t, dir)
	settled(t, db)
	makeDepts(t, db, 60)
	settled(t, db)
	wholeLog(t, db)
	mustVerify(t, db)
	shut(t, db)
}

// TestEntriesInBothPlaces_SegmentIsDamaged: entries whose segment was damaged before the next start
// stay in data.db.
func TestEntriesInBothPlaces_SegmentIsDamaged(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: loggedOffice(), drainFrom: 1 << 30})
	makeDepts(t, db, 120)
	d, _, err := db.newDraining()
	noErr(t, err)
	info, err := db.log.segments.Write(d.rows, nil)
	noErr(t, err)
	shut(t, db)

	raw, err := os.ReadFile(info.Path)
	noErr(t, err)
	raw[bytes.Index(raw, []byte(`"name":"D60"`))] ^= 1 // within an entry: the description is intact
	noErr(t, os.WriteFile(info.Path, raw, 0o600))

	db = logged(t, dir)
	for range 3000 {
		if db.LogProblem() != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}

	if problem := db.LogProblem(); !strings.Contains(problem, info.Path) {
		t.Errorf("the problem %q does not name %s", problem, info.Path)
	}

	count := 0
	view(t, db, func(tx *Tx) error {
		return tx.LogRows(1, func(audit.Row) bool { count++; return true })
	})
	disktest.Equal(t, "entries in data.db", count, 120)
	shut(t, db)
}

// Old segments are dropped, and an entry says so. Those that are younger than the minimum age stay,
// whatever their size.
func TestLog_OldSegmentsDropped(t *testing.T) {
	now := clockAt(TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	options := Options{
		Schema:    loggedOffice(),
		drainFrom: 50,
		Clock:     now.now,
		Log: LogLimits{MaxAge: 100 * 24 * time.Hour, MinAge: 10 * 24 * time.Hour,
			MaxBytes: 1},
	}
	db := open(t, t.TempDir(), options)
	makeDepts(t, db, 120)
	settled(t, db)
	if err := db.pruneLog(); err == nil || len(db.log.segments.Segments()) == 0 {
		t.Errorf("young entries were dropped, or nothing says that they need too much space: %v",
			err)
	}

	now.Store(int64(now.now().Add(20 * 24 * time.Hour)))
	noErr(t, db.pruneLog())
	disktest.Equal(t, "segments", len(db.log.segments.Segments()), 0)
	var last audit.Entry
	view(t, db, func(tx *Tx) error {
		return tx.LogRows(db.LogHead().Seq, func(row audit.Row) bool {
			var err error
			last, err = row.Decode()
			noErr(t, err)
			return true
		})
	})
	disktest.Equal(t, "action", last.Action, "drop_entries")
}

// A backup has the whole log up to its data.db, and a restore begins a new generation that names
// the replaced one.
func TestLog_BackupAndRestore(t *testing.T) {
	dir := t.TempDir()
	db := logged(t, dir)
	makeDepts(t, db, 130)
	settled(t, db)
	taken := db.LogHead()
	archive := archiveOf(t, db)
	makeDepts(t, db, 130)
	settled(t, db)
	replaced := db.LogHead()
	shut(t, db)
	_, err := Restore(dir, archive, nil, Options{Schema: loggedOffice()})
	noErr(t, err)
	db = logged(t, dir)
	rows := wholeLog(t, db)
	first, err := rows[taken.Seq].Decode() // the one after the backup
	noErr(t, err)
	if first.Prev != taken.Hash || first.Generation == taken.Generation ||
		first.Action != "restore" {
		t.Errorf("the first entry of the new generation: %+v", first)
	}

	var details struct {
		Replaced audit.Head `json:"replaced"`
	}
	noErr(t, json.Unmarshal(first.Details, &details))
	disktest.Equal(t, "replaced head", details.Replaced, replaced)
	makeDepts(t, db, 130)
	settled(t, db)
	wholeLog(t, db)
	mustVerify(t, db)
	shut(t, db)
}

// A restore of the data directory that another restore has kept also takes its segments, and none
// that is newer than its data.db.
func TestLog_RestoreOfKeptDirectory(t *testing.T) {
	dir := t.TempDir()
	db := logged(t, dir)
	makeDepts(t, db, 130)
	settled(t, db)
	archive := archiveOf(t, db)
	shut(t, db)
	done, err := Restore(dir, archive, nil, Options{Schema: loggedOffice()})
	noErr(t, err)
	_, err = Restore(dir, done.Kept, nil, Options{Schema: loggedOffice()})
	noErr(t, err)
	db = logged(t, dir)
	if n := len(wholeLog(t, db)); n < 130 {
		t.Errorf("%d entries", n)
	}

	mustVerify(t, db)
	shut(t, db)
}

// Salvage keeps the log; the next start begins a new generation.
func TestSalvage_KeepsLog(t *testing.T) {
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	db := logged(t, dir)
	makeDepts(t, db, 130)
	settled(t, db)
	head := db.LogHead()
	shut(t, db)
	report, err := Salvage(dir, to, Options{Schema: loggedOffice()})
	noErr(t, err)
	disktest.Equal(t, "lost", len(report.Lost), 0)
	db = logged(t, to)
	rows := wholeLog(t, db)
	next, err := rows[head.Seq].Decode()
	noErr(t, err)
	if next.Prev != head.Hash || next.Generation == head.Generation {
		t.Errorf("the first entry of the new generation: %+v", next)
	}

	mustVerify(t, db)
	shut(t, db)
}

// Whatever page of data.db is damaged, the salvaged log is a chain.
func TestSalvage_DamagedLog(t *testing.T) {
	dir := t.TempDir()
	db := logged(t, dir)
	makeDepts(t, db, 130)
	settled(t, db)
	makeDepts(t, db, 45)
	shut(t, db)
	data, r := disktest.ReadFile(t, filepath.Join(dir, dataName)), disktest.Random(t)
	pageSize := os.Getpagesize()
	for range disktest.Size(10, 60, 600) {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
		noErr(t, os.CopyFS(from, os.DirFS(dir)))
		page := 2 + r.IntN(len(data)/pageSize-2)
		damaged := slices.Clone(data)
		_, harm := randomHarm(r)
		harm(damaged[page*pageSize:][:pageSize])
		disktest.WriteFile(t, filepath.Join(from, dataName), damaged)
		_, err := Salvage(from, to, Options{Schema: loggedOffice()})
		noErr(t, err)
		db := logged(t, to)
		makeDepts(t, db, 1)
		mustVerify(t, db)
		shut(t, db)
		noErr(t, os.RemoveAll(from))
		noErr(t, os.RemoveAll(to))
	}
}

// ReadLog returns each entry once, wherever it is, while entries are moved.
func TestReadLog(t *testing.T) {
	db := logged(t, t.TempDir())
	rows, err := db.ReadLog(0, 10)
	noErr(t, err)
	disktest.Equal(t, "entries of an empty log", len(rows), 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			err := db.Update(System, func(tx *Tx) error {
				return Depts.Create(tx, &Dept{Name: fmt.Sprint("D", i)})
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()

	next := uint64(1)
	for next <= 300 {
		rows, err := db.ReadLog(next, 7)
		noErr(t, err)
		if len(rows) > 7 {
			t.Fatalf("%d entries", len(rows))
		}
		for _, row := range rows {
			if row.Seq != next {
				t.Fatalf("entry %d, want %d", row.Seq, next)
			}
			next++
		}
	}

	<-done
}

// One read of the log is bounded by its bytes, too.
func TestReadLog_LargeEntries(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: loggedOffice()})
	name := strings.Repeat("x", 3<<20)
	for i := range 4 {
		update(t, db, func(tx *Tx) error {
			return Depts.Create(tx, &Dept{Name: fmt.Sprint(i, name)})
		})
	}
	rows, err := db.ReadLog(1, 100)
	noErr(t, err)
	if total := db.LogHead().Seq; len(rows) == 0 || len(rows) > 2 ||
		len(allLogged(t, db)) != int(total) {
		t.Errorf("%d rows at once, %d of %d in all", len(rows), len(allLogged(t, db)), total)
	}
	shut(t, db)
}
