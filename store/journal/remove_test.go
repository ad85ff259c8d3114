package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// Remove removes whole groups and nothing else, from every segment and from the bytes of the
// files; the journal can be written and reopened afterwards.
func TestRemove_ErasesFromFiles(t *testing.T) {
	clock, dir := newTestClock(), t.TempDir()
	options := Options{Now: clock.now, MaxBytes: 16 << 20}
	j := openJournal(t, dir, options)
	filler := strings.Repeat("x", 2000)
	var want int
	for i := range 1500 {
		clock.forward(time.Millisecond)
		if i%100 == 0 {
			mustAppend(t, j,
				oneGroup(fmt.Sprint("r", i), event("request", "alice "+filler),
					event("query", "of her")))
			want += 2
		}
		mustAppend(t, j,
			oneGroup(fmt.Sprint("s", i), event("request", "others "+filler),
				event("query", "theirs")))
		mustAppend(t, j, oneGroup("", event("auth", fmt.Sprint("lone ", i))))
	}

	if len(*j.segments.Load()) < 2 {
		t.Fatal("there is only one segment")
	}

	isHers := func(e Event) bool { return bytes.Contains(e.Body, []byte("alice")) }
	removed, err := j.Remove(isHers)
	if err != nil || removed != want {
		t.Fatalf("%d removed, want %d: %v", removed, want, err)
	}

	check := func(j *Journal, more int) {
		t.Helper()
		disktest.Equal(t, "requests", len(newest(j, "request", 0, 1<<20)), 1500+more)
		disktest.Equal(t, "queries", len(newest(j, "query", 0, 1<<20)), 1500)
		disktest.Equal(t, "auth", len(newest(j, "auth", 0, 1<<20)), 1500)
		disktest.Equal(t, "group", len(j.Group("r100")), 0)
		disktest.Equal(t, "group of others", bodies(j.Group("s100")),
			"request:others "+filler+" query:theirs")
	}
	check(j, 0)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("alice")) || bytes.Contains(b, []byte("of her")) {
			t.Errorf("%s still has bytes of removed events", file)
		}
	}

	mustAppend(t, j, oneGroup("later", event("request", "later")))
	check(j, 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = openJournal(t, dir, options)
	check(j, 1)
	if removed, err := j.Remove(isHers); err != nil || removed != 0 {
		t.Errorf("the repetition: %d, %v", removed, err)
	}
}
