package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestCreate_FollowsNoLink creates a file where a link to another one is.
func TestCreate_FollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "file.new")
	for _, err := range []error{os.WriteFile(other, []byte("other"), 0o644), os.Symlink(other, path)} {
		if err != nil && runtime.GOOS == "windows" {
			t.Skip("links need a right here: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time in place of a file
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("new")
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "other" {
		t.Errorf("the other file has %q, %v", text, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
