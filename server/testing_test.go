package server

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
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
	"reeve/auth/breached"
	"reeve/embed"
	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// ownerPassword is the first user's password in every test instance.
const ownerPassword = "correct horse battery"

// commonPasswords are the program's rejected passwords.
var commonPasswords = sync.OnceValue(embed.CommonPasswords)

// metricsSecret is the metrics token in every test instance. Requests as "metrics" send
// it.
const metricsSecret = "a-token-of-the-metrics"

// testCost is the minimum cost of bcrypt.
const testCost = 4

// size returns a count: long if requested, medium in CI, small otherwise.
func size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// third returns a filter that keeps a random third of the rows of a large table, and all of them
// in CI and in long tests. It is for what a row repeats: something of every route, field and
// setting has to remain. The seed is logged; REEVE_TEST_SEED sets it.
func third(t testing.TB) func() bool {
	t.Helper()
	if size(3, 1, 1) == 1 {
		return func() bool { return true }
	}
	random := disktest.Random(t)
	return func() bool { return random.IntN(3) == 0 }
}

// instance is a complete Reeve with its own files and the real handler.
type instance struct {
	t      testing.TB
	dir    string
	db     *store.DB
	auth   *auth.Auth
	server *Server
	tokens map[string]string // by the name that a test uses for the caller
	last   atomic.Int64      // number of generated names

	credential credential // with which signIn signs users in

	recording bool // the journal of monitoring is open

	damaged bool // whether the test has damaged bytes of files

	lastDump *dumpState
}

// setup is the configuration that differs between instances.
type setup struct {
	config web.Config
	log    io.Writer // destination of the log, at debug level; nil for none
	seed   fs.FS
	must   bool // whether the first user must change the password
	cost   int
	file   string // file with the first user's generated password; "" for none
	leaked *breached.List
	drain  uint64 // entries of the change log from which they are moved to a segment; 0 for the default
}

// start returns an instance with one signed-in user, "owner". Cleanup verifies the
// whole database. It is a copy of one that was created before, unless an option says how it is
// created, or the time is that of a synctest bubble, in which its sessions would be of the future.
func start(t testing.TB, options ...func(*setup)) *instance {
	t.Helper()
	if shapesNew(options) || time.Now().Before(builtAt) {
		return startNew(t, options...)
	}
	return fresh.clone(t, options...)
}

// startNew is start with a database of its own from the beginning.
func startNew(t testing.TB, options ...func(*setup)) *instance {
	t.Helper()
	in := open(t, t.TempDir(), options...)
	in.tokens["owner"] = in.signIn(auth.FirstUser)
	return in
}

// open opens the database in dir, creating it if necessary.
func open(t testing.TB, dir string, options ...func(*setup)) *instance {
	t.Helper()
	files, err := fs.Sub(embed.Seed, "seed")
	must(t, err)
	mails, err := fs.Sub(embed.Mail, "mail")
	must(t, err)
	linkPages, err := fs.Sub(embed.Pages, "pages")
	must(t, err)
	clients, err := fs.Sub(embed.SDK, "sdk")
	must(t, err)
	must(t, os.Chmod(dir, 0o700)) // like the program; t.TempDir is readable by everyone
	su := setup{seed: files, cost: testCost, config: web.Config{
		Version: "test", PublicURL: "https://reeve.example.org", AllowedHosts: []string{"example.com"}, Clients: clients, MetricsToken: metricsSecret, Forward: web.Forward{URL: "https://reeve.example.org", Origins: []string{appOrigin, "http://localhost:3000"}}, Monitor: monitor.Config{MaxBytes: 16 << 20, SearchTime: time.Hour},
	}}
	for _, o := range options {
		o(&su)
	}
	su.config.Mail, su.config.Pages = mails, linkPages // also if an option has replaced the configuration
	in := &instance{t: t, dir: dir, tokens: map[string]string{"nobody": "", "metrics": metricsSecret}}
	seed := &Seed{Files: su.seed, Username: "admin", Password: ownerPassword, Cost: testCost, MustChange: su.must}
	pages, err := seed.Pages()
	must(t, err)
	in.db, err = store.Open(dir, store.Options{Version: "test", Keys: Keys(), Confirmed: ConfirmedKeys(), Pages: pages, Seed: seed.Create, Upgrade: seed.Upgrade}.DrainingFrom(su.drain))
	must(t, err)
	t.Cleanup(in.close)
	in.auth, err = auth.New(in.db, auth.Options{Cost: su.cost, Common: commonPasswords(), Breached: su.leaked, InitialFile: su.file, PublicURL: su.config.PublicURL})
	must(t, err)
	logger := zerolog.Nop()
	if su.log != nil {
		logger = zerolog.New(su.log).Level(zerolog.DebugLevel)
	}
	in.server, err = New(su.config, in.db, in.auth, logger)
	must(t, err)
	in.server.Cookies = testMarks
	in.server.streams.End() // so that they end after their first event, except with live
	return in
}

// close verifies and closes the database; the second call does nothing.
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
	if !in.damaged && in.hasFiles() {
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

// hasFiles reports whether a record has a file, and the files database could be opened.
func (in *instance) hasFiles() (has bool) {
	err := in.db.View(store.System, func(tx *store.Tx) error {
		for _, c := range collectionStats(in.t, tx) {
			has = has || c.Records > 0 && (c.Name == "file" || c.Name == "avatar")
		}
		return nil
	})
	if err != nil || !has {
		return false
	}
	_, err = in.db.FilesOpened()
	return err == nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until polls a condition that another goroutine fulfils.
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

// update and view work on the store directly, with system rights.
func (in *instance) update(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.Update(store.System, fn))
}

func (in *instance) view(fn func(tx *store.Tx) error) {
	in.t.Helper()
	must(in.t, in.db.View(store.System, fn))
}

// credential is the kind of credential of a caller.
type credential string

const (
	bySessionToken credential = "session"
	byCookie       credential = "session cookie"
	personalKey    credential = "personal key"
	serviceKey     credential = "service key" // with the roles of the user, who is its owner
)

var credentials = []credential{bySessionToken, byCookie, personalKey, serviceKey}

// signIn opens a session without a password, or creates a key, and returns the token.
func (in *instance) signIn(user store.ID) (token string) {
	in.t.Helper()
	if in.credential.isKey() {
		_, token = in.key(user, in.credential)
		return token
	}
	in.update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{UserID: user, IP: "192.0.2.1"})
		return err
	})
	return in.credential.of(token)
}

// of returns the token of a session in the form of the credential.
func (c credential) of(token string) string {
	if c == byCookie {
		return inCookie + token
	}
	return token
}

// isKey reports whether the credential is an API key.
func (c credential) isKey() bool { return c == personalKey || c == serviceKey }

// key creates a key of a user.
func (in *instance) key(user store.ID, kind credential, change ...func(*store.APIKey)) (id store.ID, token string) {
	in.t.Helper()
	token, hash, hint := auth.NewKey()
	in.update(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, user)
		if err != nil {
			return err
		}
		k := &store.APIKey{Name: u.Username, UserID: user, Personal: kind == personalKey, Status: true, ExpiresAt: tx.Now().Add(time.Hour)}
		if kind == serviceKey {
			k.RoleIDs = u.RoleIDs
		}
		for _, c := range change {
			c(k)
		}
		if err := store.APIKeys.Create(tx, k); err != nil {
			return err
		}
		id = k.ID
		return store.KeySecrets.Create(tx, &store.KeySecret{KeyID: id, Hash: hash, Hint: hint})
	})
	return id, token
}

// refuses reports whether a route refuses the credential, whatever the permissions of the user.
func (c credential) refuses(rt *web.Route) bool {
	return c == personalKey && rt.Keys == web.ByNoKey || c == serviceKey && rt.Keys != web.ByAnyKey
}

// eachCredential runs a test for each kind of credential that users sign in with.
func eachCredential(t *testing.T, test func(t *testing.T, c credential)) {
	t.Helper()
	for _, c := range credentials {
		t.Run(string(c), func(t *testing.T) { test(t, c) })
	}
}

// appSignIn is signIn in the app realm.
func (in *instance) appSignIn(user store.ID) (token string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{AppUserID: user, IP: "192.0.2.1"})
		return err
	})
	return in.credential.of(token)
}

// clerk creates a signed-in user, called name in the tests, with a single role that has
// these permissions. The password is ownerPassword too.
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

// AppUser creates a signed-in app user with ownerPassword.
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

// permission returns the ID of a seeded permission.
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

// setting returns the ID of a setting by its full name.
func (in *instance) setting(name string) (id store.ID) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		id = store.SettingCache.Get(tx).ID(name)
		return nil
	})
	if id == 0 {
		in.t.Fatalf("there is no setting %s", name)
	}
	return id
}

// request builds a request; one with a body is JSON.
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
	authorize(r, token)
	return r
}

// testMarks are the marks of every test instance in the names of its cookies, so that documents are the same in all of them.
var testMarks = web.CookieMarks{Session: "_5e551011", Device: "_de71ce01"}

// The names of the cookies of a test instance without a base path.
func sessionCookie(app, secure bool) string { return marked.SessionCookie(app, secure) }
func deviceCookie(app bool) string          { return marked.DeviceCookie(app) }

var (
	marked        = &web.Server{Cookies: testMarks}
	pendingCookie = marked.PendingCookie()
)

// inCookie begins a token that is sent as a cookie.
const inCookie = "cookie "

// authorize adds a token to a request; "" is none.
func authorize(r *http.Request, token string) {
	if cookie, ok := strings.CutPrefix(token, inCookie); ok {
		for _, app := range []bool{false, true} { // the route decides which one it takes
			r.AddCookie(&http.Cookie{Name: sessionCookie(app, false), Value: cookie})
		}
	} else if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

// rawJSON is JSON that is encoded unchanged.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func decodeObject(t testing.TB, text string) map[string]any {
	t.Helper()
	var object map[string]any
	must(t, json.Unmarshal([]byte(text), &object))
	return object
}
