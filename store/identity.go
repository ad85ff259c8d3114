package store

import (
	"fmt"
	"iter"
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Identity is a person at a provider, linked to a user or an app user. The person is the subject of
// an issuer, never an address or a name, which others may have later.
type Identity struct {
	Ident
	ProviderID ID     `json:"provider_id"`
	Issuer     string `json:"issuer"`
	Subject    string `json:"subject" log:"personal"`
	UserID     ID     `json:"user_id"`
	AppUserID  ID     `json:"app_user_id"`
	Email      string `json:"email" log:"personal" visible:"address"` // address at the provider, as of the last sign-in
	RoleIDs    []ID   `json:"role_ids"`                               // roles that the account has only by a mapping
	DeptID     ID     `json:"dept_id"`                                // department that a mapping has set; 0 for none
	LastLogin  Time   `json:"last_login" log:"-"`                     // last sign-in with the provider
	kv.Timestamps
}

// ProviderSession is what a session that was opened or confirmed with a provider needs to end with the
// one there.
type ProviderSession struct {
	Ident
	SessionID  ID        `json:"session_id"`
	IdentityID ID        `json:"identity_id"`
	ProviderID ID        `json:"provider_id"`
	SID        string    `json:"sid"`     // session at the provider; "" if unknown
	EndURL     kv.Sealed `json:"end_url"` // address at which the browser ends the session there; empty for none
	kv.Timestamps
}

// MaxIdentities is the maximum number of identities that one account is linked to.
const MaxIdentities = 10

// Identities, their sessions and indexes. Both are deleted with the account. An identity that is
// deleted takes what it gave to the account with it, and ends its sessions.
var (
	Identities         = kv.NewCollection[Identity]("identity")
	IdentityByProvider = kv.NewRef(Identities, "provider_id", Providers, func(i *Identity) ID {
		return i.ProviderID
	}, kv.Restrict)
	IdentityByUser    = refToUser(Identities, func(i *Identity) ID { return i.UserID }, kv.Cascade)
	IdentityByAppUser = refToAppUser(Identities, func(i *Identity) ID {
		return i.AppUserID
	}, kv.Cascade)
	IdentityByPerson = kv.NewUnique(Identities, "subject", func(i *Identity) string {
		return personKey(i.Account().App, i.Issuer, i.Subject)
	}, "issuer", "app_user_id")
	IdentitySearch = kv.NewSearch(Identities, func(i *Identity) []string { return []string{i.Email} })

	ProviderSessions  = kv.NewCollection[ProviderSession]("provider_session").Unlogged().Disposable()
	ProviderBySession = kv.NewRef(ProviderSessions, "session_id", Sessions,
		func(s *ProviderSession) ID { return s.SessionID }, kv.Cascade)
	SessionByIdentity = kv.NewRef(ProviderSessions, "identity_id", Identities,
		func(s *ProviderSession) ID { return s.IdentityID }, kv.Dangle)
	SessionBySID = kv.NewMany(ProviderSessions, "sid", func(s *ProviderSession) []string {
		if s.SID == "" {
			return nil
		}
		return []string{sidKey(s.ProviderID, s.SID)}
	}, "provider_id")

	_ = Identities.Authorize(authorizeIdentity).Follow(followIdentity)
	_ = ProviderSessions.Sealed(func(s *ProviderSession) *kv.Sealed { return &s.EndURL },
		endURLPlace, func(tx *Tx, s *ProviderSession) (string, error) {
			return "sign-out of " + endURLPlace(s), nil
		})
)

var _ = manage(Access{Table: Identities, Query: "system.provider.query"})

func personKey(app bool, issuer, subject string) string {
	return fmt.Sprint(app, " ", issuer, "\n", subject)
}

func sidKey(provider ID, sid string) string { return provider.String() + " " + sid }

func endURLPlace(s *ProviderSession) string { return "provider session " + s.SessionID.String() }

// Account returns whose identity it is.
func (i *Identity) Account() Account { return accountOf(i.UserID, i.AppUserID) }

// IdentitiesOf returns the identities of an account.
func IdentitiesOf(tx *Tx, who Account) (list []*Identity, err error) {
	for i, err := range ByRealm(who.App, IdentityByUser, IdentityByAppUser).All(tx, who.ID) {
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, nil
}

// CanSignInWithout reports whether an account has a way to sign in besides an identity.
func CanSignInWithout(tx *Tx, who Account, identity ID) (bool, error) {
	list, err := IdentitiesOf(tx, who)
	if err != nil || len(list) > 1 || len(list) == 1 && list[0].ID != identity {
		return err == nil, err
	}
	if !who.App {
		if n, err := PasskeyByUser.Count(tx, who.ID); err != nil || n > 0 {
			return err == nil, err
		}
	}
	hash, err := SignInHash(tx, who)
	return hash != "", err
}

// authorizeIdentity allows changes by the person, and by those who may change providers.
func authorizeIdentity(tx *Tx, i *Identity) error {
	if ownActor(tx, i.Account()) {
		return RequireProof(tx)
	}
	return mayChangeProviders(tx)
}

// followIdentity takes what an identity gave away from the account, and ends its sessions, when it is
// deleted.
func followIdentity(tx *Tx, old, new *Identity) error {
	if new != nil {
		return nil
	}
	if old.Account().exists(tx) {
		if err := old.give(tx, Granted{}); err != nil {
			return err
		}
	}
	return endProviderSessions(tx, SessionByIdentity.All(tx, old.ID))
}

// give gives an account the roles and the department of the current mappings, which replace those of
// the last sign-in. It changes RoleIDs and DeptID of the identity, which the caller stores. Roles and
// departments that people have given stay.
func (i *Identity) give(tx *Tx, now Granted) error {
	who := i.Account()
	roles := slices.DeleteFunc(slices.Clone(now.RoleIDs), func(id ID) bool {
		return !ByRealm[kv.Table](who.App, Roles, AppRoles).Exists(tx, id)
	})
	dept := now.DeptID
	if dept != 0 {
		d, err := Depts.Get(tx, dept)
		if ignoreMissing(err) != nil {
			return err
		}
		if err != nil || !bool(d.Status) {
			dept = 0
		}
	}

	change := func(held *[]ID) {
		kept := slices.DeleteFunc(slices.Clone(*held), func(id ID) bool {
			return slices.Contains(i.RoleIDs, id)
		})
		i.RoleIDs = slices.DeleteFunc(slices.Clone(roles), func(id ID) bool {
			return slices.Contains(kept, id)
		})
		*held = slices.Concat(kept, i.RoleIDs)
	}
	if who.App {
		_, err := AppUsers.Update(tx, who.ID, func(u *AppUser) error {
			change(&u.RoleIDs)
			return nil
		})
		return err
	}
	_, err := Users.Update(tx, who.ID, func(u *User) error {
		change(&u.RoleIDs)
		given := i.DeptID != 0 && u.DeptID == i.DeptID
		switch {
		case dept != 0 && u.DeptID != dept:
			u.DeptID, i.DeptID = dept, dept
		case dept == 0 && given:
			u.DeptID, i.DeptID = 0, 0
		case !given:
			i.DeptID = 0
		}
		return nil
	})
	return err
}

// IdentityOfPerson returns the identity of a person; nil if no account is linked to the person. The
// provider must still sign in to the realm.
func IdentityOfPerson(tx *Tx, in *Person) (*Identity, error) {
	p, err := Providers.Get(tx, in.ProviderID)
	if err == nil && !p.Serves(in.App) {
		err = errProviderOff
	}
	if err != nil {
		return nil, ignoreMissingAs(err, errProviderOff)
	}
	i, err := IdentityByPerson.Get(tx, personKey(in.App, in.Issuer, in.Subject))
	return i, ignoreMissing(err)
}

// ConfirmingProvider returns a provider with which an account can confirm who it is in a session: the
// one that has opened the session, or another one that the account is linked to; nil for none.
func ConfirmingProvider(tx *Tx, who Account, session ID) (found *Provider, err error) {
	opened, err := ProviderSessionOf(tx, session)
	if err != nil {
		return nil, err
	}
	list, err := IdentitiesOf(tx, who)
	for _, i := range list {
		p, err := Providers.Get(tx, i.ProviderID)
		if err != nil {
			return nil, err
		}
		if !p.Serves(who.App) || p.Kind == KindGitHub {
			continue
		}
		if found == nil || opened != nil && opened.ProviderID == p.ID {
			found = p
		}
	}
	return found, err
}

// SignedInWith records a sign-in with a provider: what the mappings give, the address, and the
// session. It runs with system rights.
func SignedInWith(tx *Tx, identity ID, in *Person, session ID, sid, endURL string) error {
	i, err := Identities.Get(tx, identity)
	if err != nil {
		return err
	}
	if err := i.give(tx, in.Granted); err != nil {
		return err
	}
	if _, err := Identities.Update(tx, identity, func(v *Identity) error {
		v.RoleIDs, v.DeptID = i.RoleIDs, i.DeptID
		v.ProviderID, v.Email, v.LastLogin = in.ProviderID, in.Email, tx.Now()
		return nil
	}); err != nil {
		return err
	}

	return EndWithProvider(tx, &ProviderSession{SessionID: session, IdentityID: identity, ProviderID: in.ProviderID, SID: sid}, endURL)
}

// EndWithProvider makes a session end with one at a provider, which replaces an earlier one at the same
// provider. endURL is the address at which the browser ends that one; "" for none.
func EndWithProvider(tx *Tx, s *ProviderSession, endURL string) (err error) {
	if endURL != "" {
		if s.EndURL, err = tx.Seal(endURLPlace(s), endURL); err != nil {
			return err
		}
	}
	for known, err := range ProviderBySession.All(tx, s.SessionID) {
		if err != nil {
			return err
		}
		if known.ProviderID != s.ProviderID {
			continue
		}
		_, err = ProviderSessions.Update(tx, known.ID, func(v *ProviderSession) error {
			v.IdentityID, v.SID, v.EndURL = s.IdentityID, s.SID, s.EndURL
			return nil
		})
		return err
	}
	return ProviderSessions.Create(tx, s)
}

// ShareProviderSession makes the end of a session at a provider end another session, too, that was
// opened from one that it ends.
func ShareProviderSession(tx *Tx, from, other ID) error {
	s, err := ProviderSessionOf(tx, from)
	if err != nil || s == nil {
		return err
	}
	return ProviderSessions.Create(tx, &ProviderSession{
		SessionID:  other,
		IdentityID: s.IdentityID,
		ProviderID: s.ProviderID,
		SID:        s.SID,
	})
}

// ProviderSessionOf returns how a session was opened with a provider; nil if it was opened in another
// way.
func ProviderSessionOf(tx *Tx, session ID) (*ProviderSession, error) {
	for s, err := range ProviderBySession.All(tx, session) {
		return s, err
	}
	return nil, nil
}

// ProviderEndURL returns where the browser ends the session at the provider with which a session was
// opened; "" if there is none, or if signing out here is to end nothing there.
func ProviderEndURL(tx *Tx, session ID) (string, error) {
	s, err := ProviderSessionOf(tx, session)
	if err != nil || s == nil || len(s.EndURL.Box) == 0 {
		return "", err
	}
	p, err := Providers.Get(tx, s.ProviderID)
	if err != nil || !bool(p.EndsSession) {
		return "", err
	}
	address, err := tx.Unseal(endURLPlace(s), s.EndURL)
	if err != nil {
		return "", nil // damaged: the session here ends all the same
	}
	return address, nil
}

// endProviderSessions ends sessions that were opened or confirmed with a provider.
func endProviderSessions(tx *Tx, opened iter.Seq2[*ProviderSession, error]) error {
	var ids []ID
	for s, err := range opened {
		if err != nil {
			return err
		}
		ids = append(ids, s.SessionID)
	}
	for _, id := range ids {
		if err := ignoreMissing(Sessions.Delete(tx, id)); err != nil {
			return err
		}
	}
	return nil
}

// EndPersonSessions ends the sessions of a person, or of a session at the provider, after the
// provider has told that they have ended there. One of subject and sid may be "".
func EndPersonSessions(tx *Tx, provider ID, issuer, subject, sid string) error {
	if sid != "" {
		return endProviderSessions(tx, SessionBySID.All(tx, sidKey(provider, sid)))
	}
	for _, app := range []bool{false, true} {
		i, err := IdentityByPerson.Get(tx, personKey(app, issuer, subject))
		if errs.Is(err, errs.NotFound) {
			continue
		}
		if err == nil {
			err = endProviderSessions(tx, SessionByIdentity.All(tx, i.ID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
