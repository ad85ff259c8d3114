package servertest

import (
	"encoding/json"
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
	"reeve/server"
	"reeve/server/local"
	"reeve/server/monitor"
	"reeve/server/target"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// OwnerPassword is the first user's password in every test instance.
const OwnerPassword = "correct horse battery"

// commonPasswords are the program's rejected passwords.
var commonPasswords = sync.OnceValue(embed.CommonPasswords)

// MetricsSecret is the metrics token in every test instance. Requests as "metrics" send
// it.
const MetricsSecret = "a-token-of-the-metrics"

// HashCost is the minimum cost of bcrypt.
const HashCost = 4

// Size returns a count: long if requested, medium in CI, small otherwise.
func Size(small, medium, long int) int {
	switch {
	case os.Getenv("REEVE_TEST_LONG") == "1":
		return long
	case os.Getenv("CI") == "true":
		return medium
	}
	return small
}

// Instance is a complete Reeve with its own files and the real handler.
type Instance struct {
	T      testing.TB
	Dir    string
	DB     *store.DB
	Auth   *auth.Auth
	Server *server.Server
	Tokens map[string]string // by the name that a test uses for the caller
	Last   atomic.Int64      // number of generated names

	Credential Credential // with which SignIn signs users in

	recording bool // the journal of monitoring is open

	Damaged bool // whether the test has damaged bytes of files

	lastDump *dumpState
}

// Setup is the configuration that differs between instances.
type Setup struct {
	Config  web.Config
	Log     *Log // destination of the log, at debug level; nil for none
	Seed    fs.FS
	Must    bool // whether the first user must change the password
	cost    int
	File    string // file with the first user's generated password; "" for none
	Leaked  *breached.List
	commits *kv.CommitLogOptions // see WithCommitLog; nil for none
	Clock   func() store.Time    // clock of the database; nil for that of the system
	Drain   uint64               // entries of the change log from which they are moved to a segment; 0 for the default
}

// Start returns an instance with one signed-in user, "owner". Cleanup verifies the
// whole database. It is a copy of one that was created before, unless an option says how it is
// created, or the time is that of a synctest bubble, in which its sessions would be of the future.
func Start(t testing.TB, options ...func(*Setup)) *Instance {
	t.Helper()
	if shapesNew(options) || time.Now().Before(builtAt) {
		return StartNew(t, options...)
	}
	return fresh.Clone(t, options...)
}

// StartNew is start with a database of its own from the beginning.
func StartNew(t testing.TB, options ...func(*Setup)) *Instance {
	t.Helper()
	in := Open(t, t.TempDir(), options...)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	return in
}

// Open opens the database in dir, creating it if necessary.
func Open(t testing.TB, dir string, options ...func(*Setup)) *Instance {
	t.Helper()
	files, err := fs.Sub(embed.Seed, "seed")
	Must(t, err)
	mails, err := fs.Sub(embed.Mail, "mail")
	Must(t, err)
	linkPages, err := fs.Sub(embed.Pages, "pages")
	Must(t, err)
	clients, err := fs.Sub(embed.SDK, "sdk")
	Must(t, err)
	Must(t, os.Chmod(dir, 0o700)) // like the program; t.TempDir is readable by everyone
	su := Setup{Seed: files, cost: HashCost, Config: web.Config{
		Version:      "test",
		PublicURL:    "https://reeve.example.org",
		AllowedHosts: []string{"example.com"},
		Clients:      clients,
		MetricsToken: MetricsSecret,
		Forward: web.Forward{
			URL:     "https://reeve.example.org",
			Origins: []string{AppOrigin, "http://localhost:3000"},
		},
		Monitor: monitor.Config{MaxBytes: 16 << 20, SearchTime: time.Hour},
	}}
	for _, o := range options {
		o(&su)
	}

	su.Config.Mail, su.Config.Pages = mails, linkPages // also if an option has replaced the configuration
	in := &Instance{
		T:      t,
		Dir:    dir,
		Tokens: map[string]string{"nobody": "", "metrics": MetricsSecret},
	}

	seed := &server.Seed{
		Files:      su.Seed,
		Username:   "admin",
		Password:   OwnerPassword,
		Cost:       HashCost,
		MustChange: su.Must,
	}
	pages, err := seed.Pages()
	Must(t, err)
	in.DB, err = store.Open(dir, store.Options{
		Version:   "test",
		Keys:      server.Keys(),
		Confirmed: server.ConfirmedKeys(),
		Pages:     pages,
		Seed:      seed.Create,
		Upgrade:   seed.Upgrade,
		CommitLog: su.commits,
		Clock:     su.Clock,
	}.DrainingFrom(su.Drain))
	Must(t, err)
	t.Cleanup(in.Close)
	var onDuty func() bool
	if su.Config.Cluster != nil {
		onDuty = su.Config.Cluster.OnDuty
	}
	in.Auth, err = auth.New(in.DB, auth.Options{
		Cost:        su.cost,
		Common:      commonPasswords(),
		Breached:    su.Leaked,
		InitialFile: su.File,
		PublicURL:   su.Config.PublicURL,
		Nodes:       su.nodes(),
		OnDuty:      onDuty,
	})
	Must(t, err)
	logger := zerolog.Nop()
	if su.Log != nil {
		logger = zerolog.New(su.Log).Level(zerolog.DebugLevel)
	}

	in.Server, err = server.New(su.Config, in.DB, in.Auth, logger)
	if err == nil {
		err = in.Server.Backups.Configure(target.Set{Local: true}) // it makes none: it does not run
	}
	Must(t, err)
	in.Server.Cookies = Marks
	in.Server.Streams.End() // so that they end after their first event, except with live
	return in
}

// Close verifies and closes the database; the second call does nothing.
func (in *Instance) Close() {
	if in.DB == nil {
		return
	}

	err := in.DB.View(store.System, func(tx *store.Tx) error {
		for _, fault := range tx.Verify().Faults {
			in.T.Errorf("verify: %s", fault)
		}
		return nil
	})
	if err != nil {
		in.T.Errorf("verify: %v", err)
	}
	if !in.Damaged && in.hasFiles() {
		var report kv.Report
		if err := in.DB.VerifyFiles(&report); err != nil || len(report.Faults) > 0 {
			in.T.Errorf("verify files: %v %q", err, report.Faults)
		}
	}
	if err := in.DB.Close(); err != nil {
		in.T.Errorf("close: %v", err)
	}

	in.DB = nil
}

// hasFiles reports whether a record has a file, and the files database could be opened.
func (in *Instance) hasFiles() (has bool) {
	err := in.DB.View(store.System, func(tx *store.Tx) error {
		for _, c := range collectionStats(in.T, tx) {
			has = has || c.Records > 0 && (c.Name == "file" || c.Name == "avatar")
		}
		return nil
	})
	if err != nil || !has {
		return false
	}
	_, err = in.DB.FilesOpened()
	return err == nil
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Until polls a condition that another goroutine fulfils.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for range 3000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never happened that %s", what)
}

// Update and view work on the store directly, with system rights.
func (in *Instance) Update(fn func(tx *store.Tx) error) {
	in.T.Helper()
	Must(in.T, in.DB.Update(store.System, fn))
}

// View reads the store directly, with system rights.
func (in *Instance) View(fn func(tx *store.Tx) error) {
	in.T.Helper()
	Must(in.T, in.DB.View(store.System, fn))
}

// Permission returns the ID of a seeded permission.
func (in *Instance) Permission(key string) (id store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		p, err := store.PermissionByKey.Get(tx, key)
		if err == nil {
			id = p.ID
		}
		return err
	})
	return id
}

// Setting returns the ID of a setting by its full name.
func (in *Instance) Setting(name string) (id store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		id = store.SettingCache.Get(tx).ID(name)
		return nil
	})
	if id == 0 {
		in.T.Fatalf("there is no setting %s", name)
	}
	return id
}

// Request builds a request; one with a body is JSON.
func (in *Instance) Request(method, url, body, as string) *http.Request {
	in.T.Helper()
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	token, known := in.Tokens[as]
	if !known {
		in.T.Fatalf("nobody here is called %q", as)
	}
	Authorize(r, token)
	return r
}

// Marks are the marks of every test instance in the names of its cookies, so that documents are the
// same in all of them.
var Marks = web.CookieMarks{Session: "_5e551011", Device: "_de71ce01"}

// The names of the cookies of a test instance without a base path.
func SessionCookie(app, secure bool) string { return Marked.SessionCookie(app, secure) }
func DeviceCookie(app bool) string          { return Marked.DeviceCookie(app) }

var (
	Marked        = &web.Server{Cookies: Marks}
	PendingCookie = Marked.PendingCookie()
)

// ByCommand begins what is in place of a token: the name of the user of the machine who has called
// a command, which sends the request.
const ByCommand = "command by "

// InCookie begins a token that is sent as a cookie.
const InCookie = "cookie "

// Authorize adds a token to a request; "" is none.
func Authorize(r *http.Request, token string) {
	if name, ok := strings.CutPrefix(token, ByCommand); ok {
		*r = *r.WithContext(local.WithCaller(r.Context(), name))
		return
	}
	if cookie, ok := strings.CutPrefix(token, InCookie); ok {
		for _, app := range []bool{false, true} { // the route decides which one it takes
			r.AddCookie(&http.Cookie{Name: SessionCookie(app, false), Value: cookie})
		}
	} else if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
}

// rawJSON is JSON that is encoded unchanged.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// DecodeObject decodes a JSON object; an error ends the test.
func DecodeObject(t testing.TB, text string) map[string]any {
	t.Helper()
	var object map[string]any
	Must(t, json.Unmarshal([]byte(text), &object))
	return object
}
