package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyLog_ExitCodes tells a log that was altered from one that could not be read.
func TestVerifyLog_ExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}

	entry := `{"seq":1,"generation":"g","prev":"` + strings.Repeat("0", 64) + "\"}\n"
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"another directory": {[]string{"--data", filepath.Join(dir, "none")}, 1,
			"could not be verified"},
		"no such file": {[]string{filepath.Join(dir, "none")}, 1,
			"could not be verified: open"},
		"a directory": {[]string{dir}, 1, "could not be verified"},
		"an empty file": {[]string{write("empty", "")}, 1,
			"has no entries, which proves nothing"},
		"no entry": {[]string{write("text", "a letter to my aunt\n")}, 2,
			"not as it was written"},
		"a missing entry": {[]string{write("gap",
			entry+strings.Replace(entry, `"seq":1`, `"seq":3`, 1))}, 2, "entry 2 is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := runIn(t, append([]string{"audit", "verify"}, c.args...)...)
			if ExitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d: %v; want %d and %q", ExitCode(err), err, c.code, c.says)
			}
		})
	}
}
