//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"reeve/server/config"
	"reeve/store/disk"
)

// TestBackupDir_OfService makes the directory of backups as root: the service, another user, stores its own
// copies there.
func TestBackupDir_OfService(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	const service = 64999
	data := t.TempDir()
	if err := os.Chown(data, service, service); err != nil {
		t.Fatal(err)
	}
	p := &program{config: &config.Config{DataDir: data}}
	dir := filepath.Join(data, backupDir)
	for _, existing := range []bool{false, true} {
		if existing {
			if err := os.Chown(dir, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.makeBackupDir(dir); err != nil {
			t.Fatal(err)
		}
		if user, _ := disk.Owner(dir); user != service {
			t.Errorf("existing %v: it belongs to %d", existing, user)
		}
	}
}
