package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestReload_FieldsOfKeptKeys changes keys that keep their values until a restart: so do the fields that are
// read from them, and what is checked against them.
func TestReload_FieldsOfKeptKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[server]\npublic_url = \"https://x.example\"\n")
	c, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	write("[server]\nbase_path = \"/admin\"\npublic_url = \"https://x.example/admin\"\n" +
		"[data]\ndir = \"elsewhere\"\n[security]\nlogin_log_days = 7\n")
	next, _, kept, err := c.Reload()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"data.dir", "security.login_log_days", "server.base_path", "server.public_url"}; !slices.Equal(kept, want) {
		t.Errorf("%q wait for a restart, not %q", kept, want)
	}
	if next.PublicURL != c.PublicURL || next.DataDir != c.DataDir || next.LoginLogDays != c.LoginLogDays {
		t.Errorf("%+v, not as %+v", next, c)
	}
	if _, err := next.Server(); err != nil {
		t.Error(err)
	}
}
