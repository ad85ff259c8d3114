package pages

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
)

// Pages for people who are not users of the console are plain HTML with forms, so that they work in
// every browser. They have the title, the logo and the contact of the site.

// ChallengePolicy also lets a page run its own script, which gets a challenge from this server.
const ChallengePolicy = PagePolicy + "; script-src 'nonce-NONCE'; connect-src 'self'"

// PagePolicy lets a page load only its own styles and the logo, and send its forms only to this
// server.
const PagePolicy = "default-src 'none'; style-src 'nonce-NONCE'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Pages are the frame and the texts of the pages.
type Pages struct {
	frame   string                // HTML with {language}, {nonce}, {accents}, {site}, {logo}, {title} and {content}
	script  string                // solves the challenge of a registration
	passkey string                // asks the browser for a passkey
	Texts   map[string]*pageTexts // texts by language: en or zh
}

// pageTexts are the texts of pages in one language. Those of Intro and Done have the username or
// the address at %s.
type pageTexts struct {
	Password, Again, SignIn, Contact, ToProduct, Differ, Rules, RulesUsed, DoneTitle, Invalid, Busy, Registered string

	Refused, AskFor, EndsAll, Unfinished, Continue string // texts about programs behind a proxy

	Titles, Intro, Submit, Done map[string]string // texts by purpose of the link

	App appPageTexts
}

func NewPages(files fs.FS) (*Pages, error) {
	frame, err := fs.ReadFile(files, "frame.html")
	if err != nil {
		return nil, err
	}

	script, err := fs.ReadFile(files, "challenge.js")
	if err != nil {
		return nil, err
	}

	passkey, err := fs.ReadFile(files, "passkey.js")
	if err != nil {
		return nil, err
	}

	text, err := fs.ReadFile(files, "texts.json")
	if err != nil {
		return nil, err
	}

	p := &Pages{frame: string(frame), script: string(script), passkey: string(passkey)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return p, decoder.Decode(&p.Texts)
}

// HTMLPage has the parts of a page, in this order. Everything but the title may be empty.
type HTMLPage struct {
	Language, Site, Contact string
	Accents                 string // rule of a style sheet; "" for none
	Logo                    string // path; "" for none
	Words                   *pageTexts
	Hosted                  bool // whether there are pages for app users
	Status                  int  // status of the response; 0 means 200
	Title, Notice, Fault    string
	FaultField              string   // name of the field that Fault is about
	Texts                   []string // paragraphs
	Picture                 string   // SVG element
	CodesTitle              string
	Codes                   []string // texts to copy
	Facts                   []pageFact
	Menu                    []PageLink
	Forms                   []htmlForm
	Next                    PageLink // shown as a button
	Links                   []PageLink

	kit     *Pages
	Base    string   // base path of the server, which precedes the paths of links and forms
	done    string   // completed operation, as the address names it
	script  string   // script of the page; "" for none
	kept    string   // parameters that its links keep, see returnQuery
	product PageLink // link to the product that the browser came from; zero for none
	formTo  string   // origin to which its forms may lead, after a space; "" for this server only
}

type pageFact struct{ Name, Text string }

// PageLink is a link to a page of this server, or to a URL of another one.
type PageLink struct{ Path, Text string }

// htmlForm is a form of a page.
type htmlForm struct {
	Action  string   // path; "" for that of the page
	Lines   []string // subject of the form, in a box with it
	Fields  []htmlField
	Submit  string     // text of the button; "" for none
	Opener  string     // text that shows the form, which is hidden until then; "" for a form that is shown
	Links   []PageLink // shown below it with an opener
	Kind    string     // look of the button: "", second or danger
	Scripts string     // text for browsers without scripts, if the form needs one
	Wait    string     // text while the script is working
	Failed  string     // text if the script can't do it
}

// htmlField is a field of a form, with the type of an input element, or select, textarea, or
// checkbox for a choice of several options. The value of a password is never sent to a browser. A
// field without a label is not shown.
type htmlField struct {
	Name, Type, Label, Value string
	Options                  []store.Option
	Chosen                   []string // values of the options that are chosen, of a checkbox
	Mode                     string   // keyboard that a phone shows
	Autocomplete             string   // kind of value for password managers
	Hint                     string
	Required                 bool
	Min, Max                 int    // characters; 0 for any number
	Fault                    string // text for any fault; "" for the fault itself
}

// NewPage returns a page with the parts of all pages.
func (ps *Pages) NewPage(tx *store.Tx, req *web.Request) *HTMLPage {
	return &HTMLPage{
		kit:      ps,
		Base:     req.Server.Config.BasePath,
		Language: req.Language().Tag(),
		Words:    ps.Texts[mails.MailLanguage(req)],
		Site:     store.SiteTitle.Get(tx),
		Accents:  store.AccentStyle(tx),
		Logo:     store.SiteLogo.Get(tx),
		Contact:  store.SiteContact.Get(tx),
		Hosted:   store.AppPages.Get(tx),
	}
}

// forUsername returns the field that tells password managers whose password a form has.
func forUsername(username string) htmlField {
	return htmlField{Type: "text", Value: username, Autocomplete: "username"}
}

// newPassword returns the fields of a new password. rules is the format of its hint.
func (p *HTMLPage) newPassword(tx *store.Tx, name, label, again, rules string) []htmlField {
	least := store.PasswordLength.Get(tx)
	return []htmlField{
		{
			Name:         name,
			Type:         "password",
			Label:        label,
			Autocomplete: "new-password",
			Required:     true,
			Min:          least,
			Max:          maxPassword,
			Hint:         fmt.Sprintf(rules, least),
		},
		{
			Name:         againField,
			Type:         "password",
			Label:        again,
			Autocomplete: "new-password",
			Required:     true,
			Max:          maxPassword,
			Fault:        p.Words.Differ,
		},
	}
}

// otherPassword returns newPassword for an account that may have had passwords.
func (p *HTMLPage) otherPassword(tx *store.Tx, name string) []htmlField {
	rules := p.Words.Rules
	if store.PasswordHistory.Get(tx) > 0 {
		rules = p.Words.RulesUsed
	}
	return p.newPassword(tx, name, p.Words.Password, p.Words.Again, rules)
}

// presentPassword returns the field of the password that an account has.
func presentPassword(name, label string) htmlField {
	return htmlField{
		Name:         name,
		Type:         "password",
		Label:        label,
		Autocomplete: "current-password",
		Required:     true,
		Max:          maxPassword,
	}
}

const (
	maxPassword = 1024 // bytes
	againField  = "password_again"
)

// SendPage sends a page. Neither caches nor other sites may learn its address.
func SendPage(req *web.Request, w http.ResponseWriter, p *HTMLPage) error {
	return sendHTML(req, w, p, PagePolicy, "no-referrer")
}

// SendFormPage is SendPage for a page with a form: browsers send the origin with it, which no-referrer
// would forbid.
func SendFormPage(req *web.Request, w http.ResponseWriter, p *HTMLPage) error {
	return sendHTML(req, w, p, PagePolicy, "same-origin")
}

// AddButton adds a form that has only a button, and is sent to the address of the page.
func (p *HTMLPage) AddButton(text string) { p.Forms = append(p.Forms, htmlForm{Submit: text}) }

func sendHTML(req *web.Request, w http.ResponseWriter, p *HTMLPage, policy, referrer string) error {
	nonce := rand.Text()
	body := p.html(p.kit.frame, nonce)
	h := w.Header()
	h.Set("Content-Type", web.HTMLMedia+"; charset=utf-8")
	h.Set("X-Request-Id", req.ID)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", strings.ReplaceAll(policy, "NONCE", nonce))
	h.Set("Referrer-Policy", referrer)
	w.WriteHeader(max(p.Status, http.StatusOK))
	_, err := io.WriteString(w, body)
	return err
}

// confirmFields returns the fields with which the caller confirms a change: none without a password.
func (p *HTMLPage) confirmFields(tx *store.Tx, req *web.Request, label string) ([]htmlField, error) {
	hash, err := store.SignInHash(tx, store.Account{App: true, ID: req.Actor.ID})
	if err != nil || hash == "" {
		return nil, err
	}
	return []htmlField{forUsername(req.Actor.Username), presentPassword("password", label)}, nil
}
