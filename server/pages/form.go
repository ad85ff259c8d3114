package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// appForm returns the route of a form in a page for app users. use returns the path of the next
// page; "" for the page itself, which shows once what must be in no address. The page has the form
// again if there is an error that the person can do something about.
func appForm[In any](ps *Pages, path, access, title string, view appView,
	use func(*web.Request, *In) (next string, err error), options ...web.Options) web.Route {
	rt := web.PageForm(path, access, title,
		func(req *web.Request, in *In, fault error, w http.ResponseWriter) error {
			if err := req.SameOrigin(); err != nil {
				return err
			}

			if err := mayReturn(req); err != nil {
				return err
			}

			next, err := "", fault
			if err == nil {
				next, err = use(req, in)
			}
			if err == nil && next != "" {
				seeOther(req, nextPage(req, next))
				return nil
			}
			if err == nil {
				return ps.answerPage(req, w, view)
			}

			known := errs.Of(err)
			if !showsFormAgain(known) {
				return err
			}

			req.Shown = known
			p, err := ps.view(req, view, "")
			if err != nil {
				return err
			}
			if len(p.Forms) > 0 { // else the page says why there is none
				sent := reflect.ValueOf(in).Elem()
				if _, stale := known.Fields[versionField]; !stale {
					p.keep(req.Route.Input, sent)
				} else if !p.compare(req.Route.Input, sent) && next != "" {
					seeOther(req, next) // the form was sent twice
					return nil
				}
				p.setError(req, known)
			}

			return sendAppPage(req, w, p)
		})
	rt.Handler, rt.Page, rt.Visible = web.HandlerName(use), true, store.AppPages.Get
	return rt.With(web.Options{Closable: true, RateLimited: true, Answers: appFormAnswers}).With(options...)
}

// answerPage answers a form with its page.
func (ps *Pages) answerPage(req *web.Request, w http.ResponseWriter, view appView) error {
	p, err := ps.view(req, view, "")
	if err != nil {
		return err
	}
	return sendAppPage(req, w, p)
}

// mustChange reports whether an error is that the password must be changed first.
func mustChange(e *errs.Error) bool { return e.Code == "password_change_required" }

// showsFormAgain reports whether a form is shown again after an error.
func showsFormAgain(e *errs.Error) bool {
	switch e.Kind {
	case errs.Invalid, errs.Conflict, errs.TooMany, errs.Busy:
		return true
	case errs.Denied:
		return !mustChange(e)
	}
	return false // also if the session has ended
}

// keep fills what was sent into the forms, but no passwords. The version is that of the values that
// were sent, so that a form that was stale remains stale.
func (p *HTMLPage) keep(d *web.Input, sent reflect.Value) {
	for _, form := range p.Forms {
		for i, f := range form.Fields {
			form.Fields[i] = f.asSent(d, sent)
		}
	}
}

// compare shows the submitted values next to the current ones that differ. It reports whether there
// are any.
func (p *HTMLPage) compare(d *web.Input, sent reflect.Value) (differs bool) {
	words := &p.Words.App
	for _, form := range p.Forms {
		for i := range form.Fields {
			f := &form.Fields[i]
			own := f.asSent(d, sent)
			if f.Label == "" || own.text() == f.text() {
				continue
			}
			differs = true
			f.Hint = strings.TrimSpace(f.Hint + "\n" + fmt.Sprintf(words.YourVersion,
				cmp.Or(own.text(), words.None)))
		}
	}
	return differs
}

// asSent returns the field with the value that was sent; unchanged if none was sent, and if it is a
// password or hidden.
func (f htmlField) asSent(d *web.Input, in reflect.Value) htmlField {
	if custom := d.Find("form", "fields"); custom != nil &&
		strings.HasPrefix(f.Name, web.FieldPrefix) {
		f.keepCustom(in.FieldByIndex(custom.Index))
		return f
	}
	sent := d.Find("form", f.Name)
	if sent == nil || f.Type == "password" || f.Label == "" && f.Name != versionField {
		return f
	}
	if v := reflect.Indirect(in.FieldByIndex(sent.Index)); v.IsValid() {
		f.Value = v.String()
	}
	return f
}

// text returns the value for people: the labels of options, and other values as they are.
func (f *htmlField) text() string {
	if f.Options == nil {
		return f.Value
	}
	var labels []string
	for _, o := range f.Options {
		if o.Value == f.Value || slices.Contains(f.Chosen, o.Value) {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

// faultIn returns the first field of the form that an error is about, and a description of the
// fault for people. The texts of errors without such a field are those of the error.
func (p *HTMLPage) faultIn(l errs.Language, e *errs.Error) (name, text string) {
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
	return "", Sentence(e, l)
}

// Sentence returns the message of an error with a capital letter.
func Sentence(e *errs.Error, l errs.Language) string {
	text := e.Msg.In(l)
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// setError shows an error in the form.
func (p *HTMLPage) setError(req *web.Request, e *errs.Error) {
	req.Shown = e
	web.SetRetryAfter(req.Writer.Header(), e)
	p.Status = web.Status[e.Kind].Code
	p.FaultField, p.Fault = p.faultIn(req.Language(), e)
}

// customFields returns the form fields of the custom fields that app users can change. With
// creating, those that are not required are marked as optional. Images can't be uploaded on a page.
func (p *HTMLPage) customFields(tx *store.Tx, values store.FieldValues,
	creating bool) (fields []htmlField) {
	for _, f := range store.CustomFieldsOf(tx, store.AppRealm, store.FieldSelf) {
		if f.Type != "image" && f.WritableBy(store.FieldSelf) {
			fields = append(fields, p.customField(f, values.Get(f.ID), creating))
		}
	}
	return fields
}

func (p *HTMLPage) customField(f *store.CustomField, value string, creating bool) htmlField {
	words := &p.Words.App
	h := htmlField{
		Name:  web.FieldPrefix + f.Key,
		Type:  "text",
		Label: f.Title,
		Value: value,
		Hint:  f.Describe,
		Max:   f.MaxLength(),
	}
	h.Required = bool(f.Required) && (creating || value != "") // as the server requires it
	if creating && !h.Required {
		h.Hint = strings.TrimSpace(words.Optional + "\n" + f.Describe)
	}

	switch f.Type {
	case "textarea", "json":
		h.Type = "textarea"
	case "date":
		h.Type = "date"
	case "number":
		h.Mode = "decimal"
	case "switch":
		h.Type, h.Options = "select", []store.Option{{Label: words.Yes, Value: "1"}, {
			Label: words.No,
			Value: "0",
		}}
	case "radio", "select":
		h.Type, h.Options = "select", f.Options
	case "checkbox":
		h.Type, h.Options, h.Chosen, h.Value = "checkbox", f.Options, chosenIn(value), ""
	}

	if h.Type != "text" && h.Type != "textarea" {
		h.Max = 0 // elements of other types have no maxlength
	}

	for _, stored := range append(slices.Clone(h.Chosen), h.Value) { // one that is no option any more remains until it is changed
		if h.Options != nil && stored != "" &&
			!slices.ContainsFunc(h.Options, func(o store.Option) bool {
				return o.Value == stored
			}) {
			h.Options = append(slices.Clone(h.Options), store.Option{Label: stored, Value: stored})
		}
	}

	return h
}

// chosenIn returns the options that a text has, which is stored for a field with several ones.
func chosenIn(text string) (chosen []string) {
	json.Unmarshal([]byte(text), &chosen) // what was stored is valid; "" means none
	return chosen
}

// customFacts returns the custom fields that app users can read, for people.
func (p *HTMLPage) customFacts(tx *store.Tx, values store.FieldValues) (facts []pageFact) {
	for _, f := range store.CustomFieldsOf(tx, store.AppRealm, store.FieldSelf) {
		if f.Type == "image" {
			continue
		}
		shown := p.customField(f, values.Get(f.ID), false)
		facts = append(facts, pageFact{f.Title, shown.text()})
	}
	return facts
}

// keepCustom fills the custom fields that were sent into the form.
func (f *htmlField) keepCustom(sent reflect.Value) {
	v := sent.MapIndex(reflect.ValueOf(strings.TrimPrefix(f.Name, web.FieldPrefix)))
	if !v.IsValid() {
		return
	}
	switch v := v.Interface().(type) {
	case string:
		f.Value = v
	case []any:
		f.Chosen = nil
		for _, text := range v {
			f.Chosen = append(f.Chosen, text.(string))
		}
	}
}
