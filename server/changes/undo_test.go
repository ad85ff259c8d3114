package changes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// Each kind of change is undone, and undoing the undo makes it again.
func TestUndo_RestoresStateBefore(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"look","title":"Look"}`)
	in.Create("/system/setting",
		`{"key":"mode","title":"Mode","type":"input","values":"a","group_id":8}`)
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	in.Create("/system/dict/1/item", `{"label":"A","value":"a"}`)
	in.Create("/admin/dept", `{"name":"Sales","phone":"123"}`)
	in.Create("/admin/dept", `{"name":"North","parent_id":1}`)
	in.Create("/admin/role", `{"name":"Editor","data_scope":"custom","dept_ids":[1]}`)
	in.Create("/admin/list",
		`{"username":"ann","nickname":"Ann","dept_id":1,"role_ids":[2],"password":"long enough it is"}`)
	in.Create("/user/list",
		`{"username":"customer","email":"c@example.org","password":"long enough it is"}`)
	in.Create("/admin/rule", `{"type":1,"key":"shop","name":"Shop"}`)
	in.Create("/file/group", `{"name":"Papers"}`)
	file := in.Keep("owner", "a.txt", "text")
	setting := settingID(in, "look.mode")
	rule := in.Permission("admin.list.query")
	for _, c := range []struct{ method, url, body string }{
		{"PUT", "/admin/list/2",
			`{"nickname":"Anna","email":"anna@example.org","sex":2,"dept_id":2}`},
		{"PUT", "/admin/list/2/status", `{"status":0}`},
		{"DELETE", "/admin/list/2", ""},
		{"PUT", "/user/list/1", `{"mobile":"+49 30 1"}`},
		{"DELETE", "/user/list/1", ""},
		{"PUT", "/admin/role/2", `{"name":"Author","data_scope":"self","dept_ids":[]}`},
		{"PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d]}`, rule)},
		{"PUT", "/admin/dept/2", `{"parent_id":0,"name":"South"}`},
		{"DELETE", "/admin/dept/2", ""},
		{"PUT", "/admin/rule/" + fmt.Sprint(in.Permission("shop")), `{"name":"Store","sort":3}`},
		{"DELETE", "/admin/rule/" + fmt.Sprint(in.Permission("shop")), ""},
		{"PUT", "/system/setting", `{"values":{"look.mode":"b","site.title":"Mine"}}`},
		{"PUT", fmt.Sprintf("/system/setting/%d", setting), `{"title":"Manner","sort":4}`},
		{"DELETE", fmt.Sprintf("/system/setting/%d", setting), ""},
		{"PUT", "/system/setting-group/8", `{"remark":"x"}`},
		{"PUT", "/system/dict/1", `{"status":0,"describe":"one\ntwo"}`},
		{"PUT", "/system/dict/1/item/1", `{"label":"AA"}`},
		{"DELETE", "/system/dict/1/item/1", ""},
		{"PUT", "/file/group/1", `{"name":"Other"}`},
		{"PUT", fmt.Sprintf("/file/list/%d", file.ID), `{"name":"b.txt","group_id":1}`},
		{"DELETE", fmt.Sprintf("/file/list/%d", file.ID), ""},
		{"POST", "/admin/role", `{"name":"New"}`},
		{"POST", "/admin/list", `{"username":"new","password":"long enough it is"}`},
		{"DELETE", "/system/dict/1/item?ids=1", ""},
	} {
		name := c.method + " " + c.url
		before := in.State()
		a := in.OK(c.method, c.url, c.body, "owner")
		seq, after := in.NewestEntry(), in.State()
		if want := web.EventID(in.DB.LogHead().Generation, seq); a.Header.Get("Reeve-Entry") != want {
			t.Errorf("%s: Reeve-Entry %q, want %s", name, a.Header.Get("Reeve-Entry"), want)
		}

		var detail changes.LogDetail
		in.OK("GET", fmt.Sprintf("/system/audit/%d", seq), "", "owner").Data(&detail)
		if !detail.Undo.Possible {
			t.Errorf("%s: can't be undone: %s", name, detail.Undo.Reason)
			continue
		}
		if a := in.Undo(seq, "owner"); a.Code != http.StatusOK {
			t.Errorf("%s: undo: %d %s", name, a.Code, a.Body)
			continue
		}

		in.SameState(name+", undone", before)
		if a := in.Undo(seq, "owner"); a.Code != http.StatusConflict ||
			a.Envelope().ErrorCode != "changed_since" {
			t.Errorf("%s: undone twice: %d %s", name, a.Code, a.Body)
		}
		if strings.HasPrefix(c.url, "/admin/list/2") && c.method == "DELETE" {
			continue // the password is lost, so the state after another undo differs in must_change_password only
		}
		if a := in.Undo(in.NewestEntry(), "owner"); a.Code != http.StatusOK {
			t.Errorf("%s: undo of the undo: %d %s", name, a.Code, a.Body)
			continue
		}

		in.SameState(name+", redone", after)
		in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", in.NewestEntry()), "", "owner")
		in.SameState(name+", undone again", before)
	}
}

func settingID(in *servertest.Instance, name string) (id store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error { id = store.SettingCache.Get(tx).ID(name); return nil })
	return id
}

// Random changes, undone from the last to the first, leave the state before them.
func TestUndo_EverythingLeavesBeginning(t *testing.T) {
	t.Parallel()
	in, random := servertest.Start(t), disktest.Random(t)
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	in.Create("/admin/dept", `{"name":"Sales"}`)
	before, first := in.State(), in.NewestEntry()+1
	for i, n := 0, disktest.Size(60, 150, 1000); i < n ||
		i < 10*n && in.NewestEntry() < first+10; i++ {
		method, url, body := randomChange(random, i)
		in.Call(method, url, body, "owner") // some are refused
	}

	if in.NewestEntry() < first+10 {
		t.Fatalf("only %d changes", in.NewestEntry()-first)
	}

	for seq := in.NewestEntry(); seq >= first; seq-- {
		if a := in.Undo(seq, "owner"); a.Code != http.StatusOK &&
			a.Envelope().ErrorCode != "nothing_to_undo" {
			t.Fatalf("undo of %d: %d %s", seq, a.Code, a.Body)
		}
	}

	in.SameState("everything undone", before)
}

func randomChange(random *rand.Rand, i int) (method, url, body string) {
	id, other := 1+random.IntN(6), random.IntN(4)
	switch random.IntN(14) {
	case 0:
		return "POST", "/system/dict/1/item", fmt.Sprintf(`{"label":"L%d","value":"v%d"}`, i, i)
	case 1:
		return "PUT", fmt.Sprintf("/system/dict/1/item/%d", id),
			fmt.Sprintf(`{"label":"M%d","sort":%d}`, i, other)
	case 2:
		return "DELETE", fmt.Sprintf("/system/dict/1/item/%d", id), ""
	case 3:
		return "POST", "/admin/dept", fmt.Sprintf(`{"name":"D%d","parent_id":%d}`, i, other)
	case 4:
		return "PUT", fmt.Sprintf("/admin/dept/%d", id),
			fmt.Sprintf(`{"parent_id":%d,"name":"E%d"}`, other, i)
	case 5:
		return "DELETE", fmt.Sprintf("/admin/dept/%d", 1+id), ""
	case 6:
		return "POST", "/admin/role",
			fmt.Sprintf(`{"name":"R%d","data_scope":"custom","dept_ids":[%d]}`, i, 1+other)
	case 7:
		return "PUT", fmt.Sprintf("/admin/role/%d/rule", id), fmt.Sprintf(`{"rule_ids":[%d,%d]}`,
			20+other, 24+id)
	case 8:
		return "DELETE", fmt.Sprintf("/admin/role/%d", 1+id), ""
	case 9:
		return "POST", "/admin/list",
			fmt.Sprintf(`{"username":"user%d","role_ids":[%d],"dept_id":%d,"password":"long enough it is"}`, i, 2+other, other)
	case 10:
		return "PUT", fmt.Sprintf("/admin/list/%d", 1+id),
			fmt.Sprintf(`{"nickname":"N%d","dept_id":%d,"status":%d}`, i, other, i%2)
	case 11:
		return "DELETE", fmt.Sprintf("/admin/list/%d", 1+id), ""
	case 12:
		return "PUT", "/system/setting", fmt.Sprintf(`{"values":{"site.title":"T%d"}}`, i)
	default:
		return "PUT", "/admin/list?ids=2,3", fmt.Sprintf(`{"dept_id":%d}`, other)
	}
}

func TestUndo_ReportsLosses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/list", `{"username":"ann","password":"long enough it is"}`)
	in.Tokens["ann"] = in.SignIn(2)
	file := in.Keep("owner", "a.txt", "text")
	in.OK("PUT", fmt.Sprintf("/file/list/%d", file.ID), `{"public":1}`, "owner")
	in.Create("/system/setting-group", `{"key":"own","title":"Own"}`)
	in.Create("/system/setting",
		`{"key":"token","title":"Token","type":"secret","values":"canary-one","group_id":8}`)
	secret := settingID(in, "own.token")
	for _, c := range []struct {
		method, url, body string
		possible          bool
		lost              []string
	}{
		{"PUT", "/admin/list/2/password", `{"password":"another long one"}`, false,
			[]string{"password", "session"}},
		{"DELETE", "/admin/list/2", "", true, []string{"password"}},
		{"PUT", fmt.Sprintf("/system/setting/%d", secret), `{"values":"canary-two"}`, false,
			[]string{"secret"}},
		{"DELETE", fmt.Sprintf("/file/list/%d", file.ID), "", true, []string{"public_url"}},
		{"DELETE", fmt.Sprintf("/file/trash/%d", file.ID), "", false, []string{"file_content"}},
		{"POST", "/admin/logout", "", false, []string{"session"}},
	} {
		in.Tokens["again"] = in.SignIn(1)
		in.OK(c.method, c.url, c.body,
			map[bool]string{true: "again", false: "owner"}[c.url == "/admin/logout"])
		var detail changes.LogDetail
		a := in.OK("GET", fmt.Sprintf("/system/audit/%d", in.NewestEntry()), "", "owner")
		a.Data(&detail)
		var lost []string
		for _, l := range detail.Undo.Lost {
			if !slices.Contains(lost, l.What) {
				lost = append(lost, l.What)
			}
		}

		slices.Sort(lost)
		disktest.Equal(t, c.method+" "+c.url+": lost", lost, c.lost)
		if bool(detail.Undo.Possible) != c.possible {
			t.Errorf("%s %s: possible %v: %s", c.method, c.url, detail.Undo.Possible,
				detail.Undo.Reason)
		}
		if strings.Contains(a.Body, "canary") {
			t.Errorf("the entry shows a secret: %s", a.Body)
		}
		if !c.possible {
			if a := in.Undo(detail.Seq, "owner"); a.Code != http.StatusUnprocessableEntity ||
				a.Envelope().ErrorCode != "nothing_to_undo" {
				t.Errorf("%s %s: undo: %d %s", c.method, c.url, a.Code, a.Body)
			}
		}
	}
}

// TestUndo_NeedsRightsOfInverse checks that an undo needs the permissions of the opposite change.
func TestUndo_NeedsRightsOfInverse(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	dept, far := in.Dept("Near", 0), in.Dept("Far", 0)
	seqs := map[string]uint64{}
	do := func(name, method, url, body string) {
		t.Helper()
		in.OK(method, url, body, "owner")
		seqs[name] = in.NewestEntry()
	}
	do("dict", "PUT", "/system/dict/1", `{"name":"D"}`)
	do("role", "POST", "/admin/role", `{"name":"Strong","data_scope":"all"}`)
	do("grant", "PUT", "/admin/role/2/rule",
		fmt.Sprintf(`{"rule_ids":[%d]}`, in.Permission("system.backup")))
	do("near", "POST", "/admin/list",
		fmt.Sprintf(`{"username":"near","dept_id":%d,"password":"long enough it is"}`, dept))
	do("far", "POST", "/admin/list",
		fmt.Sprintf(`{"username":"far","dept_id":%d,"password":"long enough it is"}`, far))
	do("near changed", "PUT", "/admin/list/2", `{"nickname":"N"}`)
	do("far changed", "PUT", "/admin/list/3", `{"nickname":"F"}`)
	do("near disabled", "PUT", "/admin/list/2/status", `{"status":0}`)
	do("owner", "PUT", "/admin/info", `{"nickname":"Boss"}`)
	audit := []string{"system.audit.query", "system.audit.undo"}
	people := append(slices.Clone(audit), "admin.list.query", "admin.list.update")
	inDept := func(r *store.Role) { r.DataScope = store.ScopeDept }
	all := func(r *store.Role) { r.DataScope = store.ScopeAll }
	in.Member("none", dept,
		in.Role("none", all, "system.audit.query", "system.dict.query", "system.dict.update"))
	in.Member("reader", dept,
		in.Role("reader", all, append(slices.Clone(audit), "system.dict.query")...))
	in.Member("dicts", dept,
		in.Role("dicts", all,
			append(slices.Clone(audit), "system.dict.query", "system.dict.update")...))
	in.Member("people", dept, in.Role("people", inDept, people...))
	in.Member("roles", dept,
		in.Role("roles", all,
			append(slices.Clone(audit), "admin.role.query", "admin.role.update",
				"admin.role.delete", "admin.role.rule")...))
	for _, c := range []struct {
		who, what string
		code      int
	}{
		{"none", "dict", 403}, {"reader", "dict", 403},
		{"people", "far changed", 404}, {"people", "far", 404}, {"people", "near", 403},
		{"people", "near disabled", 403},
		{"people", "near changed", 200}, {"people", "owner", 404},
		{"roles", "grant", 403}, {"roles", "role", 403},
		{"dicts", "grant", 403}, {"dicts", "dict", 200},
		{"owner", "near disabled", 200}, {"owner", "grant", 200}, {"owner", "far changed", 200},
		{"owner", "far", 200},
	} {
		before := in.NewestEntry()
		a := in.Undo(seqs[c.what], c.who)
		if a.Code != c.code {
			t.Errorf("%s undoes %s: %d %s, want %d", c.who, c.what, a.Code, a.Body, c.code)
		}
		if c.code != http.StatusOK && in.NewestEntry() != before {
			t.Errorf("%s: the refused undo of %s changed something", c.who, c.what)
		}

		var detail changes.LogDetail
		if e := in.Call("GET", fmt.Sprintf("/system/audit/%d", seqs[c.what]), "", c.who); e.Code == http.StatusOK {
			e.Data(&detail)
		}
		if c.code == 403 && bool(detail.Undo.Possible) {
			t.Errorf("%s: %s seems possible to undo", c.who, c.what)
		}
	}
}

// TestUndo_OutOfScope checks that a user who may undo a part of an entry does not see values of
// records outside the data scope.
func TestUndo_OutOfScope(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	near, far := in.Dept("Near", 0), in.Dept("Far", 0)
	in.Member("chief", near, in.Role("chief", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "system.audit.query", "system.audit.undo", "admin.list.query", "admin.list.update",
		"admin.list.status"))
	here, there := in.Member("here", near), in.Member("there", far)
	in.OK("PUT", fmt.Sprintf("/admin/list?ids=%d,%d", here, there), `{"status":0}`, "owner")
	seq := in.NewestEntry()
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", there), `{"status":1}`, "owner")
	a := in.OK("GET", fmt.Sprintf("/system/audit/%d", seq), "", "chief")
	var detail changes.LogDetail
	a.Data(&detail)
	if bool(detail.Undo.Possible) || len(detail.Undo.Conflicts)+len(detail.Undo.Lost) != 0 ||
		detail.Hidden == 0 {
		t.Errorf("%s", a.Body)
	}
	if a := in.Undo(seq, "chief"); a.Code != http.StatusNotFound || a.Envelope().Errors != nil {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestUndo_ConflictChangesNothing(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/list", `{"username":"ann","nickname":"A","password":"long enough it is"}`)
	in.Create("/admin/role", `{"name":"Editor"}`)
	in.OK("PUT", "/admin/list?ids=2", `{"role_ids":[2]}`, "owner")
	in.OK("PUT", "/admin/role/2", `{"name":"Author","sort":4}`, "owner")
	change := in.NewestEntry()
	in.OK("PUT", "/admin/role/2", `{"name":"Poet"}`, "owner")
	before := in.State()
	a := in.Undo(change, "owner")
	if a.Code != http.StatusConflict ||
		a.Envelope().Errors["role.2.name"] != `is now "Poet", and was changed to "Author"` ||
		len(a.Envelope().Errors) != 1 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.SameState("after a conflict", before)
	var detail changes.LogDetail
	in.OK("GET", fmt.Sprintf("/system/audit/%d", change), "", "owner").Data(&detail)
	want := []changes.UndoDifference{{
		Collection: "role",
		ID:         2,
		Field:      "name",
		Expected:   json.RawMessage(`"Author"`),
		Current:    json.RawMessage(`"Poet"`),
	}}
	disktest.Equal(t, "conflicts", detail.Undo.Conflicts, want)
	in.OK("PUT", "/admin/list/2", `{"nickname":"Canary Nickname"}`, "owner")
	change = in.NewestEntry()
	in.OK("PUT", "/admin/list/2", `{"nickname":"Second Canary"}`, "owner")
	if a := in.Undo(change, "owner"); a.Code != http.StatusConflict ||
		strings.Contains(a.Body, "Canary") {
		t.Errorf("an error quotes personal data: %s", a.Body)
	}

	in.OK("DELETE", "/admin/list/2", "", "owner")
	if a := in.Undo(change, "owner"); a.Code != http.StatusConflict ||
		a.Envelope().Errors["user.2"] != "has been deleted since" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// An import of many users is undone as one, by a job; so is the undo.
func TestUndo_LargeOperation(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	n := disktest.Size(250, 250, 2000)
	var csv strings.Builder
	csv.WriteString("username,nickname\n")
	for i := range n {
		fmt.Fprintf(&csv, "person%d,Person %d\n", i, i)
	}

	before := in.State()
	if a := in.Upload("/admin/list-import", csv.String(), "owner"); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}

	users := func() (n int) {
		in.View(func(tx *store.Tx) (err error) { n, err = store.Users.Count(tx); return err })
		return n
	}
	if users() != n+1 {
		t.Fatalf("%d users", users())
	}

	var p struct{ Data []changes.LogEntry }
	in.OK("GET", "/system/audit?collection=user&change=create&pageSize=1", "", "owner").Data(&p)
	if p.Data[0].JobID == 0 {
		t.Fatalf("no job: %+v", p.Data[0])
	}

	var detail changes.LogDetail
	in.OK("GET", fmt.Sprintf("/system/audit/%d", p.Data[0].Seq), "", "owner").Data(&detail)
	if detail.Undo.Records != n || !detail.Undo.Possible {
		t.Errorf("%+v", detail.Undo)
	}

	a := in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", p.Data[0].Seq), "", "owner")
	var out changes.Undone
	a.Data(&out)
	if out.Job == nil || out.Job.State != store.JobDone || out.Records != n || users() != 1 {
		t.Errorf("%s; %d users", a.Body, users())
	}

	in.SameState("the import undone", before)

	in.OK("GET", "/system/audit?action=undo&pageSize=1", "", "owner").Data(&p)
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", p.Data[0].Seq), "", "owner").Data(&out)
	if users() != n+1 {
		t.Errorf("after undoing the undo there are %d users", users())
	}
}

// If one of the records has changed since, nothing of a large operation is undone.
func TestUndo_LargeOperationConflict(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var csv strings.Builder
	csv.WriteString("username\n")
	for i := range 150 {
		fmt.Fprintf(&csv, "person%d\n", i)
	}

	if a := in.Upload("/admin/list-import", csv.String(), "owner"); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}

	in.OK("PUT", "/admin/list/70", `{"nickname":"Changed"}`, "owner")
	before := in.State()
	var p struct{ Data []changes.LogEntry }
	in.OK("GET", "/system/audit?job=1&pageSize=1", "", "owner").Data(&p)
	if a := in.Undo(p.Data[0].Seq, "owner"); a.Code != http.StatusConflict ||
		a.Envelope().Errors["user.70.nickname"] == "" {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.SameState("after the refused undo", before)
}
