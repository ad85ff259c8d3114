package server

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"strings"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// The page of a one-time link is plain HTML with a form, so that it works in every browser, without
// scripts. Opening it changes nothing, because mail scanners open links, too; sending the form does.

const htmlMedia = "text/html"

// linkPolicy lets the page load only its own styles and the logo, and send its form only to this
// server.
const linkPolicy = "default-src 'none'; style-src 'nonce-NONCE'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

var linkPageAnswers = answers{
	200: "A page with a form",
	404: "A page that says that the link does not work",
	429: "A page that says that there were too many attempts",
}

var linkFormAnswers = answers{
	200: "A page that says what was done",
	404: "A page that says that the link does not work",
	409: "A page that says that somebody else has the address by now",
	422: "The page with the form, and what is wrong with the password",
	429: "A page that says that there were too many attempts",
	503: "A page that says that the server is busy",
}

// maxLinkForm is the maximum size of the form: two passwords, percent-encoded.
const maxLinkForm = 8 << 10

// htmlForm is a form of a page of this server. Faults of its fields are in the page; other errors are
// answered like everywhere.
var htmlForm = protocol{name: "HTML form", form: true, failed: reflect.TypeFor[failure](), failure: func(req *Request, e *errs.Error, _ string) any {
	answer := failureOf(e, req.language())
	answer.RequestID = req.ID
	return answer
}}

// pageForm returns the route of a form of a page: its handler writes the next page.
func pageForm(path, title string, handler func(*Request, *linkForm, http.ResponseWriter) error) Route {
	rt := newRoute[linkForm, []byte](http.MethodPost, path, public, title)
	rt.protocol, rt.in.protocol, rt.answers, rt.binary = &htmlForm, &htmlForm, linkFormAnswers, htmlMedia
	rt.handler, rt.maxBody, rt.in.anyQuery = handlerName(handler), maxLinkForm, true
	rt.raw = func(req *Request, w http.ResponseWriter) error {
		in := new(linkForm)
		if err := req.decode(rt.in, in); err != nil {
			return err
		}
		return handler(req, in, w)
	}
	return rt
}

// pages are the frame and the texts of the pages for people who are not signed in.
type pages struct {
	frame string                // HTML with {language}, {nonce}, {site}, {logo}, {title} and {content}
	texts map[string]*pageTexts // by language: en or zh
}

// pageTexts are the texts of pages in one language. Those of Intro and Done have the username or the
// address at %s.
type pageTexts struct {
	Password, Again, SignIn, Contact, Differ, Rules, DoneTitle, Invalid, Busy, Registered string

	Titles, Intro, Submit, Done map[string]string // by purpose of the link
}

func newPages(files fs.FS) (*pages, error) {
	frame, err := fs.ReadFile(files, "link.html")
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, "texts.json")
	if err != nil {
		return nil, err
	}
	p := &pages{frame: string(frame)}
	return p, json.Unmarshal(text, &p.texts)
}

// linkPage is what the page of a link shows.
type linkPage struct {
	Language, Site, Contact string
	Logo                    string // URL; "" for none
	Words                   *pageTexts
	Title, Fault            string
	Texts                   []string // paragraphs
	Form, AsksPassword      bool
	Username, Rules, Submit string
	MinLength               int
	Next                    string // URL of the sign-in page; "" for none
}

// newLinkPage returns a page with what all pages have.
func (req *Request) newLinkPage(tx *store.Tx) *linkPage {
	language := req.mailLanguage()
	return &linkPage{
		Language: req.language().Tag(), Words: req.s.pages.texts[language],
		Site: store.SiteTitle.Get(tx), Logo: store.SiteLogo.Get(tx), Contact: store.SiteContact.Get(tx),
	}
}

// ask shows the form of a link.
func (p *linkPage) ask(tx *store.Tx, l *store.Link) (err error) {
	if p.Username, err = l.Account().Username(tx); err != nil {
		return err
	}
	about := p.Username
	if p.AsksPassword = l.SetsPassword(); !p.AsksPassword {
		about = l.Email
	}
	p.MinLength = store.PasswordLength.Get(tx)
	p.Rules = fmt.Sprintf(p.Words.Rules, p.MinLength)
	p.Title, p.Submit, p.Form = p.Words.Titles[l.Purpose], p.Words.Submit[l.Purpose], true
	p.Texts = []string{fmt.Sprintf(p.Words.Intro[l.Purpose], about)}
	if l.Purpose == store.Registration { // so that nobody confirms an account that somebody else has registered
		p.Texts = append(p.Texts, fmt.Sprintf(p.Words.Registered, p.Username))
	}
	return nil
}

// done shows what a link has done.
func (p *linkPage) done(l *store.Link, username string) {
	text := p.Words.Done[l.Purpose]
	if l.SetsPassword() {
		text = fmt.Sprintf(text, username)
	}
	p.Title, p.Texts = p.Words.DoneTitle, []string{text}
	if !l.Account().App {
		p.Next = "/console/"
	}
}

// refuse shows why a link can't be used, and returns the status.
func (p *linkPage) refuse(req *Request, e *errs.Error) int {
	p.Title = p.Words.Invalid
	if e.Kind != errs.NotFound {
		p.Title = p.Words.Busy
	}
	p.Texts = []string{e.Msg.In(req.language())}
	return status[e.Kind].code
}

// html returns the page in its frame.
func (p *linkPage) html(frame, nonce string) string {
	var b strings.Builder
	if p.Fault != "" {
		b.WriteString(`<p class="fault" role="alert" id="fault">` + html.EscapeString(p.Fault) + "</p>\n")
	}
	for _, text := range p.Texts {
		b.WriteString("<p>" + html.EscapeString(text) + "</p>\n")
	}
	if p.Form {
		b.WriteString(`<form method="post"><input type="hidden" name="confirm" value="1">` + "\n") // a form without fields would have no body
		if p.AsksPassword {
			p.writePasswordFields(&b)
		}
		b.WriteString(`<button type="submit">` + html.EscapeString(p.Submit) + "</button>\n</form>\n")
	}
	if p.Next != "" {
		b.WriteString(`<a class="button" href="` + html.EscapeString(p.Next) + `">` + html.EscapeString(p.Words.SignIn) + "</a>\n")
	}
	if p.Contact != "" {
		b.WriteString(`<p class="soft">` + html.EscapeString(p.Words.Contact+" "+p.Contact) + "</p>\n")
	}
	logo := ""
	if p.Logo != "" {
		logo = `<img src="` + html.EscapeString(p.Logo) + `" alt="">`
	}
	return strings.NewReplacer("{language}", html.EscapeString(p.Language), "{nonce}", nonce, "{logo}", logo,
		"{site}", html.EscapeString(p.Site), "{title}", html.EscapeString(p.Title), "{content}", b.String()).Replace(frame)
}

// writePasswordFields writes the fields of a new password. The username is for password managers.
func (p *linkPage) writePasswordFields(b *strings.Builder) {
	about := "rules"
	if p.Fault != "" {
		about += " fault"
	}
	fmt.Fprintf(b, `<input type="text" value="%s" autocomplete="username" readonly hidden>`+"\n", html.EscapeString(p.Username))
	fmt.Fprintf(b, `<label for="password">%s</label>`+"\n", html.EscapeString(p.Words.Password))
	fmt.Fprintf(b, `<input id="password" name="password" type="password" autocomplete="new-password" required minlength="%d" maxlength="1024" aria-describedby="%s" autofocus>`+"\n", p.MinLength, about)
	fmt.Fprintf(b, `<p class="soft" id="rules">%s</p>`+"\n", html.EscapeString(p.Rules))
	fmt.Fprintf(b, `<label for="again">%s</label>`+"\n", html.EscapeString(p.Words.Again))
	b.WriteString(`<input id="again" name="password_again" type="password" autocomplete="new-password" required maxlength="1024">` + "\n")
}

type openLinkIn struct {
	Token string `path:"token"`
}

// openLinkPage shows the form of a link.
func openLinkPage(req *Request, in *openLinkIn, w http.ResponseWriter) error {
	var page *linkPage
	code := http.StatusOK
	err := req.db.View(store.System, func(tx *store.Tx) error {
		page = req.newLinkPage(tx)
		l, err := req.auth().Link(tx, auth.LinkUse{Token: in.Token, Addr: req.Addr, Observe: req.counted})
		if err == nil {
			return page.ask(tx, l)
		}
		if known := errs.Of(err); linkPageAnswers[status[known.Kind].code] != "" {
			code = page.refuse(req, known)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return req.sendLinkPage(w, code, page)
}

// linkForm is the form of the page.
type linkForm struct {
	Token    string  `path:"token"`
	Password *string `form:"password" check:"raw" doc:"New password; required for an invitation and a password reset"`
	Again    *string `form:"password_again" check:"raw" doc:"The same password again"`
}

// useLinkPage uses a link, and shows what it has done.
func useLinkPage(req *Request, in *linkForm, w http.ResponseWriter) error {
	page, l, err := req.pageOfLink(in)
	if err == nil && page.Fault == "" {
		var used *linkUsed
		if used, err = req.useLink(in.Token, in.Password, "password", nil); err == nil {
			*page = linkPage{Language: page.Language, Words: page.Words, Site: page.Site, Logo: page.Logo, Contact: page.Contact}
			page.done(l, used.Username)
		}
	}
	code := http.StatusOK
	switch known := errs.Of(err); {
	case err == nil && page.Fault != "":
		code = http.StatusUnprocessableEntity
	case err == nil:
	case page == nil || linkFormAnswers[status[known.Kind].code] == "":
		return err
	case known.Kind == errs.Invalid:
		code, page.Fault = http.StatusUnprocessableEntity, faultText(req, known)
	default:
		page.Form, page.Fault = false, ""
		code = page.refuse(req, known)
	}
	return req.sendLinkPage(w, code, page)
}

// pageOfLink returns the page with the form that was sent, and what is wrong with it.
func (req *Request) pageOfLink(in *linkForm) (page *linkPage, l *store.Link, err error) {
	err = req.db.View(store.System, func(tx *store.Tx) (err error) {
		page = req.newLinkPage(tx)
		if l, err = req.auth().Link(tx, auth.LinkUse{Token: in.Token, Addr: req.Addr, Observe: req.counted}); err != nil {
			return err
		}
		if err := page.ask(tx, l); err != nil {
			return err
		}
		if page.AsksPassword && (in.Password == nil || in.Again == nil || *in.Password != *in.Again) {
			page.Fault = page.Words.Differ
		}
		return nil
	})
	return page, l, err
}

// faultText returns what is wrong with the password.
func faultText(req *Request, e *errs.Error) string {
	language, name := req.language(), req.s.pages.texts[req.mailLanguage()].Password
	for _, fault := range e.Fields {
		return name + ": " + fault.In(language)
	}
	return e.Msg.In(language)
}

// sendLinkPage sends a page. Neither caches nor other sites may learn its address.
func (req *Request) sendLinkPage(w http.ResponseWriter, code int, page *linkPage) error {
	nonce := rand.Text()
	body := page.html(req.s.pages.frame, nonce)
	h := w.Header()
	h.Set("Content-Type", htmlMedia+"; charset=utf-8")
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", strings.ReplaceAll(linkPolicy, "NONCE", nonce))
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(code)
	_, err := io.WriteString(w, body)
	return err
}
