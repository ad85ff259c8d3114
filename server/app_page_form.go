package server

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// appForm returns the route of a form in a page for app users. use returns the path of the next page. The
// page has the form again if there is an error that the person can do something about.
func appForm[In any](path, access, title string, view appView, use func(*Request, *In) (next string, err error)) Route {
	rt := pageForm(path, access, title, func(req *Request, in *In, fault error, w http.ResponseWriter) error {
		if err := req.sameOrigin(); err != nil {
			return err
		}
		next, err := "", fault
		if err == nil {
			next, err = use(req, in)
		}
		if err == nil {
			req.seeOther(next)
			return nil
		}
		known := errs.Of(err)
		if !showsFormAgain(known) {
			return err
		}
		req.shown = known
		p, err := req.view(view, "")
		if err != nil {
			return err
		}
		if p.hasFields() {
			p.keep(req.route.in, reflect.ValueOf(in).Elem())
			p.setError(req, known)
		}
		return req.sendAppPage(w, p)
	})
	rt.handler, rt.page, rt.shown = handlerName(use), true, store.AppPages.Get
	return closable(rateLimited(answering(appFormAnswers, rt)))
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
func (p *htmlPage) hasFields() bool {
	return slices.ContainsFunc(p.Forms, func(form htmlForm) bool { return len(form.Fields) > 0 })
}

// keep fills the texts that were sent into the form, but no passwords.
func (p *htmlPage) keep(d *input, in reflect.Value) {
	for _, form := range p.Forms {
		for i := range form.Fields {
			f := &form.Fields[i]
			if custom := d.find("form", "fields"); custom != nil && strings.HasPrefix(f.Name, fieldPrefix) {
				f.keepCustom(in.FieldByIndex(custom.index))
				continue
			}
			sent := d.find("form", f.Name)
			if sent == nil || f.Label == "" || f.Type == "password" {
				continue
			}
			if v := reflect.Indirect(in.FieldByIndex(sent.index)); v.IsValid() {
				f.Value = v.String()
			}
		}
	}
}
