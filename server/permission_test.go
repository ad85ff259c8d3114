package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/store"
)

func TestPermissionsThatAreRefused(t *testing.T) {
	in := start(t)
	// Below 1: the menu 20, in it the page 21, below that the action 22.
	in.create("/admin/rule", `{"type":0,"key":"shop","name":"Shop","parent_id":1}`)
	in.create("/admin/rule", `{"type":1,"key":"shop.goods","name":"Goods","parent_id":20}`)
	in.create("/admin/rule", `{"type":2,"key":"shop.goods.query","name":"Look","parent_id":21}`)
	above := uint64(0)
	for level := range 32 { // 23 to 54
		above = in.create("/admin/rule", fmt.Sprintf(`{"type":0,"key":"deep-%d","name":"L","parent_id":%d}`, level, above))
	}
	post := func(name, body string, status int, has ...string) apiCase {
		return apiCase{name, "POST", "/admin/rule", body, "owner", status, has, nil}
	}
	put := func(name string, id int, body string, status int, has ...string) apiCase {
		return apiCase{name, "PUT", fmt.Sprintf("/admin/rule/%d", id), body, "owner", status, has, nil}
	}
	remove := func(name string, id store.ID, status int, has ...string) apiCase {
		return apiCase{name, "DELETE", "/admin/rule/" + id.String(), "", "owner", status, has, nil}
	}
	cases := []apiCase{
		post("a key that another has", `{"type":1,"key":"shop.goods","name":"x"}`, 409, `"errorCode":"duplicate"`, `"errors":{"key":`),
		post("a key in capitals", `{"type":1,"key":"Shop","name":"x"}`, 422, `"key":`),
		post("a key of six segments", `{"type":1,"key":"a.b.c.d.e.f","name":"x"}`, 422, `"key":`),
		post("a key with an empty segment", `{"type":1,"key":"a..b","name":"x"}`, 422, `"key":`),
		post("a key that ends with a dot", `{"type":1,"key":"a.","name":"x"}`, 422, `"key":`),
		post("an empty key", `{"type":1,"key":"","name":"x"}`, 422, `"key":`),
		post("a name of white space", `{"type":1,"key":"x","name":" \u3000 "}`, 422, `"name":`),
		post("a type that is none", `{"type":3,"key":"x","name":"x"}`, 422, `"type":`),
		post("a path that is a script", `{"type":1,"key":"x","name":"x","path":"javascript:alert(1)"}`, 422, `"path":`),
		post("a path with a backslash", `{"type":1,"key":"x","name":"x","path":"/\\evil.example"}`, 422, `"path":`),
		post("a status of 2", `{"type":1,"key":"x","name":"x","status":2}`, 422, `"status":`),
		post("a status as a text", `{"type":1,"key":"x","name":"x","status":"1"}`, 422, `"status":`),
		post("a parent that is not there", `{"type":1,"key":"x","name":"x","parent_id":999}`, 422, `"errors":{"parent_id":`),
		post("a parent that is an action", `{"type":1,"key":"x","name":"x","parent_id":22}`, 422, `"errors":{"parent_id":`),
		post("a 33rd level", `{"type":0,"key":"x","name":"x","parent_id":54}`, 422, `"errors":{"parent_id":`, "32 levels"),
		post("everything wrong at once", `{"type":9,"key":"X","name":"","sort":99999999,"path":"x","icon":7}`, 422, `"type":`, `"key":`, `"name":`, `"sort":`, `"path":`, `"icon":`),
		put("below itself", 20, `{"parent_id":20}`, 422, `"errors":{"parent_id":`),
		put("below its child", 20, `{"parent_id":21}`, 422, `"errors":{"parent_id":`),
		put("below its grandchild", 1, `{"parent_id":21}`, 422, `"errors":{"parent_id":`),
		put("the top of a deep tree below another node", 23, `{"parent_id":1}`, 422, `"errors":{"parent_id":`, "32 levels"),
		put("a circle at the bottom of a deep tree", 23, `{"parent_id":54}`, 422, `"errors":{"parent_id":`),
		put("a node with children made an action", 20, `{"type":2}`, 422, `"errors":{"type":`),
		put("below an action", 21, `{"parent_id":22}`, 422, `"errors":{"parent_id":`),
		put("renamed to what another has", 21, `{"key":"shop"}`, 409, `"errors":{"key":`),
		remove("a node with children", 20, 409, `"errorCode":"in_use"`, "1 permission"),
		remove("a page with an action", 21, 409, `"errorCode":"in_use"`),
		{"to be shown, without a value", "PUT", "/admin/rule/20/show", `{}`, "owner", 422, []string{`"show":"is required"`}, nil},
		{"to be enabled, without a body", "PUT", "/admin/rule/20/status", "", "owner", 422, []string{`"status":"is required"`}, nil},
		{"to be shown, with another flag", "PUT", "/admin/rule/20/show", `{"status":1}`, "owner", 422, []string{`"show":"is required"`}, nil},
	}
	for key := range Keys() {
		id := in.permission(key)
		cases = append(cases,
			remove(key+" deleted", id, 409, `"errorCode":"in_use"`, key),
			put(key+" renamed", int(id), `{"key":"other.key"}`, 409, `"errorCode":"in_use"`, `"errors":{"key":`))
	}
	runCases(t, in, cases)
}

func TestPermissionsThatAreAccepted(t *testing.T) {
	in := start(t)
	runCases(t, in, []apiCase{
		{"the least", "POST", "/admin/rule", `{"type":0,"key":"a","name":"x"}`, "owner", 200, []string{`"parent_id":0,"type":0,"key":"a","name":"x","path":"","icon":"","local":"","sort":0,"show":1,"status":1,`}, nil},
		{"all of it", "POST", "/admin/rule", `{"parent_id":2,"type":2,"key":"b.c-d.e_f.g.h","name":" Nämé  ","path":"https://example.org/x?y#z","icon":"I","local":"menu.x","sort":-1000000,"show":false,"status":0}`, "owner", 200,
			[]string{`"parent_id":2,"type":2,"key":"b.c-d.e_f.g.h","name":"Nämé","path":"https://example.org/x?y#z","icon":"I","local":"menu.x","sort":-1000000,"show":0,"status":0,`}, nil},
		{"one field changed", "PUT", "/admin/rule/2", `{"name":"Rights"}`, "owner", 200, []string{`"name":"Rights"`, `"path":"/admin/rule"`}, nil},
		{"moved to the top", "PUT", "/admin/rule/4", `{"parent_id":0}`, "owner", 200, []string{`"parent_id":0`}, nil},
		{"hidden", "PUT", "/admin/rule/4/show", `{"show":0}`, "owner", 200, []string{`"show":0,"status":1`}, nil},
		{"disabled with false", "PUT", "/admin/rule/4/status", `{"status":false}`, "owner", 200, []string{`"status":0`}, nil},
		{"one that routes need, renamed to itself", "PUT", fmt.Sprintf("/admin/rule/%d", in.permission("admin.rule.query")), `{"key":"admin.rule.query","name":"Look"}`, "owner", 200, []string{`"name":"Look"`}, nil},
		{"one that routes need, moved and disabled", "PUT", fmt.Sprintf("/admin/rule/%d", in.permission("admin.rule.query")), `{"parent_id":4,"status":0,"show":0}`, "owner", 200, []string{`"parent_id":4`}, nil},
		{"a menu node renamed", "PUT", "/admin/rule/1", `{"key":"people"}`, "owner", 200, []string{`"key":"people"`}, nil},
		{"a node without children deleted", "DELETE", "/admin/rule/20", "", "owner", 200, []string{`"data":{}`}, nil},
	})
}

func TestADeletedPermissionLeavesTheRoles(t *testing.T) {
	in := start(t)
	id := in.create("/admin/rule", `{"type":2,"key":"shop.goods.query","name":"Look","parent_id":2}`)
	u := in.clerk("clerk", "shop.goods.query", "admin.rule.query")
	if got := in.access("clerk"); !slices.Equal(got, []string{"admin.rule.query", "shop.goods.query"}) {
		t.Errorf("before: %q", got)
	}
	in.ok("DELETE", fmt.Sprintf("/admin/rule/%d", id), "", "owner")
	if got := in.access("clerk"); !slices.Equal(got, []string{"admin.rule.query"}) {
		t.Errorf("after: %q", got)
	}
	in.view(func(tx *store.Tx) error {
		role, err := store.Roles.Get(tx, u.RoleIDs[0])
		if err == nil && slices.Contains(role.RuleIDs, store.ID(id)) {
			t.Errorf("the role still has it: %v", role.RuleIDs)
		}
		return err
	})
}

// access and menus are what /admin/info tells somebody of it.
func (in *instance) access(as string) []string {
	in.t.Helper()
	var info struct{ Access []string }
	in.ok("GET", "/admin/info", "", as).data(&info)
	return info.Access
}

type menu struct {
	Key      string
	Children []menu
}

func (in *instance) menus(as string) string {
	in.t.Helper()
	var info struct{ Menus []menu }
	in.ok("GET", "/admin/info", "", as).data(&info)
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
