package auth

import (
	"errors"

	"github.com/mileusna/useragent"

	"reeve/store"
	"reeve/store/errs"
)

// refusal returns the answer to an attempt that fails. Only a person with the password learns that
// passwords are turned off.
func refusal(who *candidate, same bool) error {
	if same && who.enabled && who.off {
		return store.ErrPasswordOff
	}
	return errWrong
}

// failure returns why an attempt fails.
func failure(who *candidate, same, barred bool) string {
	switch {
	case who == nil:
		return "unknown_user"
	case barred:
		return "rate_limited"
	case same && who.pending:
		return "pending"
	case same && who.enabled && who.off:
		return "password_off"
	case same:
		return "disabled"
	}
	return "wrong_password"
}

// failed logs a failed attempt and returns the error for the caller, which is answer unless the
// attempt can't be logged.
func (a *Auth) failed(in Attempt, who *candidate, reason string, device *deviceUse,
	answer error) error {
	row := logRow(in, store.LoginFailed)
	row.Reason = reason
	if who != nil {
		row.UserID, row.AppUserID = who.account.IDs()
		if in.Failed != nil {
			in.Failed()
		}
	}

	err := a.db.Update(store.System, func(tx *store.Tx) error {
		return errors.Join(store.LoginLogs.Create(tx, row), device.failed(tx))
	})
	if errs.Is(err, errs.Full) {
		a.held.addRow(row)
		err = nil
	}
	if err != nil {
		return err
	}

	return answer
}

// logRow returns a row of the login log for an attempt.
func logRow(in Attempt, result string) *store.LoginLog {
	ua := useragent.Parse(in.UserAgent)
	return &store.LoginLog{
		Username:    in.Username,
		Fingerprint: in.fingerprint,
		Realm:       realm(in.App),
		Result:      result,
		IP:          in.Addr.String(),
		Count:       1,
		Browser:     version(ua.Name, ua.Version),
		OS:          version(ua.OS, ua.OSVersion),
		Provider:    in.Provider,
	}
}

func version(name, version string) string {
	text := name
	if name != "" && version != "" {
		text += " " + version
	}
	return text[:min(len(text), 100)]
}
