package e2e

import (
	"fmt"
	"strings"
	"testing"
)

type dictItem struct {
	ID                   int64
	Label, Value, Status string
	Sort, Switch         int
}

// dict creates a dictionary with items of these labels; the values are the labels in lower
// case.
func (c *client) dict(code, kind string, labels ...string) (path string) {
	c.t.Helper()
	d := into[struct{ ID int64 }](c.t,
		c.want(200, "POST", "/system/dict",
			object("code", code, "name", "The "+code, "type", kind)))
	path = fmt.Sprintf("/system/dict/%d", d.ID)
	for _, label := range labels {
		c.want(200, "POST", path+"/item", object("label", label, "value", strings.ToLower(label)))
	}
	return path
}

// dictItems returns the items of a dictionary in order.
func (c *client) dictItems(path string) []dictItem {
	c.t.Helper()
	return list[dictItem](c, path+"/item?pageSize=1000")
}

// labels waits until a dictionary has items of these labels, in this order.
func (c *client) labels(path, want string) {
	c.t.Helper()
	eventually(c.t, "the order is "+want, func() bool {
		got := []string{}
		for _, i := range c.dictItems(path) {
			got = append(got, i.Label)
		}
		return strings.Join(got, " ") == want
	})
}

func TestConsoleDictionaries(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/dict")
	p.see("No dictionaries yet.")
	p.audit()
	p.click("button", "New dictionary")
	p.dialog().fill("Name", "Order states")
	p.dialog().fill("Code", "order state")
	p.dialog().click("radio", "Tag")
	p.audit()
	p.expect(422, "/system/dict")
	p.confirm("Create")
	p.see("must be 1 to 5 lower-case segments")
	p.dialog().fill("Code", "order_state")
	p.confirm("Create")
	p.at("/system/dict/1")
	p.find("heading", "Order states")
	type dict struct {
		Code, Name, Type, Describe string
		Status                     int
	}
	read := func() dict { return into[dict](t, c.want(200, "GET", "/system/dict/1", "")) }
	if d := read(); d != (dict{"order_state", "Order states", "tag", "", 1}) {
		t.Errorf("it is stored as %+v", d)
	}

	p.click("button", "Edit")
	p.dialog().find("textbox", "Name") // it has the dictionary as it was
	c.want(200, "PUT", "/system/dict/1", `{"describe":"Where an order stands"}`)
	p.dialog().fill("Name", "Orders")
	p.expect(409, "/system/dict/1")
	p.confirm("Save")
	p.see("Someone else changed this.")
	p.confirm("Reload")
	p.shows("Description", "Where an order stands")
	p.dialog().fill("Name", "Orders")
	p.confirm("Save")
	p.find("heading", "Orders")
	p.see("Where an order stands")

	p.toggle("Enable order_state", false)
	p.see("The API doesn’t return it")
	if read().Status != 0 {
		t.Error("it is still enabled")
	}

	c.dict("empty", "badge")
	p.click("button", "Reload")
	p.choose("Status", "Enabled")
	p.at("/system/dict/1?status=1")
	p.in("nav[aria-label=Dictionaries]").missing("link", "Orders")
	p.fill("Search dictionaries", "no such")
	p.see("No results")
	p.click("button", "Clear filters")
	p.in("nav[aria-label=Dictionaries]").click("link", "The empty")
	p.at("/system/dict/2")
	p.see("No items yet.")
	p.audit()
	p.click("button", "Delete")
	p.see("empty deleted.")
	c.want(404, "GET", "/system/dict/2", "")
	p.click("button", "Undo")
	p.at("/system/dict/2")
	p.find("heading", "The empty")
	p.open("/system/dict/99")
	p.see("Dictionary not found")
}

func TestConsoleDictionaryItems(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	path := c.dict("state", "tag", "New", "Paid", "Sent")
	p := signedInAt(t, server, c, path)
	p.click("button", "New item")
	p.dialog().fill("Label", "<b>Late</b>")
	p.dialog().fill("Value", "paid")
	p.dialog().click("radio", "Warning")
	p.audit()
	p.expect(409, path+"/item")
	p.confirm("Create")
	p.see("is already used by another dictionary item")
	p.dialog().fill("Value", "late")
	p.confirm("Create")
	p.row("<b>Late</b>").see("late")
	if got := c.dictItems(path)[3]; got != (dictItem{4, "<b>Late</b>", "late", "warning", 10, 1}) {
		t.Errorf("it is stored as %+v", got)
	}

	p.click("button", "Edit Paid")
	p.dialog().click("radio", "Success")
	p.dialog().fill("Label", "Settled")
	p.confirm("Save")
	p.row("Settled").toggle("Enable Settled", false)
	p.see("Settled disabled.")
	if got := c.dictItems(path)[1]; got != (dictItem{2, "Settled", "paid", "success", 0, 0}) {
		t.Errorf("it is stored as %+v", got)
	}

	p.choose("Item status", "Disabled")
	p.at(path + "?switch=0")
	p.gone("<b>Late</b>")
	p.missing("button", "Move Settled up")
	p.open(path)
	p.fill("Search items", "LATE")
	p.at(path + "?item=LATE")
	p.gone("Settled")
	p.fill("Search items", "none like it")
	p.see("No results")
	p.click("button", "Clear filters")

	p.row("Settled").click("button", "More actions for Settled")
	p.click("menuitem", "Delete")
	p.see("Settled deleted.")
	c.labels(path, "New Sent <b>Late</b>")
	p.click("button", "Undo")
	p.row("Settled")
	c.labels(path, "New Settled Sent <b>Late</b>")
	p.click("button", "Delete")
	p.see("Delete its items (4) first.")
}

func TestConsoleDictionaryOrder(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	path := c.dict("letters", "default", "A", "B", "C", "D", "E")
	p := signedInAt(t, server, c, path)
	p.click("button", "Move E up")
	c.labels(path, "A B C E D")
	p.settle()
	p.press("Enter") // the focus has moved with it
	c.labels(path, "A B E C D")
	p.settle()
	p.press("Enter")
	c.labels(path, "A E B C D")
	p.click("button", "Move A down")
	c.labels(path, "E A B C D")
	p.click("button", "Move B down")
	c.labels(path, "E A C B D")
	p.open(path + "?pageSize=10")
	p.find("button", "Move E down")
	p.audit()
}

func TestConsoleLongDictionary(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	labels := make([]string, 1100)
	for i := range labels {
		labels[i] = fmt.Sprintf("Item%04d", i)
	}

	path := c.dict("long", "default", labels...)
	p := signedInAt(t, server, c, path+"?page=2&pageSize=100")
	p.see("1,100 total")
	p.row("Item0100").click("button", "Move Item0100 up")
	p.at(path + "?page=1&pageSize=100")
	p.row("Item0100").find("button", "Move Item0100 down")
	p.fill("Search items", "0777")
	p.row("Item0777")
	p.gone("Item0778")
	eventually(t, "it is stored", func() bool { return c.dictItems(path)[99].Label == "Item0100" })
}

func TestConsoleDictionaryForClients(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	path := c.dict("state", "badge", "New")
	p := signedInAt(t, server, c, path)
	p.click("button", "API usage")
	p.dialog().see(`data["state"]`)
	p.dialog().see(`"label": "New"`)
	p.audit()
	p.press("Escape")
	p.gone("Reading dictionaries with the API")
	p.width(320)
	p.noSidewaysScroll()
	p.audit()
	p.click("link", "All dictionaries")
	p.at("/system/dict")
	p.click("link", "The state")
	p.row("New")
}

func TestConsoleDictionary_ReadOnly(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	path := owner.dict("state", "tag", "New", "Paid")
	reader := owner.holder(server, "clerk", "system.dict.query", "system.dict.item.query")
	p := signedInAt(t, server, reader, path)
	p.row("Paid").see("Yes")
	for _, button := range []string{"New dictionary", "New item", "Edit", "Delete", "Edit Paid",
		"More actions for Paid", "Move Paid up"} {
		p.missing("button", button)
	}
	p.missing("switch", "Enable state")
	p.missing("switch", "Enable Paid")
	p.audit()
}
