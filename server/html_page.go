package server

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"reeve/store"
)

// Pages for people who are not users of the console are plain HTML with forms, so that they work in
// every browser. They have the title, the logo and the contact of the site.

const htmlMedia = "text/html"

// pagePolicy lets a page load only its own styles and the logo, and send its forms only to this
// server.
const pagePolicy = "default-src 'none'; style-src 'nonce-NONCE'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// pages are the frame and the texts of the pages.
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
	frame, err := fs.ReadFile(files, "frame.html")
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

// htmlPage is what a page shows, in this order. Everything but the title may be empty.
type htmlPage struct {
	Language, Site, Contact string
	Logo                    string // URL; "" for none
	Words                   *pageTexts
	Status                  int // of the response; 0 means 200
	Title, Fault            string
	FaultField              string   // name of the field that Fault is about
	Texts                   []string // paragraphs
	Forms                   []htmlForm
	Next                    pageLink // shown as a button
}

type pageLink struct{ Path, Text string }

// htmlForm is a form of a page, which is sent to the path of the page.
type htmlForm struct {
	Fields []htmlField
	Submit string // text of the button
}

// htmlField is a field of a form, with the type of an input element. The value of a password is never
// sent to a browser.
type htmlField struct {
	Name, Type, Label, Value string
	Autocomplete             string // what password managers fill in
	Hint                     string
	Required                 bool
	Min, Max                 int // characters; 0 for any number
}

// newPage returns a page with what all pages have.
func (req *Request) newPage(tx *store.Tx) *htmlPage {
	return &htmlPage{
		Language: req.language().Tag(), Words: req.s.pages.texts[req.mailLanguage()],
		Site: store.SiteTitle.Get(tx), Logo: store.SiteLogo.Get(tx), Contact: store.SiteContact.Get(tx),
	}
}

// newPassword returns the fields of a new password. The username is for password managers.
func (p *htmlPage) newPassword(tx *store.Tx, name, username string) []htmlField {
	least := store.PasswordLength.Get(tx)
	return []htmlField{
		{Type: "text", Value: username, Autocomplete: "username"},
		{Name: name, Type: "password", Label: p.Words.Password, Autocomplete: "new-password", Required: true, Min: least, Max: maxPassword, Hint: fmt.Sprintf(p.Words.Rules, least)},
		{Name: name + "_again", Type: "password", Label: p.Words.Again, Autocomplete: "new-password", Required: true, Max: maxPassword},
	}
}

// maxPassword is the maximum length of a password in bytes.
const maxPassword = 1024

// html returns the page in its frame.
func (p *htmlPage) html(frame, nonce string) string {
	var b strings.Builder
	if p.Fault != "" {
		b.WriteString(`<p class="fault" role="alert" id="fault">` + html.EscapeString(p.Fault) + "</p>\n")
	}
	for _, text := range p.Texts {
		b.WriteString("<p>" + html.EscapeString(text) + "</p>\n")
	}
	for _, form := range p.Forms {
		form.write(&b, p.FaultField)
	}
	if p.Next.Path != "" {
		b.WriteString(`<a class="button" href="` + html.EscapeString(p.Next.Path) + `">` + html.EscapeString(p.Next.Text) + "</a>\n")
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

// write writes the form. The field with a fault, or else the first that is empty, gets the focus.
func (form *htmlForm) write(b *strings.Builder, fault string) {
	b.WriteString(`<form method="post"><input type="hidden" name="confirm" value="1">` + "\n") // a form without fields would have no body
	focused := fault
	for i := range form.Fields {
		f := &form.Fields[i]
		if focused == "" && f.Value == "" {
			focused = f.Name
		}
		f.write(b, f.Name == fault, f.Name == focused)
	}
	b.WriteString(`<button type="submit">` + html.EscapeString(form.Submit) + "</button>\n</form>\n")
}

// write writes a field. One without a label is not shown.
func (f *htmlField) write(b *strings.Builder, fault, focus bool) {
	attribute := func(name, value string, applies bool) {
		if applies {
			b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
		}
	}
	flag := func(name string, applies bool) {
		if applies {
			b.WriteString(" " + name)
		}
	}
	if f.Label != "" {
		b.WriteString(`<label for="` + f.Name + `">` + html.EscapeString(f.Label) + "</label>\n")
	}
	about := ""
	if f.Hint != "" {
		about = f.Name + "-hint"
	}
	if fault {
		about += " fault"
	}
	b.WriteString("<input")
	attribute("id", f.Name, f.Label != "")
	attribute("name", f.Name, f.Name != "")
	attribute("type", f.Type, true)
	attribute("value", f.Value, f.Type != "password" && f.Value != "")
	attribute("autocomplete", f.Autocomplete, f.Autocomplete != "")
	flag("required", f.Required)
	attribute("minlength", fmt.Sprint(f.Min), f.Min > 0)
	attribute("maxlength", fmt.Sprint(f.Max), f.Max > 0)
	attribute("aria-describedby", strings.TrimSpace(about), about != "")
	attribute("aria-invalid", "true", fault)
	flag("autofocus", focus && f.Label != "")
	flag("readonly hidden", f.Label == "" && f.Name == "")
	b.WriteString(">\n")
	if f.Hint != "" {
		b.WriteString(`<p class="soft" id="` + f.Name + `-hint">` + html.EscapeString(f.Hint) + "</p>\n")
	}
}

// sendPage sends a page. Neither caches nor other sites may learn its address.
func (req *Request) sendPage(w http.ResponseWriter, p *htmlPage) error {
	nonce := rand.Text()
	body := p.html(req.s.pages.frame, nonce)
	h := w.Header()
	h.Set("Content-Type", htmlMedia+"; charset=utf-8")
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", strings.ReplaceAll(pagePolicy, "NONCE", nonce))
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(max(p.Status, http.StatusOK))
	_, err := io.WriteString(w, body)
	return err
}
