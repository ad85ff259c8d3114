// Package providers has the sign-in providers: which there are, and the way of a browser to one of
// them and back. What a provider is asked is in package provider, and what its answer is good for in
// packages auth and store.
//
// A person goes to /auth/provider/NAME/start, which sends the browser to the provider with the secrets
// of the attempt in a cookie, and comes back to /auth/provider/NAME/callback. Each provider has its own
// address for that, so that a response can't be that of another one. What the provider says is then held
// for the page to which the browser is sent, which signs in with it, links it to the account, or shows
// it as a test.
package providers

import (
	"regexp"
	"strings"

	"reeve/server/directory"
	"reeve/server/outgoing"
	"reeve/server/pages"
	"reeve/server/provider"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func init() {
	web.Enums(map[string][]string{
		"provider_kind": {store.KindOpenID, store.KindGoogle, store.KindMicrosoft, store.KindGitHub,
			store.KindGitLab, store.KindKeycloak, store.KindAuthentik, store.KindLDAP, store.KindActiveDirectory},
		"provider_creates": {store.CreatesNone, store.CreatesInvited, store.CreatesAll},
	})
}

// Providers are the sign-in providers of a server.
type Providers struct {
	s           *web.Server
	pages       *pages.Pages
	client      *provider.Client
	directories *directory.Client
	flows       *flows
}

// New returns the providers of a server.
func New(s *web.Server, ps *pages.Pages) *Providers {
	return &Providers{s, ps, provider.NewClient(s.Config.ProviderAllow, s.Config.Version),
		directory.NewClient(s.Config.ProviderAllow), newFlows(s.DB.TemporaryKey("ways to sign-in providers"))}
}

func Routes(p *Providers) []web.Route {
	changes := web.Options{
		Confirmed: true,
		Keys:      web.ByNoKey,
		Record:    web.RecordOf(store.Providers),
		Note: "Only for the owner role. client_secret is never returned; it stays if it is absent, and is " +
			"removed if it is empty.",
	}
	creation := changes
	creation.Record = nil
	return append(directoryRoutes(p),
		web.List("/system/provider", "system.provider.query", "List sign-in providers", &providers),
		web.Get("/system/provider/:id", "system.provider.query", "Get a sign-in provider", &providers),
		web.Write("POST", "/system/provider", "system.provider.create", "Create a sign-in provider",
			p.create, creation),
		web.Write("PUT", "/system/provider/:id", "system.provider.update", "Change a sign-in provider",
			p.change, changes),
		web.Remove("/system/provider/:id", "system.provider.delete", "Delete a sign-in provider",
			&providers, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note:      "Not while people are linked to it.",
			}),
		web.RemoveSeveral("/system/provider", "system.provider.delete", "Delete sign-in providers",
			&providers, web.Options{Confirmed: true, Keys: web.ByNoKey}),
		web.List("/system/provider-person", "system.provider.query",
			"List the people of sign-in providers", &people),
		web.Write("DELETE", "/system/provider-person/:id", "system.provider.update",
			"Disconnect a person from a sign-in provider", disconnect, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note: "Takes away what the mappings have given, and ends the sessions that were opened with " +
					"the provider.",
			}),
		web.DeleteSeveral("/system/provider-person", "system.provider.update",
			"Disconnect people from sign-in providers", disconnect, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
			}),
		web.Action("POST", "/system/provider/:id/test", "system.provider.update",
			"Test a sign-in provider", p.beginTest, web.Options{
				Keys: web.ByNoKey,
				Note: "Returns the URL where the browser signs in with the provider, also one that is " +
					"disabled. It then comes back to the console, which shows GET /system/provider-test.",
			}),
		web.Action("GET", "/system/provider-test", "system.provider.update",
			"Get the result of a test of a sign-in provider", p.testResult, web.Options{
				Keys:         web.ByNoKey,
				MayBeMissing: true,
				Note: "What the provider has said, and what the mappings would give. It is kept for five " +
					"minutes, for the browser that has made the test.",
			}),
		web.Action("GET", "/auth/provider", web.Public, "List the providers for signing in",
			p.list, web.Options{
				Note: "For sign-in pages. A browser is sent to /auth/provider/NAME/start.",
			}),
		web.Raw("/auth/provider/:name/start", web.Public, "Begin to sign in with a provider",
			web.AnyMedia, p.start, web.Options{
				Closable: true,
				Answers:  web.Answers{303: "The browser continues at the provider, or at the sign-in page with an error"},
				Note:     "For browsers, as a link. App users need the setting app.pages.",
			}),
		web.Raw("/auth/provider/:name/callback", web.Public, "Come back from a provider",
			web.AnyMedia, p.callback, web.Options{
				AnyQuery: true,
				Answers:  web.Answers{303: "The browser continues at the page where the attempt began, which shows the result"},
				Note:     "The address that is registered at the provider.",
			}),
		web.Following(&web.OAuth, "POST", "/auth/provider/:name/logout", web.Public,
			"End sessions for a provider", p.backChannel, web.Options{
				RateLimited: true,
				Note: "OpenID Connect Back-Channel Logout: the provider tells that a person has signed out " +
					"there. The sessions that were opened with it end at once.",
			}),
		web.Action("POST", "/admin/login/provider", web.Public, "Complete a sign-in with a provider",
			p.signIn, web.Options{
				RateLimited: true,
				Closable:    true,
				Note: "For the page to which the browser comes back from the provider, with a cookie. The " +
					"response is that of a sign-in.",
			}),
		web.Action("POST", "/admin/reauth/provider/:name", web.SignedIn,
			"Begin to confirm your identity with a provider", p.beginConfirm, web.Options{
				AllowedBeforeFactor: true,
				Keys:                web.ByNoKey,
				RateLimited:         true,
				Note: "Returns the URL where the browser signs in again with the provider, which has to say " +
					"when that was. The browser then sends POST /admin/reauth.",
			}),
		web.List("/admin/account/provider", web.SignedIn, "List the providers you are connected to",
			&ownPeople, web.Options{Keys: web.ByNoKey}),
		web.Action("POST", "/admin/account/provider/:name", web.SignedIn, "Connect to a provider",
			p.beginLink, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note: "Returns the URL where the browser signs in with the provider. It then comes back to the " +
					"console, which completes it with POST /admin/account/provider.",
			}),
		web.Action("POST", "/admin/account/provider", web.SignedIn, "Complete a connection to a provider",
			p.link, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note: "For the browser that comes back from the provider. It also connects an account whose " +
					"owner was asked to sign in first.",
			}),
		web.Write("DELETE", "/admin/account/provider/:id", web.SignedIn, "Disconnect from a provider",
			disconnectOwn, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note:      "Not from the only way in: set a password, or add a passkey, first.",
			}),
		web.DeleteSeveral("/admin/account/provider", web.SignedIn, "Disconnect from providers",
			disconnectOwn, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
			}),
	)
}

// Provider is a provider in responses.
type Provider struct {
	store.Provider
	HasSecret store.Flag `json:"has_secret" doc:"1 if there is a client secret, or a password of bind_dn"`
	People    int        `json:"people" doc:"Number of users and app users who are linked to it"`
	Callback  string     `json:"callback_url" doc:"URL to register at the provider for coming back; empty for a directory, and without server.public_url in the configuration"`
	Logout    string     `json:"logout_url" doc:"URL to register at the provider for back-channel logout; empty as callback_url is"`
}

var providers = web.Resource[store.Provider, *Provider]{
	Collection: store.Providers,
	Order:      "id, ascending",
	Output:     providerOf,
	Columns:    []web.Column[store.Provider]{{Name: "id", Uses: web.Sorted}},
}

func providerOf(tx *store.Tx, req *web.Request, p *store.Provider) (*Provider, error) {
	out := &Provider{Provider: *p}
	out.Servers = web.OrEmpty(out.Servers) // null in records from before there were directories
	n, err := store.SecretByProvider.Count(tx, p.ID)
	if err != nil {
		return nil, err
	}
	out.HasSecret = n > 0
	if out.People, err = store.IdentityByProvider.Count(tx, p.ID); err != nil {
		return nil, err
	}
	if base := req.Server.Config.PublicURL; base != "" && !p.IsDirectory() {
		out.Callback, out.Logout = base+addressOf(p, "callback"), base+addressOf(p, "logout")
	}
	return out, nil
}

// addressOf returns the path of an operation of a provider.
func addressOf(p *store.Provider, operation string) string {
	return "/auth/provider/" + p.Name + "/" + operation
}

type providerIn struct {
	Name          *string          `json:"name" check:"create,max=32" doc:"Name in URLs: lower-case letters, digits and hyphens; it is part of the address that is registered at the provider"`
	Title         *string          `json:"title" check:"create,max=64,text" doc:"Title on the sign-in page"`
	Kind          *string          `json:"kind" check:"enum=provider_kind" doc:"Kind of provider; openid by default"`
	Issuer        *string          `json:"issuer" check:"max=2000" doc:"URL by which the provider calls itself; for GitHub https://github.com, or that of your server. Required, but for a directory"`
	ClientID      *string          `json:"client_id" check:"max=300,text" doc:"ID of Reeve at the provider. Required, but for a directory"`
	Scopes        *[]string        `json:"scopes" check:"max=20" doc:"Scopes to ask for besides openid"`
	Domains       *[]string        `json:"domains" check:"max=50" doc:"Domains in which people must have a verified address; empty for any address. The sign-in page proposes the provider to addresses in them"`
	Users         *store.Flag      `json:"users" doc:"1 if users of the console can sign in with it"`
	AppUsers      *store.Flag      `json:"app_users" doc:"1 if app users can sign in with it"`
	Creates       *string          `json:"creates" check:"enum=provider_creates" doc:"Who without an account gets one: never, invitation for those whose address was invited, or always"`
	TrustsAddress *store.Flag      `json:"trusts_address" doc:"1 if addresses are those of the person even if the provider does not say that it has verified them"`
	FactorValues  *[]string        `json:"factor_values" check:"max=20" doc:"Values of the claims amr and acr that stand for a second factor, such as mfa; empty to ask for the factor here"`
	EndsSession   *store.Flag      `json:"ends_session" doc:"1 if signing out here signs out at the provider"`
	Mappings      *[]store.Mapping `json:"mappings" check:"max=100" doc:"Which claims give which roles and department, at each sign-in. What a claim has given is taken away when it is gone"`
	Status        *store.Flag      `json:"status" doc:"Status: 1 enabled; 0 disabled, the default of a new provider"`
	Sort          *int64           `json:"sort" check:"min=-1000000,max=1000000" doc:"Position on the sign-in page, ascending"`
	directoryIn
}

var assignProvider = web.Assigning[providerIn, store.Provider]()

// clientSecret is the input that is stored apart from the provider.
type clientSecret struct {
	Secret *string `json:"client_secret" check:"max=4000,raw" doc:"Client secret, or password of bind_dn; never returned. Absent to keep it, empty for a public client"`
}

type providerCreation struct {
	providerIn
	clientSecret
}

type providerChange struct {
	web.ByID
	providerIn
	clientSecret
}

// assign copies the fields that were sent. A new kind brings its usual values.
func assign(in *providerIn, v *store.Provider) {
	if in.Kind != nil && *in.Kind != v.Kind {
		v.Directory, v.Scopes = store.ProposedDirectory(*in.Kind), proposedScopes(*in.Kind)
	}
	assignProvider(in, v)
}

func (p *Providers) create(tx *store.Tx, req *web.Request, in *providerCreation) (*Provider, error) {
	v := &store.Provider{
		Kind:    store.KindOpenID,
		Scopes:  proposedScopes(store.KindOpenID),
		Users:   true,
		Creates: store.CreatesNone,
	}
	assign(&in.providerIn, v)
	if err := p.check(req, v); err != nil {
		return nil, err
	}
	err := store.Providers.Create(tx, v)
	if err == nil && in.Secret != nil {
		err = store.SetProviderSecret(tx, v.ID, *in.Secret)
	}
	if err != nil {
		return nil, err
	}
	return providerOf(tx, req, v)
}

func (p *Providers) change(tx *store.Tx, req *web.Request, in *providerChange) (*Provider, error) {
	v, err := store.Providers.Update(tx, in.ID, func(v *store.Provider) error {
		assign(&in.providerIn, v)
		return p.check(req, v)
	})
	if err == nil && in.Secret != nil {
		err = store.SetProviderSecret(tx, in.ID, *in.Secret)
	}
	if err != nil {
		return nil, err
	}
	return providerOf(tx, req, v)
}

// proposedScopes returns the scopes that are usual for a kind of provider.
func proposedScopes(kind string) []string {
	switch kind {
	case store.KindGitHub:
		return []string{"read:user", "user:email"}
	case store.KindLDAP, store.KindActiveDirectory:
		return []string{}
	}
	return []string{"profile", "email"}
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// check checks a provider and brings its texts into their form. Every fault is named.
func (p *Providers) check(req *web.Request, v *store.Provider) error {
	faults := errs.Faults{}
	if !namePattern.MatchString(v.Name) {
		faults.Add("name", "must be lower-case letters, digits and hyphens, and begin with a letter")
	}
	v.Tidy()
	if v.IsDirectory() {
		checkDirectory(v, faults)
	} else {
		p.checkOpenID(v, faults)
	}
	for _, domain := range v.Domains {
		if !strings.Contains(domain, ".") || strings.ContainsAny(domain, "/@: ") {
			faults.Add("domains", "must be domains like example.org")
		}
	}
	for _, scope := range v.Scopes {
		if scope == "" || strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
			faults.Add("scopes", "must be scopes without spaces")
		}
	}
	if !v.Users && !v.AppUsers {
		faults.Add("users", "or app_users must be on: no one could sign in with the provider")
	}
	v.Mappings = web.OrEmpty(v.Mappings)
	for i := range v.Mappings {
		v.Mappings[i].RoleIDs, v.Mappings[i].AppRoleIDs = web.OrEmpty(v.Mappings[i].RoleIDs), web.OrEmpty(v.Mappings[i].AppRoleIDs)
	}
	return faults.Err(errs.Invalid)
}

// checkOpenID checks what only providers have that are no directories.
func (p *Providers) checkOpenID(v *store.Provider, faults errs.Faults) {
	switch _, err := outgoing.ParseURL("issuer", v.Issuer, p.s.Config.ProviderAllow); {
	case v.Issuer == "":
		faults.Add("issuer", "is required")
	case err != nil:
		faults["issuer"] = errs.Of(err).Fields["issuer"]
	case strings.Contains(v.Issuer, "?"):
		faults.Add("issuer", "must not have a query")
	case v.Kind == store.KindMicrosoft && manyTenants.MatchString(v.Issuer):
		faults.Add("issuer", "must name one tenant, like https://login.microsoftonline.com/TENANT-ID/v2.0")
	}
	if v.ClientID == "" {
		faults.Add("client_id", "is required")
	}
	if bool(v.Status) && p.s.Config.PublicURL == "" {
		faults.Add("status", "can be 1 only with server.public_url in the configuration, where browsers come back from the provider")
	}
	noDirectory(v, faults)
}

// manyTenants matches issuers of Microsoft under which every tenant of the world can sign in.
var manyTenants = regexp.MustCompile(`/(common|organizations|consumers)(/|$)`)
