package pages

import (
	"cmp"
	"fmt"
	"net/http"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// The page of a one-time link has a form. Opening it changes nothing, because mail scanners open
// links, too; sending the form does.

func LinkRoutes(ps *Pages) []web.Route {
	return []web.Route{
		web.Raw(mails.LinkPath+":token", web.Public, "Open a one-time link", web.HTMLMedia,
			ps.openLinkPage, web.Options{
				AnyQuery: true,
				Answers:  linkPageAnswers,
				Note: "The page that a link opens, in the language of the browser, without scripts. " +
					"Opening it changes nothing.",
			}),
		web.PageForm(mails.LinkPath+":token", web.Public, "Use a one-time link", ps.useLinkPage,
			web.Options{
				Answers: linkFormAnswers,
				Note:    "The form of that page. It works once.",
			}),
	}
}

var linkPageAnswers = web.Answers{
	200: "A page with a form",
	404: "A page that says that the link does not work",
	429: "A page that says that there were too many attempts",
}

var linkFormAnswers = web.Answers{
	200: "A page that says what was done",
	404: "A page that says that the link does not work",
	409: "A page that says that somebody else has the address by now, or that the password was changed meanwhile",
	422: "The page with the form, and what is wrong with the password",
	429: "A page that says that there were too many attempts",
	503: "A page that says that the server is busy",
}

// askLink shows the form of a link.
func (p *HTMLPage) askLink(tx *store.Tx, l *store.Link) error {
	username, err := l.Account().Username(tx)
	if err != nil {
		return err
	}

	form, about := htmlForm{Submit: p.Words.Submit[l.Purpose]}, l.Email
	if l.SetsPassword() {
		form.Fields, about = append([]htmlField{forUsername(username)},
			p.otherPassword(tx, "password")...), username
	}

	p.Title, p.Forms = p.Words.Titles[l.Purpose], []htmlForm{form}
	p.Texts = []string{fmt.Sprintf(p.Words.Intro[l.Purpose], about)}
	if l.Purpose == store.Registration { // so that no one confirms an account registered by another person
		p.Texts = append(p.Texts, fmt.Sprintf(p.Words.Registered, username))
	}

	return nil
}

// linkDone shows the effect of a link.
func (p *HTMLPage) linkDone(l *store.Link, username string) {
	text := p.Words.Done[l.Purpose]
	if l.SetsPassword() {
		text = fmt.Sprintf(text, username)
	}
	p.Title, p.Texts, p.Forms = p.Words.DoneTitle, []string{text}, nil
	if !l.Account().App {
		p.Next = PageLink{"/console/", p.Words.SignIn}
	} else if p.Hosted {
		p.Next = cmp.Or(p.product, PageLink{SignInPath, p.Words.SignIn})
	}
}

// refuseLink shows why a link can't be used.
func (p *HTMLPage) refuseLink(req *web.Request, e *errs.Error) {
	p.Title = p.Words.Invalid
	if e.Kind != errs.NotFound {
		p.Title = p.Words.Busy
	}
	if e.Unwrap() != nil {
		req.Shown = e // so that its cause is logged
	}
	p.Texts, p.Forms, p.Status = []string{Sentence(e, req.Language())}, nil, web.Status[e.Kind].Code
}

type openLinkIn struct {
	Token string `path:"token"`
}

// openLinkPage shows the form of a link.
func (ps *Pages) openLinkPage(req *web.Request, in *openLinkIn, w http.ResponseWriter) error {
	var page *HTMLPage
	err := req.DB.View(store.System, func(tx *store.Tx) error {
		page = ps.NewPage(tx, req)
		l, err := req.Auth().Link(tx, auth.LinkUse{
			Token:   in.Token,
			Addr:    req.Addr,
			Observe: req.Counted,
		})
		if err == nil {
			return page.askLink(tx, l)
		}
		if known := errs.Of(err); linkPageAnswers[web.Status[known.Kind].Code] != "" {
			page.refuseLink(req, known)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}

	return SendPage(req, w, page)
}

// linkForm is the form of the page.
type linkForm struct {
	Token    string  `path:"token"`
	Password *string `form:"password" check:"raw,max=1024" doc:"New password; required for an invitation and a password reset"`
	Again    *string `form:"password_again" check:"raw,max=1024" doc:"The same password again"`
}

// useLinkPage uses a link, and shows its effect.
func (ps *Pages) useLinkPage(req *web.Request, in *linkForm, fault error,
	w http.ResponseWriter) error {
	page, l, err := ps.pageOfLink(req, in, fault)
	if err == nil && page.Fault == "" {
		var used *account.LinkUsed
		if used, err = account.UseLink(req, in.Token, in.Password, "password", nil); err == nil {
			page.linkDone(l, used.Username)
		}
	}

	switch known := errs.Of(err); {
	case err == nil:
	case page == nil || linkFormAnswers[web.Status[known.Kind].Code] == "":
		return err
	case known.Kind == errs.Invalid:
		page.setError(req, known)
	default:
		page.refuseLink(req, known)
	}

	return SendPage(req, w, page)
}

// pageOfLink returns the page with the form that was sent, and its fault.
func (ps *Pages) pageOfLink(req *web.Request, in *linkForm,
	fault error) (page *HTMLPage, l *store.Link, err error) {
	err = req.DB.View(store.System, func(tx *store.Tx) (err error) {
		page = ps.NewPage(tx, req)
		if l, err = req.Auth().Link(tx, auth.LinkUse{
			Token:   in.Token,
			Addr:    req.Addr,
			Observe: req.Counted,
		}); err != nil {
			return err
		}
		if err := page.askLink(tx, l); err != nil {
			return err
		}
		page.product = page.productLink(tx, req)
		if fault != nil {
			page.setError(req, errs.Of(fault))
		} else if l.SetsPassword() &&
			(in.Password == nil || in.Again == nil || *in.Password != *in.Again) {
			page.Status, page.FaultField, page.Fault = http.StatusUnprocessableEntity, againField, page.Words.Differ
		}

		return nil
	})
	return page, l, err
}
