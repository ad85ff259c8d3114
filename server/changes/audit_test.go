package changes_test

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

	"reeve/server"
	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
)

// found returns the numbers of the entries of a list.
func found(in *servertest.Instance, query, as string) (seqs []uint64) {
	in.T.Helper()
	before := ""
	for {
		var p struct {
			Data  []changes.LogEntry
			Next  uint64
			Total *int
		}
		in.OK("GET", "/system/audit?"+query+before, "", as).Data(&p)
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
	in := servertest.Start(t)
	seqs := map[string]uint64{}
	do := func(name, method, path, body, as string) {
		t.Helper()
		in.OK(method, path, body, as)
		seqs[name] = in.NewestEntry()
	}
	do("role", "POST", "/admin/role", `{"name":"Clerk","data_scope":"all"}`, "owner")
	in.OK("PUT", "/admin/role/2/rule",
		fmt.Sprintf(`{"rule_ids":[%d,%d]}`, in.Permission("system.dict.create"),
			in.Permission("system.dict.update")), "owner")
	do("ann", "POST", "/admin/list",
		`{"username":"ann","nickname":"Ann Other","role_ids":[2],"password":"long enough it is"}`,
		"owner")
	in.Tokens["ann"] = in.SignIn(2)
	do("dict", "POST", "/system/dict", `{"code":"colour","name":"Colour"}`, "ann")
	do("dict changed", "PUT", "/system/dict/1", `{"name":"Paint"}`, "ann")
	do("dict changed by owner", "PUT", "/system/dict/1", `{"status":0}`, "owner")
	do("ann changed", "PUT", "/admin/list/2", `{"mobile":"+49 1"}`, "owner")
	do("dict deleted", "DELETE", "/system/dict/1", "", "owner")
	do("export", "GET", "/admin/list-export", "", "owner")
	in.Create("/admin/list",
		`{"username":"former","nickname":"Gone Person","password":"long enough it is"}`)
	do("former", "PUT", "/admin/list/3", `{"nickname":"Gone Entirely"}`, "owner")
	do("former deleted", "DELETE", "/admin/list/3", "", "owner")
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"actor=user:2", []string{"dict changed", "dict"}},
		{"actor=user:2&collection=dict&change=update", []string{"dict changed"}},
		{"collection=dict&record=1",
			[]string{"dict deleted", "dict changed by owner", "dict changed", "dict"}},
		{"collection=dict&change=delete", []string{"dict deleted"}},
		{"collection=role&change=create", []string{"role"}},
		{"operation=" + url.QueryEscape("PUT /system/dict/:id"),
			[]string{"dict changed by owner", "dict changed"}},
		{"action=export", []string{"export"}},
		{"filter=" + url.QueryEscape(`{"collection":["dict","role"],"change":["create"]}`),
			[]string{"dict", "role"}},
		{"keywordSearch=ann%20other&collection=dict", []string{"dict changed", "dict"}},
		{"keywordSearch=ann", []string{"ann changed", "dict changed", "dict", "ann"}},
		{"keywordSearch=PAINT",
			[]string{"dict deleted", "dict changed by owner", "dict changed", "dict"}},
		{"keywordSearch=former&change=update", []string{"former"}},
		{"keywordSearch=nobody-has-this-name", nil},
		{"actor=user:99", nil}, {"actor=nonsense", nil}, {"change=nonsense", nil},
		{"address=nonsense", nil}, {"collection=nonsense", nil},
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
			disktest.Equal(t, fmt.Sprint(c.query, " by ", size),
				found(in, fmt.Sprintf("%s&pageSize=%d", c.query, size), "owner"), want)
		}
	}

	var p changes.LogPage
	in.OK("GET", "/system/audit?collection=dict&record=1&pageSize=2", "", "owner").Data(&p)
	if p.Total == nil || *p.Total != 4 || p.Next != seqs["dict changed by owner"] {
		t.Errorf("%+v", p)
	}

	for query, code := range map[string]int{
		"page=2":    400,
		"before=0":  400,
		"before=x":  400,
		"record=0":  400,
		"sorter={}": 200,
		"unknown=1": 400,
		"page=1":    200,
	} {
		if a := in.Call("GET", "/system/audit?"+query, "", "owner"); a.Code != code {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}

	all := found(in, "pageSize=1000", "owner")
	if len(all) != int(in.NewestEntry()) || !slices.IsSortedFunc(all, func(a, b uint64) int {
		return int(b) - int(a)
	}) {
		t.Errorf("%d entries in the list, %d in the log", len(all), in.NewestEntry())
	}
}

func TestChangeLog_ChangedFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/dept", `{"name":"Sales"}`)
	in.Create("/admin/role", `{"name":"Editor"}`)
	a, b, c := in.Permission("admin.list.query"), in.Permission("admin.role.query"), in.Permission("admin.dept.query")
	in.OK("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d,%d]}`, a, b), "owner")
	r := in.Request("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d,%d]}`, b, c), "owner")
	r.Header.Set("X-Reason", "because")
	in.Send(r)
	var e changes.LogDetail
	in.OK("GET", fmt.Sprintf("/system/audit/%d", in.NewestEntry()), "", "owner").Data(&e)
	f := e.Changes[0].Fields[0]
	if e.Reason != "because" ||
		e.Actor != (changes.LogActor{Kind: "user", ID: 1, Name: "admin", Erased: false}) ||
		e.Address != "192.0.2.1" || e.Changes[0].Name != "Editor" ||
		f.Name != "rule_ids" || f.AddedN != 1 || f.RemovedN != 1 ||
		string(f.Added[0]) != c.String() || f.Labels[c.String()] != "List departments" {
		t.Errorf("%+v", e)
	}

	long := strings.Repeat("ä", 900)
	in.OK("PUT", "/admin/role/2", `{"description":"`+long+`"}`, "owner")
	var list struct{ Data []changes.LogEntry }
	in.OK("GET", "/system/audit?pageSize=1", "", "owner").Data(&list)
	in.OK("GET", fmt.Sprintf("/system/audit/%d", in.NewestEntry()), "", "owner").Data(&e)
	short, whole := list.Data[0].Changes[0].Fields[0], e.Changes[0].Fields[0]
	if !short.Truncated || string(short.New) != `"`+long[:2*changes.MaxListValue]+`"` ||
		whole.Truncated || string(whole.New) != `"`+long+`"` {
		t.Errorf("%+v\n%+v", short, whole)
	}
	if a := in.Call("GET", "/system/audit/999999", "", "owner"); a.Code != http.StatusNotFound {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// A caller sees what users in the data scope did and what was done to them, and of other records
// what the permissions allow.
func TestChangeLog_ScopeAndPermissions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	near, far := in.Dept("Near", 0), in.Dept("Far", 0)
	editor := in.Role("editor", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "system.dict.create", "system.dict.update", "system.dict.query")
	in.Member("here", near, editor)
	in.Member("there", far, editor)
	scoped := in.Role("scoped", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "system.audit.query", "system.audit.export", "admin.list.query")
	chief := in.Member("chief", near, scoped)
	in.Member("all", 0, in.Role("all", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "system.audit.query"))
	start := in.NewestEntry()
	in.OK("POST", "/system/dict", `{"code":"by_here","name":"CanaryDict"}`, "here")
	byHere := in.NewestEntry()
	in.OK("POST", "/system/dict", `{"code":"by_there","name":"CanaryDict"}`, "there")
	byThere := in.NewestEntry()
	id := func(name string) (id store.ID) {
		in.View(func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, name)
			if err == nil {
				id = u.ID
			}
			return err
		})
		return id
	}
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id("here")), `{"mobile":"+49 1"}`, "owner")
	hereChanged := in.NewestEntry()
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id("there")), `{"mobile":"+49 2"}`, "owner")
	thereChanged := in.NewestEntry()
	in.OK("PUT", "/admin/info", `{"nickname":"Canary Owner"}`, "owner")

	later := func(seqs []uint64) []uint64 {
		return slices.DeleteFunc(seqs, func(seq uint64) bool { return seq <= start })
	}
	disktest.Equal(t, "chief", later(found(in, "pageSize=100", "chief")),
		[]uint64{hereChanged, byHere})
	var e changes.LogDetail
	in.OK("GET", fmt.Sprintf("/system/audit/%d", hereChanged), "", "chief").Data(&e)
	if e.Actor.Kind != "unknown" || e.Actor.ID != 0 || e.Address != "" || len(e.Changes) != 1 {
		t.Errorf("an actor out of scope is shown: %+v", e)
	}

	in.OK("GET", fmt.Sprintf("/system/audit/%d", byHere), "", "chief").Data(&e)
	if e.Hidden != 1 || len(e.Changes) != 0 || e.Actor.Name != "here" {
		t.Errorf("without system.dict.query: %+v", e)
	}

	in.OK("DELETE", fmt.Sprintf("/admin/list/%d", id("here")), "", "owner")
	hereDeleted := in.NewestEntry()
	in.OK("GET", fmt.Sprintf("/system/audit/%d", hereDeleted), "", "chief").Data(&e)
	if !slices.ContainsFunc(e.Changes, func(c changes.LogChange) bool {
		return c.Collection == "user" && c.Name == "here"
	}) {
		t.Errorf("the deletion of a user in scope: %+v", e)
	}

	for _, seq := range []uint64{byThere, thereChanged} {
		if a := in.Call("GET", fmt.Sprintf("/system/audit/%d", seq), "", "chief"); a.Code != http.StatusNotFound {
			t.Errorf("entry %d: %d", seq, a.Code)
		}
	}

	for path, code := range map[string]int{
		fmt.Sprintf("/system/history/user/%d", chief):       200,
		fmt.Sprintf("/system/history/user/%d", id("there")): 404,
		"/system/history/user/1":                            404, "/system/history/dict/1": 403,
		"/system/history/role/1": 403, "/system/audit-export": 403,
	} {
		if a := in.Call("GET", path, "", "chief"); a.Code != code {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}

	if got := found(in, "keywordSearch=there", "chief"); got != nil {
		t.Errorf("a search finds people out of scope: %v", got)
	}

	for _, path := range []string{"/system/audit?pageSize=100",
		"/system/audit?keywordSearch=canary"} {
		if a := in.OK("GET", path, "", "chief"); strings.Contains(strings.ToLower(a.Body),
			"canary") {
			t.Errorf("%s shows what the caller may not read: %s", path, a.Body)
		}
		if a := in.OK("GET", path, "", "all"); strings.Contains(strings.ToLower(a.Body), "canary") {
			t.Errorf("%s shows values without the permission for them: %s", path, a.Body)
		}
	}

	if got := later(found(in, "pageSize=100", "all")); len(got) != 6 {
		t.Errorf("with the data scope all: %v", got)
	}
}

func TestRecordHistory(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"a","name":"A"}`)
	in.Create("/system/dict", `{"code":"b","name":"B"}`)
	in.OK("PUT", "/system/dict/1", `{"name":"AA"}`, "owner")
	in.OK("DELETE", "/system/dict?ids=1,2", "", "owner")
	var p changes.LogPage
	in.OK("GET", "/system/history/dict/1", "", "owner").Data(&p)
	var did []string
	for _, e := range p.Data {
		if len(e.Changes) != 1 || e.Changes[0].ID != 1 {
			t.Errorf("%+v", e)
		}
		did = append(did, e.Changes[0].Operation)
	}

	disktest.Equal(t, "history", did, []string{"delete", "update", "create"})
	in.OK("GET", "/system/history/dict/1?pageSize=1", "", "owner").Data(&p)
	in.OK("GET", fmt.Sprintf("/system/history/dict/1?pageSize=1&before=%d", p.Next), "", "owner").Data(&p)
	if len(p.Data) != 1 || p.Data[0].Changes[0].Operation != "update" {
		t.Errorf("%+v", p)
	}
}

// Names of somebody who was erased cannot be read, and what was done remains.
func TestChangeLog_ErasedPeople(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/list",
		`{"username":"ann.canary","nickname":"Ann Canary","password":"long enough it is"}`)
	seq := in.NewestEntry()
	in.OK("POST", "/admin/list/2/erase", `{"username":"ann.canary"}`, "owner")
	a := in.OK("GET", fmt.Sprintf("/system/audit/%d", seq), "", "owner")
	var e changes.LogDetail
	a.Data(&e)
	if strings.Contains(strings.ToLower(a.Body), "canary") || !bool(e.Changes[0].Erased) {
		t.Errorf("%s", a.Body)
	}

	in.OK("GET", fmt.Sprintf("/system/audit/%d", in.NewestEntry()), "", "owner").Data(&e)
	if bool(e.Undo.Possible) || len(e.Undo.Lost) == 0 {
		t.Errorf("an erasure can be undone: %+v", e.Undo)
	}
	if got := found(in, "keywordSearch=canary", "owner"); got != nil {
		t.Errorf("found %v", got)
	}
}

// An export is the chain as it is stored, which can be verified.
func TestChangeLogExport_Verifiable(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for i := range 20 {
		in.Create("/system/dict", fmt.Sprintf(`{"code":"c%d","name":"Canary Name"}`, i))
	}

	a := in.OK("GET", "/system/audit-export", "", "owner")
	path := filepath.Join(t.TempDir(), "log.jsonl")
	servertest.Must(t, os.WriteFile(path, []byte(a.Body), 0o600))
	head := in.DB.LogHead()
	result, err := audit.VerifyFiles([]string{path}, []audit.Head{head})
	servertest.Must(t, err)
	if result.First != 1 || result.Head != head || result.Entries != head.Seq {
		t.Errorf("%+v, the head is %+v", result, head)
	}
	if entries := in.EntriesSince(head.Seq - 1); entries[0].Action != "export" {
		t.Errorf("the export is not logged: %+v", entries)
	}

	a = in.OK("GET", "/system/audit-export?from=5&to=7", "", "owner")
	if lines := strings.Split(strings.TrimSpace(a.Body), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[0], `{"seq":5,`) {
		t.Errorf("%q", lines)
	}
	if a := in.OK("GET", "/system/audit-export?from=99999", "", "owner"); a.Body != "" {
		t.Errorf("%q", a.Body)
	}
}

// The log has every collection whose changes are logged, and everything that the permissions of
// undoing name.
func TestChangeLog_CollectionsHavePermissions(t *testing.T) {
	keys := map[string]bool{}
	for _, rt := range server.Routes() {
		keys[rt.Access] = true
	}

	logged := store.LoggedTables()
	if len(logged) != len(store.Accesses()) {
		t.Errorf("%d collections are logged, %d have permissions", len(logged),
			len(store.Accesses()))
	}

	for _, table := range logged {
		access := store.AccessOf(table.Name())
		if access.Table == nil {
			t.Errorf("%s is logged: declare who may read it with Manage, or that it is Unlogged",
				table.Name())
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
	in := servertest.Start(t)
	for i := range 30 {
		in.Create("/system/dict", fmt.Sprintf(`{"code":"c%d","name":"N"}`, i))
	}

	last := in.NewestEntry()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				in.Call("PUT", "/admin/info", fmt.Sprintf(`{"nickname":"N%d"}`, i), "owner")
			}
		}
	}()

	got := found(in, "pageSize=7", "owner")
	close(stop)
	<-done
	got = slices.DeleteFunc(got, func(seq uint64) bool { return seq > last })
	var want []uint64
	for seq := last; seq > 0; seq-- {
		want = append(want, seq)
	}

	disktest.Equal(t, "entries", got, want)
}
