package web_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

// TestTree_IgnoresListParameters sends these with any value. Unknown parameters are errors.
func TestTree_IgnoresListParameters(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("Below", in.Dept("Top", 0))
	trees := []string{"/system/monitor/trace"}
	for _, rt := range server.Routes() {
		if strings.Contains(rt.Output.String(), ".Tree[") && rt.Path != "/admin/choice" { // which says what it lists
			trees = append(trees, rt.Path)
		}
	}

	if !slices.Contains(trees, "/admin/rule") || !slices.Contains(trees, "/admin/rule/parent") ||
		!slices.Contains(trees, "/admin/dept") {
		t.Fatalf("%q", trees)
	}

	for _, path := range trees {
		whole := in.OK("GET", path, "", "owner").Body
		for _, query := range []string{
			"page=2&pageSize=1", "current=3&pageSize=20", "page=0&pageSize=x",
			"sorter=" + url.QueryEscape(`{"name":"descend"}`), "sorter=x",
			"filter=" + url.QueryEscape(`{"status":["0"]}`), "keywordSearch=zzz", "page=&current=",
		} {
			if a := in.OK("GET", path+"?"+query, "", "owner"); a.Body != whole {
				t.Errorf("%s: %s", query, a.Body)
			}
		}
		in.Call("GET", path+"?nonsense=1&page=1", "", "owner").Names(400, "nonsense")
		in.Call("GET", path+"?Page=1", "", "owner").Names(400, "Page")
	}
}

// TestUserList_WithoutDepartment: dept_id 0 finds them, alone and with departments, within the
// caller's scope.
func TestUserList_WithoutDepartment(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	top := in.Dept("Top", 0)
	below := in.Dept("Below", top)
	role := in.Role("own", func(r *store.Role) {
		r.DataScope = "dept_tree"
	}, "admin.list.query", "admin.list.export")

	in.Member("ann", 0)
	in.Member("bert", below)
	in.Member("cleo", top, role)
	in.Member("dora", 0, role)
	f := func(filter string) string { return "/admin/list?filter=" + url.QueryEscape(filter) }
	for _, c := range []struct {
		url, as string
		want    []string
	}{
		{"/admin/list?dept_id=0", "owner", []string{"admin", "ann", "dora"}},
		{f(`{"dept_id":["0"]}`), "owner", []string{"admin", "ann", "dora"}},
		{f(`{"dept_id":[0]}`), "owner", []string{"admin", "ann", "dora"}},
		{f(fmt.Sprintf(`{"dept_id":[0,%d]}`, below)), "owner",
			[]string{"admin", "ann", "bert", "dora"}},
		{f(`{"dept_id":[0,77,-1]}`), "owner", []string{"admin", "ann", "dora"}},
		{"/admin/list?dept_id=0&keywordSearch=n", "owner", []string{"admin", "ann"}},
		{"/admin/list?dept_id=0&pageSize=1&page=2", "owner", []string{"ann"}},
		{"/admin/list?dept_id=0&sorter=" + url.QueryEscape(`{"username":"descend"}`), "owner",
			[]string{"dora", "ann", "admin"}},
		{"/admin/list?dept_id=0&role_id=" + role.String(), "owner", []string{"dora"}},
		{"/admin/list?dept_id=0", "cleo", nil},
		{"/admin/list?dept_id=0", "dora", []string{"dora"}},
		{"/admin/list?dept_id=" + top.String(), "owner", []string{"bert", "cleo"}},
	} {
		in.Lists(c.url, "username", c.as, c.want...)
	}

	in.OK("GET", "/admin/list?dept_id=0&pageSize=1", "", "owner").Brief(200, `"total":3,`)
	if a := in.OK("GET", "/admin/list-export?dept_id=0", "", "owner"); strings.Count(a.Body, "\n") != 4 || strings.Contains(a.Body, "bert") {
		t.Errorf("%s", a.Body)
	}
}

func TestFileGroup_ZeroIsNone(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	if f := in.Keep("owner", "a.txt", "text", servertest.FieldPart("group_id", "0")); f.GroupID != 0 {
		t.Errorf("%+v", f)
	}
	in.Posts("owner", servertest.FieldPart("group_id", "-0"), servertest.FilePart("a.txt", "text")).Names(400, "group_id")
	in.Lists("/file/list?group_id=0", "name", "owner", "a.txt")
}

func TestFileGroup_SearchByName(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, name := range []string{"Papers", "Old papers", "Überweisungen", "a%b"} {
		in.Create("/file/group", `{"name":"`+name+`"}`)
	}

	for query, want := range map[string][]string{
		"name=papers": {"Papers"}, "name=PAPERS": {"Papers"}, "name=pap": nil,
		"name=": {"Papers", "Old papers", "Überweisungen", "a%b"},
		"filter=" + url.QueryEscape(`{"name":["papers","ÜBERWEISUNGEN"]}`): {"Papers",
			"Überweisungen"},
		"keywordSearch=paper":                   {"Papers", "Old papers"},
		"keywordSearch=BERW":                    {"Überweisungen"},
		"keywordSearch=%25":                     {"a%b"},
		"keywordSearch=nothing":                 nil,
		"keywordSearch=a&name=papers":           {"Papers"},
		"keywordSearch=paper&pageSize=1&page=2": {"Old papers"},
		"keywordSearch=paper&sorter=" + url.QueryEscape(`{"name":"ascend"}`): {"Old papers",
			"Papers"},
	} {
		in.Lists("/file/group?"+query, "name", "owner", want...)
	}

	in.OK("GET", "/file/group?keywordSearch=paper&pageSize=1", "", "owner").Brief(200, `"total":2,`)
}
