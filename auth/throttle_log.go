package auth

import (
	"sync"

	"reeve/store"
)

// throttleLog aggregates rate-limited attempts, so that a flood of them adds only a few
// rows a minute to the login log and cannot displace its history.
type throttleLog struct {
	mu   sync.Mutex
	rows map[throttleKey]*store.LoginLog
}

// throttleKey identifies a row of the log within a minute.
type throttleKey struct{ realm, name, ip string }

// maxThrottledRows bounds the rows of one minute. Further attempts are counted in one
// row without a name for each realm.
const maxThrottledRows = 100

// count counts a rate-limited attempt.
func (t *throttleLog) count(in Attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := throttleKey{realm(in.App), in.key(), in.Addr.String()}
	if t.rows[key] == nil && len(t.rows) >= maxThrottledRows {
		in.Username, in.fingerprint, key = "", "", throttleKey{realm: key.realm}
	}
	if row := t.rows[key]; row != nil {
		row.Count++
		return
	}

	row := logRow(in, store.LoginThrottled)
	if key.ip == "" {
		row.IP, row.Browser, row.OS = "", "", ""
	}
	if t.rows == nil {
		t.rows = map[throttleKey]*store.LoginLog{}
	}

	t.rows[key] = row
}

// take returns and removes the rows of the attempts since the last call.
func (t *throttleLog) take() map[throttleKey]*store.LoginLog {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.rows
	t.rows = nil
	return rows
}
