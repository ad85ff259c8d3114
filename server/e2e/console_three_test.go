package e2e

import (
	"strings"
	"testing"
)

// TestConsolePages_ThreePermissions opens every page as a user who can only view users,
// dictionaries and files: these have no buttons that change anything, and every other page
// names the missing permission.
func TestConsolePages_ThreePermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	owner := signedInAt(t, server, c, "/")
	every := owner.linked(c)
	own := c.holder(server, "looker", "admin", "admin.list", "admin.list.query", "system",
		"system.dict", "system.dict.query", "file", "file.list", "file.list.query")
	p := signedInAt(t, server, own, "/")
	p.settle()
	p.audit()
	mine := map[string][]string{ // and the controls besides those of the frame
		"/admin/list":  {"New user", "Import", "Export", "Edit", "Delete"},
		"/system/dict": {"New dictionary", "Edit", "Delete"},
		"/file/list":   {"Upload", "Delete"},
	}
	if shown := p.linked(own); len(shown) != len(mine) {
		t.Errorf("the menus lead to %v", shown)
	}

	refused := 0
	for _, path := range every {
		p.open(path)
		p.settle()
		main := p.in("main")
		text := main.text()
		if buttons, ok := mine[path]; ok {
			for _, button := range buttons {
				main.missing("button", button)
			}
			if strings.Contains(text, "Required permission") {
				t.Errorf("%s:\n%s", path, text)
			}
			continue
		}

		refused++
		path = strings.Replace(path, "/system/backup", "/system/copy", 1) // system.backup was taken
		if !strings.Contains(text, "You don’t have access to this page.") ||
			!strings.Contains(text, "Required permission: "+strings.ReplaceAll(path[1:], "/", ".")) {
			t.Errorf("%s:\n%s", path, text)
		}
	}

	if refused < 10 {
		t.Errorf("%d pages are refused", refused)
	}

	p.audit()
}
