package web

import (
	"strings"

	"reeve/store/errs"
)

// Language returns the language for the texts of the response, and sets the headers that name it.
// Only responses that have such texts ask for it.
func (req *Request) Language() errs.Language {
	language := errs.LanguageFor(strings.Join(req.HTTP.Header["Accept-Language"], ","))
	h := req.Writer.Header()
	if h["Content-Language"] == nil {
		h.Add("Vary", "Accept-Language") // besides Origin
	}
	h["Content-Language"] = []string{language.Tag()}
	return language
}
