package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/server/config"
)

func TestDoctor_SaysWhatABackupLacks(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-3 * backupAge)
	for _, test := range []struct {
		last                *time.Time
		targets, recipients []string
		do                  string
	}{
		{nil, nil, nil, "name a target"},
		{nil, nil, []string{"age1"}, "name a target"},
		{&long, []string{"offsite"}, nil, "the target offsite gets no copies without a recipient"},
		{&long, []string{"offsite"}, []string{"age1"}, "`reeve backup now`"},
	} {
		if p := checkBackup(test.last, test.targets, test.recipients); p.State != "degraded" || !strings.Contains(p.Do, test.do) {
			t.Errorf("%v %v: %+v", test.targets, test.recipients, p)
		}
	}
	now := time.Now()
	if p := checkBackup(&now, nil, nil); p.State != "ok" || p.Do != "" {
		t.Errorf("%+v", p)
	}
}

// TestDoctor_TargetNotMounted names the target whose directory has lost its copies, and no other one.
func TestDoctor_TargetNotMounted(t *testing.T) {
	t.Parallel()
	data, whole, empty := t.TempDir(), t.TempDir(), t.TempDir()
	text := fmt.Sprintf("I\tsame disk\t%s\nI\tsame disk\t%s\n", whole, empty)
	file := fmt.Sprintf("[data]\ndir = %q\n[backup.one]\npath = %q\n[backup.two]\npath = %q\n[backup.new]\npath = %q\n", data, whole, empty, t.TempDir())
	path := filepath.Join(t.TempDir(), "config.toml")
	for _, err := range []error{
		os.Mkdir(filepath.Join(whole, "I"), 0o700),
		os.WriteFile(filepath.Join(data, "backup-directories"), []byte(text), 0o600),
		os.WriteFile(path, []byte(file), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := (&program{config: c}).checkPlaces()
	if len(parts) != 1 || parts[0].Name != "target two" || parts[0].State != "failed" || !strings.HasPrefix(parts[0].Text, empty+" has none of the copies") {
		t.Errorf("%+v", parts)
	}
}

// TestDoctor_Recipients says which recipients are not confirmed, and whether copies are made.
func TestDoctor_Recipients(t *testing.T) {
	t.Parallel()
	for confirmed, want := range map[string]part{
		"":                 {Name: "recipients", State: "degraded", Text: "this server has not confirmed age1one, age1two, and makes no copies"},
		"age1two\n":        {Name: "recipients", State: "degraded", Text: "copies are made, but this server has not confirmed age1one, whose identity may not exist"},
		"age1two\nage1one": {Name: "recipients", State: "ok", Text: "confirmed"},
	} {
		data := t.TempDir()
		writeText(t, filepath.Join(data, "backup-recipients"), confirmed)
		c, err := config.Load("", map[string]string{"data.dir": data, "backup.recipients": "age1one,age1two"})
		if err != nil {
			t.Fatal(err)
		}
		got := (&program{config: c}).checkRecipients()
		if got.Do = ""; got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
}
