package rights_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
)

func TestPageURL_Invalid(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	page := in.Create("/admin/rule",
		`{"type":1,"key":"wiki","name":"Wiki","url":"https://wiki.example","open":"tab"}`)
	post := func(name, fields string, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/admin/rule",
			`{"key":"x","name":"x",` + fields + `}`, "owner", 422, has, nil}
	}

	put := func(name string, id uint64, body string, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", fmt.Sprintf("/admin/rule/%d", id), body, "owner", 422,
			has, nil}
	}

	const form, only = `"errors":{"url":"must be an http(s) URL, or a path on this server that starts with a single /"}`, "is allowed only for a page (type 1)"
	servertest.RunCases(t, in, []servertest.Case{
		post("a menu with a URL", `"type":0,"url":"/x"`, `"url":"`+only),
		post("an action with a URL", `"type":2,"url":"/x"`, `"url":"`+only),
		post("a menu with a way to open", `"type":0,"open":"tab"`, `"errors":{"open":"`+only),
		post("a page with a way to open, without a URL", `"type":1,"open":"link"`,
			`"errors":{"open":"is allowed only with a url"}`),
		post("another way to open", `"type":1,"url":"/x","open":"window"`,
			`"open":"must be one of`),
		post("a way to open that is a number", `"type":1,"url":"/x","open":1`,
			`"open":"must be a string"`),
		post("a script", `"type":1,"url":"javascript:alert(1)"`, form),
		post("a script in other letters", `"type":1,"url":"JaVaScRiPt:alert(1)"`, form),
		post("a script with a line break", `"type":1,"url":"java\nscript:alert(1)"`,
			`"url":"must not contain line breaks"`),
		post("data", `"type":1,"url":"data:text/html,x"`, form),
		post("a file", `"type":1,"url":"file:///etc/passwd"`, form),
		post("another server without a scheme", `"type":1,"url":"//evil.example"`, form),
		post("a relative path", `"type":1,"url":"x"`, form),
		post("no host", `"type":1,"url":"https://"`, form),
		post("a backslash", `"type":1,"url":"/\\evil.example"`,
			`"url":"must not contain spaces, backslashes or control characters"`),
		post("a tab", `"type":1,"url":"/\t/evil.example"`,
			`"url":"must not contain control characters"`),
		post("a space", `"type":1,"url":"/a b"`, `"url":"must not contain spaces`),
		post("a reversed text", `"type":1,"url":"/\u202egro"`,
			`"url":"must not contain characters that change the text direction"`),
		post("a username", `"type":1,"url":"https://ann@wiki.example"`,
			`"errors":{"url":"must not contain a username or password"}`),
		post("a password", `"type":1,"url":"https://ann:secret@wiki.example"`,
			`"errors":{"url":"must not contain a username or password"}`),
		post("2001 characters", `"type":1,"url":"/`+strings.Repeat("x", 2000)+`"`,
			`"url":"must be at most 2000 characters"`),
		post("the path of a page of the console", `"type":1,"path":"/admin/list","url":"/x"`,
			`"errors":{"url":"is not allowed: the console has a page of its own at the path /admin/list"}`),
		put("a page of the console", uint64(in.Permission("admin.list")),
			`{"url":"https://wiki.example"}`, `"url":"is not allowed: the console has a page`),
		put("moved to a page of the console", page, `{"path":"/system/info"}`,
			`"url":"is not allowed`),
		put("made a menu", page, `{"type":0}`, `"url":"`+only, `"open":"`+only),
		put("made an action", page, `{"type":2}`, `"url":"`+only),
		put("another way to open without the URL", page, `{"url":"","open":"link"}`,
			`"errors":{"open":`),
	})
}

func TestPageURL_Valid(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Create("/admin/rule", `{"type":1,"key":"wiki","name":"Wiki"}`)
	at := fmt.Sprintf("/admin/rule/%d", id)
	for _, step := range []struct{ name, body, has string }{
		{"a URL", `{"url":"https://wiki.example/a?b=c#d"}`,
			`"url":"https://wiki.example/a?b=c#d","open":"link"`},
		{"a new tab", `{"open":"tab"}`, `"url":"https://wiki.example/a?b=c#d","open":"tab"`},
		{"a path, with spaces around it", `{"url":" /grafana/ "}`,
			`"url":"/grafana/","open":"tab"`},
		{"no way to open", `{"open":null}`, `"url":"/grafana/","open":"link"`},
		{"the URL removed", `{"url":null}`, `"url":"","open":""`},
		{"both at once", `{"url":"http://10.0.0.1:3000","open":"tab"}`,
			`"url":"http://10.0.0.1:3000","open":"tab"`},
		{"made a menu", `{"type":0,"url":""}`,
			`"type":0,"key":"wiki","name":"Wiki","path":"","icon":"","local":"","url":"","open":""`},
	} {
		if body := in.OK("PUT", at, step.body, "owner").Body; !strings.Contains(body, step.has) {
			t.Errorf("%s: %s", step.name, body)
		}
		in.OK("GET", fmt.Sprintf("/admin/rule-node/%d", id), "", "owner")
	}
}

// TestPageURL_InMenus: those who hold a page have its URL in their menus, in the order of
// sort, and others do not. The parents route has its fixed fields.
func TestPageURL_InMenus(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	group := in.Create("/admin/rule", `{"type":0,"key":"tools","name":"Tools","sort":1}`)
	wiki := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"tools.wiki","name":"Wiki","parent_id":%d,"sort":2,"url":"https://wiki.example","open":"tab"}`, group))
	in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"tools.map","name":"Map","parent_id":%d,"sort":1,"url":"/map"}`, group))
	in.Clerk("reader", "tools.wiki")
	in.Clerk("both", "tools.wiki", "tools.map")
	in.Clerk("none", "tools", "system.setting.query")
	menus := func(reader, both string) {
		t.Helper()
		for who, want := range map[string]string{"reader": reader, "both": both, "none": ""} {
			if got := menusOf(in, who); got != want {
				t.Errorf("%s sees %q, want %q", who, got, want)
			}
		}
	}

	const url = `"url":"https://wiki.example","open":"tab"`
	menus("tools(tools.wiki)", "tools(tools.map tools.wiki)")
	for who, has := range map[string]bool{"owner": true, "reader": true, "none": false} {
		if body := in.OK("GET", "/admin/info", "", who).Body; strings.Contains(body, url) != has {
			t.Errorf("%s: %s", who, body)
		}
	}

	if body := in.OK("GET", "/admin/rule", "", "owner").Body; !strings.Contains(body, url) {
		t.Errorf("the tree: %s", body)
	}
	if body := in.OK("GET", "/admin/rule/parent", "", "owner").Body; strings.Contains(body,
		`"url"`) || strings.Contains(body, `"open"`) {
		t.Errorf("the parents: %s", body)
	}

	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/show", wiki), `{"show":0}`, "owner")
	menus("", "tools(tools.map)")
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/show", wiki), `{"show":1}`, "owner")
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/status", wiki), `{"status":0}`, "owner")
	menus("", "tools(tools.map)")
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/status", wiki), `{"status":1}`, "owner")
	in.SwitchPermission("tools", "status", 0)
	menus("", "")
}

// TestPageURL_Undo undoes each kind of change of a page with a URL.
func TestPageURL_Undo(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Create("/admin/rule",
		`{"type":1,"key":"wiki","name":"Wiki","url":"https://wiki.example","open":"tab"}`)
	at := fmt.Sprintf("/admin/rule/%d", id)
	for name, change := range map[string]func(){
		"changed": func() { in.OK("PUT", at, `{"url":"/wiki","open":"link"}`, "owner") },
		"removed": func() { in.OK("PUT", at, `{"url":""}`, "owner") },
		"a menu":  func() { in.OK("PUT", at, `{"type":0,"url":""}`, "owner") },
		"deleted": func() { in.OK("DELETE", at, "", "owner") },
	} {
		before := in.State()
		change()
		in.Undo(in.NewestEntry(), "owner").Brief(200)
		in.SameState(name, before)
	}
}
