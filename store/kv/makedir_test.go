package kv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If the directory entry of a new data directory is not synced, a crash can lose the directory
// with its data.
func TestDataDirectory_NewIsSynced(t *testing.T) {
	for name, test := range map[string]struct {
		dir  string
		want []string // directories to be synced
	}{
		"a new one":                     {"data", []string{"."}},
		"two new ones":                  {"a/data", []string{".", "a"}},
		"one without a database so far": {"empty", []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			noErr(t, os.Mkdir(filepath.Join(top, "empty"), 0o700))
			calls := filepath.Join(t.TempDir(), "calls")
			cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-qq", "-o", calls, "-e",
				"trace=fsync", os.Args[0])
			cmd.Env = append(os.Environ(), childVar+"=opener",
				dirVar+"="+filepath.Join(top, test.dir))
			out, err := cmd.CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) || strings.HasPrefix(string(out), "strace:") {
				unless(t, "strace cannot be had here: "+string(out))
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			text, err := os.ReadFile(calls)
			noErr(t, err)
			for _, want := range test.want {
				if !strings.Contains(string(text), "<"+filepath.Join(top, want)+">") {
					t.Errorf("%s is not synced:\n%s", want, text)
				}
			}
		})
	}
}
