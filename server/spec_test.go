package server

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"reeve/store"
)

// The responses of the two operations that the specification defines byte for byte,
// with times, which have a fixed layout, replaced by one.

var moment = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"`)

const someMoment = `"2025-05-08T03:04:05.000000Z"`

func oneMoment(body string) string { return moment.ReplaceAllString(body, someMoment) }

func (a *reply) is(want string) {
	a.t.Helper()
	if diff := cmp.Diff(want+"\n", oneMoment(a.Body)); a.Code != http.StatusOK || diff != "" {
		a.t.Errorf("%s: %d (- want, + got):\n%s", a.sent, a.Code, diff)
	}
}

// create posts a body and returns the new record's ID.
func (in *instance) create(url, body string) uint64 {
	in.t.Helper()
	var record struct{ ID uint64 }
	in.ok("POST", url, body, "owner").data(&record)
	return record.ID
}

// The tree grows with each page in embed/seed/permissions.json; -update writes it again.
func TestParentTreeGolden_NewDatabase(t *testing.T) {
	t.Parallel()
	golden(t, "parent-tree", start(t).ok("GET", "/admin/rule/parent", "", "owner").Body)
}

func TestParentTree_AllNodesButActions(t *testing.T) {
	t.Parallel()
	in := start(t)
	top := in.create("/admin/rule", `{"type":0,"key":"shop","name":"Shop","sort":-1,"show":0}`)
	page := in.create("/admin/rule", fmt.Sprintf(`{"type":1,"key":"shop.goods","name":"Goods","parent_id":%d,"status":0,"sort":2}`, top))
	deep := in.create("/admin/rule", fmt.Sprintf(`{"type":1,"key":"shop.goods.part","name":"Parts","parent_id":%d}`, page))
	first := in.create("/admin/rule", fmt.Sprintf(`{"type":1,"key":"shop.sale","name":"Sales <&> \"more\" 日本","parent_id":%d,"sort":1}`, top))
	tie := in.create("/admin/rule", fmt.Sprintf(`{"type":0,"key":"shop.tie","name":"Tie","parent_id":%d,"sort":2}`, top))
	in.create("/admin/rule", fmt.Sprintf(`{"type":2,"key":"shop.sale.query","name":"Look","parent_id":%d}`, first))
	want := fmt.Sprintf(`{"id":%[1]d,"name":"Shop","parent_id":0,"children":[`+
		`{"id":%[2]d,"name":"Sales \u003c\u0026\u003e \"more\" 日本","parent_id":%[1]d},`+
		`{"id":%[3]d,"name":"Goods","parent_id":%[1]d,"children":[{"id":%[4]d,"name":"Parts","parent_id":%[3]d}]},`+
		`{"id":%[5]d,"name":"Tie","parent_id":%[1]d}]}`, top, first, page, deep, tie)
	body := in.ok("GET", "/admin/rule/parent", "", "owner").Body
	if !strings.HasPrefix(body, `{"data":{"data":[`+want+`,{"id":1,`) {
		t.Errorf("%s\ndoes not begin with\n%s", body, want)
	}
}

func TestParentTree_MaximumDepth(t *testing.T) {
	t.Parallel()
	in := start(t)
	above, want := uint64(0), ""
	for level := range 32 {
		above = in.create("/admin/rule", fmt.Sprintf(`{"type":0,"key":"deep-%d","name":"L","parent_id":%d,"sort":-9}`, level, above))
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
	in.ok("GET", "/admin/rule/parent", "", "owner").brief(200, `{"data":{"data":[`+want+`,`)
}

const settingOne = `{"id":1,"key":"title","title":"Title","describe":"Shown in the header and on the sign-in page",` +
	`"values":"Reeve","type":"input","options":[],"props":[{"name":"maxlength","value":"60"}],"group_id":1,"sort":10,` +
	`"created_at":` + someMoment + `,"updated_at":` + someMoment + `}`

const settingThree = `{"id":3,"key":"session_idle_minutes","title":"Idle timeout","describe":"Sign users out after this many minutes of inactivity",` +
	`"values":"30","type":"number","options":[],"props":[{"name":"min","value":"5"},{"name":"max","value":"10080"},{"name":"step","value":"1"}],` +
	`"group_id":2,"sort":30,"created_at":` + someMoment + `,"updated_at":` + someMoment + `}`

const settingTwo = `{"id":2,"key":"logo","title":"Logo","describe":"Image shown next to the title",` +
	`"values":"","type":"image","options":[],"props":[],"group_id":1,"sort":20,"created_at":` + someMoment + `,"updated_at":` + someMoment + `}`

func TestSettingList_NewDatabase(t *testing.T) {
	t.Parallel()
	in := start(t)
	total := fmt.Sprint(len(store.Builtins))
	in.ok("GET", "/system/setting?pageSize=3", "", "owner").is(
		`{"data":{"data":[` + settingOne + `,` + settingTwo + `,` + settingThree + `],"total":` + total + `,"pageSize":3,"current":1},"success":true,"msg":"ok","showType":0}`)
	in.ok("GET", "/system/setting?pageSize="+total+"&page=2", "", "owner").is(
		`{"data":{"data":[],"total":` + total + `,"pageSize":` + total + `,"current":2},"success":true,"msg":"ok","showType":0}`)
}

func TestSettingList_ExactFieldsPerType(t *testing.T) {
	t.Parallel()
	in := start(t)
	group := in.create("/system/setting-group", `{"key":"look","title":"Look"}`)
	id := in.create("/system/setting", fmt.Sprintf(`{"key":"mode","title":"Mode","type":"radio","values":"a","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"group_id":%d,"sort":-3}`, group))
	in.create("/system/setting", fmt.Sprintf(`{"key":"token","title":"Token","type":"secret","values":"hunter2!","group_id":%d}`, group))
	in.create("/system/setting", fmt.Sprintf(`{"key":"on","title":"On","type":"switch","values":"1","group_id":%d}`, group))
	in.create("/system/setting", fmt.Sprintf(`{"key":"many","title":"Many","type":"checkbox","values":"[\"a\"]","options":[{"label":"A","value":"a"}],"group_id":%d}`, group))
	record := func(id uint64, key, title, values, typ, options string, sort int) string {
		return fmt.Sprintf(`{"id":%d,"key":"%s","title":"%s","describe":"","values":"%s","type":"%s","options":%s,"props":[],"group_id":%d,"sort":%d,"created_at":%s,"updated_at":%[9]s}`,
			id, key, title, values, typ, options, group, sort, someMoment)
	}
	in.ok("GET", fmt.Sprintf("/system/setting?group_id=%d", group), "", "owner").is(`{"data":{"data":[` + strings.Join([]string{
		record(id, "mode", "Mode", "a", "radio", `[{"label":"A","value":"a"},{"label":"B","value":"b"}]`, -3),
		record(id+1, "token", "Token", "******", "secret", "[]", 0),
		record(id+2, "on", "On", "1", "switch", "[]", 0),
		record(id+3, "many", "Many", `[\"a\"]`, "checkbox", `[{"label":"A","value":"a"}]`, 0),
	}, ",") + `],"total":4,"pageSize":10,"current":1},"success":true,"msg":"ok","showType":0}`)
}

func TestTimestamp_SixDigits(t *testing.T) {
	t.Parallel()
	in := start(t)
	body := in.ok("GET", "/system/setting/1", "", "owner").Body
	if n := len(moment.FindAllString(body, -1)); n != 2 {
		t.Errorf("%d moments of the fixed layout, want 2: %s", n, body)
	}
}
