package pages

import (
	"fmt"
	"net/http"
	"strings"

	"reeve/server/account"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// signInPage asks for the username and the password.
func signInPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Title = p.Words.SignIn
	p.setNotice("deleted", "signed_out", "expired")
	p.Forms = []htmlForm{{Submit: p.Words.SignIn, Fields: []htmlField{
		{
			Name:         "username",
			Type:         "text",
			Label:        words.SignInName,
			Autocomplete: "username",
			Required:     true,
			Max:          254,
		},
		presentPassword("password", words.Password),
	}}}

	providers, err := store.EnabledProviders(tx, true)
	if err != nil {
		return err
	}
	links, passwordLinks := &p.Links, &p.Links
	if len(providers) > 0 && !store.PasswordsUsual(tx, true) {
		p.Forms[0].Opener = words.WithPassword
		links, passwordLinks = &p.Menu, &p.Forms[0].Links
	}
	for _, v := range providers {
		*links = append(*links, PageLink{"/auth/provider/" + v.Name + "/start?app=1", fmt.Sprintf(words.WithProvider, v.Title)})
	}
	if options, err := req.Auth().SignInOptions(tx, true); err != nil {
		return err
	} else if options != nil {
		p.Links = append(p.Links, PageLink{PasskeyPath, words.Passkey.Link})
	}
	if mails.MailOff(req.Server, tx).Empty() {
		if store.AppCodeSignIn.Get(tx) {
			*passwordLinks = append(*passwordLinks, PageLink{EmailPath, words.EmailCode.Link})
		}
		*passwordLinks = append(*passwordLinks, PageLink{ForgotPath, words.Forgot})
	}
	if store.RegistrationOpen(tx) {
		p.Links = append(p.Links, PageLink{RegisterPath, words.SignUp})
	}
	if link := p.productLink(tx, req); p.kept == "" && link.Path != "" {
		p.Links = append(p.Links, link)
	}

	return nil
}

// arrivalPage returns the route where a browser comes back from a sign-in provider, and is signed in.
func arrivalPage(ps *Pages) web.Route {
	rt := web.Raw(ProviderPath, web.Public, "Complete a sign-in with a provider on the page", web.HTMLMedia,
		func(req *web.Request, _ *appPageIn, w http.ResponseWriter) error {
			if err := mayReturn(req); err != nil {
				return err
			}
			out, err := account.LoginArrival(req, true, true, "")
			switch {
			case err == nil && out.LoginToken != "":
				keepPending(req, CodePath, out.LoginToken)
				seeOther(req, nextPage(req, CodePath))
				return nil
			case err == nil:
				seeOther(req, nextPage(req, AccountPath))
				return nil
			}
			known := errs.Of(err)
			if known.Kind == errs.Internal {
				return err
			}
			p, err := ps.view(req, signInPage, "")
			if err != nil {
				return err
			}
			for i := range p.Forms {
				p.Forms[i].Action = nextPage(req, SignInPath)
			}
			p.setError(req, known)
			return sendAppPage(req, w, p)
		})
	rt.Page, rt.Visible = true, store.AppPages.Get
	return rt.With(web.Options{AnyQuery: true, Closable: true, RateLimited: true, Answers: web.Answers{
		303: "To the page of the account, or to that of the second factor",
		403: "The sign-in page, and why the provider's sign-in is not accepted",
		404: "The setting app.pages is off",
		409: "The sign-in page, and that the sign-in has to begin again",
		422: "A page that says what is wrong with the address of the product to return to",
		429: "The sign-in page, and how long to wait",
	}, Note: "Where browsers come back from a sign-in provider."})
}

func signInByForm(req *web.Request, in *account.AppLoginIn) (string, error) {
	in.Cookie = true
	out, err := account.AppLogin(req, in)
	if err == nil && out.LoginToken != "" {
		keepPending(req, CodePath, out.LoginToken)
		return CodePath, nil
	}
	return AccountPath, asInvalid(err)
}

// asInvalid returns an error about wrong credentials as Invalid: the browser has no others to offer.
func asInvalid(err error) error {
	e := errs.Of(err)
	if err == nil || e.Kind != errs.Unauthenticated {
		return err
	}
	wrong := *e
	wrong.Kind = errs.Invalid
	return &wrong
}

// registerPage asks for the values of a new account.
func registerPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Links = []PageLink{{SignInPath, words.HaveAccount}}
	confirmed := store.RegistrationConfirmed(tx)
	if p.done == "sent" {
		p.Title, p.Texts = words.SentTitle, []string{words.SentText}
		return nil
	}
	if !store.RegistrationOpen(tx) {
		p.Title, p.Texts, p.Status = words.ClosedTitle, []string{words.ClosedText}, http.StatusForbidden
		return nil
	}

	p.Title = words.RegisterTitle
	if err := account.RegistrationMail(req.Server, tx); confirmed && err != nil {
		p.Texts, p.Status = []string{Sentence(errs.Of(err), req.Language())}, http.StatusForbidden
		return nil
	}

	form := htmlForm{Submit: words.RegisterSubmit, Fields: []htmlField{
		{
			Name:         "username",
			Type:         "text",
			Label:        words.Username,
			Autocomplete: "username",
			Required:     true,
			Min:          3,
			Max:          32,
			Hint:         words.UsernameRules,
		},
		{
			Name:         "email",
			Type:         "email",
			Label:        words.Email,
			Autocomplete: "email",
			Required:     confirmed,
			Max:          254,
			Hint:         words.emailHint(tx, confirmed),
		},
		{
			Name:         "nickname",
			Type:         "text",
			Label:        words.DisplayName,
			Autocomplete: "nickname",
			Max:          64,
			Hint:         words.Optional,
		},
	}}
	form.Fields = append(form.Fields, p.customFields(tx, store.FieldValues{}, true)...)
	form.Fields = append(form.Fields,
		p.newPassword(tx, "password", words.Password, words.Again, p.Words.Rules)...)
	if store.AppRegistrationChallenge.Get(tx) {
		form.Fields = append(form.Fields, htmlField{
			Name:  "altcha",
			Type:  "hidden",
			Fault: words.Unchecked,
		})
		form.Scripts, form.Wait, form.Failed, p.script = words.NeedsScript, words.Checking, words.Unchecked, p.kit.script
	}

	p.Forms = []htmlForm{form}
	return nil
}

// emailHint says what address a registration needs.
func (words *appPageTexts) emailHint(tx *store.Tx, confirmed bool) string {
	domains := store.RegistrationDomains(tx)
	switch {
	case len(domains) > 0:
		return fmt.Sprintf(words.EmailDomains, strings.Join(domains, ", ")) + " " + words.EmailConfirmed
	case confirmed:
		return words.EmailConfirmed
	}
	return words.Optional
}

// registerForm is the form of a registration.
type registerForm struct {
	account.RegisterIn
	passwordAgain
}

// passwordAgain is a new password, typed again.
type passwordAgain struct {
	Again string `json:"password_again" check:"required,raw,max=1024" doc:"The new password again"`
}

// of returns an error unless the password is the same.
func (r *passwordAgain) of(password string) error {
	if r.Again != password {
		return errs.Field(errs.Invalid, againField, "is not the same password")
	}
	return nil
}

func registerByForm(req *web.Request, in *registerForm) (string, error) {
	if err := in.of(in.Password); err != nil {
		return "", err
	}
	in.Cookie = true
	out, err := account.Register(req, &in.RegisterIn)
	if err == nil && out.ConfirmationSent {
		return RegisterPath + "?done=sent", nil
	}
	return AccountPath, err
}

// forgotPage asks for the account whose password is forgotten.
func forgotPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Title, p.Links = words.ForgotTitle, []PageLink{{SignInPath, p.Words.SignIn}}
	switch {
	case p.done == "sent":
		p.Title, p.Texts = words.SentTitle, []string{words.ForgotSent}
	case !mails.MailOff(req.Server, tx).Empty():
		p.Texts, p.Status = []string{words.ForgotOff}, http.StatusForbidden
	default:
		p.Texts = []string{words.ForgotIntro}
		p.Forms = []htmlForm{{Submit: words.ForgotSubmit, Fields: []htmlField{
			{
				Name:         "username",
				Type:         "text",
				Label:        words.ForgotName,
				Autocomplete: "username",
				Required:     true,
				Max:          254,
			},
		}}}
	}

	return nil
}

func forgotByForm(req *web.Request, in *account.ForgotIn) (string, error) {
	_, err := account.ForgotAppPassword(req, in)
	return ForgotPath + "?done=sent", err
}
