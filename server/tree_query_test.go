package server

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/store"
)

// TestTree_IgnoresListParameters sends these with any value. Unknown parameters are errors.
func TestTree_IgnoresListParameters(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.dept("Below", in.dept("Top", 0))
	trees := []string{"/system/monitor/trace"}
	for _, rt := range routes() {
		if strings.Contains(rt.Output.String(), ".Tree[") && rt.Path != "/admin/choice" { // which says what it lists
			trees = append(trees, rt.Path)
		}
	}
	if !slices.Contains(trees, "/admin/rule") || !slices.Contains(trees, "/admin/rule/parent") || !slices.Contains(trees, "/admin/dept") {
		t.Fatalf("%q", trees)
	}
	for _, path := range trees {
		whole := in.ok("GET", path, "", "owner").Body
		for _, query := range []string{
			"page=2&pageSize=1", "current=3&pageSize=20", "page=0&pageSize=x", "sorter=" + url.QueryEscape(`{"name":"descend"}`), "sorter=x",
			"filter=" + url.QueryEscape(`{"status":["0"]}`), "keywordSearch=zzz", "page=&current=",
		} {
			if a := in.ok("GET", path+"?"+query, "", "owner"); a.Body != whole {
				t.Errorf("%s: %s", query, a.Body)
			}
		}
		in.call("GET", path+"?nonsense=1&page=1", "", "owner").names(400, "nonsense")
		in.call("GET", path+"?Page=1", "", "owner").names(400, "Page")
	}
}

// TestUserList_WithoutDepartment: dept_id 0 finds them, alone and with departments, within the
// caller's scope.
func TestUserList_WithoutDepartment(t *testing.T) {
	t.Parallel()
	in := start(t)
	top := in.dept("Top", 0)
	below := in.dept("Below", top)
	role := in.role("own", func(r *store.Role) { r.DataScope = "dept_tree" }, "admin.list.query", "admin.list.export")
	in.member("ann", 0)
	in.member("bert", below)
	in.member("cleo", top, role)
	in.member("dora", 0, role)
	f := func(filter string) string { return "/admin/list?filter=" + url.QueryEscape(filter) }
	for _, c := range []struct {
		url, as string
		want    []string
	}{
		{"/admin/list?dept_id=0", "owner", []string{"admin", "ann", "dora"}},
		{f(`{"dept_id":["0"]}`), "owner", []string{"admin", "ann", "dora"}},
		{f(`{"dept_id":[0]}`), "owner", []string{"admin", "ann", "dora"}},
		{f(fmt.Sprintf(`{"dept_id":[0,%d]}`, below)), "owner", []string{"admin", "ann", "bert", "dora"}},
		{f(`{"dept_id":[0,77,-1]}`), "owner", []string{"admin", "ann", "dora"}},
		{"/admin/list?dept_id=0&keywordSearch=n", "owner", []string{"admin", "ann"}},
		{"/admin/list?dept_id=0&pageSize=1&page=2", "owner", []string{"ann"}},
		{"/admin/list?dept_id=0&sorter=" + url.QueryEscape(`{"username":"descend"}`), "owner", []string{"dora", "ann", "admin"}},
		{"/admin/list?dept_id=0&role_id=" + role.String(), "owner", []string{"dora"}},
		{"/admin/list?dept_id=0", "cleo", nil},
		{"/admin/list?dept_id=0", "dora", []string{"dora"}},
		{"/admin/list?dept_id=" + top.String(), "owner", []string{"bert", "cleo"}},
	} {
		in.lists(c.url, "username", c.as, c.want...)
	}
	in.ok("GET", "/admin/list?dept_id=0&pageSize=1", "", "owner").brief(200, `"total":3,`)
	if a := in.ok("GET", "/admin/list-export?dept_id=0", "", "owner"); strings.Count(a.Body, "\n") != 4 || strings.Contains(a.Body, "bert") {
		t.Errorf("%s", a.Body)
	}
}

func TestFileGroup_ZeroIsNone(t *testing.T) {
	t.Parallel()
	in := start(t)
	if f := in.keep("owner", "a.txt", "text", fieldPart("group_id", "0")); f.GroupID != 0 {
		t.Errorf("%+v", f)
	}
	in.posts("owner", fieldPart("group_id", "-0"), filePart("a.txt", "text")).names(400, "group_id")
	in.lists("/file/list?group_id=0", "name", "owner", "a.txt")
}

func TestFileGroup_SearchByName(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, name := range []string{"Papers", "Old papers", "Überweisungen", "a%b"} {
		in.create("/file/group", `{"name":"`+name+`"}`)
	}
	for query, want := range map[string][]string{
		"name=papers": {"Papers"}, "name=PAPERS": {"Papers"}, "name=pap": nil, "name=": {"Papers", "Old papers", "Überweisungen", "a%b"},
		"filter=" + url.QueryEscape(`{"name":["papers","ÜBERWEISUNGEN"]}`): {"Papers", "Überweisungen"},
		"keywordSearch=paper":                   {"Papers", "Old papers"},
		"keywordSearch=BERW":                    {"Überweisungen"},
		"keywordSearch=%25":                     {"a%b"},
		"keywordSearch=nothing":                 nil,
		"keywordSearch=a&name=papers":           {"Papers"},
		"keywordSearch=paper&pageSize=1&page=2": {"Old papers"},
		"keywordSearch=paper&sorter=" + url.QueryEscape(`{"name":"ascend"}`): {"Old papers", "Papers"},
	} {
		in.lists("/file/group?"+query, "name", "owner", want...)
	}
	in.ok("GET", "/file/group?keywordSearch=paper&pageSize=1", "", "owner").brief(200, `"total":2,`)
}
