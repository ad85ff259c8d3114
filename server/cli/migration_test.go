package cli

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"reeve/store/kv"
)

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestMigrationLog_SaysHowFar: two migrations, the second one of which fails, and whose error the start
// returns.
func TestMigrationLog_SaysHowFar(t *testing.T) {
	t.Parallel()
	out := &lines{}
	m := &migrationLog{log: zerolog.New(out), every: time.Millisecond}
	now := kv.MigrationState{From: 19, To: 27, Step: 19, Records: 7000}
	for _, err := range []error{nil, errors.New("no room")} {
		m.update(now)
		running := now
		running.Step, running.Read = 20, 4096
		m.update(running)
		for from := len(out.String()); !strings.Contains(out.String()[from:], `"records_indexed":4096`); time.Sleep(time.Millisecond) {
		}
		ended := running
		ended.Step, ended.Records, ended.Ended, ended.Err = 27, 7001, true, err
		m.update(ended)
	}
	text := out.String()
	for part, want := range map[string]int{
		`{"level":"info","schema":19,"to_schema":27,"records":7000,"records_indexed":0,"running_for":"[^"]+","message":"the data of an older version is being migrated; the server`: 2,
		`{"level":"info","schema":27,"to_schema":27,"records":7001,"records_indexed":4096,"running_for":"[^"]+","message":"the data was migrated"}`:                                 1,
		`"message":"the data was migrated"`: 1,
	} {
		if got := len(regexp.MustCompile(part).FindAllString(text, -1)); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", part, got, want, text)
		}
	}
	if !regexp.MustCompile(`"schema":20,"to_schema":27,"records":7000,"records_indexed":4096,"running_for":"[^"]+","message":"the data is still being migrated"`).MatchString(text) {
		t.Errorf("nothing about how far it is:\n%s", text)
	}
}
