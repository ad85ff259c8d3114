package auth

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

const (
	testCost = 4 // minimum of bcrypt
	password = "correct horse battery"
)

var home = netip.MustParseAddr("192.0.2.1")

// instance is an Auth with a database of its own. The test sets the clock of its
// counters.
type instance struct {
	t testing.TB
	*Auth
	dir string
	now time.Time
}

// start creates a database with the owner role and its user "admin". Cleanup verifies
// the database.
func start(t testing.TB) *instance {
	t.Helper()
	in := &instance{t: t, dir: t.TempDir(), now: time.Now()}
	in.open(testCost)
	t.Cleanup(in.close)
	return in
}

func (in *instance) open(cost int) {
	in.t.Helper()
	db, err := store.Open(in.dir, store.Options{Version: "test", Seed: seed})
	must(in.t, err)
	in.Auth, err = New(db, Options{
		Cost:        cost,
		InitialFile: filepath.Join(in.dir, "initial-password"),
		PublicURL:   "https://reeve.example.org",
	})
	must(in.t, err)
	in.counters = newCounters(func() time.Time { return in.now })
}

// restart closes the instance and opens it again.
func (in *instance) restart(cost int) {
	in.t.Helper()
	must(in.t, in.db.Close())
	in.open(cost)
}

func (in *instance) close() {
	in.view(func(tx *store.Tx) error {
		for _, fault := range tx.Verify().Faults {
			in.t.Errorf("verify: %s", fault)
		}
		return nil
	})
	if err := in.db.Close(); err != nil {
		in.t.Error(err)
	}
}

func seed(tx *store.Tx) error {
	if err := store.AddBuiltins(tx, nil, nil); err != nil {
		return err
	}
	if err := store.Roles.Create(tx, &store.Role{Name: "Owner", Status: true, DataScope: "all"}); err != nil {
		return err
	}
	return addUser(tx, "admin", password)
}

// addUser creates an enabled user with the owner role.
func addUser(tx *store.Tx, name, password string) error {
	u := &store.User{Username: name, Status: true, RoleIDs: []store.ID{store.OwnerRole}}
	if err := store.Users.Create(tx, u); err != nil {
		return err
	}
	hash, err := HashPassword(tx, password, testCost)
	if err != nil {
		return err
	}
	return store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (in *instance) update(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.Update(store.System, fn))
}

func (in *instance) view(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.View(store.System, fn))
}

// user changes a user's record.
func (in *instance) user(id store.ID, edit func(*store.User)) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, id, func(u *store.User) error { edit(u); return nil })
		return err
	})
}

// session changes a session's record.
func (in *instance) session(id store.ID, edit func(s *store.Session, now store.Time)) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		_, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
			edit(s, tx.Now())
			return nil
		})
		return err
	})
	clear(in.sessions.used) // the row counts
}

// set changes a built-in setting.
func (in *instance) set(name, value string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		_, err := store.SaveSetting(tx, store.SettingCache.Get(tx).ID(name),
			func(s *store.Setting) error {
				s.Values = value
				return nil
			})
		return err
	})
}

// try signs in and returns the kind of the error and the number of comparisons.
func (in *instance) try(username, password, addr string) (kind errs.Kind, compared int64, err error) {
	before := in.hasher.compared.Load()
	_, err = in.Login(Attempt{
		Username:  username,
		Password:  password,
		Addr:      netip.MustParseAddr(addr),
		UserAgent: "test",
	})
	if err != nil {
		kind = errs.Of(err).Kind
	}
	return kind, in.hasher.compared.Load() - before, err
}

// fine is the kind for success. Login never returns it.
const fine = errs.Internal

// enter signs in, which must succeed, and returns the token.
func (in *instance) enter(username, password string) string {
	in.t.Helper()
	grant, err := in.Login(Attempt{
		Username:  username,
		Password:  password,
		Addr:      home,
		UserAgent: "test",
	})
	must(in.t, err)
	return grant.Token
}

// who authenticates a token.
func (in *instance) who(token string) (s *Session, err error) {
	in.t.Helper()
	err = in.db.View(store.Anonymous, func(tx *store.Tx) error {
		s, err = in.Authenticate(tx, token, home)
		return err
	})
	return s, err
}

// holds fails the test unless the token's session is open; ended, unless it has ended
// with the code.
func (in *instance) holds(token string) *Session {
	in.t.Helper()
	s, err := in.who(token)
	if err != nil {
		in.t.Fatalf("the session has ended: %v", err)
	}
	return s
}

func (in *instance) ended(token, code string) {
	in.t.Helper()
	_, err := in.who(token)
	if e := errs.Of(err); err == nil || e.Kind != errs.Unauthenticated || e.Code != code {
		in.t.Errorf("the session still holds, or ended otherwise: %v, want %s", err, code)
	}
}

// unlocked ends the lock-out of an account.
func (in *instance) unlocked(who store.Account) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error { return store.UnlockAccount(tx, who) })
	must(in.t, in.unlock())
}
