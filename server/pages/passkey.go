package pages

import (
	"encoding/json"
	"fmt"
	"net/http"

	"reeve/server/account"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Pages for the passkeys of app users, if the setting app.passkeys is on. Those that ask the browser
// for a passkey need a script.

const (
	PasskeyPath       = "/app/sign-in/passkey"
	PasskeysPath      = "/app/account/passkeys"
	AddPasskeyPath    = PasskeysPath + "/add"
	RemovePasskeyPath = PasskeysPath + "/remove"
)

func PasskeyRoutes(ps *Pages) []web.Route {
	return []web.Route{
		appPage(ps, PasskeyPath, web.Public, "Open the page to sign in with a passkey", passkeyPage),
		appForm(ps, PasskeyPath, web.Public, "Sign in with a passkey on the page", passkeyPage,
			signInPasskeyByForm, web.Options{
				MaxBody: web.PercentEncoding * account.MaxAssertion,
				Note:    "Does what POST /api/login/passkey does, with the session in a cookie.",
			}),
		appPage(ps, PasskeysPath, web.AppOnly, "Open your passkeys' page", passkeysPage),
		appPage(ps, AddPasskeyPath, web.AppOnly, "Open the page to add a passkey", addPasskeyPage),
		appForm(ps, AddPasskeyPath, web.AppOnly, "Add a passkey on the page", addPasskeyPage,
			addPasskeyByForm, web.Options{MaxBody: web.PercentEncoding * account.MaxCredential}),
		appPage(ps, RemovePasskeyPath, web.AppOnly, "Open the page to remove a passkey", removePasskeyPage),
		appForm(ps, RemovePasskeyPath, web.AppOnly, "Remove a passkey on the page", removePasskeyPage,
			removePasskeyByForm, web.Options{MaxBody: web.SmallBody}),
	}
}

// passkeyTexts are the texts of the pages about passkeys in one language.
type passkeyTexts struct {
	Link, SignInTitle, SignInText, Submit, Wait, Failed, NeedsScript string
	Title, About, LastUsed, Never, OtherSite                         string
	Add, AddText, Remove, RemoveText, RemoveSubmit, Which            string
}

// askForPasskey shows a form whose script asks the browser for a passkey, with options for it. The page
// says that passkeys can't be used if there are no options.
func (p *HTMLPage) askForPasskey(req *web.Request, options json.RawMessage, submit string, fields ...htmlField) {
	words := &p.Words.App.Passkey
	if options == nil {
		p.refuse(req, store.ErrAppPasskeysOff)
		return
	}
	fields = append(fields, htmlField{
		Name:         "credential",
		Type:         "hidden",
		Value:        string(options),
		Autocomplete: "off",
		Fault:        words.Failed,
	})
	p.Forms = []htmlForm{{Submit: submit, Fields: fields, Scripts: words.NeedsScript, Wait: words.Wait, Failed: words.Failed}}
	p.script = p.kit.passkey
}

// credential is the response of a passkey in a form.
type credential struct {
	Text string `json:"credential" check:"required,raw,max=65536" doc:"Response of the passkey: a PublicKeyCredential as JSON"`
}

func (c *credential) response() (response map[string]any, err error) {
	if err := json.Unmarshal([]byte(c.Text), &response); err != nil {
		return nil, errs.Field(errs.Invalid, "credential", "must be the response of a passkey (PublicKeyCredential as JSON)")
	}
	return response, nil
}

// passkeyPage lets a person sign in with a passkey.
func passkeyPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Passkey
	p.Title, p.Texts = words.SignInTitle, []string{words.SignInText}
	p.Links = []PageLink{{SignInPath, p.Words.App.BackToSignIn}}
	options, err := req.Auth().SignInOptions(tx, true)
	p.askForPasskey(req, options, words.Submit)
	return err
}

func signInPasskeyByForm(req *web.Request, in *credential) (string, error) {
	response, err := in.response()
	if err != nil {
		return "", err
	}
	_, err = account.LoginAppPasskey(req, &account.PasskeyLoginIn{Credential: response, Cookie: true})
	return AccountPath, asInvalid(err)
}

// passkeysPage lists the passkeys.
func passkeysPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Passkey
	p.Title, p.Texts = words.Title, []string{words.About}
	p.back()
	p.setNotice("passkey_added", "passkey_removed")
	own, err := store.PasskeysOf(tx, req.Actor.Account())
	if err != nil {
		return err
	}
	for _, k := range own {
		p.Facts = append(p.Facts, pageFact{k.Name, words.use(req, k)})
	}
	if store.AppPasskeys.Get(tx) {
		p.Menu = append(p.Menu, PageLink{AddPasskeyPath, words.Add})
	}
	if len(own) > 0 {
		p.Menu = append(p.Menu, PageLink{RemovePasskeyPath, words.Remove})
	}
	return nil
}

// use says when a passkey was last used.
func (words *passkeyTexts) use(req *web.Request, k *store.Passkey) string {
	switch {
	case !req.Auth().IsUsable(k):
		return words.OtherSite
	case k.LastUsed == 0:
		return words.Never
	}
	return fmt.Sprintf(words.LastUsed, k.LastUsed.Std().UTC().Format("2006-01-02 15:04 UTC"))
}

// addPasskeyPage asks for the password, and lets the browser make a passkey.
func addPasskeyPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Passkey
	p.Title, p.Texts = words.Add, []string{words.AddText}
	p.Links = []PageLink{{PasskeysPath, words.Title}}
	options, err := req.Auth().PasskeyOptions(tx, req.Session, store.SiteTitle.Get(tx))
	if err != nil {
		return err
	}
	fields, err := p.confirmFields(tx, req, p.Words.App.CurrentPassword)
	p.askForPasskey(req, options, words.Add, fields...)
	return err
}

// newPasskeyForm is the form of a new passkey.
type newPasskeyForm struct {
	credential
	account.OwnPassword
}

func addPasskeyByForm(req *web.Request, in *newPasskeyForm) (string, error) {
	response, err := in.response()
	if err != nil {
		return "", err
	}
	_, err = account.AddAppPasskey(req, account.NewAppPasskey(response, in.Password))
	return PasskeysPath + "?done=passkey_added", err
}

// removePasskeyPage asks which passkey to remove, and for the password.
func removePasskeyPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.Passkey
	p.Title, p.Texts = words.Remove, []string{words.RemoveText}
	p.Links = []PageLink{{PasskeysPath, words.Title}}
	own, err := store.PasskeysOf(tx, req.Actor.Account())
	if err != nil {
		return err
	}
	which := htmlField{Name: "id", Type: "select", Label: words.Which, Required: true}
	for _, k := range own {
		which.Options = append(which.Options, store.Option{Label: k.Name, Value: k.ID.String()})
	}
	if len(own) == 1 {
		which.Value = own[0].ID.String()
	}
	fields, err := p.confirmFields(tx, req, p.Words.App.CurrentPassword)
	if len(own) == 0 {
		p.Status = http.StatusNotFound
		return err
	}
	p.Forms = []htmlForm{{Submit: words.RemoveSubmit, Kind: "danger", Fields: append([]htmlField{which}, fields...)}}
	return err
}

// passkeyRemovalForm is the form that removes a passkey.
type passkeyRemovalForm struct {
	ID string `form:"id" check:"required,max=20" doc:"ID of the passkey"`
	account.OwnPassword
}

func removePasskeyByForm(req *web.Request, in *passkeyRemovalForm) (string, error) {
	id, err := web.ParseID(in.ID)
	if err == nil {
		_, err = account.RemoveAppPasskey(req, &account.PasskeyRemovalIn{ID: id, OwnPassword: in.OwnPassword})
	}
	return PasskeysPath + "?done=passkey_removed", err
}
