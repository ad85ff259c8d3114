package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
	"reeve/store/stream"
)

// restart closes and opens the database.
func (in *installation) restart() {
	in.t.Helper()
	err := in.db.Close()
	if err == nil {
		in.db, err = store.Open(in.dir, in.options)
	}
	if err != nil {
		in.t.Fatal(err)
	}
}

func (in *installation) log() *stream.Log {
	in.t.Helper()
	log, err := in.db.Stream()
	if err != nil || log == nil {
		in.t.Fatal(log, err)
	}
	return log
}

func (in *installation) ship(r *Repository) {
	in.t.Helper()
	all, err := r.Ship(in.t.Context())
	if err = errors.Join(err, r.Settle(in.t.Context())); err != nil || !all {
		in.t.Fatal(all, err)
	}
}

// remove deletes the file with a content.
func (in *installation) remove(content string) {
	in.t.Helper()
	err := in.db.Update(store.System, func(tx *store.Tx) error {
		for f, err := range store.Files.All(tx) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(content+" ", f.Name+" ") {
				return store.Files.Delete(tx, f.ID)
			}
		}
		return errors.New("there is no such file")
	})
	if err != nil {
		in.t.Fatal(err)
	}
	delete(in.contents, content)
}

// restoreMoment restores a moment with an identity and the target alone.
func restoreMoment(t testing.TB, target Target, moment Moment, identity age.Identity) (dir string, done kv.Restored, err error) {
	t.Helper()
	identities := []age.Identity{identity}
	all, _, err := List(t.Context(), target, identities)
	if err != nil {
		return dir, done, err
	}
	m, err := moment.Base(all)
	if err != nil {
		return dir, done, err
	}
	path := filepath.Join(t.TempDir(), "copy.age")
	if err := Fetch(t.Context(), target, m, path); err != nil {
		return dir, done, err
	}
	open, err := Contents(t.Context(), target, m.Instance, identities)
	if err != nil {
		return dir, done, err
	}
	commits, err := CommitsAfter(t.Context(), target, m, all, moment, identities)
	if err != nil {
		return dir, done, err
	}
	dir = filepath.Join(t.TempDir(), "restored")
	done, err = store.RestoreMoment(dir, path, identities, open, commits.Entries(t.Context()), store.Options{})
	return dir, done, err
}

func errorSays(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, not %q", err, text)
	}
}

// moment is a moment with the contents of the files at it.
type moment struct {
	at       time.Time
	contents map[string]bool
}

// TestShip_EveryMoment stores copies and commits while files come and go and the server restarts, and
// restores random moments from the target.
func TestShip_EveryMoment(t *testing.T) {
	rng := disktest.Random(t)
	in, target := newInstallation(t, 3), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	stored := maps.Clone(in.contents) // contents that were stored while a file had them
	var moments []moment
	for i := range disktest.Size(60, 150, 600) {
		switch n := rng.IntN(20); {
		case n == 0:
			in.restart()
			r = in.repository(target, Options{})
			scan(t, r)
		case n == 1:
			in.copy(r)
			maps.Copy(stored, in.contents)
		case n < 6 && len(in.contents) > 2:
			for content := range in.contents {
				in.remove(content)
				break
			}
		default:
			in.put(fmt.Sprintf("round %d", i))
		}
		time.Sleep(time.Millisecond)
		if rng.IntN(3) == 0 {
			in.ship(r)
			maps.Copy(stored, in.contents)
		}
		moments = append(moments, moment{time.Now(), maps.Clone(in.contents)})
		time.Sleep(time.Millisecond)
	}
	in.ship(r)
	maps.Copy(stored, in.contents)
	if !r.Continued() {
		t.Error("the commits do not continue a copy")
	}
	if all := r.Ranges(); len(all) != 1 {
		t.Errorf("ranges: %v", all)
	}
	for range disktest.Size(8, 20, 60) {
		m := moments[rng.IntN(len(moments))]
		dir, done, err := restoreMoment(t, target, Moment{At: m.at}, in.identity)
		if err != nil {
			t.Fatal(err)
		}
		want := maps.Clone(m.contents) // the moment may be chosen again
		maps.DeleteFunc(want, func(content string, _ bool) bool { return !stored[content] })
		if got := contentsIn(t, dir); !maps.Equal(got, want) || done.Missing != len(m.contents)-len(got) {
			t.Fatalf("at %s: %d of %d files, not %d; %d missing", m.at, len(got), len(m.contents), len(want), done.Missing)
		}
	}
}

// TestShip_WholeSegments lets segments end, and checks that they replace their parts.
func TestShip_WholeSegments(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	for i := range 5 {
		in.put(fmt.Sprint("one ", i))
		in.ship(r)
	}
	parts := func() (n int) {
		for name := range objects(t, target) {
			if strings.Contains(name, "/"+streamName) {
				n++
			}
		}
		return n
	}
	if n := parts(); n != 5 {
		t.Errorf("%d parts", n)
	}
	log := in.log()
	if err := log.Begin(log.Head()); err != nil { // ends the segment
		t.Fatal(err)
	}
	in.put("two")
	in.ship(r)
	if n := parts(); n != 2 {
		t.Errorf("%d parts", n)
	}
	segments := log.Segments()
	if len(segments) != 2 || !r.shipped(&segments[0]) || r.shipped(&segments[1]) {
		t.Errorf("%+v", segments)
	}
	if all := scan(t, r); len(all.parts) != 2 || len(r.Ranges()) != 1 {
		t.Errorf("%+v, %v", all.parts, r.Ranges())
	}
	dir, _, err := restoreMoment(t, target, Moment{At: time.Now()}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	if got := contentsIn(t, dir); !maps.Equal(got, in.contents) {
		t.Errorf("%d files, not %d", len(got), len(in.contents))
	}
}

// TestShip_EpochEnds ships several times after an epoch has ended and before its segment is stored whole: nothing is
// stored twice, and its commits stay.
func TestShip_EpochEnds(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	clock := &setClock{now: time.Now().UTC()}
	in.options.Clock = clock.read
	in.reopen()
	t.Cleanup(func() { in.db.Close() })
	r := in.repository(target, Options{})
	in.copy(r)
	ship := func() {
		t.Helper()
		if all, err := r.Ship(t.Context()); err != nil || !all {
			t.Fatal(all, err)
		}
	}
	in.put("one")
	ship()
	in.put("two")
	ship()
	at, want := r.Ranges()[0].To, maps.Clone(in.contents)
	clock.set(clock.time().Add(-time.Hour))
	for _, name := range []string{"three", "four", "five"} {
		in.put(name)
		ship()
	}
	segments := in.log().Segments()
	if n := len(r.ship.objects[segmentOf(&segments[0])]); n != 2 || len(segments) != 2 {
		t.Errorf("the segment that has ended, of %d, is stored in %d parts", len(segments), n)
	}
	in.ship(r)
	in.put("six")
	in.ship(r)
	dir, _, err := restoreMoment(t, target, Moment{At: at}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	if got := contentsIn(t, dir); !maps.Equal(got, want) {
		t.Errorf("%d files, not %d", len(got), len(want))
	}
}

// TestShip_InterruptedAnywhere lets shipping fail at each of its operations. What is stored can be
// restored, and the next attempt succeeds.
func TestShip_InterruptedAnywhere(t *testing.T) {
	in, first := newInstallation(t, 1), directory(t)
	in.copy(in.repository(first, Options{}))
	states := []map[string]bool{maps.Clone(in.contents)}
	for i := range 3 {
		in.put(fmt.Sprint("later ", i))
		states = append(states, maps.Clone(in.contents))
	}
	failed := 0
	for after := 0; ; after++ {
		target := directory(t)
		if err := os.CopyFS(string(target), os.DirFS(string(first))); err != nil {
			t.Fatal(err)
		}
		f := &faulty{Target: target, after: 1 << 30}
		r := in.repository(f, Options{})
		scan(t, r)
		f.after = after
		_, err := r.Ship(t.Context())
		err = errors.Join(err, r.Settle(t.Context()))
		f.after = 1 << 30
		dir, _, restoreErr := restoreMoment(t, target, Moment{At: time.Now()}, in.identity)
		if restoreErr != nil {
			t.Fatalf("after %d operations: %v", after, restoreErr)
		}
		got := contentsIn(t, dir)
		whole := false
		for _, state := range states { // a content may be missing: entries are stored first
			missing := false
			for content := range got {
				missing = missing || !state[content]
			}
			whole = whole || !missing
		}
		if !whole {
			t.Fatalf("after %d operations: %d files", after, len(got))
		}
		if err == nil {
			break
		}
		failed++
		in.ship(r)
		if dir, _, err = restoreMoment(t, target, Moment{At: time.Now()}, in.identity); err != nil {
			t.Fatal(err)
		}
		if got := contentsIn(t, dir); !maps.Equal(got, in.contents) {
			t.Fatalf("the attempt after %d operations: %d files, not %d", after, len(got), len(in.contents))
		}
	}
	if failed < 10 {
		t.Errorf("only %d operations have failed", failed)
	}
}

// TestShip_WholeInterrupted lets the replacement of parts by their segment fail at each of its
// operations.
func TestShip_WholeInterrupted(t *testing.T) {
	for after := 0; ; after += disktest.Size(3, 2, 1) {
		in, target := newInstallation(t, 0), directory(t)
		f := &faulty{Target: target, after: 1 << 30}
		r := in.repository(f, Options{})
		in.copy(r)
		for i := range 3 {
			in.put(fmt.Sprint("file ", i))
			in.ship(r)
		}
		if err := in.log().Begin(in.log().Head()); err != nil { // ends the segment
			t.Fatal(err)
		}
		in.put("later")
		f.after = after
		_, err := r.Ship(t.Context())
		err = errors.Join(err, r.Settle(t.Context()))
		f.after = 1 << 30
		for range 2 { // before and after the next attempt
			dir, _, restoreErr := restoreMoment(t, target, Moment{At: time.Now()}, in.identity)
			if restoreErr != nil {
				t.Fatalf("after %d operations: %v", after, restoreErr)
			}
			if got := contentsIn(t, dir); len(got) < 3 {
				t.Fatalf("after %d operations: %d files", after, len(got))
			}
			in.ship(r)
		}
		dir, _, restoreErr := restoreMoment(t, target, Moment{At: time.Now()}, in.identity)
		if restoreErr != nil {
			t.Fatal(restoreErr)
		}
		if got := contentsIn(t, dir); !maps.Equal(got, in.contents) {
			t.Fatalf("the attempt after %d operations: %d files, not %d", after, len(got), len(in.contents))
		}
		if s := scan(t, r); len(s.parts) != 2 {
			t.Fatalf("the attempt after %d operations: %d parts", after, len(s.parts))
		}
		if err == nil {
			if after < 10 {
				t.Errorf("only %d operations have failed", after)
			}
			return
		}
		if err := in.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShip_Gaps checks which moments can be restored when commits are missing, and what is said.
func TestShip_Gaps(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	base := in.copy(r)
	in.put("one")
	in.ship(r)
	before := time.Now()
	time.Sleep(time.Millisecond)

	// The machine stops before the second commit is stored, and the log loses it.
	in.put("two")
	if err := in.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(in.dir, "stream")); err != nil {
		t.Fatal(err)
	}
	var err error
	if in.db, err = store.Open(in.dir, in.options); err != nil {
		t.Fatal(err)
	}
	r = in.repository(target, Options{})
	scan(t, r)
	between := time.Now()
	time.Sleep(time.Millisecond)
	in.put("three")
	in.ship(r)
	if r.Continued() {
		t.Error("commits of another epoch continue the copy")
	}
	in.copy(r)
	in.put("four")
	in.ship(r)
	if !r.Continued() {
		t.Error("commits do not continue the new copy")
	}
	all := r.Ranges()
	if len(all) != 2 || all[0].From.After(base.Time) || !all[0].To.Before(before) || !all[1].From.After(between) {
		t.Errorf("ranges %v of the copies of %s, then %s", all, base.Time, before)
	}
	_, _, err = restoreMoment(t, target, Moment{At: between}, in.identity)
	errorSays(t, err, "may not be stored: name one of these moments")
	for at, files := range map[time.Time]int{all[0].To: 2, all[1].To: 5} {
		dir, _, err := restoreMoment(t, target, Moment{At: at}, in.identity)
		if err != nil {
			t.Fatal(err)
		}
		if got := contentsIn(t, dir); len(got) != files {
			t.Errorf("at %s: %d files, not %d", at, len(got), files)
		}
	}
	_, _, err = restoreMoment(t, target, Moment{At: base.Time.Add(-time.Hour)}, in.identity)
	errorSays(t, err, "there is no copy from before")
}

// TestShip_DamageIsFound damages each part in several ways: a restore of a moment after it is refused.
func TestShip_DamageIsFound(t *testing.T) {
	rng := disktest.Random(t)
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	for i := range 4 {
		in.put(fmt.Sprint("file ", i))
		in.ship(r)
	}
	var names []string
	for _, p := range scan(t, r).parts {
		names = append(names, target.path(p.object.Name))
	}
	for i, path := range names[:3] {
		content := disktest.ReadFile(t, path)
		other := disktest.ReadFile(t, names[3])
		for kind, damage := range map[string]func() error{
			"a bit":           func() error { return flip(path, int64(rng.IntN(len(content)))) },
			"its end":         func() error { return os.Truncate(path, int64(len(content)-1-rng.IntN(len(content)-1))) },
			"all of it":       func() error { return os.Truncate(path, 0) },
			"its name":        func() error { return os.Remove(path) },
			"another's place": func() error { return disk.WriteFile(path, other) },
			"another's frames": func() error {
				return disk.WriteFile(path, append(content[:len(content):len(content)], other[len(other)/2:]...))
			},
		} {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			_, _, err := restoreMoment(t, target, Moment{At: time.Now()}, in.identity)
			if kind == "another's frames" { // what follows the entries that the name says is not read
				if err != nil {
					t.Errorf("part %d, %s: %v", i, kind, err)
				}
			} else if err == nil {
				t.Errorf("part %d was restored without %s", i, kind)
			}
			disktest.WriteFile(t, path, content)
		}
	}
	if _, _, err := restoreMoment(t, target, Moment{At: time.Now()}, in.identity); err != nil {
		t.Error(err)
	}
}

// TestShip_LastPartCutOff cuts the last object with commits off: what it may lead to is refused, with its name and
// the moment before it, which can be restored, and so can the copy alone.
func TestShip_LastPartCutOff(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	base := maps.Clone(in.contents)
	in.put("sound")
	in.ship(r)
	time.Sleep(time.Millisecond)
	before := moment{time.Now(), maps.Clone(in.contents)}
	time.Sleep(time.Millisecond)
	in.put("cut off")
	in.ship(r)
	parts := scan(t, r).parts
	last := parts[len(parts)-1].object
	for _, size := range []int64{last.Size - 1, last.Size / 2, 1, 0} {
		if err := os.Truncate(target.path(last.Name), size); err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, m := range []Moment{{}, {At: time.Now()}, {At: before.at}} {
			_, _, err := restoreMoment(t, target, m, in.identity)
			errorSays(t, err, last.Name)
			_, said, _ = strings.Cut(err.Error(), "; the commits before it lead to ")
		}
		at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(said, ": name this moment with --at"))
		if err != nil || !at.Before(before.at) {
			t.Fatal(said, err)
		}
		dir, _, err := restoreMoment(t, target, Moment{At: at}, in.identity)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if got := contentsIn(t, dir); !maps.Equal(got, before.contents) {
			t.Errorf("%d bytes: %d files, not %d", size, len(got), len(before.contents))
		}
		if got, missing := restored(t, target, in.identity); missing > 0 || !maps.Equal(got, base) {
			t.Errorf("%d bytes: %d files, %d missing", size, len(got), missing)
		}
	}
}

// TestProve_CommitsDamaged damages the commits between two copies in several ways, which the proof of
// the later copy finds.
func TestProve_CommitsDamaged(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	for i := range 3 {
		in.put(fmt.Sprint("file ", i))
		in.ship(r)
	}
	c := in.copy(r)
	path := target.path(scan(t, r).parts[1].object.Name)
	content := disktest.ReadFile(t, path)
	size := int64(len(content))
	for damage, change := range map[string]func() error{
		"none":    func() error { return nil },
		"deleted": func() error { return os.Remove(path) },
		"emptied": func() error { return os.Truncate(path, 0) },
		"cut off": func() error { return os.Truncate(path, size-1) },
		"longer":  func() error { return os.Truncate(path, size+1) },
		"flipped": func() error { return flip(path, size/2) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		s := scan(t, r)
		n, err := r.proveCommits(t.Context(), s, c.Manifest)
		if damage == "none" {
			if err != nil || n != int(c.Manifest.Stream.Number-s.Copies[1].Manifest.Stream.Number) {
				t.Errorf("%d commits were read: %v", n, err)
			}
		} else if err == nil {
			t.Errorf("%s: it was not found", damage)
		}
		disktest.WriteFile(t, path, content)
	}
}

// TestShip_TwoServers lets two servers go on from one state. Nothing says which of them is meant.
func TestShip_TwoServers(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	in.copy(in.repository(target, Options{}))
	in.restart()
	other := &installation{t: t, dir: filepath.Join(t.TempDir(), "other"), options: in.options, identity: in.identity, contents: map[string]bool{}}
	if err := in.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other.dir, os.DirFS(in.dir)); err != nil {
		t.Fatal(err)
	}
	var between time.Time
	repositories := map[*installation]*Repository{}
	for _, one := range []*installation{in, other} {
		var err error
		if one.db, err = store.Open(one.dir, one.options); err != nil {
			t.Fatal(err)
		}
		defer one.db.Close()
		repositories[one] = one.repository(target, Options{})
		scan(t, repositories[one])
	}
	for _, one := range []*installation{in, other} {
		one.put("by " + filepath.Base(one.dir))
		if one == in { // whose commits are read first
			time.Sleep(time.Millisecond)
			between = time.Now()
			time.Sleep(time.Millisecond)
			one.put("more")
		}
		one.ship(repositories[one])
	}
	for _, at := range []time.Time{time.Now(), between} {
		_, _, err := restoreMoment(t, target, Moment{At: at}, in.identity)
		errorSays(t, err, "two servers have gone on from commit")
	}
}

// TestShip_SetBack sets the machine back to a snapshot, as a hypervisor does. Its commits since then
// are at the target; those that it makes now are others. Both remain, and every moment of which there
// are copies and commits can be restored.
func TestShip_SetBack(t *testing.T) {
	for name, at := range map[string]struct{ seen, restarted bool }{
		"target reached at once":                {true, false},
		"target reached later":                  {false, false},
		"target reached later, after a restart": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := at.seen
			in, target := newInstallation(t, 1), directory(t)
			r := in.repository(target, Options{})
			in.copy(r)
			in.put("before")
			in.ship(r)
			snapshot := filepath.Join(t.TempDir(), "snapshot")
			if err := in.db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(snapshot, os.DirFS(in.dir)); err != nil {
				t.Fatal(err)
			}
			reopen := func() {
				var err error
				if in.db, err = store.Open(in.dir, in.options); err != nil {
					t.Fatal(err)
				}
				r = in.repository(target, Options{})
			}
			reopen()
			scan(t, r)
			in.put("lost one")
			in.put("lost two")
			in.ship(r)
			lost := in.log().Head()
			if err := errors.Join(in.db.Close(), os.RemoveAll(in.dir), os.Rename(snapshot, in.dir)); err != nil {
				t.Fatal(err)
			}

			reopen()
			if seen {
				scan(t, r)
			}
			for range 4 { // past the position of the entries at the target
				in.put(fmt.Sprint("now ", in.log().Head().Number))
			}
			if at.restarted {
				if err := in.db.Close(); err != nil {
					t.Fatal(err)
				}
				reopen()
			}
			if !seen {
				scan(t, r)
			}
			in.ship(r)
			if now := in.log().Head(); now.Epoch == lost.Epoch || r.Continued() {
				t.Fatalf("the commits are at %v, the lost ones at %v", now, lost)
			}
			epoch := in.log().Head().Epoch
			in.copy(r)
			in.put("last")
			in.ship(r)
			if now := in.log().Head(); now.Epoch != epoch || !r.Continued() {
				t.Errorf("another epoch, %v, or no copy leads to it", now)
			}
			for at, want := range map[time.Time]string{time.UnixMicro(lost.Time): "lost two", time.Now(): "last"} {
				dir, _, err := restoreMoment(t, target, Moment{At: at}, in.identity)
				if err != nil {
					t.Fatal(want, err)
				}
				got := contentsIn(t, dir)
				has := func(content string) bool {
					for text := range got {
						if strings.HasPrefix(text, content+" ") {
							return true
						}
					}
					return false
				}
				if !has(want) || has("lost two") == has("last") {
					t.Errorf("%d files, without %s", len(got), want)
				}
			}
		})
	}
}

// TestShip_TargetMissing ships to a directory that is not mounted: that is an error, also without new
// commits, until it is there again.
func TestShip_TargetMissing(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.copy(r)
	in.ship(r)
	away := string(target) + "-away"
	if err := os.Rename(string(target), away); err != nil {
		t.Fatal(err)
	}
	in.put("later")
	for range 2 {
		if all, err := r.Ship(t.Context()); all || err == nil {
			t.Errorf("all commits are stored: %t, %v", all, err)
		}
	}
	if err := os.Rename(away, string(target)); err != nil {
		t.Fatal(err)
	}
	in.ship(r)
}

// TestCopy_NewRecipient changes the recipient: contents and the list of erasures are stored again, so
// that its identity alone restores all.
func TestCopy_NewRecipient(t *testing.T) {
	in, target := newInstallation(t, 3), directory(t)
	list := func() ([]byte, error) { return []byte("{}\n"), nil }
	r := in.repository(target, Options{Erased: list})
	in.copy(r)
	in.ship(r)
	var err error
	if in.identity, err = age.GenerateX25519Identity(); err != nil {
		t.Fatal(err)
	}
	in.options.Stream = &kv.StreamOptions{Recipients: []age.Recipient{in.identity.Recipient()}}
	in.restart()
	r = in.repository(target, Options{Erased: list})
	in.copy(r)
	in.put("later")
	in.ship(r)
	dir, done, err := restoreMoment(t, target, Moment{}, in.identity)
	if err != nil || done.Missing > 0 {
		t.Fatal(done.Missing, err)
	}
	if got := contentsIn(t, dir); !maps.Equal(got, in.contents) {
		t.Errorf("%d files, not %d", len(got), len(in.contents))
	}
	if lines, _, err := erasedAt(t, in, target); err != nil || len(lines) != 1 {
		t.Error(lines, err)
	}
}

// TestPrune_KeepsWindow deletes copies and commits that are older than the window, and keeps what a
// restore of each moment in it needs.
func TestPrune_KeepsWindow(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	r := in.repository(target, Options{})
	age := func(days int) { // what is stored becomes older
		for name := range objects(t, target) {
			info, err := os.Stat(target.path(name))
			if err != nil {
				t.Fatal(err)
			}
			at := info.ModTime().AddDate(0, 0, -days)
			if err := os.Chtimes(target.path(name), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	var moments []moment
	for i := range 6 {
		in.copy(r)
		in.put(fmt.Sprint("file ", i))
		in.ship(r)
		time.Sleep(time.Millisecond)
		moments = append(moments, moment{time.Now(), maps.Clone(in.contents)})
		time.Sleep(time.Millisecond)
		for content := range in.contents {
			in.remove(content)
		}
		in.ship(r)
		age(3)
	}
	in.copy(r)
	s := scan(t, r)
	deleted, err := r.Prune(t.Context(), s, Keep{Daily: 1, StreamDays: 7}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	s = scan(t, r)
	if deleted != 5 || len(s.Copies) != 2 {
		t.Errorf("%d copies were deleted, %d are left", deleted, len(s.Copies))
	}
	for i, m := range moments {
		dir, done, err := restoreMoment(t, target, Moment{At: m.at}, in.identity)
		if i < 3 {
			errorSays(t, err, "there is no copy from before")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := contentsIn(t, dir); !maps.Equal(got, m.contents) || done.Missing > 0 {
			t.Errorf("moment %d: %d files, %d missing", i, len(got), done.Missing)
		}
	}
	for _, p := range s.parts {
		if p.Time < s.Copies[1].Manifest.Stream.Time {
			t.Errorf("%s is left", p.object.Name)
		}
	}
}

// TestPrune_KeepsChains deletes copies of which the commits after a gap continue none, and keeps those
// with which a chain of commits begins.
func TestPrune_KeepsChains(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	first := in.copy(r)
	for name := range objects(t, target) {
		at := time.Now().AddDate(0, 0, -8)
		if err := os.Chtimes(target.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	in.put("one")
	in.ship(r)
	in.copy(r)
	if err := in.db.SetStream(nil); err != nil {
		t.Fatal(err)
	}
	in.put("two")
	if err := in.db.SetStream(in.options.Stream); err != nil {
		t.Fatal(err)
	}
	chain := in.copy(r)
	in.put("three")
	in.ship(r)
	time.Sleep(time.Millisecond)
	m := moment{time.Now(), maps.Clone(in.contents)}
	time.Sleep(time.Millisecond)
	in.put("four")
	in.ship(r)
	last := in.copy(r)
	if _, err := r.Prune(t.Context(), scan(t, r), Keep{Daily: 1, StreamDays: 7}, time.UTC); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, c := range scan(t, r).Copies {
		left = append(left, c.Name)
	}
	disktest.Equal(t, "copies", left, []string{last.Name, chain.Name, first.Name})
	dir, done, err := restoreMoment(t, target, Moment{At: m.at}, in.identity)
	if err != nil || done.Missing > 0 {
		t.Fatal(done.Missing, err)
	}
	if got := contentsIn(t, dir); !maps.Equal(got, m.contents) {
		t.Errorf("%d files, not %d", len(got), len(m.contents))
	}
}

// heldTarget holds the next index that is stored until free is closed.
type heldTarget struct {
	Target
	reached, free chan struct{}
}

func (h heldTarget) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if strings.HasSuffix(name, indexSuffix) {
		h.reached <- struct{}{}
		<-h.free
	}
	return h.Target.Put(ctx, name, size, content)
}

// TestSettle_NamesBesideScan checks that a content that an index is about to name is not deleted because
// of a list that is read at the same time.
func TestSettle_NamesBesideScan(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	in.copy(in.repository(target, Options{}))
	old := time.Now().Add(-2 * unnamedFor)
	for name := range objects(t, target) {
		if err := os.Chtimes(target.path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	held := heldTarget{target, make(chan struct{}), make(chan struct{})}
	r := in.repository(held, Options{})
	scan(t, r)
	if _, err := r.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled := make(chan error)
	go func() { settled <- r.Settle(t.Context()) }()
	<-held.reached
	for range 2 {
		s := scan(t, r)
		doomed := r.doom(s, nil, window{})
		if len(s.contents) != 1 {
			t.Fatal(s.contents)
		}
		for _, c := range s.contents {
			if doomed[c.Stored.Object] {
				t.Errorf("%s would be deleted", c.Stored.Object)
			}
		}
	}
	close(held.free)
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
	scan(t, r)
	if len(r.ship.named) != 0 {
		t.Errorf("named after an index was listed: %v", r.ship.named)
	}
}

// TestLater_AfterUnstreamedCopy checks that commits which are stored after a copy that none continues are
// found.
func TestLater_AfterUnstreamedCopy(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	if err := in.db.SetStream(nil); err != nil {
		t.Fatal(err)
	}
	in.put("which no commit has")
	r := in.repository(target, Options{})
	m := in.copy(r).Manifest
	if m.Stream != nil {
		t.Fatalf("%+v", m.Stream)
	}
	if at, err := Later(t.Context(), target, m); err != nil || !at.IsZero() {
		t.Errorf("%v, %v", at, err)
	}
	if err := in.db.SetStream(in.options.Stream); err != nil {
		t.Fatal(err)
	}
	in.put("later")
	in.ship(r)
	if at, err := Later(t.Context(), target, m); err != nil || !at.Equal(timeOfHead(in.log().Head())) {
		t.Errorf("%v, %v, want %v", at, err, timeOfHead(in.log().Head()))
	}
}
