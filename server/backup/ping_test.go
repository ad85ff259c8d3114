package backup_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
)

// states returns the states of all targets, by name.
func (k *kept) states() map[string]targetState {
	k.T.Helper()
	var out struct{ Data []targetState }
	k.OK("GET", "/system/backup-target", "", "owner").Data(&out)
	all := map[string]targetState{}
	for _, s := range out.Data {
		all[s.Name] = s
	}
	return all
}

func (k *kept) eventually(reached func() bool) {
	k.T.Helper()
	for begun := time.Now(); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			k.T.Fatalf("it never happened: %+v", k.states())
		}
	}
}

// attempted waits until a target has been copied to after an attempt, and returns its state.
func (k *kept) attempted(name string) (s targetState) {
	k.T.Helper()
	var before targetState
	k.OK("POST", "/system/backup-file", `{"target":"`+name+`"}`, "owner").Data(&before)
	k.eventually(func() bool {
		s = k.states()[name]
		return s.Attempts > before.Attempts && s.Phase == backup.Waiting
	})
	return s
}

// TestPing_EachTargetProven: the monitor hears of a proven copy only once each target that can be read has one. A
// command has none, and says so.
func TestPing_EachTargetProven(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	var pings atomic.Int64
	monitor := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { pings.Add(1) }))
	t.Cleanup(monitor.Close)
	there, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	k.run(target.Set{PingURL: monitor.URL, Targets: []target.Config{
		{Name: "nas", Path: there},
		{Name: "pipe", Command: []string{"sh", "-c", "cat > /dev/null"}},
		{Name: "usb", Path: missing},
	}})
	k.eventually(func() bool { all := k.states(); return all["nas"].ProvenAt != nil && all["usb"].Error != "" })
	if s := k.attempted("nas"); s.Error != "" || pings.Load() != 0 {
		t.Errorf("%d pings without the copies of usb: %+v", pings.Load(), s)
	}
	if s := k.attempted("pipe"); s.Error != "" || pings.Load() != 0 || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "backup.ping_url is not requested") }) {
		t.Errorf("%d pings: %+v", pings.Load(), s)
	}
	servertest.Must(t, os.Mkdir(missing, 0o700))
	if s := k.attempted("usb"); s.Error != "" || pings.Load() < 1 {
		t.Errorf("%d pings: %+v", pings.Load(), s)
	}
	before := pings.Load()
	if s := k.attempted("nas"); s.Error != "" || pings.Load() != before+1 {
		t.Errorf("%d pings: %+v", pings.Load()-before, s)
	}
}

// TestTarget_RecipientUnconfirmed names a recipient whose identity may not exist, beside another one. A command says
// that it gets whole backups if there is one each hour.
func TestTarget_RecipientUnconfirmed(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	other, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	k.run(target.Set{})
	servertest.Must(t, k.Server.Backups.Configure(target.Set{
		Targets:    []target.Config{{Name: "pipe", Command: []string{"sh", "-c", "cat > /dev/null"}}},
		Recipients: []string{k.recipient(), other.Recipient().String()},
	}))
	says := func(text string) bool { return strings.Contains(strings.Join(k.target().Warnings, "\n"), text) }
	if name := other.Recipient().String(); !says(name) || says(k.recipient()) || says("each hour") {
		t.Errorf("%q", k.target().Warnings)
	}
	servertest.Must(t, backup.Confirm(k.DB.Dir(), other.Recipient().String()))
	k.Set("backup.hourly", "24")
	if says(other.Recipient().String()) || !says("a whole backup each hour") {
		t.Errorf("%q", k.target().Warnings)
	}
}
