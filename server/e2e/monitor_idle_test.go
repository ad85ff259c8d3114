package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stamps returns the size and modification time of every file below a directory.
func stamps(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			all[path] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return all
}

// written returns the bytes that a process has written, as text; "" if the system does not
// report it.
func written(p *process) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", p.pid()))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if bytes, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return bytes
		}
	}
	return ""
}

// An idle server does not write to the disk, with or without monitoring. The counts of the
// last minute are written when the minute ends, so this test is skipped in the small size.
func TestIdleServer_WritesNothing(t *testing.T) {
	onlyInCI(t, "it waits for more than a minute")
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	for range 100 {
		c.write()
		c.want(200, "GET", "/admin/rule/parent", "")
	}

	time.Sleep(65 * time.Second)
	before, bytes := stamps(t, dir), written(p)
	time.Sleep(30 * time.Second)
	sameFiles(t, before, stamps(t, dir))
	if now := written(p); now != bytes {
		t.Errorf("the idle program has written: %s bytes, then %s", bytes, now)
	}
	if rss := p.anonymous(); rss > 40<<20 {
		t.Errorf("the idle program has %s of memory, allowed are 40 MiB", mib(rss))
	} else {
		t.Logf("the idle program has %s", mib(rss))
	}

	p.stop()
}
