package settings_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// withDicts returns an instance with two enabled dictionaries with items, a disabled one,
// and one without items.
func withDicts(t *testing.T) *servertest.Instance {
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"sex","name":"Sex","type":"tag","describe":"of a PERSON"}`)
	in.Create("/system/dict", `{"code":"level","name":"Level of a log","type":"badge"}`)
	in.Create("/system/dict", `{"code":"hidden","name":"Hidden","status":0}`)
	in.Create("/system/dict", `{"code":"empty","name":"Empty"}`)
	for _, item := range []struct{ dict, body string }{
		{"1", `{"label":"Male","value":"1","sort":2,"status":"processing"}`},
		{"1", `{"label":"Female","value":"2","sort":2,"status":"success"}`},
		{"1", `{"label":"Unknown","value":"0","sort":-1}`},
		{"1", `{"label":"Former","value":"9","switch":0,"status":"error"}`},
		{"2", `{"label":"Ünder","value":"1","status":"warning"}`},
		{"3", `{"label":"Never","value":"1"}`},
	} {
		in.Create("/system/dict/"+item.dict+"/item", item.body)
	}

	return in
}

func TestDict_Responses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const stamps = `,"created_at":` + servertest.SomeMoment + `,"updated_at":` + servertest.SomeMoment + `,"version":1}`
	for _, c := range []struct{ name, url, body, want string }{
		{"the least", "/system/dict", `{"code":"a","name":"A"}`,
			`{"id":1,"code":"a","name":"A","type":"default","describe":"","status":1,"public":0`},
		{"everything", "/system/dict",
			`{"code":"b.c-d_1","name":" B ","type":"tag","describe":"one\ntwo","status":false,"public":true}`,
			`{"id":2,"code":"b.c-d_1","name":"B","type":"tag","describe":"one\ntwo","status":0,"public":1`},
		{"the least item", "/system/dict/2/item", `{"label":"L","value":"v"}`,
			`{"id":1,"dict_id":2,"label":"L","value":"v","sort":0,"switch":1,"status":"default"`},
		{"a whole item", "/system/dict/2/item",
			`{"label":"日本 <b>","value":" 0x / ? ","sort":-5,"switch":false,"status":"warning"}`,
			`{"id":2,"dict_id":2,"label":"日本 \u003cb\u003e","value":"0x / ?","sort":-5,"switch":0,"status":"warning"`},
	} {
		body := in.OK("POST", c.url, c.body, "owner").Envelope().Data
		if got := servertest.Steady(string(body)); got != c.want+stamps {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want+stamps)
		}
	}
}

func TestDict_InvalidInput(t *testing.T) {
	t.Parallel()
	in := withDicts(t)
	all := func(method, url string) func(name, body string, status int,
		has ...string) servertest.Case {
		return func(name, body string, status int, has ...string) servertest.Case {
			return servertest.Case{name, method, url, body, "owner", status, has, nil}
		}
	}
	dict, put := all("POST", "/system/dict"), all("PUT", "/system/dict/1")
	item, putItem := all("POST", "/system/dict/1/item"), all("PUT", "/system/dict/1/item/1")
	taken := `"errorCode":"duplicate"`
	servertest.RunCases(t, in, []servertest.Case{
		dict("a code that another has", `{"code":"sex","name":"x"}`, 409, taken,
			`"errors":{"code":`),
		dict("a code that a disabled one has", `{"code":"hidden","name":"x"}`, 409, taken),
		dict("a code in capitals", `{"code":"Sex","name":"x"}`, 422, `"errors":{"code":`),
		dict("a code with a space", `{"code":"a b","name":"x"}`, 422, `"errors":{"code":`),
		dict("a code that begins with a digit", `{"code":"1a","name":"x"}`, 422,
			`"errors":{"code":`),
		dict("a type that is none", `{"code":"x","name":"x","type":"select"}`, 422,
			`"errors":{"type":`),
		dict("a name of white space", `{"code":"x","name":" "}`, 422, `"errors":{"name":`),
		dict("everything wrong at once", `{"code":"X","type":"x","describe":1,"status":2}`, 422,
			`"code":`, `"name":"is required"`, `"type":`, `"describe":`, `"status":`),
		dict("the items along with it", `{"code":"x","name":"x","items":[]}`, 400,
			`"errors":{"items":`),
		put("renamed to what another has", `{"code":"level"}`, 409, taken, `"errors":{"code":`),
		put("without a code", `{"code":""}`, 422, `"errors":{"code":`),
		put("without a name", `{"name":""}`, 422, `"errors":{"name":`),
		item("a value that another of the dictionary has", `{"label":"x","value":"1"}`, 409, taken,
			`"errors":{"value":`),
		item("a value that a switched-off one has", `{"label":"x","value":"9"}`, 409, taken),
		item("a value with white space around it that another has",
			`{"label":"x","value":" 1\u3000"}`, 409, taken),
		item("no value", `{"label":"x"}`, 422, `"errors":{"value":"is required"}`),
		item("an empty value", `{"label":"x","value":""}`, 422, `"errors":{"value":`),
		item("a value that is a number", `{"label":"x","value":7}`, 422,
			`"errors":{"value":"must be a string"}`),
		item("no label", `{"value":"x"}`, 422, `"errors":{"label":"is required"}`),
		item("a colour that is none", `{"label":"x","value":"x","status":"red"}`, 422,
			`"errors":{"status":`),
		item("a status as a flag", `{"label":"x","value":"x","status":1}`, 422,
			`"errors":{"status":`),
		item("a switch of 2", `{"label":"x","value":"x","switch":2}`, 422, `"errors":{"switch":`),
		item("a sort out of bounds", `{"label":"x","value":"x","sort":1000001}`, 422,
			`"errors":{"sort":`),
		putItem("given the value of another", `{"value":"2"}`, 409, taken, `"errors":{"value":`),
		putItem("without a value", `{"value":""}`, 422, `"errors":{"value":`),
		{"a dictionary with items deleted", "DELETE", "/system/dict/1", "", "owner", 409,
			[]string{`"errorCode":"in_use"`, "4 dictionary items"}, nil},
		{"a dictionary with a switched-off item deleted", "DELETE", "/system/dict/3", "", "owner",
			409, []string{`"errorCode":"in_use"`, "1 dictionary item"}, nil},
		{"the items of no dictionary", "GET", "/system/dict/99/item", "", "owner", 404,
			[]string{"dictionary 99 not found"}, nil},
		{"an item in no dictionary", "POST", "/system/dict/99/item", `{"label":"x","value":"x"}`,
			"owner", 404, []string{"dictionary 99 not found"}, nil},
		{"an item under another dictionary changed", "PUT", "/system/dict/2/item/1",
			`{"label":"x"}`, "owner", 404, []string{"dictionary item 1 not found in dictionary 2"},
			nil},
		{"an item under no dictionary changed", "PUT", "/system/dict/99/item/1", `{"label":"x"}`,
			"owner", 404, []string{"dictionary item 1 not found in dictionary 99"}, nil},
		{"an item under another dictionary deleted", "DELETE", "/system/dict/2/item/1", "",
			"owner", 404, []string{"dictionary item 1 not found in dictionary 2"}, nil},
		{"an item under no dictionary deleted", "DELETE", "/system/dict/99/item/1", "", "owner",
			404, []string{"dictionary item 1 not found in dictionary 99"}, nil},
		{"both ids no ids", "PUT", "/system/dict/x/item/y", "", "owner", 400,
			[]string{`"id":`, `"item_id":`}, nil},
		{"a list under no id, with more at fault", "GET", "/system/dict/x/item?page=0&a=1", "",
			"owner", 400, []string{`"id":`, `"page":`, `"a":`}, nil},
	})
}

func TestDict_ValidInput(t *testing.T) {
	t.Parallel()
	in := withDicts(t)
	servertest.RunCases(t, in, []servertest.Case{
		{"a value that another dictionary has", "POST", "/system/dict/4/item",
			`{"label":"x","value":"1"}`, "owner", 200, []string{`"dict_id":4`}, nil},
		{"a value in another case", "POST", "/system/dict/2/item", `{"label":"x","value":"A"}`,
			"owner", 200, nil, nil},
		{"and that in small letters", "POST", "/system/dict/2/item", `{"label":"x","value":"a"}`,
			"owner", 200, nil, nil},
		{"a label that another has", "POST", "/system/dict/1/item", `{"label":"Male","value":"m"}`,
			"owner", 200, nil, nil},
		{"its own value", "PUT", "/system/dict/1/item/1", `{"value":"1","label":"Man"}`, "owner",
			200, []string{`"label":"Man","value":"1","sort":2`}, nil},
		{"its own code", "PUT", "/system/dict/1", `{"code":"sex","name":"Gender"}`, "owner", 200,
			[]string{`"code":"sex","name":"Gender","type":"tag"`}, nil},
		{"an item is not moved by a dictionary in its body", "PUT", "/system/dict/1/item/1",
			`{"dict_id":2,"sort":3}`, "owner", 200, []string{`"dict_id":1`, `"sort":3`}, nil},
		{"the one item deleted", "DELETE", "/system/dict/3/item/6", "", "owner", 200,
			[]string{`"data":{}`}, nil},
		{"and then its dictionary", "DELETE", "/system/dict/3", "", "owner", 200,
			[]string{`"data":{}`}, nil},
		{"which frees the code", "POST", "/system/dict", `{"code":"hidden","name":"x"}`, "owner",
			200, nil, nil},
	})
}

func TestDict_Lists(t *testing.T) {
	t.Parallel()
	in := withDicts(t)
	filter := func(text string) string { return url.Values{"filter": {text}}.Encode() }
	sorter := func(text string) string { return url.Values{"sorter": {text}}.Encode() }
	const dict, item = "/system/dict?", "/system/dict/1/item?"
	for _, c := range []struct{ name, query, want string }{
		{"by id", dict, "1 2 3 4"},
		{"a part of the code", dict + "keywordSearch=MPT", "4"},
		{"a part of the name", dict + "keywordSearch=of+a+log", "2"},
		{"a part of the description", dict + "keywordSearch=person", "1"},
		{"not the type", dict + "keywordSearch=badge", ""},
		{"disabled", dict + "status=0", "3"},
		{"enabled by filter", dict + filter(`{"status":["1"]}`), "1 2 4"},
		{"a type", dict + "type=tag", "1"},
		{"any of two types", dict + filter(`{"type":["tag","badge"]}`), "1 2"},
		{"a type and a status", dict + "type=default&status=1", "4"},
		{"by code", dict + sorter(`{"code":"ascend"}`), "4 3 2 1"},
		{"by name, downwards", dict + sorter(`{"name":"descend"}`), "1 2 3 4"},
		{"by type, ties by id", dict + sorter(`{"type":"ascend"}`), "2 3 4 1"},
		{"the newest first", dict + sorter(`{"created_at":"descend"}`), "4 3 2 1"},
		{"the second page", dict + "page=2&pageSize=3", "4"},
		{"items by sort, then id", item, "3 4 1 2"},
		{"items of another", "/system/dict/2/item?", "5"},
		{"items of none", "/system/dict/4/item?", ""},
		{"a part of the label", item + "keywordSearch=MALE", "1 2"},
		{"a part of the value", item + "keywordSearch=9", "4"},
		{"a letter beyond ASCII", "/system/dict/2/item?keywordSearch=%C3%BC", "5"},
		{"what another dictionary has", item + "keywordSearch=gr%C3%BCn", ""},
		{"not the colour", item + "keywordSearch=processing", ""},
		{"switched off", item + "switch=0", "4"},
		{"switched on by filter", item + filter(`{"switch":[true]}`), "3 1 2"},
		{"a colour", item + "status=success", "2"},
		{"any of two colours", item + filter(`{"status":["error","default"]}`), "3 4"},
		{"a colour that is none", item + "status=red", ""},
		{"items by id, downwards", item + sorter(`{"id":"descend"}`), "4 3 2 1"},
		{"by label", item + sorter(`{"label":"ascend"}`), "2 4 1 3"},
		{"by value, downwards", item + sorter(`{"value":"descend"}`), "4 2 1 3"},
		{"by sort, downwards, ties by id", item + sorter(`{"sort":"descend"}`), "1 2 4 3"},
		{"the second page of items", item + "page=2&pageSize=3", "2"},
	} {
		var p struct {
			Data []struct{ ID int }
		}
		in.OK("GET", c.query, "", "owner").Data(&p)
		ids := []string{}
		for _, d := range p.Data {
			ids = append(ids, fmt.Sprint(d.ID))
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	for query, field := range map[string]string{
		dict + "code=sex": "code", dict + "switch=1": "switch",
		dict + sorter(`{"describe":"ascend"}`): "sorter",
		dict + filter(`{"status":["on"]}`):     "filter",
		item + "value=1":                       "value", item + "dict_id=1": "dict_id",
		item + filter(`{"sort":[1]}`): "filter",
	} {
		in.Call("GET", query, "", "owner").Names(400, field)
	}
}
