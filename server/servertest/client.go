package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/rights"
	"reeve/server/settings"
	"reeve/server/web"
	"reeve/store"
)

// Reply is a response that has been checked against the OpenAPI document.
type Reply struct {
	T       testing.TB
	Code    int
	Header  http.Header
	Cookies []*http.Cookie // all that the response sets; Header lacks that with the position of a write
	Body    string
	Sent    string // the request, for messages
	Bytes   int    // size of the body as sent, which may be compressed
}

// Parsed is the envelope of every JSON response.
type Parsed struct {
	Data      json.RawMessage
	Success   bool
	Msg       string
	ShowType  int
	ErrorCode string
	RequestID string
	Errors    map[string]string
}

// Call sends a request as a user and checks what holds for every response.
func (in *Instance) Call(method, url, body, as string) *Reply {
	in.T.Helper()
	return in.Send(in.Request(method, url, body, as))
}

// OK is like call, but the request must succeed.
func (in *Instance) OK(method, url, body, as string) *Reply {
	in.T.Helper()
	r := in.Call(method, url, body, as)
	if r.Code != http.StatusOK {
		in.T.Fatalf("%s: %d %s", r.Sent, r.Code, r.Body)
	}
	return r
}

// Send sends a request to the real handler and returns the checked response.
func (in *Instance) Send(r *http.Request) *Reply {
	in.T.Helper()
	return in.answerOf(in.Server.Handler(), r)
}

// SendTo is like send, for routes outside the table.
func (in *Instance) SendTo(router http.Handler, r *http.Request) *Reply {
	in.T.Helper()
	return in.answerOf(in.Server.Headers(router), r)
}

func (in *Instance) answerOf(handler http.Handler, r *http.Request) *Reply {
	in.T.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	body, bytes := w.Body.String(), w.Body.Len()
	if w.Header().Get("Content-Encoding") == "gzip" {
		body = unzipped(in.T, w.Body)
	}
	a := &Reply{
		T:      in.T,
		Code:   w.Code,
		Header: w.Header(),
		Body:   body,
		Sent:   r.Method + " " + r.URL.String(),
		Bytes:  bytes,
	}
	a.takePosition()
	a.check(r)
	return a
}

// check checks a response against the document and the conventions.
func (a *Reply) check(r *http.Request) {
	a.T.Helper()
	id := a.Header.Get("X-Request-Id")
	a.CheckHeaders(r)
	if r.Method == http.MethodOptions && a.Code == http.StatusNoContent {
		return // a preflight, which CORS answers
	}
	if id == "" {
		a.T.Errorf("%s: no X-Request-Id", a.Sent)
	}

	path, op := FindOperation(r.Method, r.URL.Path)
	if op != nil && op["responses"].(openapi.Object)[fmt.Sprint(a.Code)] == nil {
		a.T.Errorf("%s: answered %d, which the document does not know of %s %s", a.Sent, a.Code,
			r.Method, path)
	}
	if a.Code == http.StatusSeeOther {
		if a.Header.Get("Location") == "" || a.Body != "" ||
			a.Header.Get("Cache-Control") != "no-store" {
			a.T.Errorf("%s: leads nowhere: %v %s", a.Sent, a.Header, a.Body)
		}
		return
	}
	if a.Code == http.StatusNotModified {
		if a.Body != "" {
			a.T.Errorf("%s: 304 with a body", a.Sent)
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
			a.T.Errorf("%s: Content-Type %q is not documented", a.Sent, media)
		}
		if path == "/openapi.json" || media != "application/json" {
			return
		}

		pointer := "/paths/" + EscapePointer(path) + "/" + strings.ToLower(r.Method) + "/responses/200/content/application~1json/schema"
		a.validate(pointer)
		if IsProtocol(op) {
			return
		}
		if !strings.HasPrefix(a.Body, `{"data":`) ||
			!strings.HasSuffix(a.Body, `,"success":true,"msg":"ok","showType":0}`+"\n") {
			a.T.Errorf("%s: not the envelope of a success: %s", a.Sent, a.Body)
		}

		return
	}
	if a.isPage(op) {
		return
	}
	if media != "application/json" {
		a.T.Errorf("%s: Content-Type %q", a.Sent, media)
	}
	if IsProtocol(op) {
		a.validate("/paths/" + EscapePointer(path) + "/" + strings.ToLower(r.Method) + "/responses/" + fmt.Sprint(a.Code) + "/content/application~1json/schema")
		return
	}

	a.validate("/components/schemas/Failure")
	e := a.Envelope()
	if e.Success || e.RequestID != id || string(e.Data) != "{}" || e.Msg == "" ||
		e.ErrorCode == "" {
		a.T.Errorf("%s: not the envelope of a failure, with the request id %s: %s", a.Sent, id,
			a.Body)
	}
}

// isPage reports whether an answer that is not 200 is an HTML page, which the document knows.
func (a *Reply) isPage(op openapi.Object) bool {
	if op == nil || !strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia+";") {
		return false
	}
	content, _ := op["responses"].(openapi.Object)[fmt.Sprint(a.Code)].(openapi.Object)["content"].(openapi.Object)
	return content[web.HTMLMedia] != nil
}

// IsProtocol reports whether an operation has no envelope, because it follows a protocol.
func IsProtocol(op openapi.Object) bool {
	return op["x-protocol"] != nil
}

// EscapePointer escapes a name for a JSON pointer.
func EscapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

func (a *Reply) validate(pointer string) {
	a.T.Helper()
	schema, err := DocumentSchemas().schema(pointer)
	if err != nil {
		a.T.Errorf("%s: schema %s: %v", a.Sent, pointer, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		a.T.Errorf("%s: %d does not fit the document: %v\n%s", a.Sent, a.Code, err, a.Body)
	}
}

// compiled is the OpenAPI document of all routes with its compiled schemas.
type compiled struct {
	mu       sync.Mutex
	Doc      openapi.Object
	paths    openapi.Object
	compiler *jsonschema.Compiler
}

// DocumentSchemas are the compiled schemas of the OpenAPI document.
var DocumentSchemas = sync.OnceValue(func() *compiled {
	doc, err := openapi.NewDocument((&web.Server{Config: web.Config{Version: "test"}}),
		server.Routes())
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

	return &compiled{
		Doc:      value.(openapi.Object),
		paths:    value.(openapi.Object)["paths"].(openapi.Object),
		compiler: c,
	}
})

func (c *compiled) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiler.Compile("test:///openapi.json#" + pointer)
}

// FindOperation returns the operation of the document for a request. Fixed segments
// take precedence over parameters.
func FindOperation(method, path string) (string, openapi.Object) {
	best, bestOp, bestFixed := "", openapi.Object(nil), -1
	for pattern, item := range DocumentSchemas().paths {
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

// Envelope returns the decoded envelope of the response.
func (a *Reply) Envelope() Parsed {
	a.T.Helper()
	var e Parsed
	if err := json.Unmarshal([]byte(a.Body), &e); err != nil {
		a.T.Fatalf("%s: %v in %s", a.Sent, err, a.Body)
	}

	var protocol struct { // that the route follows
		web.OauthFailure
		settings.OfrepFailure
		rights.AuthZENFailure
	}
	if json.Unmarshal([]byte(a.Body), &protocol) != nil {
		return e
	}
	text := protocol.Message
	switch {
	case protocol.Error != "":
		text = protocol.Description
	case protocol.OfrepFailure.Code == "GENERAL":
		text = protocol.Details
	}
	if text != "" {
		e.ErrorCode, e.ShowType, e.Msg = map[int]string{401: "unauthenticated", 403: "denied"}[a.Code],
			map[int]int{401: 2, 403: 4}[a.Code], text
	}
	return e
}

// Data decodes the data of a successful response.
func (a *Reply) Data(into any) {
	a.T.Helper()
	if err := json.Unmarshal(a.Envelope().Data, into); err != nil {
		a.T.Fatalf("%s: %v in %s", a.Sent, err, a.Body)
	}
}

// Brief fails unless the response has the status and contains the texts.
func (a *Reply) Brief(status int, has ...string) {
	a.T.Helper()
	if a.Code != status {
		a.T.Errorf("%s: %d, want %d: %s", a.Sent, a.Code, status, a.Body)
		return
	}
	for _, text := range has {
		if !strings.Contains(a.Body, text) {
			a.T.Errorf("%s: no %s in %s", a.Sent, text, a.Body)
		}
	}
}

// Names fails unless the response reports exactly these fields.
func (a *Reply) Names(status int, fields ...string) {
	a.T.Helper()
	got := []string{}
	for name := range a.Envelope().Errors {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(fields)
	if a.Code != status || !slices.Equal(got, fields) {
		a.T.Errorf("%s: %d naming %q, want %d naming %q: %s", a.Sent, a.Code, got, status, fields,
			a.Body)
	}
}

// EncodeJSON is json.Marshal; an error ends the test.
func EncodeJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	Must(t, err)
	return b
}

// Nested returns an empty JSON array in that many arrays.
func Nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// BrokenReader fails at once, like the body of a client that has gone.
type BrokenReader struct{}

func (BrokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Made creates a record and returns its ID.
func (in *Instance) Made(url, body string) store.ID {
	in.T.Helper()
	var head store.Ident
	in.OK("POST", url, body, "owner").Data(&head)
	return head.ID
}

// SessionsOf returns the IDs of the sessions of a user.
func (in *Instance) SessionsOf(user store.ID) (ids []store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) (err error) {
		ids, err = store.SessionByUser.IDs(tx, user)
		return err
	})
	return ids
}

func unzipped(t testing.TB, r io.Reader) string {
	t.Helper()
	zip, err := gzip.NewReader(r)
	Must(t, err)
	body, err := io.ReadAll(zip)
	Must(t, err)
	return string(body)
}

// Create posts a body and returns the new record's ID.
func (in *Instance) Create(url, body string) uint64 {
	in.T.Helper()
	var record struct{ ID uint64 }
	in.OK("POST", url, body, "owner").Data(&record)
	return record.ID
}
