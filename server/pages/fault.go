package pages

import (
	"unicode"
	"unicode/utf8"

	"reeve/server/web"
	"reeve/store/errs"
)

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
