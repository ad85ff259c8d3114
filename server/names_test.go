package server_test

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/names"
)

// unnamed are the input fields for IDs that have no twin for names, with the reason.
var unnamed = map[string]string{
	"query ids":    "selects records of the list itself",
	"query except": "selects records of the list itself",
	"query key_id": "names of API keys are not unique",

	"json id":         "names of passkeys are not unique",
	"query before":    "is a position in the change log",
	"query pageSize":  "is a number",
	"query from":      "is a position in the change log",
	"query to":        "is a position in the change log",
	"json from":       "is a position in the change log",
	"json until":      "is a position in the change log",
	"query version":   "a version has no name",
	"json version_id": "a version has no name",
	"query session":   "is made by the server, in a signed link",
}

// TestNames_EveryFieldOfIDs goes over the inputs of all operations: a field for the IDs of other
// records has a twin for their names, which is no field of the record.
func TestNames_EveryFieldOfIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rt := range server.Routes() {
		if rt.Input == nil {
			continue
		}
		fields := rt.Input.Fields
		for _, f := range fields { // and those of objects in them
			fields = append(fields[:len(fields):len(fields)], f.Fields...)
		}
		for _, f := range fields {
			ids := f.Typ == reflect.TypeFor[store.ID]() || f.Typ == reflect.TypeFor[[]store.ID]()
			at := f.From + " " + f.Name
			switch {
			case f.IDs != nil && (f.IDs.Names != f || fieldOf(rt.Output, f.Name)):
				t.Errorf("%s: the record has %s, too", rt.Name(), f.Name)
			case !ids || f.From == "path" || f.Names != nil:
			case unnamed[at] == "":
				t.Errorf("%s: %s takes no names", rt.Name(), at)
			default:
				seen[at] = true
			}
		}
	}

	for at := range unnamed {
		if !seen[at] {
			t.Errorf("no operation has %s", at)
		}
	}
}

// fieldOf reports whether a record has a JSON field, so that it is sent back with it.
func fieldOf(record reflect.Type, name string) bool {
	if !web.IsRecord(record) {
		return false
	}
	if record.Kind() == reflect.Pointer {
		record = record.Elem()
	}
	for _, f := range reflect.VisibleFields(record) {
		if f.Tag.Get("json") == name {
			return true
		}
	}
	return false
}

// nameByKind returns the name of a record of each kind.
var nameByKind = map[*names.Kind]func(tx *store.Tx, id store.ID) (string, error){
	names.Of("role"): func(tx *store.Tx, id store.ID) (string, error) {
		return store.PolicyCache.Get(tx).RoleName(id), nil
	},
	names.Of("department"): func(tx *store.Tx, id store.ID) (string, error) {
		return store.PolicyCache.Get(tx).DeptPath(id), nil
	},
	names.Of("app_role"): func(tx *store.Tx, id store.ID) (string, error) {
		return store.AppPolicyCache.Get(tx).RoleName(id), nil
	},
	names.Of("provider"): func(tx *store.Tx, id store.ID) (string, error) {
		p, err := store.Providers.Get(tx, id)
		if err != nil {
			return "", err
		}
		return p.Name, nil
	},
	names.Of("permission"): func(tx *store.Tx, id store.ID) (string, error) {
		p, err := store.Permissions.Get(tx, id)
		if err != nil {
			return "", err
		}
		return p.Key, nil
	},
	names.Of("app_permission"): func(tx *store.Tx, id store.ID) (string, error) {
		p, err := store.AppPermissions.Get(tx, id)
		if err != nil {
			return "", err
		}
		return p.Key, nil
	},
	names.Of("setting_group"): func(tx *store.Tx, id store.ID) (string, error) {
		g, err := store.SettingGroups.Get(tx, id)
		if err != nil {
			return "", err
		}
		return g.Key, nil
	},
	names.Of("file_group"): func(tx *store.Tx, id store.ID) (string, error) {
		g, err := store.FileGroups.Get(tx, id)
		if err != nil {
			return "", err
		}
		return g.Name, nil
	},
	names.Of("user"): func(tx *store.Tx, id store.ID) (string, error) {
		u, err := store.Users.Get(tx, id)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	},
	names.Of("app_user"): func(tx *store.Tx, id store.ID) (string, error) {
		u, err := store.AppUsers.Get(tx, id)
		if err != nil {
			return "", err
		}
		return u.Username, nil
	},
}

// namesOf returns the JSON value of a field for names that means the same as IDs.
func namesOf(in *servertest.Instance, f *web.Field, ids any) any {
	in.T.Helper()
	if list, several := ids.([]any); several {
		all := []any{}
		for _, id := range list {
			all = append(all, namesOf(in, f, id))
		}
		return all
	}

	id, name := store.ID(ids.(float64)), ""
	if id == 0 {
		return ""
	}
	in.View(func(tx *store.Tx) (err error) {
		name, err = nameByKind[f.Kind](tx, id)
		return err
	})
	if name == "" {
		in.T.Fatalf("%s %d has no name", f.IDs.Name, id)
	}
	return name
}

// eachNamed runs a test for every field of a body that takes names. object is a body that the
// operation accepts, with IDs.
func eachNamed(t *testing.T, test func(t *testing.T, rt *web.Route, f *web.Field, url string,
	object map[string]any)) {
	ran := 0
	for _, rt := range bodied() {
		good := goodBodies()[rt.Name()]
		for _, f := range rt.Input.Fields {
			if f.From != "json" || f.IDs == nil {
				continue
			}
			ran++
			t.Run(rt.Name()+" "+f.Name, func(t *testing.T) {
				object := servertest.DecodeObject(t, good.body)
				if rt.Path == "/auth/check" { // takes one of three
					object = map[string]any{f.IDs.Name: 1.0}
				}
				if object[f.IDs.Name] == 0.0 {
					object[f.IDs.Name] = 1.0
				}
				if list, is := object[f.IDs.Name].([]any); is && len(list) == 0 {
					object[f.IDs.Name] = []any{1.0}
					object["data_scope"] = "custom" // the others have no departments
				}
				test(t, &rt, f, good.url, object)
			})
		}
	}
	if ran < 20 {
		t.Errorf("only %d fields", ran)
	}
}

// stateWithout returns all records without some of their fields, which differ between instances.
func stateWithout(in *servertest.Instance, fields ...string) map[string]string {
	all := map[string]string{}
	for name, record := range in.State() {
		for _, field := range fields {
			delete(record, field)
		}
		all[name] = fmt.Sprintf("%s", record)
	}
	return all
}

// TestNames_SameAsIDs sends every body with IDs, and with names instead.
func TestNames_SameAsIDs(t *testing.T) {
	t.Parallel()
	eachNamed(t, func(t *testing.T, rt *web.Route, f *web.Field, url string,
		object map[string]any) {
		byID, byName := withGoodBodies(t), withGoodBodies(t)
		var want, got map[string]any
		byID.OK(rt.Method, url, string(servertest.EncodeJSON(t, object)), holder(rt)).Data(&want)
		object[f.Name] = namesOf(byName, f, object[f.IDs.Name])
		delete(object, f.IDs.Name)
		byName.OK(rt.Method, url, string(servertest.EncodeJSON(t, object)), holder(rt)).Data(&got)
		if !reflect.DeepEqual(got[f.IDs.Name], want[f.IDs.Name]) {
			t.Errorf("%s is %v, want %v", f.IDs.Name, got[f.IDs.Name], want[f.IDs.Name])
		}
		state := stateWithout(byName, "created_at", "key")
		for name, want := range stateWithout(byID, "created_at", "key") {
			if state[name] != want {
				t.Errorf("%s is %s, want %s", name, state[name], want)
			}
		}
	})
}

// TestNames_Faults sends invalid names.
func TestNames_Faults(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	before := in.Dump()
	eachNamed(t, func(t *testing.T, rt *web.Route, f *web.Field, url string,
		object map[string]any) {
		in := in.In(t)
		send := func(what string, value any, field, text string) {
			t.Helper()
			object[f.Name] = value
			a := in.Call(rt.Method, url, string(servertest.EncodeJSON(t, object)), holder(rt))
			if got := a.Envelope().Errors[field]; a.Code != 422 || !strings.Contains(got, text) {
				t.Errorf("%s: %d %s", what, a.Code, a.Body)
			}
		}
		good := namesOf(in, f, object[f.IDs.Name])
		send("both", good, f.Name, "conflicts with "+f.IDs.Name)
		delete(object, f.IDs.Name)
		const unknown = `"no such name" not found`
		if !f.List() {
			send("unknown", "no such name", f.Name, unknown)
			send("an ID", 1, f.Name, "must be a string")
			return
		}
		one := namesOf(in, f, 1.0)
		send("unknown", []any{one, "no such name"}, f.Name+"[1]", unknown)
		send("twice", []any{one, one}, f.Name+"[1]", "is given twice")
		send("an ID", []any{one, 1}, f.Name+"[1]", "must be a string")
		send("null", []any{nil}, f.Name+"[0]", "must")
		send("empty", []any{""}, f.Name+"[0]", "must not be empty")
		many := make([]any, *f.IDs.Max+1)
		for i := range many {
			many[i] = fmt.Sprint(i)
		}
		send("too many", many, f.Name, " entries")
		send("all unknown", many[1:], f.Name+"[0]", "not found")
	})
	in.Unchanged(before)
}

// TestNames_InQueries sends every parameter that takes a name.
func TestNames_InQueries(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	ran := 0
	for _, rt := range server.Routes() {
		if rt.Input == nil {
			continue
		}
		for _, f := range rt.Input.Fields {
			if f.From != "query" || f.IDs == nil {
				continue
			}
			ran++
			at := rt.Path + "?key=admin&"
			if !rt.Input.Has("query", "key") {
				at = rt.Path + "?"
			}
			name := url.QueryEscape(namesOf(in, f, 1.0).(string))
			want := in.OK(rt.Method, at+f.IDs.Name+"=1", "", holder(&rt)).Body
			got := in.OK(rt.Method, at+f.Name+"="+name, "", holder(&rt)).Body
			if got != want {
				t.Errorf("%s by %s: %s, want %s", rt.Name(), f.Name, got, want)
			}
			in.Call(rt.Method, at+f.Name+"=nothing", "", holder(&rt)).Names(422, f.Name)
			in.Call(rt.Method, at+f.Name+"=a%01", "", holder(&rt)).Names(400, f.Name)
			in.Call(rt.Method, at+f.Name+"="+name+"&"+f.IDs.Name+"=1", "",
				holder(&rt)).Names(400, f.Name)
			in.Call(rt.Method, rt.Path, "", holder(&rt)).Brief(400)
		}
	}
	if ran < 3 {
		t.Errorf("only %d parameters", ran)
	}
}

// TestNames_InForms uploads into a folder by its name.
func TestNames_InForms(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	file, name := servertest.FilePart("a.txt", "a text"), ""
	in.View(func(tx *store.Tx) (err error) {
		name, err = nameByKind[names.Of("file_group")](tx, 1)
		return err
	})
	group, id := servertest.FieldPart("group", name), servertest.FieldPart("group_id", "1")
	sendForm(in, "/file/list", group, file).Brief(200, `"group_id":1`)
	sendForm(in, "/file/list", file, group).Brief(200, `"group_id":1`)
	before := in.Dump()
	for _, parts := range [][]servertest.FormPart{{group, id, file}, {id, group, file},
		{id, file, group}} {
		if a := sendForm(in, "/file/list", parts...); a.Code != 400 ||
			!strings.Contains(a.Envelope().Msg, "conflicts with group") {
			t.Errorf("both: %d %s", a.Code, a.Body)
		}
	}
	sendForm(in, "/file/list", group, group, file).Names(400, "group")
	sendForm(in, "/file/list", servertest.FieldPart("group", "none"), file).Names(422, "group")
	sendForm(in, "/file/list", servertest.FieldPart("group", "a\nb"), file).Names(400, "group")
	in.Unchanged(before)
}

// TestNames_Required: either the IDs or the names are enough where one is required.
func TestNames_Required(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	in.Call("PUT", "/user/list/1/role", `{}`, "owner").Names(422, "role_ids")
	in.Call("PUT", "/user/list/1/role", `{"roles":null}`, "owner").Names(422, "roles")
	in.OK("PUT", "/user/list/1/role", `{"roles":[]}`, "owner").Brief(200, `"role_ids":[]`)
	role := ""
	in.View(func(tx *store.Tx) error {
		role = store.PolicyCache.Get(tx).RoleName(2)
		return nil
	})
	in.OK("PUT", "/admin/list/2", `{"department":"top","roles":["`+strings.ToUpper(role)+`"]}`,
		"owner").Brief(200, `"dept_id":1`, `"role_ids":[2]`)
	in.OK("PUT", "/admin/list/2", `{"department":null,"roles":null}`, "owner").Brief(200,
		`"dept_id":0`, `"role_ids":[]`)
	in.OK("PUT", "/admin/list/2", `{"department":"Top"}`, "owner").Brief(200, `"dept_id":1`)
	in.OK("PUT", "/admin/list/2", `{"department":""}`, "owner").Brief(200, `"dept_id":0`)
	in.Call("PUT", "/system/webhook/1", `{"owner":""}`, "owner").Names(422, "owner")
}

// TestNames_Candidates suggests similar names that the caller may read.
func TestNames_Candidates(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	in.Role("Support", nil)
	in.Role("Supporter", nil, "admin.rule.query")
	helper := in.Role("Helper", func(r *store.Role) { r.DataScope = "dept" },
		"admin.list.query", "admin.list.create", "admin.dept.create")
	in.Member("helper", 10, helper)
	for _, c := range []struct{ body, as, field, want string }{
		{`{"username":"new","roles":["Suppor"]}`, "owner", "roles[0]",
			`role "Suppor" not found; did you mean Support, Supporter?`},
		{`{"username":"new","roles":["Suppor"]}`, "helper", "roles[0]",
			`role "Suppor" not found; did you mean Support?`}, // can't give the other
		{`{"username":"new","roles":["Something else"]}`, "owner", "roles[0]",
			`role "Something else" not found`},
		{`{"username":"new","department":"D1/D1"}`, "owner", "department",
			`department "D1/D1" not found; did you mean D1/D10`},
		{`{"username":"new","department":"D1/D1"}`, "helper", "department",
			`department "D1/D1" not found`}, // D1 is out of scope
	} {
		a := in.Call("POST", "/admin/list", c.body, c.as)
		if got := a.Envelope().Errors[c.field]; a.Code != 422 || !strings.HasPrefix(got, c.want) ||
			!strings.Contains(c.want, "mean") && got != c.want {
			t.Errorf("%s as %s: %d %s", c.body, c.as, a.Code, a.Body)
		}
	}
}

// TestNames_OfDepartments: paths with escapes, equal siblings, and codes.
func TestNames_OfDepartments(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	top := in.Dept(`R/D \ lab`, 0)
	sharp := in.Dept("#sales", top)
	one, two := in.Dept("Twin", 0), in.Dept("Twin", 0)
	child := in.Dept("Child", two)
	in.OK("PUT", fmt.Sprint("/admin/dept/", sharp), `{"code":"sales-eu"}`, "owner")
	ann := in.Member("ann", 0)
	move := func(name string) *servertest.Reply {
		return in.Call("PUT", fmt.Sprint("/admin/list/", ann),
			string(servertest.EncodeJSON(t, map[string]any{"department": name})), "owner")
	}
	goes := func(name string, dept store.ID) {
		t.Helper()
		move(name).Brief(200, fmt.Sprintf(`"dept_id":%d,`, dept))
	}
	fails := func(name, want string) {
		t.Helper()
		a := move(name)
		if got := a.Envelope().Errors["department"]; a.Code != 422 || got != want {
			t.Errorf("%s: %d %s, want %s", name, a.Code, got, want)
		}
	}

	goes(`R\/D \\ lab`, top)
	goes(`r\/d \\ LAB`, top)
	goes(`R\/D \\ lab/\#sales`, sharp)
	goes(`#sales-eu`, sharp)
	goes(`Twin/Child`, child)
	fails(`#sales-e`, `department "#sales-e" not found; did you mean #sales-eu?`)
	fails(`#Sales-EU`, `department "#Sales-EU" not found; did you mean #sales-eu?`)
	fails(`Twin`, `2 departments are named "Twin"; give them codes, and use those`)
	in.OK("PUT", fmt.Sprint("/admin/dept/", two), `{"code":"twin-2"}`, "owner")
	fails(`Twin`, `2 departments are named "Twin"; use a code: #twin-2`)
	goes(`#twin-2`, two)
	csv := in.OK("GET", "/admin/list-export", "", "owner").Body
	if !strings.Contains(csv, ",#twin-2,") {
		t.Errorf("the export has no code of a department without a path of its own: %s", csv)
	}
	in.OK("DELETE", fmt.Sprint("/admin/dept/", one), "", "owner")
	goes(`Twin`, two)

	created, failed, rows := in.Imported("username,department\nbob,#sales-eu\n" +
		`carl,R\/D \\ lab/\#sales` + "\ndave,#none\n")
	if created != 0 || failed != 1 {
		t.Errorf("%d imported, %d failed: %v", created, failed, rows)
	}
}

// unnamedFilters are the columns of IDs that no parameter for names goes with, with the reason.
var unnamedFilters = map[string]string{
	"GET /system/loginlog user_id": "is of a user or an app user",
}

// TestNames_FilterLists goes over all lists: a filter by the ID of a record has a twin that takes
// its name and finds the same.
func TestNames_FilterLists(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	ran, found := 0, 0
	for _, rt := range server.Routes() {
		if rt.List == nil || rt.Binary != "" {
			continue
		}
		twins := map[string]string{}
		for _, c := range rt.List.Columns {
			twins[c.IDs] = c.Name
		}
		for _, c := range rt.List.Columns {
			if !c.Number || c.Uses&web.Param == 0 || !strings.HasSuffix(c.Name, "_id") {
				continue
			}
			twin := rt.List.Column(twins[c.Name], web.Param)
			if twin == nil {
				monitored := strings.HasPrefix(rt.Path, "/system/monitor/") // events have usernames of their own
				if unnamedFilters[rt.Name()+" "+c.Name] == "" && !monitored {
					t.Errorf("%s: the filter %s takes no names", rt.Name(), c.Name)
				}
				continue
			}

			ran++
			name := ""
			in.View(func(tx *store.Tx) (err error) {
				name, err = nameByKind[twin.Kind](tx, 1)
				return err
			})
			at := func(query string) string {
				return in.OK("GET", rt.Path+"?"+query, "", holder(&rt)).Body
			}
			want := at(c.Name + "=1")
			object := string(servertest.EncodeJSON(t, map[string]any{twin.Name: []string{name}}))
			for _, query := range []string{twin.Name + "=" + url.QueryEscape(name),
				"filter=" + url.QueryEscape(object)} {
				if got := at(query); got != want {
					t.Errorf("%s?%s: %s, want %s", rt.Path, query, got, want)
				}
			}
			if !strings.Contains(want, `"total":0`) {
				found++
			}
			if got := at(twin.Name + "=nothing"); !strings.Contains(got, `"total":0`) {
				t.Errorf("%s: %s without a record: %s", rt.Path, twin.Name, got)
			}
		}
	}
	if ran < 10 || found < 5 {
		t.Errorf("only %d filters, of which %d find something", ran, found)
	}
}

// TestNames_FilterDepartments: a path selects all departments with it, in the caller's data scope.
func TestNames_FilterDepartments(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	role := in.Role("Reader", func(r *store.Role) { r.DataScope = "dept_tree" }, "admin.list.query")
	in.Member("reader", 10, role)
	twin := in.Dept("D2", 0)
	in.Member("twin", twin)
	in.Lists("/admin/list?department=D1%2FD10", "username", "owner", "in.10", "in.100", "in.101", "reader")
	in.Lists("/admin/list?department=D2", "username", "owner", "in.2", "twin")
	in.Lists("/admin/list?department=D1%2FD10%2FD100", "username", "reader", "in.100", "in.101")
	in.Lists("/admin/list?department=D2", "username", "reader")
	in.Lists("/admin/list?role=Reader", "username", "reader", "reader") // whose name the list shows
	in.OK("PUT", "/admin/list?all=1&department=D2", `{"status":0}`, "owner").Brief(200, `"count":2`)
	in.OK("PUT", "/admin/list?all=1&department=D7777", `{"status":0}`, "owner").Brief(200, `"count":0`)
}

// TestNames_InObjects gives names in objects of a list.
func TestNames_InObjects(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	role, dept := in.Create("/admin/role", `{"name":"Support"}`), in.Create("/admin/dept", `{"name":"Sales"}`)
	body := func(mappings string) string {
		return `{"name":"corp","title":"Corp","kind":"keycloak","issuer":"https://id.example.org","client_id":"x","users":1,"mappings":` + mappings + `}`
	}
	if r := in.Call("POST", "/system/provider", body(`[{"claim":"a","value":"x","roles":["Suport"]}]`), "owner"); r.Code != 422 ||
		!strings.Contains(r.Body, "mappings[0].roles") || !strings.Contains(r.Body, "Support") {
		t.Errorf("an unknown name: %d %s", r.Code, r.Body)
	}
	if r := in.Call("POST", "/system/provider", body(`[{"claim":"a","value":"x","roles":["Support"],"role_ids":[1]}]`), "owner"); r.Code != 422 {
		t.Errorf("both: %d %s", r.Code, r.Body)
	}
	var made store.Provider
	in.OK("POST", "/system/provider", body(`[{"claim":"a","value":"x"},{"claim":"a","value":"y","roles":["Support"],"department":"Sales"}]`), "owner").Data(&made)
	if m := made.Mappings; len(m) != 2 || len(m[0].RoleIDs) > 0 || len(m[1].RoleIDs) != 1 || uint64(m[1].RoleIDs[0]) != role || uint64(m[1].DeptID) != dept {
		t.Errorf("%+v", m)
	}
}
