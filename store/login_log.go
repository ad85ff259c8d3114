package store

import (
	"errors"

	"reeve/store/errs"
)

// The results of a login attempt.
const (
	LoginSucceeded = "success"
	LoginFailed    = "failed"
	LoginThrottled = "throttled"
)

// LoginLog is one attempt to sign in, or the throttled ones of one name and
// address in one minute.
type LoginLog struct {
	Ident
	UserID      ID     `json:"user_id" doc:"0 when nobody has that name, or it is an app user's"`
	AppUserID   ID     `json:"app_user_id" doc:"0 unless an app user signed in"`
	Username    string `json:"username" doc:"as typed, if a user had this name; else empty"`
	Fingerprint string `json:"fingerprint" doc:"of the name that was typed, if no user had it: the same for the same name; else empty"`
	Realm       string `json:"realm" doc:"admin or app"`
	Result      string `json:"result" doc:"success, failed or throttled"`
	Reason      string `json:"reason" doc:"of a failure: unknown_user, wrong_password, disabled"`
	IP          string `json:"ip"`
	Browser     string `json:"browser"`
	OS          string `json:"os"`
	SessionID   ID     `json:"session_id" doc:"0 when none was opened"`
	Count       int64  `json:"count" doc:"attempts that this row stands for"`
	AttemptedAt Time   `json:"attempted_at" null:"true" doc:"Time of the attempt if the row was kept in memory while the disk was full and stored later; null otherwise"`
	Stamps
}

// LoginLogs outlive the users they tell of.
var (
	LoginLogs         = NewCollection[LoginLog]("login_log")
	LoginLogByUser    = NewRef(LoginLogs, "user_id", Users, func(l *LoginLog) ID { return l.UserID }, Loose)
	LoginLogByResult  = NewMany(LoginLogs, "result", func(l *LoginLog) []string { return []string{l.Result} })
	LoginLogByRealm   = NewMany(LoginLogs, "realm", func(l *LoginLog) []string { return []string{l.Realm} })
	LoginLogByCreated = NewMany(LoginLogs, "created_at", func(l *LoginLog) []Time { return []Time{l.CreatedAt} })
	LoginLogSearch    = NewSearch(LoginLogs, loginTexts)
)

// loginTexts are searched. A row without a fingerprint has the same texts as one that
// was stored before there were fingerprints.
func loginTexts(l *LoginLog) []string {
	texts := []string{l.Username, l.IP}
	if l.Fingerprint != "" {
		texts = append(texts, l.Fingerprint)
	}
	return texts
}

// oldestLogins picks rows to make room: refused attempts while they are more than
// half of what is kept, so that a flood of them cannot push the others out.
func oldestLogins(tx *Tx, keep, limit int) ([]ID, error) {
	for _, result := range []string{LoginThrottled, LoginFailed} {
		n, err := LoginLogByResult.Count(tx, result)
		if err != nil {
			return nil, err
		}
		if n > keep/2 {
			return LoginLogs.FindIDs(tx, Query[LoginLog]{Where: []Condition{LoginLogByResult.AnyOf(result)}, Limit: limit})
		}
	}
	return LoginLogs.FindIDs(tx, Query[LoginLog]{Limit: limit})
}

// TrimLoginLog deletes up to limit of the oldest rows that are older than before,
// or too many beyond keep, and reports whether there may be more.
func TrimLoginLog(tx *Tx, before Time, keep, limit int) (more bool, err error) {
	ids, err := LoginLogByCreated.Below(tx, before, limit)
	total, err2 := LoginLogs.Count(tx)
	if err := errors.Join(err, err2); err != nil {
		return false, err
	}
	if over := min(total-keep, limit); over > len(ids) {
		if ids, err = oldestLogins(tx, keep, over); err != nil {
			return false, err
		}
	}
	for _, id := range ids {
		if err := LoginLogs.Delete(tx, id); err != nil && !errs.Is(err, errs.NotFound) {
			return false, err
		}
	}
	return len(ids) == limit, nil
}
