package backup_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
	"reeve/store/stream"
)

// moment is a moment, and the records that the installation had then.
type moment struct {
	at      time.Time
	seq     uint64 // number of the newest entry of the change log
	records map[string]string
}

func (k *kept) moment() moment {
	time.Sleep(time.Millisecond) // so that no commit has this time
	m := moment{time.Now(), k.NewestEntry(), records(k.Instance)}
	time.Sleep(time.Millisecond)
	return m
}

// records returns the records whose changes are in the change log.
func records(in *servertest.Instance) map[string]string {
	all := in.Dump()
	maps.DeleteFunc(all, func(name, _ string) bool {
		collection, _, _ := strings.Cut(name, " ")
		return store.Accesses()[collection] == nil || store.Accesses()[collection].Update == ""
	})
	return all
}

// change changes something, as users do.
func (k *kept) change(rng *rand.Rand, made *[]string) {
	switch n := rng.IntN(5); {
	case n == 0 && len(*made) > 0:
		i := rng.IntN(len(*made))
		k.OK("DELETE", (*made)[i], "", "owner")
		*made = slices.Delete(*made, i, i+1)
	case n == 1:
		k.Set("site.title", fmt.Sprint("Title ", rng.Uint32()))
	case n == 2:
		f := k.Keep("owner", fmt.Sprint(rng.Uint32(), ".txt"), fmt.Sprint("content ", rng.Uint32()))
		*made = append(*made, fmt.Sprint("/file/list/", f.ID))
	default:
		id := k.Dept(fmt.Sprint("Department ", rng.Uint32()), 0)
		*made = append(*made, fmt.Sprint("/admin/dept/", id))
	}
}

// restore restores a moment from a directory, with the identity alone.
func (k *kept) restore(dir string, at copies.Moment) (*servertest.Instance, kv.Restored, error) {
	k.T.Helper()
	identities, to := []age.Identity{k.identity}, copies.Directory(dir)
	all, _, err := copies.List(k.T.Context(), to, identities)
	servertest.Must(k.T, err)
	m, err := at.Base(all)
	if err != nil {
		return nil, kv.Restored{}, err
	}
	temp := k.T.TempDir()
	archive, data := filepath.Join(temp, "copy.age"), filepath.Join(temp, "data")
	servertest.Must(k.T, copies.Fetch(k.T.Context(), to, m, archive))
	contents, err := copies.Contents(k.T.Context(), to, m.Instance, identities)
	servertest.Must(k.T, err)
	commits, err := copies.CommitsAfter(k.T.Context(), to, m, all, at, identities)
	servertest.Must(k.T, err)
	done, err := store.RestoreMoment(data, archive, identities, contents, commits.Entries(k.T.Context()), store.Options{})
	if err != nil {
		return nil, done, err
	}
	db, err := store.Open(data, store.Options{})
	servertest.Must(k.T, err)
	k.T.Cleanup(func() { db.Close() })
	return &servertest.Instance{T: k.T, Dir: data, DB: db}, done, nil
}

// TestStream_MomentsOfTheChangeLog changes records while commits are stored, and restores random
// moments: each has the records of its time, and the change log ends with its entry.
func TestStream_MomentsOfTheChangeLog(t *testing.T) {
	t.Parallel()
	rng := disktest.Random(t)
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == "waiting" })
	var made []string
	var moments []moment
	for i := range servertest.Size(30, 100, 300) {
		k.change(rng, &made)
		moments = append(moments, k.moment())
		if i%10 == 0 {
			time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		}
	}
	k.stored()
	k.until("all contents are stored", func(targetState) bool { return k.Server.Backups.Pending() == 0 })
	for i := range servertest.Size(4, 12, 50) {
		m := moments[rng.IntN(len(moments))]
		at := copies.Moment{At: m.at}
		if i%2 == 0 && m.seq < k.NewestEntry() {
			at = copies.Moment{Before: m.seq + 1}
		}
		in, done, err := k.restore(dir, at)
		servertest.Must(t, err)
		if done.LogHead.Seq != m.seq || done.Missing > 0 {
			t.Errorf("the change log ends with %d, not %d; the contents of %d files are missing", done.LogHead.Seq, m.seq, done.Missing)
		}
		disktest.Equal(t, fmt.Sprintf("the records at %+v", at), records(in), m.records)
	}
}

// stored waits until all commits are stored.
func (k *kept) stored() {
	k.T.Helper()
	now := time.Now()
	k.until("all commits are stored", func(s targetState) bool { return s.StoredAt != nil && s.StoredAt.After(now) })
}

// TestStream_MachineLost takes the directory of the target at any moment, as if the machine had gone:
// what was committed longer ago than the interval is there.
func TestStream_MachineLost(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == "waiting" })
	for i := range 3 {
		id := k.Dept(fmt.Sprint("Department ", i), 0)
		k.stored()
		lost := filepath.Join(t.TempDir(), "taken")
		servertest.Must(t, os.CopyFS(lost, os.DirFS(dir)))
		in, _, err := k.restore(lost, copies.Moment{})
		servertest.Must(t, err)
		in.View(func(tx *store.Tx) error {
			_, err := store.Depts.Get(tx, id)
			return err
		})
	}
}

// TestTarget_ClockSetBack: copies and commits that are dated in the future are said, with the time until which;
// the health is degraded until the newest copy is one that is not.
func TestTarget_ClockSetBack(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && len(s.Moments) == 1 && s.Phase == "waiting" })
	k.ahead.Store(int64(-time.Minute)) // clocks of two machines
	if state, text := k.health(); state != "ok" {
		t.Errorf("%s: %s", state, text)
	}
	k.ahead.Store(int64(-3 * time.Hour))
	s := k.target()
	want := "the clock was ahead, or is behind: copies or commits at nas are dated until "
	if state, text := k.health(); state != "degraded" || !strings.HasPrefix(text, want) {
		t.Errorf("%s: %s", state, text)
	}
	if !slices.ContainsFunc(s.Warnings, func(text string) bool { return strings.HasPrefix(text, want) }) {
		t.Errorf("%q", s.Warnings)
	}
}

// TestStream_ConfigurationChanges turns the stream off and on: a copy begins each chain of commits,
// and the gap is shown.
func TestStream_ConfigurationChanges(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	on := target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}}
	k.run(on)
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == "waiting" })
	k.Dept("One", 0)
	k.stored()
	k.run(target.Set{Targets: []target.Config{{Name: "pipe", Command: []string{"sh", "-c", "cat >/dev/null"}}}})
	if log, err := k.DB.Stream(); log != nil || err != nil {
		t.Error("the stream is on although no target can have it", err)
	}
	k.Dept("Two", 0)
	k.run(on)
	k.Dept("Three", 0)
	s := k.until("a new copy begins a chain", func(s targetState) bool { return len(s.Moments) == 2 && s.Phase == "waiting" })
	if !s.Moments[0].To.Before(s.Moments[1].From) || s.Copies != 2 {
		t.Errorf("%+v", s)
	}
	k.stored()
	in, _, err := k.restore(dir, copies.Moment{})
	servertest.Must(t, err)
	names := 0
	for _, text := range records(in) {
		if strings.Contains(text, `"Two"`) || strings.Contains(text, `"Three"`) {
			names++
		}
	}
	if names != 2 {
		t.Errorf("%d of 2 departments", names)
	}
}

// TestStream_GapsInTenMinutes: after each of several gaps in a row a copy is made at once, so that no later commit
// waits for one.
func TestStream_GapsInTenMinutes(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == "waiting" })
	var last moment
	for i := range 3 {
		k.Dept(fmt.Sprint("Before ", i), 0)
		k.stored()
		servertest.Must(t, k.DB.LeaveEpoch(k.log().Head().Epoch))
		k.Dept(fmt.Sprint("After ", i), 0)
		s := k.until("a new copy begins a chain", func(s targetState) bool { return len(s.Moments) == i+2 && s.Phase == "waiting" })
		if s.Copies != i+2 || !s.Moments[i].To.Before(s.Moments[i+1].From) {
			t.Errorf("gap %d: %+v", i, s)
		}
		last = k.moment()
		k.Dept(fmt.Sprint("Later ", i), 0)
	}
	k.stored()
	in, _, err := k.restore(dir, copies.Moment{At: last.at})
	servertest.Must(t, err)
	if got := records(in); !maps.Equal(got, last.records) {
		t.Errorf("%d records, not %d", len(got), len(last.records))
	}
}

func (k *kept) log() *stream.Log {
	k.T.Helper()
	log, err := k.DB.Stream()
	servertest.Must(k.T, err)
	return log
}

// TestStream_ErasedAgain restores a moment from before an erasure to an empty directory: the commits at the target
// have it.
func TestStream_ErasedAgain(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == "waiting" })
	u := k.Clerk("leaving")
	before := k.moment()
	k.OK("POST", fmt.Sprintf("/admin/list/%d/erase", u.ID), fmt.Sprintf(`{"username":%q}`, u.Username), "owner")
	k.stored()
	all, _, err := copies.List(t.Context(), copies.Directory(dir), []age.Identity{k.identity})
	servertest.Must(t, err)
	lines, unread, err := copies.Erased(t.Context(), copies.Directory(dir), k.DB.Instance(), all, []age.Identity{k.identity}, store.ErasedIn)
	if err != nil || unread > 0 || len(lines) != 1 {
		t.Fatal(lines, unread, err)
	}
	in, _, err := k.restore(dir, copies.Moment{At: before.at})
	servertest.Must(t, err)
	in.View(func(tx *store.Tx) error {
		_, err := store.Users.Get(tx, u.ID)
		return err
	})
	servertest.Must(t, in.DB.Close())
	for range 2 { // lines that are there are not added again
		if unreadable, err := store.MergeErased(in.Dir, append(lines, "damaged")); unreadable != 1 || err != nil {
			t.Error(unreadable, err)
		}
	}
	if list, err := os.ReadFile(filepath.Join(in.Dir, "erased.jsonl")); err != nil || strings.Count(string(list), "\n") != 1 {
		t.Errorf("%q, %v", list, err)
	}
	db, err := store.Open(in.Dir, store.Options{})
	servertest.Must(t, err)
	defer db.Close()
	servertest.Must(t, db.View(store.System, func(tx *store.Tx) error {
		if _, err := store.Users.Get(tx, u.ID); err == nil {
			t.Error("the erased user is back")
		}
		return nil
	}))
}

// TestRestored_ProvenAnew goes on with restored data: proofs of the server before are none for this one, whose
// own copy is made and proven at once.
func TestRestored_ProvenAnew(t *testing.T) {
	t.Parallel()
	k, set := newKept(t), target.Set{Targets: []target.Config{{Name: "nas", Path: t.TempDir()}}}
	k.Set("backup.ship_seconds", "1")
	k.run(set)
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	k.stored()
	restored, _, err := k.restore(set.Targets[0].Path, copies.Moment{})
	servertest.Must(t, err)
	servertest.Must(t, restored.DB.Close())

	begun := time.Now()
	next := keptIn(t, servertest.Open(t, restored.Dir), k.identity)
	next.Tokens["owner"] = next.SignIn(auth.FirstUser)
	next.run(set)
	next.until("its own copy is proven", func(s targetState) bool {
		if s.ProvenAt != nil && s.ProvenAt.Before(begun) || s.NewestAt != nil && s.NewestAt.Before(begun) {
			t.Fatalf("a copy from before the restore counts: %+v", s)
		}
		return s.ProvenAt != nil && s.Phase == backup.Waiting
	})
	if state, text := next.health(); state != "ok" {
		t.Error(state, text)
	}
	var all struct {
		Data []struct {
			State string
			At    time.Time
		}
	}
	next.OK("GET", "/system/backup-file", "", "owner").Data(&all)
	for _, c := range all.Data {
		if (c.State == backup.Previous) != c.At.Before(begun) {
			t.Errorf("%+v", c)
		}
	}
	if len(all.Data) < 2 {
		t.Errorf("%+v", all)
	}
}
