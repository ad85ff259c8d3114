package store

import (
	"errors"

	"reeve/store/errs"
	"reeve/store/kv"
)

// The results of a sign-in.
const (
	LoginSucceeded = "success"
	LoginFailed    = "failed"
	LoginThrottled = "throttled"
)

// LoginLog is one attempt to sign in, or all rate-limited ones with the same name and address
// in a minute.
type LoginLog struct {
	Ident
	UserID      ID     `json:"user_id" doc:"ID of the user; 0 if the name is unknown or that of an app user"`
	AppUserID   ID     `json:"app_user_id" doc:"ID of the app user; 0 otherwise"`
	Username    string `json:"username" doc:"Username as typed if a user has this name, or that of the app user whose e-mail address or mobile number was typed; empty otherwise"`
	Fingerprint string `json:"fingerprint" doc:"Keyed hash of what was typed if it names no user; empty otherwise. Equal texts have equal fingerprints"`
	Realm       string `json:"realm" doc:"Realm: admin or app"`
	Result      string `json:"result" doc:"Result: success, failed or throttled"`
	Reason      string `json:"reason" doc:"Reason of a failure: unknown_user, wrong_password, wrong_code, disabled or pending; or rate_limited if the password was not compared, because there were too many attempts for the app user under other names"`
	IP          string `json:"ip"`
	Browser     string `json:"browser"`
	OS          string `json:"os"`
	SessionID   ID     `json:"session_id" doc:"ID of the new session; 0 if there is none"`
	Count       int64  `json:"count" doc:"Number of attempts that the row represents"`
	Provider    string `json:"provider_name" doc:"Title of the sign-in provider that the person came from; empty otherwise"`
	AttemptedAt Time   `json:"attempted_at" null:"true" doc:"Time of the attempt if the row was kept in memory while the disk was full and stored later; null otherwise"`
	kv.Timestamps
}

// LoginLogs and their indexes. Rows are kept when their user is deleted, and deleted
// when the user is erased.
var (
	LoginLogs         = kv.NewCollection[LoginLog]("login_log").Unlogged()
	LoginLogByUser    = refToUser(LoginLogs, func(l *LoginLog) ID { return l.UserID }, kv.Dangle)
	LoginLogByAppUser = refToAppUser(LoginLogs, func(l *LoginLog) ID {
		return l.AppUserID
	}, kv.Dangle)
	LoginLogByResult  = kv.NewEach(LoginLogs, "result", func(l *LoginLog) string { return l.Result })
	LoginLogByRealm   = kv.NewEach(LoginLogs, "realm", func(l *LoginLog) string { return l.Realm })
	LoginLogByCreated = kv.NewEach(LoginLogs, "created_at", func(l *LoginLog) Time {
		return l.CreatedAt
	})
	LoginLogSearch = kv.NewSearch(LoginLogs, loginTexts)

	_ = LoginLogs.Constraint(anonymizeLate)
)

// Account returns the account that the attempt was for; the zero value if there is none.
func (l *LoginLog) Account() Account { return accountOf(l.UserID, l.AppUserID) }

// FailedLogins returns the newest failed or rate-limited attempt to sign in to an account, and the
// number of them since a time and since the last sign-in; nil without one. It reads at most 100 rows. All
// nodes write to the log, so that it also has the attempts that other nodes count.
func FailedLogins(tx *Tx, who Account, since Time) (last *LoginLog, n int64, err error) {
	ids, err := LoginLogs.FindIDs(tx, kv.Query[LoginLog]{
		Where:      []kv.Condition{ByRealm(who.App, LoginLogByUser, LoginLogByAppUser).AnyOf(who.ID)},
		Descending: true,
		Limit:      100,
	})
	for _, id := range ids {
		row, err := LoginLogs.Get(tx, id)
		if err != nil {
			return nil, 0, err
		}
		if row.CreatedAt < since || row.Result == LoginSucceeded {
			break
		}
		if n += row.Count; last == nil {
			last = row
		}
	}
	return last, n, err
}

// anonymizeLate removes the person from a row that was kept in memory until after the person was
// erased.
func anonymizeLate(tx *Tx, old, new *LoginLog) error {
	if old != nil || new == nil {
		return nil
	}
	who := new.Account()
	if who.ID == 0 || who.exists(tx) {
		return nil
	}
	_, err := KeyByPerson.Get(tx, who.Person())
	if errs.Is(err, errs.NotFound) {
		new.UserID, new.AppUserID, new.Username, new.IP, new.Browser, new.OS, err = 0, 0, "", "", "", "", nil
	}
	return err
}

// loginTexts returns the searched texts. A row without a fingerprint has the same texts as a
// row from before fingerprints existed.
func loginTexts(l *LoginLog) []string {
	texts := []string{l.Username, l.IP}
	if l.Fingerprint != "" {
		texts = append(texts, l.Fingerprint)
	}
	return texts
}

// oldestLogins returns rows to delete: rate-limited or failed attempts if these are more than
// half of keep, so that a flood of them cannot displace the other rows.
func oldestLogins(tx *Tx, keep, limit int) ([]ID, error) {
	for _, result := range []string{LoginThrottled, LoginFailed} {
		n, err := LoginLogByResult.Count(tx, result)
		if err != nil {
			return nil, err
		}
		if n > keep/2 {
			return LoginLogs.FindIDs(tx, kv.Query[LoginLog]{
				Where: []kv.Condition{LoginLogByResult.AnyOf(result)},
				Limit: limit,
			})
		}
	}
	return LoginLogs.FindIDs(tx, kv.Query[LoginLog]{Limit: limit})
}

// TrimLoginLog deletes up to limit of the oldest rows that are older than before or exceed keep
// rows, and reports whether there may be more.
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
