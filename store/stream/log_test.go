package stream

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"testing"

	"filippo.io/age"

	"reeve/store/seal"
)

func newLog(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	o.Instance = "INSTANCE"
	var err error
	if o.Server, err = seal.NewKey(bytes.Repeat([]byte{7}, 32), "reeve-server", ""); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// add appends entries whose value has n bytes.
func add(t *testing.T, l *Log, head Head, entries, n int) Head {
	t.Helper()
	for range entries {
		value := make([]byte, n)
		rand.Read(value) // which nothing compresses
		e := &Entry{
			Format:   Format,
			Instance: "INSTANCE",
			Epoch:    head.Epoch,
			Number:   head.Number + 1,
			Prev:     head.Hash[:],
			Time:     head.Time + 1_000_000,
			Buckets:  []Bucket{{Name: "user", Sequence: 1, Rows: []Row{{Key: []byte("k"), Value: value, Old: NoValue}}}},
		}
		text, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		head = e.Head()
		if err := l.Append(l.Seal(head, text)); err != nil {
			t.Fatal(err)
		}
	}
	return head
}

// read returns the numbers of the entries in a segment or a part of one.
func read(t *testing.T, r io.Reader, identity age.Identity) (numbers []uint64) {
	t.Helper()
	in, err := NewReader(r, []age.Identity{identity})
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := in.Next()
		if err == io.EOF {
			return numbers
		}
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, e.Number)
	}
}

// TestLog_Parts reads parts of segments while entries are appended, also after a restart: each entry
// is in exactly one of them.
func TestLog_Parts(t *testing.T) {
	dir := t.TempDir()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Recipients: []age.Recipient{identity.Recipient()}, SegmentBytes: 20 << 10}
	head, next := Head{Epoch: "EPOCH", Time: 1}, uint64(1)
	for start := range 3 {
		l := newLog(t, dir, o)
		if start > 0 && l.Head() != head {
			t.Fatalf("the log is at %v, not at %v", l.Head(), head)
		}
		for range 8 {
			head = add(t, l, head, 3, 2000)
			for _, s := range l.Segments() {
				if s.Last < next {
					continue
				}
				p, err := l.Part(s.Path, next)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(p.Open())
				if err = errors.Join(err, p.Close()); err != nil || int64(len(text)) != p.Size {
					t.Fatal(len(text), p.Size, err)
				}
				numbers := read(t, bytes.NewReader(text), identity)
				if numbers[0] != next || numbers[0] != p.First || numbers[len(numbers)-1] != p.Last || uint64(len(numbers)) != p.Last-p.First+1 {
					t.Fatalf("%d after %d, in %+v", numbers, next-1, p)
				}
				if named, ok := ParseName(p.Name()); !ok || named.First != p.First || named.Last != p.Last || named.Epoch != p.Epoch || named.Time != p.Time {
					t.Errorf("%s is %+v", p.Name(), named)
				}
				next = p.Last + 1
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if next != head.Number+1 {
		t.Errorf("%d entries, of %d", next-1, head.Number)
	}
}

// TestLog_Large stores an entry in several parts.
func TestLog_Large(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, Options{})
	head := add(t, l, Head{Epoch: "EPOCH"}, 1, 5<<20)
	head = add(t, l, head, 1, 10)
	s := l.Segments()[0]
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if numbers := read(t, f, l.options.Server); len(numbers) != 2 {
		t.Errorf("%d", numbers)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if again := newLog(t, dir, Options{}); again.Head() != head {
		t.Errorf("the log is at %v, not at %v", again.Head(), head)
	}
}

// TestLog_Bound removes the oldest segments, and never the one that has the position.
func TestLog_Bound(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, Options{SegmentBytes: 10 << 10, Bytes: 40 << 10})
	head := add(t, l, Head{Epoch: "EPOCH"}, 100, 2000)
	total := int64(0)
	for _, s := range l.Segments() {
		total += s.Size
		if _, err := os.Stat(s.Path); err != nil {
			t.Error(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(l.Segments()) || total > 60<<10 || total < 10<<10 {
		t.Errorf("%d files, %d bytes, %v", len(files), total, err)
	}
	for _, s := range l.Segments() {
		if err := l.Remove(s.Path); err != nil {
			t.Error(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if again := newLog(t, dir, Options{}); again.Head() != head {
		t.Errorf("the log is at %v, not at %v", again.Head(), head)
	}
}

func TestParseName_Invalid(t *testing.T) {
	for _, name := range []string{"", "start", "E-1-2", "E-1-2-x", "E-2-1-20260101T000000.000000Z", "E-0-1-20260101T000000.000000Z", "-1-2-20260101T000000.000000Z"} {
		if p, ok := ParseName(name); ok {
			t.Errorf("%q is %+v", name, p)
		}
	}
}

// TestLog_DamagedEnd damages the end of a segment: the entries before it stay.
func TestLog_DamagedEnd(t *testing.T) {
	for _, entries := range []int{1, 2, 5} {
		dir := t.TempDir()
		l := newLog(t, dir, Options{})
		begin := Head{Epoch: "EPOCH"}
		if err := l.Begin(begin); err != nil {
			t.Fatal(err)
		}
		before := add(t, l, begin, entries-1, 100)
		whole := int64(0)
		if entries > 1 {
			whole = l.Segments()[0].Size
		}
		add(t, l, before, 1, 100)
		s := l.Segments()[0]
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)-1] ^= 1
		if err := os.WriteFile(s.Path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		l = newLog(t, dir, Options{})
		switch all := l.Segments(); {
		case entries == 1 && len(all) != 0:
			t.Errorf("a segment without an entry is left: %+v", all)
		case entries > 1 && (len(all) != 1 || all[0].Last != before.Number || all[0].Size != whole || l.Head() != before):
			t.Errorf("%+v, %+v, want the end %+v at %d", all, l.Head(), before, whole)
		}
	}
}
