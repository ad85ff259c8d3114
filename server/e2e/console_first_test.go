package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
)

// TestConsoleFirstSignIn: the sign-in page tells where the generated password is until it
// has been changed.
func TestConsoleFirstSignIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir, "REEVE_ADMIN_PASSWORD=")
	text, err := os.ReadFile(filepath.Join(dir, "initial-password"))
	if err != nil {
		t.Fatal(err)
	}

	_, generated, _ := strings.Cut(strings.TrimSpace(string(text)), "password: ")
	p := console(t, server)
	p.open("/")
	p.see("are in the file initial-password")
	p.audit()
	p.width(320)
	p.noSidewaysScroll()
	p.examine("{ runOnly: ['target-size'] }")
	p.width(1440)

	// The password can be made visible.
	p.fill("Username", "admin")
	p.fill("Password", generated)
	kind := func(want string) {
		t.Helper()
		p.until("have a field of the type "+want, func() error {
			var is string
			if err := evaluate(p, "document.querySelector('input[name=password]').type", &is); err != nil {
				return err
			}
			if is != want {
				return fmt.Errorf("it is of the type %s", is)
			}
			return nil
		})
	}
	kind("password")
	p.click("button", "Show: Password")
	kind("text")
	if got := p.value("Password"); got != generated {
		t.Errorf("the field has %q", got)
	}

	p.audit()
	p.click("button", "Hide: Password")
	kind("password")

	// While the server hashes the password, the page shows progress.
	late := func(ms float64) {
		send(p, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{
				MatchedNetworkConditions: []*network.Conditions{{
					Latency:            ms,
					DownloadThroughput: -1,
					UploadThroughput:   -1,
				}},
			})
	}
	late(3000)
	p.click("button", "Sign in")
	p.see("Checking password…")
	p.see("Set a new password")
	late(0)
	p.fill("New password", "a password of one's own")
	p.click("button", "Show: Confirm new password")
	p.fill("Confirm new password", "a password of one's own")
	p.audit()
	p.click("button", "Change password")
	p.see("Hello, Administrator")

	p = console(t, server)
	p.open("/")
	p.find("button", "Sign in")
	p.settle()
	p.gone("initial-password")
}

// TestConsoleNextSteps checks that a new installation lists what is left to set up.
func TestConsoleNextSteps(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	t.Cleanup(server.stop) // after the pages are closed, which would otherwise miss it
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/")
	p.see("0 of 6 done")
	p.audit()
	p.width(320)
	p.noSidewaysScroll()
	p.audit()
	p.width(1440)
	p.click("radio", "Operations")
	p.find("image", "Requests")
	var from time.Time
	if err := evaluate(p,
		`performance.getEntriesByType('resource').filter((e) => e.name.includes('/system/monitor/stats')).map((e) => new URL(e.name).searchParams.get('from'))[0]`, &from); err != nil || time.Since(from) > 20*time.Minute {
		t.Errorf("the figures of an installation made just now begin at %v: %v", from, err)
	}

	p.click("link", "Create departments")
	p.at("/admin/dept")

	c.create("/admin/dept", "name", "Sales")
	c.want(200, "PUT", "/system/setting", values("site.title", "Our place"))
	clerk := c.holder(server, "clerk", "system", "system.info", "system.setting",
		"system.setting.query")
	c.want(200, "GET", "/system/backup", "")
	p.open("/")
	p.see("5 of 6 done")
	p.row("Download a backup").find("image", "Done")
	p.row("Enable TLS").find("image", "To do")
	p.audit()
	p.click("button", "Dismiss for everyone")
	p.see("Next steps dismissed for everyone.")
	p.gone("5 of 6 done")
	p.click("button", "Undo")
	p.see("5 of 6 done")

	other := signedInAt(t, server, clerk, "/") // a user who can't set anything up
	other.see("Hello, clerk")
	other.settle()
	other.gone("of 6 done")

	p.click("button", "Dismiss for everyone")
	p.gone("5 of 6 done")
}
