package settings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// stored is a text that a type accepts: the text that is stored, and its value.
type stored struct{ text, kept, value string }

// asIs is a text that is stored unchanged and is its own value.
func asIs(text string) stored {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return stored{text, text, string(quoted)}
}

// number is a text that is stored unchanged and whose value is a number.
func number(text string) stored { return stored{text, text, text} }

var settingTypeCases = []struct {
	name, typ, options, props string
	takes                     []stored
	refuses                   []string
}{
	{"input", "input", "[]", "[]",
		[]stored{asIs(""), asIs("x"), asIs("  spaces stay  "), asIs("日本 🎉 <b>&</b>"),
			asIs("\ttab"), asIs(strings.Repeat("x", 1000))},
		[]string{"two\nlines", "two\rlines", "a\x00b", strings.Repeat("x", 1001)}},
	{"input with a length", "input", "[]", `[{"name":"maxlength","value":"3"}]`,
		[]stored{asIs("abc"), asIs("日本語")}, []string{"abcd", "日本語x"}},
	{"textarea", "textarea", "[]", "[]",
		[]stored{asIs("two\nlines\r\n\tmore"), asIs(strings.Repeat("x", 65536))},
		[]string{"a\x00b", strings.Repeat("x", 65537)}},
	{"number", "number", "[]", "[]",
		[]stored{{"", "", "null"}, number("0"), number("-1"), number("1.50"), number("1e3"),
			number("9007199254740993"), number("-0.001")},
		[]string{"x", "1,5", "0x10", "NaN", "Infinity", "1e999", "007", "+1", " 1", "1 ", ".5",
			"1.", "1_000", "٣", "true", "[1]"}},
	{"number with bounds", "number", "[]",
		`[{"name":"min","value":"-1.5"},{"name":"max","value":"10"},{"name":"step","value":"0.5"}]`,
		[]stored{number("-1.5"), number("10"), number("0")}, []string{"-1.51", "10.0001", "1e2"}},
	{"switch", "switch", "[]", "[]",
		[]stored{{"1", "1", "true"}, {"0", "0", "false"}, {"true", "1", "true"},
			{"false", "0", "false"}, {"", "0", "false"}},
		[]string{"2", "yes", "on", "TRUE", " 1", "-1", "null", "1.0"}},
	{"radio", "radio", servertest.TwoOptions, "[]", []stored{asIs(""), asIs("a"), asIs("b")},
		[]string{"c", "A", "a,b", " a", `["a"]`}},
	{"select", "select", servertest.TwoOptions, "[]", []stored{asIs(""), asIs("a"), asIs("b")},
		[]string{"c", "A", "a b"}},
	{"checkbox", "checkbox", servertest.TwoOptions, "[]",
		[]stored{{"", "[]", "[]"}, {"[]", "[]", "[]"}, {`["a"]`, `["a"]`, `["a"]`},
			{` [ "b" , "a" ] `, `["b","a"]`, `["b","a"]`}},
		[]string{"a", "a,b", `["c"]`, `["a","a"]`, `["a",null]`, `[1]`, `{"a":1}`, "null", `["a"`,
			`["a"] x`, `[["a"]]`}},
	{"date", "date", "[]", "[]", []stored{asIs(""), asIs("2025-05-08"), asIs("2024-02-29")},
		[]string{"2025-02-29", "2025-13-01", "08.05.2025", "2025-5-8", "20250508",
			"2025-05-08T00:00:00Z", "today"}},
	{"time", "time", "[]", "[]", []stored{asIs(""), asIs("00:00"), asIs("23:59"), asIs("23:59:59")},
		[]string{"24:00", "12:60", "12:30:61", "12", "noon", "12:30 PM", "1:02:03.4", "5:04",
			"-1:00"}},
	{"color", "color", "[]", "[]",
		[]stored{asIs(""), asIs("#fff"), asIs("#1677ff"), asIs("#1677FF80")},
		[]string{"1677ff", "#ff", "#fffff", "#gggggg", "red", "rgb(0,0,0)", "#1677ff\n",
			"#1677ff80a"}},
	{"image", "image", "[]", "[]", []stored{asIs(""), asIs("/media/abc-DEF_1.2")},
		[]string{"abc", "/media/", "/media/a/b", "https://example.org/x.png", "/media/../x",
			"javascript:alert(1)", "/media/a?b", "/media/a\n"}},
	{"json", "json", "[]", "[]",
		[]stored{{"", "", "null"},
			{`{"a":[1,2.50,"x",null,true]}`, `{"a":[1,2.50,"x",null,true]}`,
				`{"a":[1,2.50,"x",null,true]}`}, {"null", "null", "null"},
			{"12345678901234567890", "12345678901234567890", "12345678901234567890"},
			{` "x" `, ` "x" `, `"x"`}},
		[]string{"{", "{'a':1}", "a", "{} {}", "[1,]", "NaN", "{\"a\":\"\xff\"}",
			servertest.Nested(10_001)}},
	{"secret", "secret", "[]", "[]",
		[]stored{{"", "", `""`}, {"hunter2!", "******", `"******"`},
			{"******", "******", `"******"`}, {"two\nlines 🎉", "******", `"******"`},
			{strings.Repeat("x", 4096), "******", `"******"`}},
		[]string{"a\x00b", strings.Repeat("x", 4097)}},
}

// TestSettingType_Values changes a setting of each type to each text, alone and together with
// others; both must have the same result.
func TestSettingType_Values(t *testing.T) {
	t.Parallel()
	for _, c := range settingTypeCases {
		t.Run(c.name, func(t *testing.T) {
			in := servertest.Start(t)
			group := in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
			one := in.Create("/system/setting",
				fmt.Sprintf(`{"key":"one","title":"T","type":%q,"options":%s,"props":%s,"group_id":%d}`, c.typ, c.options, c.props, group))
			in.Create("/system/setting",
				fmt.Sprintf(`{"key":"two","title":"T","type":%q,"options":%s,"props":%s,"group_id":%d}`, c.typ, c.options, c.props, group))
			url := fmt.Sprintf("/system/setting/%d", one)
			for _, s := range c.takes {
				text := string(servertest.EncodeJSON(t, s.text))
				var record struct{ Values string }
				in.OK("PUT", url, `{"values":`+text+`}`, "owner").Data(&record)
				if record.Values != s.kept {
					t.Errorf("%.40q is kept as %.40q, want %.40q", s.text, record.Values, s.kept)
				}
				in.OK("PUT", "/system/setting", `{"values":{"g.two":`+text+`}}`, "owner")
				var effective map[string]map[string]json.RawMessage
				in.OK("GET", "/system/setting-value", "", "owner").Data(&effective)
				for _, key := range []string{"one", "two"} {
					if got := string(effective["g"][key]); !servertest.SameJSON(t, got, s.value) {
						t.Errorf("%.40q means %.40s in %s, want %.40s", s.text, got, key, s.value)
					}
				}
			}

			before := in.Dump()
			for _, text := range c.refuses {
				quoted := string(servertest.EncodeJSON(t, text))
				if strings.Contains(text, "\xff") {
					quoted = `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
					in.Call("PUT", url, `{"values":`+quoted+`}`, "owner").Brief(400)
					continue
				}
				if a := in.Call("PUT", url, `{"values":`+quoted+`}`, "owner"); a.Code != 422 ||
					a.Envelope().Errors["values"] == "" {
					t.Errorf("%.40q: %d %.300s", text, a.Code, a.Body)
				}
				if a := in.Call("PUT", "/system/setting", `{"values":{"g.two":`+quoted+`}}`,
					"owner"); a.Code != 422 || a.Envelope().Errors["values.g.two"] == "" {
					t.Errorf("%.40q with many: %d %.300s", text, a.Code, a.Body)
				}
			}

			in.Unchanged(before)
		})
	}
}

func TestSetting_RequiredFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	post := func(name, fields string, faults ...string) servertest.Case {
		has := []string{`"errorCode":"invalid"`, `"showType":1`}
		for _, f := range faults {
			has = append(has, `"`+f+`":`)
		}
		return servertest.Case{name, "POST", "/system/setting",
			`{"title":"T","group_id":8,` + fields + `}`, "owner", 422, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		post("a radio without options", `"key":"k","type":"radio"`, "options"),
		post("a select with no options", `"key":"k","type":"select","options":[]`, "options"),
		post("a checkbox without options", `"key":"k","type":"checkbox"`, "options"),
		post("an option twice",
			`"key":"k","type":"radio","options":[{"label":"A","value":"a"},{"label":"B","value":"a"}]`, "options[1].value"),
		post("an option without a label", `"key":"k","type":"radio","options":[{"value":"a"}]`,
			"options[0].label"),
		post("an option that is empty",
			`"key":"k","type":"radio","options":[{"label":" ","value":""}]`, "options[0].label",
			"options[0].value"),
		post("an option that is null", `"key":"k","type":"radio","options":[null]`, "options[0]"),
		post("an option that is a text", `"key":"k","type":"radio","options":["a"]`, "options[0]"),
		post("an option of numbers", `"key":"k","type":"radio","options":[{"label":1,"value":2}]`,
			"options[0].label", "options[0].value"),
		post("a bound that is not a number",
			`"key":"k","type":"number","props":[{"name":"min","value":"low"}]`, "props[0].value"),
		post("a bound that is no number at all",
			`"key":"nan","type":"number","props":[{"name":"max","value":"NaN"}]`, "props[0].value"),
		post("a bound twice",
			`"key":"k","type":"number","props":[{"name":"min","value":"1"},{"name":"min","value":"2"}]`, "props[1].name"),
		post("a bound without a name", `"key":"k","type":"number","props":[{"value":"1"}]`,
			"props[0].name"),
		post("a type that is none", `"key":"k","type":"password"`, "type"),
		post("a key in capitals", `"key":"Key","type":"input"`, "key"),
		post("a key with a dot", `"key":"a.b","type":"input"`, "key"),
		post("a key with a dash", `"key":"a-b","type":"input"`, "key"),
		post("a key that begins with a digit", `"key":"1a","type":"input"`, "key"),
		post("a value outside the bounds",
			`"key":"k","type":"number","values":"11","props":[{"name":"max","value":"10"}]`,
			"values"),
		post("a value that is no option",
			`"key":"k","type":"select","values":"c","options":`+servertest.TwoOptions, "values"),
		post("the mask where there is no secret", `"key":"k","type":"secret","values":"******"`,
			"values"),
		post("several faults at once",
			`"key":"K","type":"radio","sort":9999999,"props":[{"name":"max","value":"x"}]`, "sort"),
		{"several faults of the record at once", "POST", "/system/setting",
			`{"key":"K","title":"T","type":"radio","group_id":77,"props":[{"name":"max","value":"x"}]}`, "owner", 422,
			[]string{`"key":`, `"options":`, `"props[0].value":`, `"group_id":`}, nil},
		{"a group that is not there", "POST", "/system/setting",
			`{"key":"k","title":"T","type":"input","group_id":77}`, "owner", 422,
			[]string{`"group_id":`}, nil},
		{"no group", "POST", "/system/setting",
			`{"key":"k","title":"T","type":"input","group_id":0}`, "owner", 422,
			[]string{`"group_id":`}, nil},
		{"a key that the group has", "POST", "/system/setting",
			`{"key":"title","title":"T","type":"input","group_id":1}`, "owner", 409,
			[]string{`"errorCode":"duplicate"`, `"errors":{"key":`}, nil},
		{"the same key in another group", "POST", "/system/setting",
			`{"key":"title","title":"T","type":"input","group_id":8}`, "owner", 200, nil, nil},
	})
}

func TestSettingType_ChangeChecksValue(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.Create("/system/setting",
		`{"key":"k","title":"T","type":"input","values":"12","group_id":8}`)
	url := fmt.Sprintf("/system/setting/%d", id)
	in.Call("PUT", url, `{"type":"switch"}`, "owner").Names(422, "values")
	in.Call("PUT", url, `{"type":"select"}`, "owner").Names(422, "options")
	in.OK("PUT", url, `{"type":"number"}`, "owner").Brief(200, `"values":"12"`, `"type":"number"`)
	in.Call("PUT", url, `{"props":[{"name":"max","value":"11"}]}`, "owner").Names(422, "values")
	in.OK("PUT", url, `{"type":"switch","values":"1"}`, "owner").Brief(200, `"values":"1"`)
	in.OK("PUT", url, `{"type":"radio","options":`+servertest.TwoOptions+`,"values":"b"}`, "owner")
	in.Call("PUT", url, `{"options":[{"label":"A","value":"a"}]}`, "owner").Names(422, "values")
}
