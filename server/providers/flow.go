package providers

import (
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/pages"
	"reeve/server/provider"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

const (
	flowLife   = 10 * time.Minute
	flowCookie = "reeve_flow_" // and the beginning of the state: each tab has its own
	tagLength  = 8
)

// flow is one way of a browser to a provider and back. The browser keeps it, encrypted.
type flow struct {
	provider.Flow
	Provider store.ID
	Purpose  auth.Purpose
	App      bool
	To       string   // page to open afterwards
	Session  store.ID // session that has begun it; 0 to sign in
}

// flows encrypts flows. That each is used once is up to what it ends with, see auth.Arrival.
type flows struct{ aead cipher.AEAD }

func newFlows(key []byte) *flows { return &flows{auth.NewAEAD(key)} }

func (f *flows) seal(one *flow) (string, error) {
	text, err := json.Marshal(one)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(f.aead.Seal(nil, nil, text, []byte(one.State))), nil
}

// open returns the flow that was sealed, if it is for a state and has not expired.
func (f *flows) open(sealed, state string) (*flow, bool) {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil {
		text, err = f.aead.Open(nil, nil, text, []byte(state))
	}
	one := &flow{}
	if err != nil || json.Unmarshal(text, one) != nil || time.Since(one.Started) > flowLife {
		return nil, false
	}
	return one, true
}

// config returns how a provider is asked. That of a directory has the secret only.
func (p *Providers) config(tx *store.Tx, v *store.Provider) (*provider.Config, error) {
	secret, err := store.ProviderSecretOf(tx, v.ID)
	if err != nil || v.IsDirectory() {
		return &provider.Config{Secret: secret}, err
	}
	if p.s.Config.PublicURL == "" {
		return nil, errs.New(errs.Conflict, "set server.public_url in the configuration, where browsers come back from the provider").Coded("provider_public_url")
	}
	return &provider.Config{
		GitHub:   v.Kind == store.KindGitHub,
		Issuer:   v.Issuer,
		ClientID: v.ClientID,
		Secret:   secret,
		Scopes:   v.Scopes,
		Callback: p.s.Config.PublicURL + addressOf(v, "callback"),
	}, nil
}

// find returns a provider and how it is asked.
func (p *Providers) find(req *web.Request, read func(tx *store.Tx) (*store.Provider, error)) (v *store.Provider,
	config *provider.Config, err error) {
	return v, config, req.DB.View(store.System, func(tx *store.Tx) error {
		if v, err = read(tx); err == nil {
			config, err = p.config(tx, v)
		}
		return err
	})
}

func byName(name string) func(*store.Tx) (*store.Provider, error) {
	return func(tx *store.Tx) (*store.Provider, error) {
		v, err := store.ProviderByName.Get(tx, name)
		if errs.Is(err, errs.NotFound) {
			err = errNoProvider
		}
		return v, err
	}
}

var errNoProvider = errs.New(errs.NotFound, "there is no sign-in provider with this name").Coded("no_provider")

// openID is byName for what directories have not.
func openID(name string) func(*store.Tx) (*store.Provider, error) {
	return func(tx *store.Tx) (*store.Provider, error) {
		v, err := byName(name)(tx)
		if err == nil && v.IsDirectory() {
			err = errNoProvider
		}
		return v, err
	}
}

// begin gives the browser a flow and returns the address of the provider.
func (p *Providers) begin(req *web.Request, v *store.Provider, config *provider.Config, one *flow, hint string) (string, error) {
	if err := p.limit(req); err != nil {
		return "", err
	}
	if origin := req.HTTP.Header.Get("Origin"); origin != "" && p.elsewhere(v, origin) {
		return "", errs.New(errs.Conflict, "open the console at %s: the provider sends browsers back there", p.s.Config.PublicURL).Coded("provider_elsewhere")
	}
	one.Flow, one.Provider = provider.NewFlow(), v.ID
	one.Fresh = one.Purpose == auth.ToConfirm
	address, err := "", error(nil)
	if v.IsDirectory() {
		address = p.directoryAddress(v, one.State, hint)
	} else {
		address, err = p.client.Start(req.HTTP.Context(), config, one.Flow, provider.Options{Hint: hint})
	}
	if err != nil {
		return "", err
	}
	sealed, err := p.flows.seal(one)
	if err != nil {
		return "", err
	}
	req.KeepForProvider(flowCookie+strings.ToLower(one.State[:tagLength]), sealed, flowLife)
	return address, nil
}

// elsewhere reports whether an origin is another one than that at which browsers come back from a
// provider: they do not have the cookie of the flow there.
func (p *Providers) elsewhere(v *store.Provider, origin string) bool {
	public, err := url.Parse(p.s.Config.PublicURL)
	return err == nil && public.Host != "" && !v.IsDirectory() &&
		web.CanonicalOrigin(origin) != web.CanonicalOrigin(public.Scheme+"://"+public.Host)
}

// moved returns the public address of a request, for a browser that asks at another one, such as
// 127.0.0.1 instead of localhost; "" for one that was sent there already, as a proxy may hide the name.
func (p *Providers) moved(req *web.Request, v *store.Provider, in *startIn) string {
	scheme, _, _ := strings.Cut(p.s.Config.PublicURL, "://")
	if bool(in.Moved) || !p.elsewhere(v, scheme+"://"+req.HTTP.Host) {
		return ""
	}
	query := req.HTTP.URL.Query()
	query.Set("moved", "1")
	return p.s.Config.PublicURL + addressOf(v, "start") + "?" + query.Encode()
}

// limit counts an attempt against the limit of the client's network.
func (p *Providers) limit(req *web.Request) error {
	return req.Auth().CountArrival(req.Addr, req.Counted)
}

type startIn struct {
	Name string     `path:"name"`
	To   string     `query:"to" check:"max=2000" doc:"Path of this server to open afterwards"`
	App  store.Flag `query:"app" doc:"1 to sign in as an app user"`
	Hint string     `query:"address" check:"max=254" doc:"Address of the person, which is passed on to the provider"`

	Moved store.Flag `query:"moved" doc:"1 for a browser that was sent on to server.public_url"`
}

// start sends a browser to a provider to sign in.
func (p *Providers) start(req *web.Request, in *startIn, w http.ResponseWriter) error {
	one := &flow{Purpose: auth.ToSignIn, App: bool(in.App), To: localPath(in.To)}
	pages := false
	v, config, err := p.find(req, func(tx *store.Tx) (*store.Provider, error) {
		pages = store.AppPages.Get(tx)
		return byName(in.Name)(tx)
	})
	if err == nil && !v.Serves(bool(in.App)) {
		err = errProviderOff
	}
	if errs.Is(err, errs.NotFound) {
		return err
	}
	if bool(in.App) && !pages { // there is no page to come back to
		return errProviderOff
	}
	address := ""
	if err == nil {
		address = p.moved(req, v, in)
	}
	if err == nil && address == "" {
		address, err = p.begin(req, v, config, one, in.Hint)
	}
	if err != nil {
		return p.arrive(req, w, one, auth.Arrival{Person: store.Person{App: bool(in.App)}, Err: errs.Of(err)})
	}
	redirect(req, w, address)
	return nil
}

var errProviderOff = errs.New(errs.Denied, "this sign-in provider is switched off").Coded("provider_off")

func redirect(req *web.Request, w http.ResponseWriter, address string) {
	w.Header().Set("X-Request-Id", req.ID)
	w.Header().Set("Location", address)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusSeeOther)
}

// localPath returns a path of this server, or "" for anything else.
func localPath(text string) string {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\") ||
		strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return text
}

type callbackIn struct {
	Name  string `path:"name"`
	State string `query:"state" check:"max=200"`
}

// callback receives a browser from a provider.
func (p *Providers) callback(req *web.Request, in *callbackIn, w http.ResponseWriter) error {
	one, arrival := p.returned(req, in)
	if errs.Is(arrival.Err, errs.NotFound) {
		return arrival.Err
	}
	if one == nil {
		one = &flow{Purpose: auth.ToSignIn}
	}
	return p.arrive(req, w, one, arrival)
}

// returned returns the flow that a browser comes back from, nil for none, and the result.
func (p *Providers) returned(req *web.Request, in *callbackIn) (one *flow, arrival auth.Arrival) {
	fail := func(err error) (*flow, auth.Arrival) {
		arrival = auth.Arrival{Err: errs.Of(err)}
		if one != nil {
			arrival.Person.App, arrival.Purpose, arrival.State, arrival.Session = one.App, one.Purpose, one.State, one.Session
		}
		return one, arrival
	}
	if err := p.limit(req); err != nil {
		return fail(err)
	}
	v, config, err := p.find(req, openID(in.Name))
	if err != nil {
		return fail(err)
	}
	found, cookie, err := p.flowOf(req, v, in.State)
	if err != nil {
		return fail(err)
	}
	one = found
	req.DropCookie(cookie)
	if one.Purpose != auth.ToTest && !v.Serves(one.App) {
		return fail(errProviderOff)
	}
	claims, err := p.client.Finish(req.HTTP.Context(), config, one.Flow, req.HTTP.URL.Query())
	if err != nil {
		return fail(err)
	}
	arrival = auth.Arrival{
		Person:   personFrom(v, claims, one.App),
		Provider: v.Title,
		Factor:   claims.Factor(v.FactorValues),
		AuthTime: claims.AuthTime,
		SID:      claims.SID,
	}
	if v.EndsSession {
		arrival.EndURL = claims.LogoutURL(config, p.signedOut(one.App))
	}
	arrival.Purpose, arrival.State, arrival.Session = one.Purpose, one.State, one.Session
	if one.Purpose == auth.ToTest {
		arrival.Claims = claims.All
	}
	return one, arrival
}

// flowOf returns the flow of a browser to a provider, and the name of its cookie.
func (p *Providers) flowOf(req *web.Request, v *store.Provider, state string) (*flow, string, error) {
	sealed, cookie := req.KeptForProvider(flowCookie + strings.ToLower(state[:min(len(state), tagLength)]))
	one, ok := p.flows.open(sealed, state)
	if !ok || one.Provider != v.ID {
		return nil, "", provider.ErrState
	}
	return one, cookie, nil
}

// signedOut returns where a browser comes back to after it has signed out at a provider.
func (p *Providers) signedOut(app bool) string {
	if app {
		return p.s.Config.PublicURL + "/app/sign-in"
	}
	return p.s.Config.PublicURL + "/console/"
}

// personFrom returns what claims say of a person.
func personFrom(v *store.Provider, c *provider.Claims, app bool) store.Person {
	name := c.Name
	return store.Person{
		App:        app,
		ProviderID: v.ID,
		Issuer:     c.Issuer,
		Subject:    c.Subject,
		Email:      plainAddress(c.Email),
		Verified:   c.EmailVerified || bool(v.TrustsAddress),
		Username:   c.Username,
		Nickname:   plainName(name),
		Granted:    v.Granted(app, c.Has),
	}
}

// arrive keeps the result for the page where the browser goes on.
func (p *Providers) arrive(req *web.Request, w http.ResponseWriter, one *flow, arrival auth.Arrival) error {
	token, err := req.Auth().SealArrival(arrival)
	if err != nil {
		return err
	}
	req.KeepForProvider(account.ArrivalCookie, token, arrivalLife)
	redirect(req, w, p.s.Config.BasePath+p.page(one))
	return nil
}

const arrivalLife = 5 * time.Minute

// page returns the page that shows the result of a flow.
func (p *Providers) page(one *flow) string {
	switch {
	case one.Purpose == auth.ToTest:
		return "/console/system/provider?tested=1"
	case one.Purpose == auth.ToConfirm:
		return "/console/?confirmed=1"
	case one.Purpose == auth.ToLink:
		return "/console/account?connected=1"
	case one.App:
		return pages.AfterProvider(one.To)
	}
	query := url.Values{"arrived": {"1"}}
	if one.To != "" {
		query.Set("back", one.To)
	}
	return "/console/?" + query.Encode()
}
