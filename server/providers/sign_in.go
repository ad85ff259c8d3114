package providers

import (
	"cmp"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// Choice is a provider on a sign-in page.
type Choice struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Kind    string   `json:"kind" enum:"provider_kind"`
	Domains []string `json:"domains" doc:"Domains of the addresses of its people; empty for any"`
	URL     string   `json:"url" doc:"URL to which the browser is sent; without the host if server.public_url is not in the configuration"`
}

// choices is a list without pages.
type choices struct {
	Data           []Choice   `json:"data"`
	PasswordSignIn store.Flag `json:"password_sign_in" doc:"0 if the setting turns passwords off for the realm: the page then offers the providers first. Roles and users may differ"`
}

type listIn struct {
	App store.Flag `query:"app" doc:"1 for the providers of app users"`
}

// list returns the providers for a sign-in page.
func (p *Providers) list(req *web.Request, in *listIn) (*choices, error) {
	out := &choices{Data: []Choice{}}
	return out, req.DB.View(store.System, func(tx *store.Tx) error {
		out.PasswordSignIn = store.Flag(store.PasswordsUsual(tx, bool(in.App)))
		all, err := store.EnabledProviders(tx, bool(in.App))
		for _, v := range all {
			out.Data = append(out.Data, Choice{v.Name, v.Title, v.Kind, v.Domains,
				cmp.Or(p.s.Config.PublicURL, p.s.Config.BasePath) + addressOf(v, "start")})
		}
		return err
	})
}

type signInIn struct {
	Cookie store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device string     `json:"device_token" check:"max=64" doc:"device_token from the response to an earlier sign-in; browsers send it as a cookie"`
}

// signIn completes the sign-in of a browser that has come back from a provider.
func (p *Providers) signIn(req *web.Request, in *signInIn) (*account.LoginOut, error) {
	if err := req.SameOrigin(); err != nil {
		return nil, err
	}
	return account.LoginArrival(req, false, in.Cookie, in.Device)
}

// linkURL is where a browser is sent.
type linkURL struct {
	URL string `json:"url" doc:"URL to which the browser is sent: of the provider or, for a directory, of a page of this server, without the host"`
}

type namedIn struct {
	Name string `path:"name"`
}

// beginLink sends a browser to a provider to connect the account of its session.
func (p *Providers) beginLink(req *web.Request, in *namedIn) (*linkURL, error) {
	if err := requireProof(req); err != nil {
		return nil, err
	}
	v, config, err := p.find(req, byName(in.Name))
	if err == nil && !v.Serves(false) {
		err = errProviderOff
	}
	if err != nil {
		return nil, err
	}
	one := &flow{Purpose: auth.ToLink, Session: req.SessionID()}
	address, err := p.begin(req, v, config, one, "")
	return &linkURL{address}, err
}

// beginConfirm sends a browser to a provider where the person has to sign in again.
func (p *Providers) beginConfirm(req *web.Request, in *namedIn) (*linkURL, error) {
	v, config, err := p.find(req, byName(in.Name))
	if err == nil && (!v.Serves(false) || v.Kind == store.KindGitHub) {
		err = errProviderOff
	}
	if err == nil {
		err = req.DB.View(req.Actor, func(tx *store.Tx) error {
			method, _, err := req.Auth().ProofMethod(tx, req.Session)
			if err == nil && method != auth.ByProvider {
				err = errNotByProvider
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	one := &flow{Purpose: auth.ToConfirm, Session: req.SessionID()}
	address, err := p.begin(req, v, config, one, "")
	return &linkURL{address}, err
}

var errNotByProvider = errs.New(errs.Conflict,
	"you confirm who you are with a password, a code or a passkey, not with a provider").Coded("proof_not_provider")

func requireProof(req *web.Request) error {
	return req.DB.View(req.Actor, store.RequireProof)
}

// link connects the account of the session to the person whom the provider has told of.
func (p *Providers) link(req *web.Request, _ *web.None) (out *Person, err error) {
	if err := requireProof(req); err != nil {
		return nil, err
	}
	token, cookie := req.KeptForProvider(account.ArrivalCookie)
	i, err := req.Auth().LinkArrival(req.Session, token)
	if err != nil {
		return nil, err
	}
	req.DropCookie(cookie)
	req.Note("provider_connected", req.Actor.Username, nil)
	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		if out, err = personOf(tx, req, i); err == nil {
			req.NoteProvider(out.ProviderName)
		}
		return err
	})
}

// beginTest sends a browser to a provider to see what it says.
func (p *Providers) beginTest(req *web.Request, in *web.ByID) (*linkURL, error) {
	if !req.Actor.IsOwner() {
		return nil, store.ErrProviderOwner
	}
	v, config, err := p.find(req, func(tx *store.Tx) (*store.Provider, error) {
		return store.Providers.Get(tx, in.ID)
	})
	if err != nil {
		return nil, err
	}
	one := &flow{Purpose: auth.ToTest, Session: req.SessionID()}
	address, err := p.begin(req, v, config, one, "")
	return &linkURL{address}, err
}

// testOut is the result of a test.
type testOut struct {
	Fault    string         `json:"fault" doc:"Why the provider has not said who the person is, in the language of the request; empty otherwise"`
	Code     string         `json:"fault_code" doc:"Code of fault, as errorCode of a sign-in has it; empty otherwise"`
	ID       store.ID       `json:"provider_id" doc:"ID of the provider; 0 after a fault"`
	Provider string         `json:"provider_name" doc:"Title of the provider"`
	Status   store.Flag     `json:"provider_status" doc:"1 if the provider is enabled"`
	Issuer   string         `json:"issuer"`
	Subject  string         `json:"subject"`
	Email    string         `json:"email"`
	Verified store.Flag     `json:"email_verified" doc:"1 if the address counts as that of the person"`
	Accepted store.Flag     `json:"accepted" doc:"1 if the domains of the provider allow the person"`
	Factor   store.Flag     `json:"factor" doc:"1 if the claims amr or acr stand for a second factor"`
	AuthTime store.Flag     `json:"auth_time" doc:"1 if the provider says when the person signed in there"`
	RoleIDs  []store.ID     `json:"role_ids" doc:"IDs of the roles that the mappings would give"`
	DeptID   store.ID       `json:"dept_id" doc:"ID of the department that the mappings would set; 0 for none"`
	Claims   map[string]any `json:"claims" doc:"Everything that the provider has said"`
}

// testResult returns what a provider has said in a test.
func (p *Providers) testResult(req *web.Request, _ *web.None) (*testOut, error) {
	if !req.Actor.IsOwner() {
		return nil, store.ErrProviderOwner
	}
	token, _ := req.KeptForProvider(account.ArrivalCookie)
	from := req.Auth().TestArrival(req.Session, token)
	if from == nil {
		return nil, errs.New(errs.NotFound, "no test was made in this browser, or its result has expired").Coded("no_provider_test")
	}
	if from.Err != nil {
		e := errs.Of(from.Err)
		return &testOut{Fault: e.Msg.In(req.Language()), Code: e.Code, RoleIDs: []store.ID{}, Claims: map[string]any{}}, nil
	}
	who := &from.Person
	out := &testOut{
		ID:       who.ProviderID,
		Provider: from.Provider,
		Issuer:   who.Issuer,
		Subject:  who.Subject,
		Email:    who.Email,
		Verified: store.Flag(who.Verified),
		Factor:   store.Flag(from.Factor),
		AuthTime: store.Flag(!from.AuthTime.IsZero()),
		RoleIDs:  web.OrEmpty(who.RoleIDs),
		DeptID:   who.DeptID,
		Claims:   from.Claims,
	}
	return out, req.DB.View(store.System, func(tx *store.Tx) error {
		v, err := store.Providers.Get(tx, who.ProviderID)
		if err == nil {
			out.Status, out.Accepted = v.Status, store.Flag(v.Accepts(who.Email, who.Verified))
		}
		return err
	})
}

// plainAddress returns an address of a provider if it is one; "" otherwise.
func plainAddress(text string) string {
	text = fold.Clean(text)
	if web.Forbidden(text, true).Empty() && store.AddressPattern.MatchString(text) && store.IsAddress(text) {
		return text
	}
	return ""
}

// plainName returns a name of a provider as one that a user may have here; "" for one that can't be.
func plainName(text string) string {
	const longest = 64
	if !web.Forbidden(text, true).Empty() {
		return ""
	}
	runes := []rune(fold.Clean(text))
	return fold.Clean(string(runes[:min(len(runes), longest)]))
}
