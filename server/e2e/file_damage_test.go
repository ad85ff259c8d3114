package e2e

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// withFiles creates a stopped data directory with some files, and returns them and the
// token of a session that stays open.
func withFiles(t testing.TB, dir string, sizes ...int64) (files []fileRecord, token string) {
	t.Helper()
	p := start(t, dir)
	c := signedIn(t, p)
	for i, size := range sizes {
		files = append(files, c.put(fmt.Sprint("file", i), payload{uint64(i), size}))
	}
	p.stop()
	return files, c.token
}

func TestMissingFiles_StartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withFiles(t, dir, 100_000, 3<<20)
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := copyDir(t, dir)
			path := filepath.Join(lost, "files.db")
			if err := change(path); err != nil {
				t.Fatal(err)
			}

			before := snapshot(t, lost)
			r := run(t, "serve", "--listen", "127.0.0.1:0", "--data", lost)
			sane(t, r)
			if !strings.Contains(r.err, path) || !strings.Contains(r.err, "reeve restore") ||
				strings.Count(r.err, "\n") != 1 {
				t.Errorf("%+v, want one line that names the file and the way out", r)
			}

			faulty(t, run(t, "verify", "--data", lost))
			sameFiles(t, before, snapshot(t, lost))
		})
	}
}

// A files database of another installation is not written to; everything except files
// works.
func TestForeignFilesDatabase_NotWritten(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	mine, _ := withFiles(t, dir, 100_000)
	withFiles(t, other, 100_000)
	foreign, err := os.ReadFile(filepath.Join(other, "files.db"))
	if err != nil {
		t.Fatal(err)
	}

	own, err := os.ReadFile(filepath.Join(dir, "files.db"))
	if err != nil {
		t.Fatal(err)
	}

	rewrite(t, filepath.Join(dir, "files.db"), func([]byte) []byte { return foreign })
	v := run(t, "verify", "--data", dir)
	sane(t, v)
	if !strings.Contains(v.err, "another installation") {
		t.Errorf("verify says %+v", v)
	}

	p := start(t, dir)
	c := signedIn(t, p)
	if a := c.want(503, "GET", content(mine[0].ID), ""); a.ErrorCode != "files_unavailable" {
		t.Errorf("errorCode is %s", a.ErrorCode)
	}

	a, err := c.send("new", 1000, payload{7, 1000}.reader())
	if err != nil || a.status != 503 || a.ErrorCode != "files_unavailable" {
		t.Errorf("an upload: %v %+v", err, a)
	}

	c.want(200, "PUT", "/system/setting", values("site.title", "works"))
	if len(c.listed("/file/list")) != 1 {
		t.Error("the records are not listed")
	}
	if all := strings.Join(p.log.messages(t, "error"), "\n"); !strings.Contains(p.log.String(),
		"another installation") || !strings.Contains(all, "the files database is unavailable") {
		t.Errorf("the log says %s", &p.log)
	}

	p.stop()
	if now, err := os.ReadFile(filepath.Join(dir, "files.db")); err != nil ||
		!bytes.Equal(now, foreign) {
		t.Errorf("the other's file has changed: %v", err)
	}

	rewrite(t, filepath.Join(dir, "files.db"), func([]byte) []byte { return own })
	p = start(t, dir)
	c.base = p.url
	c.mustHold(mine[0])
	p.stop()
	sound(t, dir)
}

// A damaged chunk aborts the download of its file, which the client can detect, and no
// other download.
func TestDamagedChunk_EndsOnlyItsDownload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, _ := withFiles(t, dir, 3<<20, 3<<20, 100)
	last := payload{0, 3 << 20}.bytes()[5<<19:] // of the first file
	rewrite(t, filepath.Join(dir, "files.db"), func(b []byte) []byte {
		at := bytes.Index(b, last[:100])
		if at < 0 {
			t.Fatal("the file's bytes are not there")
		}
		b[at+50] ^= 4
		return b
	})
	v := run(t, "verify", "--data", dir)
	faulty(t, v)
	const chunk = "chunk 2 of place 1"
	if !strings.Contains(v.out, chunk) || !strings.Contains(v.out, files[0].SHA256) ||
		strings.Contains(v.out, files[1].SHA256) {
		t.Errorf("verify does not name the chunk, or not it alone: %+v", v)
	}

	p := start(t, dir)
	c := signedIn(t, p)
	var got bytes.Buffer
	n, err := c.fetch(content(files[0].ID), &got)
	if !errors.Is(err, io.ErrUnexpectedEOF) || n >= files[0].Size ||
		!bytes.HasPrefix(payload{0, 3 << 20}.bytes(), got.Bytes()) {
		t.Errorf("%d bytes came, then %v; want the beginning, cut off", n, err)
	}

	eventually(t, "the log names the chunk", func() bool {
		return strings.Contains(p.log.String(), chunk)
	})
	healthNames(t, c, "degraded", chunk, fmt.Sprintf("file %d)", files[0].ID), "reeve salvage")
	for _, f := range files[1:] {
		c.mustHold(f)
	}

	c.put("new", payload{100, 2 << 20})
	p.stop()
}

// healthNames checks that the health report has a state and texts for the files database.
func healthNames(t *testing.T, c *client, state string, texts ...string) {
	t.Helper()
	health := into[struct {
		Parts []struct{ Name, State, Text string }
	}](t, c.want(200, "GET", "/system/health", ""))
	for _, part := range health.Parts {
		if part.Name != "files" {
			continue
		}
		for _, text := range texts {
			if part.State != state || !strings.Contains(part.Text, text) {
				t.Errorf("the files are %s, %s, want %s and %q", part.State, part.Text, state, text)
			}
		}
		return
	}

	t.Errorf("no part files: %+v", health)
}

// The start finds a damaged entry of a blob, and a files database that cannot be opened; health
// names both.
func TestDamagedFiles_HealthNamesThemAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, _ := withFiles(t, dir, 100, 200)
	path := filepath.Join(dir, "files.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}

	err = db.Update(func(tx *bbolt.Tx) error {
		digest, err := hex.DecodeString(files[0].SHA256)
		if err != nil {
			return err
		}
		b := tx.Bucket([]byte("blob"))
		value := bytes.Clone(b.Get(digest))
		value[len(value)-2] ^= 4
		return b.Put(digest, value)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}

	p := start(t, dir)
	c := signedIn(t, p)
	eventually(t, "the files database is open", func() bool {
		return c.call("GET", content(files[1].ID), "").status == 200
	})
	healthNames(t, c, "degraded", "files.db: blob "+files[0].SHA256,
		fmt.Sprintf("file %d)", files[0].ID), "reeve salvage")
	p.stop()

	rewrite(t, path, func(b []byte) []byte { return append(make([]byte, 128<<10), b[128<<10:]...) })
	p = start(t, dir)
	c = signedIn(t, p)
	eventually(t, "the log names the file", func() bool {
		return strings.Contains(p.log.String(), "the files database is unavailable")
	})
	healthNames(t, c, "failed", path, "reeve restore", "reeve salvage")
	p.stop()
}

// A failing disk of the files database fails uploads and nothing else.
func TestFailedSync_OfFilesEndsUploadsOnly(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	before := c.put("before", payload{1, 3 << 20})
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 100, 100))); err != nil {
		t.Fatal(err)
	}

	a, err := c.send("picture", int64(picture.Len()), &picture)
	if err != nil || a.status != 200 {
		t.Fatalf("upload of a picture: %v %+v", err, a)
	}

	small := content(records(t, a)[0].ID) + "?thumb=64x64"
	takeBack := inject(t, p, "fdatasync:error=EIO", filepath.Join(dir, "files.db"))
	stopped := func() {
		t.Helper()
		a, err := c.send("after", 3<<20, payload{2, 3 << 20}.reader())
		if err != nil || a.status != 503 || a.ErrorCode != "writing_stopped" {
			t.Errorf("an upload: %v %+v", err, a)
		}
	}
	stopped()
	if n, err := c.fetch(small, io.Discard); err != nil || n == 0 {
		t.Errorf("a small picture that cannot be kept: %d bytes, %v", n, err)
	}

	c.works("goes on", []fileRecord{before})
	takeBack()
	stopped() // the state of the disk is unknown now
	if a := c.want(503, "GET", "/health", ""); a.ErrorCode != "not_healthy" ||
		!strings.Contains(a.Msg, "files.db") {
		t.Errorf("/health of a files.db that has stopped: %s %s", a.ErrorCode, a.Msg)
	}

	c.works("still", []fileRecord{before})
	c.discard(before.ID)
	kept := len(c.listed("/file/list"))
	p.kill()
	p = start(t, dir)
	c.base = p.url
	after := c.put("later", payload{2, 3 << 20})
	c.goesOn("later", []fileRecord{after})
	if got := len(c.listed("/file/list")); got != kept+1 {
		t.Errorf("there are %d files, want %d", got, kept+1)
	}

	p.stop()
	sound(t, dir)
}
