package servertest

import (
	"os"
	"path/filepath"
	"testing"
)

// OpenDir returns a temporary directory of the test that other users of the machine can enter. Without
// one, it skips the test, or in CI lets it fail.
func OpenDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Must(t, os.Chmod(filepath.Dir(dir), 0o755)) // that of all temporary directories of the test
	Must(t, os.Chmod(dir, 0o755))
	for above := filepath.Dir(dir); above != filepath.Dir(above); above = filepath.Dir(above) {
		info, err := os.Stat(above)
		Must(t, err)
		if info.Mode().Perm()&0o011 != 0 {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("only its owner can enter %s", above)
		}
		t.Skipf("only its owner can enter %s", above)
	}
	return dir
}
