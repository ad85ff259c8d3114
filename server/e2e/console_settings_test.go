package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const settingGroups = "nav[aria-label='Setting groups']"

// settingIs waits until a setting has a value.
func (c *client) settingIs(group, key, value string) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("%s holds %q", key, value), func() bool {
		return c.settings(group)[key].Values == value
	})
}

// shows waits until the field with a label has a text.
func (p *page) shows(label, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("show %q in %q", text, label), func() error {
		if got := p.value(label); got != text {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

func TestConsoleSettings_SavedTogether(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/setting")
	p.fill("Title", "My place")
	p.see("Unsaved changes: 1")
	p.in(settingGroups).click("menuitem", "Security")
	p.at("/system/setting/security")
	p.fill("Sign-in attempts", "7")
	p.see("Unsaved changes: 2 in 2 groups")
	var warns bool
	p.until("let the tab close", func() error {
		return evaluate(p,
			"(() => { const e = new Event('beforeunload', { cancelable: true }); dispatchEvent(e); return e.defaultPrevented })()", &warns)
	})
	if warns {
		t.Error("the tab asks before it closes, although what is typed is kept")
	}

	p.click("menuitem", "Sessions")
	p.find("heading", "Sessions")
	p.click("menuitem", "Settings")
	p.see("Unsaved changes: 2 in 2 groups")
	p.audit()
	if title := c.title(); title != "Reeve" {
		t.Errorf("the title is %q before it is saved", title)
	}

	p.press("Ctrl+Enter")
	p.see("Saved: 2.")
	p.gone("Unsaved changes")
	c.settingIs("1", "title", "My place")
	c.settingIs("2", "login_tries", "7")
	p.click("button", "Undo")
	p.see("Undone.")
	c.settingIs("1", "title", "Reeve")
	c.settingIs("2", "login_tries", "5")
	p.shows("Title", "Reeve")
}

func TestConsoleSettings_LeadToErrors(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/setting/security")
	p.fill("Sign-in attempts", "0")
	p.see("At least 1.")
	p.in(settingGroups).click("menuitem", "Site")
	p.fill("Title", "Other")
	p.expect(422, "/system/setting")
	p.click("button", "Save")
	p.see("Not saved. Fix 1 error.")
	p.at("/system/setting/security")
	p.see("Errors: 1")
	p.audit()
	if c.title() != "Reeve" {
		t.Error("a part of it is saved")
	}

	p.write("9") // the field has the focus
	p.until("be in the field at fault", func() error {
		if !strings.Contains(p.value("Sign-in attempts"), "9") {
			return errors.New("it is not")
		}
		return nil
	})
	p.click("button", "Revert security.login_tries")
	p.see("Unsaved changes: 1")
	p.click("button", "Discard")
	p.see("Discard all unsaved changes (1)?")
	p.confirm("Discard")
	p.gone("Unsaved changes")
	p.in(settingGroups).click("menuitem", "Site")
	p.shows("Title", "Reeve")
}

func TestConsoleSettings_EachType(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	g := c.group("g")
	options := []map[string]string{{"label": "First", "value": "a"}, {
		"label": "Second",
		"value": "b",
	}}
	for i, kind := range []string{"input", "textarea", "number", "switch", "radio", "select",
		"checkbox", "date", "time", "color", "image", "json", "secret"} {
		c.want(200, "POST", "/system/setting",
			object("key", kind, "title", "The "+kind, "type", kind, "group_id", json.Number(g),
				"sort", i, "options", options))
	}

	p := signedInAt(t, server, c, "/system/setting/g")
	p.fill("The input", "<b>x</b>")
	p.fill("The textarea", "one")
	p.press("Enter")
	p.write("two")
	p.fill("The number", "12.5")
	p.toggle("The switch", true)
	p.click("radio", "Second")
	p.choose("The select", "First")
	p.click("checkbox", "First")
	p.fill("The date", "2025-05-08")
	p.press("Enter")
	p.fill("The time", "03:04:05")
	p.press("Enter")
	p.fill("The color", "#fa0")
	p.upload(onDisk(t, "logo.png", string(picture(1))))
	p.until("have an image", func() error {
		if !strings.HasPrefix(p.value("The image"), "/media/") {
			return errors.New("there is none")
		}
		return nil
	})
	p.fill("The json", `{"big":12345678901234567890}`)
	p.click("button", "Format")
	p.fill("The secret", "hunter2")
	p.examine("{ runOnly: ['target-size'] }")
	p.width(320)
	p.noSidewaysScroll()
	p.audit()
	p.examine("{ runOnly: ['target-size'] }")
	image := p.value("The image")
	p.click("button", "Save")
	p.see("Saved: 13.")
	for key, want := range map[string]string{
		"input": "<b>x</b>", "textarea": "one\ntwo", "number": "12.5", "switch": "1", "radio": "b",
		"select": "a", "checkbox": `["a"]`, "date": "2025-05-08", "time": "03:04:05",
		"color": "#fa0", "image": image, "json": "{\n  \"big\": 12345678901234567890\n}",
		"secret": "******",
	} {
		if got := c.settings(g)[key].Values; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}

	p.gone("hunter2")
	p.gone("******")
	p.click("button", "Remove secret")
	p.see("Will be removed when you save.")
	p.click("button", "Save")
	c.settingIs(g, "secret", "")

	c.want(200, "PUT", "/system/setting", values("site.logo", image)) // also in the browser's tab
	p.until("have the logo as its icon", func() error {
		var icon string
		if err := evaluate(p, `document.querySelector('link[rel=icon]').href`, &icon); err != nil || strings.HasSuffix(icon, image) {
			return err
		}
		return errors.New(icon)
	})
}

func TestConsoleSettings_ConcurrentChange(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/setting/site")
	p.fill("Title", "Mine")
	c.want(200, "PUT", "/system/setting", values("site.title", "Theirs"))
	p.press("Ctrl+S")
	p.see("Not saved. Someone else changed the same settings (1).")
	p.see("Changed by someone else to: Theirs")
	p.audit()
	if title := c.title(); title != "Theirs" {
		t.Errorf("the title is %q", title)
	}

	p.click("button", "Keep mine")
	p.press("Ctrl+S")
	p.see("Saved: 1.")
	c.settingIs("1", "title", "Mine")
	p.fill("Title", "Mine again")
	c.want(200, "PUT", "/system/setting", values("site.title", "Theirs again"))
	p.click("button", "Reload")
	p.click("button", "Use theirs")
	p.gone("Unsaved changes")
	p.shows("Title", "Theirs again")
}

func TestConsoleSettings_SearchAndRefresh(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/setting")
	p.fill("Search", "security.session")
	p.at("/system/setting?keywordSearch=security.session")
	p.find("heading", "Security")
	p.missing("heading", "Site")
	p.gone("security.login_tries")
	p.audit()
	p.fill("Search", "nothing like it")
	p.see("No results")
	p.audit()
	p.click("button", "Clear filters")
	p.find("heading", "Site")
	p.click("button", "Rebuild cache")
	var cache struct{ Count int }
	if err := json.Unmarshal(c.want(200, "POST", "/system/setting/refresh", "").Data, &cache); err != nil {
		t.Fatal(err)
	}
	p.see(fmt.Sprintf("Cache rebuilt: %d settings in", cache.Count))
}

func TestConsoleSettings_Definition(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/setting")
	p.click("button", "Manage fields")
	p.at("/system/setting?define=1")
	p.missing("button", "Delete site.title")
	p.missing("button", "Delete group")
	p.click("button", "Edit site.title")
	p.see("Built-in setting.")
	p.audit()
	p.dialog().fill("Title", "Name of the place")
	p.confirm("Save")
	p.see("Name of the place")

	p.click("button", "New group")
	p.dialog().fill("Title", "Mail")
	p.dialog().fill("Key", "Mail!")
	p.audit()
	p.expect(422, "/system/setting-group")
	p.confirm("Create")
	p.see("must be 1 to 64 lower-case letters")
	p.dialog().fill("Key", "post")
	p.confirm("Create")
	p.at("/system/setting/post?define=1")

	p.click("button", "New setting")
	p.dialog().fill("Title", "How")
	p.dialog().fill("Key", "how")
	p.choose("Type", "Dropdown")
	p.dialog().click("button", "Add option")
	p.dialog().fill("Label 1", "Plain")
	p.dialog().fill("Value 1", "plain")
	p.dialog().click("button", "Add option")
	p.dialog().fill("Label 2", "Secure")
	p.dialog().fill("Value 2", "plain")
	p.expect(422, "/system/setting")
	p.confirm("Create")
	p.see("Row 2, Value: is given twice.")
	p.dialog().fill("Value 2", "tls")
	p.dialog().click("button", "Move row 2 up")
	p.dialog().click("button", "Add limit or hint")
	p.dialog().fill("Name 1", "placeholder")
	p.press("Tab")
	p.write("Choose")
	p.audit()
	p.confirm("Create")
	p.find("button", "Edit post.how")
	group := list[struct{ ID int64 }](c, "/system/setting-group?keywordSearch=post")[0].ID
	type definition struct {
		ID             int64
		Options, Props []map[string]string
		Describe, Type string
	}
	read := func() []definition {
		return list[definition](c, fmt.Sprintf("/system/setting?group_id=%d", group))
	}
	if d := read()[0]; fmt.Sprint(d.Type, d.Options, d.Props) != "select[map[label:Secure value:tls] map[label:Plain value:plain]] [map[name:placeholder value:Choose]]" {
		t.Errorf("it is stored as %+v", d)
	}

	p.click("button", "Delete group")
	p.see("Delete or move its settings (1) first.")
	p.click("button", "Edit post.how")
	p.dialog().find("textbox", "Title") // it has the setting as it was
	c.want(200, "PUT", fmt.Sprintf("/system/setting/%d", read()[0].ID),
		`{"describe":"How letters go"}`)
	p.dialog().fill("Title", "The way")
	p.expect(409, fmt.Sprintf("/system/setting/%d", read()[0].ID))
	p.confirm("Save")
	p.see("Someone else changed this.")
	p.confirm("Reload")
	p.shows("Description", "How letters go")
	p.dialog().fill("Title", "The way")
	p.confirm("Save")
	p.find("combobox", "The way")
	if d := read()[0]; d.Describe != "How letters go" {
		t.Errorf("it is stored as %+v", d)
	}

	p.click("button", "Delete post.how")
	p.see("post.how deleted.")
	p.click("button", "Undo")
	p.find("combobox", "The way")
	p.click("button", "Delete post.how")
	p.see("No settings in this group yet.")
	p.click("button", "Edit group")
	p.dialog().toggle("Public", true)
	p.confirm("Save")
	p.see("Saved.")
	eventually(t, "the group is public", func() bool {
		return into[struct{ Public int }](t,
			c.want(200, "GET", fmt.Sprintf("/system/setting-group/%d", group), "")).Public == 1
	})
	p.click("button", "Delete group")
	p.at("/system/setting?define=1")
	c.want(404, "GET", fmt.Sprintf("/system/setting-group/%d", group), "")
}

func TestConsoleSettings_ReadOnly(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	reader := signedIn(t, server).holder(server, "clerk", "system.setting.query",
		"system.setting.group.query")
	p := signedInAt(t, server, reader, "/system/setting?define=1")
	p.see("Required permission: system.setting.save.")
	for _, button := range []string{"Rebuild cache", "Manage fields", "Done", "New group",
		"New setting", "Upload", "Edit site.title"} {
		p.missing("button", button)
	}

	var fields int
	p.until("look at the fields", func() error {
		return evaluate(p,
			"document.querySelectorAll('section input:enabled, section textarea:enabled, section button:enabled').length", &fields)
	})
	if fields != 0 {
		t.Errorf("%d fields can be changed", fields)
	}

	p.audit()
}

// TestConsoleSettings_Units shows the units of built-in numbers.
func TestConsoleSettings_Units(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for language, units := range map[string][]string{
		"en": {"session_idle_minutes minutes", "provider_session_hours hours", "login_log_days days",
			"slow_request_ms ms", "image_megabytes MiB"},
		"zh": {"session_idle_minutes 分钟", "provider_session_hours 小时", "login_log_days 天",
			"slow_request_ms 毫秒", "image_megabytes MiB"},
	} {
		p := console(t, server)
		p.before(fmt.Sprintf("try { localStorage.setItem('reeve.language', %s) } catch {}",
			quote(language)))
		p.as(c.token)
		for _, unit := range units {
			key, unit, _ := strings.Cut(unit, " ")
			p.open("/system/setting?keywordSearch=" + key)
			p.in(".ant-input-number-suffix").see(unit)
		}
		p.audit()
	}
}
