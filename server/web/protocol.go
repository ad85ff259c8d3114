package web

import (
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// Protocol is a specification that a route follows instead of the conventions of this API: no
// envelope, its own bodies of errors, and members that it does not define are ignored.
type Protocol struct {
	Name     string                                            // name in the OpenAPI document
	Form     bool                                              // whether the body is a form instead of JSON
	checked  bool                                              // whether all fields of the form are texts, which are checked like those of JSON
	Failed   reflect.Type                                      // body of an error
	Failure  func(req *Request, e *errs.Error, msg string) any // makes it; msg is in the language of the request
	Statuses map[errs.Kind]int                                 // statuses of errors that differ from those of this API
}

// StatusOf returns the status of an error of the route, which is nil for an unknown path.
func (rt *Route) StatusOf(kind errs.Kind) int {
	if rt != nil && rt.Protocol != nil && rt.Protocol.Statuses[kind] != 0 {
		return rt.Protocol.Statuses[kind]
	}
	return Status[kind].Code
}

// OAuth is RFC 6749, whose errors the protocols that are built on it have.
var OAuth = Protocol{
	Name:    "OAuth 2.0",
	Form:    true,
	Failed:  reflect.TypeFor[OauthFailure](),
	Failure: newOauthFailure,
}

type OauthFailure struct {
	Error       string `json:"error" doc:"Code of the error: invalid_request, invalid_client, invalid_token, insufficient_scope, temporarily_unavailable or server_error"`
	Description string `json:"error_description"`
}

func newOauthFailure(req *Request, e *errs.Error, msg string) any {
	code := "invalid_request"
	switch e.Kind {
	case errs.Unauthenticated:
		if code = "invalid_token"; req.byClientSecret() {
			code = "invalid_client"
		}
	case errs.Denied:
		code = "insufficient_scope"
	case errs.TooMany, errs.Busy, errs.Full:
		code = "temporarily_unavailable"
	case errs.Internal:
		code = "server_error"
	}
	return OauthFailure{code, msg}
}

// Following declares the protocol of a route whose handler opens its own transactions. Its input
// has fields of the form or of the JSON body, and its response is the result of the handler.
func Following[In, Out any](p *Protocol, method, path, access, title string,
	handler func(*Request, *In) (Out, error), options ...Options) Route {
	rt := Action(method, path, access, title, handler)
	rt.Protocol, rt.Input.Protocol = p, p
	rt.Handler = HandlerName(handler)
	return rt.With(options...)
}

const FormMedia = "application/x-www-form-urlencoded"

// readForm reads a form of the protocol, once. Parameters must not be repeated.
func (req *Request) readForm() (url.Values, error) {
	if req.clientForm != nil {
		return req.clientForm, nil
	}
	if media, _, err := mime.ParseMediaType(req.HTTP.Header.Get("Content-Type")); req.HTTP.ContentLength == 0 || err != nil || media != FormMedia {
		return nil, errs.New(errs.BadMedia,
			"the Content-Type of the body must be application/x-www-form-urlencoded")
	}
	if req.HTTP.Method == http.MethodGet {
		return nil, errs.New(errs.Malformed, "a GET request must not have a body")
	}

	b, err := req.readBytes(req.Route.MaxBody)
	if err != nil {
		return nil, err
	}

	values, err := parseQuery(string(b))
	if err != nil {
		return nil, errs.New(errs.Malformed, "malformed form")
	}

	return values, nil
}

// FormPage is a form of a page of this server. Faults of its fields are in the page; other errors
// are answered like everywhere.
var FormPage = Protocol{Name: "HTML form", Form: true, checked: true,
	Failed: reflect.TypeFor[Failure](), Failure: func(req *Request, e *errs.Error, _ string) any {
		answer := failureOf(e, req.Language())
		answer.RequestID = req.ID
		return answer
	}}

// PageForm returns the route of a form of a page: its handler writes the next page. The handler
// gets what is wrong with the fields; nil if nothing is. The fields of the form are the texts of In
// and its custom fields, also those that are JSON for other routes, so that both have the same
// checks.
func PageForm[In any](path, access, title string,
	handler func(req *Request, in *In, fault error, w http.ResponseWriter) error,
	options ...Options) Route {
	rt := NewRoute[In, []byte](http.MethodPost, path, access, title)
	rt.Protocol, rt.Input.Protocol, rt.Binary = &FormPage, &FormPage, HTMLMedia
	rt.Handler, rt.Input.AnyQuery = HandlerName(handler), true
	rt.Input.Fields, rt.Input.Body = textFields(rt.Input.Fields), false
	if rt.MaxBody = MaxForm; rt.Input.Has("form", "fields") {
		rt.MaxBody += maxEncodedFields
	}

	rt.Raw = func(req *Request, w http.ResponseWriter) error {
		in := new(In)
		err := req.Decode(rt.Input, in)
		if err == nil {
			return handler(req, in, nil, w)
		}
		fault := errs.Of(err)
		if fault.Fields == nil {
			return err // the form could not be read
		}
		fault.Kind = errs.Invalid // also a missing field
		return handler(req, in, fault, w)
	}

	return rt.With(options...)
}

const maxEncodedFields = PercentEncoding * store.MaxFieldBytes

// textFields returns the fields that a form can have: those of the path, texts, and custom fields.
func textFields(all []*Field) (fields []*Field) {
	for _, f := range all {
		if f.From == "json" && (f.Typ.Kind() == reflect.String || f.Typ.Kind() == reflect.Map) {
			f = new(*f)
			f.From = "form"
		}
		if f.From != "json" {
			fields = append(fields, f)
		}
	}
	return slices.Clip(fields)
}

// Limits of the custom fields in a form, in bytes. Browsers send most characters percent-encoded,
// three bytes for each byte.
const (
	PercentEncoding = 3
)
