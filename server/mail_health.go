package server

import (
	"errors"

	"reeve/store"
	"reeve/store/errs"
)

// mailHealth reports whether mails can be sent.
func (s *Server) mailHealth() part {
	p := part{Name: "mail", State: healthy, Figures: map[string]int64{"queued": 0, "failed": 0}}
	on := false
	err := s.db.View(store.System, func(tx *store.Tx) error {
		queued, err := store.MailByState.Count(tx, store.MailQueued)
		failed, err2 := store.MailByState.Count(tx, store.MailFailed)
		p.Figures["queued"], p.Figures["failed"] = int64(queued), int64(failed)
		switch off := s.mailOff(tx); {
		case !store.MailEnabled.Get(tx):
			p.message = errs.Say("mail is turned off")
		case !off.Empty():
			p.State, p.message = degraded, errs.Say("mail can't be sent: %s", off)
		default:
			on = true
			p.message = errs.Say("mail is sent; %d waiting, %d failed within 30 days", queued, failed)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		return s.unknownPart("mail", err)
	}
	s.outbox.mu.Lock()
	defer s.outbox.mu.Unlock()
	if fault := s.outbox.fault; fault != nil && p.State == healthy && on {
		p.State, p.message = degraded, errs.Say("the mail server can't be used: %s", responseOf(fault))
	}
	return p
}
