package pages

import (
	"slices"
	"strconv"
	"strings"

	"reeve/server/account"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// accountPage shows the account, and leads to the pages that change it.
func accountPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	u, err := store.AppUsers.Get(tx, req.Actor.ID)
	if err != nil {
		return err
	}

	p.Title = words.AccountTitle
	p.setNotice("profile", "password", "email", "verification_sent", "factor_removed")
	email := u.Email
	if email != "" && bool(u.EmailVerified) {
		email += " " + words.Confirmed
	} else if email != "" {
		email += " " + words.Unconfirmed
		if p.done != "verification_sent" && mails.MailOff(req.Server, tx).Empty() {
			p.Forms = []htmlForm{{Action: VerifyPath, Submit: words.Verify}}
		}
	}

	facts := []pageFact{{words.Username, u.Username}, {words.DisplayName, u.Nickname},
		{words.Email, email}, {words.Mobile, u.Mobile}}
	for _, fact := range append(facts, p.customFacts(tx, u.Fields)...) {
		if fact.Text == "" {
			fact.Text = words.None
		}
		p.Facts = append(p.Facts, fact)
	}

	hash, err := store.SignInHash(tx, store.Account{App: true, ID: u.ID})
	if err != nil {
		return err
	}
	p.Menu = []PageLink{{ProfilePath, words.ProfileTitle}}
	if hash != "" {
		p.Menu = append(p.Menu, PageLink{PasswordPath, words.PasswordTitle})
	}
	p.Menu = append(p.Menu, PageLink{SessionsPath, words.SessionsTitle})
	factor, err := store.HasFactor(tx, store.Account{App: true, ID: u.ID})
	if err != nil {
		return err
	}
	if factor || store.AppSecondFactor.Get(tx) {
		p.Menu = append(p.Menu, PageLink{AuthenticatorPath, words.Factor.Title})
	}
	if own, err := store.PasskeysOf(tx, store.Account{App: true, ID: u.ID}); err != nil {
		return err
	} else if len(own) > 0 || store.AppPasskeys.Get(tx) {
		p.Menu = append(p.Menu, PageLink{PasskeysPath, words.Passkey.Title})
	}
	if store.AppDeleteAccount.Get(tx) {
		p.Menu = append(p.Menu, PageLink{DeletionPath, words.DeleteTitle})
	}

	p.Forms = append(p.Forms, htmlForm{Action: SignOutPath, Submit: words.SignOut, Kind: "second"})
	return nil
}

func verifyByForm(req *web.Request, _ *web.None) (string, error) {
	_, err := account.VerifyAppEmail(req, &account.VerifyAppEmailIn{})
	return AccountPath + "?done=verification_sent", err
}

// back adds the link to the account.
func (p *HTMLPage) back() { p.Links = []PageLink{{AccountPath, p.Words.App.Back}} }

// profilePage shows the profile as a form.
func profilePage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	u, err := store.AppUsers.Get(tx, req.Actor.ID)
	if err != nil {
		return err
	}

	p.Title = words.ProfileTitle
	p.back()
	password, err := p.confirmFields(tx, req, words.CurrentPassword)
	if err != nil {
		return err
	}
	if len(password) > 0 {
		password = password[1:] // the form is not about the password
		password[0].Required, password[0].Hint = false, words.EmailPassword
	}
	form := htmlForm{Submit: words.Save, Fields: []htmlField{
		{
			Name:  versionField,
			Type:  "hidden",
			Value: strconv.FormatInt(u.Version, 10),
			Fault: words.Stale,
		},
		{
			Name:         "nickname",
			Type:         "text",
			Label:        words.DisplayName,
			Value:        u.Nickname,
			Autocomplete: "nickname",
			Max:          64,
		},
		{
			Name:         "mobile",
			Type:         "tel",
			Label:        words.Mobile,
			Value:        u.Mobile,
			Autocomplete: "tel",
			Max:          32,
		},
	}}
	form.Fields = append(form.Fields, p.customFields(tx, u.Fields, false)...)
	form.Fields = append(form.Fields, htmlField{
		Name:         "email",
		Type:         "email",
		Label:        words.Email,
		Value:        u.Email,
		Autocomplete: "email",
		Max:          254,
	})
	form.Fields = append(form.Fields, password...)

	p.Forms = []htmlForm{form}
	return nil
}

// profileForm is the form of the profile page. It has all values, so the version is needed to keep
// newer ones.
type profileForm struct {
	account.OwnAppUserIn
	Version *string `form:"version" check:"max=20" doc:"Version of the account as the page showed it; 409 if it has changed since"`
}

const versionField = "version"

func changeProfileByForm(req *web.Request, in *profileForm) (next string, err error) {
	next = AccountPath + "?done=profile"
	if in.Version != nil {
		if err := isCurrent(req, *in.Version); err != nil {
			return next, err
		}
	}

	confirm, err := account.MustConfirm(req, in.Email)
	if err != nil {
		return next, err
	}
	if confirm {
		next = AccountPath + "?done=email"
		if _, err := account.VerifyAppEmail(req, &account.VerifyAppEmailIn{
			VerifyEmailIn: account.VerifyEmailIn{Email: in.Email},
			Confirmation:  in.Confirmation,
		}); err != nil {
			return next, err
		}
		in.Email = nil
	}

	_, err = account.ChangeOwnAppUser(req, &in.OwnAppUserIn)
	return next, err
}

// isCurrent returns a Conflict unless the caller has the current version. Call it before the form
// asks for the password for an email address that another session has changed. The change checks it
// again.
func isCurrent(req *web.Request, version string) error {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return errs.Field(errs.Invalid, versionField,
			"must be the version returned when the record was read")
	}
	req.Read.Version = &n
	return req.DB.View(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err != nil {
			return err
		}
		return req.Fresh(u)
	})
}

// passwordPage asks for a new password. It is the only page while the password must be changed.
func passwordPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Title = words.PasswordTitle
	form := htmlForm{
		Submit: words.PasswordTitle,
		Fields: []htmlField{forUsername(req.Actor.Username),
			presentPassword("old_password", words.CurrentPassword)},
	}
	form.Fields = append(form.Fields, p.otherPassword(tx, "new_password")...)
	p.Forms = []htmlForm{form}
	if req.Actor.MustChange {
		p.Texts = []string{words.MustChange}
		p.Forms = append(p.Forms, htmlForm{
			Action: SignOutPath,
			Submit: words.SignOut,
			Kind:   "second",
		})
		return nil
	}

	p.back()
	return nil
}

// passwordForm is the form of a new password.
type passwordForm struct {
	account.PasswordIn
	passwordAgain
}

func changePasswordByForm(req *web.Request, in *passwordForm) (string, error) {
	if err := in.of(in.NewPassword); err != nil {
		return "", err
	}
	_, err := account.ChangePassword(req, &in.PasswordIn)
	return AccountPath + "?done=password", err
}

// sessionsPage lists the open sessions, each with a button that ends it.
func sessionsPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Title = words.SessionsTitle
	p.setNotice("session")
	p.back()
	ids, err := store.SessionByAppUser.IDs(tx, req.Actor.ID)
	if err != nil {
		return err
	}

	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		s, err := account.OwnSessions.Get(tx, req, id)
		if err != nil {
			return err
		}
		p.Forms = append(p.Forms, words.sessionForm(s))
	}

	return nil
}

// sessionForm returns the form that ends a session; that of this browser ends with the account's
// button.
func (words *appPageTexts) sessionForm(s *account.Session) htmlForm {
	device := strings.Trim(s.Browser+", "+s.OS, ", ")
	if device == "" {
		device = words.UnknownDevice
	}
	form := htmlForm{Lines: []string{device, s.IP,
		words.LastActive + " " + s.LastUsed.Std().UTC().Format("2006-01-02 15:04 UTC")}}
	if s.Provider != "" {
		form.Lines = append(form.Lines, words.SignedInWith+" "+s.Provider)
	}
	if s.Current {
		form.Lines = append(form.Lines, words.ThisDevice)
		return form
	}
	form.Fields = []htmlField{{Name: "id", Type: "hidden", Value: s.ID.String()}}
	form.Submit, form.Kind = words.EndSession, "second"
	return form
}

type endSessionForm struct {
	ID string `form:"id" check:"required,max=20" doc:"ID of the session"`
}

// endSessionByForm ends a session. One that has ended already is as good.
func endSessionByForm(req *web.Request, in *endSessionForm) (string, error) {
	id, err := web.ParseID(in.ID)
	if err != nil {
		return "", errs.Field(errs.Invalid, "id", "%s", err)
	}
	err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
		_, err := account.EndOwnSession(tx, req, &web.ByID{ID: id})
		return err
	})
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return SessionsPath + "?done=session", err
}

// deletionPage asks for the password of the account to delete.
func deletionPage(tx *store.Tx, req *web.Request, p *HTMLPage) error {
	words := &p.Words.App
	p.Title = words.DeleteTitle
	p.back()
	if err := account.MayDeleteSelf(tx); err != nil {
		p.refuse(req, err)
		return nil
	}

	p.Texts = []string{words.DeleteText}
	fields, err := p.confirmFields(tx, req, words.Password)
	p.Forms = []htmlForm{{Submit: words.DeleteSubmit, Kind: "danger", Fields: fields}}
	return err
}

// refuse lets the page say why it is not available.
func (p *HTMLPage) refuse(req *web.Request, err error) {
	e := errs.Of(err)
	p.Texts, p.Status = []string{Sentence(e, req.Language())}, web.Status[e.Kind].Code
}

func deleteByForm(req *web.Request, in *account.OwnPassword) (string, error) {
	_, err := account.DeleteOwnAppUser(req, in)
	return SignInPath + "?done=deleted", err
}

func signOutByForm(req *web.Request, _ *web.None) (string, error) {
	out, err := account.Logout(req, nil)
	if err != nil || out.ProviderURL == "" {
		return SignInPath + "?done=signed_out", err
	}
	// A redirect would be a form that leads to another server, which PagePolicy forbids.
	req.Writer.Header().Set("Refresh", "0; url="+out.ProviderURL)
	return "", nil
}
