package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/store/disk"
	"reeve/store/disk/disktest"

	"go.etcd.io/bbolt"
)

// childCommand runs this test in another process, which can hang or be killed.
func childCommand(t *testing.T, mode string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), append(env, modeVar+"="+mode)...)
	return cmd
}

// flips is everything that is read from a journal with rows.
type flips struct{ Events, Rows []string }

// Environment variables of the child processes.
const dirVar, modeVar = "REEVE_TEST_DIR", "REEVE_TEST_MODE"

func readJournal(j *Journal) (all flips) {
	for _, kind := range []string{"request", "query"} {
		for _, e := range newest(j, kind, 0, 1e6) {
			all.Events = append(all.Events, fmt.Sprintf("%s %d %x %x", kind, e.ID, e.Head, e.Body))
			if got, ok := j.Get(kind, e.ID); ok && !bytes.Equal(got.Body, e.Body) {
				all.Events = append(all.Events, "Get differs from Newest")
			}
		}
	}

	for i := range 40 {
		for _, e := range j.Group(fmt.Sprint("group ", i)) {
			all.Events = append(all.Events,
				fmt.Sprintf("group %d %d %x %x", i, e.ID, e.Head, e.Body))
		}
	}

	for key, value := range j.Rows("minute", "", "~") {
		all.Rows = append(all.Rows, key+string(value))
	}

	return all
}

// isPart reports whether got is want with elements left out.
func isPart(got, want []string) bool {
	for _, s := range got {
		at := slices.Index(want, s)
		if at < 0 {
			return false
		}
		want = want[at+1:]
	}
	return true
}

// TestJournal_FlippedBits flips one bit at a time in a journal's files. Everything read
// must be correct or missing, and later writes must be readable.
func TestJournal_FlippedBits(t *testing.T) {
	if os.Getenv(modeVar) != "" {
		flipJournal(t)
		return
	}

	dir, r, outcomes := t.TempDir(), disktest.Random(t), map[string]int{}
	makeFlipJournal(t, dir)
	total, batch := disktest.Size(60, 500, 5000), 250
	for done := 0; done < total; done += batch {
		cmd := childCommand(t, strconv.FormatUint(r.Uint64(), 10), dirVar+"="+dir,
			"REEVE_TEST_COUNT="+strconv.Itoa(min(batch, total-done)))
		timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		timer.Stop()
		if err != nil {
			t.Errorf("the reader failed, hung or crashed: %v: …%s", err,
				out[max(0, len(out)-3000):])
		}
		for line := range strings.Lines(string(out)) {
			if _, outcome, ok := strings.Cut(strings.TrimSpace(line), "outcome "); ok {
				outcomes[outcome]++
			}
		}
	}

	t.Logf("outcomes: %v", outcomes)
	if outcomes["set aside"] == 0 || outcomes["less"] == 0 || outcomes["harmless"] == total {
		t.Errorf("the flips hit nothing: %v", outcomes)
	}
}

// makeFlipJournal creates two segments and rows.
func makeFlipJournal(t *testing.T, dir string) {
	clock := newTestClock()
	for part := range 2 {
		j := openJournal(t, dir, Options{Now: clock.now})
		for i := range 20 {
			clock.forward(time.Second)
			mustAppend(t, j,
				oneGroup(fmt.Sprint("group ", 20*part+i),
					event("request", fmt.Sprintf("request %d %s", i, strings.Repeat("r", 300))),
					event("query", "query "+strings.Repeat("q", 20*i))))
		}

		rows := map[string][]byte{}
		for i := range 50 {
			rows[fmt.Sprintf("%d %03d", part, i)] = []byte(strings.Repeat("v", 3*i))
		}

		if err := j.SetRows("minute", rows); err != nil {
			t.Fatal(err)
		}

		j.current = nil // so that the next write begins another segment
		if part == 0 {
			mustAppend(t, j, oneGroup("", event("request", "between")))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func flipJournal(t *testing.T) {
	from, r := os.Getenv(dirVar), disktest.Random(t)
	count, err := strconv.Atoi(os.Getenv("REEVE_TEST_COUNT"))
	if err != nil {
		t.Fatal(err)
	}

	clock := newTestClock()
	clock.forward(time.Hour)
	truthDir := copyDir(t, from)
	j := openJournal(t, truthDir, Options{Now: clock.now})
	truth := readJournal(j)
	names, err := filepath.Glob(filepath.Join(from, "*.db"))
	if err != nil || len(names) != 3 || len(truth.Events) < 150 || len(truth.Rows) != 100 {
		t.Fatalf("%v %v: %d events, %d rows", err, names, len(truth.Events), len(truth.Rows))
	}

	for range count {
		dir, path := copyDir(t, from), filepath.Base(names[r.IntN(3)])
		b := disktest.ReadFile(t, filepath.Join(dir, path))
		at := r.IntN(len(b))
		for r.IntN(20) > 0 && b[at] == 0 { // most of a file is zeros
			at = r.IntN(len(b))
		}

		if r.IntN(4) == 0 { // page headers are small and matter most
			at = at&^4095 + r.IntN(48)
		}

		b[at] ^= 1 << r.IntN(8)
		disktest.WriteFile(t, filepath.Join(dir, path), b)
		fmt.Printf("byte %d of %s: ", at, path)
		fmt.Println("outcome", tryFlippedJournal(t, dir, clock, truth))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

func tryFlippedJournal(t *testing.T, dir string, clock *testClock, truth flips) string {
	j := Open(dir, Options{Now: clock.now})
	defer j.Close()
	got := readJournal(j)
	if !isPart(got.Events, truth.Events) || !isPart(got.Rows, truth.Rows) {
		t.Errorf("wrong data: %s", disktest.Shown(got))
	}
	if err := errors.Join(j.Append(oneGroup("after", event("later", "x"))),
		j.SetRows("later", map[string][]byte{"k": []byte("v")})); err != nil {
		t.Errorf("writing afterwards: %v", err)
	}
	if bodies(j.Group("after")) != "later:x" {
		t.Error("what was written afterwards is not there")
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*"+asideSuffix)); len(aside) > 0 {
		if len(aside) > 1 || len(j.Stats().Warnings) == 0 {
			t.Errorf("set aside: %q, warnings %q", aside, j.Stats().Warnings)
		}
		return "set aside"
	}
	if len(got.Events)+len(got.Rows) < len(truth.Events)+len(truth.Rows) {
		return "less"
	}

	return "harmless"
}

func copyDir(t *testing.T, from string) string {
	dir := t.TempDir()
	for name := range disktest.Snapshot(t, from) {
		disktest.WriteFile(t, filepath.Join(dir, name),
			disktest.ReadFile(t, filepath.Join(from, name)))
	}
	return dir
}

func TestJournal_DamagedFilesSetAside(t *testing.T) {
	newer, err := json.Marshal(meta{Format: format + 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func(path string, b []byte) []byte{
		"an empty file":          func(string, []byte) []byte { return nil },
		"a file that is cut off": func(_ string, b []byte) []byte { return b[:len(b)/8] },
		"a file of something else": func(string, []byte) []byte {
			return []byte(strings.Repeat("hello", 10000))
		},
		"a page of nothing": func(_ string, b []byte) []byte {
			clear(b[2*4096 : 9*4096])
			return b
		},
		"a format of a newer start": func(path string, b []byte) []byte {
			return withMeta(t, path, newer)
		},
		"no format": func(path string, b []byte) []byte {
			return withMeta(t, path, nil)
		},
	} {
		for _, which := range []string{"the newest", "the oldest", "rows"} {
			t.Run(name+", "+which, func(t *testing.T) {
				dir := t.TempDir()
				makeFlipJournal(t, dir)
				old := filepath.Join(dir, segmentName(5)+asideSuffix)
				disktest.WriteFile(t, old, []byte("of before"))
				names, err := filepath.Glob(filepath.Join(dir, "0*.db"))
				if err != nil || len(names) != 2 {
					t.Fatal(names, err)
				}

				path := map[string]string{
					"the newest": names[1],
					"the oldest": names[0],
					"rows":       filepath.Join(dir, rowsName),
				}[which]
				harmed := harm(path, disktest.ReadFile(t, path))
				disktest.WriteFile(t, path, harmed)
				j := Open(dir, Options{})
				defer j.Close()
				warnings := j.Stats().Warnings
				if len(warnings) == 0 ||
					!strings.Contains(warnings[len(warnings)-1],
						"set aside as "+filepath.Base(path)+asideSuffix) {
					t.Errorf("warnings: %q", warnings)
				}

				aside, err := filepath.Glob(filepath.Join(dir, "*"+asideSuffix))
				disktest.Equal(t, "set aside", aside, []string{path + asideSuffix})
				if err != nil || !bytes.Equal(disktest.ReadFile(t, path+asideSuffix), harmed) {
					t.Error("what was set aside is not what it was")
				}

				mustAppend(t, j, oneGroup("g", event("a", "x")))
				disktest.Equal(t, "written afterwards", bodies(j.Group("g")), "a:x")
			})
		}
	}
}

// withMeta writes the meta of a file; nil removes it.
func withMeta(t *testing.T, path string, payload []byte) []byte {
	file, err := bbolt.Open(path, 0o600, disk.BoltOptions(false))
	if err != nil {
		t.Fatal(err)
	}

	err = file.Update(func(btx *bbolt.Tx) error {
		if payload == nil {
			return btx.DeleteBucket([]byte(disk.MetaBucket))
		}
		return btx.Bucket([]byte(disk.MetaBucket)).Put(disk.MetaKey,
			disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
	})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}

	return disktest.ReadFile(t, path)
}

// TestJournal_TruncatedWhileOpen truncates a mapped file, as an administrator may do to free space.
func TestJournal_TruncatedWhileOpen(t *testing.T) {
	for name, left := range map[string]int64{
		"to nothing":        0,
		"to the meta pages": 2 * 4096,
		"to half":           64 << 10,
	} {
		for _, first := range []string{"then it is read", "then it is written"} {
			t.Run(name+", "+first, func(t *testing.T) {
				dir := t.TempDir()
				j := Open(dir, Options{})
				defer j.Close()
				body := strings.Repeat("x", 2000)
				for range 200 {
					mustAppend(t, j, oneGroup("g", event("a", body)))
				}

				if err := os.Truncate(j.current.path, left); err != nil {
					t.Fatal(err)
				}
				if first == "then it is read" {
					for range 2 {
						if n := len(newest(j, "a", 0, 1000)); n >= 200 {
							t.Errorf("%d events of a file that is gone", n)
						}
						j.Group("g")
					}
					if j.Stats().Damaged == 0 {
						t.Error("no damage was counted")
					}
				}

				mustAppend(t, j, oneGroup("after", event("a", "later")))
				disktest.Equal(t, "written afterwards", bodies(j.Group("after")), "a:later")
				disktest.Equal(t, "newest", bodies(newest(j, "a", 0, 1)), "a:later")
				if w := j.Stats().Warnings; len(w) != 1 || j.Stats().Dropped != 0 {
					t.Errorf("warnings %q, dropped %d", w, j.Stats().Dropped)
				}
			})
		}
	}
}

// TestJournal_SurvivesKill kills a process that appends continuously.
func TestJournal_SurvivesKill(t *testing.T) {
	if os.Getenv(modeVar) != "" {
		j := Open(os.Getenv(dirVar), Options{})
		for i := 0; ; i++ {
			if err := j.Append(oneGroup(fmt.Sprint("batch ", i), event("a", fmt.Sprint(i)),
				event("b", strings.Repeat("x", 5000)))); err != nil {
				t.Fatal(err)
			}
			fmt.Println("answered", i)
		}
	}
	dir := t.TempDir()
	for round := range disktest.Size(5, 30, 200) {
		cmd := childCommand(t, "append", dirVar+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		answered := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if answered++; answered == 20+7*round%90 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}

		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: %v after %d", round, err, answered)
		}

		j := openJournal(t, dir, Options{})
		got := newest(j, "a", 0, answered)
		if len(got) != answered || len(newest(j, "b", 0, answered)) != answered {
			t.Fatalf("round %d: %d were answered, %d are there", round, answered, len(got))
		}

		last, err := strconv.Atoi(string(got[0].Body))
		if err != nil || last < answered-1 || last > answered {
			t.Errorf("round %d: the last is %d, answered were %d", round, last, answered)
		}
		if n := len(j.Group(fmt.Sprint("batch ", last))); n == 0 || n%2 != 0 { // earlier rounds had a batch of that name, too
			t.Errorf("round %d: the last group has %d events", round, n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
