package server_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// The responses of the two operations that the specification defines byte for byte,
// with times, which have a fixed layout, replaced by one.

// The tree grows with each page in embed/seed/permissions.json; -update writes it again.
func TestParentTreeGolden_NewDatabase(t *testing.T) {
	t.Parallel()
	golden(t, "parent-tree", servertest.Start(t).OK("GET", "/admin/rule/parent", "", "owner").Body)
}

func TestParentTree_AllNodesButActions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	top := in.Create("/admin/rule", `{"type":0,"key":"shop","name":"Shop","sort":-1,"show":0}`)
	page := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"shop.goods","name":"Goods","parent_id":%d,"status":0,"sort":2}`, top))
	deep := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"shop.goods.part","name":"Parts","parent_id":%d}`, page))
	first := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"shop.sale","name":"Sales <&> \"more\" 日本","parent_id":%d,"sort":1}`, top))
	tie := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":0,"key":"shop.tie","name":"Tie","parent_id":%d,"sort":2}`, top))
	in.Create("/admin/rule",
		fmt.Sprintf(`{"type":2,"key":"shop.sale.query","name":"Look","parent_id":%d}`, first))
	want := fmt.Sprintf(`{"id":%[1]d,"name":"Shop","parent_id":0,"children":[`+
		`{"id":%[2]d,"name":"Sales \u003c\u0026\u003e \"more\" 日本","parent_id":%[1]d},`+
		`{"id":%[3]d,"name":"Goods","parent_id":%[1]d,"children":[{"id":%[4]d,"name":"Parts","parent_id":%[3]d}]},`+
		`{"id":%[5]d,"name":"Tie","parent_id":%[1]d}]}`, top, first, page, deep, tie)

	body := in.OK("GET", "/admin/rule/parent", "", "owner").Body
	if !strings.HasPrefix(body, `{"data":{"data":[`+want+`,{"id":1,`) {
		t.Errorf("%s\ndoes not begin with\n%s", body, want)
	}
}

func TestParentTree_MaximumDepth(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	above, want := uint64(0), ""
	for level := range 32 {
		above = in.Create("/admin/rule",
			fmt.Sprintf(`{"type":0,"key":"deep-%d","name":"L","parent_id":%d,"sort":-9}`, level,
				above))
	}

	for id := above; id > above-32; id-- {
		parent := id - 1
		if id == above-31 {
			parent = 0
		}
		node := fmt.Sprintf(`{"id":%d,"name":"L","parent_id":%d`, id, parent)
		if want != "" {
			node += `,"children":[` + want + `]`
		}
		want = node + `}`
	}

	in.OK("GET", "/admin/rule/parent", "", "owner").Brief(200, `{"data":{"data":[`+want+`,`)
}

const settingOne = `{"id":1,"key":"title","title":"Title","describe":"Shown in the header and on the sign-in page",` +
	`"values":"Reeve","type":"input","options":[],"props":[{"name":"maxlength","value":"60"}],"group_id":1,"sort":10,` +
	`"created_at":` + servertest.SomeMoment + `,"updated_at":` + servertest.SomeMoment + `}`

const settingThree = `{"id":3,"key":"session_idle_minutes","title":"Idle timeout","describe":"Sign users out after this many minutes of inactivity",` +
	`"values":"30","type":"number","options":[],"props":[{"name":"min","value":"5"},{"name":"max","value":"10080"},{"name":"step","value":"1"}],` +
	`"group_id":2,"sort":30,"created_at":` + servertest.SomeMoment + `,"updated_at":` + servertest.SomeMoment + `}`

const settingTwo = `{"id":2,"key":"logo","title":"Logo","describe":"Image shown next to the title",` +
	`"values":"","type":"image","options":[],"props":[],"group_id":1,"sort":20,"created_at":` + servertest.SomeMoment + `,"updated_at":` + servertest.SomeMoment + `}`

func TestSettingList_NewDatabase(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	total := fmt.Sprint(len(store.Builtins))
	in.OK("GET", "/system/setting?pageSize=3", "", "owner").Is(
		`{"data":{"data":[` + settingOne + `,` + settingTwo + `,` + settingThree + `],"total":` + total + `,"pageSize":3,"current":1},"success":true,"msg":"ok","showType":0}`)
	in.OK("GET", "/system/setting?pageSize="+total+"&page=2", "", "owner").Is(
		`{"data":{"data":[],"total":` + total + `,"pageSize":` + total + `,"current":2},"success":true,"msg":"ok","showType":0}`)
}

func TestSettingList_ExactFieldsPerType(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	group := in.Create("/system/setting-group", `{"key":"look","title":"Look"}`)
	id := in.Create("/system/setting",
		fmt.Sprintf(`{"key":"mode","title":"Mode","type":"radio","values":"a","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"group_id":%d,"sort":-3}`, group))
	in.Create("/system/setting",
		fmt.Sprintf(`{"key":"token","title":"Token","type":"secret","values":"hunter2!","group_id":%d}`, group))
	in.Create("/system/setting",
		fmt.Sprintf(`{"key":"on","title":"On","type":"switch","values":"1","group_id":%d}`, group))
	in.Create("/system/setting",
		fmt.Sprintf(`{"key":"many","title":"Many","type":"checkbox","values":"[\"a\"]","options":[{"label":"A","value":"a"}],"group_id":%d}`, group))
	record := func(id uint64, key, title, values, typ, options string, sort int) string {
		return fmt.Sprintf(`{"id":%d,"key":"%s","title":"%s","describe":"","values":"%s","type":"%s","options":%s,"props":[],"group_id":%d,"sort":%d,"created_at":%s,"updated_at":%[9]s}`,
			id, key, title, values, typ, options, group, sort, servertest.SomeMoment)
	}
	in.OK("GET", fmt.Sprintf("/system/setting?group_id=%d", group), "", "owner").Is(`{"data":{"data":[` + strings.Join([]string{
		record(id, "mode", "Mode", "a", "radio",
			`[{"label":"A","value":"a"},{"label":"B","value":"b"}]`, -3),
		record(id+1, "token", "Token", "******", "secret", "[]", 0),
		record(id+2, "on", "On", "1", "switch", "[]", 0),
		record(id+3, "many", "Many", `[\"a\"]`, "checkbox", `[{"label":"A","value":"a"}]`, 0),
	}, ",") + `],"total":4,"pageSize":10,"current":1},"success":true,"msg":"ok","showType":0}`)
}

func TestTimestamp_SixDigits(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := in.OK("GET", "/system/setting/1", "", "owner").Body
	if n := len(servertest.Moment.FindAllString(body, -1)); n != 2 {
		t.Errorf("%d moments of the fixed layout, want 2: %s", n, body)
	}
}
