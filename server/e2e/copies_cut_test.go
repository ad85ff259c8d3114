package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// cutRestore restores a copy and the commits since from a target over later data of the same installation, and
// interrupts that.
type cutRestore struct {
	*offsite
	later string         // directory with the data that are replaced
	saw   map[string]int // states after interruptions
	cut   int            // interruptions
}

func newCutRestore(t *testing.T, words int) *cutRestore {
	t.Helper()
	o := newOffsite(t, directoryTable(t))
	p, c := o.streaming(t)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	c.keepsText("a", "content of a")
	c.keepsText("b", strings.Repeat("content of b ", words))
	o.must(t, "backup", "now", "offsite")
	c.want(200, "PUT", "/system/setting", values("site.title", "stored"))
	c.keepsText("c", "content of c")
	c.allStored()
	p.stop()

	r := &cutRestore{offsite: o, later: copyDir(t, o.data), saw: map[string]int{}}
	p = start(t, r.later) // without the target
	c = signedIn(t, p)
	c.want(200, "PUT", "/system/setting", values("site.title", "later"))
	c.keepsText("d", "content of d")
	p.stop()
	left, err := filepath.Glob(filepath.Join(r.later, "reserve*"))
	noErr(t, err)
	for _, path := range left {
		noErr(t, os.Remove(path))
	}
	return r
}

// command returns a restore to dir, whose calls of the system strace changes; "" for none.
func (r *cutRestore) command(t *testing.T, dir, call, inject string) *exec.Cmd {
	t.Helper()
	cmd := program(t, "restore", "offsite", "--identity", r.identity, "--config", r.config, "--data", dir)
	if call == "" {
		return cmd
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		unless(t, "strace is missing")
	}
	cmd.Args = slices.Concat([]string{strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", "inject=" + call + ":" + inject, cmd.Path}, cmd.Args[1:])
	cmd.Path = strace
	return cmd
}

// state returns the title and the files of a directory, all of whose data must be whole.
func (r *cutRestore) state(t *testing.T, dir string) string {
	t.Helper()
	sound(t, dir)
	db, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var files []string
	title := ""
	noErr(t, db.View(store.System, func(tx *store.Tx) error {
		title = store.SiteTitle.Get(tx)
		for f, err := range store.Files.All(tx) {
			noErr(t, err)
			in, err := db.OpenBlob(f.Digest)
			noErr(t, err)
			text, err := io.ReadAll(in)
			noErr(t, err)
			if !strings.HasPrefix(string(text), "content of "+f.Name) || int64(len(text)) != f.Size {
				t.Errorf("%s is %.20q", f.Name, text)
			}
			files = append(files, f.Name)
		}
		return nil
	}))
	slices.Sort(files)
	return title + ": " + strings.Join(files, " ")
}

const storedState, laterState = "stored: a b c", "later: a b c d"

// after checks the data after an interruption: they are the ones before it or the restored ones, nothing else is
// left, and the next restore succeeds. It returns which they are.
func (r *cutRestore) after(t *testing.T, what, dir string) (state string) {
	t.Helper()
	state = r.state(t, dir)
	if state != storedState && state != laterState {
		t.Errorf("%s: %q", what, state)
	}
	left := slices.DeleteFunc(names(t, dir), func(name string) bool {
		return state == storedState && strings.HasPrefix(name, "kept-")
	})
	if want := names(t, r.later); !slices.Equal(left, want) {
		t.Errorf("%s: there is %q, want %q", what, left, want)
	}
	if got := finish(t, r.command(t, dir, "", "")); got.code != 0 {
		t.Errorf("%s, and the restore after it: %+v", what, got)
	}
	if again := r.state(t, dir); again != storedState {
		t.Errorf("%s, and the restore after it: %q", what, again)
	}
	if t.Failed() {
		t.Fatal(what)
	}
	return state
}

// each calls once for calls of the system of a restore, the nth of its kind in a thread, until the restore ends before.
func (r *cutRestore) each(t *testing.T, calls []string, once func(call string, n int) (state string, cut bool)) {
	t.Helper()
	rng := disktest.Random(t)
	step := size(6, 5, 1)
	for _, call := range calls {
		for n := 1 + rng.IntN(step); ; n += step {
			state, cut := once(call, n)
			if !cut {
				if state != storedState {
					t.Errorf("the restore has ended, and there is %q", state)
				}
				break
			}
			r.cut++
			r.saw[state]++
			if n > 1000 {
				t.Fatal("it has no end")
			}
		}
	}
	t.Logf("%d interruptions: %v", r.cut, r.saw)
}

// TestRestoreTarget_Cut interrupts restores from a target over existing data at many points: by kills, by power cuts,
// by a disk that is full, and by one that says so at each call. There are the data from before or the restored ones.
func TestRestoreTarget_Cut(t *testing.T) {
	t.Parallel()
	first := newCutRestore(t, 30_000)
	again := func() *cutRestore {
		return &cutRestore{offsite: first.offsite, later: first.later, saw: map[string]int{}}
	}
	changing := []string{"renameat", "fsync", "fdatasync", "unlinkat", "mkdirat", "pwrite64", "write"}

	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		r := again()
		r.each(t, changing, func(call string, n int) (string, bool) {
			dir := copyDir(t, r.later)
			got := finish(t, r.command(t, dir, call, fmt.Sprintf("signal=KILL:when=%d", n)))
			return r.after(t, fmt.Sprint("killed at ", call, " ", n), dir), got.code < 0
		})
		if r.cut < 8 || r.saw[laterState] < 4 || r.saw[storedState] == 0 {
			t.Errorf("%d: %v", r.cut, r.saw)
		}
	})

	t.Run("power cut", func(t *testing.T) {
		t.Parallel()
		r, i := again(), 0
		at := filepath.Join(t.TempDir(), "disk")
		v := newVolume(t, at)
		data := func() string {
			i++
			dir := filepath.Join(at, fmt.Sprint(i))
			noErr(t, os.CopyFS(dir, os.DirFS(r.later)))
			noErr(t, os.Chmod(dir, 0o700))
			v.sync()
			return dir
		}
		r.each(t, changing, func(call string, n int) (string, bool) {
			dir := data()
			got := finish(t, r.command(t, dir, call, fmt.Sprintf("signal=KILL:when=%d", n)))
			v.cut()
			v.mount()
			state := r.after(t, fmt.Sprint("power cut at ", call, " ", n), dir)
			noErr(t, os.RemoveAll(dir))
			return state, got.code < 0
		})
		if r.cut < 8 || r.saw[laterState] < 4 || r.saw[storedState] == 0 {
			t.Errorf("%d: %v", r.cut, r.saw)
		}

		// The power goes while the restore runs on.
		dir := data()
		rng, begun := random(t), time.Now()
		finish(t, r.command(t, dir, "", ""))
		usual := time.Since(begun)
		for range size(3, 5, 50) {
			dir := data()
			p := begin(t, r.command(t, dir, "", ""))
			select {
			case <-p.done:
			case <-time.After(time.Duration(rng.Int64N(int64(usual)))): // any time
			}
			v.cut()
			p.kill()
			v.mount()
			r.after(t, "power cut", dir)
			noErr(t, os.RemoveAll(dir))
		}
	})

	t.Run("full disk", func(t *testing.T) {
		t.Parallel()
		r := again()
		refused := func(what, dir string, got result) (state string, cut bool) {
			t.Helper()
			defer func() {
				if t.Failed() {
					t.Logf("%s: %+v", what, got)
				}
			}()
			left := names(t, dir)
			cut = got.code != 0
			if cut && !strings.Contains(got.err, "no space left on device") && !strings.Contains(got.err, "free") {
				t.Errorf("%s: %+v", what, got)
			}
			state = r.after(t, what, dir)
			if incomplete := strings.Contains(got.err, "is incomplete; the next start"); incomplete != (cut && state == storedState) {
				t.Errorf("%s: %q is there: %+v", what, state, got)
			} else if want := names(t, r.later); cut && !incomplete && !slices.Equal(left, want) {
				t.Errorf("%s: it has left %q, want %q", what, left, want)
			}
			return state, cut
		}
		small := disktest.SmallDisk(t, "16m")
		for i, free := 0, 0; ; i, free = i+1, free+size(128, 96, 16)<<10 {
			dir, ballast := filepath.Join(small, fmt.Sprint(i)), filepath.Join(small, "ballast")
			noErr(t, os.CopyFS(dir, os.DirFS(r.later)))
			noErr(t, os.Chmod(dir, 0o700))
			room, err := disk.FreeSpace(small)
			noErr(t, err)
			noErr(t, os.WriteFile(ballast, make([]byte, int(room)-free), 0o600))
			got := finish(t, r.command(t, dir, "", ""))
			noErr(t, os.Remove(ballast))
			state, cut := refused(fmt.Sprint("with ", free, " bytes free"), dir, got)
			noErr(t, os.RemoveAll(dir))
			if !cut {
				break
			}
			r.cut++
			r.saw[state]++
		}
		if r.cut < 4 {
			t.Errorf("%d: %v", r.cut, r.saw)
		}
		r.each(t, []string{"pwrite64", "mkdirat", "renameat", "fsync", "fdatasync"}, func(call string, n int) (string, bool) {
			dir := copyDir(t, r.later)
			return refused(fmt.Sprint("full at ", call, " ", n), dir, finish(t, r.command(t, dir, call, fmt.Sprintf("error=ENOSPC:when=%d+", n))))
		})
		if r.saw[laterState] < 5 {
			t.Errorf("%d: %v", r.cut, r.saw)
		}
	})
}

// TestRestoreTarget_Unwritten restores from a target to a disk that takes the records and not the contents of files, for
// another reason than that it is full: the restore is refused, and no content is taken for one that is lost.
func TestRestoreTarget_Unwritten(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	r := newCutRestore(t, 300_000)
	dir := copyDir(t, r.later)
	records, err := os.Stat(filepath.Join(dir, "data.db"))
	noErr(t, err)
	cmd := r.command(t, dir, "", "")
	cmd.Args = slices.Concat([]string{"bash", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, 2*records.Size()>>10), "bash", cmd.Path}, cmd.Args[1:])
	cmd.Path, err = exec.LookPath("bash")
	noErr(t, err)
	got := finish(t, cmd)
	if got.code != 1 || !strings.Contains(got.err, "nothing is changed") || !strings.Contains(got.err, "file too large") || strings.Contains(got.err, "data.db") {
		t.Errorf("%+v", got)
	}
	if state := r.after(t, "unwritten", dir); state != laterState {
		t.Errorf("%q", state)
	}
}
