package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestConsolePerson opens a user from the list and views each part of the page.
func TestConsolePerson(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := c.person("/admin/list", "ann").ID
	signedInAs(t, server, "ann")
	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "ann", "password", "wrong"))
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=example.org")
	p.row("ann@example.org").in("td:nth-child(4)").tap()
	p.at(fmt.Sprintf("/admin/list/%d", ann))
	p.see("Ann Lee")
	p.see("Sales")
	p.see("Clerk")
	p.see("127.0.0.1")
	p.audit()

	p.click("tab", "Permissions")
	p.at(fmt.Sprintf("/admin/list/%d/access", ann))
	p.see("Permissions (3)")
	p.see("Sees 1")
	p.click("button", "Departments")
	p.see("roles grants this permission.")
	p.see("The permissions apply to all users, departments and files.")
	p.fill("Permission", "delete a user")
	p.in(".ant-select-tree-treenode.filter-node .ant-select-tree-title").tap()
	p.see("roles grants this permission.")
	p.audit()
	p.shoot("person-access")

	p.click("tab", "Sessions")
	p.see("Sign out")
	p.audit()
	p.shoot("person-sessions")
	p.row("Go-http-client").click("button", "Sign out")
	p.confirm("Sign out")
	p.see("No active sessions.")

	p.click("tab", "Sign-ins")
	p.at(fmt.Sprintf("/admin/list/%d/loginlog", ann))
	p.row("Failed").see("wrong password")
	p.in("main").gone("admin")
	p.choose("Result", "Signed in")
	p.gone("wrong password")
	p.audit()

	p.click("button", "Edit")
	p.dialog().fill("Display name", "Anna")
	p.dialog().click("button", "Save")
	p.see("Anna")
	p.click("button", "Back to list")
	p.at("/admin/list?keywordSearch=example.org")
	p.row("ann@example.org").click("link", "Anna")
	p.at(fmt.Sprintf("/admin/list/%d", ann))

	p.open("/admin/list/@ANN")
	p.at(fmt.Sprintf("/admin/list/%d", ann))
	p.open("/admin/list/@nobody")
	p.see("User not found.")
	p.audit()
	p.expect(404, "/admin/list/999")
	p.open("/admin/list/999")
	p.see("User not found.")

	for _, width := range phones() {
		p.width(width)
		for _, part := range []string{"", "/access", "/sessions", "/loginlog", "/activity"} {
			p.open(fmt.Sprintf("/admin/list/%d%s", ann, part))
			p.see("Anna")
			p.noSidewaysScroll()
			p.audit()
			p.shoot(fmt.Sprintf("person%s-%d", strings.ReplaceAll(part, "/", "-"), width))
		}
	}
}

// TestConsolePerson_RolesAndDepartmentsLinked checks that roles and departments link to what they are, wherever
// they are shown, and that actors in Activity link to their pages.
func TestConsolePerson_RolesAndDepartmentsLinked(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	role := c.create("/user/role", "name", "Customer")
	ivy := c.create("/user/list", "username", "ivy", "role_ids", []int64{role}, "password", password)
	ann, clerk := c.person("/admin/list", "ann").ID, c.named("/admin/role", "Clerk").ID
	c.create("/admin/key", "name", "export", "role_ids", []int64{clerk})
	signedInAs(t, server, "ann").create("/admin/account/key", "name", "laptop")
	p := signedInAt(t, server, c, "/admin/list")
	linked := func(path, name, to string) {
		t.Helper()
		p.open(path)
		p.until(name+" links to "+to+" at "+path, func() error {
			var href string
			if err := evaluate(p, fmt.Sprintf(`[...document.querySelectorAll('main a, .ant-drawer a')].find((a) => shown(a) && a.innerText === %q)?.getAttribute('href') ?? ''`, name), &href); err != nil {
				return err
			}
			if href != "/console"+to {
				return fmt.Errorf("%s", href)
			}
			return nil
		})
	}
	aRole := fmt.Sprintf("/admin/role/%d", clerk)
	for _, at := range []string{"/admin/list", fmt.Sprintf("/admin/list/%d", ann), "/admin/key"} {
		linked(at, "Clerk", aRole)
	}
	dept := fmt.Sprintf("/admin/list?dept_id=%d", c.named("/admin/dept", "Sales").ID)
	for _, at := range []string{"/admin/list", fmt.Sprintf("/admin/list/%d", ann)} {
		linked(at, "Sales", dept)
	}
	p.open(aRole)
	p.dialog().click("tab", "Members (1)")
	p.dialog().click("link", "Sales")
	p.at(dept)
	for _, at := range []string{"/user/list", fmt.Sprintf("/user/list/%d", ivy)} {
		linked(at, "Customer", "/user/role?keywordSearch=Customer")
	}
	linked("/system/audit", "ann", fmt.Sprintf("/admin/list/%d", ann))
	p.looksGood("activity-actors")
	p.open("/admin/list")
	p.see("Clerk")
	p.looksGood("people-links")

	p = signedInAt(t, server, signedInAs(t, server, "ann"), "/admin/list")
	p.row("Ann Lee").missing("link", "Clerk")
	p.row("Ann Lee").click("link", "Sales")
	p.at(dept)
}

// TestConsolePerson_Deleted deletes people of both realms on their pages, which lead back to the list.
func TestConsolePerson_Deleted(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.create("/user/list", "username", "ivy", "password", password)
	near := c.create("/admin/role", "name", "Near", "data_scope", "dept")
	kim := c.create("/admin/list", "username", "kim", "department", "Head office", "role_ids", []int64{near}, "password", password)
	p := signedInAt(t, server, c, fmt.Sprintf("/admin/list/%d/access", kim))
	p.see("their own records and to people and files of")
	p.see("Head office")
	p.shoot("person-scope")
	zh := signedInAt(t, server, c, fmt.Sprintf("/admin/list/%d", kim), inChinese)
	zh.see("未设置")
	zh.shoot("zh-person-factors")
	zh.open(fmt.Sprintf("/admin/list/%d/access", kim))
	zh.see("权限适用于本人的记录")
	zh.shoot("zh-person-scope")
	zh.open("/account")
	for _, at := range []struct{ list, name string }{{"/admin/list", "kim"}, {"/user/list", "ivy"}} {
		p.open(fmt.Sprintf("%s/%d", at.list, c.person(at.list, at.name).ID))
		p.see("Nothing set up")
		p.looksGood("person-factors-" + at.name)
		p.more(at.name, "Delete")
		p.confirm("Delete")
		p.at(at.list)
		p.see("deleted.")
		if left := c.usernames(at.list + "?keywordSearch=" + at.name); left != "" {
			t.Errorf("%s is left in %s", left, at.list)
		}
	}
}

// TestConsolePerson_WithoutPermissions checks that the page shows only what the caller may
// see.
func TestConsolePerson_WithoutPermissions(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	bea := c.person("/admin/list", "bea").ID
	p := signedInAt(t, server, signedInAs(t, server, "ann"),
		fmt.Sprintf("/admin/list/%d/access", bea))
	p.see("Head office")
	p.settle()
	for _, tab := range []string{"Permissions", "Sessions", "Sign-ins", "Activity"} {
		p.missing("tab", tab)
	}

	p.missing("button", "Edit")
	p.missing("button", "More actions for bea")
	p.audit()

	watcher := c.holder(server, "watcher", "system", "system.session", "system.session.query")
	p = signedInAt(t, server, watcher, "/system/session")
	p.row("watcher").missing("link", "watcher")
	p = signedInAt(t, server, watcher, fmt.Sprintf("/admin/list/%d", bea))
	p.see("You don’t have access to this page.")
}

// TestConsolePerson_LinkedFromNames checks that user names in every list link to the users.
func TestConsolePerson_LinkedFromNames(t *testing.T) {
	t.Parallel()
	server, c, _ := everyList(t)
	p := signedInAt(t, server, c, "/")
	for _, path := range []string{
		"/admin/key", "/system/session", "/system/loginlog", "/system/job", "/system/webhook",
		"/file/list?view=list", "/file/trash",
		"/system/monitor/request", "/system/monitor/query", "/system/monitor/auth",
		"/system/monitor/trace", "/",
	} {
		p.open(path)
		p.until("have links to users at "+path, func() error {
			var bad string
			if err := evaluate(p, `(() => {
				const names = [...document.querySelectorAll('main tbody bdi')].filter((e) => shown(e) && ['admin', 'ann'].includes(e.innerText))
				const links = names.filter((e) => /^\/console\/admin\/list\/(\d+|@\w+)$/.test(e.closest('a')?.getAttribute('href')))
				if (names.length === 0) return 'there are no names'
				return names.length === links.length ? '' : names.find((e) => !links.includes(e)).closest('tr').innerText
			})()`, &bad); err != nil {
				return err
			}
			if bad != "" {
				return fmt.Errorf("%s", bad)
			}
			return nil
		})
	}

	p.open("/system/loginlog")
	p.see("wrong password")
	p.row("wrong password").click("link", "ann")
	p.at(fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "ann").ID))
	p.click("button", "Back to list")
	p.at("/system/loginlog")
	p.press("Ctrl+K")
	p.see("Commands")
	p.write("bea")
	p.in("[role=option][aria-selected=true]").see("bea")
	p.press("Enter")
	p.at(fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "bea").ID))
}
