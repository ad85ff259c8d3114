package server

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"reeve/store"
)

// TestDamagedLogEntry damages one entry in a segment of the change log: everything else can be read and
// exported, and health, the entry and the offline check name the damage.
func TestDamagedLogEntry(t *testing.T) {
	t.Parallel()
	dir, small := t.TempDir(), func(su *setup) { su.drain = 20 }
	in := open(t, dir, small)
	in.tokens["owner"] = in.signIn(1)
	for i := range 60 {
		in.ok("POST", "/admin/dept", fmt.Sprintf(`{"name":"Department %02d"}`, i), "owner")
	}
	until(t, "entries are moved", func() bool {
		segments := in.db.LogSegments()
		return len(segments) > 0 && segments[len(segments)-1].Last > 40
	})
	whole := in.ok("GET", "/system/audit-export", "", "owner").Body
	seq := regexp.MustCompile(`"seq":(\d+)[^\n]*Department 11`).FindStringSubmatch(whole)[1]
	path := in.db.LogSegments()[0].Path
	in.close()
	text, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(text, []byte("Department 11")) {
		t.Fatal("the entry is not in the first segment")
	}
	must(t, os.WriteFile(path, bytes.ReplaceAll(text, []byte("Department 11"), []byte("Department 77")), 0o600))

	report, err := store.VerifyDir(dir, store.Options{Version: "test", Keys: Keys()})
	if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], path) {
		t.Errorf("verify: %v, %q", err, report.Faults)
	}
	in = open(t, dir, small)
	in.tokens["owner"] = in.signIn(1)
	in.ok("GET", "/system/audit?pageSize=1000", "", "owner").brief(200, `"damaged":1`, "Department 12")
	in.call("GET", "/system/audit/"+seq, "", "owner").brief(503, `"errorCode":"damaged"`, "entry "+seq+" of the change log is damaged")
	in.ok("GET", "/system/health", "", "owner").brief(200, `"name":"change_log","state":"degraded"`, "entry", path)
	export := in.ok("GET", "/system/audit-export", "", "owner").Body
	want := regexp.MustCompile(`(?m)^.*"seq":`+seq+`\b.*$`).ReplaceAllString(whole, `{"damaged":`+seq+`}`)
	if !strings.HasPrefix(export, want) {
		t.Errorf("the export is %s, want %s", export, want)
	}
}
