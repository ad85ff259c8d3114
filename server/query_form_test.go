package server_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/server/web"
)

// TestQuery_IDsRepeatedOrJoined: generated clients repeat the key, others join with
// commas or add brackets.
func TestQuery_IDsRepeatedOrJoined(t *testing.T) {
	t.Parallel()
	for _, rt := range server.Routes() {
		if rt.List != nil || rt.Input.Find("query", "ids") == nil ||
			!slices.Contains([]string{"DELETE /admin/list", "PUT /file/list", "DELETE /file/list",
				"DELETE /file/trash"}, rt.Name()) {
			continue // the others have the same input: TestBulkDelete_ExistsForEveryDelete
		}
		t.Run(rt.Name(), func(t *testing.T) {
			in := servertest.Start(t)
			for i := range 3 {
				in.Create("/admin/list", fmt.Sprintf(`{"username":"user%d"}`, i))
				in.Keep("owner", fmt.Sprint(i), "text")
			}

			left := func() string { return in.OK("GET", rt.Path, "", "owner").Body }
			body, url := "", rt.Path
			if rt.Method == "PUT" {
				body = `{"public":1}`
			}
			if strings.HasSuffix(url, "/trash") {
				in.OK("DELETE", "/file/list?ids=1&ids=2&ids=3", "", "owner")
			}

			for _, bad := range []string{"ids=&ids=", "ids", "ids=2&ids=x", "ids=2&ids=0",
				"ids=2&ids=3,", "ids[]=2&ids[]=-1", "ids=2&ids[1]=3"} {
				before := in.Dump()
				in.Call(rt.Method, url+"?"+bad, body, "owner").Brief(400)
				in.Unchanged(before)
			}

			many := strings.Repeat("&ids=2", web.MaxIDs+1)
			in.Call(rt.Method, url+"?"+many[1:], body, "owner").Names(400, "ids")
			before := left()
			in.Call(rt.Method, url+"?ids=2&ids=77", body, "owner").Brief(404)
			if left() != before {
				t.Error("a part of it was done")
			}

			for _, good := range []string{"ids=2&ids=3", "ids=2,3", "ids[]=2&ids[]=3",
				"ids%5B%5D=2&ids=3", "ids=2&ids=&ids=2,3"} {
				here := servertest.Start(t)
				for i := range 3 {
					here.Create("/admin/list", fmt.Sprintf(`{"username":"user%d"}`, i))
					here.Keep("owner", fmt.Sprint(i), "text")
				}

				if strings.HasSuffix(url, "/trash") {
					here.OK("DELETE", "/file/list?ids=1,2,3", "", "owner")
				}

				here.OK(rt.Method, url+"?"+good, body, "owner")
				rest, want := here.OK("GET", url, "", "owner").Body, `"total":1,`
				switch {
				case rt.Method == "PUT":
					rest, want = here.OK("GET", url+"?public=1", "", "owner").Body, `"total":2,`
				case strings.HasPrefix(url, "/admin"):
					want = `"total":2,`
				}

				if !strings.Contains(rest, want) {
					t.Errorf("%s: no %s in %s", good, want, rest)
				}
			}

			checkArrayParameter(in, &rt, "ids")
		})
	}
}

// checkArrayParameter fails unless a parameter is documented as an array with a repeated key.
func checkArrayParameter(in *servertest.Instance, rt *web.Route, name string) {
	in.T.Helper()
	_, op := servertest.FindOperation(rt.Method, openapi.DocumentPath(rt.Path))
	for _, p := range op["parameters"].([]any) {
		if p := p.(openapi.Object); p["name"] == name {
			if p["style"] != "form" || p["explode"] != true ||
				p["schema"].(openapi.Object)["type"] != "array" {
				in.T.Errorf("%s: %v", rt.Name(), p)
			}
			return
		}
	}
	in.T.Errorf("%s: %s is not documented", rt.Name(), name)
}

// TestQuery_RangesRepeatedOrJoined sends ranges with brackets and without, to every list.
func TestQuery_RangesRepeatedOrJoined(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, rt := range server.Routes() {
		if rt.List == nil || rt.List.Under {
			continue
		}
		for _, name := range rt.List.Names(web.Ranged) {
			for _, good := range []string{
				"%[1]s[]=%[2]s&%[1]s[]=%[3]s", "%[1]s=%[2]s&%[1]s=%[3]s", "%[1]s=%[2]s,%[3]s",
				"%[1]s[]=%[2]s,%[3]s", "%[1]s[]=%[2]s&%[1]s[]=", "%[1]s=,%[3]s",
			} {
				in.OK("GET", rt.Path+"?"+fmt.Sprintf(good, name, "2001-01-01", "2002-01-01"), "",
					holder(&rt))
			}
			for bad, at := range map[string]string{
				"%[1]s=%[2]s": "", "%[1]s=%[2]s,%[3]s,%[3]s": "",
				"%[1]s=%[2]s,%[3]s&%[1]s=%[3]s": "", "%[1]s=x,y": "",
				"%[1]s[]=%[2]s&%[1]s[]=%[3]s&%[1]s=%[2]s,%[3]s": "[]",
			} {
				in.Call("GET", rt.Path+"?"+fmt.Sprintf(bad, name, "2001-01-01", "2002-01-01"), "",
					holder(&rt)).Names(400, name+at)
			}
			checkArrayParameter(in, &rt, name+"[]")
		}
	}

	in.Lists("/admin/list?created_at=2001-01-01&created_at=2002-01-01", "username", "owner")
	in.Lists("/admin/list?created_at=2001-01-01,2999-01-01", "username", "owner", "admin")
}

// TestQuery_SingleParameterRepeated checks that every route rejects the repetition.
func TestQuery_SingleParameterRepeated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	in.AppUser("customer")
	for _, rt := range server.Routes() {
		if rt.Input == nil {
			continue
		}
		for _, f := range rt.Input.Fields {
			if f.From == "query" && f.Typ.Kind() != reflect.Slice {
				url := strings.NewReplacer(":id", "1", ":key", "x").Replace(rt.Path)
				a := in.Call(rt.Method, url+"?"+f.Name+"=1&"+f.Name+"=1", "", holder(&rt))
				if a.Code != 400 ||
					a.Envelope().Errors[f.Name] != "must be given once, not 2 times" {
					t.Errorf("%s %s: %d %s", rt.Name(), f.Name, a.Code, a.Body)
				}
			}
		}
	}
}
