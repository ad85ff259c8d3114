package rights_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/rights"
	"reeve/server/servertest"
	"reeve/store"
)

// job is what a preset promises, and what it doesn't: requests that succeed, and requests that are
// refused for want of a permission.
type job struct{ does, refused []string }

// jobs are the jobs of the presets. USER, ROLE, FILE and so on stand for IDs.
var jobs = map[string]job{
	"helpdesk": {
		does: []string{
			`GET /admin/list`, `GET /admin/list/USER`, `GET /admin/list/USER/sign-in`, `POST /admin/list {"username":"made","password":"long enough it is"}`,
			`PUT /admin/list/USER {"nickname":"Mended"}`, `PUT /admin/list/USER/password {}`, `PUT /admin/list/USER/status {"status":0}`,
			`PUT /admin/list/USER/status {"status":1}`, `DELETE /admin/list/USER/lockout`, `POST /admin/list {"username":"guest","invite":"link"}`,
			`GET /admin/invite`, `GET /system/session`, `GET /system/loginlog`, `GET /admin/choice?of=role`, `GET /admin/choice?of=dept`,
		},
		refused: []string{
			`DELETE /admin/list/USER`, `POST /admin/list/USER/act-as {"reason":"x"}`, `GET /admin/role`, `POST /admin/role {"name":"x"}`,
			`PUT /admin/role/ROLE/rule {"rule_ids":[]}`, `GET /system/setting`, `GET /file/list`, `GET /system/audit`, `GET /admin/list-export`,
		},
	},
	"settings_editor": {
		does: []string{
			`GET /system/setting`, `GET /system/setting-value`, `PUT /system/setting {"values":{"site.title":"New title"}}`,
			`GET /admin/choice?of=setting_group`,
		},
		refused: []string{
			`POST /system/setting {"key":"x","title":"X","type":"input","group_id":1}`, `PUT /system/setting/1 {"title":"X"}`,
			`DELETE /system/setting/1`, `POST /system/setting-group {"key":"x","title":"X"}`, `GET /admin/list`, `GET /system/audit`,
		},
	},
	"auditor": {
		does: []string{
			`GET /system/audit`, `GET /system/audit-export`, `GET /system/loginlog`, `GET /system/session`, `GET /admin/list`, `GET /admin/role`,
			`GET /admin/rule`, `GET /admin/dept`, `GET /admin/key`, `GET /admin/permission/explain?user_id=USER&key=admin.list.query`,
			`GET /admin/permission/effective?user_id=USER`,
		},
		refused: []string{
			`PUT /admin/list/USER {"nickname":"x"}`, `DELETE /system/session/1`, `POST /system/audit/1/undo`, `PUT /admin/role/ROLE {"name":"x"}`,
			`DELETE /admin/key/1`, `GET /file/list`, `POST /admin/list {"username":"made"}`,
		},
	},
	"file_keeper": {
		does: []string{
			`GET /file/list`, `GET /file/list/FILE`, `PUT /file/list/FILE {"name":"b.txt"}`, `GET /file/list/FILE/content`, `POST /file/list/FILE/link {}`,
			`POST /file/group {"name":"Made"}`, `GET /file/group`, `DELETE /file/list/FILE`, `GET /file/trash`, `PUT /file/trash/FILE {}`,
		},
		refused: []string{
			`DELETE /file/trash/FILE`, `GET /admin/list`, `GET /system/setting`, `GET /system/audit`,
		},
	},
	"reader": {
		does: []string{
			`GET /admin/list`, `GET /admin/role`, `GET /admin/rule`, `GET /admin/dept`, `GET /user/list`, `GET /user/role`, `GET /user/rule`,
			`GET /file/list`, `GET /file/list/FILE/content`, `GET /file/group`, `GET /system/setting`, `GET /system/setting-group`, `GET /system/dict`,
			`GET /system/field`,
		},
		refused: nil, // every change: see below
	},
}

// TestPresets_DoTheirJobs gives each preset to a user, as the console creates its role, and performs
// what the name promises; what it does not promise is refused.
func TestPresets_DoTheirJobs(t *testing.T) {
	t.Parallel()
	if len(jobs) != len(rights.Presets) {
		t.Errorf("%d presets, %d jobs", len(rights.Presets), len(jobs))
	}
	for _, p := range rights.Presets {
		t.Run(p.Key, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			user := in.Member("ann", 0)
			file := in.Keep("owner", "a.txt", "a").ID
			var role struct{ ID store.ID }
			in.OK("POST", "/admin/role", fmt.Sprintf(`{"name":"Preset","data_scope":%q}`, p.DataScope), "owner").Data(&role)
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", role.ID),
				`{"permissions":`+string(servertest.EncodeJSON(t, p.Permissions))+`}`, "owner")
			in.Member("member", 0, role.ID)

			call := func(request string) *servertest.Reply {
				request = strings.NewReplacer("USER", fmt.Sprint(user), "ROLE", fmt.Sprint(role.ID),
					"FILE", fmt.Sprint(file)).Replace(request)
				method, rest, _ := strings.Cut(request, " ")
				path, body, _ := strings.Cut(rest, " ")
				return in.Call(method, path, body, "member")
			}
			for _, request := range jobs[p.Key].refused {
				if a := call(request); a.Code != 403 {
					t.Errorf("%s: %d, not 403: %.200s", request, a.Code, a.Body)
				}
			}
			for _, request := range jobs[p.Key].does {
				if a := call(request); a.Code != 200 {
					t.Errorf("%s: %d: %.200s", request, a.Code, a.Body)
				}
			}
		})
	}
}

// TestPresets_OfReadersChangeNothing goes over all operations that change something.
func TestPresets_OfReadersChangeNothing(t *testing.T) {
	t.Parallel()
	for _, p := range rights.Presets {
		if p.Key != "reader" && p.Key != "auditor" {
			continue
		}
		for _, rt := range server.Routes() {
			// A link to a file that the caller can download stores nothing.
			if rt.Method != "GET" && !rt.ReadOnly && rt.Path != "/file/list/:id/link" && slices.Contains(p.Permissions, rt.Access) {
				t.Errorf("%s: %s %s", p.Key, rt.Method, rt.Path)
			}
		}
	}
}

// TestRoleReach_CountsWhomMembersCanChange compares what is told of a role before it is saved with what
// its member can do afterwards, for every user; then with the remedy.
func TestRoleReach_CountsWhomMembersCanChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	wide := func(r *store.Role) { r.DataScope = store.ScopeAll }
	editor := in.Role("Editor", wide, "system.setting.save")
	in.Role("Unheld", wide, "system.setting.delete")
	desk := in.Role("Desk", wide, "admin.list.query", "admin.list.update", "admin.list.status")
	all := []store.ID{in.OwnID("owner"), in.Member("plain", 0), in.Member("ed", 0, editor), in.Member("edna", 0, editor, desk),
		in.Member("peer", 0, desk)}
	in.Member("desk", 0, desk)

	type answer struct {
		People, Beyond int
		Reasons        []struct {
			ID      store.ID
			Name    string
			Users   int
			Missing []string
			Remedy  int
		}
	}
	ask := func(give string) (a answer) {
		in.OK("POST", "/admin/role-reach", fmt.Sprintf(`{"id":%d,"permissions":["admin.list.query","admin.list.update","admin.list.status"],`+
			`"data_scope":"all","grant_role_ids":[%s]}`, desk, give), "owner").Data(&a)
		return a
	}
	refused := func() (n int) {
		for _, id := range all {
			if in.Call("PUT", fmt.Sprintf("/admin/list/%d", id), `{"nickname":"x"}`, "desk").Code == 403 {
				n++
			}
		}
		return n
	}

	a := ask("")
	if a.People != 6 || a.Beyond != 3 || a.Beyond != refused() || len(a.Reasons) != 2 {
		t.Errorf("without a remedy: %+v, and %d are refused", a, refused())
	}
	if r := a.Reasons[1]; r.Name != "Editor" || r.Users != 2 || !slices.Equal(r.Missing, []string{"system.setting.save"}) || r.Remedy != 1 {
		t.Errorf("the reason: %+v", r)
	}

	in.OK("PUT", fmt.Sprint("/admin/role/", desk), fmt.Sprintf(`{"grant_role_ids":[%d]}`, editor), "owner")
	if a = ask(fmt.Sprint(editor)); a.Beyond != 1 || a.Beyond != refused() {
		t.Errorf("with the remedy: %+v, and %d are refused", a, refused())
	}
	in.Call("POST", "/admin/role-reach", `{}`, "desk").Brief(403, "admin.role.query")
}
