package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// Rules for all records that are changed by PUT.

// wholeRecord is a record for an operation: the URL to read it, the URL to send it to, and
// fields to change.
type wholeRecord struct{ name, read, url, change string }

var wholeRecords = sync.OnceValue(func() []wholeRecord {
	return withSimpleRecords([]wholeRecord{
		{"a setting", "/system/setting/1", "/system/setting/1", `"sort":77`},
		{"a setting with options", servertest.OwnSetting(1), servertest.OwnSetting(1), `"sort":77`},
		{"a secret without a value", servertest.OwnSetting(2), servertest.OwnSetting(2),
			`"sort":77`},
		{"a secret", servertest.OwnSetting(3), servertest.OwnSetting(3), `"sort":77`},
		{"a setting group", "/system/setting-group/2", "/system/setting-group/2", `"remark":"x"`},
		{"a permission", "/admin/rule-node/1", "/admin/rule/1", `"sort":77`},
		{"a permission with all below it", "/admin/rule", "/admin/rule/1", `"sort":77`},
		{"a permission to be shown", "/admin/rule", "/admin/rule/1/show", `"show":0`},
		{"a permission to be enabled", "/admin/rule", "/admin/rule/1/status", `"status":0`},
		{"one's own passkey", "/admin/account/passkey/1", "/admin/account/passkey/1", `"name":"x"`},
		{"an app user's own passkey", "/api/user/passkey/2", "/api/user/passkey/2", `"name":"x"`},
		{"one's own device", "/admin/account/device/1", "/admin/account/device/1", `"name":"x"`},
		{"a view to be shared", "/admin/view/1", "/admin/view/1/share", `"shared":1`},
		{"one's own account", "/admin/info", "/admin/info", `"nickname":"x"`},
		{"a user", "/admin/list/2", "/admin/list/2", `"nickname":"x"`},
		{"a user to be enabled", "/admin/list/2", "/admin/list/2/status", `"status":0`},
		{"a role", "/admin/role/3", "/admin/role/3", `"sort":77`},
		{"a role to be granted", "/admin/role/3", "/admin/role/3/rule", `"rule_ids":[3]`},
		{"an app role", "/user/role/1", "/user/role/1", `"sort":77`},
		{"an app role to be granted", "/user/role/1", "/user/role/1/rule", `"rule_ids":[1]`},
		{"an app permission", "/user/rule/2", "/user/rule/2", `"sort":77`},
		{"an app permission with all below it", "/user/rule", "/user/rule/1", `"sort":77`},
		{"an app permission to be enabled", "/user/rule/2", "/user/rule/2/status", `"status":0`},
		{"a department", "/admin/dept/2", "/admin/dept/2", `"sort":77`},
		{"a department with all below it", "/admin/dept", "/admin/dept/1", `"sort":77`},
		{"a file", "/file/list/1", "/file/list/1", `"public":0`},
		{"a dictionary item", "/system/dict/1/item", "/system/dict/1/item/1", `"switch":1`},
		{"an app user", "/user/list/1", "/user/list/1", `"nickname":"x"`},
		{"an app user to be given roles", "/user/list/1", "/user/list/1/role", `"role_ids":[1]`},
		{"an app user to be enabled", "/user/list/1", "/user/list/1/status", `"status":0`},
		{"one's own app user", "/api/user", "/api/user", `"nickname":"x"`},
	})
})

// userOfURL returns the user who requests a URL in these tests.
func userOfURL(url string) string {
	if strings.HasPrefix(url, "/api/") {
		return "customer"
	}
	return "owner"
}

// withRecords returns an instance with all wholeRecords.
func withRecords(t testing.TB) *servertest.Instance {
	t.Helper()
	return withWholeRecords.Clone(t)
}

var withWholeRecords = &servertest.Fixture{Prepare: prepareRecords}

func prepareRecords(in *servertest.Instance) {
	in.Create("/system/setting",
		`{"key":"k","title":"T","type":"radio","values":"a","options":`+servertest.TwoOptions+`,"props":[{"name":"width","value":"1"}],"group_id":1}`)
	in.Create("/system/setting", `{"key":"empty","title":"T","type":"secret","group_id":2}`)
	in.Create("/system/setting",
		`{"key":"full","title":"T","type":"secret","values":"x","group_id":2}`)
	in.AddPasskey(servertest.NewAuthenticator(), "Laptop", "owner")
	plantDevice(in, "good")
	in.Clerk("clerk", "admin.role.query")
	in.Create("/admin/dept", `{"name":"Top"}`)
	in.Create("/admin/dept",
		`{"parent_id":1,"name":"Below","code":"below","leader":"L","phone":"123456","email":"d@example.org","sort":3}`)
	in.Create("/admin/role",
		`{"name":"R","description":"d","sort":5,"data_scope":"custom","dept_ids":[2,1],"grant_role_ids":[2]}`)
	in.OK("PUT", "/admin/role/3/rule", `{"rule_ids":[5,3]}`, "owner")
	in.OK("PUT", "/admin/list/2",
		`{"dept_id":2,"role_ids":[3,2],"nickname":"N","email":"n@example.org","mobile":"+491234","sex":2}`, "owner")
	in.AppUser("customer")
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":true}}`, "owner")
	in.AddAppPasskey(servertest.NewAuthenticator(), "customer")
	in.CreateAppRole()
	in.OK("PUT", "/user/role/1/rule", `{"rule_ids":[2,1]}`, "owner")
	createSimple(in)
	in.Create("/system/dict/1/item",
		`{"label":"Red","value":"red","sort":-3,"switch":0,"status":"error"}`)
	in.Keep("owner", "a.txt", "text", servertest.FieldPart("group_id", "1"),
		servertest.FieldPart("public", "1"))
	in.Keep("owner", "b.txt", "text")
	in.OK("DELETE", "/file/list/2", "", "owner")
}

func read(in *servertest.Instance, url string) []byte {
	in.T.Helper()
	data := servertest.Record(in.OK("GET", url, "", userOfURL(url)))
	var outer struct {
		Data []map[string]json.RawMessage
		Info json.RawMessage
	}
	servertest.Must(in.T, json.Unmarshal(data, &outer))
	switch {
	case outer.Info != nil:
		return outer.Info
	case outer.Data != nil:
		return servertest.EncodeJSON(in.T, outer.Data[0])
	}
	return data
}

// A record can be sent back as it was read. Nothing changes then, not even updated_at.
func TestRecord_SentBackChangesNothing(t *testing.T) {
	t.Parallel()
	for _, r := range wholeRecords() {
		t.Run(r.name, func(t *testing.T) {
			in := withRecords(t)
			whole := read(in, r.read)
			before := in.Dump()
			a := in.OK("PUT", r.url, string(whole), userOfURL(r.url))
			want := servertest.DecodeObject(t, string(whole))
			delete(want, "children") // children are separate records
			if got := servertest.Record(a); !servertest.SameJSON(t, string(got),
				string(servertest.EncodeJSON(t, want))) {
				t.Errorf("sent %s\ngot  %s", whole, got)
			}
			in.Unchanged(before)
		})
	}
}

// TestRecord_EveryRouteIsTested: the routes that, by the route table, accept a
// record.
func TestRecord_EveryRouteIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{
		"/file/trash/{id}":                     true, // changes the record that is sent, see the next test
		"/file/list/{id}/version/{version_id}": true, // likewise, see files.TestVersion
	}
	for _, r := range wholeRecords() {
		path, _ := servertest.FindOperation("PUT", r.url)
		tested[path] = true
	}
	for _, rt := range server.Routes() {
		if rt.Method == "PUT" && rt.Input.ReadOnly != nil &&
			!tested[openapi.DocumentPath(rt.Path)] {
			t.Errorf("%s: add a record to wholeRecords in server/record_test.go, or its resource to simpleResources in server/simple_test.go", rt.Name())
		}
	}
}

// TestRecord_TreesAndTrashSentBack: records that are read at another URL than they
// are written.
func TestRecord_TreesAndTrashSentBack(t *testing.T) {
	t.Parallel()
	in := withRecords(t)
	before := in.Dump()
	var info struct{ Menus []json.RawMessage }
	in.OK("GET", "/admin/info", "", "owner").Data(&info)
	in.OK("PUT", "/admin/rule/1", string(read(in, "/admin/rule/parent")), "owner")
	in.OK("PUT", "/admin/rule/"+ident(info.Menus[0]).String(), string(info.Menus[0]), "owner")
	in.Unchanged(before)
	trashed := string(read(in, "/file/trash"))
	in.Call("PUT", "/file/trash/2",
		strings.Replace(trashed, `"updated_at":"2`, `"updated_at":"1`, 1), "owner").Brief(409,
		"stale")
	in.Unchanged(before)
	in.OK("PUT", "/file/trash/2", trashed, "owner").Brief(200, `"id":2,`)
	in.OK("GET", "/file/list/2", "", "owner")
	for _, url := range []string{servertest.OwnSetting(1), "/system/dict/1", "/admin/role/3",
		"/admin/list/2"} {
		in.Call("PUT", url, `{"children":[]}`, "owner").Names(400, "children")
	}
}

// TestRecord_DeepestTreeSentBack sends the tree back from its root.
func TestRecord_DeepestTreeSentBack(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for i := range kv.MaxDepth {
		in.Dept(fmt.Sprint("level ", i), store.ID(i))
	}
	before := in.Dump()
	in.OK("PUT", "/admin/dept/1", string(read(in, "/admin/dept")), "owner")
	in.Unchanged(before)
}

// TestRecord_CreatedFromRead sends a record back to create it, with its read-only fields and
// children.
func TestRecord_CreatedFromRead(t *testing.T) {
	t.Parallel()
	for _, rt := range server.Routes() {
		if rt.Method != "POST" || rt.Input.ReadOnly == nil || !hasGoodBody(&rt) ||
			strings.HasPrefix(rt.Path, "/system/monitor") ||
			strings.Contains(rt.Path, "webhook/:id/") || strings.HasSuffix(rt.Path, "/rotate") || strings.HasSuffix(rt.Path, "/default") ||
			strings.HasSuffix(rt.Path, "/passkey") || rt.Path == "/system/file-move" {
			continue
		}
		t.Run(rt.Path, func(t *testing.T) {
			good, ok := goodBodies()[rt.Name()]
			if !ok {
				t.Skip("TestBody_ValidFields says what is missing")
			}

			in := withGoodBodies(t)
			whole := servertest.DecodeObject(t,
				string(servertest.Record(in.OK("POST", good.url, good.body, "owner"))))
			in.OK("DELETE", fmt.Sprintf("%s/%v", good.url, whole["id"]), "", "owner")
			if whole["parent_id"] != nil {
				whole["children"] = []any{servertest.DecodeObject(t, good.body)}
			}

			again := servertest.DecodeObject(t,
				string(servertest.Record(in.OK("POST", good.url,
					string(servertest.EncodeJSON(t, whole)), "owner"))))
			for _, name := range []string{"id", "created_at", "updated_at", "children", "password",
				"must_change_password", "seq", "hint", "token", "has_secret"} {
				delete(whole, name)
				delete(again, name)
			}

			if !servertest.SameJSON(t, string(servertest.EncodeJSON(t, again)),
				string(servertest.EncodeJSON(t, whole))) {
				t.Errorf("sent %v\ngot  %v", whole, again)
			}
		})
	}
}

func TestPermission_Get(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "admin.rule.update")
	in.Clerk("reader", "admin.rule.query")
	a := in.OK("GET", "/admin/rule-node/1", "", "reader")
	if whole := servertest.DecodeObject(t, string(read(in, "/admin/rule"))); !servertest.SameJSON(t, string(servertest.EncodeJSON(t, func() any {
		delete(whole, "children")
		return whole
	}())), string(servertest.Record(a))) {
		t.Errorf("%s", a.Body)
	}

	servertest.RunCases(t, in, []servertest.Case{
		{"an action", "GET", "/admin/rule-node/" + in.Permission("admin.rule.query").String(), "",
			"owner", 200, []string{`"key":"admin.rule.query"`, `"type":2`}, []string{"children"}},
		{"one that is not there", "GET", "/admin/rule-node/9999", "", "owner", 404,
			[]string{`"errorCode":"not_found"`}, nil},
		{"no id", "GET", "/admin/rule-node/x", "", "owner", 400, []string{`"id":`}, nil},
		{"without the permission", "GET", "/admin/rule-node/1", "", "clerk", 403,
			[]string{"admin.rule.query"}, nil},
	})
}

func TestRecord_ReadOnlyFieldsIgnored(t *testing.T) {
	t.Parallel()
	in := withRecords(t)
	before := in.Dump()
	readOnly := `"id":77,"created_at":"1999-01-01T00:00:00.000000Z"`
	in.OK("PUT", servertest.OwnSetting(1), `{`+readOnly+`}`, "owner").Brief(200,
		fmt.Sprintf(`"id":%d,`, len(store.Builtins)+1))
	in.OK("PUT", "/system/setting-group/2", `{`+readOnly+`}`, "owner").Brief(200, `"id":2,`)
	in.OK("PUT", "/admin/rule/1", `{`+readOnly+`}`, "owner").Brief(200, `"id":1,`)
	in.OK("PUT", "/admin/info",
		`{`+readOnly+`,"username":"root","role_ids":[1,2,3],"status":0,"must_change_password":1,"login_ip":"x"}`, "owner").Brief(200, `"id":1,"username":"admin"`)
	in.Unchanged(before)
	in.OK("POST", "/system/setting-group",
		`{"key":"new","title":"N",`+readOnly+`,"updated_at":"1999-01-01T00:00:00.000000Z"}`,
		"owner").Brief(200, `"id":8,`)
	if strings.Contains(in.OK("GET", "/system/setting-group/8", "", "owner").Body, "1999") {
		t.Error("the moments of a new record can be chosen")
	}
}

func TestRecord_StaleIsNotWritten(t *testing.T) {
	t.Parallel()
	for _, r := range wholeRecords() {
		t.Run(r.name, func(t *testing.T) {
			in := withRecords(t)
			var stamps struct {
				UpdatedAt string `json:"updated_at"`
			}
			servertest.Must(t, json.Unmarshal(read(in, r.read), &stamps))
			body := fmt.Sprintf(`{%s,"updated_at":%q}`, r.change, stamps.UpdatedAt)
			in.OK("PUT", r.url, body, userOfURL(r.url))
			before := in.Dump()
			for _, old := range []string{stamps.UpdatedAt, "1999-01-01T00:00:00Z",
				"2999-01-01T00:00:00.000000+02:00"} {
				a := in.Call("PUT", r.url, fmt.Sprintf(`{%s,"updated_at":%q}`, r.change, old),
					userOfURL(r.url))
				if e := a.Envelope(); a.Code != 409 || e.ErrorCode != "stale" ||
					e.Errors["updated_at"] == "" || e.ShowType != 2 {
					t.Errorf("%s: %d %s", old, a.Code, a.Body)
				}
			}

			for _, bad := range []string{`"yesterday"`, `""`, `null`, `1746673445`, `{}`} {
				in.Call("PUT", r.url, fmt.Sprintf(`{%s,"updated_at":%s}`, r.change, bad),
					userOfURL(r.url)).Names(422, "updated_at")
			}

			in.Unchanged(before)
		})
	}
}

// A client can identify the state that it has read by If-Match, version, or updated_at in its
// own precision.
func TestRecord_StateInEveryForm(t *testing.T) {
	t.Parallel()
	for _, r := range wholeRecords() {
		t.Run(r.name, func(t *testing.T) {
			in := withRecords(t)
			put := func(more string, headers ...string) *servertest.Reply {
				r := in.Request("PUT", r.url, "{"+r.change+more+"}", userOfURL(r.url))
				for i := 0; i < len(headers); i += 2 {
					r.Header.Set(headers[i], headers[i+1])
				}
				return in.Send(r)
			}
			first := put("")
			var was struct {
				Version   int64
				UpdatedAt string `json:"updated_at"`
			}
			first.Data(&was)
			tag := first.Header.Get("Etag")
			at, err := time.Parse(time.RFC3339Nano, was.UpdatedAt)
			servertest.Must(t, err)
			milliseconds, seconds := at.Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z"), at.Truncate(time.Second).Format(time.RFC3339)
			versioned := strings.Contains(first.Body, `"version":`)
			if isSetting := strings.HasPrefix(r.url, "/system/setting/"); versioned == isSetting ||
				tag == "" {
				t.Fatalf("%v %s", first.Header, first.Body)
			}

			for _, same := range []string{milliseconds, seconds, was.UpdatedAt} { // the record already has the values: nothing is written
				put(fmt.Sprintf(`,"updated_at":%q`, same)).Brief(200)
			}

			put("", "If-Match", tag).Brief(200)
			put("", "If-Match", `"x", W/`+tag).Brief(200)
			put("", "If-Match", "*").Brief(200)
			if versioned {
				put(fmt.Sprintf(`,"version":%d`, was.Version)).Brief(200)
				put(fmt.Sprintf(`,"version":"%d"`, was.Version)).Brief(200)
				put(fmt.Sprintf(`,"version":%d`, was.Version-1)).Brief(409, `"errorCode":"stale"`,
					`"version":`)
				put(`,"version":"x"`).Names(422, "version")
			}

			put("", "If-Match", `"x"`).Brief(409, `"errorCode":"stale"`, `"If-Match":`)
			earlier := at.Add(-time.Millisecond).Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
			put(fmt.Sprintf(`,"updated_at":%q`, earlier)).Brief(409, `"errorCode":"stale"`)
		})
	}
}

func TestRecord_UpdatedAtMoves(t *testing.T) {
	t.Parallel()
	in := withRecords(t)
	last := ""
	for i := range 5 {
		var r struct {
			CreatedAt string `json:"created_at"`
			UpdatedAt string `json:"updated_at"`
		}
		in.OK("PUT", servertest.OwnSetting(1), fmt.Sprintf(`{"sort":%d}`, i+1), "owner").Data(&r)
		if r.UpdatedAt <= last || r.UpdatedAt <= r.CreatedAt {
			t.Errorf("created %s, then %q, then %q", r.CreatedAt, last, r.UpdatedAt)
		}
		last = r.UpdatedAt
	}
}

func TestSettingGroup_NonEmptyIsNotDeleted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	in.Create("/system/setting", `{"key":"k","title":"T","type":"input","group_id":8}`)
	servertest.RunCases(t, in, []servertest.Case{
		{"while it has one", "DELETE", "/system/setting-group/8", "", "owner", 409,
			[]string{`"errorCode":"in_use"`, "1 setting"}, nil},
		{"a key that another has", "POST", "/system/setting-group", `{"key":"site","title":"S"}`,
			"owner", 409, []string{`"errorCode":"duplicate"`, `"errors":{"key":`}, nil},
		{"renamed to what another has", "PUT", "/system/setting-group/8", `{"key":"site"}`,
			"owner", 409, []string{`"errors":{"key":`}, nil},
		{"a key in capitals", "POST", "/system/setting-group", `{"key":"Site","title":"S"}`,
			"owner", 422, []string{`"key":`}, nil},
		{"a key with a dot", "PUT", "/system/setting-group/8", `{"key":"a.b"}`, "owner", 422,
			[]string{`"key":`}, nil},
		{"neither key nor title", "POST", "/system/setting-group", `{}`, "owner", 422,
			[]string{`"key":"is required"`, `"title":"is required"`}, nil},
	})
	in.OK("DELETE", servertest.OwnSetting(1), "", "owner").Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.OK("DELETE", "/system/setting-group/8", "", "owner").Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.Call("GET", "/system/setting-group/8", "", "owner").Brief(404)
}

func TestSetting_MovesToOtherGroup(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.Create("/system/setting",
		`{"key":"title","title":"T","type":"input","values":"x","group_id":8}`)
	url := fmt.Sprintf("/system/setting/%d", id)
	in.Call("PUT", url, `{"group_id":1}`, "owner").Brief(409, `"errorCode":"duplicate"`, `"key":`)
	in.Call("PUT", url, `{"group_id":77}`, "owner").Names(422, "group_id")
	in.OK("PUT", url, `{"group_id":2}`, "owner").Brief(200, `"group_id":2`)
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, `"g":{}`, `"title":"x"`)
}
