package settings_test

import (
	"fmt"
	"net/http"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// withOneOfEachType returns an instance with the settings g.<type>, with options a and b.
func withOneOfEachType(t *testing.T) *servertest.Instance {
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	for _, typ := range []string{"input", "textarea", "number", "switch", "radio", "select",
		"checkbox", "date", "time", "color", "image", "json", "secret"} {
		in.Create("/system/setting",
			fmt.Sprintf(`{"key":%q,"title":"T","type":%[1]q,"options":%s,"group_id":8}`, typ,
				servertest.TwoOptions))
	}
	return in
}

func TestSettingSave_TypedValueOrText(t *testing.T) {
	t.Parallel()
	in := withOneOfEachType(t)
	in.OK("PUT", "/system/setting",
		`{"values":{"g.input":"x","g.textarea":"a\nb","g.number":12.50,"g.switch":true,"g.radio":"a","g.select":"b",`+
			`"g.checkbox":["b","a"],"g.date":"2025-05-08","g.time":"03:04","g.color":"#fff","g.image":"/media/x","g.json":{"a":[1,{"b":null}],"big":12345678901234567890},"g.secret":"s"}}`, "owner").
		Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	want := `"g":{"checkbox":["b","a"],"color":"#fff","date":"2025-05-08","image":"/media/x","input":"x","json":{"a":[1,{"b":null}],"big":12345678901234567890},` +
		`"number":12.50,"radio":"a","secret":"******","select":"b","switch":true,"textarea":"a\nb","time":"03:04"}`
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, want)
	in.OK("PUT", "/system/setting",
		`{"values":{"g.number":"12.50","g.switch":"1","g.checkbox":"[\"b\",\"a\"]","g.json":"{\"a\":[1,{\"b\":null}],\"big\":12345678901234567890}"}}`, "owner")
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, want)
	in.OK("PUT", "/system/setting",
		`{"values":{"g.switch":0,"g.number":-3,"g.json":[],"g.checkbox":[]}}`, "owner")
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, `"switch":false`, `"number":-3`,
		`"json":[]`, `"checkbox":[]`)
	in.OK("PUT", "/system/setting", `{"values":{"g.json":true}}`, "owner")
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, `"json":true`)
}

func TestSettingSave_AllOrNothing(t *testing.T) {
	t.Parallel()
	in := withOneOfEachType(t)
	save := func(name, values string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", "/system/setting", `{"values":{` + values + `}}`,
			"owner", status, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		save("one good, one bad", `"g.input":"kept?","g.number":"x"`, 422,
			`"errors":{"values.g.number":`),
		save("a secret and a bad one", `"g.secret":"kept?","g.switch":"maybe"`, 422,
			`"errors":{"values.g.switch":`),
		save("every fault is named",
			`"g.number":true,"g.switch":2,"g.radio":"c","g.checkbox":["c"],"g.date":"x","g.time":"x","g.color":"x","g.image":"x","g.json":"{","g.input":"ok"`, 422,
			`"values.g.number":`, `"values.g.switch":`, `"values.g.radio":`,
			`"values.g.checkbox":`, `"values.g.date":`, `"values.g.time":`, `"values.g.color":`,
			`"values.g.image":`, `"values.g.json":`),
		save("settings that are not there",
			`"g.none":"x","none.input":"x","g":"x","":"x","g.input.x":"y","G.input":"z"`, 422,
			`"values.g.none":`, `"values.none.input":`, `"values.g":`, `"values.":`,
			`"values.g.input.x":`, `"values.G.input":`),
		save("nulls", `"g.input":null,"g.number":null,"g.switch":null`, 422, `"values.g.input":`,
			`"values.g.number":`, `"values.g.switch":`),
		save("the wrong JSON types",
			`"g.input":1,"g.textarea":true,"g.radio":["a"],"g.checkbox":"a","g.date":20250508,"g.secret":12,"g.number":[1]`, 422,
			`"values.g.input":`, `"values.g.textarea":`, `"values.g.radio":`,
			`"values.g.checkbox":`, `"values.g.date":`, `"values.g.secret":`, `"values.g.number":`),
		save("an array of objects for a checkbox", `"g.checkbox":[{"a":1}]`, 422,
			`"values.g.checkbox":`),
		save("one setting twice", `"g.input":"a","g.input":"b"`, 400,
			`"values.g.input":"is given twice"`),
		save("nothing", ``, 200),
		{"no values", "PUT", "/system/setting", `{}`, "owner", 422,
			[]string{`"values":"is required"`}, nil},
		{"values that are an array", "PUT", "/system/setting", `{"values":["g.input"]}`, "owner",
			422, []string{`"values":`}, nil},
	})
}

func TestSettingRefresh_Result(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var first, second struct {
		Count      int
		Generation uint64
		TookMS     *float64 `json:"took_ms"`
	}
	in.OK("POST", "/system/setting/refresh", "", "owner").Data(&first)
	in.OK("POST", "/system/setting/refresh", "", "owner").Data(&second)
	if first.Count != len(store.Builtins) || second.Generation != first.Generation+1 ||
		second.TookMS == nil || *second.TookMS < 0 {
		t.Errorf("%+v, then %+v", first, second)
	}

	in.Create("/system/setting", `{"key":"more","title":"M","type":"input","group_id":1}`)
	before := in.OK("GET", "/system/setting", "", "owner").Body
	in.OK("POST", "/system/setting/refresh", "", "owner").Data(&second)
	if second.Count != len(store.Builtins)+1 {
		t.Errorf("%d settings after one more", second.Count)
	}
	if after := in.OK("GET", "/system/setting", "", "owner").Body; after != before {
		t.Errorf("the refresh changed what is read:\n%s\n%s", before, after)
	}
}

func TestSettingValues_ETag(t *testing.T) {
	t.Parallel()
	in := withOneOfEachType(t)
	read := func(match string) *servertest.Reply {
		r := in.Request("GET", "/system/setting-value", "", "owner")
		if match != "" {
			r.Header.Set("If-None-Match", match)
		}
		return in.Send(r)
	}
	tag := read("").Header.Get("ETag")
	if len(tag) < 10 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		t.Fatalf("the tag is %s", tag)
	}

	for _, match := range []string{tag, "W/" + tag, `"x", ` + tag, `"x" ,W/` + tag + `, "y"`, "*"} {
		if a := read(match); a.Code != http.StatusNotModified || a.Header.Get("ETag") != tag {
			t.Errorf("%s: %d, %s", match, a.Code, a.Header.Get("ETag"))
		}
	}

	for _, match := range []string{`"x"`, tag[1 : len(tag)-1], `"` + tag, tag[:len(tag)-1]} {
		if a := read(match); a.Code != 200 {
			t.Errorf("%s: %d", match, a.Code)
		}
	}

	for name, change := range map[string]struct{ method, url, body string }{
		"a title": {"PUT", servertest.OwnSetting(1),
			`{"title":"Other","describe":"d","sort":3}`},
		"the same value": {"PUT", "/system/setting", `{"values":{"site.title":"Reeve"}}`},
		"a remark":       {"PUT", "/system/setting-group/8", `{"remark":"r"}`},
		"an option's name": {"PUT", servertest.OwnSetting(5),
			`{"options":[{"label":"Other","value":"a"}]}`},
		"a refresh":      {"POST", "/system/setting/refresh", ""},
		"something else": {"PUT", "/admin/info", `{"nickname":"x"}`},
	} {
		in.OK(change.method, change.url, change.body, "owner")
		if got := read(tag); got.Code != http.StatusNotModified {
			t.Errorf("%s changed the tag", name)
		}
	}

	for _, change := range []struct{ name, method, url, body string }{
		{"a value", "PUT", "/system/setting", `{"values":{"g.input":"x"}}`},
		{"a type", "PUT", servertest.OwnSetting(1), `{"type":"json","values":"1"}`},
		{"a key", "PUT", servertest.OwnSetting(1), `{"key":"renamed"}`},
		{"a group's key", "PUT", "/system/setting-group/8", `{"key":"h"}`},
		{"a new setting", "POST", "/system/setting",
			`{"key":"new","title":"T","type":"input","group_id":8}`},
		{"one setting less", "DELETE", servertest.OwnSetting(1), ""},
	} {
		in.OK(change.method, change.url, change.body, "owner")
		a := read(tag)
		if a.Code != 200 {
			t.Errorf("%s did not change the tag", change.name)
		}
		tag = a.Header.Get("ETag")
	}
}
