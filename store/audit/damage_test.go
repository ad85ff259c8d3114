package audit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// testSegment changes a segment.
type testSegment struct {
	t   *testing.T
	btx *bbolt.Tx
}

func changeSegment(t *testing.T, path string, change func(*testSegment)) {
	t.Helper()
	bolt, err := bbolt.Open(path, 0o600, disk.BoltOptions(false))
	must(t, err)
	err = bolt.Update(func(btx *bbolt.Tx) error {
		change(&testSegment{t, btx})
		return nil
	})
	if err == nil {
		err = bolt.Update(func(*bbolt.Tx) error { return nil }) // as a segment has it
	}
	must(t, errors.Join(err, bolt.Close()))
}

func (s *testSegment) bucket(name string) *bbolt.Bucket {
	b, err := s.btx.CreateBucketIfNotExists([]byte(name))
	must(s.t, err)
	return b
}

func (s *testSegment) raw(bucket string, key, value []byte) {
	must(s.t, s.bucket(bucket).Put(key, value))
}
func (s *testSegment) put(bucket string, key, payload []byte) {
	s.raw(bucket, key, disk.Frame(bucket, key, payload))
}
func (s *testSegment) delete(bucket string, key []byte) {
	if s.bucket(bucket).Get(key) == nil {
		s.t.Fatalf("no key %x", key)
	}
	must(s.t, s.bucket(bucket).Delete(key))
}
func (s *testSegment) drop(bucket string) { must(s.t, s.btx.DeleteBucket([]byte(bucket))) }
func (s *testSegment) meta(change func(*meta)) {
	m, err := decodeMeta(s.bucket(disk.MetaBucket).Get(disk.MetaKey))
	must(s.t, err)
	change(&m)
	payload, err := json.Marshal(m)
	must(s.t, err)
	s.put(disk.MetaBucket, disk.MetaKey, payload)
}

// TestDamagedSegments checks that the other segments remain readable and that errors name the
// file.
func TestDamagedSegments(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 60, true)
	from := t.TempDir()
	write(t, openLog(t, from), c.rows, 20)
	write := func(content func(b []byte) []byte) func(path string) {
		return func(path string) {
			disktest.WriteFile(t, path, content(disktest.ReadFile(t, path)))
		}
	}

	change := func(change func(*testSegment)) func(path string) {
		return func(path string) { changeSegment(t, path, change) }
	}
	for name, harm := range map[string]func(path string){
		"an empty file":      write(func([]byte) []byte { return nil }),
		"a file that is cut": write(func(b []byte) []byte { return b[:len(b)/2] }),
		"one page":           write(func(b []byte) []byte { return b[:4096] }),
		"something else": write(func([]byte) []byte {
			return []byte(strings.Repeat("hello", 10000))
		}),
		"empty pages": write(func(b []byte) []byte { clear(b[2*4096:]); return b }),
		"another segment": func(path string) {
			disktest.WriteFile(t, path, disktest.ReadFile(t, filepath.Join(from, segmentName(1))))
		},
		"a newer format": change(func(s *testSegment) { s.meta(func(m *meta) { m.Format++ }) }),
		"no description": change(func(s *testSegment) { s.drop(disk.MetaBucket) }),
		"pages that name themselves": write(func(b []byte) []byte {
			found := false
			for page := 2 * 4096; page < len(b); page += 4096 {
				if binary.LittleEndian.Uint16(b[page+8:]) != disk.BranchPage {
					continue
				}
				found = true
				for i := range int(binary.LittleEndian.Uint16(b[page+10:])) {
					copy(b[page+disk.PageHead+i*disk.BranchElem+8:], b[page:page+8])
				}
			}
			if !found {
				t.Fatal("the segment has no branch")
			}
			return b
		}),
		"no entries": change(func(s *testSegment) { s.drop(entryBucket) }),
		"a directory, no file": func(path string) {
			must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		},
		"an entry is missing": change(func(s *testSegment) { s.delete(entryBucket, seqKey(30)) }),
		"an entry of elsewhere": change(func(s *testSegment) {
			s.raw(entryBucket, seqKey(30), s.bucket(entryBucket).Get(seqKey(31)))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			copyDir(t, from, dir)
			path := filepath.Join(dir, segmentName(21))
			harm(path)
			l, warnings, err := Open(dir)
			must(t, err)
			defer l.Close()
			for _, w := range warnings {
				if !strings.Contains(w, path) {
					t.Errorf("the warning does not name the file: %s", w)
				}
			}

			got, err := newest(l, Query{}, 0, math.MaxInt)
			got2, err2 := oldest(l, 0, math.MaxInt)
			_, err3 := l.Get(30)
			for _, err := range []error{err, err2, err3} {
				if err == nil || !strings.Contains(err.Error(), path) ||
					strings.Contains(err.Error(), "panic") {
					t.Errorf("the error does not name the file: %v", err)
				}
			}

			if len(got) < 40 || len(got) == 60 || len(got2) != len(got) {
				t.Errorf("read %d and %d entries", len(got), len(got2))
			}

			partOf(t, got, c.rows)
			if got, err := newest(l, Query{}, 0, 20); err != nil || len(got) != 20 {
				t.Errorf("a page after the damage: %d, %v", len(got), err)
			}
			if _, err := VerifyFiles(segmentPaths(t, dir), nil); err == nil {
				t.Error("verified")
			}

			more := newChain()
			more.head, more.at = c.head, c.at
			more.add(t, Entry{})
			if _, err := l.Write(values(more.rows), nil); err != nil {
				t.Errorf("write after the damage: %v", err)
			}

			must(t, errors.Join(l.Drop(1), os.RemoveAll(path))) // also if it is a directory
		})
	}
}

// TestMetaPage_OneOfTwoSuffices destroys one of the two meta pages.
func TestMetaPage_OneOfTwoSuffices(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 60, true)
	for page := range 2 {
		dir := t.TempDir()
		path, err := WriteSegment(dir, values(c.rows), nil)
		must(t, err)
		b := disktest.ReadFile(t, path)
		clear(b[4096*page+disk.PageHead:][:disk.MetaSize])
		disktest.WriteFile(t, path, b)
		all, err := newest(openLog(t, dir), Query{}, 0, 99)
		must(t, err)
		same(t, "all", all, reversed(c.rows))
		var v Verifier
		if err := VerifySegment(path, &v); err == nil ||
			!strings.HasPrefix(err.Error(), path+" is damaged: a meta page is damaged") {
			t.Errorf("meta page %d: %v", page, err)
		}
	}
}

// TestOverlappingSegments has entries 11 to 20 in two files.
func TestOverlappingSegments(t *testing.T) {
	c, dir := newChain().random(t, disktest.Random(t), 30, true), t.TempDir()
	for _, part := range [][]Row{c.rows[:20], c.rows[10:]} {
		if _, err := WriteSegment(dir, values(part), nil); err != nil {
			t.Fatal(err)
		}
	}

	l, warnings, err := Open(dir)
	must(t, err)
	defer l.Close()
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "entry 11 is in two segments") {
		t.Errorf("warnings %q", warnings)
	}

	all, err := newest(l, Query{}, 0, 99)
	must(t, err)
	same(t, "newest", all, reversed(c.rows))
	all, err = newest(l, Query{}, 21, 99)
	must(t, err)
	same(t, "newest before 21", all, reversed(c.rows[:20]))
	all, err = oldest(l, 0, 99)
	must(t, err)
	same(t, "oldest", all, c.rows)
}

// partOf reports an error unless each row is as it was written.
func partOf(t *testing.T, got, rows []Row) {
	t.Helper()
	for _, row := range got {
		if row.Seq == 0 || row.Seq > uint64(len(rows)) ||
			string(rows[row.Seq-1].Text) != string(row.Text) {
			t.Errorf("entry %d has the text %.200q", row.Seq, row.Text)
		}
	}
}

func TestSegments_MissingIsWarning(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 30, false)
	dir := t.TempDir()
	write(t, openLog(t, dir), c.rows, 10)
	must(t, os.Remove(filepath.Join(dir, segmentName(11))))
	l, warnings, err := Open(dir)
	must(t, err)
	defer l.Close()
	if len(warnings) != 1 ||
		!strings.HasPrefix(warnings[0],
			"entries 11 to 20 are missing after "+filepath.Join(dir, segmentName(1))) {
		t.Errorf("warnings %q", warnings)
	}

	all, err := newest(l, Query{}, 0, 99)
	must(t, err)
	same(t, "what is left", all, append(reversed(c.rows[20:]), reversed(c.rows[:10])...))
}

// TestSegments_TruncatedWhileOpen truncates a mapped file.
func TestSegments_TruncatedWhileOpen(t *testing.T) {
	c := newChain().random(t, disktest.Random(t), 300, false)
	for _, left := range []int64{0, 2 * 4096, 40 << 10} {
		dir := t.TempDir()
		l := openLog(t, dir)
		write(t, l, c.rows, 200)
		path := filepath.Join(dir, segmentName(1))
		must(t, os.Truncate(path, left))
		for range 2 {
			got, err := newest(l, Query{}, 0, math.MaxInt)
			if err == nil || !strings.Contains(err.Error(), path) || len(got) < 100 ||
				len(got) == 300 {
				t.Errorf("cut off to %d bytes: %d entries, %v", left, len(got), err)
			}
			partOf(t, got, c.rows)
		}
	}
}

// flip flips a bit in one of the segments, rather where there is something.
func flip(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	paths := segmentPaths(t, dir)
	path := paths[r.IntN(len(paths))]
	b := disktest.ReadFile(t, path)
	at := r.IntN(len(b))
	for r.IntN(20) > 0 && b[at] == 0 { // most of a file is zeros
		at = r.IntN(len(b))
	}
	if r.IntN(3) == 0 { // page headers are small and matter most
		at = at&^4095 + r.IntN(200)
	}
	b[at] ^= 1 << r.IntN(8)
	disktest.WriteFile(t, path, b)
	return fmt.Sprintf("byte %d of %s", at, filepath.Base(path))
}

// TestFlippedBits flips one bit at a time. Every read must return everything, or an error and what
// is intact.
func TestFlippedBits(t *testing.T) {
	r, from, outcomes := disktest.Random(t), t.TempDir(), map[string]int{}
	c := newChain().random(t, r, 120, true)
	write(t, openLog(t, from), c.rows, 60)
	dir := filepath.Join(t.TempDir(), "audit")
	for i := range disktest.Size(60, 500, 5000) {
		copyDir(t, from, dir)
		where := "nothing"
		if i > 0 {
			where = flip(t, r, dir)
		}

		l, warnings, err := Open(dir)
		must(t, err)
		failed := len(warnings) > 0
		check := func(what string, got, want []Row, err error) {
			t.Helper()
			if err != nil {
				failed = true
				partOf(t, got, c.rows)
			} else {
				same(t, where+": "+what, got, want)
			}
			if err != nil && strings.Contains(err.Error(), "panic") {
				t.Errorf("%s: %v", where, err)
			}
		}

		got, err := oldest(l, 0, math.MaxInt)
		check("oldest", got, c.rows, err)
		for _, q := range []Query{{}, {All: [][]string{{ByActor("user", 1)}}},
			{All: [][]string{{ByRecord("dict", 1)}, {ByChange("dict", "update")}}}, {
				From: c.times[30],
				To:   c.times[90],
			}} {
			got, err := newest(l, q, 0, math.MaxInt)
			check(fmt.Sprintf("%+v", q), got, c.naive(q, 0), err)
		}

		for _, s := range l.Segments() {
			data, err := l.Checkpoint(s.First)
			if err == nil && string(data) != fmt.Sprint("checkpoint ", s.First) {
				t.Errorf("%s: checkpoint %q", where, data)
			}
			failed = failed || err != nil
		}

		must(t, l.Close())
		_, err = VerifyFiles(segmentPaths(t, dir), []Head{c.head})
		if failed && err == nil {
			t.Errorf("%s: a read failed, and yet the file was verified", where)
		}

		outcomes[fmt.Sprintf("read failed: %t, verified: %t", failed, err == nil)]++
	}

	t.Log(outcomes)
	if outcomes["read failed: true, verified: false"] == 0 ||
		outcomes["read failed: false, verified: true"] == 0 {
		t.Errorf("the flips hit nothing, or everything: %v", outcomes)
	}
}
