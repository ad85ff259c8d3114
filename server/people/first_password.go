package people

import (
	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func init() {
	web.Enums(map[string][]string{
		"invite_by":        {"", inviteByMail, inviteByLink},
		"password_sign_in": {store.PasswordByRole, store.PasswordOn, store.PasswordOff},
	})
}

// firstPassword is the part of an input that says how a new user gets a password.
type firstPassword struct {
	Password *string `json:"password" check:"raw,min=8,max=1024" doc:"Password; any characters are allowed. If it and invite are absent, one is generated and returned once, and the user must change it"`
	Invite   *string `json:"invite" check:"enum=invite_by" doc:"mail to mail an invitation, or link to return one, with which the user sets the password; not together with password. Requires the permission to invite, too"`
}

// firstAccess is the password or the invitation of a new user.
type firstAccess struct {
	Password   string       `json:"password,omitempty" doc:"Generated password, which no other response contains; absent unless one was generated"`
	Invitation *OneTimeLink `json:"invitation,omitempty" doc:"The invitation; absent unless there is one"`
}

// Ways to invite a person.
const (
	inviteByMail = "mail"
	inviteByLink = "link"
)

// firstSecret returns the password of a new user; nil for an invitation, which needs a permission,
// too.
func firstSecret(req *web.Request, username string, in *firstPassword,
	permission string) (*auth.Secret, error) {
	if in.Invite == nil || *in.Invite == "" {
		return req.Server.Auth.NewSecret(username, "password", in.Password)
	}
	if in.Password != nil {
		return nil, errs.Field(errs.Invalid, "invite", "conflicts with %s", "password")
	}
	return nil, req.DB.View(req.Actor, func(tx *store.Tx) error {
		return web.Demand(tx, permission)
	})
}

// giveAccess stores the password of a new user, or makes the invitation.
func giveAccess(req *web.Request, tx *store.Tx, who store.Account, secret *auth.Secret,
	in *firstPassword) (out firstAccess, err error) {
	if secret != nil {
		out.Password = secret.Generated
		return out, store.SetHash(tx, who, secret.Hash, secret.Generated != "", 0)
	}
	out.Invitation, err = makeLink(tx, req, store.Invitation, who, *in.Invite == inviteByMail)
	return out, err
}
