package ops

import (
	"reeve/server/web"
	"reeve/store/errs"
	"reeve/store/kv"
)

// PasswordHealth reports whether the list of leaked passwords can be read: otherwise no one can set
// a password.
func PasswordHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "passwords",
		State:   web.Healthy,
		Message: errs.Say("no list of leaked passwords is configured (auth.breached_passwords)"),
		Figures: map[string]int64{},
	}

	listed, since, err := s.Auth.BreachedFault()
	switch {
	case err != nil:
		p.State, p.Message = web.Degraded, errs.Say("no password can be set, because the list of leaked ones can't be read (auth.breached_passwords): %s", err)
		if !since.IsZero() {
			p.Since = kv.TimeOf(since)
		}
	case listed:
		p.Message = errs.Say("new passwords are looked up in the list of leaked ones")
	}

	return p
}
