package server

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"reeve/auth"
	"reeve/embed"
	"reeve/store"
)

// ownerPassword is the first user's in every test instance.
const ownerPassword = "correct horse battery"

// commonPasswords are those of the program.
var commonPasswords = sync.OnceValue(embed.CommonPasswords)

// metricsSecret is the token of the metrics in every test instance, where the
// program that knows it is called "metrics".
const metricsSecret = "a-token-of-the-metrics"

// testCost is bcrypt's least.
const testCost = 4

// size picks a count: long on demand, medium in CI, small otherwise.
func size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// instance is a whole Reeve over its own files: the real handler, nothing faked.
type instance struct {
	t      testing.TB
	dir    string
	db     *store.DB
	auth   *auth.Auth
	server *Server
	tokens map[string]string // by the name that a test calls somebody
	last   atomic.Int64      // numbers made-up names

	damaged bool // the test has damaged bytes of files
}

// setup is what differs between instances.
type setup struct {
	config Config
	log    io.Writer // where the log goes, at debug; nowhere when nil
	seed   fs.FS
	must   bool // the first user must change the password
	cost   int
	file   string // of the first user's generated password; "" for none
}

// start makes an instance with one signed-in user, "owner". Its end verifies
// the whole database.
func start(t testing.TB, options ...func(*setup)) *instance {
	t.Helper()
	in := open(t, t.TempDir(), options...)
	in.tokens["owner"] = in.signIn(auth.FirstUser)
	return in
}

// open opens the database in dir, made anew when there is none.
func open(t testing.TB, dir string, options ...func(*setup)) *instance {
	t.Helper()
	files, err := fs.Sub(embed.Seed, "seed")
	must(t, err)
	must(t, os.Chmod(dir, 0o700)) // as the program makes it; t.TempDir lets everybody read
	su := setup{seed: files, cost: testCost, config: Config{Version: "test", MetricsToken: metricsSecret}}
	for _, o := range options {
		o(&su)
	}
	in := &instance{t: t, dir: dir, tokens: map[string]string{"nobody": "", "metrics": metricsSecret}}
	seed := &Seed{Files: su.seed, Password: ownerPassword, Cost: testCost, MustChange: su.must}
	in.db, err = store.Open(dir, store.Options{Version: "test", Keys: Keys(), Seed: seed.Create, Upgrade: seed.Upgrade})
	must(t, err)
	t.Cleanup(in.close)
	in.auth, err = auth.New(in.db, auth.Options{Cost: su.cost, Common: commonPasswords(), InitialFile: su.file})
	must(t, err)
	logger := zerolog.Nop()
	if su.log != nil {
		logger = zerolog.New(su.log).Level(zerolog.DebugLevel)
	}
	in.server, err = New(su.config, in.db, in.auth, logger)
	must(t, err)
	return in
}

// close verifies and closes; the second call does nothing.
func (in *instance) close() {
	if in.db == nil {
		return
	}
	err := in.db.View(store.System, func(tx *store.Tx) error {
		for _, fault := range tx.Verify().Faults {
			in.t.Errorf("verify: %s", fault)
		}
		return nil
	})
	if err != nil {
		in.t.Errorf("verify: %v", err)
	}
	if _, err := in.db.FilesOpened(); err == nil && !in.damaged {
		var report store.Report
		if err := in.db.VerifyFiles(&report); err != nil || len(report.Faults) > 0 {
			in.t.Errorf("verify files: %v %q", err, report.Faults)
		}
	}
	if err := in.db.Close(); err != nil {
		in.t.Errorf("close: %v", err)
	}
	in.db = nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until polls a condition that another goroutine brings about.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never happened that %s", what)
}

// update and view work on the store directly, as the system.
func (in *instance) update(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.Update(store.System, fn))
}

func (in *instance) view(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.View(store.System, fn))
}

// signIn opens a session without a password and returns its token.
func (in *instance) signIn(user store.ID) (token string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{UserID: user, IP: "192.0.2.1"})
		return err
	})
	return token
}

// appSignIn is signIn in the other realm.
func (in *instance) appSignIn(user store.ID) (token string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{AppUserID: user, IP: "192.0.2.1"})
		return err
	})
	return token
}

// clerk makes a signed-in user, called name in the tests, whose one role holds
// these permission keys and nothing else. The password is ownerPassword too.
func (in *instance) clerk(name string, keys ...string) *store.User {
	in.t.Helper()
	u := &store.User{Username: name, Status: true}
	in.update(func(tx *store.Tx) error {
		role := &store.Role{Name: fmt.Sprintf("role %d of %s", in.last.Add(1), name), Status: true, DataScope: "all", RuleIDs: []store.ID{}}
		for _, key := range keys {
			p, err := store.PermissionByKey.Get(tx, key)
			if err != nil {
				return fmt.Errorf("permission %s: %w", key, err)
			}
			role.RuleIDs = append(role.RuleIDs, p.ID)
		}
		if err := store.Roles.Create(tx, role); err != nil {
			return err
		}
		u.ID, u.RoleIDs = 0, []store.ID{role.ID}
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		hash, err := auth.HashPassword(tx, ownerPassword, testCost)
		if err != nil {
			return err
		}
		return store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0)
	})
	in.tokens[name] = in.signIn(u.ID)
	return u
}

// appUser makes a signed-in user of the other realm, with ownerPassword.
func (in *instance) appUser(name string) *store.AppUser {
	in.t.Helper()
	var token string
	u := &store.AppUser{}
	in.update(func(tx *store.Tx) error {
		*u = store.AppUser{Username: name, Status: true}
		if err := store.AppUsers.Create(tx, u); err != nil {
			return err
		}
		hash, err := auth.HashPassword(tx, ownerPassword, testCost)
		if err != nil {
			return err
		}
		if err := store.SetHash(tx, store.Account{App: true, ID: u.ID}, hash, false, 0); err != nil {
			return err
		}
		token, err = auth.Open(tx, &store.Session{AppUserID: u.ID, IP: "192.0.2.1"})
		return err
	})
	in.tokens[name] = token
	return u
}

// permission returns the id of a seeded permission.
func (in *instance) permission(key string) (id store.ID) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		p, err := store.PermissionByKey.Get(tx, key)
		if err == nil {
			id = p.ID
		}
		return err
	})
	return id
}

// setting returns the id of a setting by its full name.
func (in *instance) setting(name string) (id store.ID) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		id = store.SettingSet.Get(tx).ID(name)
		return nil
	})
	if id == 0 {
		in.t.Fatalf("there is no setting %s", name)
	}
	return id
}

// dump is every record of the database, as "collection id" → JSON.
func (in *instance) dump() map[string]string {
	in.t.Helper()
	all := map[string]string{}
	in.view(func(tx *store.Tx) error {
		for _, part := range []map[string]string{
			walk(in, tx, "permission", store.Permissions), walk(in, tx, "role", store.Roles),
			walk(in, tx, "user", store.Users), walk(in, tx, "hash", store.PasswordHashes),
			walk(in, tx, "session", store.Sessions), walk(in, tx, "token", store.SessionTokens),
			walk(in, tx, "group", store.SettingGroups), walk(in, tx, "setting", store.Settings),
			walk(in, tx, "secret", store.SettingSecrets), walk(in, tx, "install", store.Installs),
			walk(in, tx, "dept", store.Depts), walk(in, tx, "app_user", store.AppUsers), walk(in, tx, "login_log", store.LoginLogs),
			walk(in, tx, "dict", store.Dicts), walk(in, tx, "dict_item", store.DictItems),
			walk(in, tx, "job", store.Jobs), walk(in, tx, "job_step", store.JobSteps),
			walk(in, tx, "file", store.Files), walk(in, tx, "file_group", store.FileGroups), walk(in, tx, "avatar", store.Avatars),
		} {
			maps.Copy(all, part)
		}
		return nil
	})
	return all
}

func walk[T any](in *instance, tx *store.Tx, name string, c *store.Collection[T]) map[string]string {
	all := map[string]string{}
	for v, err := range c.All(tx) {
		must(in.t, err)
		all[fmt.Sprintf("%s %s", name, ident(v))] = string(encodeJSON(in.t, v))
	}
	return all
}

// request builds a request; a body makes it a JSON one.
func (in *instance) request(method, url, body, as string) *http.Request {
	in.t.Helper()
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	token, known := in.tokens[as]
	if !known {
		in.t.Fatalf("nobody here is called %q", as)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// rawJSON is JSON that is encoded as it stands.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func decodeObject(t testing.TB, text string) map[string]any {
	t.Helper()
	var object map[string]any
	must(t, json.Unmarshal([]byte(text), &object))
	return object
}
