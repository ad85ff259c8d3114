package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// TestCopies_ListAndCheck lists the copies at all targets, and those at one of them with an identity and without
// one, and checks the copy in the data directory.
func TestCopies_ListAndCheck(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	o := newOffsite(t, fmt.Sprintf("path = %q\n\n[backup.pipe]\ncommand = [\"sh\", \"-c\", \"cat > /dev/null\"]\n", target))
	p := start(t, o.data, "--config", o.config)
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	if r := o.run(t, "backup", "check", "local"); r.code != 1 || !strings.Contains(r.err, "there is no copy in") {
		t.Errorf("without a local copy: %+v", r)
	}
	local := filepath.Join(t.TempDir(), "local.toml")
	noErr(t, os.WriteFile(local, nil, 0o600))
	p.stop()
	run(t, "backup", "now", "local", "--data", o.data, "--config", local)

	r := o.must(t, "backup", "list")
	for _, want := range []string{"TARGET ", "\nlocal ", "\noffsite ", "records-"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in %+v", want, r)
		}
	}
	if !strings.Contains(r.err, "pipe is a command") {
		t.Errorf("%+v", r)
	}
	var all []struct{ Target, Name, File, Until, Fault string }
	noErr(t, json.Unmarshal([]byte(o.must(t, "backup", "list", "--json", "--identity", o.identity).out), &all))
	if len(all) != 2 || all[0].Target != "local" || all[1].Target != "offsite" || all[1].Name == "" || all[1].Until == "" || all[0].File == "" {
		t.Errorf("%+v", all)
	}

	for _, words := range []string{"backup check local", "backup check local --copy " + filepath.Base(all[0].File), "backup check " + all[0].File} {
		if r := o.must(t, strings.Fields(words)...); !strings.Contains(r.out, "records, no faults") || !strings.Contains(r.out, all[0].File) {
			t.Errorf("%s: %+v", words, r)
		}
	}
	content := disktest.ReadFile(t, all[0].File)
	content[len(content)/2] ^= 1
	disktest.WriteFile(t, all[0].File, content)
	if r := o.run(t, "backup", "check", "local"); r.code != 2 {
		t.Errorf("a damaged local copy: %+v", r)
	}
	if left, err := filepath.Glob(filepath.Join(o.data, "backup", "reeve-check-*")); len(left) > 0 || err != nil {
		t.Error(left, err)
	}

	if r := o.must(t, "backup", "list", "offsite", "--identity", o.identity); !strings.Contains(r.out, "offsite: any moment from ") {
		t.Errorf("%+v", r)
	}
	noErr(t, os.Truncate(filepath.Join(target, all[1].Name+".data"), 10))
	if r := o.must(t, "backup", "list", "offsite", "--identity", o.identity); !strings.Contains(r.out, " fault ") || !strings.Contains(r.out, "have another size than was stored") {
		t.Errorf("%+v", r)
	}
	if r := o.must(t, "backup", "list", "offsite"); strings.Contains(r.out, " fault ") {
		t.Errorf("without an identity: %+v", r)
	}
	noErr(t, os.RemoveAll(target))
	if r := o.run(t, "backup", "list"); r.code != 1 || !strings.Contains(r.out, "\nlocal ") || !strings.Contains(r.err, "offsite: ") {
		t.Errorf("without the target: %+v", r)
	}
}

// TestDoctor_HourlyCommand names a command that gets a whole backup each hour.
func TestDoctor_HourlyCommand(t *testing.T) {
	t.Parallel()
	o := newOffsite(t, "command = [\"sh\", \"-c\", \"cat > /dev/null\"]\n")
	start(t, o.data, "--config", o.config).stop()
	const says = "the command gets a whole backup each hour"
	if r := o.run(t, "doctor"); strings.Contains(r.out, says) {
		t.Errorf("%+v", r)
	}
	o.must(t, "setting", "set", "backup.hourly", "24")
	if r := o.run(t, "doctor"); r.code != 2 || !strings.Contains(r.out, "target offsite") || !strings.Contains(r.out, says) {
		t.Errorf("%+v", r)
	}
}
