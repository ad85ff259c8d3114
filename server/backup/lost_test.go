package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/server/web"
	"reeve/store/disk/disktest"
)

// TestTarget_LosesCopiesAndCommits deletes a manifest and damages commits at a target: its state and the health
// say so until they are there again.
func TestTarget_LosesCopiesAndCommits(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	k.Set("backup.ship_seconds", "1")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	k.Dept("One", 0)
	k.stored()
	k.now("nas")
	k.Dept("Two", 0)
	k.stored()
	k.now("nas")
	says := func(want string) {
		t.Helper()
		s := k.now("nas")
		if s.Error != "" {
			t.Error(s.Error)
		}
		state, text := k.health()
		warnings := strings.Join(s.Warnings, "\n")
		if want == "" && (state != web.Healthy || strings.Contains(warnings, "commits") || strings.Contains(warnings, "deleted")) {
			t.Errorf("%s, %s, %s", state, text, warnings)
		}
		if want != "" && (state != web.Degraded || !strings.Contains(text, want) || !strings.Contains(warnings, want)) {
			t.Errorf("%s, %s, %s do not say %q", state, text, warnings, want)
		}
	}
	says("")
	for name, want := range map[string]string{
		"copies/*.manifest": "was deleted at nas, and not by this server",
		"stream/*":          "can't be restored from nas",
	} {
		all, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", filepath.FromSlash(name)))
		servertest.Must(t, err)
		content := disktest.ReadFile(t, all[0])
		if strings.HasPrefix(name, "copies") {
			servertest.Must(t, os.Remove(all[0]))
		} else {
			disktest.WriteFile(t, all[0], content[:len(content)-1])
		}
		says(want)
		disktest.WriteFile(t, all[0], content)
		says("")
	}
}
