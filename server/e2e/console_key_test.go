package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// token returns the API key that is shown once, and closes the dialog. Nothing of the page keeps
// it.
func (p *page) token() (token string) {
	p.t.Helper()
	d := p.dialog()
	d.see("You won’t be able to see it again.")
	token = d.value("API key")
	d.see(`curl -H "Authorization: Bearer ` + token + `"`)
	p.press("Escape")
	d.see("You won’t be able to see it again.")
	d.click("button", "Done")
	p.forgot(token)
	p.open(p.path())
	p.settle()
	p.forgot(token)
	return token
}

// path is the path of the page in the console, with the query.
func (p *page) path() (path string) {
	p.t.Helper()
	p.until("find where it is", func() error {
		return evaluate(p, `(location.pathname + location.search).replace('/console', '')`, &path)
	})
	return path
}

// forgot waits until a secret is neither in the page nor in what the browser stores for it.
func (p *page) forgot(secret string) {
	p.t.Helper()
	p.until("forget the secret", func() error {
		var found bool
		err := evaluate(p,
			fmt.Sprintf(`[document.documentElement.outerHTML, location.href, JSON.stringify(history.state), JSON.stringify({ ...localStorage }), document.cookie,
			JSON.stringify({ ...sessionStorage }), ...[...document.querySelectorAll('input, textarea')].map((e) => e.value)].some((text) => text?.includes(%s))`, quote(secret)), &found)
		if err == nil && found {
			err = errors.New("it is there")
		}
		return err
	})
}

// withKey returns a client that sends an API key.
func withKey(t *testing.T, server *process, token string) *client {
	c := newClient(t, server)
	c.token = token
	return c
}

// TestConsoleKey creates a key for a program in the form, uses it, and disables, rotates and
// deletes it.
func TestConsoleKey(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.roleWith("Dictionary reader", "system.dict", "system.dict.query")
	sales := c.create("/admin/dept", "name", "Sales")
	p := signedInAt(t, server, c, "/")
	p.click("menuitem", "API keys")
	p.at("/admin/key")
	p.see("No API keys yet.")
	p.click("button", "New API key")
	d := p.dialog()
	d.click("button", "Create")
	d.see("Required")
	d.fill("Name", "deploy")
	d.choose("Roles", "Dictionary reader")
	p.press("Escape")
	d.choose("Data scope", "Selected departments")
	d.choose("Departments", "Sales")
	p.press("Escape")
	d.fill("Allowed networks", "127.0.0.1 10.1.2.3/8 nonsense ")
	d.fill("Requests per minute", "90")
	d.see("Leave empty for the default, 6,000.")
	d.choose("Expires", "On a date")
	if day := d.value("On a date"); day != time.Now().AddDate(0, 0, 90).Format(time.DateOnly) {
		t.Errorf("the usual date: %q", day)
	}

	d.fill("On a date", time.Now().AddDate(0, 0, 60).Format(time.DateOnly))
	p.press("Enter")
	p.looksGood("key-date")
	d.choose("Expires",
		fmt.Sprintf("In 30 days (%s)", time.Now().AddDate(0, 0, 30).Format(time.DateOnly)))
	p.expect(422, "/admin/key")
	d.click("button", "Create")
	d.see(`contains "nonsense"`)
	p.looksGood("key-form")
	p.press("Backspace") // in the field with the fault
	d.click("button", "Create")
	p.dialog().see("API key \u2068deploy\u2069")
	p.looksGood("key-token")
	token := p.token()

	row := p.row("deploy")
	for _, text := range []string{"Active", "Until 20", "admin", "Dictionary reader", "127.0.0.1",
		"10.0.0.0/8", "Never", token[:8]} {
		row.see(text)
	}

	key := into[struct {
		Rate    int64   `json:"rate_limit"`
		Scope   string  `json:"data_scope"`
		DeptIDs []int64 `json:"dept_ids"`
	}](t, c.want(200, "GET", "/admin/key/1", ""))
	if key.Rate != 90 || key.Scope != "custom" || !slices.Equal(key.DeptIDs, []int64{sales}) {
		t.Errorf("saved: %+v", key)
	}

	program := withKey(t, server, token)
	program.want(200, "GET", "/system/dict", "")
	program.want(http.StatusForbidden, "GET", "/admin/list", "")

	p.menu("deploy", "Check a permission")
	p.dialog().fill("Permission", "admin.list.query")
	p.in(".ant-select-tree-treenode.filter-node .ant-select-tree-title").tap()
	p.dialog().see("None of \u2068deploy\u2069’s roles grants this permission.")
	p.looksGood("key-explain")
	p.press("Escape")

	p.menu("deploy", "Disable")
	p.dialog().see("Disable \u2068deploy\u2069?")
	p.confirm("Disable")
	p.see("deploy\u2069 disabled.")
	p.row("deploy").see("Disabled")
	program.want(http.StatusUnauthorized, "GET", "/system/dict", "")
	p.menu("deploy", "Enable")
	p.see("deploy\u2069 enabled.")
	p.row("deploy").see("Active")
	program.want(200, "GET", "/system/dict", "")

	second := p.rotate("deploy", "1 hour")
	p.row("deploy").see("Previous key until")
	program.want(200, "GET", "/system/dict", "")
	withKey(t, server, second).want(200, "GET", "/system/dict", "")
	third := p.rotate("deploy", "No time: it ends at once")
	program.want(http.StatusUnauthorized, "GET", "/system/dict", "")
	withKey(t, server, second).want(http.StatusUnauthorized, "GET", "/system/dict", "")
	withKey(t, server, third).want(200, "GET", "/system/dict", "")

	p.row("deploy").click("button", "Edit deploy")
	d.fill("Name", "deployment")
	d.see("Unchanged (20")
	d.click("button", "Save")
	p.row("deployment").see("10.0.0.0/8")
	p.menu("deployment", "Delete")
	p.dialog().see("Delete \u2068deployment\u2069?")
	p.confirm("Delete")
	p.see("No API keys yet.")
	withKey(t, server, third).want(http.StatusUnauthorized, "GET", "/system/dict", "")
}

// rotate rotates a key of the list, and returns the new one.
func (p *page) rotate(name, overlap string) string {
	p.t.Helper()
	p.menu(name, "Rotate")
	p.dialog().see("Rotate \u2068" + name + "\u2069?")
	p.dialog().click("radio", overlap)
	p.looksGood("key-rotate")
	p.dialog().click("button", "Rotate")
	p.dialog().see("API key \u2068" + name + "\u2069")
	return p.token()
}

// TestConsoleOwnKey creates a personal key on the account page.
func TestConsoleOwnKey(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.holder(server, "ann", "system.dict", "system.dict.query")
	p := signedInAt(t, server, signedInAs(t, server, "ann"), "/account")
	p.click("tab", "API keys")
	p.see("You have no API keys yet.")
	p.click("button", "New API key")
	d := p.dialog()
	d.fill("Name", "laptop")
	d.click("button", "Create")
	p.dialog().see("API key \u2068laptop\u2069")
	token := p.token()
	p.at("/account/keys")
	p.row("laptop").see("All of your roles")
	p.looksGood("key-own")
	withKey(t, server, token).want(200, "GET", "/system/dict", "")

	second := p.rotate("laptop", "No time: it ends at once")
	withKey(t, server, token).want(http.StatusUnauthorized, "GET", "/system/dict", "")
	withKey(t, server, second).want(200, "GET", "/system/dict", "")
	p.row("laptop").click("button", "Edit laptop")
	d.choose("Roles", "Role of ann")
	p.press("Escape")
	d.click("button", "Save")
	p.row("laptop").see("Role of ann")

	other := signedInAt(t, server, c, "/admin/key") // who can only disable and delete it
	other.row("laptop").see("Personal")
	other.row("laptop").missing("button", "Edit laptop")
	other.menu("laptop", "Disable")
	other.confirm("Disable")
	other.row("laptop").see("Disabled")
	withKey(t, server, second).want(http.StatusUnauthorized, "GET", "/system/dict", "")
	other.row("laptop").click("button", "More actions for laptop")
	other.find("menuitem", "Delete")
	for _, action := range []string{"Enable", "Rotate", "Become the owner"} {
		other.missing("menuitem", action)
	}

	other.press("Escape")

	p.click("button", "Reload")
	p.row("laptop").see("Disabled")
	p.menu("laptop", "Delete")
	p.confirm("Delete")
	p.see("You have no API keys yet.")
}

// TestConsoleKeyList checks search, filters, deleting several, keys that need an owner, and that a
// user sees only the keys of owners in the data scope.
func TestConsoleKeyList(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	reader := c.roleWith("Dictionary reader", "system.dict", "system.dict.query")
	ann := c.holder(server, "ann", "admin", "admin.key", "admin.key.query", "admin.key.create",
		"admin.key.delete", "system.dict", "system.dict.query")
	ann.create("/admin/key", "name", "metrics", "role_ids", []int64{reader})
	for n := range 6 {
		c.create("/admin/key", "name", fmt.Sprintf("batch-%d", n), "role_ids", []int64{reader},
			"networks", []string{"10.0.0.0/8", "192.0.2.7", "2001:db8:1234:5678::/64"})
	}

	c.create("/admin/account/key", "name", "laptop")
	c.want(200, "PUT", "/admin/list/2/status", object("status", 0))
	p := signedInAt(t, server, c, "/admin/key")
	p.row("metrics").see("No owner")
	p.row("laptop").see("Personal")
	p.looksGood("keys")
	p.menu("metrics", "Become the owner")
	p.confirm("Become the owner")
	p.see("You are now the owner.")
	p.row("metrics").see("Active")
	c.want(200, "PUT", "/admin/list/2/status", object("status", 1))

	p.fill("Search", "batch")
	p.gone("laptop")
	p.choose("Role", "Dictionary reader")
	p.row("batch-0").see("Active")
	p.toggle("Select all", true)
	p.in("[role=toolbar]").click("button", "Delete")
	p.dialog().see("batch-0")
	p.dialog().see("batch-4")
	p.dialog().see("and 1 more?")
	p.confirm("Delete")
	p.see("6 API keys deleted.")
	p.see("No results")
	p.click("button", "Clear filters")
	p.row("metrics").see("Active")

	own := c.create("/admin/role", "name", "Own records")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", own), object("data_scope", "self"))
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", own),
		object("rule_ids", c.permissions("admin", "admin.key", "admin.key.query")))
	c.create("/admin/list", "username", "ben", "password", password, "role_ids", []int64{own})
	ben := signedInAs(t, server, "ben")
	ben.create("/admin/account/key", "name", "phone")
	p = signedInAt(t, server, ben, "/admin/key")
	p.row("phone").see("Personal")
	p.missing("button", "New API key")
	if text := p.text(); strings.Contains(text, "metrics") || strings.Contains(text, "laptop") {
		t.Errorf("keys of others: %s", text)
	}

	p = signedInAt(t, server, c, "/")
	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	p.open("/admin/key")
	p.row("metrics").see("正常")
	p.looksGood("keys-zh")
	p.click("button", "新建 API 密钥")
	p.dialog().see("允许的网络")
	p.looksGood("key-form-zh")
}

// TestConsoleKeyInActivity checks that the change log and monitoring name the key that acted.
func TestConsoleKeyInActivity(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	writer := c.roleWith("Writer", "system.dict", "system.dict.query", "system.dict.create")
	token := into[struct{ Token string }](t,
		c.want(200, "POST", "/admin/key", object("name", "deploy", "role_ids", []int64{writer}))).Token
	program := withKey(t, server, token)
	a := program.want(200, "POST", "/system/dict", object("code", "colour", "name", "Colour"))
	c.want(200, "POST", "/admin/key/1/rotate", "")
	p := signedInAt(t, server, c, "/admin/key")
	p.row("deploy").see("Active")
	p.click("button", "More actions for deploy")
	p.in(".ant-dropdown").click("menuitem", "Activity")
	p.at("/system/audit?actor=key%3A1")
	p.see("API key deploy created the dictionary Colour")
	p.see("API key: deploy")
	p.gone("admin rotated")
	p.looksGood("key-activity")
	p.click("button", "Remove filter: API key: deploy")
	p.see("admin rotated API key 1")
	p.see("admin created the API key deploy")
	p.open("/system/audit?action=rotate_key")
	p.see("API key rotated") // the filter
	p.gone("created")
	p.see("admin rotated API key 1")

	p.open("/system/monitor/request/" + a.header.Get("X-Request-Id"))
	p.see("admin, with API key deploy")
}
