package pages

import (
	"fmt"
	"net/http"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Directory is what the page has on which a person signs in with a directory.
type Directory struct {
	Title    string // title of the directory
	App      bool   // whether the person is an app user
	State    string // value of the hidden field state
	Username string // username that was typed
	To       string // page to open afterwards
	Fault    *errs.Error
}

// AskDirectory sends a page that asks for the username and the password of a person at a directory.
func (ps *Pages) AskDirectory(req *web.Request, w http.ResponseWriter, d *Directory) error {
	p, err := ps.view(req, func(tx *store.Tx, req *web.Request, p *HTMLPage) error {
		words := &p.Words.App
		p.Title = fmt.Sprintf(words.WithProvider, d.Title)
		p.Forms = []htmlForm{{Submit: p.Words.SignIn, Fields: []htmlField{
			{Name: "state", Type: "hidden", Value: d.State},
			{
				Name:         "username",
				Type:         "text",
				Label:        words.Username,
				Value:        d.Username,
				Autocomplete: "username",
				Required:     true,
				Max:          254,
			},
			presentPassword("password", words.Password),
		}}}
		p.Links = []PageLink{{"/console/", words.BackToSignIn}}
		if d.App {
			p.Links[0].Path = SignInPath
			p.keepReturn(tx, d.To)
		}
		return nil
	}, "")
	if err != nil {
		return err
	}
	if d.Fault != nil {
		p.setError(req, d.Fault)
	}
	return sendAppPage(req, w, p)
}
