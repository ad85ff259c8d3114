package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// passwordHealth reports whether the list of leaked passwords can be read: otherwise nobody can set a password.
func (s *Server) passwordHealth() part {
	p := part{Name: "passwords", State: healthy, message: errs.Say("no list of leaked passwords is configured (auth.breached_passwords)"), Figures: map[string]int64{}}
	listed, since, err := s.auth.BreachedFault()
	switch {
	case err != nil:
		p.State, p.message = degraded, errs.Say("no password can be set, because the list of leaked ones can't be read (auth.breached_passwords): %s", err)
		if !since.IsZero() {
			p.Since = store.TimeOf(since)
		}
	case listed:
		p.message = errs.Say("new passwords are looked up in the list of leaked ones")
	}
	return p
}
