package providers

import (
	"sync"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
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
	if !p.seen.add(v.Name + " " + out.ID) {
		return web.Nothing{}, errs.New(errs.Malformed, "this logout token was used already").Coded("provider_replay")
	}
	return web.Nothing{}, req.DB.Update(store.System, func(tx *store.Tx) error {
		return store.EndPersonSessions(tx, v.ID, out.Issuer, out.Subject, out.SID)
	})
}

// messages are the logout messages that were accepted, so that each is accepted once.
type messages struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func newMessages() *messages { return &messages{seen: map[string]time.Time{}} }

const (
	messageLife = 15 * time.Minute // longer than tokens are accepted
	maxMessages = 10_000
)

// add reports whether a message is new.
func (m *messages) add(id string) bool {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) >= maxMessages {
		for id, at := range m.seen {
			if now.Sub(at) > messageLife {
				delete(m.seen, id)
			}
		}
	}
	if _, known := m.seen[id]; known || len(m.seen) >= maxMessages {
		return false
	}
	m.seen[id] = now
	return true
}
