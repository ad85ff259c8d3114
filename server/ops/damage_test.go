package ops_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

// TestDamagedLogEntry damages one entry in a segment of the change log: everything else can be read
// and exported, and health, the entry and the offline check name the damage.
func TestDamagedLogEntry(t *testing.T) {
	t.Parallel()
	dir, small := t.TempDir(), func(su *servertest.Setup) { su.Drain = 20 }
	in := servertest.Open(t, dir, small)
	in.Tokens["owner"] = in.SignIn(1)
	for i := range 60 {
		in.OK("POST", "/admin/dept", fmt.Sprintf(`{"name":"Department %02d"}`, i), "owner")
	}

	servertest.Until(t, "entries are moved", func() bool {
		segments := in.DB.LogSegments()
		return len(segments) > 0 && segments[len(segments)-1].Last > 40
	})
	whole := in.OK("GET", "/system/audit-export", "", "owner").Body
	seq := regexp.MustCompile(`"seq":(\d+)[^\n]*Department 11`).FindStringSubmatch(whole)[1]
	path := in.DB.LogSegments()[0].Path
	in.Close()
	text, err := os.ReadFile(path)
	servertest.Must(t, err)
	if !bytes.Contains(text, []byte("Department 11")) {
		t.Fatal("the entry is not in the first segment")
	}

	servertest.Must(t,
		os.WriteFile(path,
			bytes.ReplaceAll(text, []byte("Department 11"), []byte("Department 77")), 0o600))

	report, err := store.VerifyDir(dir, store.Options{Version: "test", Keys: server.Keys()})
	if err != nil || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], path) {
		t.Errorf("verify: %v, %q", err, report.Faults)
	}

	in = servertest.Open(t, dir, small)
	in.Tokens["owner"] = in.SignIn(1)
	in.OK("GET", "/system/audit?pageSize=1000", "", "owner").Brief(200, `"damaged":1`,
		"Department 12")
	in.Call("GET", "/system/audit/"+seq, "", "owner").Brief(503, `"errorCode":"damaged"`,
		"entry "+seq+" of the change log is damaged")
	in.OK("GET", "/system/health", "", "owner").Brief(200,
		`"name":"change_log","state":"degraded"`, "entry", path)
	export := in.OK("GET", "/system/audit-export", "", "owner").Body
	want := regexp.MustCompile(`(?m)^.*"seq":`+seq+`\b.*$`).ReplaceAllString(whole,
		`{"damaged":`+seq+`}`)
	if !strings.HasPrefix(export, want) {
		t.Errorf("the export is %s, want %s", export, want)
	}
}
