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

// people returns a list of users from the interface.
func (c *client) people(path string) (found []person) {
	c.t.Helper()
	return list[person](c, path)
}

// person returns the only user of a list with a name.
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

// usernames returns the names in a list, in order.
func (c *client) usernames(path string) string {
	c.t.Helper()
	var names []string
	for _, u := range c.people(path) {
		names = append(names, u.Username)
	}
	return strings.Join(names, " ")
}

// office returns a server with two departments, one below the other, a role and three
// users: ann in the lower, bea in the upper, and cay in none.
func office(t *testing.T) (*process, *client) {
	t.Helper()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.staff()
	return server, c
}

// staff creates the departments, the role and the people of an office.
func (c *client) staff() {
	c.t.Helper()
	head := c.create("/admin/dept", "name", "Head office")
	sales := c.create("/admin/dept", "name", "Sales", "parent_id", head)
	clerk := c.roleWith("Clerk", "admin", "admin.list", "admin.list.query")
	c.create("/admin/list", "username", "ann", "nickname", "Ann Lee", "email", "ann@example.org",
		"dept_id", sales, "role_ids", []int64{clerk}, "password", password)
	c.create("/admin/list", "username", "bea", "dept_id", head, "sex", 1, "password", password)
	c.create("/admin/list", "username", "cay", "status", 0, "password", password)
}

// more opens the menu of a user and clicks an item.
func (p *page) more(username, item string) {
	p.t.Helper()
	p.click("button", "More actions for "+username)
	p.in(".ant-dropdown:not(.ant-dropdown-hidden)").click("menuitem", item)
}

// noted returns the password that is shown once, and closes its dialog.
func (p *page) noted(username string) (secret string) {
	p.t.Helper()
	p.see("Password of \u2068" + username + "\u2069")
	secret = p.dialog().value("Password")
	p.dialog().find("button", "Copy")
	p.confirm("Done")
	p.gone("Copy this password now.")
	return secret
}

func TestConsoleUser_Create(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "New user")
	d := p.dialog()
	d.fill("Username", "x")
	d.fill("Email", "ann@example")
	p.audit()
	p.expect(422, "/admin/list")
	d.click("button", "Create")
	d.see("Use 3 to 32 characters")
	d.see("Enter a valid email address")
	d.fill("Username", "dora")
	d.fill("Display name", "Dora May")
	d.fill("Email", "dora@example.org")
	d.gone("Enter a valid email address")
	d.fill("Phone", "+49 30 12")
	d.choose("Department", "Head office")
	d.choose("Roles", "Clerk")
	p.press("Escape")
	d.choose("Gender", "Female")
	d.click("button", "Create")
	secret := p.noted("dora")
	p.row("dora").see("Dora May")
	if u := c.person("/admin/list", "dora"); fmt.Sprint(u) != fmt.Sprint(person{u.ID, "dora",
		"Dora May", "dora@example.org", "+49 30 12", 2, "Head office", []string{"Clerk"}, 1, 1}) {
		t.Errorf("%+v", u)
	}

	newClient(t, server).want(200, "POST", "/admin/login",
		object("username", "dora", "password", secret))

	p.click("button", "New user")
	d = p.dialog()
	d.fill("Username", "elsa")
	d.click("radio", "Set manually")
	d.fill("New password", password)
	p.audit()
	d.click("button", "Create")
	p.see("elsa")
	signedInAs(t, server, "elsa")
}

func TestConsoleUser_Edit(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "Edit ann")
	d := p.dialog()
	d.fill("Display name", "Anna")
	ann := c.person("/admin/list", "ann")
	c.want(200, "PUT", fmt.Sprintf("/admin/list/%d", ann.ID), object("mobile", "+1 2"))
	p.expect(409, "/admin/list/")
	d.click("button", "Save")
	d.see("Someone else changed this.")
	p.audit()
	d.click("button", "Reload")
	d.gone("Someone else")
	if mobile, nickname := d.value("Phone"), d.value("Display name"); mobile != "+1 2" ||
		nickname != "Ann Lee" {
		t.Errorf("loaded again: %q %q", mobile, nickname)
	}

	d.fill("Display name", "Anna")
	d.toggle("Enabled", false)
	d.click("button", "Save")
	p.row("Anna").find("switch", "ann is disabled")
	if u := c.person("/admin/list", "ann"); u.Nickname != "Anna" || u.Mobile != "+1 2" ||
		u.Status != 0 || u.DeptName != "Sales" {
		t.Errorf("%+v", u)
	}
}

func TestConsoleUser_Switch(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := signedInAs(t, server, "ann")
	p := signedInAt(t, server, c, "/admin/list", streamGate) // a live update would remove the deleted user
	p.click("switch", "ann is enabled")
	p.see("disabled and signed out.")
	ann.want(401, "GET", "/admin/info", "")
	p.click("button", "Undo")
	p.see("Undone.")
	p.find("switch", "ann is enabled")
	signedInAs(t, server, "ann")
	p.row("admin").missing("button", "More actions for ann")

	gone := c.person("/admin/list", "ann").ID
	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d", gone), "")
	p.expect(404, "/admin/list/")
	p.click("switch", "ann is enabled") // rejected, and so shown as it was
	p.see(fmt.Sprintf("user %d not found", gone))
	p.find("switch", "ann is enabled")
}

func TestConsoleUser_PasswordReset(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := signedInAs(t, server, "ann")
	p := signedInAt(t, server, c, "/admin/list")
	p.row("admin").click("button", "More actions for admin")
	p.in(".ant-dropdown:not(.ant-dropdown-hidden)").find("menuitem", "Sessions")
	p.missing("menuitem", "Reset password")
	p.missing("menuitem", "Delete")
	p.press("Escape")
	p.more("ann", "Reset password")
	p.dialog().see("will be signed out everywhere")
	p.audit()
	p.dialog().click("button", "Reset")
	p.find("button", "Done")
	p.audit()
	secret := p.noted("ann")
	ann.want(401, "GET", "/admin/info", "")
	newClient(t, server).want(200, "POST", "/admin/login",
		object("username", "ann", "password", secret))

	p.more("ann", "Reset password")
	p.dialog().click("radio", "Set manually")
	p.dialog().fill("New password", "short")
	p.expect(422, "/admin/list/")
	p.dialog().click("button", "Reset")
	p.dialog().see("must be 8 to 1024 bytes")
	p.dialog().fill("New password", password)
	p.dialog().click("button", "Reset")
	p.see("Password reset for")
	signedInAs(t, server, "ann")
}

func TestConsoleUser_Sessions(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	first, second, third := signedInAs(t, server, "ann"), newClient(t, server), signedInAs(t,
		server, "ann")
	second.extra["User-Agent"] = firefox
	second.token = into[grant](t,
		second.want(200, "POST", "/admin/login", object("username", "ann", "password", password))).Token
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
	d.see("No active sessions.")
	first.want(401, "GET", "/admin/info", "")
	third.want(401, "GET", "/admin/info", "")
	p.audit()
}

func TestConsoleUsers_Batch(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for i := range 3 {
		c.create("/admin/list", "username", fmt.Sprintf("temp%d", i), "password", password)
	}

	p := console(t, server)
	p.before(streamGate) // the page does not learn that another session deletes a user
	p.as(c.token)
	p.open("/admin/list?keywordSearch=temp")
	p.see("temp0")
	p.click("checkbox", "Select all")
	p.see("3 selected")
	p.audit()
	p.click("button", "Disable")
	p.audit()
	p.confirm("Disable")
	p.see("3 users disabled and signed out.")
	if left := c.usernames("/admin/list?status=1&keywordSearch=temp"); left != "" {
		t.Errorf("enabled: %s", left)
	}

	p.click("button", "Undo")
	p.see("3 users enabled.")
	if on := c.usernames("/admin/list?status=1&keywordSearch=temp"); on != "temp0 temp1 temp2" {
		t.Errorf("enabled: %s", on)
	}

	gone := c.person("/admin/list", "temp1").ID
	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d", gone), "")
	p.expect(404, "/admin/list")
	p.click("button", "Disable")
	p.confirm("Disable")
	p.see(fmt.Sprintf("user %d not found", gone))
	p.gone("temp1")
	p.see("2 selected")
	if on := c.usernames("/admin/list?status=1&keywordSearch=temp"); on != "temp0 temp2" { // all or none
		t.Errorf("enabled: %s", on)
	}

	p.click("button", "Delete")
	p.dialog().see("This can’t be undone.")
	p.confirm("Cancel")
	p.click("button", "Delete")
	p.confirm("Delete")
	p.see("2 users deleted.")
	p.see("No results")
	if left := c.usernames("/admin/list"); left != "admin ann bea cay" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleUser_Delete(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.more("ann", "Delete")
	p.dialog().see("Their files and log entries keep the name.")
	p.audit()
	p.confirm("Delete")
	p.see(" deleted.")
	p.gone("Ann Lee")
	if left := c.usernames("/admin/list"); left != "admin bea cay" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleUsers_Filters(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	depts := p.in(".depts")
	depts.row("Head office").in(".ant-tree-title").tap()
	p.at("/admin/list?dept_id=1")
	p.gone("cay")
	p.see("ann") // of the department below it
	depts.row("Sales").in(".ant-tree-title").tap()
	p.at("/admin/list?dept_id=2")
	p.gone("bea")
	depts.fill("Find a department", "nowhere")
	depts.see("No results")
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
	p.dialog().choose("Gender", "Male")
	p.at("/admin/list?sex=1")
	p.gone("ann")
	p.see("bea")
	p.in("[aria-label=Created][date-range=start]").tap()
	p.see("Last 7 days")
	p.in(".ant-picker-presets").row("Today").tap()
	p.audit()
	p.press("Escape")
	p.find("button", "More filters, 2 active")
	p.see("bea")
	p.open("/admin/list?created_at[]=2001-01-01&created_at[]=2001-12-31")
	p.see("No results")
	p.click("button", "Clear filters")
	p.see("ann")
}

func TestConsoleUsers_Sort(t *testing.T) {
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

func TestConsoleUsers_OnPhone(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.create("/admin/list", "username", "wide", "nickname", strings.Repeat("W", 64), "password",
		password)
	c.create("/admin/list", "username", "markup", "nickname", "<b>مرحبا بالعالم</b>", "password",
		password)
	p := signedInAt(t, server, c, "/admin/list")
	p.see("<b>مرحبا")
	p.width(320)
	p.noSidewaysScroll()
	p.choose("Department", "Head office")
	p.at("/admin/list?dept_id=1")
	p.gone("markup")
	p.see("ann")
	p.click("button", "Edit ann")
	p.dialog().find("textbox", "Username")
	p.noSidewaysScroll()
	p.audit()
}

func TestConsoleUsers_Import(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("File columns")
	p.audit()
	name, content := p.download(func() { d.click("button", "Download template") })
	if name != "users.csv" ||
		string(content) != "\ufeffusername,nickname,email,mobile,sex,department,roles,status\r\n" {
		t.Errorf("%s: %q", name, content)
	}

	p.expect(422, "/admin/list-import")
	d.upload(onDisk(t, "broken.csv", "username\n\"x\n"))
	d.see("misplaced quotation mark")
	d.upload(onDisk(t, "bad.csv",
		"username,email,department,roles\nfay,fay@example.org,Head office/Sales,Clerk\nann,,Nowhere,Nobody\n"))
	d.see("1 of 2 rows have errors.")
	d.see("department \"Nowhere\" not found")
	d.missing("button", "Import 2 users")
	p.audit()
	d.gone("fay")
	d.toggle("Show only errors", false)
	d.see("fay")
	d.click("button", "Choose another file")
	d.upload(onDisk(t, "good.csv",
		"username,email,department,roles\nfay,fay@example.org,Head office/Sales,Clerk\ngia,,,\n"))
	d.see("2 rows can be imported.")
	p.audit()
	if there := c.usernames("/admin/list"); there != "admin ann bea cay" {
		t.Errorf("before the import: %s", there)
	}

	d.click("button", "Import 2 users")
	p.see("2 users imported.")
	p.see("gia")
	p.gone("Choose another file")
	p.settle() // the focus has returned to where it was
	if u := c.person("/admin/list", "fay"); u.DeptName != "Sales" ||
		fmt.Sprint(u.RoleNames) != "[Clerk]" {
		t.Errorf("%+v", u)
	}

	p.choose("Status", "Disabled")
	p.gone("gia")
	p.see("cay")
	name, content = p.download(func() {
		p.click("button", "Import and export")
		p.click("menuitem", "Export")
	})
	if lines := strings.Split(strings.TrimSpace(string(content)), "\n"); !strings.HasPrefix(name,
		"users-") || len(lines) != 2 || !strings.HasPrefix(lines[1], "cay,") {
		t.Errorf("%s: %q", name, content)
	}
}

func TestConsoleUser_ExplainRights(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.more("ann", "Check access")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Search permissions")
	ask := func(key, option, verdict string) {
		t.Helper()
		d.fill("Permission", key)
		found := p.in(".ant-select-tree-treenode.filter-node .ant-select-tree-title")
		found.see(option)
		found.tap()
		d.see(verdict)
	}
	ask("admin.list.query", "List users", "has this permission through their roles.")
	d.see("Clerk")
	d.gone("These roles have a limited data scope")
	c.want(200, "PUT", "/admin/role/2", object("data_scope", "dept"))
	p.audit()
	ask("delete a user", "Delete a user", "roles grants this permission.")
	p.audit()
	ask("admin.list.query", "List users", "only files uploaded by users in it")
	p.audit()
	ask("delete a user", "Delete a user", "roles grants this permission.")
	c.want(200, "PUT", "/admin/role/2", object("status", 0))
	ask("admin.list.q", "List users", "Only disabled roles grant this permission.")
	d.fill("At time", "2020-01-31 10:00:00")
	p.press("Enter")
	d.see("At 2020-01-31 10:00:00")
	p.settle()
	p.press("Escape")
	p.gone("Only disabled roles")
	p.more("admin", "Check access")
	ask("admin.list.query", "List users", "is an owner")
}

func TestConsoleUsers_WithoutPermissions(t *testing.T) {
	t.Parallel()
	server, _ := office(t)
	p := signedInAt(t, server, signedInAs(t, server, "ann"), "/admin/list")
	p.row("bea").see("Enabled")
	p.settle()
	for _, button := range []string{"New user", "Import and export", "Edit bea",
		"More actions for bea"} {
		p.missing("button", button)
	}
	p.missing("switch", "bea is enabled")
	p.missing("checkbox", "Select all")
	p.missing("tree", "Departments")
	p.audit()
}

func TestConsoleUserForm_WithoutRolesAndDepts(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	editor := c.roleWith("Editor", "admin", "admin.list", "admin.list.query", "admin.list.update")
	c.create("/admin/list", "username", "eve", "role_ids", []int64{editor, 2}, "password", password)
	p := signedInAt(t, server, signedInAs(t, server, "eve"), "/admin/list")
	p.click("button", "Edit ann")
	d := p.dialog()
	d.see("Clerk")
	d.see("Sales")
	p.audit()
	d.fill("Display name", "Annie")
	d.click("button", "Save")
	p.see("Annie")
	if u := c.person("/admin/list", "ann"); u.DeptName != "Sales" ||
		fmt.Sprint(u.RoleNames) != "[Clerk]" {
		t.Errorf("%+v", u)
	}
}

// TestConsoleImport_MapsColumns imports the good rows of a file from another program, and downloads the bad ones
// with their reasons; corrected, they are imported, too.
func TestConsoleImport_MapsColumns(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.upload(onDisk(t, "staff.csv", "姓名;Login;Notes;Kontakt;性别;Wo\n"+
		"Fay;fay;=1+1;fay@example.org;女;Head office/Sales\n"+
		"Gia;gia;\"x\ny\";gia@example.org;male;Nowhere\n"+
		"Hal;hal;;hal@example.org;;\nIlo;ilo;;;;Head office/Sales\nJon;jon;;;;head office\nKim;kim;;;;Head office\n"))
	d.see("What is in the columns of your file?")
	d.see("Fay · Gia · Hal")
	for column, want := range map[string]string{
		"姓名": "Display name", "Login": "Username", "Notes": "Don’t import",
		"Kontakt": "Email", "性别": "Sex", "Wo": "Department",
	} {
		d.find("combobox", "Content of the column "+column)
		d.see(want)
	}
	p.looksGood("import-columns")
	d.click("button", "Check rows")
	d.see("1 of 6 rows have errors. Nothing has been imported yet.")
	d.see("department \"Nowhere\" not found")
	d.toggle("Show only errors", false)
	p.looksGood("import-rows")
	name, content := p.download(func() { d.click("button", "Download 1 bad row") })
	const bad = "\ufeff\"姓名\",\"Login\",\"Notes\",\"Kontakt\",\"性别\",\"Wo\",\"Reason\"\r\n" +
		"\"Gia\",\"gia\",\"x\ny\",\"gia@example.org\",\"male\",\"Nowhere\",\"Department: department \"\"Nowhere\"\" not found\"\r\n"
	if name != "staff-errors.csv" || string(content) != bad {
		t.Errorf("%s: %q", name, content)
	}
	d.click("button", "Import the 5 good rows")
	d.see("5 imported. 1 row has errors: download it")
	p.looksGood("import-left")
	if u := c.person("/admin/list", "fay"); u.DeptName != "Sales" || u.Nickname != "Fay" {
		t.Errorf("%+v", u)
	}
	if there := c.usernames("/admin/list"); there != "admin ann bea cay fay hal ilo jon kim" {
		t.Errorf("after the import: %s", there)
	}

	d.click("button", "Choose another file")
	d.upload(onDisk(t, name, strings.Replace(bad, "\"Nowhere\",\"Dep", "\"Head office\",\"Dep", 1)))
	d.click("button", "Check rows")
	d.click("button", "Import 1 user")
	p.see("1 user imported.")
	p.row("gia")

	zh := signedInAt(t, server, c, "/admin/list", inChinese)
	zh.click("button", "导入和导出")
	zh.click("menuitem", "导入")
	d = zh.in(".ant-drawer-content-wrapper")
	d.upload(onDisk(t, "zh.csv", "账号,邮箱,备注\nx,x@example.org,\nina,,\n"))
	d.see("请确认文件各列的内容。")
	zh.looksGood("zh-import-columns")
	d.click("button", "检查数据")
	d.see("2 行中有 1 行有误")
	zh.looksGood("zh-import-rows")
	d.click("button", "更改列对应")
	d.find("combobox", "“备注”列的内容")
	large := onDisk(t, "large.csv", "username\n"+strings.Repeat("x\n", 5<<20))
	d.click("button", "选择其他文件")
	d.upload(large)
	d.see("文件大于 8 MiB")
}

// TestConsoleImport_Encoding chooses the encoding of a file that is valid in two.
func TestConsoleImport_Encoding(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Automatic")
	d.upload(onDisk(t, "either.csv", "username,nickname\nfay,\xd5\xc5\xe9\x46\n"))
	d.see("This file isn’t UTF-8. Choose its encoding above.")
	d.choose("Character encoding", "GB18030 (Chinese)")
	d.see("1 row can be imported.")
	d.see("Read as GB18030")
	p.audit()
	d.click("button", "Import 1 user")
	p.see("1 user imported.")
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
	p.find("button", "Edit gia") // the preview has the name, too
	if u := c.person("/admin/list", "gia"); u.Nickname != "Müller" {
		t.Errorf("%+v", u)
	}
}
