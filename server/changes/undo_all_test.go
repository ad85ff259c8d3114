package changes_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/store"
)

// owning starts an instance with an owner named mallory.
func owning(t *testing.T) (in *servertest.Instance, actor string) {
	in = servertest.Start(t)
	id := in.Clerk("mallory").ID
	in.OK("PUT", fmt.Sprintf("/admin/list?ids=%d", id), `{"role_ids":[1]}`, "owner")
	return in, fmt.Sprintf("user:%d", id)
}

func undoAll(in *servertest.Instance, actor, since, more, query string) *servertest.Reply {
	in.T.Helper()
	return in.Call("POST", "/system/audit-undo"+query,
		fmt.Sprintf(`{"by":%q,"since":%q%s}`, actor, since, more), "owner")
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// Undoing all that an actor did restores the state before, whatever order it was done in.
func TestUndoAll_RandomWalk(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	in.Create("/system/dict", `{"code":"kept","name":"Kept"}`)
	in.Create("/admin/dept", `{"name":"Kept"}`)
	in.Create("/admin/role", `{"name":"Kept"}`)
	in.Create("/admin/list", `{"username":"kept","nickname":"Kept","password":"long enough it is"}`)
	before, since := in.State(), now()
	random := rand.New(rand.NewPCG(1, 2))
	roles, depts := []store.ID{2, 3}, []store.ID{1}
	some := func(of []store.ID) store.ID { return of[random.IntN(len(of))] }
	done := 0
	for i := range 60 {
		var a *servertest.Reply
		switch random.IntN(8) {
		case 0:
			a = in.Call("POST", "/admin/dept", fmt.Sprintf(`{"name":"D%d","parent_id":%d}`, i, some(depts)), "mallory")
		case 1:
			a = in.Call("POST", "/admin/role", fmt.Sprintf(`{"name":"R%d"}`, i), "mallory")
			roles = append(roles, store.ID(len(roles)+2))
		case 2:
			a = in.Call("POST", "/admin/list", fmt.Sprintf(`{"username":"u%d","dept_id":%d,"role_ids":[%d],"password":"long enough it is"}`, i, some(depts), some(roles)), "mallory")
		case 3:
			a = in.Call("PUT", fmt.Sprintf("/admin/list/%d", 3+random.IntN(4)), fmt.Sprintf(`{"nickname":"N%d","dept_id":%d}`, i, some(depts)), "mallory")
		case 4:
			a = in.Call("PUT", fmt.Sprintf("/admin/list?ids=%d", 3+random.IntN(4)), fmt.Sprintf(`{"role_ids":[%d]}`, some(roles)), "mallory")
		case 5:
			a = in.Call("DELETE", fmt.Sprintf("/admin/list/%d", 4+random.IntN(4)), "", "mallory")
		case 6:
			a = in.Call("DELETE", fmt.Sprintf("/admin/role/%d", some(roles)), "", "mallory")
		default:
			a = in.Call("PUT", "/system/dict/1", fmt.Sprintf(`{"name":"Name %d"}`, random.IntN(3)), "mallory")
		}
		if a.Code == http.StatusOK {
			done++
		}
	}
	if done < 30 {
		t.Fatalf("only %d of 60 writes succeeded", done)
	}

	var planned, out changes.UndoneAll
	changed := in.State()
	a := undoAll(in, actor, since, "", "?dry_run=1")
	if a.Data(&planned); a.Code != http.StatusOK || planned.Records == 0 || len(planned.Conflicts) != 0 {
		t.Fatal(a.Code, a.Body)
	}
	in.SameState("after a dry run", changed)
	a = undoAll(in, actor, since, "", "")
	if a.Data(&out); a.Code != http.StatusOK || out.Records != planned.Records {
		t.Fatal(a.Code, a.Body)
	}
	in.SameState("after the undo", before)

	var p struct{ Data []changes.LogEntry }
	in.OK("GET", "/system/audit?action=undo&pageSize=1", "", "owner").Data(&p)
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", p.Data[0].Seq), "", "owner")
	in.SameState("after undoing the undo", changed)
}

// Many changes are undone by a job: those that were made by jobs, too.
func TestUndoAll_Job(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	before, since := in.State(), now()
	csv := "username\n"
	for i := range 150 {
		csv += fmt.Sprintf("person%d\n", i)
	}
	if a := in.Upload("/admin/list-import", csv, "mallory"); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}
	in.OK("PUT", "/admin/list?all=1&keywordSearch=person", `{"status":0}`, "mallory")
	in.OK("PUT", "/admin/list/50", `{"nickname":"Changed"}`, "mallory")

	var out changes.UndoneAll
	a := undoAll(in, actor, since, "", "")
	if a.Data(&out); a.Code != http.StatusOK || out.Job == nil || out.Job.State != store.JobDone || out.Records != 150 {
		t.Fatal(a.Code, a.Body)
	}
	in.SameState("after the undo", before)
}

// What others have changed since, or in between, is a conflict.
func TestUndoAll_Conflicts(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	for _, code := range []string{"one", "two", "three"} {
		in.Create("/system/dict", fmt.Sprintf(`{"code":%q,"name":"First"}`, code))
	}
	since := now()
	in.OK("PUT", "/system/dict/1", `{"name":"Second"}`, "mallory")
	in.OK("PUT", "/system/dict/2", `{"name":"Second"}`, "mallory")
	in.OK("PUT", "/system/dict/2", `{"name":"Third"}`, "owner")
	in.OK("PUT", "/system/dict/2", `{"name":"Fourth"}`, "mallory")
	in.OK("PUT", "/system/dict/3", `{"name":"Second"}`, "mallory")
	in.OK("PUT", "/system/dict/3", `{"name":"Third"}`, "owner")
	changed := in.State()

	a := undoAll(in, actor, since, "", "")
	if faults := a.Envelope().Errors; a.Code != http.StatusConflict || len(faults) != 2 ||
		faults["dict.2.name"] != `is now "Third", and was changed to "Second"` ||
		faults["dict.3.name"] != `is now "Third", and was changed to "Second"` {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in.SameState("after a conflict", changed)

	var out changes.UndoneAll
	a = undoAll(in, actor, since, `,"leave_changed":1`, "")
	if a.Data(&out); a.Code != http.StatusOK || out.Records != 1 || len(out.Conflicts) != 2 {
		t.Fatal(a.Code, a.Body)
	}
	changed["dict 1"]["name"] = json.RawMessage(`"First"`)
	in.SameState("after the undo of the others", changed)
}

// What cannot be undone since others use it stays with leave_changed, as a dry run says before.
func TestUndoAll_Dependent(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	since := now()
	role := in.Made("/admin/role", `{"name":"Kept"}`) // by the owner: nothing of it is undone
	made := func(url, body string) store.ID {
		var out struct{ ID store.ID }
		in.OK("POST", url, body, "mallory").Data(&out)
		return out.ID
	}
	r, dept := made("/admin/role", `{"name":"R"}`), made("/admin/dept", `{"name":"D"}`)
	user := made("/admin/list", fmt.Sprintf(`{"username":"uma","role_ids":[%d],"password":"long enough it is"}`, r))
	bobby := made("/admin/list", `{"username":"bobby","password":"long enough it is"}`)
	in.OK("DELETE", fmt.Sprint("/admin/list/", bobby), "", "mallory")
	in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"description":"by mallory"}`, "mallory")
	in.OK("PUT", fmt.Sprint("/admin/list/", user), `{"nickname":"by the owner"}`, "owner") // so that R is in use
	in.Create("/admin/list", `{"username":"bobby","password":"long enough it is"}`)        // so that the name is taken
	in.Create("/admin/list", fmt.Sprintf(`{"username":"vera","dept_id":%d,"password":"long enough it is"}`, dept))
	changed := in.State()

	if a := undoAll(in, actor, since, "", ""); a.Code != http.StatusConflict {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in.SameState("after a conflict", changed)
	var planned, out changes.UndoneAll
	undoAll(in, actor, since, `,"leave_changed":1`, "?dry_run=1").Data(&planned)
	in.SameState("after a dry run", changed)
	a := undoAll(in, actor, since, `,"leave_changed":1`, "")
	if a.Data(&out); a.Code != http.StatusOK || out.Records != planned.Records || out.Left != planned.Left || out.Left != 4 {
		t.Fatal(a.Code, a.Body)
	}
	changed[fmt.Sprint("role ", role)]["description"] = json.RawMessage(`""`)
	in.SameState("after the undo of the others", changed)
}

// What others did while they acted as a user is theirs.
func TestUndoAll_ActingAs(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	since := now()
	in.BeginActing("boss", clerk, 1).Brief(200)
	in.CallAs("POST", "/system/dict", `{"name":"Colours","code":"colour"}`, "boss", clerk).Brief(200)
	undoAll(in, fmt.Sprintf("user:%d", clerk), since, "", "").Brief(422, "nothing_to_undo")
}

func TestUndoAll_TooMany(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	since, csv := now(), "username\n"
	for i := range 5001 {
		csv += fmt.Sprintf("person%d\n", i)
	}
	if a := in.Upload("/admin/list-import", csv, "mallory"); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}
	undoAll(in, actor, since, "", "").Names(422, "since")
}

func TestUndoAll_Period(t *testing.T) {
	t.Parallel()
	in, actor := owning(t)
	in.Create("/system/dict", `{"code":"one","name":"First"}`)
	in.OK("PUT", "/system/dict/1", `{"name":"Second"}`, "mallory")
	since := now()
	in.OK("PUT", "/system/dict/1", `{"name":"Third"}`, "mallory")
	until := now()
	in.OK("PUT", "/system/dict/1", `{"describe":"later"}`, "mallory")
	if a := undoAll(in, actor, since, fmt.Sprintf(`,"until":%q`, until), ""); a.Code != http.StatusOK {
		t.Fatal(a.Body)
	}
	in.OK("GET", "/system/dict/1", "", "owner").Brief(200, `"name":"Second"`, `"describe":"later"`)
	undoAll(in, actor, until, "", "?dry_run=1").Brief(200, `"records":1`)
	undoAll(in, "user:99", since, "", "").Brief(422, "nothing_to_undo")
	for _, wrong := range []string{"mallory", "user:", "user:0", "system", ""} {
		undoAll(in, wrong, since, "", "").Names(422, "by")
	}
}
