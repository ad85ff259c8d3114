package people_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
)

// TestUserImport_DataScope imports as a user who sees department 10 and below. Each row outside of
// it, and each that grants too much, has its own result. One such row makes the whole import fail.
func TestUserImport_DataScope(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	in.Role("Low", nil, "admin.list.query")
	in.Role("High", nil, "admin.list.query", "system.setting.delete")
	in.Role("Wide", func(r *store.Role) { r.DataScope = "all" })
	in.Role("Other branch", func(r *store.Role) {
		r.DataScope, r.DeptIDs = "custom", []store.ID{11}
	})
	own := in.Role("Own", func(r *store.Role) {
		r.DataScope = "dept_tree"
	}, "admin.list.import", "admin.list.query")
	in.Member("clerk", 10, own)
	const header = "username,department,roles\n"
	nowhere := func(path string) string { return fmt.Sprintf("department %q not found", path) }
	const tooMuch = " exceeds what you can grant; missing: "
	good, bad := "", ""
	var want []people.Verdict
	for i, c := range []struct{ department, roles, column, text string }{
		{"D1/D10", "", "", ""},
		{"d1/d10/d100/D101", "Low;low", "", ""},
		{"D1/D10/D100", "Own", "", ""},
		{"D1", "", "department", nowhere("D1")},
		{"D11", "Low", "department", nowhere("D11")},
		{"D1/D11", "", "department", nowhere("D1/D11")},
		{"Nowhere", "", "department", nowhere("Nowhere")},
		{"", "", "department",
			"is required, because records without a department are outside your data scope"},
		{"D1/D10", "High", "row", "user row8" + tooMuch + "system.setting.delete"},
		{"D1/D10", "Low;Owner", "row", "user row9" + tooMuch + "the owner role"},
		{"D1/D10", "Wide", "row", "user row10" + tooMuch + "a data scope that is at least as wide"},
		{"D1/D10", "Other branch", "row",
			"user row11" + tooMuch + "a data scope that is at least as wide"},
		{"D1/D10", "None", "roles", `role "None" not found`},
	} {
		name := fmt.Sprint("row", i)
		row := name + "," + c.department + "," + c.roles + "\n"
		v := people.Verdict{
			Line:     i + 2,
			Username: name,
			OK:       c.column == "",
			Errors:   map[string]string{c.column: c.text},
		}
		if v.OK {
			v.Errors, good = nil, good+row
		} else {
			bad += row
		}
		want = append(want, v)
	}

	before := in.Dump()
	var out people.ImportOut
	a := in.Upload("/admin/list-import?dry_run=1", header+good+bad, "clerk")
	a.Brief(200)
	a.Data(&out)
	for i := range out.Rows {
		if v := &out.Rows[i]; (v.Details == nil) != v.OK {
			t.Errorf("line %d: %v", v.Line, v.Details)
		}
		out.Rows[i].Details = nil
	}

	if diff := cmp.Diff(people.ImportOut{DryRun: true, Failed: 10, Rows: want, Charset: "utf-8"},
		out); diff != "" {
		t.Errorf("verdicts (- want, + got):\n%s", diff)
	}

	refused := map[string]string{}
	for _, v := range want {
		for column, text := range v.Errors {
			refused[fmt.Sprintf("line %d %s", v.Line, column)] = text
		}
	}

	a = in.Upload("/admin/list-import", header+good+bad, "clerk")
	if diff := cmp.Diff(refused, a.Envelope().Errors); a.Code != 422 || diff != "" {
		t.Errorf("%d (- want, + got):\n%s", a.Code, diff)
	}

	in.Unchanged(before)
	in.Upload("/admin/list-import", header+good, "clerk").Brief(200, `"created":3,"failed":0`)
	in.Lists("/admin/list?keywordSearch=row", "username", "clerk", "row0", "row1", "row2")
	in.Lists("/admin/list?keywordSearch=row", "dept_name", "clerk", "D10", "D101", "D100")
}

// TestUserImport_HiddenDeptNotAmbiguous: departments outside the scope do
// not make a path ambiguous.
func TestUserImport_HiddenDeptNotAmbiguous(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	seen := in.Dept("Twin", 0)
	in.Dept("Twin", 0)
	in.Member("clerk", 0, in.Role("Own", func(r *store.Role) {
		r.DataScope, r.DeptIDs = "custom", []store.ID{seen}
	}, "admin.list.import"))
	const file = "username,department\nnew,Twin\n"
	in.Upload("/admin/list-import?dry_run=1", file, "owner").Brief(200,
		`"department":"2 departments are named`)
	in.Upload("/admin/list-import", file, "clerk").Brief(200)
	in.Lists("/admin/list?keywordSearch=new", "dept_id", "owner", seen.String())
}
