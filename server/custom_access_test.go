package server

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/store"
)

func TestCustomField_HiddenInOwnEvents(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.create("/system/field", `{"realm":"admin","key":"risk","title":"Risk","type":"input"}`)
	in.create("/system/field", `{"realm":"admin","key":"desk","title":"Desk","type":"input","self_access":"read"}`)
	id := in.member("ada", 0)
	l := in.listen(in.live()+"/system/event?types=user.*", "ada")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"fields":{"risk":"she-may-leave"}}`, "owner")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"fields":{"desk":"d-12"}}`, "owner")
	var seen strings.Builder
	for !strings.Contains(seen.String(), "d-12") {
		kind, data := l.next()
		fmt.Fprintln(&seen, kind, data)
	}
	if strings.Contains(seen.String(), "she-may-leave") || strings.Contains(seen.String(), "risk") {
		t.Errorf("a hidden field of the own record: %s", seen.String())
	}
}

func TestCustomField_HiddenInUndoConflicts(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.Fields = u.Fields.With(4, "4711"); return nil })
		return err
	})
	in.ok("PUT", "/user/list/1", `{"fields":{"note":"first"}}`, "owner")
	first := in.db.LogHead().Seq
	in.ok("PUT", "/user/list/1", `{"fields":{"note":"second"}}`, "owner")
	a := in.ok("GET", "/system/audit/"+store.ID(first).String(), "", "owner")
	a.brief(200, `{"collection":"app_user","id":1,"field":"fields.note","expected":"first","current":"second"}`)
	a.lacks("4711", "points")

	in.ok("PUT", "/user/list/1", `{"fields":{"note":"third"}}`, "owner")
	third := in.db.LogHead().Seq
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.Fields = u.Fields.With(4, "4712"); return nil })
		return err
	})
	a = in.ok("GET", "/system/audit/"+store.ID(third).String(), "", "owner")
	a.brief(200, `"conflicts":[{"collection":"app_user","id":1,"field":"fields"}]`)
	a.lacks("4711", "4712")

	hidden := "/system/audit/" + store.ID(in.db.LogHead().Seq).String()
	in.ok("GET", hidden, "", "owner").lacks("points")
	a = in.call("POST", hidden+"/undo", "", "owner")
	a.names(403, "fields") // not which one
	a.lacks("points")
}

func TestCustomField_Undo(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	undo := func() *reply {
		t.Helper()
		return in.call("POST", "/system/audit/"+store.ID(in.db.LogHead().Seq).String()+"/undo", "", "owner")
	}
	in.ok("PUT", "/api/user", `{"fields":{"birthday":"2000-02-29"}}`, "customer")
	undo().names(422, "fields.birthday") // the backend can only read it

	// Undoing a deletion restores all values, also those that the caller cannot change.
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error { u.Fields = u.Fields.With(4, "12"); return nil })
		return err
	})
	in.ok("DELETE", "/user/list/1", "", "owner")
	undo().brief(200)
	in.view(func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, 1)
		if err == nil && (u.Fields.Get(3) != "2000-02-29" || u.Fields.Get(4) != "12") {
			t.Errorf("%+v", u.Fields)
		}
		return err
	})

	// A deleted field is not restored: its values are gone.
	in.ok("DELETE", "/system/field/1", "", "owner")
	in.applyFields()
	removed := in.db.LogHead().Seq
	in.create("/system/field", `{"realm":"app","key":"tier","title":"Tier","type":"input"}`)
	for seq := removed; seq > removed-4; seq-- {
		a := in.call("GET", "/system/audit/"+store.ID(seq).String(), "", "owner")
		if !strings.Contains(a.Body, `"custom_field"`) {
			continue
		}
		if u := in.call("POST", "/system/audit/"+store.ID(seq).String()+"/undo", "", "owner"); u.Code < 400 {
			t.Errorf("undone: %s %s", a.Body, u.Body)
		}
	}
	in.view(func(tx *store.Tx) error {
		if store.CustomFields.Exists(tx, 1) {
			t.Error("the deleted field is there again")
		}
		return nil
	})
}

// applyFields makes the records follow the declarations.
func (in *instance) applyFields() {
	in.t.Helper()
	for more := true; more; {
		var err error
		more, err = in.server.fields.Apply(in.t.Context())
		must(in.t, err)
	}
}

func TestCustomField_SearchableStaysVisible(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("PUT", "/admin/list/1", `{"fields":{"badge":"Z-77"}}`, "owner")
	in.call("PUT", "/system/field/5", `{"searchable":0,"backend_access":"none"}`, "owner").names(422, "backend_access")
	in.ok("PUT", "/system/field/5", `{"searchable":0}`, "owner")
	in.call("PUT", "/system/field/5", `{"program_access":"none"}`, "owner").names(422, "program_access")
	in.applyFields()
	in.ok("PUT", "/system/field/5", `{"backend_access":"none"}`, "owner")
	in.ok("GET", "/admin/list?keywordSearch=z-7", "", "owner").brief(200, `"total":0`)
}

func TestCustomField_Bounds(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.create("/system/field", `{"realm":"app","key":"more","title":"More","type":"textarea"}`)
	in.create("/system/field", `{"realm":"app","key":"colors","title":"Colors","type":"checkbox","required":1,"options":[{"label":"Red","value":"red"}]}`)
	in.create("/system/field", `{"realm":"app","key":"data","title":"Data","type":"json"}`)
	half := strings.Repeat("x", store.MaxFieldBytes/2+1)
	in.ok("PUT", "/user/list/1", fmt.Sprintf(`{"fields":{"note":%q}}`, half), "owner")
	in.call("PUT", "/user/list/1", fmt.Sprintf(`{"fields":{"more":%q}}`, half), "owner").names(422, "fields")

	in.call("POST", "/user/list", `{"username":"eve","fields":{"tier":"gold","colors":[]}}`, "owner").names(422, "fields.colors")
	in.ok("PUT", "/user/list/1", `{"fields":{"colors":["red"]}}`, "owner")
	in.call("PUT", "/user/list/1", `{"fields":{"colors":[]}}`, "owner").names(422, "fields.colors")

	for sent, back := range map[string]string{`"\"hello\""`: `"hello"`, `"\"123\""`: `"123"`, `{"b":1, "a":[1.50]}`: `{"a":[1.50],"b":1}`} {
		in.ok("PUT", "/user/list/1", `{"fields":{"data":`+sent+`}}`, "owner").brief(200, `"data":`+back)
		before := in.db.LogHead().Seq
		in.ok("PUT", "/user/list/1", `{"fields":{"data":`+back+`}}`, "owner").brief(200, `"data":`+back)
		if in.db.LogHead().Seq != before {
			t.Errorf("%s, sent back as it was read, is a change", back)
		}
	}

	in.ok("PUT", "/user/list/1", `{"fields":{"note":"  spaces\n"}}`, "owner").brief(200, `"note":"spaces"`)
	in.ok("PUT", "/user/list/1", `{"fields":{"note":" "}}`, "owner").lacks("note")
	in.ok("PUT", "/user/list/1", `{"fields":{"data":"null"}}`, "owner").brief(200, `"fields":{"colors":["red"],"tier":"gold"}`)
	in.call("PUT", "/user/list/1", `{"fields":{"data":"{\"a\":[{\"a\":1}],\"a\":2}"}}`, "owner").names(422, "fields.data")
	for _, value := range []string{`[]`, `0`, `""`, `false`, `{}`, `{"a":[{"b":1},"a"],"b":"a"}`, `null`} {
		a := in.ok("PUT", "/user/list/1", `{"fields":{"data":`+value+`}}`, "owner")
		if strings.Contains(a.Body, `"data":`+value) == (value == "null" || value == `""`) {
			t.Errorf("%s: %s", value, a.Body)
		}
	}

	for query, code := range map[string]int{
		"fields.birthday[]=x&fields.birthday[]=": 400, "fields.birthday[]=2000-01-01,2001-01-01": 200, "fields.birthday=2000-13-01": 400,
		"fields.tier[]=a&fields.tier[]=b": 400, "fields.birthday[]=,": 200, "fields.birthday[]=,,": 400,
	} {
		if a := in.call("GET", "/user/list?"+strings.ReplaceAll(query, ",", url.QueryEscape(",")), "", "owner"); a.Code != code {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

func TestCustomField_UniqueInImport(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.upload("/admin/list-import?dry_run=1", "username,nickname,fields.badge\neve,Eve,B-1\ndan,Dan,b-1\n", "owner").brief(200, `"failed":1`, `"fields.badge":"is the same as on line 2"`)
	in.create("/system/field", `{"realm":"admin","key":"number","title":"Number","type":"number","unique":1}`)
	in.upload("/admin/list-import?dry_run=1", "username,nickname,fields.number\neve,Eve,51\ndan,Dan,51.0\n", "owner").brief(200, `"failed":1`, `"fields.number":"is the same as on line 2"`)
}

// TestCustomField_WithdrawnDuringExport checks that an export omits a field once its access is
// withdrawn while the client reads.
func TestCustomField_WithdrawnDuringExport(t *testing.T) {
	t.Parallel()
	in, clerk, _ := withManyUsers(t)
	in.create("/system/field", `{"realm":"admin","key":"badge","title":"Badge","type":"input"}`)
	for id, badge := range map[store.ID]string{clerk: "first", clerk + 2*people.ExportChunk + 10: "last"} {
		in.ok("PUT", "/admin/list/"+id.String(), `{"fields":{"badge":"badge-`+badge+`"}}`, "owner")
	}
	text, _, err := in.download("/admin/list-export", "clerk", func() { in.ok("PUT", "/system/field/1", `{"backend_access":"none"}`, "owner") })
	if must(t, err); !strings.Contains(string(text), "badge-first") || strings.Contains(string(text), "badge-last") {
		t.Errorf("%d bytes, the first badge %v, the last badge %v", len(text), strings.Contains(string(text), "badge-first"), strings.Contains(string(text), "badge-last"))
	}
}

func TestCustomField_InvalidDeclarations(t *testing.T) {
	t.Parallel()
	in := start(t)
	for body, field := range map[string]string{
		`"type":"number","props":[{"name":"min","value":"5"},{"name":"max","value":"1"}]`: "props",
		`"type":"input","props":[{"name":"maxlength","value":"0"}]`:                       "props",
		`"type":"number","props":[{"name":"min","value":"1e999"}]`:                        "props[0].value",
		`"type":"select","options":[{"label":"A","value":"a"},{"label":"B","value":"A"}]`: "options[1].value",
		`"type":"image","required":1,"self_access":"write"`:                               "required",
	} {
		in.call("POST", "/system/field", `{"realm":"app","key":"x","title":"X",`+body+`}`, "owner").names(422, field)
	}
}

func TestOwnProfile_RateLimit(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.ok("PUT", "/api/user", `{"nickname":"N"}`, "customer")
	for i := 1; i < 100; i++ {
		in.ok("PUT", "/api/user", `{"nickname":"N`+strconv.Itoa(i%2)+`"}`, "customer")
	}
	a := in.call("PUT", "/api/user", `{"nickname":"N"}`, "customer")
	a.brief(429, "too many attempts")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestCustomField_HiddenInMonitoring(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("PUT", "/api/user", `{"nickname":"Cus Tomer","fields":{"birthday":"1987-06-05"}}`, "customer")
	in.ok("GET", "/user/list?fields.birthday=1987-06-05", "", "owner").brief(200, `"total":1`)
	in.ok("GET", "/user/list?filter="+url.QueryEscape(`{"fields.birthday":["1987-06-05"]}`), "", "owner").brief(200, `"total":1`)
	in.flush()
	in.ok("GET", "/system/monitor/request?pageSize=100", "", "owner").brief(200, "Cus Tomer", "fields.birthday")
	for _, list := range []string{"request", "query", "cache", "auth"} {
		in.ok("GET", "/system/monitor/"+list+"?pageSize=1000", "", "owner").lacks("1987-06-05")
	}
}

func TestCustomField_NamedInPersonalData(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.ok("DELETE", "/system/field/1", "", "owner")
	in.applyFields()
	var all strings.Builder
	for name, text := range in.filesOf("/user/list/1/data", "owner") {
		fmt.Fprintln(&all, name, string(text))
	}
	for _, want := range []string{`"note":"owes money"`, `"deleted field 1":"gold"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %s in %s", want, all.String())
		}
	}
}
