package store

import (
	"slices"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// Provider is a service that tells who people are: an OpenID provider or GitHub, where they sign in, or
// a directory, which checks the password that they enter here.
type Provider struct {
	Ident
	Name          string    `json:"name"` // part of URLs
	Title         string    `json:"title" visible:"name"`
	Kind          string    `json:"kind" enum:"provider_kind"`
	Issuer        string    `json:"issuer"` // URL; "" for a directory
	ClientID      string    `json:"client_id"`
	Scopes        []string  `json:"scopes"`
	Domains       []string  `json:"domains"`                         // domains of the addresses of its people, lower case; empty for any
	Users         Flag      `json:"users"`                           // signs in to the admin realm
	AppUsers      Flag      `json:"app_users"`                       // signs in to the app realm
	Creates       string    `json:"creates" enum:"provider_creates"` // whether new people get accounts
	TrustsAddress Flag      `json:"trusts_address"`                  // its addresses are verified even if it does not say so
	FactorValues  []string  `json:"factor_values"`                   // values of the claims amr and acr that stand for a second factor
	EndsSession   Flag      `json:"ends_session"`                    // signing out here signs out there
	Mappings      []Mapping `json:"mappings"`
	Status        Flag      `json:"status"`
	Sort          int64     `json:"sort"`
	Directory
	Versioned
}

// Mapping gives roles and a department to people with a claim.
type Mapping struct {
	Claim      string `json:"claim" check:"required,max=100,text" doc:"Name of a claim, such as groups; nested ones are separated by dots"`
	Value      string `json:"value" check:"required,max=1000,text" doc:"Value that the claim has, or that is in its list"`
	RoleIDs    []ID   `json:"role_ids" names:"roles,role" check:"max=50" doc:"IDs of the roles that such users have"`
	AppRoleIDs []ID   `json:"app_role_ids" names:"app_roles,app_role" check:"max=50" doc:"IDs of the app roles that such app users have"`
	DeptID     ID     `json:"dept_id" names:"department,department" doc:"ID of the department that such users are in; 0 for no change"`
}

// ProviderSecret is the client secret of a provider, or the password of the account that searches a
// directory. It is a record of its own, so that no route can
// return it.
type ProviderSecret struct {
	Ident
	ProviderID ID        `json:"provider_id"`
	Secret     kv.Sealed `json:"secret"`
	kv.Timestamps
}

// Kinds of providers, besides directories. KindGitHub differs in how people sign in: it knows no OpenID.
const (
	KindOpenID    = "openid"
	KindGoogle    = "google"
	KindMicrosoft = "microsoft"
	KindGitHub    = "github"
	KindGitLab    = "gitlab"
	KindKeycloak  = "keycloak"
	KindAuthentik = "authentik"
)

// Which new people get accounts.
const (
	CreatesNone    = "never"
	CreatesInvited = "invitation" // those with the address of an invitation
	CreatesAll     = "always"
)

// Limits of providers.
const (
	MaxProviders = 50
	MaxMappings  = 100
)

// Providers, their secrets and indexes. A provider is not deleted while people are linked to it.
var (
	Providers      = kv.NewCollection[Provider]("provider").Undoable()
	ProviderByName = kv.NewUnique(Providers, "name", func(p *Provider) string { return p.Name })
	ProviderByRole = kv.NewRefs(Providers, "mapped_roles", Roles, func(p *Provider) []ID {
		return p.mapped(func(m *Mapping) []ID { return m.RoleIDs })
	}, kv.Restrict, "mappings")
	ProviderByAppRole = kv.NewRefs(Providers, "mapped_app_roles", AppRoles, func(p *Provider) []ID {
		return p.mapped(func(m *Mapping) []ID { return m.AppRoleIDs })
	}, kv.Restrict, "mappings")
	ProviderByDept = kv.NewRefs(Providers, "mapped_depts", Depts, func(p *Provider) []ID {
		return p.mapped(func(m *Mapping) []ID { return []ID{m.DeptID} })
	}, kv.Restrict, "mappings")

	ProviderSecrets  = kv.NewCollection[ProviderSecret]("provider_secret")
	SecretByProvider = kv.NewRef(ProviderSecrets, "provider_id", Providers,
		func(s *ProviderSecret) ID { return s.ProviderID }, kv.Cascade)

	_ = Providers.Authorize(authorizeProvider).Constraint(constrainProvider)
	_ = ProviderSecrets.Sealed(func(s *ProviderSecret) *kv.Sealed { return &s.Secret },
		providerPlace, func(tx *Tx, s *ProviderSecret) (string, error) {
			return "client secret of " + providerPlace(s), nil
		})
)

var (
	_ = Manage(Providers, "system.provider")
	_ = manage(Access{Table: ProviderSecrets, Query: "system.provider.query"})
)

func providerPlace(s *ProviderSecret) string { return "provider " + s.ProviderID.String() }

// Tidy brings the lists of a provider into the form in which they are stored.
func (p *Provider) Tidy() {
	p.tidy()
	for i, domain := range p.Domains {
		p.Domains[i] = fold.Domain(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
	}
	p.Scopes = slices.DeleteFunc(p.Scopes, func(scope string) bool { return scope == "openid" })
	for _, list := range []*[]string{&p.Scopes, &p.Domains, &p.FactorValues} {
		if *list == nil {
			*list = []string{}
		}
	}
}

// mapped returns IDs of all mappings, each once and without 0.
func (p *Provider) mapped(of func(*Mapping) []ID) (ids []ID) {
	for i := range p.Mappings {
		ids = append(ids, of(&p.Mappings[i])...)
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id ID) bool { return id == 0 })
}

// authorizeProvider allows changes by owners who have just confirmed who they are: a provider decides
// who can sign in as any user.
func authorizeProvider(tx *Tx, _ *Provider) error { return mayChangeProviders(tx) }

func mayChangeProviders(tx *Tx) error {
	a := ActorOf(tx)
	if a.Key != nil {
		return ErrKeyForbidden
	}
	if !a.isOwner() {
		return ErrProviderOwner
	}
	if a.system {
		return nil
	}
	return RequireProof(tx)
}

// ErrProviderOwner rejects changes of providers by others than owners.
var ErrProviderOwner = errs.New(errs.Denied, "only the owner role can change sign-in providers").Coded("owner_required")

// constrainProvider checks who changes a provider, that none gives the owner role, and their number.
func constrainProvider(tx *Tx, old, new *Provider) error {
	if err := mayChangeProviders(tx); err != nil || new == nil {
		return err
	}
	for i, m := range new.Mappings {
		if slices.Contains(m.RoleIDs, OwnerRole) {
			return errs.Field(errs.Invalid, mappingField(i, "role_ids"), "can't give the owner role")
		}
	}
	if old != nil {
		return keepPeople(tx, old, new)
	}

	n, err := Providers.Count(tx)
	if err == nil && n >= MaxProviders {
		err = errs.New(errs.Conflict, "there are already %d sign-in providers, which is the maximum",
			MaxProviders).Coded("too_many_providers")
	}
	return err
}

// keepPeople refuses a change after which the people of a provider could be others.
func keepPeople(tx *Tx, old, new *Provider) error {
	field := ""
	switch {
	case old.PersonIssuer() != new.PersonIssuer():
		field = "issuer"
	case new.IsDirectory() && !strings.EqualFold(old.IDAttribute, new.IDAttribute):
		field = "id_attribute"
	default:
		return nil
	}
	n, err := IdentityByProvider.Count(tx, new.ID)
	if err == nil && n > 0 {
		err = errs.Field(errs.Invalid, field,
			"can't be changed while people are linked to the provider; create another provider")
	}
	return err
}

func mappingField(i int, name string) string {
	return "mappings[" + ID(i).String() + "]." + name
}

// SetProviderSecret replaces the client secret of a provider.
func SetProviderSecret(tx *Tx, provider ID, secret string) error {
	ids, err := SecretByProvider.IDs(tx, provider)
	for _, id := range ids {
		if err == nil {
			err = ProviderSecrets.Delete(tx, id)
		}
	}
	if err != nil || secret == "" {
		return err
	}
	s := &ProviderSecret{ProviderID: provider}
	if s.Secret, err = tx.Seal(providerPlace(s), secret); err != nil {
		return err
	}
	return ProviderSecrets.Create(tx, s)
}

// ProviderSecretOf returns the client secret of a provider; "" for none.
func ProviderSecretOf(tx *Tx, provider ID) (string, error) {
	for s, err := range SecretByProvider.All(tx, provider) {
		if err != nil {
			return "", err
		}
		secret, err := tx.Unseal(providerPlace(s), s.Secret)
		if err != nil {
			return "", errs.New(errs.Conflict,
				"the client secret of the provider can't be decrypted with secret.key; enter it again").Coded("provider_secret_lost")
		}
		return secret, nil
	}
	return "", nil
}

// EnabledProviders returns the providers that sign in to a realm, by sort and ID.
func EnabledProviders(tx *Tx, app bool) (list []*Provider, err error) {
	for p, err := range Providers.All(tx) {
		if err != nil {
			return nil, err
		}
		if p.Serves(app) {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *Provider) int { return int(a.Sort - b.Sort) })
	return list, nil
}

// Serves reports whether a provider signs in to a realm now.
func (p *Provider) Serves(app bool) bool {
	return bool(p.Status) && (app && bool(p.AppUsers) || !app && bool(p.Users))
}

// Accepts reports whether people with an address may come from the provider. verified is whether the
// provider, or the configuration, says that the address is the person's own.
func (p *Provider) Accepts(address string, verified bool) bool {
	if len(p.Domains) == 0 {
		return true
	}
	_, domain, ok := strings.Cut(strings.ToLower(address), "@")
	return ok && verified && slices.Contains(p.Domains, domain)
}

// Granted is what the mappings of a provider give to a person.
type Granted struct {
	RoleIDs []ID // roles of the realm of the person
	DeptID  ID   // 0 for none
}

// Granted returns what a person gets for whom has reports which claims have which values. Roles that
// are the owner role are never given. The first mapping with a department decides on it.
func (p *Provider) Granted(app bool, has func(claim, value string) bool) (g Granted) {
	for _, m := range p.Mappings {
		if !has(m.Claim, m.Value) {
			continue
		}
		if app {
			g.RoleIDs = append(g.RoleIDs, m.AppRoleIDs...)
			continue
		}
		g.RoleIDs = append(g.RoleIDs, m.RoleIDs...)
		if g.DeptID == 0 {
			g.DeptID = m.DeptID
		}
	}
	slices.Sort(g.RoleIDs)
	g.RoleIDs = slices.Compact(g.RoleIDs)
	if !app {
		g.RoleIDs = slices.DeleteFunc(g.RoleIDs, func(id ID) bool { return id == OwnerRole })
	}
	return g
}
