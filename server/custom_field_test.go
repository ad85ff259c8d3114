package server

import (
	"net/url"
	"strings"
	"testing"

	"reeve/store"
)

// withShopFields returns a shop whose app users have fields: a tier for everybody to read, a note of the
// backend, and a birthday that users set themselves.
func withShopFields(t *testing.T) *instance {
	in := shop(t)
	for _, body := range []string{
		`{"realm":"app","key":"tier","title":"Tier","type":"select","options":[{"label":"Gold","value":"gold"},{"label":"Silver","value":"silver"}],"self_access":"read","filterable":1,"required":1,"sort":1}`,
		`{"realm":"app","key":"note","title":"Note","type":"textarea","program_access":"none","sort":2}`,
		`{"realm":"app","key":"birthday","title":"Birthday","type":"date","self_access":"write","backend_access":"read","filterable":1,"sort":3}`,
		`{"realm":"app","key":"points","title":"Points","type":"number","props":[{"name":"min","value":"0"}],"program_access":"write","backend_access":"none","filterable":1,"sort":4}`,
		`{"realm":"admin","key":"badge","title":"Badge","type":"input","unique":1,"filterable":1,"searchable":1}`,
	} {
		in.create("/system/field", body)
	}
	in.ok("PUT", "/user/list/1", `{"fields":{"tier":"gold","note":"owes money"}}`, "owner").brief(200, `"fields":{"note":"owes money","tier":"gold"}`)
	return in
}

func TestCustomField_Audiences(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("GET", "/api/user", "", "customer").brief(200, `"fields":{"tier":"gold"}`)
	in.ok("PUT", "/api/user", `{"fields":{"birthday":"2000-02-29"}}`, "customer").brief(200, `"fields":{"birthday":"2000-02-29","tier":"gold"}`)
	in.ok("PUT", "/api/user", `{"fields":{"tier":"gold"}}`, "customer") // as it was read
	in.call("PUT", "/api/user", `{"fields":{"tier":"silver"}}`, "customer").names(422, "fields.tier")
	in.call("PUT", "/api/user", `{"fields":{"note":"x"}}`, "customer").names(422, "fields.note")
	in.call("PUT", "/api/user", `{"fields":{"birthday":"2001-02-29"}}`, "customer").names(422, "fields.birthday")
	in.call("PUT", "/user/list/1", `{"fields":{"birthday":"2001-02-02"}}`, "owner").names(422, "fields.birthday")
	in.call("PUT", "/user/list/1", `{"fields":{"tier":null}}`, "owner").names(422, "fields.tier")
	in.call("PUT", "/user/list/1", `{"fields":{"tier":"lead","none":1}}`, "owner").names(422, "fields.tier", "fields.none")
	in.call("POST", "/user/list", `{"username":"new"}`, "owner").names(422, "fields.tier")
	in.call("PUT", "/user/list/1", `{"fields":["tier"]}`, "owner").names(422, "fields")

	role := in.role("Sync", func(r *store.Role) { r.DataScope = store.ScopeAll }, "user.list.query", "user.list.update")
	in.member("syncer", 0, role)
	in.sync(role)
	in.ok("GET", "/user/list/1", "", "sync").brief(200, `"fields":{"birthday":"2000-02-29","tier":"gold"}`)
	in.call("PUT", "/user/list/1", `{"fields":{"tier":"silver"}}`, "sync").names(422, "fields.tier")
	in.ok("PUT", "/user/list/1", `{"fields":{"points":12.50}}`, "sync").brief(200, `"points":12.50`)
	in.call("PUT", "/user/list/1", `{"fields":{"points":-1}}`, "sync").names(422, "fields.points")
	if a := in.ok("GET", "/user/list/1", "", "owner"); strings.Contains(a.Body, "points") {
		t.Errorf("hidden from the backend: %s", a.Body)
	}
	want := `"fields":{"birthday":"2000-02-29","points":12.50,"tier":"gold"}`
	in.introspect("token="+in.tokens["customer"], "program").brief(200, want)
	in.ok("POST", "/auth/check", `{"app_user_id":1}`, "program").brief(200, want)

	for _, a := range []*reply{in.ok("GET", "/api/field", "", "nobody")} {
		a.brief(200, `"key":"tier"`, `"key":"birthday"`)
		a.lacks("note", "points", "badge")
	}
	for _, a := range []*reply{in.ok("GET", "/system/field-form", "", "owner")} {
		a.brief(200, `"key":"badge"`, `"key":"note"`)
		a.lacks("points")
	}
	for _, a := range []*reply{in.ok("GET", "/openapi.json", "", "nobody")} {
		a.brief(200, `"birthday":{`)
		a.lacks(`"Badge"`, `"note":{`)
	}
	in.ok("GET", "/openapi.json", "", "owner").brief(200, `"badge":{`, `"note":{`)
	in.call("PUT", "/system/field/1", `{"searchable":1}`, "owner").names(422, "searchable")
}

// sync creates a service key with a role.
func (in *instance) sync(role store.ID) {
	in.t.Helper()
	_, in.tokens["sync"] = in.key(1, serviceKey, func(k *store.APIKey) { k.RoleIDs, k.DataScope = []store.ID{role}, store.ScopeAll })
}

// lacks checks that a response does not have some texts.
func (a *reply) lacks(texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			a.t.Errorf("the response has %q: %s", text, a.Body)
		}
	}
}

func TestCustomField_ListFilter(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("POST", "/user/list", `{"username":"ben","fields":{"tier":"silver"}}`, "owner")
	for _, c := range []struct{ query, want string }{
		{`filter=` + url.QueryEscape(`{"fields.tier":["silver"]}`), `"total":1`},
		{`filter=` + url.QueryEscape(`{"fields.tier":["silver","gold"]}`), `"total":2`},
		{`fields.tier=gold&status=1`, `"total":1`},
		{`fields.birthday[]=2000-01-01&fields.birthday[]=`, `"total":0`},
	} {
		in.ok("GET", "/user/list?"+c.query, "", "owner").brief(200, c.want)
	}
	for _, query := range []string{"fields.note=x", "fields.none=x", "fields.points=1", "fields.tier=a&fields.tier=b", "fields.tier[]=a"} {
		if a := in.call("GET", "/user/list?"+query, "", "owner"); a.Code != 400 {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	in.create("/system/field", `{"realm":"app","key":"vip","title":"VIP","type":"switch","filterable":1}`)
	in.create("/system/field", `{"realm":"app","key":"call","title":"Call at","type":"time","filterable":1}`)
	in.ok("PUT", "/user/list/1", `{"fields":{"vip":true,"call":"15:04"}}`, "owner")
	in.ok("PUT", "/user/list/2", `{"fields":{"vip":0,"call":"15:04:00"}}`, "owner")
	for query, want := range map[string]string{
		"fields.vip=true": `"total":1`, "fields.vip=1": `"total":1`, `filter={"fields.vip":[false]}`: `"total":1`, "fields.vip=yes": `must be 1 or 0`,
		"fields.call=15:04": `"total":2`, "fields.call=15:04:00": `"total":2`, "fields.call=15:04:01": `"total":0`,
		"fields.call[]=15:04:00,15:04": `"total":2`, "fields.call[]=,15:03": `"total":0`, "fields.call[]=15:05,": `"total":0`,
	} {
		name, value, _ := strings.Cut(query, "=")
		if a := in.call("GET", "/user/list?"+name+"="+url.QueryEscape(value), "", "owner"); !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
	if a := in.call("GET", "/system/dict?fields.tier=gold", "", "owner"); a.Code != 400 {
		t.Errorf("a list without custom fields: %d", a.Code)
	}
	in.ok("PUT", "/admin/list/1", `{"fields":{"badge":"Z-77"}}`, "owner")
	in.ok("GET", "/admin/list?keywordSearch=z-7", "", "owner").brief(200, `"total":1`)
	in.call("POST", "/admin/list", `{"username":"new","fields":{"badge":"z-77"}}`, "owner").names(409, "fields.badge")
}

func TestCustomField_LogUndoCSV(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("PUT", "/user/list/1", `{"fields":{"tier":"silver"}}`, "owner")
	change := in.db.LogHead().Seq
	in.ok("GET", "/system/audit/"+store.ID(change).String(), "", "owner").brief(200, `"name":"fields.tier","old":"gold","new":"silver"`)
	in.ok("POST", "/system/audit/"+store.ID(change).String()+"/undo", "", "owner")
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"tier":"gold"`)

	in.ok("GET", "/user/list-export", "", "owner").brief(200, "username,nickname,email,mobile,roles,status,fields.tier,fields.note,fields.birthday\n", "gold,owes money")
	in.upload("/user/list-import", "username,fields.tier\ndan,silver\n", "owner").brief(200)
	in.ok("GET", "/user/list?fields.tier=silver", "", "owner").brief(200, `"username":"dan"`)
	in.upload("/user/list-import", "username,fields.tier\neve,lead\n", "owner").names(422, "line 2 fields.tier")
	in.upload("/user/list-import", "username\neve\n", "owner").names(422, "line 2 fields.tier")
	in.upload("/user/list-import", "username,fields.points\neve,1\n", "owner").names(422, "file")

	in.ok("DELETE", "/system/field/1", "", "owner")
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"fields":{"note":"owes money"}`)
	in.call("GET", "/system/field/1", "", "owner").brief(404)
	in.call("PUT", "/system/field/1", `{"title":"T"}`, "owner").brief(404)
	in.create("/system/field", `{"realm":"app","key":"tier","title":"Tier","type":"input"}`)
	in.ok("GET", "/user/list/1", "", "owner").brief(200, `"fields":{"note":"owes money"}`)
	for more := true; more; {
		var err error
		more, err = in.server.fields.Apply(t.Context())
		must(t, err)
	}
	in.view(func(tx *store.Tx) error {
		if store.CustomFields.Exists(tx, 1) {
			t.Error("the deleted field is still there")
		}
		return nil
	})
}
