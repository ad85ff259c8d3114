package mails

import (
	"cmp"

	"reeve/server/web"
	"reeve/store"
)

// LinkPath is the path of links, before the token.
const LinkPath = "/link/"

// PublicURL returns the start of links for the caller: that of the configuration, or else the one
// at which the caller has reached this server.
func PublicURL(req *web.Request) string {
	if url := req.Server.Config.PublicURL; url != "" {
		return url
	}
	scheme := "http://"
	if req.Secure() {
		scheme = "https://"
	}
	return scheme + req.HTTP.Host + req.Server.Config.BasePath
}

// Recipient is the person to whom a link or a mail is addressed.
type Recipient struct {
	Username, Nickname, Email string
}

// name returns how to address the recipient.
func (p *Recipient) name() string { return cmp.Or(p.Nickname, p.Username) }

func RecipientOf(tx *store.Tx, who store.Account) (Recipient, error) {
	u, err := who.Member(tx)
	if err != nil {
		return Recipient{}, err
	}
	return Recipient{*u.Username, *u.Nickname, *u.Email}, nil
}

// callerOf returns the caller as the recipient of an example. An operator has no address.
func callerOf(tx *store.Tx, a *store.Actor) (Recipient, error) {
	if a.IsOperator() {
		return Recipient{Username: a.Username}, nil
	}
	return RecipientOf(tx, store.Account{ID: a.ID})
}
