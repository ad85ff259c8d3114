package providers

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

type backChannelIn struct {
	Name  string `path:"name"`
	Token string `form:"logout_token" check:"required,max=200000"`
}

// backChannel ends the sessions of a person who has signed out at the provider.
func (p *Providers) backChannel(req *web.Request, in *backChannelIn) (web.Nothing, error) {
	if err := p.limit(req); err != nil {
		return web.Nothing{}, err
	}
	v, config, err := p.find(req, openID(in.Name))
	if err != nil {
		return web.Nothing{}, err
	}
	out, err := p.client.Logout(req.HTTP.Context(), config, in.Token)
	if errs.Is(err, errs.Denied) {
		bad := *errs.Of(err)
		bad.Kind = errs.Malformed // as the standard has it
		err = &bad
	}
	if err != nil {
		return web.Nothing{}, err
	}
	message := store.UsedValue{
		Kind:      "logout",
		Hash:      fmt.Sprintf("%x", sha256.Sum256([]byte("logout "+v.Name+" "+out.ID))),
		ExpiresAt: kv.TimeOf(time.Now().Add(messageLife)),
	}
	return web.Nothing{}, req.DB.Update(store.System, func(tx *store.Tx) error {
		if err := store.UseValue(tx, message); err != nil {
			if errors.Is(err, store.ErrUsed) {
				err = errs.New(errs.Malformed, "this logout token was used already").Coded("provider_replay")
			}
			return err
		}
		return store.EndPersonSessions(tx, v.ID, out.Issuer, out.Subject, out.SID)
	})
}

// messageLife is longer than logout messages are accepted.
const messageLife = 15 * time.Minute
