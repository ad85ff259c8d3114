package auth

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// logged returns the rows of the login log with a result.
func (in *instance) logged(result string) (rows []*store.LoginLog) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		for row, err := range store.LoginLogs.All(tx) {
			must(in.t, err)
			if row.Result == result {
				rows = append(rows, row)
			}
		}
		return nil
	})
	return rows
}

// TestLoginLog_ThrottledShareRow checks that throttled attempts share a row per name, address and
// minute.
func TestLoginLog_ThrottledShareRow(t *testing.T) {
	in := start(t)
	in.wrong(5+7, "admin", "203.0.113.1")
	in.wrong(2, "ADMIN", "203.0.113.1")
	in.wrong(5+3, "nobody", "203.0.113.2")
	if n := len(in.logged(store.LoginThrottled)); n != 0 {
		t.Errorf("%d rows before the minute is over", n)
	}

	must(t, in.tidy())
	want := map[string]int64{
		"admin  203.0.113.1":                            9,
		" " + in.fingerprint("nobody") + " 203.0.113.2": 3,
	}

	rows := in.logged(store.LoginThrottled)
	for _, r := range rows {
		if key := r.Username + " " + r.Fingerprint + " " + r.IP; want[key] != r.Count ||
			r.Realm != "admin" || r.SessionID != 0 || r.UserID != 0 {
			t.Errorf("%+v", r)
		}
	}

	if failed := in.logged(store.LoginFailed); len(rows) != 2 || len(failed) != 10 {
		t.Errorf("%d throttled and %d failed rows", len(rows), len(failed))
	}

	must(t, in.tidy())
	in.wrong(1, "admin", "203.0.113.1")
	must(t, in.tidy())
	if rows := in.logged(store.LoginThrottled); len(rows) != 3 || rows[2].Count != 1 {
		t.Errorf("%d rows after another minute", len(rows))
	}
}

// TestLoginLog_FloodAddsFewRows checks that a flood of names cannot displace the history.
func TestLoginLog_FloodAddsFewRows(t *testing.T) {
	in := start(t)
	for i := range maxThrottledRows + 50 {
		in.throttled.count(Attempt{Username: fmt.Sprint("name", i), Addr: home})
		in.throttled.count(Attempt{
			App:      true,
			Username: "same",
			Addr:     netip.MustParseAddr(fmt.Sprintf("198.51.100.%d", i)),
		})
	}

	must(t, in.tidy())
	rows, attempts, nameless := in.logged(store.LoginThrottled), int64(0), map[string]int64{}
	for _, r := range rows {
		attempts += r.Count
		if r.Username == "" {
			nameless[r.Realm+r.IP] = r.Count
		}
	}

	if len(rows) != maxThrottledRows+2 || attempts != 2*(maxThrottledRows+50) ||
		nameless["admin"] != 100 || nameless["app"] != 100 {
		t.Errorf("%d rows of %d attempts, without a name %v", len(rows), attempts, nameless)
	}
}

func TestLoginLog_Bound(t *testing.T) {
	in := start(t)
	in.options.LoginLogRows = 1000
	in.update(func(tx *store.Tx) error {
		for i := range 1010 {
			if err := store.LoginLogs.Create(tx, &store.LoginLog{
				Username: fmt.Sprint("name", i),
				Result:   store.LoginFailed,
				Count:    1,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, in.tidy())
	if rows := in.logged(store.LoginFailed); len(rows) != 1000 || rows[0].Username != "name10" ||
		rows[999].Username != "name1009" {
		t.Errorf("%d rows, the first of %s", len(rows), rows[0].Username)
	}

	in.update(func(tx *store.Tx) error {
		_, err := store.TrimLoginLog(tx, tx.Now().Add(-24*time.Hour), 1000, 1000)
		return err
	})
	if n := len(in.logged(store.LoginFailed)); n != 1000 {
		t.Errorf("%d rows that are not a day old", n)
	}

	in.update(func(tx *store.Tx) error {
		_, err := store.TrimLoginLog(tx, tx.Now().Add(time.Second), 1000, 300)
		return err
	})
	if n := len(in.logged(store.LoginFailed)); n != 700 {
		t.Errorf("%d rows after 300 old ones were deleted", n)
	}
}

// TestAppUserLogin_FailuresAlike checks that every failed sign-in costs one comparison and has the
// same error, as in the admin realm.
func TestAppUserLogin_FailuresAlike(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error {
		for _, u := range []store.AppUser{{Username: "ann", Status: true}, {Username: "off"}, {
			Username: "bare",
			Status:   true,
		}} {
			if err := store.AppUsers.Create(tx, &u); err != nil {
				return err
			}
			hash, err := HashPassword(tx, password, testCost)
			if err == nil && u.Username != "bare" {
				err = store.SetHash(tx, store.Account{App: true, ID: u.ID}, hash, false, 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for i, c := range []struct{ username, password string }{
		{"ann", "wrong"}, {"ann", ""}, {"off", password}, {"off", "wrong"}, {"bare", password},
		{"bare", ""}, {"nobody", password}, {"admin", password}, {"", ""},
	} {
		before := in.hasher.compared.Load()
		_, err := in.Login(Attempt{
			App:      true,
			Username: c.username,
			Password: c.password,
			Addr:     netip.MustParseAddr(fmt.Sprintf("203.0.113.%d", i+1)),
		})
		if n := in.hasher.compared.Load() - before; err != errWrong || n != 1 {
			t.Errorf("%q with %q: %v after %d comparisons", c.username, c.password, err, n)
		}
	}

	var reasons []string
	for _, r := range in.logged(store.LoginFailed) {
		reasons = append(reasons, r.Reason)
	}

	if got := strings.Join(reasons, " "); got != "wrong_password wrong_password disabled wrong_password wrong_password wrong_password unknown_user unknown_user unknown_user" {
		t.Errorf("the reasons are %s", got)
	}
}
