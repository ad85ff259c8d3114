package mails

import (
	"errors"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Health reports whether mails can be sent.
func (o *Outbox) Health() web.Part {
	p := web.Part{
		Name:    "mail",
		State:   web.Healthy,
		Figures: map[string]int64{"queued": 0, "failed": 0},
	}

	on := false
	err := o.s.DB.View(store.System, func(tx *store.Tx) error {
		queued, err := store.MailByState.Count(tx, store.MailQueued)
		failed, err2 := store.MailByState.Count(tx, store.MailFailed)
		p.Figures["queued"], p.Figures["failed"] = int64(queued), int64(failed)
		switch off := MailOff(o.s, tx); {
		case !store.MailEnabled.Get(tx):
			p.Message = errs.Say("mail is turned off")
		case !off.Empty():
			p.State, p.Message = web.Degraded, errs.Say("mail can't be sent: %s", off)
		default:
			on = true
			p.Message = errs.Say("mail is sent; %d waiting, %d failed within 30 days", queued,
				failed)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		return o.s.UnknownPart("mail", err)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	if fault := o.fault; fault != nil && p.State == web.Healthy && on && o.s.OnDuty() { // otherwise another node has sent since
		p.State, p.Message = web.Degraded, errs.Say("the mail server can't be used: %s",
			responseOf(fault))
	}

	return p
}
