package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
)

// Invalid bodies, each sent to an operation that accepts a valid one.

// The body itself is one level, and values another.
func valuesNested(levels int) string {
	return `{"values":{"site.title":` + servertest.Nested(levels-2) + `}}`
}

func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const url = "/admin/info"
	malformed := `"errorCode":"malformed"`
	servertest.RunCases(t, in, []servertest.Case{
		{"cut short", "PUT", url, `{"nickname":"x"`, "owner", 400,
			[]string{malformed, "not valid JSON", "line 1"}, nil},
		{"a stray comma on the third line", "PUT", url, "{\n\"nickname\":\n\"x\",}", "owner", 400,
			[]string{malformed, "line 3"}, nil},
		{"single quotes", "PUT", url, `{'nickname':'x'}`, "owner", 400, []string{malformed}, nil},
		{"a comment", "PUT", url, `{"nickname":"x"} // hi`, "owner", 400, []string{malformed}, nil},
		{"NaN", "PUT", url, `{"sex":NaN}`, "owner", 400, []string{malformed}, nil},
		{"a number with a leading zero", "PUT", url, `{"sex":01}`, "owner", 400,
			[]string{malformed}, nil},
		{"a byte order mark", "PUT", url, "\ufeff" + `{"nickname":"x"}`, "owner", 400,
			[]string{malformed}, nil},
		{"a raw line break in a text", "PUT", url, "{\"nickname\":\"a\nb\"}", "owner", 400,
			[]string{malformed}, nil},
		{"a second value", "PUT", url, `{"nickname":"x"}{"nickname":"y"}`, "owner", 400,
			[]string{malformed}, nil},
		{"a bracket too many", "PUT", url, `{"nickname":"x"}}`, "owner", 400, []string{malformed},
			nil},
		{"bytes that are not UTF-8", "PUT", url, "{\"nickname\":\"\xff\xfe\"}", "owner", 400,
			[]string{malformed, "UTF-8"}, nil},
		{"an overlong slash", "PUT", url, "{\"nickname\":\"\xc0\xaf\"}", "owner", 400,
			[]string{malformed, "UTF-8"}, nil},
		{"half a surrogate pair", "PUT", url, `{"nickname":"\ud800"}`, "owner", 400,
			[]string{malformed}, nil},
		{"a null", "PUT", url, `null`, "owner", 400, []string{malformed, "object"}, nil},
		{"an array", "PUT", url, `[{"nickname":"x"}]`, "owner", 400, []string{malformed, "object"},
			nil},
		{"a text", "PUT", url, `"nickname"`, "owner", 400, []string{malformed, "object"}, nil},
		{"a key twice", "PUT", url, `{"nickname":"x","sex":1,"nickname":"y"}`, "owner", 400,
			[]string{malformed, `"errors":{"nickname":"is given twice"}`}, nil},
		{"a key twice, once escaped", "PUT", url, `{"nickname":"x","nick\u006eame":"y"}`, "owner",
			400, []string{malformed, `"nickname":"is given twice"`}, nil},
		{"a nested key twice", "POST", "/system/setting",
			`{"key":"k","title":"T","type":"radio","group_id":1,"options":[{"label":"a","value":"b","label":"c"}]}`, "owner", 400, []string{malformed, `"options[0].label":"is given twice"`}, nil},
		{"a nested key that is not one", "POST", "/system/setting",
			`{"key":"k","title":"T","type":"radio","group_id":1,"options":[{"label":"a","value":"b","colour":"c"}]}`, "owner", 400, []string{malformed, `"options[0].colour"`}, nil},
		{"a key in another case", "PUT", url, `{"NickName":"x"}`, "owner", 400,
			[]string{malformed, `"NickName":"unknown field; did you mean nickname?"`}, nil},
		{"several keys that are not there, all named", "PUT", url, `{"a":1,"b":2,"c":3}`, "owner",
			400, []string{malformed, `"a":`, `"b":`, `"c":`}, nil},
		{"65 levels", "PUT", "/system/setting", valuesNested(65), "owner", 400,
			[]string{malformed, "64 levels"}, nil},
		{"ten thousand levels", "PUT", url, servertest.Nested(10_000), "owner", 400,
			[]string{malformed}, nil},
		{"a hundred thousand levels", "PUT", url, servertest.Nested(100_000), "owner", 400,
			[]string{malformed}, nil},
		{"64 levels, which is a matter of the field", "PUT", "/system/setting", valuesNested(64),
			"owner", 422, []string{`"values.site.title":`}, nil},
		{"no body where something is required", "POST", "/admin/rule", "", "owner", 422,
			[]string{`"key":`, `"name":`, `"type":`}, nil},
		{"an empty object where something is required", "POST", "/admin/rule", "{}", "owner", 422,
			[]string{`"key":`, `"name":`, `"type":`}, nil},
		{"no body where nothing is required", "PUT", url, "", "owner", 200,
			[]string{`"username":"admin"`}, nil},
		{"white space where nothing is required", "PUT", url, " \n\t ", "owner", 200,
			[]string{`"username":"admin"`}, nil},
		{"an empty object where nothing is required", "PUT", url, "{}", "owner", 200, nil, nil},
		{"an empty object where there are no fields", "POST", "/system/setting/refresh", "{}",
			"owner", 200, nil, nil},
		{"a GET with a body", "GET", "/system/setting/1", `{}`, "owner", 400, []string{malformed},
			nil},
		{"a list with a body", "GET", "/system/setting", `{"page":1}`, "owner", 400,
			[]string{malformed}, nil},
		{"the description with a body", "GET", "/openapi.json", `{}`, "nobody", 400,
			[]string{malformed}, nil},
	})
}

func TestTooLargeBodies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before := in.Dump()
	big := `{"nickname":"` + strings.Repeat("x", 2<<20) + `"}`
	for name, length := range map[string]int64{"with its length": int64(len(big)), "in chunks": -1} {
		r := in.Request("PUT", "/admin/info", "{}", "owner")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(big)), length
		a := in.Send(r)
		a.Brief(413, `"errorCode":"too_large"`, `"showType":2`)
		if a.Header.Get("Connection") != "close" {
			t.Errorf("%s: the connection stays open with the body half read", name)
		}
	}

	for name, spaces := range map[string]int{
		"the last byte that fits": 1<<20 - 2,
		"the first that does not": 1<<20 - 1,
	} {
		r := in.Request("PUT", "/admin/info", "{}"+strings.Repeat(" ", spaces), "owner")
		r.ContentLength = -1
		if a, fits := in.Send(r), spaces == 1<<20-2; (a.Code == 200) != fits ||
			!fits && a.Code != 413 {
			t.Errorf("%s: %d", name, a.Code)
		}
	}

	in.Unchanged(before)
}

// TestUnauthorizedRequest_BodyIsNotRead: unauthorized clients cannot make the server read
// a body.
func TestUnauthorizedRequest_BodyIsNotRead(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	for _, rt := range server.Routes() {
		if rt.Access == web.Public || rt.Access == web.AnyRealm {
			continue
		}
		r := in.Request(rt.Method, servertest.URLOf(&rt), "", "nobody")
		if rt.Access == web.AnyRealm {
			r.Header.Set("Authorization", "Bearer unknown")
		}
		r.Body, r.ContentLength = io.NopCloser(forbiddenReader{t, rt.Name()}), -1
		in.Send(r).Brief(401)
	}
}

type forbiddenReader struct {
	t    *testing.T
	name string
}

func (f forbiddenReader) Read([]byte) (int, error) {
	f.t.Errorf("%s: the body was read", f.name)
	return 0, io.EOF
}

func TestAbortedBody(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before := in.Dump()
	r := in.Request("PUT", "/admin/info", "{}", "owner")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"nickname":"x"}`),
		servertest.BrokenReader{}))
	r.ContentLength = 1000
	in.Send(r).Brief(400, `"errorCode":"malformed"`)
	in.Unchanged(before)
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for media, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "APPLICATION/JSON": 200,
		" application/json ": 200,
		"":                   415, "text/plain": 415, "application/x-www-form-urlencoded": 415,
		"multipart/form-data; boundary=x": 415,
		"application/json-patch+json":     415, "application/xml": 415, "json": 415,
		"application/json; charset": 415,
	} {
		r := in.Request("PUT", "/admin/info", `{"nickname":"`+media+`"}`, "owner")
		r.Header.Set("Content-Type", media)
		a := in.Send(r)
		if a.Code != status || status == 415 && a.Envelope().ErrorCode != "unsupported_media_type" {
			t.Errorf("%q: %d %s, want %d", media, a.Code, a.Body, status)
		}
	}

	r := in.Request("PUT", "/admin/info", "", "owner")
	r.Header.Set("Content-Type", "text/plain")
	in.Send(r).Brief(200)
}

func TestAuthorizationScheme_IgnoresCase(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "Bearer  "} {
		r := in.Request("GET", "/admin/info", "", "nobody")
		r.Header.Set("Authorization", scheme+in.Tokens["owner"])
		in.Send(r).Brief(200)
	}
}

// TestCacheControl_NotCachedByProxies checks the headers of every kind of response.
func TestCacheControl_NotCachedByProxies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for url, want := range map[string]string{
		"/admin/info": "no-store", "/system/setting": "no-store", "/nowhere": "no-store",
		"/system/setting/77": "no-store",
		"/system/backup":     "no-store", "/system/setting-value": "private, no-cache",
	} {
		h := in.Call(http.MethodGet, url, "", "owner").Header
		if h.Get("Cache-Control") != want || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", url, h)
		}
	}
}

func TestMissingRecords(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	in.Create("/system/dict", `{"code":"colour","name":"Colour"}`)
	in.Create("/system/dict/1/item", `{"label":"Red","value":"red"}`)
	in.Create("/system/webhook", `{"url":"https://example.org/","types":["*"]}`)
	in.Upload("/file/list", "a text", "owner")
	in.Upload("/file/list/1/version", "another text", "owner")
	var cases []servertest.Case
	for _, rt := range server.Routes() {
		body := ""
		switch {
		case strings.HasSuffix(rt.Path, "/show"):
			body = `{"show":1}`
		case strings.HasSuffix(rt.Path, "/status"):
			body = `{"status":1}`
		case strings.HasSuffix(rt.Path, "/rule"):
			body = `{"rule_ids":[]}`
		case strings.HasSuffix(rt.Path, "/:id/role"):
			body = `{"role_ids":[]}`
		case strings.HasSuffix(rt.Path, "/share"):
			body = `{"shared":1}`
		case strings.HasSuffix(rt.Path, "/default"):
			body = `{"default":1}`
		case strings.HasSuffix(rt.Path, "/act-as"):
			body = `{"reason":"x"}`
		case strings.HasSuffix(rt.Path, "/erase"):
			body = `{"username":"x"}`
		case strings.HasSuffix(rt.Path, "/replay"):
			body = `{"from":1}`
		case strings.HasSuffix(rt.Path, "/item"):
			body = map[string]string{"POST": `{"label":"Blue","value":"blue"}`}[rt.Method]
		}

		if rt.Path == "/file/list/:id/version" && rt.Method == "POST" {
			continue // a form, see TestVersion_Refuses
		}
		if rt.Path == "/file/signed/:id" || rt.Protocol != nil || rt.Binary == web.HTMLMedia {
			continue // a wrong signature hides whether the file exists; a protocol has its own errors, and a page is no JSON
		}

		for _, name := range pathParams(&rt) {
			cases = append(cases, notThere(&rt, name, body)...)
		}
	}

	servertest.RunCases(t, in, cases)
}

// pathParams returns the names of the parameters in a route's path.
func pathParams(rt *web.Route) (names []string) {
	for segment := range strings.SplitSeq(rt.Path, "/") {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			names = append(names, name)
		}
	}
	return names
}

// notThere returns paths in which one parameter is an unknown or invalid ID, and the
// others are 1.
func notThere(rt *web.Route, name, body string) (cases []servertest.Case) {
	url := func(id string) string {
		segments := strings.Split(rt.Path, "/")
		for i, s := range segments {
			if s == ":"+name {
				segments[i] = id
			} else if s == ":collection" {
				segments[i] = "role"
			} else if strings.HasPrefix(s, ":") {
				segments[i] = "1"
			}
		}

		path := strings.Join(segments, "/")
		if rt.Input != nil && rt.Input.Has("query", "ids") {
			path += "?ids=999999"
		}

		return path
	}
	if name == "collection" {
		return []servertest.Case{{rt.Name() + " " + name, rt.Method, url("none"), body, holder(rt),
			400, []string{`"code":"one_of"`}, nil}}
	}
	if name == "name" { // of a sign-in provider
		return []servertest.Case{{rt.Name() + " " + name, rt.Method, url("999999"), body,
			holder(rt), 404, []string{`"errorCode":"no_provider"`}, nil}}
	}
	if name == "key" || strings.HasPrefix(rt.Path, "/system/monitor/request/") { // any text is a valid key
		return []servertest.Case{{rt.Name() + " " + name, rt.Method, url("999999"), body,
			holder(rt), 404, []string{`"errorCode":"not_found"`}, nil}}
	}

	for _, id := range []string{"999999", "9223372036854775807"} {
		missing := id
		if rt.Input != nil && rt.Input.Has("query", "ids") {
			missing = "999999"
		}
		cases = append(cases,
			servertest.Case{rt.Name() + " " + name + " " + id, rt.Method, url(id), body,
				holder(rt), 404,
				[]string{`"errorCode":"not_found"`, missing}, nil})
	}

	for _, id := range []string{"0", "-1", "18446744073709551616", "18446744073709551615",
		"9223372036854775808", "abc", "1.5", "+1", "1e3", "0x1", "%201", "1%00", "٣", "1,2"} {
		cases = append(cases,
			servertest.Case{rt.Name() + " " + name + " " + id, rt.Method, url(id), body,
				holder(rt), 400,
				[]string{`"errorCode":"malformed"`,
					`"errors":{"` + name + `":"must be a positive integer"}`}, nil})
	}

	return cases
}
