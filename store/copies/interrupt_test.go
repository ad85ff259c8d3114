package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// unnamed returns the objects that would be deleted two days later because nothing names them.
func unnamed(t testing.TB, r *Repository, target Directory) []string {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	for name := range objects(t, target) {
		if err := os.Chtimes(target.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(target.path(r.instance+"/now"), nil, 0o600); err != nil { // which shows the time
		t.Fatal(err)
	}
	s := scan(t, r)
	all := r.doom(s, nil, r.window(s, s.Copies, 7))
	if err := os.Remove(target.path(r.instance + "/now")); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(name string) bool { return strings.HasSuffix(name, "/"+startName) })
}

// TestDirectory_Full fills the disk of a target, so that a copy fails with each of its objects: the
// error says so, the copy before it stays, nothing is left that uses space for nothing, and the next
// copy succeeds once there is room.
func TestDirectory_Full(t *testing.T) {
	in, target := newInstallation(t, 2), Directory(disktest.SmallDisk(t, "16m"))
	r := in.repository(target, Options{})
	first := in.copy(r)
	before := maps.Clone(in.contents)
	in.put("later 1")
	in.put("later 2")
	failed := 0
	for free := 0; ; free += 12 << 10 {
		ballast := filepath.Join(string(target), "ballast")
		fillBut(t, ballast, string(target), free)
		err := r.Copy(t.Context(), "1.2.3", unseen)
		if removeErr := os.Remove(ballast); removeErr != nil {
			t.Fatal(removeErr)
		}
		if err == nil {
			break
		}
		failed++
		errorSays(t, err, "no space left on device")
		errorSays(t, err, string(target))
		if s := scan(t, r); len(s.Copies) != 1 || s.Copies[0].Name != first.Name || s.Copies[0].Fault != nil {
			t.Errorf("with %d bytes free: %d copies", free, len(s.Copies))
		}
		if left := unnamed(t, r, target); len(left) > 0 {
			t.Errorf("with %d bytes free, left: %q", free, left)
		}
		if got, missing := restored(t, target, in.identity); !maps.Equal(got, before) || missing != 0 {
			t.Fatalf("with %d bytes free: %d files, %d missing", free, len(got), missing)
		}
	}
	if failed < 5 {
		t.Errorf("only %d copies failed", failed)
	}
	if got, missing := restored(t, target, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
		t.Errorf("%d of %d files, %d missing", len(got), len(in.contents), missing)
	}
}

// fillBut writes a file that leaves so many bytes of a disk free.
func fillBut(t testing.TB, path, dir string, free int) {
	t.Helper()
	n, err := disk.FreeSpace(dir)
	if err == nil {
		err = os.WriteFile(path, make([]byte, max(0, int(n)-free)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// watched is a directory of which a function is called before and after each operation, and whenever
// some of the bytes of an object were written.
type watched struct {
	Directory
	step func()
}

func (w *watched) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	defer w.step()
	return w.Directory.Put(ctx, name, size, &watchedReader{content, w.step})
}

func (w *watched) Delete(ctx context.Context, name string) error {
	defer w.step()
	return w.Directory.Delete(ctx, name)
}

type watchedReader struct {
	io.Reader
	step func()
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.step()
	return n, err
}

// TestDirectory_PowerCut keeps the states of a directory while a copy is made and older ones are
// deleted. A power cut leaves one of them, with files that were not synced in any state. From each, the
// copies in the list can be restored, the next one succeeds, and what was unfinished is deleted later.
func TestDirectory_PowerCut(t *testing.T) {
	rng := disktest.Random(t)
	in, target := newInstallation(t, 3), directory(t)
	in.copy(in.repository(target, Options{}))
	before := maps.Clone(in.contents)
	in.put("later")
	var states []Directory
	w := &watched{Directory: target}
	keep := func() {
		state := directory(t)
		if err := os.CopyFS(string(state), os.DirFS(string(target))); err != nil {
			t.Error(err)
		}
		states = append(states, state)
	}
	w.step = func() {
		if rng.IntN(disktest.Size(8, 4, 1)) == 0 || len(states) < 3 {
			keep()
		}
	}
	r := in.repository(w, Options{})
	if err := r.Copy(t.Context(), "1.2.3", unseen); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1}, time.UTC); err != nil {
		t.Fatal(err)
	}
	keep()
	old, unfinishedFiles := 0, 0
	for i, state := range states {
		err := filepath.WalkDir(string(state), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, unfinished) {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			unfinishedFiles++
			return os.Truncate(path, rng.Int64N(info.Size()+1))
		})
		if err != nil {
			t.Fatal(err)
		}
		switch got, missing := restored(t, state, in.identity); {
		case missing == 0 && maps.Equal(got, before):
			old++
		case missing != 0 || !maps.Equal(got, in.contents):
			t.Fatalf("state %d: %d files, %d missing", i, len(got), missing)
		}

		r := in.repository(state, Options{})
		if s := scan(t, r); slices.ContainsFunc(s.Copies, func(c *Copy) bool { return c.Fault != nil || c.Proof != nil || c.Own }) {
			t.Errorf("state %d: a copy is damaged or counts as proven", i)
		}
		c := in.copy(r)
		if _, err := r.Prove(t.Context(), scan(t, r), c, t.TempDir(), 100, examine); err != nil {
			t.Errorf("state %d: %v", i, err)
		}
		for _, name := range unnamed(t, r, state) {
			if err := state.Delete(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		for name := range objects(t, state) {
			if strings.HasSuffix(name, unfinished) {
				t.Errorf("state %d: %s stays", i, name)
			}
		}
		if got, missing := restored(t, state, in.identity); !maps.Equal(got, in.contents) || missing != 0 {
			t.Errorf("state %d: after the next copy, %d of %d files, %d missing", i, len(got), len(in.contents), missing)
		}
	}
	if old < 3 || old == len(states) || unfinishedFiles < 3 {
		t.Errorf("%d of %d states have the old copy, %d unfinished files", old, len(states), unfinishedFiles)
	}
}

// TestDirectory_Synced: after Put returns, a power cut loses neither an object nor the directories that
// were made for it.
func TestDirectory_Synced(t *testing.T) {
	const variable = "REEVE_TEST_PUT"
	if dir := os.Getenv(variable); dir != "" {
		if err := Directory(dir).Put(t.Context(), "a/b/object", 1, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-qq", "-o", calls, "-e", "trace=fsync", os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	out, err := cmd.CombinedOutput()
	if os.Getenv("CI") == "" && (errors.Is(err, exec.ErrNotFound) || strings.HasPrefix(string(out), "strace:")) {
		t.Skip("strace cannot be had here: " + string(out))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := string(disktest.ReadFile(t, calls))
	for _, name := range []string{"", "/a", "/a/b", "/a/b/object" + unfinished} {
		if !strings.Contains(text, "<"+dir+name+">") {
			t.Errorf("%s%s is not synced:\n%s", dir, name, text)
		}
	}
}

// TestCopy_Cancelled cancels a copy after it has stored some contents: the next one does not store them
// again, and nothing else is left.
func TestCopy_Cancelled(t *testing.T) {
	in, target := newInstallation(t, 6), directory(t)
	ctx, cancel := context.WithCancel(t.Context())
	w := &watched{Directory: target, step: func() {}}
	r := in.repository(w, Options{})
	contents := func() (n int) {
		for name := range objects(t, target) {
			if strings.Contains(name, "/"+filesName) && !strings.HasSuffix(name, indexSuffix) {
				n++
			}
		}
		return n
	}
	w.step = func() {
		if contents() >= 3 {
			cancel()
		}
	}
	if err := r.Copy(ctx, "1.2.3", unseen); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.step = func() {}
	if n, named := contents(), len(scan(t, r).contents); n < 2 || n > 4 || n != named {
		t.Errorf("%d contents are stored, of which %d are named", n, named)
	}
	in.copy(r)
	if n := contents(); n != 6 {
		t.Errorf("%d contents are stored, not 6", n)
	}
}

// TestShip_DirectoryFull fills the disk of a target while commits and contents are stored: the error says so, what
// was stored before can be restored, and all follows once there is room.
func TestShip_DirectoryFull(t *testing.T) {
	in, target := newInstallation(t, 2), Directory(disktest.SmallDisk(t, "16m"))
	r := in.repository(target, Options{})
	in.copy(r)
	in.ship(r)
	failed := 0
	for free := 0; ; free += 12 << 10 {
		before := maps.Clone(in.contents)
		in.put(fmt.Sprint("later ", free))
		ballast := filepath.Join(string(target), "ballast")
		fillBut(t, ballast, string(target), free)
		_, err := r.Ship(t.Context())
		err = errors.Join(err, r.Settle(t.Context()))
		if removeErr := os.Remove(ballast); removeErr != nil {
			t.Fatal(removeErr)
		}
		if err != nil {
			failed++
			errorSays(t, err, "no space left on device")
		}
		dir, _, restoreErr := restoreMoment(t, target, Moment{}, in.identity)
		if restoreErr != nil {
			t.Fatalf("with %d bytes free: %v", free, restoreErr)
		}
		got := contentsIn(t, dir)
		for content := range before {
			if !got[content] {
				t.Errorf("with %d bytes free, a content that was stored before is missing", free)
			}
		}
		in.ship(r) // there is room
		if dir, done, err := restoreMoment(t, target, Moment{}, in.identity); err != nil || done.Missing > 0 || !maps.Equal(contentsIn(t, dir), in.contents) {
			t.Fatalf("after %d bytes were free: %d missing, %v", free, done.Missing, err)
		}
		if err == nil && free > 0 {
			break
		}
	}
	if failed < 2 {
		t.Errorf("only %d shipments failed", failed)
	}
}

// TestShip_PowerCut keeps the states of a directory while commits and contents are stored, and parts are replaced
// by whole segments. A power cut leaves one of them, with files that were not synced in any state. From each, the
// latest commits that are stored are restored, with all contents of the commits before, and shipping goes on.
func TestShip_PowerCut(t *testing.T) {
	rng := disktest.Random(t)
	in, target := newInstallation(t, 2), directory(t)
	w := &watched{Directory: target, step: func() {}}
	r := in.repository(w, Options{})
	in.copy(r)
	type state struct {
		at     Directory
		stored map[string]bool // contents that were stored before
		all    map[string]bool // contents that the commits name
	}
	var states []state
	stored := maps.Clone(in.contents)
	w.step = func() {
		if rng.IntN(disktest.Size(6, 3, 1)) == 0 || len(states) < 3 {
			dir := directory(t)
			if err := os.CopyFS(string(dir), os.DirFS(string(target))); err != nil {
				t.Error(err)
			}
			states = append(states, state{dir, stored, maps.Clone(in.contents)})
		}
	}
	for i := range 4 {
		in.put(fmt.Sprint("later ", i))
		in.ship(r)
		in.put(fmt.Sprint("later still ", i))
		in.ship(r)
		if log := in.log(); i%2 == 1 {
			if err := log.Begin(log.Head()); err != nil { // ends the segment, so that it replaces its parts
				t.Fatal(err)
			}
			in.put(fmt.Sprint("of the next segment ", i))
			in.ship(r)
		}
		stored = maps.Clone(in.contents)
	}
	w.step = func() {}
	cut := 0
	for i, s := range states {
		err := filepath.WalkDir(string(s.at), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, unfinished) {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			cut++
			return os.Truncate(path, rng.Int64N(info.Size()+1))
		})
		if err != nil {
			t.Fatal(err)
		}
		dir, _, err := restoreMoment(t, s.at, Moment{}, in.identity)
		if err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		got := contentsIn(t, dir)
		for content := range s.stored {
			if !got[content] {
				t.Errorf("state %d: a content is missing that was stored before", i)
			}
		}
		for content := range got {
			if !s.all[content] {
				t.Errorf("state %d: a content is there that came later", i)
			}
		}
		next := in.repository(s.at, Options{})
		in.copy(next)
		in.ship(next)
		if dir, done, err := restoreMoment(t, s.at, Moment{}, in.identity); err != nil || done.Missing > 0 || !maps.Equal(contentsIn(t, dir), in.contents) {
			t.Errorf("state %d, after the next shipment: %d missing, %v", i, done.Missing, err)
		}
	}
	if len(states) < 5 || cut < 2 {
		t.Errorf("%d states, %d unfinished files", len(states), cut)
	}
}
