package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readFlipped reads every file of a data directory whose file of files has a
// flipped bit. Each is right, or an error; failed is how many are.
func readFlipped(t *testing.T, dir string, files []fileRecord, token string) (refused bool, failed int) {
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

// pageHeads is where the pages of a file of files begin, without those that go on
// with what another has begun: a page says its own number first.
func pageHeads(b []byte) (heads []int) {
	const page = 64 << 10
	for i := range len(b) / page {
		if at := i * page; b[at] == byte(i) && b[at+1] == byte(i>>8) && b[at+2] == 0 {
			heads = append(heads, at)
		}
	}
	return heads
}

// Any flipped bit in the file of files is found or without effect: no read gives
// other bytes, and nothing crashes or hangs.
func TestFlippedBitsOfFilesAreNeverServed(t *testing.T) {
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
	for range size(15, 60, 500) {
		at, bit := r.IntN(len(clean)), r.IntN(8)
		if r.IntN(4) > 0 { // most of the file is its files' bytes: rather where something leads to them
			at = heads[r.IntN(len(heads))] + r.IntN(600)
		}
		flipped := bytes.Clone(clean)
		flipped[at] ^= 1 << bit
		rewrite(t, filepath.Join(dir, "files.db"), func([]byte) []byte { return flipped })
		v := run(t, "verify", "--data", dir)
		if v.code != 0 {
			sane(t, v)
		}
		refused, failed := readFlipped(t, dir, files, token)
		switch {
		case (refused || failed > 0) && v.code == 0:
			t.Errorf("%d files cannot be read (refused: %t), and verify finds nothing", failed, refused)
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
