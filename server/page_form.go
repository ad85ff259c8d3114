package server

import (
	"net/http"
	"reflect"
	"slices"
	"unicode"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
)

// formPage is a form of a page of this server. Faults of its fields are in the page; other errors are
// answered like everywhere.
var formPage = protocol{name: "HTML form", form: true, checked: true, failed: reflect.TypeFor[failure](), failure: func(req *Request, e *errs.Error, _ string) any {
	answer := failureOf(e, req.language())
	answer.RequestID = req.ID
	return answer
}}

// Limits of the custom fields in a form, in bytes. Browsers send most characters percent-encoded, three bytes for
// each byte.
const (
	percentEncoding  = 3
	maxEncodedFields = percentEncoding * store.MaxFieldBytes
)

// pageForm returns the route of a form of a page: its handler writes the next page. The handler gets what
// is wrong with the fields; nil if nothing is. The fields of the form are the texts of In and its custom fields, also those that
// are JSON for other routes, so that both have the same checks.
func pageForm[In any](path, access, title string, handler func(req *Request, in *In, fault error, w http.ResponseWriter) error) Route {
	rt := newRoute[In, []byte](http.MethodPost, path, access, title)
	rt.protocol, rt.in.protocol, rt.binary = &formPage, &formPage, htmlMedia
	rt.handler, rt.in.anyQuery = handlerName(handler), true
	rt.in.fields, rt.in.body = textFields(rt.in.fields), false
	if rt.maxBody = maxForm; rt.in.has("form", "fields") {
		rt.maxBody += maxEncodedFields
	}
	rt.raw = func(req *Request, w http.ResponseWriter) error {
		in := new(In)
		err := req.decode(rt.in, in)
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
	return rt
}

// textFields returns the fields that a form can have: those of the path, texts, and custom fields.
func textFields(all []*field) (fields []*field) {
	for _, f := range all {
		if f.from == "json" && (f.typ.Kind() == reflect.String || f.typ.Kind() == reflect.Map) {
			f.from = "form"
		}
		if f.from != "json" {
			fields = append(fields, f)
		}
	}
	return slices.Clip(fields)
}

// faultIn returns the first field of the form that an error is about, and what is wrong with it, for people.
// The texts of errors without such a field are those of the error.
func (p *htmlPage) faultIn(l errs.Language, e *errs.Error) (name, text string) {
	for _, form := range p.Forms {
		for _, f := range form.Fields {
			fault, ok := e.Fields[f.Name]
			switch {
			case ok && f.Fault != "":
				return f.Name, f.Fault
			case ok && f.Label != "":
				return f.Name, f.Label + ": " + fault.In(l)
			}
		}
	}
	return "", sentence(e, l)
}

// sentence returns the message of an error with a capital letter.
func sentence(e *errs.Error, l errs.Language) string {
	text := e.Msg.In(l)
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// setError shows an error in the form.
func (p *htmlPage) setError(req *Request, e *errs.Error) {
	req.shown = e
	setRetryAfter(req.w.Header(), e)
	p.Status = status[e.Kind].code
	p.FaultField, p.Fault = p.faultIn(req.language(), e)
}
