package fold

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"roles", "permissions", "setting_groups", "settings"}
	for name, want := range map[string]string{
		"rolls": "roles", "ROLES": "roles", "permission": "permissions", "setting": "settings",
		"settinggroups": "setting_groups", "users": "", "": "", strings.Repeat("roles", 20): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("roles", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}
