package people_test

import (
	"net/url"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// withShopFields returns a shop whose app users have fields: a tier for everybody to read, a note
// of the backend, and a birthday that users set themselves.
func withShopFields(t *testing.T) *servertest.Instance {
	in := servertest.Shop(t)
	for _, body := range []string{
		`{"realm":"app","key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"gold"},{"label":"Silver","value":"silver"}],"self_access":"read","filterable":1,"required":1,"sort":1}`,
		`{"realm":"app","key":"note","title":"Note","type":"textarea","program_access":"none","sort":2}`,
		`{"realm":"app","key":"birthday","title":"Birthday","type":"date","self_access":"write","backend_access":"read","filterable":1,"sort":3}`,
		`{"realm":"app","key":"points","title":"Points","type":"number","props":[{"name":"min","value":"0"}],"program_access":"write","backend_access":"none","filterable":1,"sort":4}`,
		`{"realm":"admin","key":"badge","title":"Badge","type":"input","unique":1,"filterable":1,"searchable":1}`,
	} {
		in.Create("/system/field", body)
	}
	in.OK("PUT", "/user/list/1", `{"fields":{"tier":"gold","note":"owes money"}}`, "owner").Brief(200, `"fields":{"note":"owes money","tier":"gold"}`)
	return in
}

func TestCustomField_Audiences(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("GET", "/api/user", "", "customer").Brief(200, `"fields":{"tier":"gold"}`)
	in.OK("PUT", "/api/user", `{"fields":{"birthday":"2000-02-29"}}`, "customer").Brief(200,
		`"fields":{"birthday":"2000-02-29","tier":"gold"}`)
	in.OK("PUT", "/api/user", `{"fields":{"tier":"gold"}}`, "customer") // as it was read
	in.Call("PUT", "/api/user", `{"fields":{"tier":"silver"}}`, "customer").Names(422,
		"fields.tier")
	in.Call("PUT", "/api/user", `{"fields":{"note":"x"}}`, "customer").Names(422, "fields.note")
	in.Call("PUT", "/api/user", `{"fields":{"birthday":"2001-02-29"}}`, "customer").Names(422,
		"fields.birthday")
	in.Call("PUT", "/user/list/1", `{"fields":{"birthday":"2001-02-02"}}`, "owner").Names(422,
		"fields.birthday")
	in.Call("PUT", "/user/list/1", `{"fields":{"tier":null}}`, "owner").Names(422, "fields.tier")
	in.Call("PUT", "/user/list/1", `{"fields":{"tier":"lead","none":1}}`, "owner").Names(422,
		"fields.tier", "fields.none")
	in.Call("POST", "/user/list", `{"username":"new"}`, "owner").Names(422, "fields.tier")
	in.Call("PUT", "/user/list/1", `{"fields":["tier"]}`, "owner").Names(422, "fields")

	role := in.Role("Sync", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "user.list.query", "user.list.update")
	in.Member("syncer", 0, role)
	syncShop(in, role)
	in.OK("GET", "/user/list/1", "", "sync").Brief(200,
		`"fields":{"birthday":"2000-02-29","tier":"gold"}`)
	in.Call("PUT", "/user/list/1", `{"fields":{"tier":"silver"}}`, "sync").Names(422, "fields.tier")
	in.OK("PUT", "/user/list/1", `{"fields":{"points":12.50}}`, "sync").Brief(200, `"points":12.50`)
	in.Call("PUT", "/user/list/1", `{"fields":{"points":-1}}`, "sync").Names(422, "fields.points")
	if a := in.OK("GET", "/user/list/1", "", "owner"); strings.Contains(a.Body, "points") {
		t.Errorf("hidden from the backend: %s", a.Body)
	}

	want := `"fields":{"birthday":"2000-02-29","points":12.50,"tier":"gold"}`
	in.Introspect("token="+in.Tokens["customer"], "program").Brief(200, want)
	in.OK("POST", "/auth/check", `{"app_user_id":1}`, "program").Brief(200, want)

	for _, a := range []*servertest.Reply{in.OK("GET", "/api/field", "", "nobody")} {
		a.Brief(200, `"key":"tier"`, `"key":"birthday"`)
		a.Lacks("note", "points", "badge")
	}

	for _, a := range []*servertest.Reply{in.OK("GET", "/system/field-form", "", "owner")} {
		a.Brief(200, `"key":"badge"`, `"key":"note"`)
		a.Lacks("points")
	}

	for _, a := range []*servertest.Reply{in.OK("GET", "/openapi.json", "", "nobody")} {
		a.Brief(200, `"birthday":{`)
		a.Lacks(`"Badge"`, `"note":{`)
	}

	in.OK("GET", "/openapi.json", "", "owner").Brief(200, `"badge":{`, `"note":{`)
	in.Call("PUT", "/system/field/1", `{"searchable":1}`, "owner").Names(422, "searchable")
}

// syncShop creates a service key with a role.
func syncShop(in *servertest.Instance, role store.ID) {
	in.T.Helper()
	_, in.Tokens["sync"] = in.Key(1, servertest.ServiceKey, func(k *store.APIKey) {
		k.RoleIDs, k.DataScope = []store.ID{role}, store.ScopeAll
	})
}

func TestCustomField_ListFilter(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("POST", "/user/list", `{"username":"ben","fields":{"tier":"silver"}}`, "owner")
	for _, c := range []struct{ query, want string }{
		{`filter=` + url.QueryEscape(`{"fields.tier":["silver"]}`), `"total":1`},
		{`filter=` + url.QueryEscape(`{"fields.tier":["silver","gold"]}`), `"total":2`},
		{`fields.tier=gold&status=1`, `"total":1`},
		{`fields.birthday[]=2000-01-01&fields.birthday[]=`, `"total":0`},
	} {
		in.OK("GET", "/user/list?"+c.query, "", "owner").Brief(200, c.want)
	}

	for _, query := range []string{"fields.note=x", "fields.none=x", "fields.points=1",
		"fields.tier=a&fields.tier=b", "fields.tier[]=a"} {
		if a := in.Call("GET", "/user/list?"+query, "", "owner"); a.Code != 400 {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}

	in.Create("/system/field",
		`{"realm":"app","key":"vip","title":"VIP","type":"switch","filterable":1}`)
	in.Create("/system/field",
		`{"realm":"app","key":"call","title":"Call at","type":"time","filterable":1}`)
	in.OK("PUT", "/user/list/1", `{"fields":{"vip":true,"call":"15:04"}}`, "owner")
	in.OK("PUT", "/user/list/2", `{"fields":{"vip":0,"call":"15:04:00"}}`, "owner")
	for query, want := range map[string]string{
		"fields.vip=true": `"total":1`, "fields.vip=1": `"total":1`,
		`filter={"fields.vip":[false]}`: `"total":1`, "fields.vip=yes": `must be 1 or 0`,
		"fields.call=15:04": `"total":2`, "fields.call=15:04:00": `"total":2`,
		"fields.call=15:04:01":         `"total":0`,
		"fields.call[]=15:04:00,15:04": `"total":2`, "fields.call[]=,15:03": `"total":0`,
		"fields.call[]=15:05,": `"total":0`,
	} {
		name, value, _ := strings.Cut(query, "=")
		if a := in.Call("GET", "/user/list?"+name+"="+url.QueryEscape(value), "", "owner"); !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s", query, a.Body)
		}
	}

	if a := in.Call("GET", "/system/dict?fields.tier=gold", "", "owner"); a.Code != 400 {
		t.Errorf("a list without custom fields: %d", a.Code)
	}

	in.OK("PUT", "/admin/list/1", `{"fields":{"badge":"Z-77"}}`, "owner")
	in.OK("GET", "/admin/list?keywordSearch=z-7", "", "owner").Brief(200, `"total":1`)
	in.Call("POST", "/admin/list", `{"username":"new","fields":{"badge":"z-77"}}`, "owner").Names(409, "fields.badge")
}

func TestCustomField_LogUndoCSV(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("PUT", "/user/list/1", `{"fields":{"tier":"silver"}}`, "owner")
	change := in.DB.LogHead().Seq
	in.OK("GET", "/system/audit/"+store.ID(change).String(), "", "owner").Brief(200,
		`"name":"fields.tier","old":"gold","new":"silver"`)
	in.OK("POST", "/system/audit/"+store.ID(change).String()+"/undo", "", "owner")
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"tier":"gold"`)

	in.OK("GET", "/user/list-export", "", "owner").Brief(200,
		"username,nickname,email,mobile,roles,status,fields.tier,fields.note,fields.birthday\n",
		"gold,owes money")
	in.Upload("/user/list-import", "username,fields.tier\ndan,silver\n", "owner").Brief(200)
	in.OK("GET", "/user/list?fields.tier=silver", "", "owner").Brief(200, `"username":"dan"`)
	in.Upload("/user/list-import", "username,fields.tier\neve,lead\n", "owner").Names(422,
		"line 2 fields.tier")
	in.Upload("/user/list-import", "username\neve\n", "owner").Names(422, "line 2 fields.tier")
	in.Upload("/user/list-import", "username,fields.points\neve,1\n", "owner").Names(422, "file")

	in.OK("DELETE", "/system/field/1", "", "owner")
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"fields":{"note":"owes money"}`)
	in.Call("GET", "/system/field/1", "", "owner").Brief(404)
	in.Call("PUT", "/system/field/1", `{"title":"T"}`, "owner").Brief(404)
	in.Create("/system/field", `{"realm":"app","key":"tier","title":"Tier","type":"input"}`)
	in.OK("GET", "/user/list/1", "", "owner").Brief(200, `"fields":{"note":"owes money"}`)
	for more := true; more; {
		var err error
		more, err = in.Server.Fields.Apply(t.Context())
		servertest.Must(t, err)
	}

	in.View(func(tx *store.Tx) error {
		if store.CustomFields.Exists(tx, 1) {
			t.Error("the deleted field is still there")
		}
		return nil
	})
}
