package copies

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// readTarget counts the objects with commits that are read.
type readTarget struct {
	Directory
	read map[string]int
}

func (t readTarget) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if strings.Contains(name, "/"+streamName) {
		t.read[name]++
	}
	return t.Directory.Get(ctx, name)
}

// streamed makes so many copies, with three parts of the commit stream after each.
func (in *installation) streamed(r *Repository, copies int) {
	in.t.Helper()
	for i := range copies {
		in.copy(r)
		for j := range 3 {
			in.put(fmt.Sprintf("file %d of %d", j, i))
			in.ship(r)
		}
	}
}

func (in *installation) prove(r *Repository) {
	in.t.Helper()
	s := scan(in.t, r)
	if _, err := r.Prove(in.t.Context(), s, s.Copies[0], in.t.TempDir(), 0, examine); err != nil {
		in.t.Fatal(err)
	}
	scan(in.t, r)
}

// TestProve_CommitsOfOtherCopies damages each part of the commit stream: the proof tells of it, and the list names
// the moments after it no longer, until it is sound again.
func TestProve_CommitsOfOtherCopies(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.streamed(r, 3)
	s := scan(t, r)
	before := r.Ranges()
	if len(before) != 1 || len(s.parts) != 9 {
		t.Fatal(before, s.parts)
	}
	newest := s.Copies[0].Manifest.Stream.Number
	for i, p := range s.parts {
		if p.First <= newest && p.Last > s.Copies[1].Manifest.Stream.Number {
			continue // see TestProve_CommitsDamaged
		}
		path := target.path(p.object.Name)
		content := disktest.ReadFile(t, path)
		if err := flip(path, int64(len(content)-1)); err != nil {
			t.Fatal(err)
		}
		in.prove(r)
		lost, ranges := r.Lost(), r.Ranges()
		if len(lost) != 1 || lost[0].Damage == nil || !strings.Contains(lost[0].Damage.Error(), p.object.Name) || lost[0].First > p.Last || lost[0].Last < p.Last {
			t.Fatalf("part %d: %+v", i, lost)
		}
		at := time.UnixMicro(p.Time)
		for _, one := range ranges {
			if !at.Before(one.From) && !at.After(one.To) && !at.Equal(one.From) {
				t.Errorf("part %d, of %s, is in %v", i, at, ranges)
			}
		}
		if r.Continued() != (p.First <= newest) {
			t.Errorf("part %d: continued: %v", i, r.Continued())
		}
		disktest.WriteFile(t, path, content)
		in.prove(r)
		if lost := r.Lost(); len(lost) > 0 || len(r.Ranges()) != 1 {
			t.Fatalf("part %d is sound again: %+v, %v", i, lost, r.Ranges())
		}
	}
}

// TestProve_CommitsReadOnce counts what proofs read: all commits, then those between the last two copies and those
// that are new or have changed, and no more in one proof than its maximum.
func TestProve_CommitsReadOnce(t *testing.T) {
	in := newInstallation(t, 1)
	target := readTarget{directory(t), map[string]int{}}
	r := in.repository(target, Options{})
	reads := func() (n int) {
		clear(target.read)
		in.prove(r)
		for name, times := range target.read {
			if times > 1 {
				t.Errorf("%s was read %d times", name, times)
			}
			n += times
		}
		return n
	}
	in.streamed(r, 4)
	if n := reads(); n != 12 {
		t.Errorf("the first proof has read %d parts", n)
	}
	if n := reads(); n != 3 {
		t.Errorf("the second proof has read %d parts", n)
	}
	path := target.path(scan(t, r).parts[1].object.Name)
	at := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	if n := reads(); n != 6 { // the span of the part
		t.Errorf("a proof after a change has read %d parts", n)
	}
	in.put("another")
	in.ship(r)
	if n := reads(); n != 7 { // what follows the newest copy, in four parts
		t.Errorf("a proof after a commit has read %d parts", n)
	}

	again := in.repository(target, Options{})
	again.proveBytes = 1
	scan(t, again)
	r = again
	in.copy(r)
	for i, want := range []int{7, 7, 7, 4} { // four between the last two copies, and one span each time
		if n := reads(); n != want {
			t.Errorf("proof %d of a few bytes has read %d parts, not %d", i, n, want)
		}
	}
}

// TestProve_CommitsUnreachable: an error of the target is no damage of commits from before the newest copy, and the
// next proof reads them.
func TestProve_CommitsUnreachable(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.streamed(r, 3)
	s := scan(t, r)
	r.target = broken{target, s.parts[0].object.Name}
	if _, err := r.Prove(t.Context(), s, s.Copies[0], t.TempDir(), 0, examine); err != nil {
		t.Error(err)
	}
	if lost := r.Lost(); len(lost) > 0 {
		t.Errorf("%+v", lost)
	}
	r.target = target
	path := target.path(s.parts[0].object.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prove(t.Context(), s, s.Copies[0], t.TempDir(), 0, examine); err != nil {
		t.Error(err)
	}
	if lost := r.Lost(); len(lost) != 1 {
		t.Errorf("the next proof has not read the commits: %+v", lost)
	}
}

// broken is a target that fails while an object is read.
type broken struct {
	Target
	name string
}

func (b broken) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := b.Target.Get(ctx, name)
	if err == nil && name == b.name {
		return brokenReader{in}, nil
	}
	return in, err
}

type brokenReader struct{ io.ReadCloser }

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("the connection was lost") }

// TestScan_Gone deletes manifests and commits behind the back of the server, which tells of them until they are
// there again, and not of those that Prune deletes.
func TestScan_Gone(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.streamed(r, 3)
	s := scan(t, r)
	gone := func(name string, want ...Loss) {
		t.Helper()
		path := target.path(name)
		content := disktest.ReadFile(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			scan(t, r)
			disktest.Equal(t, "losses without "+name, r.Lost(), want)
		}
		disktest.WriteFile(t, path, content)
		scan(t, r)
		disktest.Equal(t, "losses with "+name, r.Lost(), nil)
	}
	for _, c := range s.Copies {
		gone(c.Name+listSuffix, Loss{Copy: c.Time})
	}
	last := s.parts[len(s.parts)-1] // the time of the last commits of an hour
	for _, p := range s.parts {
		gone(p.object.Name, Loss{First: p.First, Last: p.Last, Until: time.UnixMicro(last.Time).UTC()})
	}

	for name := range objects(t, target) {
		at := time.Now().AddDate(0, 0, -8)
		if err := os.Chtimes(target.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	in.copy(r)
	if n, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1, StreamDays: 1}, time.UTC); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	scan(t, r)
	disktest.Equal(t, "losses after deletions", r.Lost(), nil)

	// Where the target deletes old objects, only one that is newer than others is missing.
	r = in.repository(target, Options{NoDelete: true})
	s = scan(t, r)
	if err := os.Remove(target.path(s.Copies[len(s.Copies)-1].Name + listSuffix)); err != nil {
		t.Fatal(err)
	}
	scan(t, r)
	disktest.Equal(t, "losses by a life cycle", r.Lost(), nil)
}
