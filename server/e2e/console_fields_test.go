package e2e

import (
	"fmt"
	"testing"
)

// appFields declares a choice and a number of app users, with columns and filters.
func (c *client) appFields() {
	c.t.Helper()
	options := []map[string]string{{"label": "Gold", "value": "gold"}, {
		"label": "Silver",
		"value": "silver",
	}}
	c.create("/system/field", "realm", "app", "key", "tier", "title", "Tier", "type", "select",
		"options", options, "filterable", 1, "listed", 1, "sort", 1)
	c.create("/system/field", "realm", "app", "key", "points", "title", "Points", "type", "number",
		"props", []map[string]string{{
			"name":  "max",
			"value": "100",
		}}, "filterable", 1, "listed", 1, "sort", 2)
}

// fieldsOf returns the values of the custom fields of a person.
func (c *client) fieldsOf(path string, id int64) map[string]any {
	c.t.Helper()
	return into[struct{ Fields map[string]any }](c.t,
		c.want(200, "GET", fmt.Sprintf("%s/%d", path, id), "")).Fields
}

// TestConsoleFields_DeclareAndUse declares a field, sets it for an app user, and filters the list
// by it.
func TestConsoleFields_DeclareAndUse(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	ivy := c.create("/user/list", "username", "ivy", "password", password)
	c.create("/user/list", "username", "joe", "password", password)
	p := signedInAt(t, server, c, "/system/field")
	p.see("No custom fields yet.")
	p.click("button", "New field")
	d := p.dialog()
	d.choose("Field of", "App users")
	d.fill("Title", "Tier")
	d.fill("Key", "Tier")
	d.choose("Type", "Dropdown")
	for n, option := range []string{"gold", "silver"} {
		d.click("button", "Add option")
		d.fill(fmt.Sprintf("Label %d", n+1), option+" member")
		d.fill(fmt.Sprintf("Value %d", n+1), option)
	}

	d.toggle("Filterable", true)
	d.toggle("In lists", true)
	p.audit()
	p.shoot("fields-new")
	p.expect(422, "/system/field")
	d.click("button", "Create")
	d.see("must begin with a letter")
	d.fill("Key", "tier")
	d.click("button", "Create")
	p.row("Tier").see("Ready")
	p.audit()
	p.shoot("fields-list")

	p.click("button", "Edit Tier")
	d = p.dialog()
	d.fill("Description", "Level of the contract")
	d.click("tab", "History")
	d.see("created the custom field Tier")
	d.click("tab", "Details")
	d.click("button", "Save")
	p.missing("tab", "History") // the drawer has closed

	p.open("/user/list")
	p.click("button", "Edit ivy")
	d = p.dialog()
	d.see("Level of the contract")
	d.choose("Tier", "gold member")
	p.audit()
	p.shoot("fields-person")
	d.click("button", "Save")
	p.row("ivy").see("gold member")
	if got := c.fieldsOf("/user/list", ivy)["tier"]; got != "gold" {
		t.Errorf("the tier is %v", got)
	}

	p.click("button", "More filters")
	p.choose("Tier", "gold member")
	p.gone("joe")
	p.see("ivy")
	p.at("/user/list?fields.tier=gold")
	p.shoot("fields-filter")
	p.open(fmt.Sprintf("/user/list/%d", ivy))
	p.see("gold member")
	p.audit()

	p.open("/system/field")
	p.click("button", "More actions for Tier")
	p.click("menuitem", "Delete")
	p.see("Its values are removed from all records.")
	p.confirm("Delete")
	p.see("No custom fields yet.")
}

// TestConsoleFields_OfUsers enters values that the server rejects, filters by ranges and several
// choices, and uses the lists on a phone.
func TestConsoleFields_OfUsers(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.appFields()
	for n, name := range []string{"ivy", "joe", "kay"} {
		c.create("/user/list", "username", name, "password", password, "fields", map[string]any{
			"tier":   []string{"gold", "silver", "gold"}[n],
			"points": 10 * (n + 1),
		})
	}

	p := signedInAt(t, server, c, "/user/list")
	p.click("button", "Edit ivy")
	d := p.dialog()
	d.fill("Points", "1000")
	p.expect(422, "/user/list/")
	d.click("button", "Save")
	d.see("must be at most 100")
	p.audit()
	p.shoot("fields-fault")
	d.fill("Points", "99.5")
	d.click("button", "Save")
	p.row("ivy").see("99.5")

	p.click("button", "More filters")
	p.choose("Tier", "Gold", "Silver")
	p.see("joe")
	p.fill("Points, from", "20")
	p.fill("Points, to", "40")
	p.gone("ivy")
	p.see("joe")
	p.see("kay")
	p.find("button", "More filters, 2 active")
	p.audit()

	p.width(390)
	p.open("/user/list?fields.tier=gold")
	p.gone("joe")
	p.see("99.5")
	p.noSidewaysScroll()
	p.click("button", "Edit ivy")
	d = p.dialog()
	d.fill("Points", "1000")
	d.click("button", "Save")
	d.see("must be at most 100")
	p.audit()
	p.noSidewaysScroll()
	p.shoot("fields-fault-390")
	p.open("/system/field")
	p.see("Tier")
	p.audit()
	p.noSidewaysScroll()
	p.shoot("fields-list-390")
}

// TestConsoleFields_OwnAccount changes the user's own value, and shows another that only
// administrators change.
func TestConsoleFields_OwnAccount(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/system/field", "realm", "admin", "key", "badge", "title", "Badge", "type", "input",
		"self_access", "read", "sort", 1)
	c.create("/system/field", "realm", "admin", "key", "shirt", "title", "Shirt size", "type",
		"radio", "options", []map[string]string{{
			"label": "Small",
			"value": "s",
		}, {"label": "Large", "value": "l"}}, "self_access", "write", "sort", 2)
	c.create("/system/field", "realm", "admin", "key", "start", "title", "First day", "type",
		"date", "self_access", "write", "sort", 3)
	c.want(200, "PUT", "/admin/list/1", object("fields", map[string]any{"badge": "Z-77"}))
	p := signedInAt(t, server, c, "/account")
	p.shows("Badge", "Z-77")
	p.click("radio", "Large")
	p.fill("First day", "2025-05-08")
	p.press("Enter")
	p.audit()
	p.shoot("fields-own")
	p.click("button", "Save")
	p.see("Saved.")
	if got := c.fieldsOf("/admin/list", 1); got["shirt"] != "l" || got["badge"] != "Z-77" ||
		got["start"] != "2025-05-08" {
		t.Errorf("the fields are %v", got)
	}

	p.width(390)
	p.noSidewaysScroll()
	p.audit()
}

// TestConsoleFields_Duplicates finds the records of a field that becomes unique, and checks again.
func TestConsoleFields_Duplicates(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	field := c.create("/system/field", "realm", "app", "key", "card", "title", "Card", "type",
		"input")
	c.create("/user/list", "username", "ivy", "password", password, "fields",
		map[string]any{"card": "one"})
	joe := c.create("/user/list", "username", "joe", "password", password, "fields",
		map[string]any{"card": "One"})
	c.want(200, "PUT", fmt.Sprintf("/system/field/%d", field), object("unique", 1))
	p := signedInAt(t, server, c, "/system/field")
	p.see("Duplicate values: 1")
	p.audit()
	p.shoot("fields-duplicates")
	p.click("link", fmt.Sprintf("Record #%d", joe))
	p.see("One")
	c.want(200, "PUT", fmt.Sprintf("/user/list/%d", joe),
		object("fields", map[string]any{"card": "two"}))
	p.open("/system/field")
	p.click("button", "Check again: Card")
	p.row("Card").see("Ready")
}

// TestConsoleFields_InChinese looks at the pages in Chinese.
func TestConsoleFields_InChinese(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.appFields()
	p := console(t, server)
	p.as(c.token)
	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	p.open("/system/field")
	p.see("可筛选")
	p.looksGood("zh-fields")
	p.click("button", "编辑 Tier")
	p.see("可查看和修改")
	p.looksGood("zh-fields-form")
}

// TestConsoleFields_Required creates a user with a required, unique field, for which imports have a
// column.
func TestConsoleFields_Required(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/system/field", "realm", "admin", "key", "badge", "title", "Badge", "type", "input",
		"required", 1, "unique", 1)
	c.want(200, "PUT", "/admin/list/1", object("fields", map[string]any{"badge": "Z-77"}))
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "New user")
	d := p.dialog()
	d.fill("Username", "bea")
	p.settle() // the form has the custom field
	d.click("button", "Create")
	d.see("Required")
	d.fill("Badge", "z-77")
	p.expect(409, "/admin/list")
	d.click("button", "Create")
	d.see("already used by another user")
	p.audit()
	d.fill("Badge", "Z-78")
	d.click("button", "Create")
	p.noted("bea")
	if got := c.fieldsOf("/admin/list", 2)["badge"]; got != "Z-78" {
		t.Errorf("the badge is %v", got)
	}

	p.click("button", "Edit bea")
	d = p.dialog()
	d.fill("Display name", "Bea")
	d.click("button", "Save")
	p.see("Bea")
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	p.see("fields.badge")
	p.see("Custom field Badge. Required.")
	p.audit()
}
