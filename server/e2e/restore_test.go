package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A backup under load is a consistent snapshot, and a restore brings exactly that back.
func TestBackup_UnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	group := c.group("pair")
	const writers = 4
	var acked, issued [writers]atomic.Int64
	for w := range writers {
		c.define(group, fmt.Sprintf("left%d", w), "number", "0")
		c.define(group, fmt.Sprintf("right%d", w), "number", "0")
	}

	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		wg.Go(func() {
			for n := 1; n <= 100_000; n++ {
				select {
				case <-stop:
					return
				default:
				}
				issued[w].Store(int64(n))
				a, err := c.do("PUT", "/system/setting",
					values(fmt.Sprintf("pair.left%d", w), n, fmt.Sprintf("pair.right%d", w), n))
				if err != nil || a.status != 200 {
					t.Errorf("writer %d: %v %v", w, a, err)
					return
				}
				acked[w].Store(int64(n))
			}
		})
	}

	type taken struct {
		file          string
		before, after [writers]int64
	}
	var backups []taken
	for i := range size(2, 5, 20) {
		b := taken{file: filepath.Join(t.TempDir(), "backup.tar")}
		for w := range writers {
			// The writers must make progress between two backups, or none is taken under
			// load.
			from := acked[w].Load()
			eventually(t, "a writer gets on", func() bool {
				return acked[w].Load() > from || t.Failed()
			})
			b.before[w] = acked[w].Load()
		}

		a := c.want(200, "GET", "/system/backup", "")
		for w := range writers {
			b.after[w] = issued[w].Load()
		}

		if err := os.WriteFile(b.file, a.raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(len(a.raw)); a.header.Get("Content-Length") != want ||
			!strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("backup %d: %v", i, a.header)
		}

		backups = append(backups, b)
	}

	close(stop)
	wg.Wait()
	p.stop()
	if got := names(t, dir); len(got) != 8 {
		t.Errorf("after the backups there is %v", got)
	}

	for i, b := range backups {
		to := filepath.Join(t.TempDir(), "fresh")
		if i == 0 {
			to = dir
		}

		r := run(t, "restore", b.file, "--data", to)
		if r.code != 0 {
			t.Fatalf("%+v", r)
		}
		if kept := strings.Contains(r.out, "kept in "); kept != (i == 0) {
			t.Errorf("restore says %q", r.out)
		}
		if v := run(t, "verify", "--data", to); v.code != 0 {
			t.Fatalf("%+v", v)
		}

		p := start(t, to)
		c.base = p.url
		c.want(401, "GET", "/admin/info", "") // sessions are not restored
		fresh := signedIn(t, p)
		stored := fresh.settings("")
		for w := range writers {
			left, right := stored[fmt.Sprintf("left%d", w)].Values, stored[fmt.Sprintf("right%d",
				w)].Values
			n, err := strconv.ParseInt(left, 10, 64)
			if err != nil || left != right || n < b.before[w] || n > b.after[w] {
				t.Errorf("backup %d, writer %d: %q and %q, want both the same and between %d and %d", i, w, left, right, b.before[w], b.after[w])
			}
		}

		p.stop()
	}
}

// A restore keeps the replaced data in a form that can be restored, too.
func TestRestore_KeepsReplacedData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	file := filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(file, c.want(200, "GET", "/system/backup", "").raw, 0o600); err != nil {
		t.Fatal(err)
	}

	c.want(200, "PUT", "/system/setting", values("site.title", "made after the backup"))
	p.stop()
	for _, step := range []struct{ title string }{{"Reeve"}, {"made after the backup"}} {
		r := run(t, "restore", "--data", dir, file)
		_, rest, _ := strings.Cut(r.out, "kept in ")
		kept, _, _ := strings.Cut(rest, "\n")
		if r.code != 0 || kept == "" {
			t.Fatalf("%+v", r)
		}
		p = start(t, dir)
		if got := signedIn(t, p).title(); got != step.title {
			t.Errorf("after the restore of %s the title is %q, want %q", file, got, step.title)
		}
		p.stop()
		file = kept
	}
}

// The archive is a plain tar file that contains the files and the key, without which the
// restored secret settings could not be read.
// What root restores belongs to the user who owns the directory, as the service needs it, also after an
// error.
func TestRestore_ByRootKeepsOwner(t *testing.T) {
	t.Parallel()
	const service = 65534
	dir := t.TempDir()
	if err := os.Chown(dir, service, service); err != nil {
		unless(t, "only root can give files to another user: "+err.Error())
	}
	p := start(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "backup.tar")
	noErr(t, os.WriteFile(file, signedIn(t, p).want(200, "GET", "/system/backup", "").raw, 0o600))
	p.stop()
	for _, args := range [][]string{{file}, {file}, {file + ".missing"}} {
		if r := run(t, append([]string{"restore", "--data", dir}, args...)...); (r.code == 0) != (args[0] == file) {
			t.Fatalf("%v: %+v", args, r)
		}
		noErr(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Sys().(*syscall.Stat_t).Uid != service {
				t.Errorf("%v: %s is not the service's", args, path)
			}
			return err
		}))
	}
}

// TestBackupNow_ByRootKeepsOwner: what root stores beside the copies of a running service belongs to the
// service, which could store none otherwise.
func TestBackupNow_ByRootKeepsOwner(t *testing.T) {
	t.Parallel()
	const service = 65534
	dir := t.TempDir()
	p := start(t, dir)
	if err := os.Chown(dir, service, service); err != nil {
		unless(t, "only root can give files to another user: "+err.Error())
	}
	noErr(t, os.MkdirAll(filepath.Join(dir, "backup"), 0o700)) // as an earlier version has left it
	if r := run(t, "backup", "now", "--data", dir); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	found := 0
	noErr(t, filepath.WalkDir(filepath.Join(dir, "backup"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if found++; err == nil && info.Sys().(*syscall.Stat_t).Uid != service {
			t.Errorf("%s is not the service's", path)
		}
		return err
	}))
	if found < 2 {
		t.Errorf("%d files", found)
	}
	p.stop()
}

// TestBackupNow_FollowsNoLink: the service, which root need not trust, can't lead a backup of root to another
// directory.
func TestBackupNow_FollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	p := start(t, dir)
	noErr(t, os.RemoveAll(filepath.Join(dir, "backup")))
	noErr(t, os.Symlink(elsewhere, filepath.Join(dir, "backup")))
	for _, state := range []string{"running", "stopped"} {
		if state == "stopped" {
			p.stop()
		}
		if r := run(t, "backup", "now", "--data", dir); r.code != 1 || !strings.Contains(r.err, "backup") {
			t.Errorf("%s: %+v", state, r)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("it has %v, %v", left, err)
	}
}

func TestBackup_HasFilesAndKey(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	filled(t, source, "x")
	filled(t, dir, "what is there")
	p := start(t, source)
	c := signedIn(t, p)
	const text = "the bytes of a file"
	c.extra["Content-Type"] = "multipart/form-data; boundary=x"
	c.want(200, "POST", "/file/list",
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"some.txt\"\r\n\r\n"+text+"\r\n--x--\r\n")
	archive := c.want(200, "GET", "/system/backup", "").raw
	p.stop()
	var entries []string
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, h.Name)
	}

	if want := []string{"manifest.json", "data.db",
		fmt.Sprintf("files/%x", sha256.Sum256([]byte(text)))}; !slices.Equal(entries, want) {
		t.Errorf("the archive has %v, want %v", entries, want)
	}

	file := filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(file, archive, 0o600); err != nil {
		t.Fatal(err)
	}

	before := snapshot(t, dir)
	r := run(t, "restore", file, "--data", dir)
	_, rest, _ := strings.Cut(r.out, "kept in ")
	kept, _, _ := strings.Cut(rest, "\n")
	if r.code != 0 || kept == "" {
		t.Fatalf("%+v", r)
	}
	if got := snapshot(t, kept); len(got) != 4 || got["secret.key"] != before["secret.key"] ||
		got["data.db"] != before["data.db"] || got["files.db"] != before["files.db"] ||
		got["commit-mark"] == "" {
		t.Errorf("kept are %v, and not what was there", slices.Sorted(maps.Keys(got)))
	}
	if _, err := os.Stat(filepath.Join(dir, "secret.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key of another database is still there: %v", err)
	}

	sound(t, dir)
	p = start(t, dir)
	if got := signedIn(t, p).want(200, "GET", "/file/list/1/content", ""); string(got.raw) != text {
		t.Errorf("the file has the bytes %q", got.raw)
	}

	p.stop()
}

// A restore that is killed at any time has restored all or nothing.
func TestKill_DuringRestore(t *testing.T) {
	t.Parallel()
	source, old := t.TempDir(), t.TempDir()
	filled(t, source, "x")
	p := start(t, source)
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", values("site.title", "new"))
	file := filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(file, c.want(200, "GET", "/system/backup", "").raw, 0o600); err != nil {
		t.Fatal(err)
	}

	p.stop()
	filled(t, old, "what is there")
	r := random(t)
	saw := map[string]int{}
	var usual time.Duration // of a restore that is not killed, as the first one
	for i := range 1 + size(6, 30, 200) {
		dir := copyDir(t, old)
		before := names(t, dir)
		begun := time.Now()
		restoring := begin(t, program(t, "restore", file, "--data", dir))
		if i == 0 {
			<-restoring.done
			usual = time.Since(begun)
		}
		select {
		case <-restoring.done:
		case <-time.After(time.Duration(r.Int64N(int64(usual * 5 / 4)))): // any time
		}

		restoring.kill()
		p := start(t, dir)
		title := signedIn(t, p).title()
		saw[title]++
		p.stop()
		sound(t, dir)
		left := slices.DeleteFunc(names(t, dir), func(name string) bool {
			return title == "new" && strings.HasPrefix(name, "kept-")
		})
		if !slices.Equal(left, before) || title != "new" && title != "Reeve" {
			t.Errorf("the title is %q, and there is %v", title, left)
		}
	}

	t.Logf("seen: %v", saw)
	if size(0, 1, 1) == 1 && (saw["Reeve"] == 0 || saw["new"] < 2) {
		t.Errorf("no kill was before the end of a restore, or none after it: %v", saw)
	}
}

func TestRestore_DamagedBackupRefused(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	filled(t, source, "a value that can be found")
	p := start(t, source)
	good := signedIn(t, p).want(200, "GET", "/system/backup", "").raw
	p.stop()
	filled(t, dir, "what is there")
	for name, content := range map[string]string{
		"empty":            "",
		"cut in half":      string(good[:len(good)/2]),
		"cut inside":       string(good[:len(good)/2+100]),
		"cut by a byte":    string(good[:len(good)-1]),
		"cut by a page":    string(good[:len(good)-os.Getpagesize()]),
		"cut to its metas": string(good[:2*os.Getpagesize()]),
		"not a database":   "this is a letter to my aunt",
		"a long letter":    strings.Repeat("this is a letter to my aunt\n", 3000),
		"a record changed": strings.ReplaceAll(string(good), "a value that can be found",
			"a value that can be fOund"),
		"zeros": strings.Repeat("\x00", len(good)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "backup.tar")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			to := copyDir(t, dir)
			before := snapshot(t, to)
			r := run(t, "restore", file, "--data", to)
			sane(t, r)
			if !strings.Contains(r.err, file) || !strings.Contains(r.err, "nothing is changed") {
				t.Errorf("%+v", r)
			}
			sameFiles(t, before, snapshot(t, to))
		})
	}

	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		to := copyDir(t, dir)
		before := snapshot(t, to)
		sane(t, run(t, "restore", "/nowhere/backup.db", "--data", to))
		sameFiles(t, before, snapshot(t, to))
	})
}
