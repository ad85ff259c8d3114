package failure_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/failure"
)

func TestLog_OncePerMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := zerolog.New(&out)
	var f failure.Log
	start := time.Now()
	fail := func(after time.Duration, kind, text string) {
		f.Note(log, start.Add(after), kind, errors.New(text), func(e *zerolog.Event) {
			e.Str("request", after.String()).Msg("failed")
		})
	}

	want := func(name string, lines ...string) {
		t.Helper()
		var got []string
		for line := range strings.Lines(out.String()) {
			var entry struct {
				Error, Request string
				Repeated       int
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %d", entry.Request, entry.Error, entry.Repeated))
		}
		if fmt.Sprint(got) != fmt.Sprint(lines) {
			t.Errorf("%s: %q, want %q", name, got, lines)
		}
		out.Reset()
	}

	for i := range 500 {
		fail(time.Duration(i)*100*time.Millisecond, "writing_stopped",
			fmt.Sprintf("disk\nstack %d", i))
	}

	fail(time.Second, "internal", "disk")
	fail(2*time.Second, "internal", "other")
	want("within a minute", "0s disk\nstack 0 0", "1s disk 0", "2s other 0")
	fail(61*time.Second, "writing_stopped", "disk")
	want("after a minute", "1m1s disk 500")
	fail(62*time.Second, "writing_stopped", "disk")
	f.Flush(log, start.Add(70*time.Second), false)
	want("flushed within a minute")
	f.Flush(log, start.Add(121*time.Second), false)
	want("flushed after a minute", "1m2s disk 1")
	fail(122*time.Second, "writing_stopped", "disk")
	f.Flush(log, start.Add(123*time.Second), true)
	want("flushed at the end", "2m2s disk 1")
	f.Flush(log, start.Add(183*time.Second), false)
	if len(f.Repeated) != 0 {
		t.Errorf("%d failures that are over are kept", len(f.Repeated))
	}

	for i := range 2 * failure.Max {
		fail(0, "internal", fmt.Sprint(i))
	}

	if len(f.Repeated) > failure.Max+1 {
		t.Errorf("%d failures are kept", len(f.Repeated))
	}
}
