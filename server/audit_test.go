package server

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/changes"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
)

// found returns the numbers of the entries of a list.
func (in *instance) found(query, as string) (seqs []uint64) {
	in.t.Helper()
	before := ""
	for {
		var p struct {
			Data  []changes.LogEntry
			Next  uint64
			Total *int
		}
		in.ok("GET", "/system/audit?"+query+before, "", as).data(&p)
		for _, e := range p.Data {
			seqs = append(seqs, e.Seq)
		}
		if p.Next == 0 {
			return seqs
		}
		before = fmt.Sprintf("&before=%d", p.Next)
	}
}

func TestChangeLog_Filters(t *testing.T) {
	t.Parallel()
	in := start(t)
	seqs := map[string]uint64{}
	do := func(name, method, path, body, as string) {
		t.Helper()
		in.ok(method, path, body, as)
		seqs[name] = in.newestEntry()
	}
	do("role", "POST", "/admin/role", `{"name":"Clerk","data_scope":"all"}`, "owner")
	in.ok("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d,%d]}`, in.permission("system.dict.create"), in.permission("system.dict.update")), "owner")
	do("ann", "POST", "/admin/list", `{"username":"ann","nickname":"Ann Other","role_ids":[2],"password":"long enough it is"}`, "owner")
	in.tokens["ann"] = in.signIn(2)
	do("dict", "POST", "/system/dict", `{"code":"colour","name":"Colour"}`, "ann")
	do("dict changed", "PUT", "/system/dict/1", `{"name":"Paint"}`, "ann")
	do("dict changed by owner", "PUT", "/system/dict/1", `{"status":0}`, "owner")
	do("ann changed", "PUT", "/admin/list/2", `{"mobile":"+49 1"}`, "owner")
	do("dict deleted", "DELETE", "/system/dict/1", "", "owner")
	do("export", "GET", "/admin/list-export", "", "owner")
	in.create("/admin/list", `{"username":"former","nickname":"Gone Person","password":"long enough it is"}`)
	do("former", "PUT", "/admin/list/3", `{"nickname":"Gone Entirely"}`, "owner")
	do("former deleted", "DELETE", "/admin/list/3", "", "owner")
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"actor=user:2", []string{"dict changed", "dict"}},
		{"actor=user:2&collection=dict&change=update", []string{"dict changed"}},
		{"collection=dict&record=1", []string{"dict deleted", "dict changed by owner", "dict changed", "dict"}},
		{"collection=dict&change=delete", []string{"dict deleted"}},
		{"collection=role&change=create", []string{"role"}},
		{"operation=" + url.QueryEscape("PUT /system/dict/:id"), []string{"dict changed by owner", "dict changed"}},
		{"action=export", []string{"export"}},
		{"filter=" + url.QueryEscape(`{"collection":["dict","role"],"change":["create"]}`), []string{"dict", "role"}},
		{"keywordSearch=ann%20other&collection=dict", []string{"dict changed", "dict"}},
		{"keywordSearch=ann", []string{"ann changed", "dict changed", "dict", "ann"}},
		{"keywordSearch=PAINT", []string{"dict deleted", "dict changed by owner", "dict changed", "dict"}},
		{"keywordSearch=former&change=update", []string{"former"}},
		{"keywordSearch=nobody-has-this-name", nil},
		{"actor=user:99", nil}, {"actor=nonsense", nil}, {"change=nonsense", nil}, {"address=nonsense", nil}, {"collection=nonsense", nil},
		{"address=10.9.9.9", nil},
		{"address=192.0.2.0/24&collection=dict&change=create", []string{"dict"}},
		{"at[]=2020-01-01&at[]=2020-12-31", nil},
		{"collection=dict&change=create&at[]=2020-01-01&at[]=", []string{"dict"}},
	} {
		for _, size := range []int{1, 3, 50} {
			var want []uint64
			for _, name := range c.want {
				want = append(want, seqs[name])
			}
			disktest.Equal(t, fmt.Sprint(c.query, " by ", size), in.found(fmt.Sprintf("%s&pageSize=%d", c.query, size), "owner"), want)
		}
	}
	var p changes.LogPage
	in.ok("GET", "/system/audit?collection=dict&record=1&pageSize=2", "", "owner").data(&p)
	if p.Total == nil || *p.Total != 4 || p.Next != seqs["dict changed by owner"] {
		t.Errorf("%+v", p)
	}
	for query, code := range map[string]int{"page=2": 400, "before=0": 400, "before=x": 400, "record=0": 400, "sorter={}": 200, "unknown=1": 400, "page=1": 200} {
		if a := in.call("GET", "/system/audit?"+query, "", "owner"); a.Code != code {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	all := in.found("pageSize=1000", "owner")
	if len(all) != int(in.newestEntry()) || !slices.IsSortedFunc(all, func(a, b uint64) int { return int(b) - int(a) }) {
		t.Errorf("%d entries in the list, %d in the log", len(all), in.newestEntry())
	}
}

func TestChangeLog_ChangedFields(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/admin/dept", `{"name":"Sales"}`)
	in.create("/admin/role", `{"name":"Editor"}`)
	a, b, c := in.permission("admin.list.query"), in.permission("admin.role.query"), in.permission("admin.dept.query")
	in.ok("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d,%d]}`, a, b), "owner")
	r := in.request("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d,%d]}`, b, c), "owner")
	r.Header.Set("X-Reason", "because")
	in.send(r)
	var e changes.LogDetail
	in.ok("GET", fmt.Sprintf("/system/audit/%d", in.newestEntry()), "", "owner").data(&e)
	f := e.Changes[0].Fields[0]
	if e.Reason != "because" || e.Actor != (changes.LogActor{Kind: "user", ID: 1, Name: "admin", Erased: false}) || e.Address != "192.0.2.1" || e.Changes[0].Name != "Editor" ||
		f.Name != "rule_ids" || f.AddedN != 1 || f.RemovedN != 1 || string(f.Added[0]) != c.String() || f.Labels[c.String()] != "List departments" {
		t.Errorf("%+v", e)
	}
	long := strings.Repeat("ä", 900)
	in.ok("PUT", "/admin/role/2", `{"description":"`+long+`"}`, "owner")
	var list struct{ Data []changes.LogEntry }
	in.ok("GET", "/system/audit?pageSize=1", "", "owner").data(&list)
	in.ok("GET", fmt.Sprintf("/system/audit/%d", in.newestEntry()), "", "owner").data(&e)
	short, whole := list.Data[0].Changes[0].Fields[0], e.Changes[0].Fields[0]
	if !short.Truncated || string(short.New) != `"`+long[:2*changes.MaxListValue]+`"` || whole.Truncated || string(whole.New) != `"`+long+`"` {
		t.Errorf("%+v\n%+v", short, whole)
	}
	if a := in.call("GET", "/system/audit/999999", "", "owner"); a.Code != http.StatusNotFound {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// A caller sees what users in the data scope did and what was done to them, and of other records
// what the permissions allow.
func TestChangeLog_ScopeAndPermissions(t *testing.T) {
	t.Parallel()
	in := start(t)
	near, far := in.dept("Near", 0), in.dept("Far", 0)
	editor := in.role("editor", func(r *store.Role) { r.DataScope = store.ScopeAll }, "system.dict.create", "system.dict.update", "system.dict.query")
	in.member("here", near, editor)
	in.member("there", far, editor)
	scoped := in.role("scoped", func(r *store.Role) { r.DataScope = store.ScopeDept }, "system.audit.query", "system.audit.export", "admin.list.query")
	chief := in.member("chief", near, scoped)
	in.member("all", 0, in.role("all", func(r *store.Role) { r.DataScope = store.ScopeAll }, "system.audit.query"))
	start := in.newestEntry()
	in.ok("POST", "/system/dict", `{"code":"by_here","name":"CanaryDict"}`, "here")
	byHere := in.newestEntry()
	in.ok("POST", "/system/dict", `{"code":"by_there","name":"CanaryDict"}`, "there")
	byThere := in.newestEntry()
	id := func(name string) (id store.ID) {
		in.view(func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, name)
			if err == nil {
				id = u.ID
			}
			return err
		})
		return id
	}
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id("here")), `{"mobile":"+49 1"}`, "owner")
	hereChanged := in.newestEntry()
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id("there")), `{"mobile":"+49 2"}`, "owner")
	thereChanged := in.newestEntry()
	in.ok("PUT", "/admin/info", `{"nickname":"Canary Owner"}`, "owner")

	later := func(seqs []uint64) []uint64 {
		return slices.DeleteFunc(seqs, func(seq uint64) bool { return seq <= start })
	}
	disktest.Equal(t, "chief", later(in.found("pageSize=100", "chief")), []uint64{hereChanged, byHere})
	var e changes.LogDetail
	in.ok("GET", fmt.Sprintf("/system/audit/%d", hereChanged), "", "chief").data(&e)
	if e.Actor.Kind != "unknown" || e.Actor.ID != 0 || e.Address != "" || len(e.Changes) != 1 {
		t.Errorf("an actor out of scope is shown: %+v", e)
	}
	in.ok("GET", fmt.Sprintf("/system/audit/%d", byHere), "", "chief").data(&e)
	if e.Hidden != 1 || len(e.Changes) != 0 || e.Actor.Name != "here" {
		t.Errorf("without system.dict.query: %+v", e)
	}
	in.ok("DELETE", fmt.Sprintf("/admin/list/%d", id("here")), "", "owner")
	hereDeleted := in.newestEntry()
	in.ok("GET", fmt.Sprintf("/system/audit/%d", hereDeleted), "", "chief").data(&e)
	if !slices.ContainsFunc(e.Changes, func(c changes.LogChange) bool { return c.Collection == "user" && c.Name == "here" }) {
		t.Errorf("the deletion of a user in scope: %+v", e)
	}
	for _, seq := range []uint64{byThere, thereChanged} {
		if a := in.call("GET", fmt.Sprintf("/system/audit/%d", seq), "", "chief"); a.Code != http.StatusNotFound {
			t.Errorf("entry %d: %d", seq, a.Code)
		}
	}
	for path, code := range map[string]int{
		fmt.Sprintf("/system/history/user/%d", chief): 200, fmt.Sprintf("/system/history/user/%d", id("there")): 404,
		"/system/history/user/1": 404, "/system/history/dict/1": 403, "/system/history/role/1": 403, "/system/audit-export": 403,
	} {
		if a := in.call("GET", path, "", "chief"); a.Code != code {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	if got := in.found("keywordSearch=there", "chief"); got != nil {
		t.Errorf("a search finds people out of scope: %v", got)
	}
	for _, path := range []string{"/system/audit?pageSize=100", "/system/audit?keywordSearch=canary"} {
		if a := in.ok("GET", path, "", "chief"); strings.Contains(strings.ToLower(a.Body), "canary") {
			t.Errorf("%s shows what the caller may not read: %s", path, a.Body)
		}
		if a := in.ok("GET", path, "", "all"); strings.Contains(strings.ToLower(a.Body), "canary") {
			t.Errorf("%s shows values without the permission for them: %s", path, a.Body)
		}
	}
	if got := later(in.found("pageSize=100", "all")); len(got) != 6 {
		t.Errorf("with the data scope all: %v", got)
	}
}

func TestRecordHistory(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/dict", `{"code":"a","name":"A"}`)
	in.create("/system/dict", `{"code":"b","name":"B"}`)
	in.ok("PUT", "/system/dict/1", `{"name":"AA"}`, "owner")
	in.ok("DELETE", "/system/dict?ids=1,2", "", "owner")
	var p changes.LogPage
	in.ok("GET", "/system/history/dict/1", "", "owner").data(&p)
	var did []string
	for _, e := range p.Data {
		if len(e.Changes) != 1 || e.Changes[0].ID != 1 {
			t.Errorf("%+v", e)
		}
		did = append(did, e.Changes[0].Operation)
	}
	disktest.Equal(t, "history", did, []string{"delete", "update", "create"})
	in.ok("GET", "/system/history/dict/1?pageSize=1", "", "owner").data(&p)
	in.ok("GET", fmt.Sprintf("/system/history/dict/1?pageSize=1&before=%d", p.Next), "", "owner").data(&p)
	if len(p.Data) != 1 || p.Data[0].Changes[0].Operation != "update" {
		t.Errorf("%+v", p)
	}
}

// Names of somebody who was erased cannot be read, and what was done remains.
func TestChangeLog_ErasedPeople(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/admin/list", `{"username":"ann.canary","nickname":"Ann Canary","password":"long enough it is"}`)
	seq := in.newestEntry()
	in.ok("POST", "/admin/list/2/erase", `{"username":"ann.canary"}`, "owner")
	a := in.ok("GET", fmt.Sprintf("/system/audit/%d", seq), "", "owner")
	var e changes.LogDetail
	a.data(&e)
	if strings.Contains(strings.ToLower(a.Body), "canary") || !bool(e.Changes[0].Erased) {
		t.Errorf("%s", a.Body)
	}
	in.ok("GET", fmt.Sprintf("/system/audit/%d", in.newestEntry()), "", "owner").data(&e)
	if bool(e.Undo.Possible) || len(e.Undo.Lost) == 0 {
		t.Errorf("an erasure can be undone: %+v", e.Undo)
	}
	if got := in.found("keywordSearch=canary", "owner"); got != nil {
		t.Errorf("found %v", got)
	}
}

// An export is the chain as it is stored, which can be verified.
func TestChangeLogExport_Verifiable(t *testing.T) {
	t.Parallel()
	in := start(t)
	for i := range 20 {
		in.create("/system/dict", fmt.Sprintf(`{"code":"c%d","name":"Canary Name"}`, i))
	}
	a := in.ok("GET", "/system/audit-export", "", "owner")
	path := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(path, []byte(a.Body), 0o600))
	head := in.db.LogHead()
	result, err := audit.VerifyFiles([]string{path}, []audit.Head{head})
	must(t, err)
	if result.First != 1 || result.Head != head || result.Entries != head.Seq {
		t.Errorf("%+v, the head is %+v", result, head)
	}
	if entries := in.entriesSince(head.Seq - 1); entries[0].Action != "export" {
		t.Errorf("the export is not logged: %+v", entries)
	}
	a = in.ok("GET", "/system/audit-export?from=5&to=7", "", "owner")
	if lines := strings.Split(strings.TrimSpace(a.Body), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], `{"seq":5,`) {
		t.Errorf("%q", lines)
	}
	if a := in.ok("GET", "/system/audit-export?from=99999", "", "owner"); a.Body != "" {
		t.Errorf("%q", a.Body)
	}
}

// The log has every collection whose changes are logged, and everything that the permissions of
// undoing name.
func TestChangeLog_CollectionsHavePermissions(t *testing.T) {
	keys := map[string]bool{}
	for _, rt := range routes() {
		keys[rt.Access] = true
	}
	logged := store.LoggedTables()
	if len(logged) != len(store.Accesses()) {
		t.Errorf("%d collections are logged, %d have permissions", len(logged), len(store.Accesses()))
	}
	for _, table := range logged {
		access := store.AccessOf(table.Name())
		if access.Table == nil {
			t.Errorf("%s is logged: declare who may read it with Manage, or that it is Unlogged", table.Name())
		}
		named := []string{access.Query, access.Create, access.Update, access.Delete}
		for _, f := range access.Fields {
			named = append(named, f.Permission)
		}
		for _, key := range named {
			if key != "" && !keys[key] {
				t.Errorf("%s: no operation needs the permission %s", table.Name(), key)
			}
		}
	}
}

// Pages do not overlap and have no gaps while entries are added.
func TestChangeLog_PagesWhileGrowing(t *testing.T) {
	t.Parallel()
	in := start(t)
	for i := range 30 {
		in.create("/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i))
	}
	last := in.newestEntry()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				in.call("PUT", "/admin/info", fmt.Sprintf(`{"nickname":"N%d"}`, i), "owner")
			}
		}
	}()
	got := in.found("pageSize=7", "owner")
	close(stop)
	<-done
	got = slices.DeleteFunc(got, func(seq uint64) bool { return seq > last })
	var want []uint64
	for seq := last; seq > 0; seq-- {
		want = append(want, seq)
	}
	disktest.Equal(t, "entries", got, want)
}
