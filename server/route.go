package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"reeve/server/redact"
	"reeve/store"
)

// Who may use a route, besides the permission keys.
const (
	public   = "public"    // everybody
	signedIn = "signed-in" // every user who is signed in to the backend
	appOnly  = "app user"  // every user who is signed in to the app

	metricsToken = "metrics token" // who knows the token of the configuration; nobody without one
)

// Route is one operation. The table of them is what everything else is read
// from: the router, the permission tree, the OpenAPI document, the tests.
type Route struct {
	Method string
	Path   string
	Access string // public, signedIn or a permission key
	Title  string // a few words; names the permission too

	in          *input        // nil for a list
	out         reflect.Type  // of data
	list        *listInfo     // what a list declares, nil for anything else
	before      bool          // usable while the password must be changed
	attempts    bool          // refuses wrong credentials, and too many attempts
	closable    bool          // a setting can close it
	tagged      bool          // answers with an ETag, or 304
	binary      string        // the media type of a raw answer
	maxBody     int64         // bytes of a JSON body
	head        bool          // answers HEAD too
	shared      bool          // pages of any origin may embed it
	handler     string        // the name of the handler, for monitoring
	unmonitored bool          // monitoring does not watch itself
	hide        redact.Fields // of the input, from monitoring

	// One of these three runs once the caller may: in the view that has found
	// that out, or after it, or with the connection in hand.
	view func(tx *store.Tx, req *Request, out *envelope) error
	act  func(req *Request, out *envelope) error
	raw  func(req *Request, w http.ResponseWriter) error
}

// Encoded is an output that is already JSON; T is what it looks like.
type Encoded[T any] struct {
	JSON json.RawMessage
	ETag string // of the JSON, in quotes; "" for none
}

func (e Encoded[T]) encoded() (json.RawMessage, string) { return e.JSON, e.ETag }

// MarshalJSON makes an Encoded a part of an output that is not.
func (e Encoded[T]) MarshalJSON() ([]byte, error) { return e.JSON, nil }

func (Encoded[T]) shape() reflect.Type { return reflect.TypeFor[T]() }

// nothing is the output of an operation that has none: "data": {}.
type nothing struct{}

// none is the input of an operation that has none.
type none struct{}

// read makes a GET route whose handler only looks.
func read[In, Out any](path, access, title string, handler func(*store.Tx, *Request, *In) (Out, error)) Route {
	rt := newRoute[In, Out]("GET", path, access, title)
	rt.handler = handlerName(handler)
	rt.view = func(tx *store.Tx, req *Request, out *envelope) error {
		in := new(In)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		data, err := handler(tx, req, in)
		if err != nil {
			return err
		}
		return out.record(req, data)
	}
	return rt
}

// write makes a route whose handler runs in a commit. It may run more than once:
// see store.DB.Update.
func write[In, Out any](method, path, access, title string, handler func(*store.Tx, *Request, *In) (Out, error)) Route {
	rt := free(method, path, access, title, func(req *Request, in *In) (out Out, err error) {
		err = req.db.Update(req.Actor, func(tx *store.Tx) error {
			req.committed = nil // of a run that was not the last
			out, err = handler(tx, req, in)
			return err
		})
		if err == nil {
			for _, fn := range req.committed {
				fn()
			}
		}
		return out, err
	})
	rt.handler = handlerName(handler)
	return rt
}

// free makes a route whose handler opens its own transactions, because it does
// something slow before or between them.
func free[In, Out any](method, path, access, title string, handler func(*Request, *In) (Out, error)) Route {
	rt := newRoute[In, Out](method, path, access, title)
	rt.handler = handlerName(handler)
	rt.act = func(req *Request, out *envelope) error {
		in := new(In)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		data, err := handler(req, in)
		if err != nil {
			return err
		}
		return out.record(req, data)
	}
	return rt
}

// raw makes a GET route whose handler writes the answer itself, once nothing can
// go wrong any more; an error it returns is answered in the envelope.
func raw[In any](path, access, title, mediaType string, handler func(*Request, *In, http.ResponseWriter) error) Route {
	rt := newRoute[In, []byte]("GET", path, access, title)
	rt.binary, rt.handler = mediaType, handlerName(handler)
	rt.raw = func(req *Request, w http.ResponseWriter) error {
		in := new(In)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		return handler(req, in, w)
	}
	return rt
}

// upload makes a POST route that takes one file, as multipart/form-data with the
// field file and form fields before or after it. The handler runs when the whole form
// is known; maxBytes is all of it.
func upload[In, Out any](path, access, title string, maxBytes int64, handler func(*Request, *In, []byte) (Out, error)) Route {
	rt := uploads(path, access, title, func(req *Request, in *In, form *form) (out Out, err error) {
		file, err := form.only(maxBytes)
		if err != nil {
			return out, err
		}
		return handler(req, in, file)
	})
	rt.handler = handlerName(handler)
	return rt
}

// uploads makes a POST route that takes files and form fields, in any order, as
// multipart/form-data. The handler walks the form; its fields are in the input
// when the walk has ended.
func uploads[In, Out any](path, access, title string, handler func(*Request, *In, *form) (Out, error)) Route {
	rt := newRoute[In, Out]("POST", path, access, title)
	rt.in.upload, rt.handler = true, handlerName(handler)
	rt.act = func(req *Request, out *envelope) error {
		in := new(In)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		form, err := req.form(rt.in, in)
		if err != nil {
			return err
		}
		data, err := handler(req, in, form)
		if err != nil {
			return err
		}
		return out.record(req, data)
	}
	return rt
}

// ofSeveral tells the document that a route takes several files at once.
func ofSeveral(rt Route) Route {
	rt.in.several = true
	return rt
}

// sentBack lets a route also take records as another route answers them.
func sentBack[T any](rt Route) Route {
	rt.in.ignore(reflect.TypeFor[T]())
	return rt
}

// hiding declares fields of a route's input that monitoring must not keep.
func hiding(hide redact.Fields, rt Route) Route {
	rt.hide = hide
	return rt
}

// unmonitored keeps a route out of monitoring, but for denials: who is refused there
// is of interest like anywhere.
func unmonitored(rt Route) Route {
	rt.unmonitored = true
	return rt
}

// onSelection lets a route take the parameters by which a list selects records.
func onSelection(rt Route, list *listInfo) Route {
	rt.in.list = list
	return rt
}

// withHead lets a raw route be asked for its header alone.
func withHead(rt Route) Route {
	rt.head = true
	return rt
}

// shared lets pages of any origin embed what a route sends.
func shared(rt Route) Route {
	rt.shared = true
	return rt
}

// beforePasswordChange lets a route be used by who must change the password.
func beforePasswordChange(rt Route) Route {
	rt.before = true
	return rt
}

// throttled tells the document that a route refuses wrong and too many attempts.
func throttled(rt Route) Route {
	rt.attempts = true
	return rt
}

// small limits the body to maxSmall: that of a route which strangers may use, or
// where every byte costs a hash, needs no more.
func small(rt Route) Route {
	rt.maxBody = maxSmall
	return rt
}

// closable tells the document that a setting can close a public route.
func closable(rt Route) Route {
	rt.closable = true
	return rt
}

// withETag tells the document that a route answers 304 to who has its data already.
func withETag(rt Route) Route {
	rt.tagged = true
	return rt
}

func newRoute[In, Out any](method, path, access, title string) Route {
	rt := Route{Method: method, Path: path, Access: access, Title: title, out: reflect.TypeFor[Out]()}
	rt.in = describe(reflect.TypeFor[In](), method, rt.out)
	if rt.maxBody = maxSmall; rt.in.body {
		rt.maxBody = maxBody
	}
	return rt
}

// routes is the whole interface.
func routes() []Route {
	var all []Route
	for _, resource := range [][]Route{
		accountRoutes, avatarRoutes, userRoutes, roleRoutes, deptRoutes, permissionRoutes,
		appUserRoutes, appRoutes, settingRoutes, settingGroupRoutes, fileRoutes, fileTrashRoutes, fileGroupRoutes, fileContentRoutes, sessionRoutes, monitorRoutes, systemRoutes,
		dictRoutes, dictItemRoutes, jobRoutes, healthRoutes, infoRoutes, metricRoutes,
	} {
		all = append(all, resource...)
	}
	return all
}

var permissionKey = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){1,4}$`)

// checkRoutes refuses a table with a mistake in it, at start.
func checkRoutes(all []Route) error {
	for _, rt := range all {
		if !rt.open() && !permissionKey.MatchString(rt.Access) {
			return fmt.Errorf("route %s %s has no access key: %q", rt.Method, rt.Path, rt.Access)
		}
		if rt.Title == "" {
			return fmt.Errorf("route %s %s has no title", rt.Method, rt.Path)
		}
		if err := rt.checkSecrets(); err != nil {
			return err
		}
		for _, segment := range strings.Split(rt.Path, "/") {
			name, isParam := strings.CutPrefix(segment, ":")
			if isParam && !rt.takes(name) {
				return fmt.Errorf("route %s %s: its input does not take :%s", rt.Method, rt.Path, name)
			}
		}
	}
	return nil
}

// checkSecrets reports a field that can hold a secret under a harmless name, and that its
// route does not declare as hidden.
func (rt *Route) checkSecrets() error {
	if rt.in == nil {
		return nil
	}
	if rt.Access == public && rt.in.has("json", "username") && !rt.hide.Usernames {
		return fmt.Errorf("route %s: people type passwords into username by mistake; declare hiding(redact.Fields{Usernames: true}, …)", rt.name())
	}
	if rt.in.has("json", "values") && !rt.hide.Value && !rt.hide.Values {
		return fmt.Errorf("route %s: values may be those of secret settings; declare hiding(redact.Fields{Value: true}, …) or Values", rt.name())
	}
	return nil
}

// takes tells whether a route knows what to do with a parameter of its path.
func (rt *Route) takes(name string) bool {
	if rt.list != nil {
		return rt.list.under && name == "id"
	}
	return rt.in.has("path", name)
}

// name is how a route is spoken of.
func (rt *Route) name() string { return rt.Method + " " + rt.Path }

// open tells whether a route asks for no permission.
func (rt *Route) open() bool {
	return rt.Access == public || rt.Access == signedIn || rt.Access == appOnly || rt.Access == metricsToken
}

// Keys are the permission keys that the program asks for.
func Keys() map[string]bool {
	keys := map[string]bool{}
	for _, rt := range routes() {
		if !rt.open() {
			keys[rt.Access] = true
		}
	}
	for _, p := range furtherPermissions {
		keys[p.key] = true
	}
	return keys
}

// furtherPermissions are those that an operation asks for in addition to its route's,
// depending on what it changes.
var furtherPermissions = []struct{ key, title string }{
	{store.SecurityPermission, "Change security settings"},
}
