package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// served is the document as a client gets it.
func served(t *testing.T, in *servertest.Instance) openapi.Object {
	t.Helper()
	var doc openapi.Object
	servertest.Must(t,
		json.Unmarshal([]byte(in.OK("GET", "/openapi.json", "", "nobody").Body), &doc))
	return doc
}

// operations returns the operations of a document, as "METHOD /path".
func operations(doc openapi.Object) map[string]openapi.Object {
	all := map[string]openapi.Object{}
	for path, item := range doc["paths"].(openapi.Object) {
		for method, op := range item.(openapi.Object) {
			all[strings.ToUpper(method)+" "+path] = op.(openapi.Object)
		}
	}
	return all
}

func TestOpenAPIDocument_ExactRoutes(t *testing.T) {
	t.Parallel()
	var want []string
	for _, rt := range server.Routes() {
		want = append(want, rt.Method+" "+openapi.DocumentPath(rt.Path))
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(operations(served(t, servertest.Start(t)))))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- routes, + document):\n%s", diff)
	}
}

func TestRoutes_Unique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rt := range server.Routes() {
		if seen[rt.Name()] {
			t.Errorf("%s stands twice in the table", rt.Name())
		}
		seen[rt.Name()] = true
	}
}

func TestOperations_UniqueNames(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for name, op := range operations(served(t, servertest.Start(t))) {
		id := op["operationId"].(string)
		if other := ids[id]; other != "" {
			t.Errorf("%s and %s are both called %s", name, other, id)
		}
		ids[id] = name
		if op["summary"] == "" || len(op["tags"].([]any)) != 1 {
			t.Errorf("%s has no summary or not one tag: %v", name, op)
		}
	}
}

func TestOpenAPIDocument_Access(t *testing.T) {
	t.Parallel()
	ops := operations(served(t, servertest.Start(t)))
	for _, rt := range server.Routes() {
		op := ops[rt.Method+" "+openapi.DocumentPath(rt.Path)]
		security := op["security"].([]any)
		access, _ := op["x-access"].(string)
		ways := map[string]string{
			web.Public:       "[]",
			web.AnyRealm:     "[map[] map[bearer:[]] map[cookie:[]]]",
			web.MetricsToken: "[map[metrics:[]]]",
		}[rt.Access]
		if ways == "" {
			ways = "[map[bearer:[]] map[cookie:[]]]"
		}
		if rt.ClientCredentials {
			ways = "[map[bearer:[]] map[cookie:[]] map[basic:[]]]"
		}
		if fmt.Sprint(security) != ways ||
			access != rt.Access && (access != "" || rt.Access != web.Public) {
			t.Errorf("%s: security %v, x-access %q", rt.Name(), security, access)
		}
	}
}

func TestOpenAPIDocument_ParametersAndFields(t *testing.T) {
	t.Parallel()
	doc := served(t, servertest.Start(t))
	ops := operations(doc)
	for _, rt := range server.Routes() {
		op := ops[rt.Method+" "+openapi.DocumentPath(rt.Path)]
		var params, fields, wantParams, wantFields []string
		list, _ := op["parameters"].([]any)
		for _, p := range list {
			if p.(openapi.Object)["$ref"] != nil {
				continue // see TestOpenAPIDocument_ImpersonationHeader
			}
			params = append(params,
				fmt.Sprint(p.(openapi.Object)["in"], " ", p.(openapi.Object)["name"]))
		}

		if schema := bodySchema(doc, op); schema != nil {
			fields = slices.Sorted(maps.Keys(schema["properties"].(openapi.Object)))
			if schema["patternProperties"] != nil {
				fields = append(fields, "fields")
				slices.Sort(fields)
			}
			if rt.Input.Upload {
				wantFields = []string{"file"}
			}
		}
		if rt.Input != nil {
			for _, f := range rt.Input.Fields {
				if f.From == "json" || f.From == "form" {
					wantFields = append(wantFields, f.Name)
				} else {
					wantParams = append(wantParams, f.From+" "+f.Name)
				}
			}

			if rt.Idempotent() {
				wantParams = append(wantParams, "header Idempotency-Key")
			}
			if rt.Input.List != nil {
				for _, p := range openapi.ListParameters(rt.Input.List) {
					if name := p.(openapi.Object)["name"].(string); rt.Input.List.Selects(name) {
						wantParams = append(wantParams, "query "+name)
					}
				}
			}
			if rt.Conditional {
				wantParams = append(wantParams, "header If-Match")
				for _, name := range rt.Input.State {
					if rt.Input.StateInQuery {
						wantParams = append(wantParams, "query "+name)
					} else if rt.Input.Body {
						wantFields = append(wantFields, name)
					}
				}
			}

			slices.Sort(wantFields)
			slices.Sort(wantParams)
			slices.Sort(params)
			if diff := cmp.Diff(wantParams, params); diff != "" {
				t.Errorf("%s: parameters:\n%s", rt.Name(), diff)
			}
		}
		if diff := cmp.Diff(wantFields, fields); diff != "" {
			t.Errorf("%s: fields:\n%s", rt.Name(), diff)
		}
	}
}

// TestOpenAPIDocument_ImpersonationHeader checks that operations usable as another user document
// the header, and others do not.
func TestOpenAPIDocument_ImpersonationHeader(t *testing.T) {
	t.Parallel()
	doc := served(t, servertest.Start(t))
	if p := doc["components"].(openapi.Object)["parameters"].(openapi.Object)["ActAsHeader"].(openapi.Object); p["name"] != web.ActAsHeader || p["in"] != "header" {
		t.Errorf("%v", p)
	}

	ops, n := operations(doc), 0
	has := func(name string) bool {
		list, _ := ops[name]["parameters"].([]any)
		return slices.ContainsFunc(list, func(p any) bool {
			return p.(openapi.Object)["$ref"] == "#/components/parameters/ActAsHeader"
		})
	}
	for name := range ops {
		if has(name) {
			n++
		}
	}

	if n < 100 || n > len(ops)-60 {
		t.Errorf("%d of %d operations have the header", n, len(ops))
	}

	for name, want := range map[string]bool{
		"GET /admin/info": true, "GET /admin/list": true, "PUT /admin/list/{id}": true,
		"POST /file/list": true, "GET /config": true, "GET /openapi.json": true,
		"POST /admin/login": false, "POST /admin/reauth": false,
		"GET /admin/account/activity": false, "DELETE /admin/act-as": false,
		"GET /admin/key":              false,
		"POST /admin/list/{id}/erase": false, "GET /api/user": false, "GET /app/account": false,
		"GET /metrics": false,
	} {
		if ops[name] == nil || has(name) != want {
			t.Errorf("%s: %v, want %v", name, has(name), want)
		}
	}
}

func TestOpenAPIDocument_ListParametersWork(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	in.Create("/system/dict", `{"code":"colour","name":"Colour"}`)
	in.Create("/system/webhook", `{"url":"https://example.org/","types":["*"]}`)
	in.Keep("owner", "plan.txt", "words")
	values := map[string]string{
		"filter":        `{}`,
		"page":          "1",
		"current":       "1",
		"pageSize":      "1",
		"keywordSearch": "x",
		"tz":            "Asia/Shanghai",
	}
	for name, op := range operations(served(t, in)) {
		list, _ := op["parameters"].([]any)
		method, path, _ := strings.Cut(strings.ReplaceAll(name, "{id}", "1"), " ")
		if !slices.ContainsFunc(list, func(p any) bool {
			return p.(openapi.Object)["name"] == "page"
		}) {
			continue // not a list
		}

		for _, p := range list {
			param := p.(openapi.Object)
			if param["in"] != "query" {
				continue
			}

			key := param["name"].(string)
			value := values[key]
			if key == "status" && strings.HasPrefix(path, "/system/monitor") {
				value = "4xx"
			}
			if enum, _ := param["schema"].(openapi.Object)["enum"].([]any); value == "" &&
				enum != nil {
				value = fmt.Sprint(enum[0])
			}
			if value == "" {
				value = "1"
			}

			query := key + "=" + value
			if key == "sorter" {
				sort, _, _ := strings.Cut(strings.TrimPrefix(param["description"].(string),
					"Order by one of "), ",")
				query = key + "=" + `{"` + strings.Fields(sort)[0] + `":"ascend"}`
			}
			if key == "columns" {
				names := strings.TrimPrefix(param["description"].(string), "Columns of a file, in their order, separated by commas: of ")
				query = "format=csv&columns=" + names[:strings.IndexAny(names, ",;")]
			}
			if key == "separator" && !strings.HasSuffix(path, "-export") {
				query = "format=csv&separator=semicolon"
			}
			if strings.HasSuffix(key, "[]") {
				query = key + "=2025-05-08&" + key + "=2025-05-09"
			}

			caller := "owner"
			if strings.HasPrefix(path, "/api/") {
				caller = "customer"
			}

			r := in.Request(method, path, "", caller)
			r.URL.RawQuery = query
			in.Send(r).Brief(200)
		}
	}
}

func TestOpenAPIDocument_SchemasCompile(t *testing.T) {
	t.Parallel()
	text := in2020(t, servertest.Start(t).OK("GET", "/openapi.json", "", "nobody").Body)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	servertest.Must(t, compiler.AddResource("test:///doc", text))
	for name, op := range operations(text.(openapi.Object)) {
		method, path, _ := strings.Cut(name, " ")
		at := "test:///doc#/paths/" + servertest.EscapePointer(path) + "/" + strings.ToLower(method)
		if body, ok := op["requestBody"].(openapi.Object); ok {
			for media := range body["content"].(openapi.Object) {
				if _, err := compiler.Compile(at + "/requestBody/content/" + servertest.EscapePointer(media) + "/schema"); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}

		for code, answer := range op["responses"].(openapi.Object) {
			if ref, ok := answer.(openapi.Object)["$ref"].(string); ok {
				if text.(openapi.Object)["components"].(openapi.Object)["responses"].(openapi.Object)[strings.TrimPrefix(ref, "#/components/responses/")] == nil {
					t.Errorf("%s %s: %s does not exist", name, code, ref)
				}
				continue
			}
			content, _ := answer.(openapi.Object)["content"].(openapi.Object)
			for media := range content {
				if _, err := compiler.Compile(at + "/responses/" + code + "/content/" + servertest.EscapePointer(media) + "/schema"); err != nil {
					t.Errorf("%s %s: %v", name, code, err)
				}
			}
		}
	}
}

func in2020(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	servertest.Must(t, err)
	return value
}

func TestOpenAPIDocument_ConfiguredTitle(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"site.title":"A \"quoted\" <b>title</b>"}}`,
		"owner")
	info := served(t, in)["info"].(openapi.Object)
	if info["title"] != `A "quoted" <b>title</b>` || info["version"] != "test" {
		t.Errorf("%v", info)
	}
}

// TestRoutes_InvalidTableRejected covers mistakes with which the program must not
// start.
func TestRoutes_InvalidTableRejected(t *testing.T) {
	t.Parallel()
	handler := func(*store.Tx, *web.Request, *web.None) (web.Nothing, error) {
		return web.Nothing{}, nil
	}
	for name, rt := range map[string]web.Route{
		"no access":            web.Read("/x", "", "X", handler),
		"a key of one segment": web.Read("/x", "admin", "X", handler),
		"a key in capitals":    web.Read("/x", "Admin.X", "X", handler),
		"a key of six":         web.Read("/x", "a.b.c.d.e.f", "X", handler),
		"no title":             web.Read("/x", "admin.x.query", "", handler),
		"an id not taken":      web.Read("/x/:id", "admin.x.query", "X", handler),
		"a user name of anybody that is kept": web.Action("POST", "/x", web.Public, "X",
			func(*web.Request, *struct {
				Username string `json:"username"`
			}) (web.Nothing, error) {
				return web.Nothing{}, nil
			}),
		"values of settings that are kept": web.Action("POST", "/x", "admin.x.save", "X",
			func(*web.Request, *struct {
				Values map[string]any `json:"values"`
			}) (web.Nothing, error) {
				return web.Nothing{}, nil
			}),
	} {
		if err := web.CheckRoutes([]web.Route{rt}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}

	if err := web.CheckRoutes([]web.Route{web.Read("/x", "admin.x.query", "X", handler)}); err != nil {
		t.Error(err)
	}
}

// bodySchema returns the schema of an operation's request body, following references.
func bodySchema(doc, op openapi.Object) openapi.Object {
	body, _ := op["requestBody"].(openapi.Object)
	content, _ := body["content"].(openapi.Object)
	for _, media := range content {
		return resolved(doc, media.(openapi.Object)["schema"].(openapi.Object))
	}
	return nil
}

// resolved follows a reference to a named schema.
func resolved(doc, schema openapi.Object) openapi.Object {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = doc["components"].(openapi.Object)["schemas"].(openapi.Object)[strings.TrimPrefix(ref, "#/components/schemas/")].(openapi.Object)
	}
	return schema
}

func TestOpenAPIDocument_SameEnums(t *testing.T) {
	t.Parallel()
	doc := served(t, servertest.Start(t))
	compared := map[string]bool{}
	for name, op := range operations(doc) {
		in := bodySchema(doc, op)
		ok, _ := op["responses"].(openapi.Object)["200"].(openapi.Object)
		all, _ := ok["content"].(openapi.Object)
		content, _ := all["application/json"].(openapi.Object)
		if in == nil || content == nil {
			continue
		}
		if servertest.IsProtocol(op) {
			continue
		}

		out := resolved(doc,
			content["schema"].(openapi.Object)["properties"].(openapi.Object)["data"].(openapi.Object))
		fields, _ := in["properties"].(openapi.Object)
		answered, _ := out["properties"].(openapi.Object)
		for field, schema := range fields {
			other, ok := answered[field].(openapi.Object)
			if !ok {
				continue
			}
			sent := schema.(openapi.Object)["enum"]
			if values, is := sent.([]any); is { // null empties it
				sent = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
			}
			if diff := cmp.Diff(sent, other["enum"]); diff != "" {
				t.Errorf("%s %s (- request, + response):\n%s", name, field, diff)
			}
			if schema.(openapi.Object)["enum"] != nil {
				compared[field] = true
			}
		}
	}

	for _, field := range []string{"data_scope", "type", "status", "sex"} {
		if !compared[field] {
			t.Errorf("no operation has the enum of %s", field)
		}
	}
}

// TestOpenAPIDocument_NoConstants checks that there are no constants: generators create types from
// them that do not compile, or accept nothing else.
func TestOpenAPIDocument_NoConstants(t *testing.T) {
	t.Parallel()
	if body := servertest.Start(t).OK("GET", "/openapi.json", "", "nobody").Body; strings.Contains(body, `"const":`) {
		t.Error("it has const")
	}
}

// TestOpenAPIDocument_Int64 checks that integers have a format, since generators use 32 bits
// without one.
func TestOpenAPIDocument_Int64(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case []any:
			for i, v := range value {
				walk(fmt.Sprint(at, "/", i), v)
			}
		case openapi.Object:
			if value["type"] == "integer" && value["enum"] == nil {
				seen++
				if value["format"] != "int64" {
					t.Errorf("%s has the format %v", at, value["format"])
				}
			}
			for name, v := range value {
				walk(at+"/"+name, v)
			}
		}
	}
	walk("", served(t, servertest.Start(t)))
	if seen < 100 {
		t.Errorf("there are %d integers", seen)
	}
}

// TestOperationIDs_Golden compares the operation IDs with the golden file: generated clients call
// operations by these IDs, so a changed ID breaks them.
func TestOperationIDs_Golden(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for name, op := range operations(served(t, servertest.Start(t))) {
		id := op["operationId"].(string)
		if !regexp.MustCompile(`^[a-z][A-Za-z0-9]+$`).MatchString(id) {
			t.Errorf("%s is called %q", name, id)
		}
		ids[id] = name
	}
	text, err := json.Marshal(ids)
	servertest.Must(t, err)
	golden(t, "operations", string(text))
}

// TestOpenAPIDocument_BodyNames checks the names of schemas, since generators name the type of a
// body after its schema.
func TestOpenAPIDocument_BodyNames(t *testing.T) {
	t.Parallel()
	for name, op := range operations(served(t, servertest.Start(t))) {
		body, ok := op["requestBody"].(openapi.Object)
		if !ok {
			continue
		}
		id := op["operationId"].(string)
		want := openapi.Object{"$ref": "#/components/schemas/" + strings.ToUpper(id[:1]) + id[1:]}
		for media, content := range body["content"].(openapi.Object) {
			if diff := cmp.Diff(want, content.(openapi.Object)["schema"]); diff != "" {
				t.Errorf("%s, %s (- want, + is):\n%s", name, media, diff)
			}
		}
	}
}

// TestOpenAPIDocument_BinaryFiles checks that files are binary strings: generators make files of
// them, and bytes of a raw response.
func TestOpenAPIDocument_BinaryFiles(t *testing.T) {
	t.Parallel()
	file := openapi.Object{
		"type":             "string",
		"format":           "binary",
		"contentMediaType": "application/octet-stream",
	}
	files := openapi.Object{
		"type":     "array",
		"items":    file,
		"minItems": 1.0,
		"maxItems": float64(web.MaxFiles),
	}

	doc := served(t, servertest.Start(t))
	ops := operations(doc)
	for name, want := range map[string]openapi.Object{
		"POST /admin/avatar":      file,
		"POST /admin/list-import": file,
		"POST /file/list":         files,
	} {
		if diff := cmp.Diff(want,
			bodySchema(doc, ops[name])["properties"].(openapi.Object)["file"]); diff != "" {
			t.Errorf("%s (- want, + is):\n%s", name, diff)
		}
	}

	text := openapi.Object{"type": "string"}
	for name, want := range map[string]openapi.Object{
		"GET /file/list/{id}/content": file, "GET /file/signed/{id}": file,
		"GET /media/{key}": file, "GET /system/backup": file,
		"GET /admin/list-export": text, "GET /metrics": text,
		"GET /openapi.json": {"type": "object"},
	} {
		for media, content := range ops[name]["responses"].(openapi.Object)["200"].(openapi.Object)["content"].(openapi.Object) {
			if diff := cmp.Diff(want, content.(openapi.Object)["schema"]); diff != "" {
				t.Errorf("%s, %s (- want, + is):\n%s", name, media, diff)
			}
		}
	}
}

func TestOperations_Described(t *testing.T) {
	t.Parallel()
	doc := served(t, servertest.Start(t))
	ops := operations(doc)
	for _, rt := range server.Routes() {
		op := ops[rt.Method+" "+openapi.DocumentPath(rt.Path)]
		text, ok := strings.CutSuffix(op["description"].(string), openapi.AccessText(rt.Access))
		if !ok || !strings.HasSuffix(text, ". ") {
			t.Errorf("%s: add a Note to the options of its route; its description is %q",
				rt.Name(), op["description"])
		}
	}
	if diff := cmp.Diff(openapi.Object{"name": "Reeve"}, doc["info"].(openapi.Object)["contact"]); diff != "" {
		t.Errorf("contact:\n%s", diff)
	}
}

// TestOpenAPIDocument_SharedUntilChange expects one copy of the document for all
// callers of an audience, with an ETag, and another one once the title or a custom field changes.
func TestOpenAPIDocument_SharedUntilChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	document := func() (doc *openapi.SharedJSON) {
		t.Helper()
		in.View(func(tx *store.Tx) (err error) {
			doc, err = in.Server.OpenAPI.Get(tx, store.Anonymous)
			return err
		})
		return doc
	}
	first := document()
	if document() != first {
		t.Error("the document was made again")
	}

	tag := in.OK("GET", "/openapi.json", "", "nobody").Header.Get("ETag")
	r := in.Request("GET", "/openapi.json", "", "nobody")
	r.Header.Set("If-None-Match", tag)
	if same := in.Send(r); same.Code != 304 || same.Body != "" {
		t.Errorf("%d with %d bytes for the same document", same.Code, len(same.Body))
	}

	in.OK("PUT", "/system/setting", `{"values":{"site.title":"\u2020title\u2020"}}`, "owner")
	second := document()
	if second == first ||
		!strings.Contains(string(second.Plain), `"title":"`+openapi.TitleHere+`"`) {
		t.Error("the document lacks the new title")
	}

	in.OK("POST", "/system/field",
		`{"realm":"app","key":"badge","title":"`+openapi.TitleHere+`","type":"input","self_access":"write"}`, "owner")
	if third := document(); third == second ||
		strings.Count(string(third.Plain), `"title":"`+openapi.TitleHere+`"`) != 3 {
		t.Error("the document lacks the new field")
	}
}
