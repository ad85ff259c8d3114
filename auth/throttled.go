package auth

import (
	"sync"

	"reeve/store"
)

// throttled gathers the attempts that were refused unheard, so that a flood of
// them costs the login log a few rows a minute and cannot push history out.
type throttled struct {
	mu   sync.Mutex
	rows map[throttledKey]*store.LoginLog
}

// throttledKey is what one row of the log stands for, within a minute.
type throttledKey struct{ realm, name, ip string }

// maxThrottledRows bounds the rows of one minute; the rest are counted in one row
// without a name.
const maxThrottledRows = 100

// note counts a refused attempt.
func (t *throttled) note(in Attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := throttledKey{realm(in.App), in.key(), in.Addr.String()}
	if t.rows[key] == nil && len(t.rows) >= maxThrottledRows {
		in.Username, in.fingerprint, key = "", "", throttledKey{realm: key.realm}
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
		t.rows = map[throttledKey]*store.LoginLog{}
	}
	t.rows[key] = row
}

// take returns the rows gathered since the last call.
func (t *throttled) take() map[throttledKey]*store.LoginLog {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.rows
	t.rows = nil
	return rows
}
