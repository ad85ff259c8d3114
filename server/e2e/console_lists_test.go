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

// TestConsoleKeys_InLists walks through lists, selects, edits, opens and creates records by single keys.
func TestConsoleKeys_InLists(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := c.person("/admin/list", "ann").ID
	p := signedInAt(t, server, c, "/admin/list")
	p.row("Ann Lee")
	p.settle()
	p.write("j")
	p.focused("e.matches('tr') && e.innerText.includes('admin')")
	p.write("jjk")
	p.focused("e.matches('tr') && e.innerText.includes('Ann Lee')")
	p.shoot("keys-row")
	p.write("x")
	p.see("1 selected")
	p.write("x")
	p.gone("1 selected")
	p.write("e")
	p.dialog().see("Edit user")
	p.focused("e.matches('.ant-drawer input')")
	if got := p.value("Username"); got != "ann" {
		t.Errorf("the form has the username %q", got)
	}
	p.press("Escape")
	p.focused("e.matches('tr') && e.innerText.includes('Ann Lee')")
	p.press("Enter")
	p.at(fmt.Sprintf("/admin/list/%d", ann))

	p.open("/admin/list")
	p.row("Ann Lee")
	p.settle()
	p.write("c")
	p.dialog().see("New user")
	p.focused("e.matches('.ant-drawer input')")
	p.write("cjx")
	if got := p.value("Username"); got != "cjx" {
		t.Errorf("the form has the username %q", got)
	}

	p.open("/system/audit")
	p.see("created the user ann")
	p.settle()
	p.write("jj")
	p.press("Enter")
	p.dialog().see("Client address")
	p.press("Escape")

	p.open("/admin/role")
	p.settle()
	p.write("?")
	p.see("Previous row")
	p.looksGood("keys-help")
	p.toggle("Enable single-key shortcuts", false)
	p.press("Escape")
	p.missing("checkbox", "Enable single-key shortcuts")
	p.write("cj")
	p.settle()
	p.missing("dialog", "New role")
	p.focused("!e.matches('tr')")
}

// mostTabs is how many Tabs lead to what a page is for.
const mostTabs = 8

// TestConsoleKeyboard_FewTabs counts the Tabs from the start of every list to New, of which the link that skips the
// menus takes one, and from the first field of its form to Save.
func TestConsoleKeyboard_FewTabs(t *testing.T) {
	t.Parallel()
	server, c, lists := everyList(t)
	p := signedInAt(t, server, c, "/")
	tabs := func(key, until string) (n int) {
		t.Helper()
		for n = 1; n <= 40; n++ {
			p.press(key)
			var there bool
			if err := evaluate(p, "((e) => Boolean(e?.matches("+fmt.Sprintf("%q", until)+")))(document.activeElement)", &there); err != nil {
				t.Fatal(err)
			}
			if there {
				return n
			}
		}
		return n
	}
	created := 0
	for _, path := range append(lists, "/admin/dept", "/admin/rule", "/user/rule", "/user/role", "/system/provider") {
		p.open(path)
		p.settle()
		var creates bool
		if err := evaluate(p, "[...document.querySelectorAll('main [data-create]')].some(shown)", &creates); err != nil {
			t.Fatal(err)
		}
		if !creates {
			continue
		}
		created++
		p.press("Tab")
		p.press("Enter") // skips the menus
		if n := 1 + tabs("Tab", "[data-create]"); n > mostTabs {
			t.Errorf("%s: %d Tabs to New", path, n)
		}
		if strings.HasPrefix(path, "/file/list") {
			continue // the browser asks for the file
		}
		p.write("c")
		p.focused("e.closest('.ant-drawer, .ant-modal') && e.matches('input, textarea, [role=combobox]')")
		const save = ".ant-drawer-footer .ant-btn-primary, .ant-modal-footer .ant-btn-primary"
		if forth := tabs("Tab", save); forth > mostTabs { // the other way, then
			p.open(path)
			p.settle()
			p.write("c")
			p.focused("e.closest('.ant-drawer, .ant-modal') && e.matches('input, textarea, [role=combobox]')")
			if back := tabs("Shift+Tab", save); back > mostTabs {
				t.Errorf("%s: %d Tabs to Save, or %d back", path, forth, back)
			}
		}
	}
	if created < 10 {
		t.Errorf("only %d lists can create records", created)
	}
}
