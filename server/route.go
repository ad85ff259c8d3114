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

// Values of Route.Access besides permission keys.
const (
	public   = "public"    // everyone
	signedIn = "signed-in" // every user signed in to the admin realm
	appOnly  = "app user"  // every user signed in to the app realm
	anyRealm = "any realm" // everyone; a token of either realm is optional, but must be valid

	metricsToken = "metrics token" // clients with the token of the configuration; nobody if none is configured
)

// Route is one operation. The router, the permission tree, the OpenAPI document and the
// tests are generated from the table of routes.
type Route struct {
	Method string
	Path   string
	Access string // public, signedIn, appOnly, anyRealm, metricsToken or a permission key
	Title  string // a short phrase; also the name of the permission

	in          *input        // nil for a list
	out         reflect.Type  // type of the data in the response
	list        *listInfo     // declaration of a list; nil for other routes
	before      bool          // whether it is usable while the password must be changed
	enrols      bool          // whether it is usable while a second factor must be set up, as before is
	rateLimited bool          // whether it rejects wrong credentials and too many attempts
	closable    bool          // whether a setting can close it
	seeks       bool          // whether it looks for something that may not exist, although its path names nothing
	tagged      bool          // whether it answers with an ETag, or 304
	binary      string        // media type of a raw response
	maxBody     int64         // maximum size of a JSON body in bytes
	ranges      bool          // whether a part of its content can be requested
	shared      bool          // whether pages of any origin may embed the response
	unscoped    bool          // whether it requires the data scope all
	confirmed   bool          // whether it requires that the user has just confirmed who it is
	proves      bool          // whether the store requires that for what it usually does
	keys        keyUse        // which API keys may use it
	keyAccess   string        // permission that API keys need instead of Access; "" for the same
	clients     bool          // whether keys may also be sent as the secret of a client of OAuth 2.0
	answers     answers       // responses that it has besides the usual ones
	reads       bool          // whether it changes nothing, although it is no GET
	protocol    *protocol     // specification that it follows; nil for the conventions of this API
	reveals     bool          // whether the response has a secret: it is never stored, cached or recorded
	resumes     bool          // whether it continues at a position of the client, which may be gone
	validates   bool          // whether it rejects stored values, although it has no body
	handler     string        // name of the handler, for monitoring
	page        bool          // whether it is a page, with pages also for errors if a browser asks
	shown       appearance    // whether a setting lets it exist; nil if it always does
	conditional bool          // whether it checks the conditions of a client, see Request.read
	record      recordOf      // record that such a condition is about; nil if the handler checks it
	logs        string        // action that the change log has for every use; "" for none
	unmonitored bool          // not recorded in monitoring, except for 401 and 403
	hide        redact.Fields // input fields that monitoring hides

	// One of these three runs once the request is authorized: view in the read
	// transaction of the authorization, act after it, raw with access to the
	// connection. A view can set Request.rest, which runs after it.
	view func(tx *store.Tx, req *Request, out *envelope) error
	act  func(req *Request, out *envelope) error
	raw  func(req *Request, w http.ResponseWriter) error
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

func (Encoded[T]) shape() reflect.Type { return reflect.TypeFor[T]() }

// nothing is the output of an operation without data: "data": {}.
type nothing struct{}

// none is the input of an operation without parameters.
type none struct{}

// read returns a GET route whose handler runs in a read transaction.
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

// write returns a route whose handler runs in a write transaction. The handler may run
// more than once: see store.DB.Update.
func write[In, Out any](method, path, access, title string, handler func(*store.Tx, *Request, *In) (Out, error)) Route {
	rt := action(method, path, access, title, func(req *Request, in *In) (out Out, err error) {
		err = req.db.Update(req.Actor, func(tx *store.Tx) error {
			req.committed = nil // discard those of an earlier run
			err := req.ifFresh(tx, func() (err error) {
				out, err = handler(tx, req, in)
				return err
			})
			if err != nil {
				return err
			}
			return req.noteAnswer(out)
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

// action returns a route whose handler opens its own transactions, because it does
// something slow before or between them.
func action[In, Out any](method, path, access, title string, handler func(*Request, *In) (Out, error)) Route {
	rt := newRoute[In, Out](method, path, access, title)
	rt.handler = handlerName(handler)
	rt.act = func(req *Request, out *envelope) error {
		in := new(In)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		if err := req.seekCompleted(); err != nil {
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

// reading declares that a POST route changes nothing.
func reading(rt Route) Route {
	rt.reads = true
	return rt
}

// raw returns a GET route whose handler writes the response itself, once no error can
// occur any more; an error that it returns is sent in the envelope.
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

// upload returns a POST route for one file, sent as multipart/form-data in the field
// file, with form fields before or after it. The handler runs when the whole form has
// been read; maxBytes limits its size.
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

// uploads returns a POST route for files and form fields, in any order, sent as
// multipart/form-data. The handler iterates over the form; the input has the form
// fields only once the iteration has ended.
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

// ofSeveral documents that a route takes several files at once.
func ofSeveral(rt Route) Route {
	rt.in.several = true
	return rt
}

// sentBack lets a route also accept the fields of records as another route returns
// them.
func sentBack[T any](rt Route) Route {
	rt.in.ignore(reflect.TypeFor[T]())
	return rt
}

// hiding declares input fields of a route that monitoring must not record.
func hiding(hide redact.Fields, rt Route) Route {
	rt.hide = hide
	return rt
}

// unmonitored excludes a route from monitoring, except for 401 and 403.
func unmonitored(rt Route) Route {
	rt.unmonitored = true
	return rt
}

// onSelection lets a route accept the parameters with which a list selects records.
func onSelection(rt Route, list *listInfo) Route {
	rt.in.list = list
	return rt
}

// withRanges declares that a raw route sends content of which parts can be requested.
func withRanges(rt Route) Route {
	rt.ranges = true
	return rt
}

// shared lets pages of any origin embed the response of a route.
func shared(rt Route) Route {
	rt.shared = true
	return rt
}

// beforePasswordChange lets a route be used while the password must be changed.
func beforePasswordChange(rt Route) Route {
	rt.before = true
	return rt
}

// rateLimited documents that a route rejects wrong credentials and too many attempts.
func rateLimited(rt Route) Route {
	rt.rateLimited = true
	return rt
}

// small limits the body to maxSmall, which is enough for routes that are public or
// where every byte costs hashing.
func small(rt Route) Route { return limited(maxSmall, rt) }

// limited limits the body to a number of bytes.
func limited(bytes int64, rt Route) Route {
	rt.maxBody = bytes
	return rt
}

// requiringAll requires the data scope all, for a route whose response cannot be limited to another.
func requiringAll(rt Route) Route {
	rt.unscoped = true
	return rt
}

// keyUse is which API keys may use a route.
type keyUse int

const (
	byAnyKey keyUse = iota
	byPersonalKey
	byNoKey
)

// bySession excludes API keys from a route: it is about the person who is signed in, or about the keys
// and secrets from which a leaked key could get more.
func bySession(rt Route) Route {
	rt.keys = byNoKey
	return rt
}

// byPerson excludes service keys from a route, which is about the user that a key acts for.
func byPerson(rt Route) Route {
	rt.keys = byPersonalKey
	return rt
}

// keysNeed lets API keys use a route with another permission than users.
func keysNeed(permission string, rt Route) Route {
	rt.keyAccess = permission
	return rt
}

// answers describe responses of a raw route by status, for the OpenAPI document.
type answers map[int]string

// answering documents the responses of a raw route that has none with status 200.
func answering(a answers, rt Route) Route {
	rt.answers = a
	return rt
}

// reveals declares that the response of a route has a secret.
func reveals(rt Route) Route {
	rt.reveals = true
	return rt
}

// resuming documents that a route continues at a position that may be gone, with 410.
func resuming(rt Route) Route {
	rt.resumes = true
	return rt
}

// validating documents that a route without a body can reject the values that it would store.
func validating(rt Route) Route {
	rt.validates = true
	return rt
}

// closable documents that a setting can close a public route.
func closable(rt Route) Route {
	rt.closable = true
	return rt
}

// seeking documents that a public route looks for something that its body names, which may not exist.
func seeking(rt Route) Route {
	rt.seeks = true
	return rt
}

// anyQuery lets a page ignore parameters, which mail programs and trackers add to links.
func anyQuery(rt Route) Route {
	rt.in.anyQuery = true
	return rt
}

// withETag documents that a route answers 304 to a client whose data is current.
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

// routes returns the table of all routes.
func routes() []Route {
	var all []Route
	for _, resource := range [][]Route{
		accountRoutes, accountDeviceRoutes, actAsRoutes, factorRoutes, lockoutRoutes, passkeyRoutes, reauthRoutes, avatarRoutes, keyRoutes, accessCheckRoutes, forwardRoutes, userRoutes, roleRoutes, deptRoutes, permissionRoutes,
		appUserRoutes, appRoleRoutes, appRoutes, appSelfRoutes, appFactorRoutes, appPageRoutes, appFactorPageRoutes, challengeRoutes, auditRoutes, streamRoutes, configRoutes, webhookRoutes, settingRoutes, settingGroupRoutes, ofrepRoutes, fileRoutes, fileTrashRoutes, fileGroupRoutes, fileContentRoutes, sessionRoutes, monitorRoutes, systemRoutes,
		dictRoutes, dictItemRoutes, jobRoutes, healthRoutes, infoRoutes, manualRoutes, metricRoutes,
		linkRoutes, inviteRoutes, mailRoutes, customFieldRoutes,
		sdkRoutes, choiceRoutes,
	} {
		all = append(all, resource...)
	}
	return all
}

var permissionKey = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){1,4}$`)

// checkRoutes reports a mistake in the route table. New runs it.
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
		if rt.Method == "PUT" && rt.in.readOnly != nil && !rt.conditional {
			return fmt.Errorf("route %s would ignore the version that a client sends; declare onRecord(…)", rt.name())
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

// checkSecrets reports an input field that can contain a secret under a harmless name,
// unless the route declares it as hidden.
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

// takes reports whether the route's input has a path parameter.
func (rt *Route) takes(name string) bool {
	if rt.list != nil {
		return rt.list.under && name == "id"
	}
	return rt.in.has("path", name)
}

// name returns method and path, the name of the route in logs and metrics.
func (rt *Route) name() string { return rt.Method + " " + rt.Path }

// open reports whether the route needs no permission.
func (rt *Route) open() bool {
	return rt.Access == public || rt.Access == signedIn || rt.Access == appOnly || rt.Access == anyRealm || rt.Access == metricsToken
}

// Keys returns the permission keys that the program checks.
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

// ConfirmedKeys returns the keys of the permissions for operations that require a recent proof.
func ConfirmedKeys() map[string]bool {
	keys := map[string]bool{}
	for _, rt := range routes() {
		if !rt.open() && (rt.confirmed || rt.proves) {
			keys[rt.Access] = true
			if rt.keyAccess != "" {
				keys[rt.keyAccess] = true
			}
		}
	}
	for _, p := range furtherPermissions {
		keys[p.key] = true
	}
	return keys
}

// furtherPermissions are permissions that an operation requires in addition to its
// route's, depending on what it changes. All of these operations require a recent proof.
var furtherPermissions = []struct{ key, title string }{
	{store.SecurityPermission, "Change security settings"},
	{store.UnattendedBackup, "Download backups with an API key"},
	{store.ActAsWrite, "Change something while acting as a user"},
}
