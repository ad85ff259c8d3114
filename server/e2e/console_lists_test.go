package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestConsoleLists_PageSizeKept checks that a list opens with the page size that its user last chose there, in
// this browser, until the user signs out.
func TestConsoleLists_PageSizeKept(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for n := range 12 {
		c.create("/admin/role", "name", fmt.Sprintf("Role %02d", n))
	}
	p := signedInAt(t, server, c, "/admin/role")
	p.see("14 total")
	p.gone("Role 11")
	p.choose("Page Size", "20 / page")
	p.see("Role 11")
	p.at("/admin/role?page=1&pageSize=20")
	p.open("/admin/role")
	p.see("Role 11")
	p.see("20 / page")
	p.open("/admin/list")
	p.see("10 / page")
	p.open("/admin/role?pageSize=10")
	p.see("10 / page")
	p.gone("Role 11")
	p.open("/admin/role")
	p.choose("Page Size", "10 / page")
	p.gone("Role 11")
	p.open("/admin/role")
	p.see("10 / page")
	p.choose("Page Size", "50 / page")
	p.see("Role 11")

	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
	p.see("Sign in")
	var names []string
	if err := evaluate(p, `Object.keys(localStorage)`, &names); err != nil {
		t.Fatal(err)
	}
	if left := strings.Join(names, " "); strings.Contains(left, "page sizes") {
		t.Errorf("after the sign-out, the browser still has %s", left)
	}
}

// holdWrites keeps requests that change something from being sent until release is called.
const holdWrites = `
	const send = fetch, held = new Promise((go) => { globalThis.release = go })
	globalThis.fetch = async (url, options) => {
		if ((options?.method ?? 'GET') !== 'GET') await held
		return send(url, options)
	}`

// TestConsoleSwitches_ShownAtOnce checks that switches in lists show what they are switched to before the server
// has answered, and what is stored after it has refused.
func TestConsoleSwitches_ShownAtOnce(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	role := c.create("/admin/role", "name", "Off", "status", 0)
	sales := c.named("/admin/dept", "Sales").ID
	for _, at := range []struct {
		path, name, record, change string
		to                         bool
	}{
		{"/admin/list", "bea is enabled", "", "", false},
		{"/admin/role", "Enabled: Off", fmt.Sprintf("/admin/role/%d", role), `{"sort":7}`, true},
		{"/admin/dept", "Enabled: Sales", fmt.Sprintf("/admin/dept/%d", sales), `{"sort":7}`, false},
	} {
		p := signedInAt(t, server, c, at.path, holdWrites)
		state := func(want bool) {
			t.Helper()
			p.until(fmt.Sprintf("show %s as %t", at.name, want), func() error {
				var is string
				err := evaluate(p, fmt.Sprintf(`[...document.querySelectorAll('[role=switch]')].find((s) => s.ariaLabel.startsWith(%q))?.ariaChecked ?? ''`,
					strings.TrimSuffix(at.name, " enabled")), &is)
				if err == nil && is != fmt.Sprint(want) {
					err = fmt.Errorf("it is %q", is)
				}
				return err
			})
		}
		p.click("switch", at.name)
		state(at.to)
		if at.record != "" {
			c.want(200, "PUT", at.record, at.change) // so that the request is refused
			p.expect(409, at.record)
		}
		var done bool
		if err := evaluate(p, `(release(), true)`, &done); err != nil {
			t.Fatal(err)
		}
		if at.record == "" {
			p.see("disabled and signed out.")
			state(at.to)
		} else {
			p.see("changed")
			state(!at.to)
		}
	}
}

// TestConsole_NoEarlySpinner checks that nothing shows that it is loading before 300 milliseconds have passed.
func TestConsole_NoEarlySpinner(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/system/info", `
		const send = fetch
		globalThis.fetch = (url, options) => (url.includes('/system/info') ? new Promise(() => {}) : send(url, options))`)
	p.until("wait with a skeleton that appears after 300 ms", func() error {
		var late string
		err := evaluate(p, `[...new Set([...document.querySelectorAll('.ant-skeleton')].map((e) => getComputedStyle(e).animationDelay))].join()`, &late)
		if err == nil && late != "0.3s" {
			err = fmt.Errorf("the delays are %q", late)
		}
		return err
	})
}
