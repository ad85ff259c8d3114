package people_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
)

func TestCustomField_HiddenInOwnEvents(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.Create("/system/field", `{"realm":"admin","key":"risk","title":"Risk","type":"input"}`)
	in.Create("/system/field",
		`{"realm":"admin","key":"desk","title":"Desk","type":"input","self_access":"read"}`)
	id := in.Member("ada", 0)
	l := in.Listen(in.Live()+"/system/event?types=user.*", "ada")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"fields":{"risk":"she-may-leave"}}`, "owner")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"fields":{"desk":"d-12"}}`, "owner")
	var seen strings.Builder
	for !strings.Contains(seen.String(), "d-12") {
		kind, data := l.Next()
		fmt.Fprintln(&seen, kind, data)
	}

	if strings.Contains(seen.String(), "she-may-leave") || strings.Contains(seen.String(), "risk") {
		t.Errorf("a hidden field of the own record: %s", seen.String())
	}
}

func TestCustomField_HiddenInUndoConflicts(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.Fields = u.Fields.With(4, "4711")
			return nil
		})
		return err
	})
	in.OK("PUT", "/user/list/1", `{"fields":{"note":"first"}}`, "owner")
	first := in.DB.LogHead().Seq
	in.OK("PUT", "/user/list/1", `{"fields":{"note":"second"}}`, "owner")
	a := in.OK("GET", "/system/audit/"+store.ID(first).String(), "", "owner")
	a.Brief(200,
		`{"collection":"app_user","id":1,"field":"fields.note","expected":"first","current":"second"}`)
	a.Lacks("4711", "points")

	in.OK("PUT", "/user/list/1", `{"fields":{"note":"third"}}`, "owner")
	third := in.DB.LogHead().Seq
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.Fields = u.Fields.With(4, "4712")
			return nil
		})
		return err
	})
	a = in.OK("GET", "/system/audit/"+store.ID(third).String(), "", "owner")
	a.Brief(200, `"conflicts":[{"collection":"app_user","id":1,"field":"fields"}]`)
	a.Lacks("4711", "4712")

	hidden := "/system/audit/" + store.ID(in.DB.LogHead().Seq).String()
	in.OK("GET", hidden, "", "owner").Lacks("points")
	a = in.Call("POST", hidden+"/undo", "", "owner")
	a.Names(403, "fields") // not which one
	a.Lacks("points")
}

func TestCustomField_Undo(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	undo := func() *servertest.Reply {
		t.Helper()
		return in.Call("POST", "/system/audit/"+store.ID(in.DB.LogHead().Seq).String()+"/undo", "",
			"owner")
	}

	in.OK("PUT", "/api/user", `{"fields":{"birthday":"2000-02-29"}}`, "customer")
	undo().Names(422, "fields.birthday") // the backend can only read it

	// Undoing a deletion restores all values, also those that the caller cannot change.
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.Fields = u.Fields.With(4, "12")
			return nil
		})
		return err
	})
	in.OK("DELETE", "/user/list/1", "", "owner")
	undo().Brief(200)
	in.View(func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, 1)
		if err == nil && (u.Fields.Get(3) != "2000-02-29" || u.Fields.Get(4) != "12") {
			t.Errorf("%+v", u.Fields)
		}
		return err
	})

	// A deleted field is not restored: its values are gone.
	in.OK("DELETE", "/system/field/1", "", "owner")
	applyFields(in)
	removed := in.DB.LogHead().Seq
	in.Create("/system/field", `{"realm":"app","key":"tier","title":"Tier","type":"input"}`)
	for seq := removed; seq > removed-4; seq-- {
		a := in.Call("GET", "/system/audit/"+store.ID(seq).String(), "", "owner")
		if !strings.Contains(a.Body, `"custom_field"`) {
			continue
		}
		if u := in.Call("POST", "/system/audit/"+store.ID(seq).String()+"/undo", "", "owner"); u.Code < 400 {
			t.Errorf("undone: %s %s", a.Body, u.Body)
		}
	}

	in.View(func(tx *store.Tx) error {
		if store.CustomFields.Exists(tx, 1) {
			t.Error("the deleted field is there again")
		}
		return nil
	})
}

// applyFields makes the records follow the declarations.
func applyFields(in *servertest.Instance) {
	in.T.Helper()
	for more := true; more; {
		var err error
		more, err = in.Server.Fields.Apply(in.T.Context())
		servertest.Must(in.T, err)
	}
}

func TestCustomField_SearchableStaysVisible(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("PUT", "/admin/list/1", `{"fields":{"badge":"Z-77"}}`, "owner")
	in.Call("PUT", "/system/field/5", `{"searchable":0,"backend_access":"none"}`, "owner").Names(422, "backend_access")
	in.OK("PUT", "/system/field/5", `{"searchable":0}`, "owner")
	in.Call("PUT", "/system/field/5", `{"program_access":"none"}`, "owner").Names(422,
		"program_access")
	applyFields(in)
	in.OK("PUT", "/system/field/5", `{"backend_access":"none"}`, "owner")
	in.OK("GET", "/admin/list?keywordSearch=z-7", "", "owner").Brief(200, `"total":0`)
}

func TestCustomField_Bounds(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.Create("/system/field", `{"realm":"app","key":"more","title":"More","type":"textarea"}`)
	in.Create("/system/field",
		`{"realm":"app","key":"colors","title":"Colors","type":"checkbox","required":1,"options":[{"label":"Red","value":"red"}]}`)
	in.Create("/system/field", `{"realm":"app","key":"data","title":"Data","type":"json"}`)
	half := strings.Repeat("x", store.MaxFieldBytes/2+1)
	in.OK("PUT", "/user/list/1", fmt.Sprintf(`{"fields":{"note":%q}}`, half), "owner")
	in.Call("PUT", "/user/list/1", fmt.Sprintf(`{"fields":{"more":%q}}`, half), "owner").Names(422,
		"fields")

	in.Call("POST", "/user/list", `{"username":"eve","fields":{"tier":"gold","colors":[]}}`,
		"owner").Names(422, "fields.colors")
	in.OK("PUT", "/user/list/1", `{"fields":{"colors":["red"]}}`, "owner")
	in.Call("PUT", "/user/list/1", `{"fields":{"colors":[]}}`, "owner").Names(422, "fields.colors")

	for sent, back := range map[string]string{
		`"\"hello\""`:         `"hello"`,
		`"\"123\""`:           `"123"`,
		`{"b":1, "a":[1.50]}`: `{"a":[1.50],"b":1}`,
	} {
		in.OK("PUT", "/user/list/1", `{"fields":{"data":`+sent+`}}`, "owner").Brief(200,
			`"data":`+back)
		before := in.DB.LogHead().Seq
		in.OK("PUT", "/user/list/1", `{"fields":{"data":`+back+`}}`, "owner").Brief(200,
			`"data":`+back)
		if in.DB.LogHead().Seq != before {
			t.Errorf("%s, sent back as it was read, is a change", back)
		}
	}

	in.OK("PUT", "/user/list/1", `{"fields":{"note":"  spaces\n"}}`, "owner").Brief(200,
		`"note":"spaces"`)
	in.OK("PUT", "/user/list/1", `{"fields":{"note":" "}}`, "owner").Lacks("note")
	in.OK("PUT", "/user/list/1", `{"fields":{"data":"null"}}`, "owner").Brief(200,
		`"fields":{"colors":["red"],"tier":"gold"}`)
	in.Call("PUT", "/user/list/1", `{"fields":{"data":"{\"a\":[{\"a\":1}],\"a\":2}"}}`, "owner").Names(422, "fields.data")
	for _, value := range []string{`[]`, `0`, `""`, `false`, `{}`, `{"a":[{"b":1},"a"],"b":"a"}`,
		`null`} {
		a := in.OK("PUT", "/user/list/1", `{"fields":{"data":`+value+`}}`, "owner")
		if strings.Contains(a.Body, `"data":`+value) == (value == "null" || value == `""`) {
			t.Errorf("%s: %s", value, a.Body)
		}
	}

	for query, code := range map[string]int{
		"fields.birthday[]=x&fields.birthday[]=":  400,
		"fields.birthday[]=2000-01-01,2001-01-01": 200, "fields.birthday=2000-13-01": 400,
		"fields.tier[]=a&fields.tier[]=b": 400, "fields.birthday[]=,": 200,
		"fields.birthday[]=,,": 400,
	} {
		if a := in.Call("GET", "/user/list?"+strings.ReplaceAll(query, ",", url.QueryEscape(",")),
			"", "owner"); a.Code != code {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

func TestCustomField_UniqueInImport(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.Upload("/admin/list-import?dry_run=1",
		"username,nickname,fields.badge\neve,Eve,B-1\ndan,Dan,b-1\n", "owner").Brief(200,
		`"failed":1`, `"fields.badge":"is the same as on line 2"`)
	in.Create("/system/field",
		`{"realm":"admin","key":"number","title":"Number","type":"number","unique":1}`)
	in.Upload("/admin/list-import?dry_run=1",
		"username,nickname,fields.number\neve,Eve,51\ndan,Dan,51.0\n", "owner").Brief(200,
		`"failed":1`, `"fields.number":"is the same as on line 2"`)
}

// TestCustomField_WithdrawnDuringExport checks that an export omits a field once its access is
// withdrawn while the client reads.
func TestCustomField_WithdrawnDuringExport(t *testing.T) {
	t.Parallel()
	in, clerk, _ := withManyUsers(t)
	in.Create("/system/field", `{"realm":"admin","key":"badge","title":"Badge","type":"input"}`)
	for id, badge := range map[store.ID]string{
		clerk:                             "first",
		clerk + 2*people.ExportChunk + 10: "last",
	} {
		in.OK("PUT", "/admin/list/"+id.String(), `{"fields":{"badge":"badge-`+badge+`"}}`, "owner")
	}

	text, _, err := in.Download("/admin/list-export", "clerk", func() {
		in.OK("PUT", "/system/field/1", `{"backend_access":"none"}`, "owner")
	})
	if servertest.Must(t, err); !strings.Contains(string(text), "badge-first") ||
		strings.Contains(string(text), "badge-last") {
		t.Errorf("%d bytes, the first badge %v, the last badge %v", len(text),
			strings.Contains(string(text), "badge-first"),
			strings.Contains(string(text), "badge-last"))
	}
}

func TestCustomField_InvalidDeclarations(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for body, field := range map[string]string{
		`"type":"number","props":[{"name":"min","value":"5"},{"name":"max","value":"1"}]`: "props",
		`"type":"input","props":[{"name":"maxlength","value":"0"}]`:                       "props",
		`"type":"number","props":[{"name":"min","value":"1e999"}]`:                        "props[0].value",
		`"type":"select","options":[{"label":"A","value":"a"},{"label":"B","value":"A"}]`: "options[1].value",
		`"type":"image","required":1,"self_access":"write"`:                               "required",
	} {
		in.Call("POST", "/system/field", `{"realm":"app","key":"x","title":"X",`+body+`}`, "owner").Names(422, field)
	}
}

func TestOwnProfile_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.OK("PUT", "/api/user", `{"nickname":"N"}`, "customer")
	for i := 1; i < 100; i++ {
		in.OK("PUT", "/api/user", `{"nickname":"N`+strconv.Itoa(i%2)+`"}`, "customer")
	}
	a := in.Call("PUT", "/api/user", `{"nickname":"N"}`, "customer")
	a.Brief(429, "too many attempts")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestCustomField_HiddenInMonitoring(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("PUT", "/api/user", `{"nickname":"Cus Tomer","fields":{"birthday":"1987-06-05"}}`,
		"customer")
	in.OK("GET", "/user/list?fields.birthday=1987-06-05", "", "owner").Brief(200, `"total":1`)
	in.OK("GET", "/user/list?filter="+url.QueryEscape(`{"fields.birthday":["1987-06-05"]}`), "",
		"owner").Brief(200, `"total":1`)
	in.Flush()
	in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Brief(200, "Cus Tomer",
		"fields.birthday")
	for _, list := range []string{"request", "query", "cache", "auth"} {
		in.OK("GET", "/system/monitor/"+list+"?pageSize=1000", "", "owner").Lacks("1987-06-05")
	}
}

func TestCustomField_NamedInPersonalData(t *testing.T) {
	t.Parallel()
	in := withShopFields(t)
	in.OK("DELETE", "/system/field/1", "", "owner")
	applyFields(in)
	var all strings.Builder
	for name, text := range in.FilesOf("/user/list/1/data", "owner") {
		fmt.Fprintln(&all, name, string(text))
	}
	for _, want := range []string{`"note":"owes money"`, `"deleted field 1":"gold"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %s in %s", want, all.String())
		}
	}
}
