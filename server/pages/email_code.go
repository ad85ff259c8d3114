package pages

import (
	"net/http"

	"reeve/server/account"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Pages to sign in with a code by mail, if the setting app.code_sign_in is on.

const (
	EmailPath     = "/app/sign-in/email"
	EmailCodePath = "/app/sign-in/email/code"
)

func EmailCodeRoutes(ps *Pages) []web.Route {
	return []web.Route{
		appPage(ps, EmailPath, web.Public, "Open the page to get a code by email", emailPage),
		appForm(ps, EmailPath, web.Public, "Request a code to sign in on the page", emailPage,
			requestCodeByForm, web.Options{
				MaxBody: web.SmallBody,
				Note:    "Does what POST /api/login/email does, with the login_token in a cookie.",
			}),
		appPage(ps, EmailCodePath, web.Public, "Open the page for a code by email", emailCodePage),
		appForm(ps, EmailCodePath, web.Public, "Sign in with a code by email on the page",
			emailCodePage, emailCodeByForm, web.Options{MaxBody: web.SmallBody}),
	}
}

// emailCodeTexts are the texts of the pages for a code by mail in one language.
type emailCodeTexts struct {
	Link, Title, Intro, Submit, Off, Sent, Code, Another string
}

// emailPage asks for the account to which a code is mailed.
func emailPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App.EmailCode
	p.Title, p.Links = words.Title, []PageLink{{SignInPath, p.Words.App.BackToSignIn}}
	p.setNotice("code_expired")
	if !store.AppCodeSignIn.Get(tx) || !mails.MailOff(req.Server, tx).Empty() {
		p.Texts, p.Status = []string{words.Off}, http.StatusForbidden
		return nil
	}
	p.Texts = []string{words.Intro}
	p.Forms = []htmlForm{{Submit: words.Submit, Fields: []htmlField{{
		Name:         "username",
		Type:         "text",
		Label:        p.Words.App.SignInName,
		Autocomplete: "username",
		Required:     true,
		Max:          254,
	}}}}
	return nil
}

// emailRequest is the form that asks for a code.
type emailRequest struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
}

func requestCodeByForm(req *web.Request, in *emailRequest) (string, error) {
	out, err := account.RequestCode(req, &account.CodeRequestIn{Username: in.Username})
	if err != nil {
		return "", err
	}
	keepPending(req, EmailCodePath, out.Login)
	return EmailCodePath, nil
}

// emailCodePage asks for the code that was mailed.
func emailCodePage(_ *store.Tx, _ *web.Request, p *HTMLPage) error {
	words := &p.Words.App.EmailCode
	p.Title, p.Texts = words.Title, []string{words.Sent}
	p.Forms = []htmlForm{{Submit: p.Words.SignIn, Fields: []htmlField{codeField(words.Code, false)}}}
	p.Links = []PageLink{{EmailPath, words.Another}, {SignInPath, p.Words.App.BackToSignIn}}
	return nil
}

// emailCode is the form with the code.
type emailCode struct {
	Code string `json:"otp" check:"required,max=40,text" doc:"Code from the mail"`
}

func emailCodeByForm(req *web.Request, in *emailCode) (string, error) {
	const again = EmailPath + "?done=code_expired"
	token := pendingToken(req)
	if token == "" {
		return again, nil
	}

	out, err := account.LoginByCode(req, &account.MailCodeIn{Login: token, Code: in.Code, Cookie: true})
	e := errs.Of(err)
	switch {
	case err == nil && out.LoginToken != "":
		keepPending(req, EmailCodePath, "")
		keepPending(req, CodePath, out.LoginToken)
		return CodePath, nil
	case err == nil:
		keepPending(req, EmailCodePath, "")
		return AccountPath, nil
	case e.Code == "wrong_code":
		return "", errWrongOTP
	case e.Kind == errs.Unauthenticated:
		keepPending(req, EmailCodePath, "")
		return again, nil
	}

	return "", err
}
