package store

import (
	"errors"
)

// withdrawnProvider is how far a sign-in provider may be used that was restricted since.
type withdrawnProvider struct {
	ID       ID
	Status   Flag
	Users    Flag
	AppUsers Flag
}

// providers compares sign-in providers, and who is connected to them.
func (c *comparison) providers() error {
	return errors.Join(
		each(c, Providers, func(p *Provider) ID { return p.ID }, func(p, later *Provider) {
			left := withdrawnProvider{p.ID, p.Status, p.Users, p.AppUsers}
			if later == nil {
				left.Status = false
			} else {
				left.Status, left.Users, left.AppUsers =
					p.Status && later.Status, p.Users && later.Users, p.AppUsers && later.AppUsers
			}
			switch {
			case left == withdrawnProvider{p.ID, p.Status, p.Users, p.AppUsers}:
				return
			case left.Status != p.Status:
				c.say("sign-in provider %s: it was disabled or deleted", p.Name)
			case left.Users != p.Users:
				c.say("sign-in provider %s: it was turned off for users", p.Name)
			default:
				c.say("sign-in provider %s: it was turned off for app users", p.Name)
			}
			c.found.Providers = append(c.found.Providers, left)
		}),
		each(c, Identities, func(i *Identity) ID { return i.ID }, func(i, later *Identity) {
			if later != nil || c.gone(i.UserID, i.AppUserID) || c.connectedAgain(i) {
				return
			}
			c.found.Identities = append(c.found.Identities, i.ID)
			provider := i.Issuer
			if p, err := Providers.Get(c.restored, i.ProviderID); err == nil {
				provider = p.Name
			}
			c.of(i.UserID, i.AppUserID, "connection to the sign-in provider "+provider)
		}))
}

// connectedAgain reports whether a connection that was removed exists again, for the same account.
func (c *comparison) connectedAgain(i *Identity) bool {
	again, err := IdentityByPerson.Get(c.replaced, personKey(i.Account().App, i.Issuer, i.Subject))
	return err == nil && again.Account() == i.Account()
}

// withdraw restricts a provider as it was.
func (p *withdrawnProvider) withdraw(tx *Tx) error {
	return quietly(tx, Providers, p.ID, func(v *Provider) {
		v.Status, v.Users, v.AppUsers = p.Status, p.Users, p.AppUsers
	})
}
