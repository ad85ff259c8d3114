package copies

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/disk/disktest"
)

// TestPrune_ClockOnceWrong deletes nothing that a restore of the last days needs because the clock was a year
// ahead when the server started.
func TestPrune_ClockOnceWrong(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	in.put("one")
	in.ship(r)
	time.Sleep(time.Millisecond)
	m := moment{time.Now(), maps.Clone(in.contents)}
	time.Sleep(time.Millisecond)
	in.put("two")
	in.ship(r)
	in.copy(r)

	in.reopen()
	r = in.repository(target, Options{})
	r.began = r.began.AddDate(1, 0, 0)
	in.copy(r)
	before := objects(t, target)
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 10, StreamDays: 7}, time.UTC); err != nil {
		t.Fatal(err)
	}
	for name := range before {
		if _, there := objects(t, target)[name]; !there && (strings.Contains(name, "/stream/") || strings.Contains(name, "/files/")) {
			t.Errorf("%s was deleted", name)
		}
	}
	dir, done, err := restoreMoment(t, target, Moment{At: m.at}, in.identity)
	if err != nil || done.Missing > 0 {
		t.Fatal(done.Missing, err)
	}
	if got := contentsIn(t, dir); !maps.Equal(got, m.contents) {
		t.Errorf("%d files, not %d", len(got), len(m.contents))
	}
}

// TestPrune_FirstCopyUnfinished keeps the contents that a first copy has stored which takes longer than a day,
// with interruptions.
func TestPrune_FirstCopyUnfinished(t *testing.T) {
	in, target := newInstallation(t, 5), directory(t)
	r := in.repository(withoutManifest{target}, Options{})
	if err := r.Copy(t.Context(), "1.2.3", unseen); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	for name := range objects(t, target) {
		old := time.Now().Add(-30 * time.Hour)
		if err := os.Chtimes(target.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	before := objects(t, target)
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1, StreamDays: 7}, time.UTC); err != nil {
		t.Fatal(err)
	}
	contents := 0
	for name := range before {
		if !strings.Contains(name, "/files/") {
			continue
		}
		contents++
		if _, there := objects(t, target)[name]; !there {
			t.Errorf("%s was deleted", name)
		}
	}
	if contents < 6 {
		t.Errorf("the copy has stored %d objects", contents)
	}
}

// withoutManifest is a target that fails when a manifest is stored.
type withoutManifest struct{ Target }

func (w withoutManifest) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if strings.HasSuffix(name, listSuffix) {
		return errFault
	}
	return w.Target.Put(ctx, name, size, content)
}

// TestPrune_OtherGeneration keeps the copies of a server beside those of a rehearsal of a restore, which stored a
// copy on the same day.
func TestPrune_OtherGeneration(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	own := in.copy(in.repository(target, Options{}))

	all, _, err := List(t.Context(), target, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	dir, archive := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy.age")
	if err := Fetch(t.Context(), target, all[0], archive); err != nil {
		t.Fatal(err)
	}
	open, err := Contents(t.Context(), target, all[0].Instance, []age.Identity{in.identity})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.RestoreContents(dir, archive, []age.Identity{in.identity}, open, store.Options{}); err != nil {
		t.Fatal(err)
	}
	other := &installation{t: t, dir: dir, identity: in.identity, contents: map[string]bool{}}
	other.reopen()
	rehearsal := other.copy(other.repository(target, Options{}))

	in.reopen()
	r := in.repository(target, Options{})
	s := scan(t, r)
	for _, c := range s.Copies {
		c.Manifest.Stream = nil // commits would keep both
	}
	if _, err := r.Prune(t.Context(), s, Keep{Daily: 1}, time.UTC); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, c := range scan(t, r).Copies {
		left = append(left, c.Name)
	}
	disktest.Equal(t, "copies", left, []string{rehearsal.Name, own.Name})
}

// TestScan_Damaged finds a copy whose records are cut, and reads a manifest again that was damaged on its way.
func TestScan_Damaged(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	way := &garbled{Target: target}
	r := in.repository(way, Options{})
	c := in.copy(r)
	way.on = true
	r.known = map[string]*Copy{}
	if s := scan(t, r); s.Copies[0].Fault == nil || s.complete {
		t.Errorf("damaged on its way: %+v", s.Copies[0])
	}
	way.on = false
	if s := scan(t, r); s.Copies[0].Fault != nil || !s.complete {
		t.Errorf("no longer damaged: %+v", s.Copies[0])
	}
	path := target.path(c.Name + dataSuffix)
	if err := os.Truncate(path, c.Size-1); err != nil {
		t.Fatal(err)
	}
	if s := scan(t, r); s.Copies[0].Fault == nil || !strings.Contains(s.Copies[0].Fault.Error(), "another size") {
		t.Errorf("cut: %+v", s.Copies[0])
	}
}

// garbled is a target whose manifests are damaged on their way.
type garbled struct {
	Target
	on bool
}

func (g *garbled) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if g.on && strings.HasSuffix(name, listSuffix) {
		return io.NopCloser(strings.NewReader("no manifest")), nil
	}
	return g.Target.Get(ctx, name)
}
