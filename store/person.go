package store

import (
	"fmt"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
)

// Person is a person who has just signed in with a provider, as the provider says.
type Person struct {
	App        bool // signs in to the app realm
	ProviderID ID
	Issuer     string
	Subject    string
	Email      string // "" for none
	Verified   bool   // whether the address is known to be the person's own
	Username   string // proposed for a new account
	Nickname   string
	Granted
}

var (
	errProviderOff = errs.New(errs.Denied,
		"this sign-in provider is switched off").Coded("provider_off")
	errNoAccount = errs.New(errs.Denied,
		"you have no account here; ask your administrator").Coded("provider_no_account")
	errLinkFirst = errs.New(errs.Conflict,
		"there is an account with your address already; sign in as usual, then connect the provider under your account").Coded("provider_link")
	errProviderDomain = errs.New(errs.Denied,
		"your address at the provider is not verified, or not in a domain that may sign in here").Coded("provider_domain")
)

// Admit returns the identity of a person who signs in. Without one, it links or creates an account
// where the provider's settings say so. An address makes no one the owner of an account that has
// it: only the owner can link that, see LinkPerson. An address that was never verified here is given
// to the person for whom the provider has verified it.
func Admit(tx *Tx, in *Person) (*Identity, error) {
	p, err := Providers.Get(tx, in.ProviderID)
	if err == nil && !p.Serves(in.App) {
		err = errProviderOff
	}
	if err == nil && !p.Accepts(in.Email, in.Verified) {
		err = errProviderDomain
	}
	if err != nil {
		return nil, ignoreMissingAs(err, errProviderOff)
	}
	i, err := IdentityByPerson.Get(tx, personKey(in.App, in.Issuer, in.Subject))
	if err == nil || !errs.Is(err, errs.NotFound) {
		return i, err
	}

	holder, verified, err := holderOf(tx, in)
	if err != nil {
		return nil, err
	}
	if holder.ID != 0 {
		invited, err := isInvited(tx, holder)
		switch {
		case err != nil:
			return nil, err
		case invited && p.Creates != CreatesNone:
			return acceptInvitation(tx, holder, in)
		case verified:
			return nil, errLinkFirst
		case p.Creates != CreatesAll:
			return nil, errNoAccount
		}
		if err := SetEmail(tx, holder, "", false); err != nil {
			return nil, err
		}
	}
	if p.Creates != CreatesAll {
		return nil, errNoAccount
	}

	who, err := createPerson(tx, in)
	if err != nil {
		return nil, err
	}
	return link(tx, who, in)
}

// ignoreMissingAs returns other for an error that says that a record is missing.
func ignoreMissingAs(err, other error) error {
	if errs.Is(err, errs.NotFound) {
		return other
	}
	return err
}

// holderOf returns the account that has the address of a person; the zero value for none, or if the
// provider has not verified the address.
func holderOf(tx *Tx, in *Person) (who Account, verified bool, err error) {
	if in.Email == "" || !in.Verified {
		return Account{}, false, nil
	}
	var m Member
	if in.App {
		m, err = memberOf(AppUserByEmail.Get(tx, in.Email))
	} else {
		m, err = memberOf(UserByEmail.Get(tx, in.Email))
	}
	if err != nil {
		return Account{}, false, ignoreMissing(err)
	}
	return m.Account, bool(*m.EmailVerified), nil
}

// isInvited reports whether an account has an invitation that can be accepted now.
func isInvited(tx *Tx, who Account) (bool, error) {
	l, err := LinkOf(tx, Invitation, who)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return l.Valid(tx.Now()) > 0, nil
}

// acceptInvitation links the account of an invitation. The person needs no password.
func acceptInvitation(tx *Tx, who Account, in *Person) (*Identity, error) {
	if err := deleteLinks(tx, who, Invitation); err != nil {
		return nil, err
	}
	if err := SetEmail(tx, who, in.Email, true); err != nil {
		return nil, err
	}
	if _, err := setMustChange(tx, who, false); err != nil {
		return nil, err
	}
	return link(tx, who, in)
}

// createPerson creates the account of a person, without a password.
func createPerson(tx *Tx, in *Person) (Account, error) {
	name, err := freeUsername(tx, in)
	if err != nil {
		return Account{}, err
	}
	who := Account{App: in.App}
	if in.App {
		u := &AppUser{Username: name, Nickname: in.Nickname, Status: true}
		if u.RoleIDs, err = DefaultAppRoles(tx); err != nil {
			return Account{}, err
		}
		err = AppUsers.Create(tx, u)
		who.ID = u.ID
	} else {
		u := &User{Username: name, Nickname: in.Nickname, Status: true}
		err = Users.Create(tx, u)
		who.ID = u.ID
	}
	if err == nil && in.Email != "" && in.Verified {
		err = SetEmail(tx, who, in.Email, true)
	}
	return who, err
}

// freeUsername returns a username that no one has, from what the provider proposes.
func freeUsername(tx *Tx, in *Person) (string, error) {
	const longest, tries = 32, 1000
	base, _, _ := strings.Cut(in.Username, "@")
	if base == "" {
		base, _, _ = strings.Cut(in.Email, "@")
	}
	base = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-", r)) {
			return r
		}
		return -1
	}, fold.Search(base))
	if len(base) < 3 {
		base = "user"
	}
	base = base[:min(len(base), longest-4)]
	for n := range tries {
		name := base
		if n > 0 {
			name = fmt.Sprint(base, n+1)
		}
		var err error
		if in.App {
			_, err = AppUserByName.Get(tx, name)
		} else {
			_, err = UserByName.Get(tx, name)
		}
		if errs.Is(err, errs.NotFound) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", errs.New(errs.Conflict, "no free username was found for %s", base)
}

// link creates the identity of a person who has an account.
func link(tx *Tx, who Account, in *Person) (*Identity, error) {
	i := &Identity{ProviderID: in.ProviderID, Issuer: in.Issuer, Subject: in.Subject,
		Email: in.Email, LastLogin: tx.Now()} // connecting is a sign-in there, too
	i.UserID, i.AppUserID = who.IDs()
	mine, err := IdentitiesOf(tx, who)
	if err != nil {
		return nil, err
	}
	if len(mine) >= MaxIdentities {
		return nil, errs.New(errs.Conflict, "the account is already connected to %d providers, which is the maximum",
			MaxIdentities).Coded("too_many_identities")
	}
	return i, Identities.Create(tx, i)
}

// LinkPerson links the account of a person who has signed in to it to an identity at a provider. The
// actor must have confirmed who it is.
func LinkPerson(tx *Tx, who Account, in *Person) (*Identity, error) {
	if err := RequireProof(tx); err != nil {
		return nil, err
	}
	p, err := Providers.Get(tx, in.ProviderID)
	if err == nil && !p.Serves(in.App) || errs.Is(err, errs.NotFound) || in.App != who.App {
		err = errProviderOff
	}
	if err == nil && !p.Accepts(in.Email, in.Verified) {
		err = errProviderDomain
	}
	if err != nil {
		return nil, err
	}
	i, err := IdentityByPerson.Get(tx, personKey(in.App, in.Issuer, in.Subject))
	switch {
	case err == nil && i.Account() == who:
		return i, nil
	case err == nil:
		return nil, errs.New(errs.Conflict,
			"the person as whom you have signed in at the provider is connected to another account here").Coded("provider_other_account")
	case !errs.Is(err, errs.NotFound):
		return nil, err
	}
	return link(tx, who, in)
}
