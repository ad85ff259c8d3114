package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// TestCopies_WrongIdentity restores over existing data with an identity that is not the one of the
// copies, and lets another installation with another recipient use the same target: each refusal says
// what is wrong, and neither the data nor what is stored at the target changes.
func TestCopies_WrongIdentity(t *testing.T) {
	t.Parallel()
	table := directoryTable(t)
	one, two := newOffsite(t, table), newOffsite(t, table)
	target := strings.Trim(strings.TrimPrefix(table, "path = "), "\"\n")
	p := start(t, one.data, "--config", one.config)
	one.must(t, "backup", "recipient", one.identity)
	one.proven(t)
	p.stop()
	stored, data := disktest.Snapshot(t, target), disktest.Snapshot(t, one.data)
	same := func(what, dir string, want map[string]string) {
		t.Helper()
		got := disktest.Snapshot(t, dir)
		for name, content := range want {
			if filepath.Base(name) != "reeve.pid" && got[name] != content {
				t.Errorf("%s: %s has changed", what, name)
			}
		}
		if what != "another installation" && len(got) > len(want) {
			t.Errorf("%s: %d files, not %d", what, len(got), len(want))
		}
	}

	noErr(t, os.WriteFile(two.identity, []byte(run(t, "backup", "identity").out), 0o600))
	for words, want := range map[string]string{
		"restore offsite --identity " + two.identity:                             "this identity opens none of the copies, 1: they are for another recipient",
		"restore offsite --identity " + two.identity + " --at 2036-01-02T00:00Z": "--at must be",
		"restore offsite":                                                            "--identity FILE",
		"restore offsite --identity " + one.config:                                   "age identities",
		"restore offsite --identity " + one.identity + ".lost":                       "no such file",
		"backup check offsite --identity " + two.identity + " --temp " + t.TempDir(): "this identity opens none of the copies",
		"backup recipient " + two.identity:                                           "has other recipients",
	} {
		if r := one.run(t, strings.Fields(words)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %s", words, r, want)
		}
		same(words, one.data, data)
		same(words, target, stored)
	}

	q := start(t, two.data, "--config", two.config)
	two.must(t, "backup", "recipient", two.identity)
	two.proven(t)
	two.must(t, "backup", "now", "offsite")
	q.stop()
	same("another installation", target, stored)
	r := two.must(t, "backup", "list", "offsite")
	if strings.Count(r.out, " yes ") < 2 {
		t.Errorf("%+v", r)
	}
	// Each identity opens the copies of its own installation alone.
	for _, o := range []*offsite{one, two} {
		restored := &offsite{o.config, filepath.Join(t.TempDir(), "data"), o.identity}
		restored.must(t, "restore", "offsite", "--identity", o.identity)
		start(t, restored.data).stop()
		marker, err := os.ReadFile(filepath.Join(restored.data, "instance"))
		own, ownErr := os.ReadFile(filepath.Join(o.data, "instance"))
		if err != nil || ownErr != nil || string(marker) != string(own) {
			t.Errorf("%q is restored, not %q: %v, %v", marker, own, err, ownErr)
		}
	}

	// The data of the other installation are not replaced by an identity that does not open its copies.
	data = disktest.Snapshot(t, two.data)
	if r := two.run(t, "restore", "offsite", "--identity", two.identity, "--copy", "x"); r.code == 0 || !strings.Contains(r.err, "this identity opens none of the copies") && !strings.Contains(r.err, "there is no copy x") {
		t.Errorf("%+v", r)
	}
	same("a copy that does not exist", two.data, data)

	// A restore says that it is not of the newest copy, which is damaged, and, for programs, what it has done.
	manifests, err := filepath.Glob(filepath.Join(target, "*", "*", "*", "copies", "*.manifest"))
	noErr(t, err)
	instance, err := os.ReadFile(filepath.Join(two.data, "instance"))
	noErr(t, err)
	newest := ""
	for _, name := range manifests {
		if strings.Contains(name, strings.TrimSpace(string(instance))) && filepath.Base(name) > filepath.Base(newest) {
			newest = name
		}
	}
	noErr(t, os.WriteFile(newest, []byte("damaged"), 0o600))
	r = two.must(t, "restore", "offsite", "--identity", two.identity, "--json")
	var done struct {
		Kept    string
		Missing *int `json:"missing_files"`
	}
	if err := json.Unmarshal([]byte(r.out), &done); err != nil || done.Kept == "" || done.Missing == nil || !strings.Contains(r.err, "is newer than those that this identity opens") {
		t.Errorf("%+v: %v", r, err)
	}
}
