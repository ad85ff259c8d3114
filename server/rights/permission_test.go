package rights_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

func TestPermission_InvalidInput(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	menu := in.Create("/admin/rule", `{"type":0,"key":"shop","name":"Shop","parent_id":1}`)
	page := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"shop.goods","name":"Goods","parent_id":%d}`, menu))
	action := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":2,"key":"shop.goods.query","name":"Look","parent_id":%d}`, page))
	deep, above := action+1, uint64(0)
	for level := range 32 {
		above = in.Create("/admin/rule",
			fmt.Sprintf(`{"type":0,"key":"deep-%d","name":"L","parent_id":%d}`, level, above))
	}

	post := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/admin/rule", body, "owner", status, has, nil}
	}

	put := func(name string, id uint64, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", fmt.Sprintf("/admin/rule/%d", id), body, "owner",
			status, has, nil}
	}

	remove := func(name string, id uint64, status int, has ...string) servertest.Case {
		return servertest.Case{name, "DELETE", fmt.Sprintf("/admin/rule/%d", id), "", "owner",
			status, has, nil}
	}

	below := func(id uint64) string { return fmt.Sprintf(`{"parent_id":%d}`, id) }
	new := func(id uint64) string {
		return fmt.Sprintf(`{"type":0,"key":"x","name":"x","parent_id":%d}`, id)
	}
	cases := []servertest.Case{
		post("a key that another has", `{"type":1,"key":"shop.goods","name":"x"}`, 409,
			`"errorCode":"duplicate"`, `"errors":{"key":`),
		post("a key in capitals", `{"type":1,"key":"Shop","name":"x"}`, 422, `"key":`),
		post("a key of six segments", `{"type":1,"key":"a.b.c.d.e.f","name":"x"}`, 422, `"key":`),
		post("a key with an empty segment", `{"type":1,"key":"a..b","name":"x"}`, 422, `"key":`),
		post("a key that ends with a dot", `{"type":1,"key":"a.","name":"x"}`, 422, `"key":`),
		post("an empty key", `{"type":1,"key":"","name":"x"}`, 422, `"key":`),
		post("a name of white space", `{"type":1,"key":"x","name":" \u3000 "}`, 422, `"name":`),
		post("a type that is none", `{"type":3,"key":"x","name":"x"}`, 422, `"type":`),
		post("a path that is a script",
			`{"type":1,"key":"x","name":"x","path":"javascript:alert(1)"}`, 422, `"path":`),
		post("a path with a backslash", `{"type":1,"key":"x","name":"x","path":"/\\evil.example"}`,
			422, `"path":`),
		post("a status of 2", `{"type":1,"key":"x","name":"x","status":2}`, 422, `"status":`),
		post("a status as a word", `{"type":1,"key":"x","name":"x","status":"on"}`, 422,
			`"status":`),
		post("a parent that is not there", `{"type":1,"key":"x","name":"x","parent_id":999}`, 422,
			`"errors":{"parent_id":`),
		post("a parent that is an action", new(action), 422, `"errors":{"parent_id":`),
		post("a 33rd level", new(above), 422, `"errors":{"parent_id":`, "32 levels"),
		post("everything wrong at once",
			`{"type":9,"key":"X","name":"","sort":99999999,"path":"x","icon":7}`, 422, `"type":`,
			`"key":`, `"name":`, `"sort":`, `"path":`, `"icon":`),
		put("below itself", menu, below(menu), 422, `"errors":{"parent_id":`),
		put("below its child", menu, below(page), 422, `"errors":{"parent_id":`),
		put("below its grandchild", 1, below(page), 422, `"errors":{"parent_id":`),
		put("the top of a deep tree below another node", deep, below(1), 422,
			`"errors":{"parent_id":`, "32 levels"),
		put("a circle at the bottom of a deep tree", deep, below(above), 422,
			`"errors":{"parent_id":`),
		put("a node with children made an action", menu, `{"type":2}`, 422, `"errors":{"type":`),
		put("below an action", page, below(action), 422, `"errors":{"parent_id":`),
		put("renamed to what another has", page, `{"key":"shop"}`, 409, `"errors":{"key":`),
		remove("a node with children", menu, 409, `"errorCode":"in_use"`, "1 permission"),
		remove("a page with an action", page, 409, `"errorCode":"in_use"`),
		{"to be shown, without a value", "PUT", fmt.Sprintf("/admin/rule/%d/show", menu), `{}`,
			"owner", 422, []string{`"show":"is required"`}, nil},
		{"to be enabled, without a body", "PUT", fmt.Sprintf("/admin/rule/%d/status", menu), "",
			"owner", 422, []string{`"status":"is required"`}, nil},
		{"to be shown, with another flag", "PUT", fmt.Sprintf("/admin/rule/%d/show", menu),
			`{"status":1}`, "owner", 422, []string{`"show":"is required"`}, nil},
	}
	for key := range server.Keys() {
		id := uint64(in.Permission(key))
		cases = append(cases,
			remove(key+" deleted", id, 409, `"errorCode":"in_use"`, key),
			put(key+" renamed", id, `{"key":"other.key"}`, 409, `"errorCode":"in_use"`,
				`"errors":{"key":`))
	}

	servertest.RunCases(t, in, cases)
}

func TestPermission_ValidInput(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	spare := in.Create("/admin/rule", `{"type":0,"key":"spare","name":"x"}`)
	servertest.RunCases(t, in, []servertest.Case{
		{"the least", "POST", "/admin/rule", `{"type":0,"key":"a","name":"x"}`, "owner", 200,
			[]string{`"parent_id":0,"type":0,"key":"a","name":"x","path":"","icon":"","local":"","url":"","open":"","sort":0,"show":1,"status":1,`}, nil},
		{"all of it", "POST", "/admin/rule",
			`{"parent_id":2,"type":2,"key":"b.c-d.e_f.g.h","name":" Nämé  ","path":"https://example.org/x?y#z","icon":"I","local":"menu.x","sort":-1000000,"show":false,"status":0}`, "owner", 200,
			[]string{`"parent_id":2,"type":2,"key":"b.c-d.e_f.g.h","name":"Nämé","path":"https://example.org/x?y#z","icon":"I","local":"menu.x","url":"","open":"","sort":-1000000,"show":0,"status":0,`}, nil},
		{"one field changed", "PUT", "/admin/rule/2", `{"name":"People"}`, "owner", 200,
			[]string{`"name":"People"`, `"path":"/admin/list"`}, nil},
		{"moved to the top", "PUT", "/admin/rule/4", `{"parent_id":0}`, "owner", 200,
			[]string{`"parent_id":0`}, nil},
		{"hidden", "PUT", "/admin/rule/4/show", `{"show":0}`, "owner", 200,
			[]string{`"show":0,"status":1`}, nil},
		{"disabled with false", "PUT", "/admin/rule/4/status", `{"status":false}`, "owner", 200,
			[]string{`"status":0`}, nil},
		{"one that routes need, renamed to itself", "PUT",
			fmt.Sprintf("/admin/rule/%d", in.Permission("admin.rule.query")),
			`{"key":"admin.rule.query","name":"Look"}`, "owner", 200, []string{`"name":"Look"`},
			nil},
		{"one that routes need, moved and disabled", "PUT",
			fmt.Sprintf("/admin/rule/%d", in.Permission("admin.rule.query")),
			`{"parent_id":4,"status":0,"show":0}`, "owner", 200, []string{`"parent_id":4`}, nil},
		{"a menu node renamed", "PUT", "/admin/rule/1", `{"key":"people"}`, "owner", 200,
			[]string{`"key":"people"`}, nil},
		{"a node without children deleted", "DELETE", fmt.Sprintf("/admin/rule/%d", spare), "",
			"owner", 200, []string{`"data":{}`}, nil},
	})
}

func TestPermission_DeletionLeavesRoles(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Create("/admin/rule",
		`{"type":2,"key":"shop.goods.query","name":"Look","parent_id":2}`)
	u := in.Clerk("clerk", "shop.goods.query", "admin.rule.query")
	if got := access(in, "clerk"); !slices.Equal(got,
		[]string{"admin.rule.query", "shop.goods.query"}) {
		t.Errorf("before: %q", got)
	}

	in.OK("DELETE", fmt.Sprintf("/admin/rule/%d", id), "", "owner")
	if got := access(in, "clerk"); !slices.Equal(got, []string{"admin.rule.query"}) {
		t.Errorf("after: %q", got)
	}

	in.View(func(tx *store.Tx) error {
		role, err := store.Roles.Get(tx, u.RoleIDs[0])
		if err == nil && slices.Contains(role.RuleIDs, store.ID(id)) {
			t.Errorf("the role still has it: %v", role.RuleIDs)
		}
		return err
	})
}

// access returns the keys of the permissions in /admin/info, menus the menus.
func access(in *servertest.Instance, as string) []string {
	in.T.Helper()
	var info struct{ Access []string }
	in.OK("GET", "/admin/info", "", as).Data(&info)
	return info.Access
}

type menu struct {
	Key      string
	Children []menu
}

func menusOf(in *servertest.Instance, as string) string {
	in.T.Helper()
	var info struct{ Menus []menu }
	in.OK("GET", "/admin/info", "", as).Data(&info)
	var write func(all []menu) string
	write = func(all []menu) string {
		var texts []string
		for _, m := range all {
			text := m.Key
			if len(m.Children) > 0 {
				text += "(" + write(m.Children) + ")"
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, " ")
	}
	return write(info.Menus)
}
