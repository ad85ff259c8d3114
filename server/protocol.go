package server

import (
	"mime"
	"net/http"
	"net/url"
	"reflect"

	"reeve/store/errs"
)

// protocol is a specification that a route follows instead of the conventions of this API: no
// envelope, its own bodies of errors, and members that it does not define are ignored.
type protocol struct {
	name     string                                            // for the OpenAPI document
	form     bool                                              // whether the body is a form instead of JSON
	checked  bool                                              // whether all fields of the form are texts, which are checked like those of JSON
	failed   reflect.Type                                      // body of an error
	failure  func(req *Request, e *errs.Error, msg string) any // makes it; msg is in the language of the request
	statuses map[errs.Kind]int                                 // statuses of errors that differ from those of this API
}

// statusOf returns the status of an error of the route, which is nil for an unknown path.
func (rt *Route) statusOf(kind errs.Kind) int {
	if rt != nil && rt.protocol != nil && rt.protocol.statuses[kind] != 0 {
		return rt.protocol.statuses[kind]
	}
	return status[kind].code
}

// oauth is RFC 6749, whose errors the protocols that are built on it have.
var oauth = protocol{name: "OAuth 2.0", form: true, failed: reflect.TypeFor[oauthFailure](), failure: newOAuthFailure}

type oauthFailure struct {
	Error       string `json:"error" doc:"Code of the error: invalid_request, invalid_client, invalid_token, insufficient_scope, temporarily_unavailable or server_error"`
	Description string `json:"error_description"`
}

func newOAuthFailure(req *Request, e *errs.Error, msg string) any {
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
	return oauthFailure{code, msg}
}

// following declares the protocol of a route whose handler opens its own transactions. Its input has
// fields of the form or of the JSON body, and its response is what the handler returns.
func following[In, Out any](p *protocol, method, path, access, title string, handler func(*Request, *In) (Out, error)) Route {
	rt := action(method, path, access, title, handler)
	rt.protocol, rt.in.protocol = p, p
	rt.handler = handlerName(handler)
	return rt
}

const formMedia = "application/x-www-form-urlencoded"

// readForm reads a form of the protocol, once. Parameters must not be repeated.
func (req *Request) readForm() (url.Values, error) {
	if req.clientForm != nil {
		return req.clientForm, nil
	}
	if media, _, err := mime.ParseMediaType(req.http.Header.Get("Content-Type")); req.http.ContentLength == 0 || err != nil || media != formMedia {
		return nil, errs.New(errs.BadMedia, "the Content-Type of the body must be application/x-www-form-urlencoded")
	}
	if req.http.Method == http.MethodGet {
		return nil, errs.New(errs.Malformed, "a GET request must not have a body")
	}
	b, err := req.readBytes(req.route.maxBody)
	if err != nil {
		return nil, err
	}
	values, err := parseQuery(string(b))
	if err != nil {
		return nil, errs.New(errs.Malformed, "malformed form")
	}
	return values, nil
}
