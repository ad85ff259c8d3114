package choices_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/choices"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// try is a request that uses an ID as an operation's field: the URL, and the body.
type try func(id store.ID) (url, body string)

// tries are requests that the API accepts if it accepts the ID, for each operation that changes
// something, by picker and operation. Names that are unique contain the ID.
func tries(w *world) map[string]try {
	at := func(url, body string) try {
		return func(id store.ID) (string, string) {
			n := w.n()
			return url, strings.NewReplacer("ID", fmt.Sprint(id), "N", fmt.Sprint(n), "DEPT", fmt.Sprint(w.mine)).
				Replace(body)
		}
	}
	user, role, key, ownKey := fmt.Sprint("/admin/list/", w.user), fmt.Sprint("/admin/role/", w.role),
		fmt.Sprint("/admin/key/", w.key), fmt.Sprint("/admin/account/key/", w.ownKey)
	customer, appRole := fmt.Sprint("/user/list/", w.customer), fmt.Sprint("/user/role/", w.appRole)
	file, setting := fmt.Sprint("/file/list/", w.file), fmt.Sprint("/system/setting/", w.setting)
	return map[string]try{
		"role POST /admin/list":                  at("/admin/list", `{"username":"made-N","dept_id":DEPT,"role_ids":[ID]}`),
		"role PUT /admin/list/:id":               at(user, `{"role_ids":[ID]}`),
		"role PUT /admin/list":                   at("/admin/list?ids="+fmt.Sprint(w.user), `{"role_ids":[ID]}`),
		"role POST /admin/key":                   at("/admin/key", `{"name":"made-N","role_ids":[ID]}`),
		"role PUT /admin/key/:id":                at(key, `{"role_ids":[ID]}`),
		"grant_role POST /admin/role":            at("/admin/role", `{"name":"made-N","grant_role_ids":[ID]}`),
		"grant_role PUT /admin/role/:id":         at(role, `{"grant_role_ids":[ID]}`),
		"dept POST /admin/list":                  at("/admin/list", `{"username":"made-N","dept_id":ID}`),
		"dept PUT /admin/list/:id":               at(user, `{"dept_id":ID}`),
		"dept PUT /admin/list":                   at("/admin/list?ids="+fmt.Sprint(w.user), `{"dept_id":ID}`),
		"dept POST /admin/role":                  at("/admin/role", `{"name":"made-N","data_scope":"custom","dept_ids":[ID]}`),
		"dept PUT /admin/role/:id":               at(role, `{"data_scope":"custom","dept_ids":[ID]}`),
		"dept POST /admin/key":                   at("/admin/key", fmt.Sprintf(`{"name":"made-N","role_ids":[%d],"data_scope":"custom","dept_ids":[ID]}`, w.role)),
		"dept PUT /admin/key/:id":                at(key, `{"data_scope":"custom","dept_ids":[ID]}`),
		"dept POST /admin/account/key":           at("/admin/account/key", `{"name":"made-N","data_scope":"custom","dept_ids":[ID]}`),
		"dept PUT /admin/account/key/:id":        at(ownKey, `{"data_scope":"custom","dept_ids":[ID]}`),
		"permission PUT /admin/role/:id/rule":    at(role+"/rule", `{"rule_ids":[ID]}`),
		"app_role POST /user/list":               at("/user/list", `{"username":"made-N","role_ids":[ID]}`),
		"app_role PUT /user/list/:id":            at(customer, `{"role_ids":[ID]}`),
		"app_role PUT /user/list/:id/role":       at(customer+"/role", `{"role_ids":[ID]}`),
		"app_permission PUT /user/role/:id/rule": at(appRole+"/rule", `{"rule_ids":[ID]}`),
		"file_group POST /file/list":             at("/file/list", "ID"),
		"file_group PUT /file/list":              at("/file/list?ids="+fmt.Sprint(w.file), `{"group_id":ID}`),
		"file_group PUT /file/list/:id":          at(file, `{"group_id":ID}`),
		"setting_group POST /system/setting":     at("/system/setting", `{"key":"made_N","title":"Made","type":"input","group_id":ID}`),
		"setting_group PUT /system/setting/:id":  at(setting, `{"group_id":ID}`),
		"user POST /system/monitor/trace":        at("/system/monitor/trace", `{"minutes":1,"user_id":ID}`),
	}
}

// elsewhere are fields that choose from a list of their own, with the reason.
var elsewhere = map[string]string{
	"role POST /admin/account/key":    "from the caller's own roles, which the profile has",
	"user PUT /system/webhook/:id":    "the caller alone",
	"role PUT /admin/account/key/:id": "from the caller's own roles, which the profile has",

	"permission POST /admin/role-reach": "those of the role form: the operation only calculates",
	"dept POST /admin/role-reach":       "those of the role form",
	"grant_role POST /admin/role-reach": "those of the role form",
}

// needs are the permissions that an operation demands besides the one of its route.
var needs = map[string][]string{
	"PUT /admin/list": {"admin.list.update"},
}

// readers are, by picker, the paths that return one record to callers who may read it.
var (
	readers = map[string]string{
		"user": "/admin/list/", "app_user": "/user/list/", "filter_role": "/admin/role/",
		"dept": "/admin/dept/", "app_role": "/user/role/", "file_group": "/file/group/",
		"setting_group": "/system/setting-group/",
	}
	readable = map[string]string{
		"user": "admin.list.query", "app_user": "user.list.query", "filter_role": "admin.role.query",
		"dept": "admin.dept.query", "app_role": "user.role.query", "file_group": "file.group.query",
		"setting_group": "system.setting.group.query",
	}
)

// world is an instance with records in and out of the data scope of one caller.
type world struct {
	in                  *servertest.Instance
	desk                store.ID // the caller's role
	mine                store.ID // the caller's department
	user, role          store.ID
	key, ownKey         store.ID // owned by the caller
	customer, appRole   store.ID
	file, setting, last store.ID
}

func (w *world) n() store.ID { w.last++; return w.last }

func furnished(t *testing.T) *world {
	in := servertest.Start(t)
	w := &world{in: in, mine: in.Dept("Mine", 0)}
	below, beside := in.Dept("Below", w.mine), in.Dept("Beside", 0)
	files := in.Role("Files", nil, "file.list.query")
	in.Role("Settings", nil, "system.setting.query")
	w.role = in.Role("Empty", nil)
	in.Member("in", w.mine, files)
	in.Member("under", below)
	in.Member("out", beside, files)
	w.user = in.Member("target", w.mine)
	w.customer = in.Customer("customer").ID
	in.Customer("other-customer")
	w.appRole = in.Made("/user/role", `{"name":"Guest"}`)
	in.Made("/user/role", `{"name":"Member"}`)
	in.Made("/user/rule", `{"name":"Read","key":"app.doc.read"}`)
	in.Made("/file/group", `{"name":"Pictures"}`)
	group := in.Made("/system/setting-group", `{"key":"shop","title":"Shop"}`)
	in.Made("/system/setting-group", `{"key":"other","title":"Other"}`)
	w.setting = in.Made("/system/setting",
		fmt.Sprintf(`{"key":"own","title":"Own","type":"input","group_id":%d}`, group))

	w.desk = in.Role("Desk", func(r *store.Role) {
		r.DataScope, r.GrantRoleIDs = store.ScopeTree, []store.ID{files}
	}, "admin.key.create", "file.list.create")
	in.Member("caller", w.mine, w.desk)
	w.file = in.Keep("caller", "a.txt", "a").ID
	var made struct{ ID store.ID }
	in.OK("POST", "/admin/key", fmt.Sprintf(`{"name":"key","role_ids":[%d]}`, w.role), "caller").
		Data(&made)
	w.key = made.ID
	in.OK("POST", "/admin/account/key", `{"name":"own"}`, "caller").Data(&made)
	w.ownKey = made.ID
	return w
}

// allow gives the caller these permissions and no others.
func (w *world) allow(keys ...string) {
	var ids []store.ID
	for _, key := range keys {
		if key != web.SignedIn {
			ids = append(ids, w.in.Permission(key))
		}
	}
	w.in.Update(func(tx *store.Tx) error {
		_, err := store.Roles.Update(tx, w.desk, func(r *store.Role) error {
			r.RuleIDs = ids
			return nil
		})
		return err
	})
}

// accepts reports whether an operation accepts an ID, or, of a list, whether callers who may read
// such records can read this one.
func (w *world) accepts(t *testing.T, p *choices.Picker, rt *web.Route, id store.ID) bool {
	name := p.Name + " " + rt.Method + " " + rt.Path
	as := "caller"
	request, ok := tries(w)[name]
	if !ok {
		if rt.Method != "GET" && !rt.ReadOnly {
			t.Fatalf("%s: what is a request?", name)
		}
		if p.Name == "app_user" && strings.HasPrefix(rt.Path, "/system/") {
			return false // they show app users only with the data scope all
		}
		path := readers[p.Name]
		w.allow(rt.Access, readable[p.Name])
		defer w.allow(rt.Access)
		return w.in.Call("GET", fmt.Sprint(path, id), "", as).Code == 200
	}

	url, body := request(id)
	var answer *servertest.Reply
	if rt.Method == "POST" && rt.Path == "/file/list" {
		answer = w.in.Posts(as, servertest.FieldPart("group_id", body), servertest.FilePart("n.txt", "n"))
	} else {
		answer = w.in.Call(rt.Method, url, body, as)
	}
	switch answer.Code {
	case 200:
		return true
	case 403, 404, 409, 422:
		return false
	}
	t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
	return false
}

// idsOf returns the IDs of all records that a picker is about.
func idsOf(w *world, picker string) (ids []store.ID) {
	table := map[string]kv.Table{
		"role": store.Roles, "grant_role": store.Roles, "filter_role": store.Roles,
		"dept": store.Depts, "permission": store.Permissions, "user": store.Users,
		"app_user": store.AppUsers, "app_role": store.AppRoles,
		"app_permission": store.AppPermissions, "file_group": store.FileGroups,
		"setting_group": store.SettingGroups,
	}[picker]
	w.in.View(func(tx *store.Tx) error {
		for v, err := range table.Records(tx) {
			servertest.Must(w.in.T, err)
			ids = append(ids, idIn(w.in.T, v))
		}
		return nil
	})
	return ids
}

func idIn(t testing.TB, v any) store.ID {
	var of struct{ ID store.ID }
	servertest.Must(t, json.Unmarshal(servertest.EncodeJSON(t, v), &of))
	return of.ID
}

type node struct {
	ID       store.ID
	Children []node
}

// offered returns the IDs that a picker offers.
func offered(in *servertest.Instance, picker, as string) map[store.ID]bool {
	var answer struct{ Data []node }
	in.OK("GET", "/admin/choice?of="+picker, "", as).Data(&answer)
	ids := map[store.ID]bool{}
	var add func([]node)
	add = func(nodes []node) {
		for _, n := range nodes {
			ids[n.ID] = true
			add(n.Children)
		}
	}
	add(answer.Data)
	return ids
}

// TestPickers_OfferWhatTheOperationAccepts goes over all operations that take the ID of another
// record. A caller who has the permission for the operation, and no other, is offered the records
// that the operation accepts, and none that it refuses. Lists accept every ID: there, the choices
// are the records that callers with the same data scope may read.
func TestPickers_OfferWhatTheOperationAccepts(t *testing.T) {
	t.Parallel()
	w, used := furnished(t), map[string]bool{}
	for _, p := range choices.Pickers {
		for _, rt := range server.Routes() {
			field := p.Takes(&rt)
			if field == "" || field == "values" {
				continue // the rules of flags: see TestChoices_RulesOfFlags
			}
			name := p.Name + " " + rt.Method + " " + rt.Path
			if used[name] = true; elsewhere[name] != "" {
				continue
			}

			w.allow(append(needs[rt.Method+" "+rt.Path], rt.Access)...)
			want, got := map[store.ID]bool{}, offered(w.in, p.Name, "caller")
			for _, id := range idsOf(w, p.Name) {
				if w.accepts(t, &p, &rt, id) {
					want[id] = true
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s: offers %v, the API accepts %v", name, slices.Sorted(maps.Keys(got)),
					slices.Sorted(maps.Keys(want)))
			}
		}
	}
	for name := range elsewhere {
		if !used[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
