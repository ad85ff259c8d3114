package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

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

			next, err := "", fault
			if err == nil {
				next, err = use(req, in)
			}
			if err == nil && next != "" {
				seeOther(req, next)
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
			if p.hasFields() {
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

// hasFields reports whether the page has a form with fields.
func (p *HTMLPage) hasFields() bool {
	return slices.ContainsFunc(p.Forms, func(form htmlForm) bool { return len(form.Fields) > 0 })
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
