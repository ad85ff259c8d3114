package providers

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/directory"
	"reeve/server/pages"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// A directory has no page where people sign in, so this server has it. The browser gets there as it
// gets to another provider, and the result is the same.

func directoryRoutes(p *Providers) []web.Route {
	answers := web.Answers{
		200: "The page",
		303: "The browser continues at the page where the attempt began, which shows the result",
	}
	return []web.Route{
		web.Raw("/auth/provider/:name/sign-in", web.Public, "Open the sign-in page of a directory",
			web.HTMLMedia, p.askDirectory, web.Options{
				AnyQuery: true,
				Answers:  answers,
				Note:     "Where GET /auth/provider/NAME/start sends the browser if the provider is a directory.",
			}),
		web.PageForm("/auth/provider/:name/sign-in", web.Public, "Sign in with a directory",
			p.signInDirectory, web.Options{
				RateLimited: true,
				Answers: web.Answers{
					303: answers[303],
					403: "The page, and why the directory or its settings do not allow the sign-in",
					422: "The page, and that the username or the password is wrong",
					429: "The page, and how long to wait",
					503: "The page, and that the directory can't be reached",
				},
				Note: "The form of that page. The password is compared by the directory, and kept nowhere.",
			}),
	}
}

// directoryAddress returns the page of a directory for a flow.
func (p *Providers) directoryAddress(v *store.Provider, state, username string) string {
	query := url.Values{"state": {state}}
	if username != "" {
		query.Set("username", username)
	}
	return p.s.Config.BasePath + addressOf(v, "sign-in") + "?" + query.Encode()
}

type askDirectoryIn struct {
	Name     string `path:"name"`
	State    string `query:"state" check:"max=200"`
	Username string `query:"username" check:"max=254" doc:"Username that the form proposes"`
}

// askDirectory shows the form of a directory to a browser that was sent there.
func (p *Providers) askDirectory(req *web.Request, in *askDirectoryIn, w http.ResponseWriter) error {
	v, _, one, _, err := p.directoryFlow(req, in.Name, in.State)
	if err != nil {
		return p.failDirectory(req, w, err)
	}
	return p.pages.AskDirectory(req, w, &pages.Directory{Title: v.Title, App: one.App, State: one.State, Username: in.Username, To: one.To})
}

// failDirectory sends a browser that has no flow to where it can begin one.
func (p *Providers) failDirectory(req *web.Request, w http.ResponseWriter, err error) error {
	if errs.Is(err, errs.NotFound) {
		return err
	}
	return p.arrive(req, w, &flow{Purpose: auth.ToSignIn}, auth.Arrival{Err: errs.Of(err)})
}

// directoryFlow returns a directory, its password, the flow of a browser and the name of its cookie.
func (p *Providers) directoryFlow(req *web.Request, name, state string) (v *store.Provider, secret string, one *flow,
	cookie string, err error) {
	v, config, err := p.find(req, byName(name))
	if err == nil && !v.IsDirectory() {
		err = errNoProvider
	}
	if err != nil {
		return nil, "", nil, "", err
	}
	one, cookie, err = p.flowOf(req, v, state)
	if err == nil && one.Purpose != auth.ToTest && !v.Serves(one.App) {
		err = errProviderOff
	}
	return v, config.Secret, one, cookie, err
}

type directoryForm struct {
	Name     string `path:"name"`
	State    string `form:"state" check:"max=200"`
	Username string `form:"username" check:"required,max=254"`
	Password string `form:"password" check:"required,raw,max=1024"`
}

// signInDirectory signs a person in with the password of a directory.
func (p *Providers) signInDirectory(req *web.Request, in *directoryForm, fault error, w http.ResponseWriter) error {
	if err := req.SameOrigin(); err != nil {
		return err
	}
	v, secret, one, cookie, err := p.directoryFlow(req, in.Name, in.State)
	if err != nil {
		return p.failDirectory(req, w, err)
	}
	var person *directory.Person
	if fault == nil {
		person, fault = p.askPerson(req, v, secret, one, in)
	}
	if fault != nil {
		shown := *errs.Of(fault)
		if shown.Kind == errs.Internal {
			return fault
		}
		if shown.Kind == errs.Unauthenticated {
			shown.Kind = errs.Invalid // the browser has no credentials to offer
		}
		return p.pages.AskDirectory(req, w, &pages.Directory{Title: v.Title, App: one.App, State: one.State,
			Username: in.Username, To: one.To, Fault: &shown})
	}
	req.DropCookie(cookie)
	arrival := auth.Arrival{
		Person: store.Person{
			App:        one.App,
			ProviderID: v.ID,
			Issuer:     v.PersonIssuer(),
			Subject:    person.ID,
			Email:      plainAddress(person.Email),
			Verified:   bool(v.TrustsAddress),
			Username:   person.Username,
			Nickname:   plainName(person.Name),
			Granted:    v.Granted(one.App, person.Has),
		},
		Provider: v.Title,
		AuthTime: time.Now(),
		Purpose:  one.Purpose,
		State:    one.State,
		Session:  one.Session,
	}
	if one.Purpose == auth.ToTest {
		arrival.Claims = map[string]any{"dn": person.DN}
		for name, values := range person.Attributes {
			arrival.Claims[name] = values
		}
	}
	return p.arrive(req, w, one, arrival)
}

// askPerson returns the person at a directory whose username and password were sent.
func (p *Providers) askPerson(req *web.Request, v *store.Provider, secret string, one *flow,
	in *directoryForm) (person *directory.Person, err error) {
	config := &directory.Config{Directory: &v.Directory, Secret: secret}
	for _, m := range v.Mappings {
		config.Attributes = append(config.Attributes, m.Claim)
	}
	err = account.CheckElsewhere(req, one.App, one.Purpose == auth.ToSignIn, v, strings.TrimSpace(in.Username),
		func() (known string, err error) {
			person, known, err = p.directories.SignIn(req.HTTP.Context(), config, strings.TrimSpace(in.Username), in.Password)
			return plainName(known), err
		})
	return person, err
}
