package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readFlipped reads every file of a data directory with a flipped bit in the files
// database. Each read must be correct or an error; failed is the number of errors.
func readFlipped(t *testing.T, dir string, files []fileRecord,
	token string) (refused bool, failed int) {
	t.Helper()
	p := begin(t, program(t, "serve", "--listen", "127.0.0.1:0", "--data", dir))
	select {
	case p.url = <-p.log.ready:
	case <-p.done:
		sane(t, result{p.cmd.ProcessState.ExitCode(), p.out.String(), p.log.String()})
		return true, 0
	}

	c := newClient(t, p)
	c.token = token
	for _, f := range files {
		var got bytes.Buffer
		_, err := c.fetch(content(f.ID), &got)
		if err != nil {
			failed++
		} else if digest(got.Bytes()) != f.SHA256 {
			t.Errorf("%s has wrong bytes", f.Name)
		}
	}

	p.stop()
	if strings.Contains(p.log.String(), "goroutine ") {
		t.Errorf("a panic: %s", &p.log)
	}

	return false, failed
}

// pageHeads returns the offsets of the pages of a files database, without overflow pages: a
// page starts with its own number.
func pageHeads(b []byte) (heads []int) {
	const page = 64 << 10
	for i := range len(b) / page {
		if at := i * page; b[at] == byte(i) && b[at+1] == byte(i>>8) && b[at+2] == 0 {
			heads = append(heads, at)
		}
	}
	return heads
}

// Every flipped bit in the files database is detected or without effect: no read returns
// wrong bytes, and nothing crashes or hangs.
func TestFlippedBits_OfFilesNeverServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, token := withFiles(t, dir, 0, 10, 5000, 70_000, 70_000, 1<<20, 1<<21+5)
	r := random(t)
	clean, err := os.ReadFile(filepath.Join(dir, "files.db"))
	if err != nil {
		t.Fatal(err)
	}

	outcomes := map[string]int{}
	heads := pageHeads(clean)
	for range size(15, 30, 500) {
		at, bit := r.IntN(len(clean)), r.IntN(8)
		if r.IntN(4) > 0 { // most of the database is content: prefer pages that refer to others
			at = heads[r.IntN(len(heads))] + r.IntN(600)
		}

		flipped := bytes.Clone(clean)
		flipped[at] ^= 1 << bit
		rewrite(t, filepath.Join(dir, "files.db"), func([]byte) []byte { return flipped })
		v := run(t, "verify", "--data", dir)
		if v.code != 0 {
			faulty(t, v)
		}

		refused, failed := readFlipped(t, dir, files, token)
		switch {
		case (refused || failed > 0) && v.code == 0:
			t.Errorf("%d files cannot be read (refused: %t), and verify finds nothing", failed,
				refused)
		case refused:
			outcomes["refused"]++
		case failed == len(files):
			outcomes["no file"]++
		case failed > 0:
			outcomes["some files"]++
		case v.code != 0:
			outcomes["told"]++
		default:
			outcomes["harmless"]++
		}

		if t.Failed() {
			t.Fatalf("with bit %d of byte %d flipped; verify: %+v", bit, at, v)
		}
	}

	rewrite(t, filepath.Join(dir, "files.db"), func([]byte) []byte { return clean })
	sound(t, dir)
	t.Logf("outcomes: %v", outcomes)
	if outcomes["some files"]+outcomes["no file"] == 0 {
		t.Errorf("the flips hit nothing: %v", outcomes)
	}
}
