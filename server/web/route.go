package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"reeve/store"
)

// Values of Route.Access besides permission keys.
const (
	Public   = "public"    // everyone
	SignedIn = "signed-in" // every user signed in to the admin realm
	AppOnly  = "app user"  // every user signed in to the app realm
	AnyRealm = "any realm" // everyone; a token of either realm is optional, but must be valid

	MetricsToken = "metrics token" // clients with the token of the configuration; none without it
)

// Route is one operation. The router, the permission tree, the OpenAPI document and the
// tests are generated from the table of routes.
type Route struct {
	Method string
	Path   string
	Access string // public, SignedIn, AppOnly, AnyRealm, MetricsToken or a permission key
	Title  string // a short phrase; also the name of the permission

	Options

	Input       *Input        // nil for a list
	Output      reflect.Type  // type of the data in the response
	List        *ListInfo     // declaration of a list; nil for other routes
	Binary      string        // media type of a raw response
	Protocol    *Protocol     // specification that it follows; nil for the conventions of this API
	named       *namedRecords // records that its list finds by name, for the change log; nil for none
	Handler     string        // name of the handler, for monitoring
	Page        bool          // whether it is a page, with pages also for errors if a browser asks
	Visible     appearance    // whether a setting lets it exist; nil if it always does
	Conditional bool          // whether it checks the conditions of a client, see Request.read
	record      recordOf      // record that such a condition is about; nil if the handler checks it

	// One of these three runs once the request is authorized: view in the read
	// transaction of the authorization, act after it, raw with access to the
	// connection. A view can set Request.rest, which runs after it.
	View func(tx *store.Tx, req *Request, out *Envelope) error
	Act  func(req *Request, out *Envelope) error
	Raw  func(req *Request, w http.ResponseWriter) error

	newInput func() any // returns an empty input
	run      handlerIn  // nil unless Write made the route
}

// appearance reports whether a route exists. While it does not, it answers like an unknown path.
type appearance func(tx *store.Tx) bool

// Encoded is an output that is already JSON; T is its type.
type Encoded[T any] struct {
	JSON json.RawMessage
	ETag string // ETag of the JSON, in quotes; "" for none
}

func (e Encoded[T]) encoded() (json.RawMessage, string) { return e.JSON, e.ETag }

// MarshalJSON implements json.Marshaler, for an Encoded inside another output.
func (e Encoded[T]) MarshalJSON() ([]byte, error) { return e.JSON, nil }

func (Encoded[T]) Shape() reflect.Type { return reflect.TypeFor[T]() }

// Nothing is the output of an operation without data: "data": {}.
type Nothing struct{}

// None is the input of an operation without parameters.
type None struct{}

// Read returns a GET route whose handler runs in a read transaction. Like the functions below, it
// only converts: the compiler compiles a generic function again for every In and Out, so what does
// not need them is in methods of Route.
func Read[In, Out any](path, access, title string,
	handler func(*store.Tx, *Request, *In) (Out, error), options ...Options) Route {
	rt := newRoute("GET", path, access, title, HandlerName(handler), (*In)(nil), (*Out)(nil))
	return rt.reads(func(tx *store.Tx, req *Request, in any) (any, error) {
		return handler(tx, req, in.(*In))
	}, options)
}

func (rt *Route) reads(handler handlerIn, options []Options) Route {
	rt.View = func(tx *store.Tx, req *Request, out *Envelope) error {
		in := rt.newInput()
		named, err := req.decode(rt.Input, in)
		if err == nil {
			err = findNames(tx, named)
		}
		if err != nil {
			return err
		}
		data, err := handler(tx, req, in)
		if err != nil {
			return err
		}
		return out.Record(req, data)
	}
	return rt.With(options...)
}

// handlerIn is a handler in a transaction whose input is the pointer that Route.newInput returns.
type handlerIn func(tx *store.Tx, req *Request, in any) (any, error)

// Write returns a route whose handler runs in a write transaction. The handler may run
// more than once: see store.DB.Update.
func Write[In, Out any](method, path, access, title string,
	handler func(*store.Tx, *Request, *In) (Out, error), options ...Options) Route {
	rt := newRoute(method, path, access, title, HandlerName(handler), (*In)(nil), (*Out)(nil))
	return rt.writes(func(tx *store.Tx, req *Request, in any) (any, error) {
		return handler(tx, req, in.(*In))
	}, options)
}

func (rt *Route) writes(handler handlerIn, options []Options) Route {
	rt.run = handler
	return rt.acts(func(req *Request, in any) (out any, err error) {
		err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
			req.Committed = nil // discard those of an earlier run
			err := req.IfFresh(tx, func() (err error) {
				out, err = handler(tx, req, in)
				return err
			})
			if err != nil {
				return err
			}
			return req.noteAnswer(out)
		})
		if err == nil {
			for _, fn := range req.Committed {
				fn()
			}
		}
		return out, err
	}, options)
}

// Action returns a route whose handler opens its own transactions, because it does
// something slow before or between them.
func Action[In, Out any](method, path, access, title string,
	handler func(*Request, *In) (Out, error), options ...Options) Route {
	rt := newRoute(method, path, access, title, HandlerName(handler), (*In)(nil), (*Out)(nil))
	return rt.acts(func(req *Request, in any) (any, error) { return handler(req, in.(*In)) }, options)
}

func (rt *Route) acts(handler func(req *Request, in any) (any, error), options []Options) Route {
	rt.Act = func(req *Request, out *Envelope) error {
		in := rt.newInput()
		if err := req.Decode(rt.Input, in); err != nil {
			return err
		}
		if err := req.seekCompleted(); err != nil {
			return err
		}
		data, err := handler(req, in)
		if err != nil {
			return err
		}
		return out.Record(req, data)
	}
	return rt.With(options...)
}

// Raw returns a GET route whose handler writes the response itself, once no error can
// occur any more; an error that it returns is sent in the envelope.
func Raw[In any](path, access, title, mediaType string,
	handler func(*Request, *In, http.ResponseWriter) error, options ...Options) Route {
	rt := newRoute("GET", path, access, title, HandlerName(handler), (*In)(nil), (*[]byte)(nil))
	rt.Binary = mediaType
	return rt.sends(func(req *Request, in any, w http.ResponseWriter) error {
		return handler(req, in.(*In), w)
	}, options)
}

func (rt *Route) sends(handler func(*Request, any, http.ResponseWriter) error,
	options []Options) Route {
	rt.Raw = func(req *Request, w http.ResponseWriter) error {
		in := rt.newInput()
		if err := req.Decode(rt.Input, in); err != nil {
			return err
		}
		return handler(req, in, w)
	}
	return rt.With(options...)
}

// Upload returns a POST route for one file, sent as multipart/form-data in the field
// file, with form fields before or after it. The handler runs when the whole form has
// been read; maxBytes limits its size.
func Upload[In, Out any](path, access, title string, maxBytes int64,
	handler func(*Request, *In, []byte) (Out, error), options ...Options) Route {
	rt := newRoute("POST", path, access, title, HandlerName(handler), (*In)(nil), (*Out)(nil))
	return rt.uploads(func(req *Request, in any, form *Form) (any, error) {
		file, err := form.only(maxBytes)
		if err != nil {
			return nil, err
		}
		return handler(req, in.(*In), file)
	}, options)
}

// Uploads returns a POST route for files and form fields, in any order, sent as
// multipart/form-data. The handler iterates over the form; the input has the form
// fields only once the iteration has ended.
func Uploads[In, Out any](path, access, title string,
	handler func(*Request, *In, *Form) (Out, error), options ...Options) Route {
	rt := newRoute("POST", path, access, title, HandlerName(handler), (*In)(nil), (*Out)(nil))
	return rt.uploads(func(req *Request, in any, form *Form) (any, error) {
		return handler(req, in.(*In), form)
	}, options)
}

func (rt *Route) uploads(handler func(*Request, any, *Form) (any, error), options []Options) Route {
	rt.Input.Upload = true
	rt.Act = func(req *Request, out *Envelope) error {
		in := rt.newInput()
		if err := req.Decode(rt.Input, in); err != nil {
			return err
		}
		form, err := req.form(rt.Input, in)
		if err != nil {
			return err
		}
		data, err := handler(req, in, form)
		if err != nil {
			return err
		}
		return out.Record(req, data)
	}
	return rt.With(options...)
}

// keyUse is which API keys may use a route.
type keyUse int

const (
	ByAnyKey keyUse = iota
	ByPersonalKey
	ByNoKey
)

// Answers describe responses of a raw route by status, for the OpenAPI document.
type Answers map[int]string

// NewRoute returns a route that has no handler yet.
func NewRoute[In, Out any](method, path, access, title string) Route {
	return *newRoute(method, path, access, title, "", (*In)(nil), (*Out)(nil))
}

// newRoute returns a route. in and out are pointers to its input and its output.
func newRoute(method, path, access, title, handler string, in, out any) *Route {
	input, output := reflect.TypeOf(in).Elem(), reflect.TypeOf(out).Elem()
	rt := &Route{
		Method:   method,
		Path:     path,
		Access:   access,
		Title:    title,
		Handler:  handler,
		Input:    Describe(input, method, output),
		Output:   output,
		newInput: func() any { return reflect.New(input).Interface() },
	}
	if rt.MaxBody = maxSmall; rt.Input.Body {
		rt.MaxBody = MaxBody
	}
	return rt
}

var permissionKey = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){1,4}$`)

// CheckRoutes reports a mistake in the route table. New runs it.
func CheckRoutes(all []Route) error {
	for _, rt := range all {
		if !rt.Open() && !permissionKey.MatchString(rt.Access) {
			return fmt.Errorf("route %s %s has no access key: %q", rt.Method, rt.Path, rt.Access)
		}
		if rt.Title == "" {
			return fmt.Errorf("route %s %s has no title", rt.Method, rt.Path)
		}
		if err := rt.checkSecrets(); err != nil {
			return err
		}
		if rt.Method == "PUT" && rt.Input.ReadOnly != nil && !rt.Conditional {
			return fmt.Errorf("route %s would ignore the version that a client sends; declare Record in its options", rt.Name())
		}

		for _, segment := range strings.Split(rt.Path, "/") {
			name, isParam := strings.CutPrefix(segment, ":")
			if isParam && !rt.takes(name) {
				return fmt.Errorf("route %s %s: its input does not take :%s", rt.Method, rt.Path,
					name)
			}
		}
	}
	return nil
}

// checkSecrets reports an input field that can contain a secret under a harmless name,
// unless the route declares it as hidden.
func (rt *Route) checkSecrets() error {
	if rt.Input == nil {
		return nil
	}
	if rt.Access == Public && rt.Input.Has("json", "username") && !rt.Hidden.Usernames {
		return fmt.Errorf("route %s: people type passwords into username by mistake; declare hiding(redact.Fields{Usernames: true}, …)", rt.Name())
	}
	if rt.Input.Has("json", "values") && !rt.Hidden.Value && !rt.Hidden.Values {
		return fmt.Errorf("route %s: values may be those of secret settings; declare hiding(redact.Fields{Value: true}, …) or Values", rt.Name())
	}
	return nil
}

// takes reports whether the route's input has a path parameter.
func (rt *Route) takes(name string) bool {
	if rt.List != nil {
		return rt.List.Under && name == "id"
	}
	return rt.Input.Has("path", name)
}

// Name returns method and path, the name of the route in logs and metrics.
func (rt *Route) Name() string { return rt.Method + " " + rt.Path }

// Open reports whether the route needs no permission.
func (rt *Route) Open() bool {
	return rt.Access == Public || rt.Access == SignedIn || rt.Access == AppOnly ||
		rt.Access == AnyRealm || rt.Access == MetricsToken
}

// FurtherPermissions are permissions that an operation requires in addition to its route's,
// depending on the change. All of these operations require a recent proof.
var FurtherPermissions = []struct{ Key, Title string }{
	{store.SecurityPermission, "Change security settings"},
	{store.UnattendedBackup, "Download backups with an API key"},
	{store.ActAsWrite, "Change something while acting as a user"},
}

// idWords maps words of a title to those of the operation ID: the verbs that clients
// expect, and the names in schemas. Words mapped to "" are left out.
var idWords = map[string]string{
	"change": "update", "dictionary": "dict", "dictionaries": "dicts", "department": "dept",
	"departments": "depts",
	"a":           "", "an": "", "the": "", "your": "", "its": "",
}

// OperationID returns the title up to its first comma in camel case, verb first:
// "Change a dictionary item" becomes updateDictItem. Clients are generated with these
// names, so a title changes only if the operation does.
func OperationID(rt *Route) string {
	title, _, _ := strings.Cut(rt.Title, ",")
	var id string
	for _, word := range strings.FieldsFunc(title, func(r rune) bool {
		return r == ' ' || r == '-'
	}) {
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
		if other, ok := idWords[strings.ToLower(word)]; ok {
			word = other
		}
		switch {
		case word == "":
		case id == "":
			id = strings.ToLower(word)
		default:
			id += strings.ToUpper(word[:1]) + word[1:]
		}
	}

	return id
}
