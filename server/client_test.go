package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"reeve/server/openapi"
	"reeve/server/settings"
	"reeve/server/web"
	"reeve/store"
)

// reply is a response that has been checked against the OpenAPI document.
type reply struct {
	t      testing.TB
	Code   int
	Header http.Header
	Body   string
	sent   string // the request, for messages
	bytes  int    // size of the body as sent, which may be compressed
}

// parsed is the envelope of every JSON response.
type parsed struct {
	Data      json.RawMessage
	Success   bool
	Msg       string
	ShowType  int
	ErrorCode string
	RequestID string
	Errors    map[string]string
}

// call sends a request as a user and checks what holds for every response.
func (in *instance) call(method, url, body, as string) *reply {
	in.t.Helper()
	return in.send(in.request(method, url, body, as))
}

// ok is like call, but the request must succeed.
func (in *instance) ok(method, url, body, as string) *reply {
	in.t.Helper()
	r := in.call(method, url, body, as)
	if r.Code != http.StatusOK {
		in.t.Fatalf("%s: %d %s", r.sent, r.Code, r.Body)
	}
	return r
}

func (in *instance) send(r *http.Request) *reply {
	in.t.Helper()
	return in.answerOf(in.server.Handler(), r)
}

// sendTo is like send, for routes outside the table.
func (in *instance) sendTo(router http.Handler, r *http.Request) *reply {
	in.t.Helper()
	return in.answerOf(in.server.Headers(router), r)
}

func (in *instance) answerOf(handler http.Handler, r *http.Request) *reply {
	in.t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	body, bytes := w.Body.String(), w.Body.Len()
	if w.Header().Get("Content-Encoding") == "gzip" {
		body = unzipped(in.t, w.Body)
	}
	a := &reply{in.t, w.Code, w.Header(), body, r.Method + " " + r.URL.String(), bytes}
	a.check(r)
	return a
}

// check checks a response against the document and the conventions.
func (a *reply) check(r *http.Request) {
	a.t.Helper()
	id := a.Header.Get("X-Request-Id")
	a.checkHeaders(r)
	if r.Method == http.MethodOptions && a.Code == http.StatusNoContent {
		return // a preflight, which CORS answers
	}
	if id == "" {
		a.t.Errorf("%s: no X-Request-Id", a.sent)
	}
	path, op := findOperation(r.Method, r.URL.Path)
	if op != nil && op["responses"].(openapi.Object)[fmt.Sprint(a.Code)] == nil {
		a.t.Errorf("%s: answered %d, which the document does not know of %s %s", a.sent, a.Code, r.Method, path)
	}
	if a.Code == http.StatusSeeOther {
		if a.Header.Get("Location") == "" || a.Body != "" || a.Header.Get("Cache-Control") != "no-store" {
			a.t.Errorf("%s: leads nowhere: %v %s", a.sent, a.Header, a.Body)
		}
		return
	}
	if a.Code == http.StatusNotModified {
		if a.Body != "" {
			a.t.Errorf("%s: 304 with a body", a.sent)
		}
		return
	}
	if a.Code == http.StatusPartialContent || r.Method == http.MethodHead {
		return
	}
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if a.Code == http.StatusOK && op != nil {
		content := op["responses"].(openapi.Object)["200"].(openapi.Object)["content"].(openapi.Object)
		if content[web.AnyMedia] != nil {
			return
		}
		if content[media] == nil {
			a.t.Errorf("%s: Content-Type %q is not documented", a.sent, media)
		}
		if path == "/openapi.json" || media != "application/json" {
			return
		}
		pointer := "/paths/" + escapePointer(path) + "/" + strings.ToLower(r.Method) + "/responses/200/content/application~1json/schema"
		a.validate(pointer)
		if isProtocol(op) {
			return
		}
		if !strings.HasPrefix(a.Body, `{"data":`) || !strings.HasSuffix(a.Body, `,"success":true,"msg":"ok","showType":0}`+"\n") {
			a.t.Errorf("%s: not the envelope of a success: %s", a.sent, a.Body)
		}
		return
	}
	if a.isPage(op) {
		return
	}
	if media != "application/json" {
		a.t.Errorf("%s: Content-Type %q", a.sent, media)
	}
	if isProtocol(op) {
		a.validate("/paths/" + escapePointer(path) + "/" + strings.ToLower(r.Method) + "/responses/" + fmt.Sprint(a.Code) + "/content/application~1json/schema")
		return
	}
	a.validate("/components/schemas/Failure")
	e := a.envelope()
	if e.Success || e.RequestID != id || string(e.Data) != "{}" || e.Msg == "" || e.ErrorCode == "" {
		a.t.Errorf("%s: not the envelope of a failure, with the request id %s: %s", a.sent, id, a.Body)
	}
}

// isPage reports whether an answer that is not 200 is an HTML page, which the document knows.
func (a *reply) isPage(op openapi.Object) bool {
	if op == nil || !strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia+";") {
		return false
	}
	content, _ := op["responses"].(openapi.Object)[fmt.Sprint(a.Code)].(openapi.Object)["content"].(openapi.Object)
	return content[web.HTMLMedia] != nil
}

// isProtocol reports whether an operation has no envelope, because it follows a protocol.
func isProtocol(op openapi.Object) bool {
	return op["x-protocol"] != nil
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

func (a *reply) validate(pointer string) {
	a.t.Helper()
	schema, err := documentSchemas().schema(pointer)
	if err != nil {
		a.t.Errorf("%s: schema %s: %v", a.sent, pointer, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		a.t.Errorf("%s: %d does not fit the document: %v\n%s", a.sent, a.Code, err, a.Body)
	}
}

// compiled is the OpenAPI document of all routes with its compiled schemas.
type compiled struct {
	mu       sync.Mutex
	doc      openapi.Object
	paths    openapi.Object
	compiler *jsonschema.Compiler
}

var documentSchemas = sync.OnceValue(func() *compiled {
	doc, err := openapi.NewDocument((&web.Server{Config: web.Config{Version: "test"}}), routes())
	if err != nil {
		panic(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("test:///openapi.json", value); err != nil {
		panic(err)
	}
	return &compiled{doc: value.(openapi.Object), paths: value.(openapi.Object)["paths"].(openapi.Object), compiler: c}
})

func (c *compiled) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiler.Compile("test:///openapi.json#" + pointer)
}

// findOperation returns the operation of the document for a request. Fixed segments
// take precedence over parameters.
func findOperation(method, path string) (string, openapi.Object) {
	best, bestOp, bestFixed := "", openapi.Object(nil), -1
	for pattern, item := range documentSchemas().paths {
		op, _ := item.(openapi.Object)[strings.ToLower(method)].(openapi.Object)
		want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
		if op == nil || len(want) != len(got) {
			continue
		}
		fixed := 0
		for i := range want {
			switch {
			case want[i] == got[i]:
				fixed++
			case !strings.HasPrefix(want[i], "{"):
				fixed = -1 << 20
			}
		}
		if fixed > bestFixed {
			best, bestOp, bestFixed = pattern, op, fixed
		}
	}
	return best, bestOp
}

func (a *reply) envelope() parsed {
	a.t.Helper()
	var e parsed
	if err := json.Unmarshal([]byte(a.Body), &e); err != nil {
		a.t.Fatalf("%s: %v in %s", a.sent, err, a.Body)
	}
	var other web.OauthFailure
	if json.Unmarshal([]byte(a.Body), &other) == nil && other.Error != "" { // of a protocol
		e.ErrorCode, e.ShowType, e.Msg = map[int]string{401: "unauthenticated", 403: "denied"}[a.Code], map[int]int{401: 2, 403: 4}[a.Code], other.Description
	}
	var flags settings.OfrepFailure
	if json.Unmarshal([]byte(a.Body), &flags) == nil && flags.Code == "GENERAL" {
		e.ErrorCode, e.ShowType, e.Msg = map[int]string{401: "unauthenticated", 403: "denied"}[a.Code], map[int]int{401: 2, 403: 4}[a.Code], flags.Details
	}
	return e
}

// data decodes the data of a successful response.
func (a *reply) data(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.envelope().Data, into); err != nil {
		a.t.Fatalf("%s: %v in %s", a.sent, err, a.Body)
	}
}

// brief fails unless the response has the status and contains the texts.
func (a *reply) brief(status int, has ...string) {
	a.t.Helper()
	if a.Code != status {
		a.t.Errorf("%s: %d, want %d: %s", a.sent, a.Code, status, a.Body)
		return
	}
	for _, text := range has {
		if !strings.Contains(a.Body, text) {
			a.t.Errorf("%s: no %s in %s", a.sent, text, a.Body)
		}
	}
}

// names fails unless the response reports exactly these fields.
func (a *reply) names(status int, fields ...string) {
	a.t.Helper()
	got := []string{}
	for name := range a.envelope().Errors {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(fields)
	if a.Code != status || !slices.Equal(got, fields) {
		a.t.Errorf("%s: %d naming %q, want %d naming %q: %s", a.sent, a.Code, got, status, fields, a.Body)
	}
}

func encodeJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

func ident(v any) store.ID {
	var head store.Ident
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &head)
	}
	if err != nil {
		panic(err)
	}
	return head.ID
}
