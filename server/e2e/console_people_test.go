package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// person is a user of either realm.
type person struct {
	ID                 int64    `json:"id"`
	Username           string   `json:"username"`
	Nickname           string   `json:"nickname"`
	Email              string   `json:"email"`
	Mobile             string   `json:"mobile"`
	Sex                int64    `json:"sex"`
	DeptName           string   `json:"dept_name"`
	RoleNames          []string `json:"role_names"`
	Status             int      `json:"status"`
	MustChangePassword int      `json:"must_change_password"`
}

// people is a list of users as the interface has it.
func (c *client) people(path string) (found []person) {
	c.t.Helper()
	return list[person](c, path)
}

// person is the one user of a list with a name.
func (c *client) person(path, username string) person {
	c.t.Helper()
	for _, u := range c.people(path + "?pageSize=1000") {
		if u.Username == username {
			return u
		}
	}
	c.t.Fatalf("there is no %s in %s", username, path)
	return person{}
}

// usernames are those of a list, in its order.
func (c *client) usernames(path string) string {
	c.t.Helper()
	var names []string
	for _, u := range c.people(path) {
		names = append(names, u.Username)
	}
	return strings.Join(names, " ")
}

// office is a server with two departments, one below the other, a role and three
// users: ann below, bea above, and cay nowhere.
func office(t *testing.T) (*process, *client) {
	t.Helper()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	head := c.create("/admin/dept", "name", "Head office")
	sales := c.create("/admin/dept", "name", "Sales", "parent_id", head)
	clerk := c.roleWith("Clerk", "admin", "admin.list", "admin.list.query")
	c.create("/admin/list", "username", "ann", "nickname", "Ann Lee", "email", "ann@example.org", "dept_id", sales, "role_ids", []int64{clerk}, "password", password)
	c.create("/admin/list", "username", "bea", "dept_id", head, "sex", 1, "password", password)
	c.create("/admin/list", "username", "cay", "status", 0, "password", password)
	return server, c
}

// more opens the menu beside a user and clicks one of its items.
func (p *page) more(username, item string) {
	p.t.Helper()
	p.click("button", "More for "+username)
	p.in(".ant-dropdown:not(.ant-dropdown-hidden)").click("menuitem", item)
}

// noted takes the password that is shown once, and closes what shows it.
func (p *page) noted(username string) (secret string) {
	p.t.Helper()
	p.see("Password of \u2068" + username + "\u2069")
	secret = p.dialog().value("Password")
	p.dialog().find("button", "Copy")
	p.confirm("I have noted it")
	p.gone("This is shown once")
	return secret
}

func TestConsoleUserIsCreated(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "New user")
	d := p.dialog()
	d.fill("User name", "x")
	d.fill("Email", "ann@example")
	p.audit()
	p.expect(422, "/admin/list")
	d.click("button", "Save")
	d.see("must have at least 3 characters")
	d.see("must be an e-mail address")
	d.fill("User name", "dora")
	d.fill("Nickname", "Dora May")
	d.fill("Email", "dora@example.org")
	d.gone("must be an e-mail address")
	d.fill("Mobile", "+49 30 12")
	d.choose("Department", "Head office")
	d.choose("Roles", "Clerk")
	p.press("Escape")
	d.choose("Sex", "Female")
	d.click("button", "Save")
	secret := p.noted("dora")
	p.row("dora").see("Dora May")
	if u := c.person("/admin/list", "dora"); fmt.Sprint(u) != fmt.Sprint(person{u.ID, "dora", "Dora May", "dora@example.org", "+49 30 12", 2, "Head office", []string{"Clerk"}, 1, 1}) {
		t.Errorf("%+v", u)
	}
	newClient(t, server).want(200, "POST", "/admin/login", object("username", "dora", "password", secret))

	p.click("button", "New user")
	d = p.dialog()
	d.fill("User name", "elsa")
	d.click("radio", "Type one")
	d.fill("New password", password)
	p.audit()
	d.click("button", "Save")
	p.see("elsa")
	signedInAs(t, server, "elsa")
}

func TestConsoleUserIsEdited(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "Edit ann")
	d := p.dialog()
	d.fill("Nickname", "Anna")
	ann := c.person("/admin/list", "ann")
	c.want(200, "PUT", fmt.Sprintf("/admin/list/%d", ann.ID), object("mobile", "+1 2"))
	p.expect(409, "/admin/list/")
	d.click("button", "Save")
	d.see("Somebody else has changed this meanwhile.")
	p.audit()
	d.click("button", "Reload")
	d.gone("Somebody else")
	if mobile, nickname := d.value("Mobile"), d.value("Nickname"); mobile != "+1 2" || nickname != "Ann Lee" {
		t.Errorf("loaded again: %q %q", mobile, nickname)
	}
	d.fill("Nickname", "Anna")
	d.toggle("Enabled", false)
	d.click("button", "Save")
	p.row("Anna").find("switch", "ann is disabled")
	if u := c.person("/admin/list", "ann"); u.Nickname != "Anna" || u.Mobile != "+1 2" || u.Status != 0 || u.DeptName != "Sales" {
		t.Errorf("%+v", u)
	}
}

func TestConsoleUserIsSwitched(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := signedInAs(t, server, "ann")
	p := signedInAt(t, server, c, "/admin/list")
	p.click("switch", "ann is enabled")
	p.see("is disabled and signed out.")
	ann.want(401, "GET", "/admin/info", "")
	p.click("button", "Undo")
	p.find("switch", "ann is enabled")
	signedInAs(t, server, "ann")
	p.row("admin").missing("button", "More for ann")

	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "ann").ID), "")
	p.expect(404, "/admin/list/")
	p.click("switch", "ann is enabled") // refused, and so shown as it was
	p.see("there is no user")
	p.find("switch", "ann is enabled")
}

func TestConsoleUserPasswordIsReset(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := signedInAs(t, server, "ann")
	p := signedInAt(t, server, c, "/admin/list")
	p.row("admin").click("button", "More for admin")
	p.in(".ant-dropdown:not(.ant-dropdown-hidden)").find("menuitem", "Sessions")
	p.missing("menuitem", "Reset password")
	p.missing("menuitem", "Delete")
	p.press("Escape")
	p.more("ann", "Reset password")
	p.dialog().see("is signed out everywhere at once")
	p.audit()
	p.dialog().click("button", "Reset")
	p.find("button", "I have noted it")
	p.audit()
	secret := p.noted("ann")
	ann.want(401, "GET", "/admin/info", "")
	newClient(t, server).want(200, "POST", "/admin/login", object("username", "ann", "password", secret))

	p.more("ann", "Reset password")
	p.dialog().click("radio", "Type one")
	p.dialog().fill("New password", "short")
	p.expect(422, "/admin/list/")
	p.dialog().click("button", "Reset")
	p.dialog().see("must have at least 8 bytes")
	p.dialog().fill("New password", password)
	p.dialog().click("button", "Reset")
	p.see("is reset.")
	signedInAs(t, server, "ann")
}

func TestConsoleUserSessions(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	first, second, third := signedInAs(t, server, "ann"), newClient(t, server), signedInAs(t, server, "ann")
	second.extra["User-Agent"] = firefox
	second.token = into[grant](t, second.want(200, "POST", "/admin/login", object("username", "ann", "password", password))).Token
	p := signedInAt(t, server, c, "/admin/list")
	p.more("ann", "Sessions")
	d := p.in(".ant-drawer-content-wrapper")
	d.row("Firefox").click("button", "Sign out")
	p.confirm("Sign out")
	d.gone("Firefox")
	second.want(401, "GET", "/admin/info", "")
	first.want(200, "GET", "/admin/info", "")
	p.audit()
	d.click("button", "Sign out everywhere")
	p.confirm("Sign out everywhere")
	d.see("Not signed in anywhere.")
	first.want(401, "GET", "/admin/info", "")
	third.want(401, "GET", "/admin/info", "")
	p.audit()
}

func TestConsoleUsersInABatch(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for i := range 3 {
		c.create("/admin/list", "username", fmt.Sprintf("temp%d", i), "password", password)
	}
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=temp")
	p.see("temp0")
	p.click("checkbox", "Select all")
	p.see("3 selected")
	p.audit()
	p.click("button", "Disable")
	p.audit()
	p.confirm("Disable")
	p.see("3 users are disabled and signed out.")
	if left := c.usernames("/admin/list?status=1&keywordSearch=temp"); left != "" {
		t.Errorf("enabled: %s", left)
	}
	p.click("button", "Undo")
	p.see("3 users are enabled.")
	if on := c.usernames("/admin/list?status=1&keywordSearch=temp"); on != "temp0 temp1 temp2" {
		t.Errorf("enabled: %s", on)
	}

	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "temp1").ID), "")
	p.expect(404, "/admin/list")
	p.click("button", "Disable")
	p.confirm("Disable")
	p.see("there is no user")
	p.gone("temp1")
	p.see("2 selected")
	if on := c.usernames("/admin/list?status=1&keywordSearch=temp"); on != "temp0 temp2" { // all or none
		t.Errorf("enabled: %s", on)
	}
	p.click("button", "Delete")
	p.dialog().see("This cannot be undone.")
	p.confirm("Cancel")
	p.click("button", "Delete")
	p.confirm("Delete")
	p.see("2 users are deleted.")
	p.see("Nothing matches.")
	if left := c.usernames("/admin/list"); left != "admin ann bea cay" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleUserIsDeleted(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.more("ann", "Delete")
	p.dialog().see("Files and logs keep the name.")
	p.audit()
	p.confirm("Delete")
	p.see("is deleted.")
	p.gone("Ann Lee")
	if left := c.usernames("/admin/list"); left != "admin bea cay" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleUsersAreFiltered(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	depts := p.in(".depts")
	depts.row("Head office").in(".ant-tree-title").tap()
	p.at("/admin/list?dept_id=1")
	p.gone("cay")
	p.see("ann") // from below it
	depts.row("Sales").in(".ant-tree-title").tap()
	p.at("/admin/list?dept_id=2")
	p.gone("bea")
	depts.fill("Find a department", "nowhere")
	depts.see("Nothing matches.")
	depts.fill("Find a department", "sal")
	depts.see("Sales")
	p.audit()
	depts.click("button", "All departments")
	p.at("/admin/list")
	depts.click("button", "Hide departments")
	p.click("button", "Show departments")
	p.choose("Role", "Clerk")
	p.see("ann")
	p.gone("bea")
	p.open("/admin/list")
	p.choose("Status", "Disabled")
	p.at("/admin/list?status=0")
	p.gone("ann")
	p.see("cay")
	p.open("/admin/list")
	p.fill("Search", "example.org")
	p.at("/admin/list?keywordSearch=example.org")
	p.gone("bea")
	p.see("ann")
	p.open("/admin/list")
	p.see("ann")
	p.click("button", "More filters")
	p.dialog().choose("Sex", "Male")
	p.at("/admin/list?sex=1")
	p.gone("ann")
	p.see("bea")
	p.in("[aria-label=Created][date-range=start]").tap()
	p.see("Last 7 days")
	p.in(".ant-picker-presets").row("Today").tap()
	p.audit()
	p.press("Escape")
	p.find("button", "More filters, 2 in use")
	p.see("bea")
	p.open("/admin/list?created_at[]=2001-01-01&created_at[]=2001-12-31")
	p.see("Nothing matches.")
	p.click("button", "Clear the search and filters")
	p.see("ann")
}

func TestConsoleUsersAreSorted(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.see("ann")
	p.click("columnheader", "User")
	p.at("/admin/list?sorter=" + "%7B%22username%22%3A%22ascend%22%7D")
	p.settle()
	p.click("columnheader", "User")
	p.at("/admin/list?sorter=" + "%7B%22username%22%3A%22descend%22%7D")
	p.until("have cay above ann", func() error {
		if text := p.text(); strings.Index(text, "cay") > strings.Index(text, "ann@") {
			return errors.New("it is not")
		}
		return nil
	})
}

func TestConsoleUsersOnAPhone(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.create("/admin/list", "username", "wide", "nickname", strings.Repeat("W", 64), "password", password)
	c.create("/admin/list", "username", "markup", "nickname", "<b>مرحبا بالعالم</b>", "password", password)
	p := signedInAt(t, server, c, "/admin/list")
	p.see("<b>مرحبا")
	p.width(320)
	p.noSidewaysScroll()
	p.choose("Department", "Head office")
	p.at("/admin/list?dept_id=1")
	p.gone("markup")
	p.see("ann")
	p.click("button", "Edit ann")
	p.dialog().find("textbox", "User name")
	p.noSidewaysScroll()
	p.audit()
}

func TestConsoleUsersAreImported(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Columns of the file")
	p.audit()
	name, content := p.download(func() { d.click("button", "Download a template") })
	if name != "users.csv" || string(content) != "\ufeffusername,nickname,email,mobile,sex,department,roles,status\r\n" {
		t.Errorf("%s: %q", name, content)
	}
	p.expect(422, "/admin/list-import")
	d.upload(onDisk(t, "broken.csv", "name\nx\n"))
	d.see(`"name" is not a column`)
	d.upload(onDisk(t, "bad.csv", "username,email,department,roles\nfay,fay@example.org,Head office/Sales,Clerk\nann,,Nowhere,Nobody\n"))
	d.see("1 of 2 rows cannot be imported.")
	d.see("there is no department \"Nowhere\"")
	d.missing("button", "Import 2 users")
	p.audit()
	d.gone("fay")
	d.toggle("Only rows with faults", false)
	d.see("fay")
	d.click("button", "Choose another file")
	d.upload(onDisk(t, "good.csv", "username,email,department,roles\nfay,fay@example.org,Head office/Sales,Clerk\ngia,,,\n"))
	d.see("2 rows can be imported.")
	p.audit()
	if there := c.usernames("/admin/list"); there != "admin ann bea cay" {
		t.Errorf("before the import: %s", there)
	}
	d.click("button", "Import 2 users")
	p.see("2 users are imported.")
	p.see("gia")
	p.gone("Choose another file")
	p.settle() // the focus has gone back to where it was
	if u := c.person("/admin/list", "fay"); u.DeptName != "Sales" || fmt.Sprint(u.RoleNames) != "[Clerk]" {
		t.Errorf("%+v", u)
	}
	p.choose("Status", "Disabled")
	p.gone("gia")
	p.see("cay")
	name, content = p.download(func() {
		p.click("button", "Import and export")
		p.click("menuitem", "Export")
	})
	if lines := strings.Split(strings.TrimSpace(string(content)), "\n"); !strings.HasPrefix(name, "users-") || len(lines) != 2 || !strings.HasPrefix(lines[1], "cay,") {
		t.Errorf("%s: %q", name, content)
	}
}

func TestConsoleUserRightsAreExplained(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.more("ann", "Explain rights")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Pick a permission")
	ask := func(key, option, verdict string) {
		t.Helper()
		d.fill("Which permission?", key)
		found := p.in(".ant-select-tree-treenode.filter-node .ant-select-tree-title")
		found.see(option)
		found.tap()
		d.see(verdict)
	}
	ask("admin.list.query", "List users", "has it by the roles below.")
	d.see("Clerk")
	d.gone("The data scope of these roles is limited")
	c.want(200, "PUT", "/admin/role/2", object("data_scope", "dept"))
	p.audit()
	ask("delete a user", "Delete a user", "None of the roles of")
	p.audit()
	ask("admin.list.query", "List users", "only files that were uploaded by users within it")
	p.audit()
	ask("delete a user", "Delete a user", "None of the roles of")
	c.want(200, "PUT", "/admin/role/2", object("status", 0))
	ask("admin.list.q", "List users", "Only disabled roles would give it.")
	p.settle()
	p.press("Escape")
	p.gone("Only disabled roles")
	p.more("admin", "Explain rights")
	ask("admin.list.query", "List users", "is an owner")
}

func TestConsoleUsersWithoutPermissions(t *testing.T) {
	t.Parallel()
	server, _ := office(t)
	p := signedInAt(t, server, signedInAs(t, server, "ann"), "/admin/list")
	p.row("bea").see("Enabled")
	p.settle()
	for _, button := range []string{"New user", "Import and export", "Edit bea", "More for bea"} {
		p.missing("button", button)
	}
	p.missing("switch", "bea is enabled")
	p.missing("checkbox", "Select all")
	p.missing("combobox", "Role")
	p.missing("tree", "Departments")
	p.audit()
}

func TestConsoleUserFormWithoutRolesAndDepartments(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	editor := c.roleWith("Editor", "admin", "admin.list", "admin.list.query", "admin.list.update")
	c.create("/admin/list", "username", "eve", "role_ids", []int64{editor, 2}, "password", password)
	p := signedInAt(t, server, signedInAs(t, server, "eve"), "/admin/list")
	p.click("button", "Edit ann")
	d := p.dialog()
	d.see("You may not see the roles.")
	d.see("You may not see the departments.")
	d.see("Clerk")
	d.see("Sales")
	p.audit()
	d.fill("Nickname", "Annie")
	d.click("button", "Save")
	p.see("Annie")
	if u := c.person("/admin/list", "ann"); u.DeptName != "Sales" || fmt.Sprint(u.RoleNames) != "[Clerk]" {
		t.Errorf("%+v", u)
	}
}

// TestConsoleImportIsDecoded chooses the encoding of a file that could be in two.
func TestConsoleImportIsDecoded(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Automatic")
	p.expect(422, "/admin/list-import")
	d.upload(onDisk(t, "either.csv", "username,nickname\nfay,\xd5\xc5\xe9\x46\n"))
	d.see("could be Windows-1252 as well as GB18030")
	d.choose("Character encoding", "GB18030 (Chinese)")
	d.see("1 row can be imported.")
	p.audit()
	d.click("button", "Import 1 user")
	p.see("1 user is imported.")
	if u := c.person("/admin/list", "fay"); u.Nickname != "张镕" {
		t.Errorf("%+v", u)
	}
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d.see("Automatic") // again
	d.choose("Character encoding", "Windows-1252 (Western European)")
	d.upload(onDisk(t, "western.csv", "username,nickname\ngia,M\xfcller\n"))
	d.click("button", "Import 1 user")
	p.see("gia")
	if u := c.person("/admin/list", "gia"); u.Nickname != "Müller" {
		t.Errorf("%+v", u)
	}
}
