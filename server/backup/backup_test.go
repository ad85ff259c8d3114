package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// kept is an instance that makes copies.
type kept struct {
	*servertest.Instance
	identity *age.X25519Identity
	ahead    atomic.Int64 // nanoseconds by which the clock of the service is ahead
	run      func(set target.Set)
}

// newKept returns an instance whose recipient is confirmed. It makes copies from the first call of
// run on.
func newKept(t testing.TB) *kept {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	return keptIn(t, servertest.Start(t), identity)
}

func keptIn(t testing.TB, in *servertest.Instance, identity *age.X25519Identity) *kept {
	t.Helper()
	k := &kept{Instance: in, identity: identity}
	servertest.Must(t, backup.Confirm(k.DB.Dir(), k.recipient()))
	b := k.Server.Backups
	b.Examine = k.examine
	b.SetClock(func() time.Time { return time.Now().Add(time.Duration(k.ahead.Load())) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
	})
	running := false
	k.run = func(set target.Set) {
		t.Helper()
		set.Recipients = []string{k.recipient()}
		servertest.Must(t, b.Configure(set))
		if !running {
			running = true
			go func() {
				defer close(done)
				b.Run(ctx)
			}()
		}
	}
	return k
}

func (k *kept) recipient() string { return k.identity.Recipient().String() }

func (k *kept) examine(_ context.Context, archive, dir string, identities []age.Identity) (int, *audit.Head, error) {
	none := func(kv.Content, int) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	done, err := store.RestoreContents(dir, archive, identities, none, store.Options{})
	return done.Records, done.LogHead, err
}

type targetState struct {
	Name, Phase, Error string
	CommitError        string `json:"commit_error"`
	Done               int64  `json:"done_bytes"`
	Total              int64  `json:"total_bytes"`
	Copies, Attempts   int
	Unproven           int
	NewestAt           *time.Time `json:"newest_at"`
	ProvenAt           *time.Time `json:"proven_at"`
	NextAt             *time.Time `json:"next_at"`
	StoredAt           *time.Time `json:"stored_at"`
	Moments            []struct{ From, To time.Time }
	Warnings           []string
}

func (k *kept) target() targetState {
	k.T.Helper()
	var out struct{ Data []targetState }
	k.OK("GET", "/system/backup-target", "", "owner").Data(&out)
	if len(out.Data) != 1 {
		k.T.Fatalf("%+v", out)
	}
	return out.Data[0]
}

// until waits for a state of the target.
func (k *kept) until(what string, reached func(targetState) bool) (s targetState) {
	k.T.Helper()
	for begun := time.Now(); ; {
		if s = k.target(); reached(s) {
			return s
		}
		if time.Since(begun) > time.Minute {
			k.T.Fatalf("it never happened that %s: %+v", what, s)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-k.T.Context().Done():
		}
	}
}

// now asks for a copy, and waits for its end.
func (k *kept) now(name string) targetState {
	k.T.Helper()
	var before targetState
	k.OK("POST", "/system/backup-file", `{"target":"`+name+`"}`, "owner").Data(&before)
	return k.until("the copy is made", func(s targetState) bool {
		return s.Attempts > before.Attempts && s.Phase == backup.Waiting
	})
}

func (k *kept) health() (state, text string) {
	p := k.Server.Backups.Health()
	return p.State, p.Message.String()
}

// TestDirectory_CopiedAndProvenAtOnce: a target that is named for the first time has a proven copy
// soon, a monitor is told, and the health says so.
func TestDirectory_CopiedAndProvenAtOnce(t *testing.T) {
	t.Parallel()
	var pings atomic.Int64
	monitor := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { pings.Add(1) }))
	defer monitor.Close()
	k := newKept(t)
	dir := t.TempDir()
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}, PingURL: monitor.URL + "/secret"})
	s := k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.NextAt != nil && s.Phase == backup.Waiting })
	if s.Copies != 1 || s.Error != "" || s.NextAt == nil || pings.Load() != 1 {
		t.Errorf("%+v, %d pings", s, pings.Load())
	}
	if state, text := k.health(); state != "ok" || text != "copies are made and proven" {
		t.Errorf("%s: %s", state, text)
	}
	var copies struct {
		Data []struct {
			State   string
			Records int
		}
	}
	k.OK("GET", "/system/backup-file", "", "owner").Data(&copies)
	if len(copies.Data) != 1 || copies.Data[0].State != "proven" || copies.Data[0].Records == 0 {
		t.Errorf("%+v", copies)
	}
	left, err := filepath.Glob(filepath.Join(k.DB.Dir(), "proof*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the proof has left %q", left)
	}

	// A proof of the day is enough, unless a user asks for one.
	if s = k.now("nas"); s.Copies != 2 && s.Copies != 1 || pings.Load() != 2 {
		t.Errorf("%+v, %d pings", s, pings.Load())
	}
	k.ahead.Store(int64(27 * time.Hour))
	if state, text := k.health(); state != "degraded" || !strings.Contains(text, "the last proven copy at nas is of") {
		t.Errorf("%s: %s", state, text)
	}
}

// TestTarget_Faults: what is wrong with a target is said in words, and the next attempt succeeds once
// it is repaired.
func TestTarget_Faults(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	dir := filepath.Join(t.TempDir(), "not-mounted")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	s := k.until("it fails", func(s targetState) bool { return s.Attempts > 0 && s.Error != "" })
	if !strings.Contains(s.Error, "no such file or directory") {
		t.Errorf("%+v", s)
	}
	if state, text := k.health(); state != "degraded" || !strings.HasPrefix(text, "copies to nas fail: ") {
		t.Errorf("%s: %s", state, text)
	}
	servertest.Must(t, os.Mkdir(dir, 0o700))
	if s = k.now("nas"); s.Error != "" || s.ProvenAt == nil {
		t.Errorf("%+v", s)
	}

	// Without a confirmed recipient, nothing is stored.
	servertest.Must(t, os.Remove(filepath.Join(k.DB.Dir(), "backup-recipients")))
	other := t.TempDir()
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: other}}})
	s = k.until("it fails", func(s targetState) bool { return s.Attempts > 0 && s.Error != "" })
	if entries, err := os.ReadDir(other); len(entries) > 0 || err != nil || !strings.Contains(s.Error, "`reeve backup recipient`") {
		t.Errorf("%+v, %v, %v", s, entries, err)
	}
	k.Call("POST", "/system/backup-file", `{"target":"other"}`, "owner").Names(422, "target")
}

// TestTarget_NotMounted: a directory that had copies and is empty, as one whose disk is not mounted, gets nothing
// until the disk is back, or the list of directories was deleted.
func TestTarget_NotMounted(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.Set("backup.ship_seconds", "1")
	dir := filepath.Join(t.TempDir(), "disk")
	servertest.Must(t, os.Mkdir(dir, 0o700))
	set := target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}}
	k.run(set)
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	servertest.Must(t, backup.CheckPlace(k.DB.Dir(), dir))

	servertest.Must(t, os.Rename(dir, dir+"-away"))
	servertest.Must(t, os.Mkdir(dir, 0o700))
	empty := func() {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%v, %v", entries, err)
		}
	}
	want := dir + " has none of the copies that were stored there: it may not be mounted; "
	if s := k.now("nas"); !strings.HasPrefix(s.Error, want) {
		t.Errorf("%+v", s)
	}
	k.Dept("While it is away", 0)
	k.until("commits are not stored", func(s targetState) bool { return strings.Contains(s.CommitError, want) })
	if s := k.now("nas"); !strings.HasPrefix(s.Error, want) {
		t.Errorf("%+v", s)
	}
	if state, text := k.health(); state != "degraded" || !strings.HasPrefix(text, "copies to nas fail: "+want) {
		t.Errorf("%s: %s", state, text)
	}
	empty()

	// Neither does a restart use it.
	k.run(target.Set{})
	k.run(set)
	k.until("it fails", func(s targetState) bool { return strings.HasPrefix(s.Error, want) })
	empty()

	servertest.Must(t, os.Remove(dir))
	servertest.Must(t, os.Rename(dir+"-away", dir))
	if s := k.now("nas"); s.Error != "" || s.Copies < 2 {
		t.Errorf("%+v", s)
	}

	// A new directory is used once that is said.
	servertest.Must(t, os.RemoveAll(dir))
	servertest.Must(t, os.Mkdir(dir, 0o700))
	servertest.Must(t, os.Remove(filepath.Join(k.DB.Dir(), "backup-directories")))
	if s := k.now("nas"); s.Error != "" || s.Copies != 1 {
		t.Errorf("%+v", s)
	}
}

// TestTarget_OnTheDiskOfTheData: a directory that was on another disk than the data is not used on the same one.
func TestTarget_OnTheDiskOfTheData(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	servertest.Must(t, os.Mkdir(filepath.Join(dir, "INSTANCE"), 0o700))
	for was, want := range map[string]string{"same disk": "", "other disk": dir + " is on the disk of the data now, and was on another one"} {
		text := "OTHER\tother disk\t/elsewhere\nINSTANCE\t" + was + "\t" + dir + "\n"
		servertest.Must(t, os.WriteFile(filepath.Join(data, "backup-directories"), []byte(text), 0o600))
		if err := backup.CheckPlace(data, dir); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", was, err)
		}
	}
}

// TestTarget_Full: what copies that a power cut has interrupted have left fills the disk of a target. The
// copy fails, which the state says, the proven one stays, and the next one has room.
func TestTarget_Full(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), disktest.SmallDisk(t, "16m")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	before := k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	starts, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "start"))
	if err != nil || len(starts) != 1 {
		t.Fatal(starts, err)
	}
	left := filepath.Join(filepath.Dir(filepath.Dir(starts[0])), "earlier-start", "copies", "20260101T000000.000000Z.data.new")
	servertest.Must(t, os.MkdirAll(filepath.Dir(left), 0o700))
	if err := os.WriteFile(left, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	servertest.Must(t, os.Truncate(left, 15<<20))
	old := time.Now().Add(-25 * time.Hour)
	servertest.Must(t, os.Chtimes(left, old, old))
	k.Keep("owner", "large.txt", strings.Repeat("content of a file ", 200_000))
	s := k.now("nas")
	if !strings.Contains(s.Error, "no space left on device") || !strings.Contains(s.Error, dir) || s.Copies != before.Copies || !s.ProvenAt.Equal(*before.ProvenAt) {
		t.Errorf("%+v", s)
	}
	if s = k.now("nas"); s.Error != "" || !s.ProvenAt.After(*before.ProvenAt) {
		t.Errorf("%+v", s)
	}
}

// TestBackup_NeedsPermission: reading the list does not allow to make copies.
func TestBackup_NeedsPermission(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("reader", "system.copy.query")
	in.OK("GET", "/system/backup-target", "", "reader")
	in.OK("GET", "/system/backup-file", "", "reader")
	in.Call("POST", "/system/backup-file", `{"target":"local"}`, "reader").Brief(403)
	in.Call("POST", "/system/backup-target/cancel", `{"target":"local"}`, "reader").Brief(403)
	in.Call("POST", "/system/backup-target/check", `{"target":"local"}`, "reader").Brief(403)
}

// TestCheck_NewestCopy checks the newest copy when asked: its proof is of now, and damage is found. There must be one
// that this process can open.
func TestCheck_NewestCopy(t *testing.T) {
	t.Parallel()
	k, ahead := asleep(t)
	dir := t.TempDir()
	k.Server.Backups.SetStep(5 * time.Millisecond)
	const path = "/system/backup-target/check"
	check := func() targetState {
		t.Helper()
		var before targetState
		k.OK("POST", path, `{"target":"nas"}`, "owner").Data(&before)
		return k.until("the check has ended", func(s targetState) bool {
			return s.Attempts > before.Attempts && s.Phase == backup.Waiting
		})
	}
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	first := k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	type copyState struct {
		State     string
		Checkable bool
		ProvenAt  time.Time `json:"proven_at"`
	}
	newestCopy := func() copyState {
		t.Helper()
		var out struct{ Data []copyState }
		k.OK("GET", "/system/backup-file", "", "owner").Data(&out)
		return out.Data[0]
	}
	proven := newestCopy().ProvenAt
	for range 2 {
		s := check()
		c := newestCopy()
		if s.Error != "" || s.Copies != first.Copies || c.State != backup.Proven || !c.Checkable || !c.ProvenAt.After(proven) {
			t.Errorf("%+v %+v", s, c)
		}
		proven = c.ProvenAt
	}

	for sent, want := range map[string]int{`{"target":"none"}`: 422, `{"target":1}`: 422, `{}`: 422} {
		k.Call("POST", path, sent, "owner").Brief(want)
	}
	other := newKept(t)
	other.run(target.Set{Targets: []target.Config{{Name: "pipe", Command: []string{"cat"}}}})
	other.Call("POST", path, `{"target":"pipe"}`, "owner").Brief(422)

	all, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "copies", "*.data"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	content, err := os.ReadFile(all[0])
	servertest.Must(t, err)
	content[len(content)/2] ^= 1
	servertest.Must(t, os.WriteFile(all[0], content, 0o600))
	if s, c := check(), newestCopy(); s.Error == "" || c.State != backup.Damaged {
		t.Errorf("damage is not found: %+v %+v", s, c)
	}
	if state, text := k.health(); state == "ok" {
		t.Errorf("%s: %s", state, text)
	}
	content[len(content)/2] ^= 1
	servertest.Must(t, os.WriteFile(all[0], content, 0o600))
	if s, c := check(), newestCopy(); s.Error != "" || c.State != backup.Proven {
		t.Errorf("the repaired one: %+v %+v", s, c)
	}

	// The next copy is proven, too, although a proof is less than a day old.
	due := *k.target().NextAt
	ahead.Store(int64(time.Until(due) - 10*time.Hour))
	k.Tokens["owner"] = k.SignIn(auth.FirstUser)
	check()
	ahead.Store(int64(time.Until(due) + time.Minute))
	k.Tokens["owner"] = k.SignIn(auth.FirstUser)
	k.until("the next copy is made", func(s targetState) bool { return s.Copies == 2 && s.Phase == backup.Waiting })
	if c := newestCopy(); c.State != backup.Proven {
		t.Errorf("the copy of the next day: %+v", c)
	}
}

// TestProof_AfterRestart restarts the server before the proof of a copy is stored, and after it: only then the next copy,
// which can be proven, waits for the next day.
func TestProof_AfterRestart(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(dir string) target.Set{
		"nas":   func(dir string) target.Set { return target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}} },
		"local": func(string) target.Set { return target.Set{Local: true} },
	} {
		t.Run(name, func(t *testing.T) {
			k, dir := newKept(t), t.TempDir()
			k.run(set(dir))
			k.until("it is listed", func(s targetState) bool { return s.NextAt != nil })
			k.now(name)
			soon := func() bool {
				k = k.reopened()
				k.run(set(dir))
				s := k.until("it is listed", func(s targetState) bool { return s.NextAt != nil && s.NewestAt != nil })
				return time.Until(*s.NextAt) < 10*time.Minute
			}
			// The hour of the next copy may be near.
			k.Set("backup.hour", fmt.Sprint(time.Now().Add(12*time.Hour).Hour()))
			if soon() {
				t.Error("a copy is made again although one is proven")
			}
			removed := 0
			for _, at := range []string{dir, filepath.Join(k.DB.Dir(), "backup")} {
				servertest.Must(t, filepath.WalkDir(at, func(path string, _ fs.DirEntry, err error) error {
					if err == nil && strings.HasSuffix(path, ".proof") {
						removed++
						return os.Remove(path)
					}
					if errors.Is(err, fs.ErrNotExist) {
						return nil
					}
					return err
				}))
			}
			if removed == 0 {
				t.Fatal("there is no proof")
			}
			if !soon() {
				t.Error("the copy that was not proven waits for the next day")
			}
		})
	}
}

// TestCheck_Local damages the newest local copy: it is not proven any more.
func TestCheck_Local(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.run(target.Set{Local: true})
	k.until("it is listed", func(s targetState) bool { return s.NextAt != nil })
	if s := k.now("local"); s.Error != "" || s.ProvenAt == nil {
		t.Fatalf("%+v", s)
	}
	all, err := filepath.Glob(filepath.Join(k.DB.Dir(), "backup", "records-*.tar"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	content, err := os.ReadFile(all[0])
	servertest.Must(t, err)
	content[len(content)/2] ^= 1
	servertest.Must(t, os.WriteFile(all[0], content, 0o600))
	before := k.target()
	k.OK("POST", "/system/backup-target/check", `{"target":"local"}`, "owner")
	s := k.until("the check has ended", func(s targetState) bool { return s.Attempts > before.Attempts && s.Phase == backup.Waiting })
	if s.Error == "" || s.ProvenAt != nil {
		t.Errorf("%+v", s)
	}
}

// TestCancel_Storing cancels a copy that would take hours.
func TestCancel_Storing(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.run(target.Set{Targets: []target.Config{{Name: "slow", Path: t.TempDir(), Bandwidth: 10}}})
	k.until("bytes are sent", func(s targetState) bool { return s.Phase == backup.Storing })
	k.OK("POST", "/system/backup-file", `{"target":"slow"}`, "owner") // which is cancelled, too
	k.OK("POST", "/system/backup-target/cancel", `{"target":"slow"}`, "owner")
	s := k.until("it is cancelled", func(s targetState) bool { return s.Phase == backup.Waiting })
	if s.Copies != 0 || s.Error != "a user has ended it" {
		t.Errorf("%+v", s)
	}
}

// TestProof_EndsWithServer stops the service while a copy is examined, which takes long, and cancels one.
func TestProof_EndsWithServer(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	examining, release := make(chan struct{}, 9), make(chan struct{})
	k.Server.Backups.Examine = func(_ context.Context, _, dir string, _ []age.Identity) (int, *audit.Head, error) {
		examining <- struct{}{}
		<-release
		return 1, nil, os.MkdirAll(dir, 0o700)
	}
	set := target.Set{Targets: []target.Config{{Name: "nas", Path: t.TempDir()}}}
	k.run(set)
	<-examining
	k.OK("POST", "/system/backup-target/cancel", `{"target":"nas"}`, "owner")
	s := k.until("it is cancelled", func(s targetState) bool { return s.Phase == backup.Waiting })
	if s.Error != "a user has ended it" {
		t.Errorf("%+v", s)
	}
	k.OK("POST", "/system/backup-file", `{"target":"nas"}`, "owner")
	k.until("the next one waits for it", func(s targetState) bool { return s.Phase == backup.Proving })
	k.run(target.Set{Targets: []target.Config{{Name: "other", Path: t.TempDir()}}}) // ends the worker
	if len(examining) > 0 {
		t.Error("two copies are examined at once")
	}
	close(release)
	k.until("the copy at the other target is examined", func(s targetState) bool { return s.Name == "other" && s.Error != "" })
	if left, err := filepath.Glob(filepath.Join(k.DB.Dir(), "proof-*")); err != nil || len(left) > 0 {
		t.Errorf("proofs have left %q: %v", left, err)
	}
}

// TestCommand_TakesWholeBackup gives a command a backup, which is decrypted and restored; and one to
// a command that fails.
func TestCommand_TakesWholeBackup(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.Keep("owner", "a.txt", "content of a file")
	dir := t.TempDir()
	k.run(target.Set{Targets: []target.Config{{Name: "pipe", Command: []string{"sh", "-c", `cat > "$0/$REEVE_BACKUP_NAME"`, dir}}}})
	s := k.until("it is sent", func(s targetState) bool { return s.NewestAt != nil && s.Phase == backup.Waiting })
	if s.ProvenAt != nil || s.Error != "" || len(s.Warnings) != 1 {
		t.Errorf("%+v", s)
	}
	if state, _ := k.health(); state != "ok" {
		t.Error(state)
	}
	files, err := filepath.Glob(filepath.Join(dir, "reeve-*.tar.age"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if _, err := store.Restore(filepath.Join(t.TempDir(), "new"), files[0], []age.Identity{k.identity}, store.Options{}); err != nil {
		t.Error(err)
	}

	k.run(target.Set{Targets: []target.Config{{Name: "pipe", Command: []string{"sh", "-c", "head -c 100 >/dev/null; echo no room >&2; exit 3"}}}})
	s = k.until("it fails", func(s targetState) bool { return s.Error != "" })
	if !strings.Contains(s.Error, "no room") || !strings.Contains(s.Error, "exit status 3") {
		t.Errorf("%+v", s)
	}
}

// TestCommand_RestartSendsNothing starts targets again with the same command, with another one, with a damaged note and
// with other data: only the same command of the same data gets no copy before it is due.
func TestCommand_RestartSendsNothing(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	taken := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.age"))
		servertest.Must(t, err)
		return len(files)
	}
	runs := 0
	command := func(option string) target.Set {
		runs++ // each in a directory of its own, since copies of one second have one name
		into := filepath.Join(dir, fmt.Sprint(runs))
		servertest.Must(t, os.Mkdir(into, 0o700))
		servertest.Must(t, os.Remove(filepath.Join(k.Dir, "into")))
		servertest.Must(t, os.Symlink(into, filepath.Join(k.Dir, "into")))
		return target.Set{Targets: []target.Config{{Name: "a/pipe", Command: []string{"sh", "-c", `cat > "$0/into/$REEVE_BACKUP_NAME"`, k.Dir, option}}}}
	}
	servertest.Must(t, os.Symlink(dir, filepath.Join(k.Dir, "into")))
	note := filepath.Join(k.Dir, "backup-sent-a%2Fpipe")
	for _, c := range []struct {
		what, option string
		before       func()
		sends        bool
	}{
		{"the first start", "", func() {}, true},
		{"a restart", "", func() {}, false},
		{"another command", "-v", func() {}, true},
		{"a restart with it", "-v", func() {}, false},
		{"a damaged note", "-v", func() { servertest.Must(t, os.WriteFile(note, []byte("{"), 0o600)) }, true},
		{"a note of other data", "-v", func() {
			text, err := os.ReadFile(note)
			servertest.Must(t, err)
			other := strings.Replace(string(text), k.DB.LogHead().Generation, "other", 1)
			servertest.Must(t, os.WriteFile(note, []byte(other), 0o600))
		}, true},
	} {
		k.run(target.Set{}) // what is known of the target is forgotten
		c.before()
		before := taken()
		k.run(command(c.option))
		s := k.until(c.what, func(s targetState) bool {
			return s.NewestAt != nil && s.NextAt != nil && s.Phase == backup.Waiting
		})
		if sent := taken() - before; sent > 1 || (sent == 1) != c.sends || s.Error != "" {
			t.Errorf("%s: %d copies are sent, %+v", c.what, sent, s)
		}
	}
}

// TestLocal_ThreeKept makes copies in the data directory, of which three stay, and restores one beside
// the files of the directory.
func TestLocal_ThreeKept(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.Keep("owner", "a.txt", "content of a file")
	k.run(target.Set{Local: true})
	k.until("it is listed", func(s targetState) bool { return s.NextAt != nil })
	if s := k.now("local"); s.Error != "" || s.Copies != 1 || s.ProvenAt == nil {
		t.Fatalf("%+v", s)
	}
	dir := filepath.Join(k.DB.Dir(), "backup")
	names, err := filepath.Glob(filepath.Join(dir, "records-*.tar"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	content, err := os.ReadFile(names[0])
	servertest.Must(t, err)
	for i := range 5 {
		servertest.Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("records-2026010%d-030000.tar", i+1)), content, 0o600))
	}
	killed := filepath.Join(dir, "records-20260101-010000.tar.new")
	servertest.Must(t, os.WriteFile(killed, content[:100], 0o600))
	own := filepath.Join(dir, "reeve-20260101-000000.tar") // of a command
	servertest.Must(t, os.WriteFile(own, content, 0o600))
	if s := k.now("local"); s.Error != "" || s.Copies != 3 && s.Copies != 4 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error("a backup of a command was deleted:", err)
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("the beginning of a copy that was killed is left")
	}
	if bytes.Contains(content, []byte("content of a file")) {
		t.Error("the copy has the content of files")
	}
	k.Close()
	done, err := store.Restore(k.Dir, names[0], nil, store.Options{})
	if err != nil || done.Missing != 0 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestChallenge_OtherIdentity: only the identity of a recipient decrypts its challenge.
func TestChallenge_OtherIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	two, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	if err := backup.Challenge(one.Recipient().String(), []age.Identity{two}); err == nil {
		t.Error("another identity decrypts the challenge")
	}
	servertest.Must(t, backup.Challenge(one.Recipient().String(), []age.Identity{two, one}))
	if err := backup.Challenge("age1nonsense", []age.Identity{one}); err == nil {
		t.Error("a recipient that is none was accepted")
	}
	if known, err := backup.Confirmed(dir); len(known) > 0 || err != nil {
		t.Error(known, err)
	}
	for range 2 {
		servertest.Must(t, backup.Confirm(dir, one.Recipient().String()))
	}
	if known, err := backup.Confirmed(dir); len(known) != 1 || err != nil {
		t.Error(known, err)
	}
}

// TestRecipients_Damaged starts with damage to the list of confirmed recipients, or with another recipient in the
// configuration: nothing is stored, and the state says why. Confirming the recipient ends that.
func TestRecipients_Damaged(t *testing.T) {
	t.Parallel()
	other, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	for name, damage := range map[string]func(k *kept, path string) error{
		"deleted":        func(_ *kept, path string) error { return os.Remove(path) },
		"emptied":        func(_ *kept, path string) error { return os.Truncate(path, 0) },
		"cut off":        func(k *kept, path string) error { return os.Truncate(path, int64(len(k.recipient())-1)) },
		"flipped":        func(k *kept, path string) error { return os.WriteFile(path, []byte("b"+k.recipient()[1:]), 0o600) },
		"not text":       func(_ *kept, path string) error { return os.WriteFile(path, []byte{0, 1, 2, 0xff}, 0o600) },
		"of another one": func(_ *kept, path string) error { return os.WriteFile(path, []byte(other.Recipient().String()), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, dir := newKept(t), t.TempDir()
			servertest.Must(t, damage(k, filepath.Join(k.Dir, "backup-recipients")))
			k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
			s := k.until("the attempt has failed", func(s targetState) bool { return s.Error != "" })
			left, err := os.ReadDir(dir)
			if !strings.Contains(s.Error, "reeve backup recipient") || err != nil || len(left) > 0 {
				t.Errorf("%+v, %v, %v", s, left, err)
			}
			if state, text := k.health(); state != "degraded" {
				t.Error(state, text)
			}
			servertest.Must(t, backup.Confirm(k.Dir, k.recipient()))
			if s = k.now("nas"); s.Error != "" || s.ProvenAt == nil {
				t.Errorf("after it was confirmed: %+v", s)
			}
		})
	}
}

// TestLocal_NeedsSpace makes copies in the data directory on a disk that is nearly full: only while three times their
// size is free beside what uploads leave free, and never with the space of the reserve.
func TestLocal_NeedsSpace(t *testing.T) {
	t.Parallel()
	disk := disktest.SmallDisk(t, "96m")
	first := servertest.Start(t)
	first.Set("file.free_megabytes", "64")
	first.Close()
	data := filepath.Join(disk, "data")
	servertest.Must(t, os.CopyFS(data, os.DirFS(first.Dir)))
	in := servertest.Open(t, data)
	in.Tokens["owner"] = first.Tokens["owner"]
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	k := keptIn(t, in, identity)
	filler := filepath.Join(disk, "filler")
	servertest.Must(t, os.WriteFile(filler, make([]byte, 30<<20), 0o600))
	k.run(target.Set{Local: true})
	s := k.until("it is listed", func(s targetState) bool { return s.NextAt != nil })
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "on the disk of the data and lost with it") {
		t.Errorf("warnings: %q", s.Warnings)
	}
	if s = k.now("local"); !strings.Contains(s.Error, "MiB are needed") || s.Copies != 0 {
		t.Errorf("without room: %+v", s)
	}
	if left, err := os.ReadDir(filepath.Join(data, "backup")); err == nil && len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	servertest.Must(t, os.Truncate(filler, 10<<20))
	if s = k.now("local"); s.Error != "" || s.Copies != 1 || s.ProvenAt == nil {
		t.Errorf("with room: %+v", s)
	}
}

// TestDirectory_OnDiskOfData keeps copies in a directory on the disk of the data, which is said, and in one on another disk.
func TestDirectory_OnDiskOfData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dir  func(t testing.TB) string
		said bool
	}{
		"the same disk": {func(t testing.TB) string { return t.TempDir() }, true},
		"another disk":  {func(t testing.TB) string { return disktest.SmallDisk(t, "64m") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := c.dir(t)
			k := newKept(t)
			k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
			s := k.until("a copy is there", func(s targetState) bool { return s.Copies > 0 && s.Phase == backup.Waiting })
			said := slices.Contains(s.Warnings, "the directory is on the disk of the data: both are lost together")
			if said != c.said || s.Error != "" {
				t.Errorf("%+v", s)
			}
		})
	}
}
