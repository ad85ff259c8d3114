package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// columns waits until the head of the table, or the first card of a phone, has these columns.
func (p *page) columns(want ...string) {
	p.t.Helper()
	p.until(fmt.Sprintf("have the columns %q", want), func() error {
		var names []string
		err := evaluate(p, `[...document.querySelectorAll('main thead th, main .cards > li:first-child dt')].filter(shown).map((e) => e.innerText.trim()).filter(Boolean)`, &names)
		if err == nil && !slices.Equal(names, want) {
			err = fmt.Errorf("they are %q", names)
		}
		return err
	})
}

// layoutMenu opens the menu of a list, and returns the page limited to it.
func (p *page) layoutMenu() *page {
	p.t.Helper()
	p.click("button", "Columns and layout")
	return p.in("[popover]")
}

// TestConsoleColumns_ChosenAndKept checks that a user can choose the columns of a list, their order and the
// density, that the browser keeps the choice also after a sign-out, and that Reset ends it.
func TestConsoleColumns_ChosenAndKept(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/role")
	p.width(1440)
	all := []string{"Name", "Enabled", "Data scope", "Permissions", "Members", "Updated", "Actions"}
	p.columns(all...)
	menu := p.layoutMenu()
	menu.find("checkbox", "Name")
	menu.missing("button", "Move up: Name")
	menu.missing("checkbox", "Actions")
	p.audit()

	menu.click("checkbox", "Data scope")
	p.columns("Name", "Enabled", "Permissions", "Members", "Updated", "Actions")
	menu.click("button", "Move up: Updated")
	p.columns("Name", "Enabled", "Permissions", "Updated", "Members", "Actions")
	menu.click("radio", "Compact")
	p.appears("main .ant-table-small")
	p.shoot("columns-menu")
	kept := []string{"Name", "Enabled", "Permissions", "Updated", "Members", "Actions"}

	p.open("/admin/role?keywordSearch=e")
	p.columns(kept...)
	p.appears("main .ant-table-small")
	p.open("/system/webhook")
	p.see("Webhooks")
	p.appears("main .ant-table-middle, main .ant-empty")
	p.open("/admin/role")
	p.columns(kept...)

	p.width(390)
	p.columns("Enabled", "Permissions", "Updated", "Members")
	p.appears("main .cards.compact")
	p.noSidewaysScroll()
	menu = p.layoutMenu()
	menu.click("checkbox", "Permissions")
	p.columns("Enabled", "Updated", "Members")
	p.noSidewaysScroll()
	p.audit()
	p.shoot("columns-menu-390")
	menu.click("checkbox", "Permissions")
	p.width(1440)

	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
	p.see("Sign in")
	var names string
	if err := evaluate(p, `localStorage.getItem('reeve.lists')`, &names); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names, `"/admin/role":`) {
		t.Errorf("after the sign-out, the browser has %q", names)
	}

	p = signedInAt(t, server, signedIn(t, server), "/admin/role", fmt.Sprintf("localStorage.setItem('reeve.lists', %q)", names))
	p.width(1440)
	p.columns(kept...)
	p.layoutMenu().click("button", "Reset")
	p.columns(all...)
}

// TestConsoleColumns_Keyboard checks that the menu of a list opens, is used and closes without a mouse: what is
// moved keeps the focus, and its new place is told.
func TestConsoleColumns_Keyboard(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/role")
	p.width(1440)
	p.see("Updated")
	focus := func(on string) {
		t.Helper()
		p.focused(fmt.Sprintf("(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.closest('label')?.innerText ?? '') === %q", on))
	}
	p.do(`document.querySelector('[aria-label="Columns and layout"]').focus()`)
	p.press("Enter")
	focus("Enabled")
	p.press("Tab")
	focus("Move down: Enabled")
	p.press("Enter")
	p.columns("Name", "Data scope", "Enabled", "Permissions", "Members", "Updated", "Actions")
	focus("Move down: Enabled")
	p.see("Enabled: position 3 of 6")
	p.press("Shift+Tab")
	focus("Move up: Enabled")
	p.press("Enter")
	p.columns("Name", "Enabled", "Data scope", "Permissions", "Members", "Updated", "Actions")
	focus("Move down: Enabled") // it can't move further up
	p.press("Escape")
	focus("Columns and layout")
	p.missing("button", "Reset")
	p.press("Enter")
	p.find("button", "Reset")
	p.click("button", "Reload")
	p.missing("button", "Reset")
}

// TestConsoleColumns_OnlyVisible checks that the menu has the columns that the page would show on a wider window,
// unchecked, and none that the user may not see.
func TestConsoleColumns_OnlyVisible(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.create("/system/field", "realm", "admin", "key", "badge", "title", "Badge number", "type", "input", "listed", 1,
		"self_access", "none", "backend_access", "none")
	p := signedInAt(t, server, c, "/admin/list")
	p.width(1440)
	p.columns("User", "Department and roles", "Contact", "Enabled", "Last sign-in", "Actions")
	menu := p.layoutMenu()
	menu.missing("checkbox", "Badge number")
	menu.click("checkbox", "Created")
	p.columns("User", "Department and roles", "Contact", "Enabled", "Last sign-in", "Created", "Actions")
	menu.click("checkbox", "Created")
	p.columns("User", "Department and roles", "Contact", "Enabled", "Last sign-in", "Actions")
}

// TestConsoleColumns_InChinese checks the menu of a list in Chinese, on a phone and in the table of files.
func TestConsoleColumns_InChinese(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.keepsText("report.txt", "text")
	p := signedInAt(t, server, c, "/file/list?view=list", "localStorage.setItem('reeve.language', 'zh')")
	p.width(1440)
	p.columns("名称", "大小", "类别", "文件夹", "访问权限", "上传者", "上传时间", "操作")
	p.click("button", "列与布局")
	menu := p.in("[popover]")
	menu.click("checkbox", "大小")
	menu.click("button", "上移: 上传时间")
	p.columns("名称", "类别", "文件夹", "访问权限", "上传时间", "上传者", "操作")
	p.shoot("columns-menu-zh")
	p.width(390)
	p.columns("类别", "文件夹", "访问权限", "上传时间", "上传者")
	p.noSidewaysScroll()
	p.click("button", "列与布局")
	p.audit()
	p.shoot("columns-menu-zh-390")
	menu.click("button", "重置")
	p.columns("大小", "类别", "文件夹", "访问权限", "上传者", "上传时间")
}
