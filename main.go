// Reeve is an administration backend in one program: users, roles, permissions,
// settings and more behind a JSON interface, all data in embedded files in one
// directory. This file has the commands, the configuration, the log and the
// signals; the server is in server, the data in store, the sign-in in auth.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"
	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/embed"
	"reeve/server"
	"reeve/store"
)

// version is raised with every release, and with every change of the schema.
const version = "0.7.0"

// reserveBytes of disk space are kept for deletions and sign-ins on a full disk.
const reserveBytes = 4 << 20

// initialName is the file in the data directory with the first user's generated
// password; it goes when the password is changed.
const initialName = "initial-password"

// defaultConfig is read if it is there and no other file is named.
const defaultConfig = "config.toml"

// firstUser is the name of the first user.
const firstUser = "admin"

// passwordVariable is the environment variable with the first user's password. With
// _FILE at its end it has the path of a file with that password.
const passwordVariable = "REEVE_ADMIN_PASSWORD"

// command is one of the things that reeve can be told to do.
type command struct {
	name, args, help string
	run              func(*program) error
	plain            bool // needs no configuration
}

var commands = []command{
	{"serve", "", "serve until SIGTERM or SIGINT (what happens without a command)", (*program).serve, false},
	{"version", "", "print the version", (*program).version, true},
	{"verify", "", "check every record of the database; the server must be stopped", (*program).verify, false},
	{"restore", "FILE", "put a backup in the place of the data, decrypted with --identity; the server must be stopped", (*program).restore, false},
	{"key rotate", "", "replace secret.key and seal every secret value again; the server must be stopped", (*program).rotateKey, false},
	{"key identity", "", "print a new identity and recipient for encrypted backups", (*program).newIdentity, true},
	{"salvage", "NEWDIR", "copy what is sound of damaged data to a new directory; the server must be stopped", (*program).salvage, false},
	{"compact", "", "give the room of what was deleted back to the disk; the server must be stopped", (*program).compact, false},
	{"admin recover", "", "give an owner a new password; the server must be stopped", (*program).recover, false},
	{"config", "", "print config.example.toml", (*program).example, true},
}

// program is one run of reeve.
type program struct {
	args     []string // what is left after command and flags
	identity string   // the file of --identity
	out, err io.Writer

	first, firstFile string // the values of passwordVariable
	configFile       string // the path of the configuration; "" without one

	config  *koanf.Koanf
	sources map[string]string // where a key comes from, unless it is its default
	log     zerolog.Logger
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "reeve:", err)
		os.Exit(1)
	}
}

func run(args []string, out, errOut io.Writer) error {
	cmd, args, err := findCommand(args)
	if err != nil {
		return err
	}
	p := &program{out: out, err: errOut}
	p.first, p.firstFile = auth.TakeVariable(passwordVariable), auth.TakeVariable(passwordVariable+"_FILE")
	flags := flag.NewFlagSet("reeve "+cmd.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main tells the error, once
	configFile := flags.String("config", "", "read this `file` instead of config.toml")
	flags.String("data", "", "keep the data in this `directory` (data.dir)")
	flags.String("listen", "", "listen on this `address` (server.listen)")
	flags.StringVar(&p.identity, "identity", "", "restore: decrypt the backup with the age identities in this `file`")
	for rest := args; ; { // flags may stand before and after other arguments
		if err := flags.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				usage(out, flags)
				return nil
			}
			return err
		}
		if flags.NArg() == 0 {
			break
		}
		p.args, rest = append(p.args, flags.Arg(0)), flags.Args()[1:]
	}
	if want := len(strings.Fields(cmd.args)); len(p.args) != want {
		return fmt.Errorf("usage: %s; the command comes first", strings.TrimSpace("reeve "+cmd.name+" [flags] "+cmd.args))
	}
	if cmd.plain {
		return cmd.run(p)
	}
	if p.configFile = *configFile; p.configFile == "" {
		if _, err := os.Stat(defaultConfig); err == nil {
			p.configFile = defaultConfig
		}
	}
	var warnings []string
	if p.config, p.sources, warnings, err = loadConfig(p.configFile, flags); err != nil {
		return err
	}
	if p.log, err = newLog(errOut, p.config.String("log.level")); err != nil {
		return err
	}
	for _, w := range warnings {
		p.log.Warn().Msg(w)
	}
	return cmd.run(p)
}

func findCommand(args []string) (command, []string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return commands[0], args, nil
	}
	for _, c := range commands {
		if words := strings.Fields(c.name); len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return c, args[len(words):], nil
		}
	}
	return command{}, nil, fmt.Errorf("there is no command %q; `reeve --help` lists them", strings.Join(args, " "))
}

func usage(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(out, "usage: reeve [command] [flags]")
	for _, c := range commands {
		fmt.Fprintf(out, "  %-22s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	fmt.Fprintln(out, "flags:")
	flags.SetOutput(out)
	flags.PrintDefaults()
}

// serve opens the database, made anew at the first start, and serves it.
func (p *program) serve() (err error) {
	// What lives on the heap is small, so the collector would run at every few
	// megabytes of garbage. This array is never touched and so never takes up
	// memory, but it counts, and makes the collector wait for as much more.
	ballast := make([]byte, 24<<20)
	defer runtime.KeepAlive(ballast)
	config, err := serverConfig(p.config)
	if err != nil {
		return err
	}
	config.Effective = effective(p.config, p.sources)
	container := server.InContainer()
	config.Root = os.Geteuid() == 0 && !container
	for _, path := range []string{p.configFile, config.TLSKey} {
		if path != "" && !container {
			config.PrivateFiles = append(config.PrivateFiles, path)
		}
	}
	if config.PlainBeyondLoopback() {
		p.log.Warn().Str("listen", config.Listen).Msg("passwords and tokens cross the network in the clear: set server.tls_cert and server.tls_key, or put a TLS proxy in front")
	}
	db, a, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, w := range config.InstallationWarnings(db.Dir()) {
		p.log.Warn().Msg(w)
	}
	// Go's scheduler gives a hash one of its processors for long at a time. With
	// one more for each that can run, those who wait in its queue need not; the
	// system's own scheduler then lets requests go first.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + a.Workers())
	if config.Console, err = fs.Sub(embed.Console, "dist"); err != nil {
		return err
	}
	s, err := server.New(config, db, a, p.log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	scheme := "http"
	if config.TLSCert != "" {
		scheme = "https"
	}
	err = s.Run(ctx, func(addr net.Addr) {
		p.log.Info().Str("version", build()).Str("data", db.Dir()).Msg("serving " + scheme + "://" + addr.String())
	})
	p.log.Info().Msg("stopped")
	return err
}

// open opens the database, with everything that makes and upgrades it, and auth
// upon it.
func (p *program) open() (*store.DB, *auth.Auth, error) {
	files, err := fs.Sub(embed.Seed, "seed")
	if err != nil {
		return nil, nil, err
	}
	seed := &server.Seed{Files: files, Cost: p.config.Int("auth.bcrypt_cost")}
	warn := func(warnings []string) {
		for _, w := range warnings {
			p.log.Warn().Msg(w)
		}
	}
	options := p.storeOptions()
	options.Upgrade, options.Checked = seed.Upgrade, warn
	options.Seed = func(tx *store.Tx) error {
		if err := p.firstPassword(seed); err != nil {
			return err
		}
		return seed.Create(tx)
	}
	db, err := store.Open(p.config.String("data.dir"), options)
	if err != nil {
		return nil, nil, err
	}
	warn(db.Warnings())
	a, err := auth.New(db, p.authOptions())
	if err == nil && !seed.MustChange { // else the file was written just now
		err = a.RemoveStaleInitial()
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, a, nil
}

// firstPassword takes the first user's password from the environment, or makes
// one, shows it where nobody but a person at a terminal reads, and keeps it in a
// file that only this user of the machine can read.
func (p *program) firstPassword(seed *server.Seed) error {
	from := passwordVariable
	if seed.Password = p.first; seed.Password == "" && p.firstFile != "" {
		from = passwordVariable + "_FILE"
		b, err := os.ReadFile(p.firstFile)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if seed.Password = strings.TrimRight(string(b), "\r\n"); seed.Password == "" {
			return fmt.Errorf("%s: the file %s is empty", from, p.firstFile)
		}
	}
	if seed.Password != "" {
		return p.authOptions().CheckFirst(firstUser, from, seed.Password)
	}
	seed.Password, seed.MustChange = auth.RandomPassword(), true
	path := p.authOptions().InitialFile
	if err := auth.WriteInitial(path, firstUser, seed.Password); err != nil { // on the disk before the database is
		return err
	}
	if isTerminal(p.err) {
		fmt.Fprintf(p.err, "\n  The first sign-in: admin, password %s\n  It must be changed then. Until that it is also in %s\n\n", seed.Password, path)
	} else {
		p.log.Info().Str("file", path).Msg("the first user is admin; the password is in the file until it is changed")
	}
	return nil
}

func (p *program) storeOptions() store.Options {
	return store.Options{Version: version, Keys: server.Keys(), Reserve: reserveBytes}
}

func (p *program) authOptions() auth.Options {
	return auth.Options{
		Cost: p.config.Int("auth.bcrypt_cost"), InitialFile: filepath.Join(p.config.String("data.dir"), initialName),
		Common: embed.CommonPasswords(), LoginLogDays: p.config.Int("security.login_log_days"), LoginLogRows: p.config.Int("security.login_log_rows"),
	}
}

func (p *program) version() error {
	_, err := fmt.Fprintf(p.out, "reeve %s %s %s/%s\n", build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// build is the version and, where it is known, the commit.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return version + "+" + s.Value[:12]
		}
	}
	return version
}

func (p *program) verify() error {
	report, err := store.VerifyDir(p.config.String("data.dir"), p.storeOptions())
	if err != nil {
		return err
	}
	for _, line := range slices.Concat(report.Notes, report.Faults) {
		fmt.Fprintln(p.out, line)
	}
	if n := len(report.Faults) + report.More; n > 0 {
		return fmt.Errorf("the database has %d faults (%d records read); restore a backup with `reeve restore FILE`, or copy what is sound with `reeve salvage NEWDIR`", n, report.Records)
	}
	_, err = fmt.Fprintf(p.out, "%d records, %d files, no faults\n", report.Records, report.Blobs)
	return err
}

func (p *program) restore() error {
	identities, err := p.identities()
	if err != nil {
		return err
	}
	done, err := store.Restore(p.config.String("data.dir"), p.args[0], identities, p.storeOptions())
	if err != nil {
		return err
	}
	if done.Kept != "" {
		fmt.Fprintln(p.out, "what was there is kept in", done.Kept)
	}
	if done.WrongKey {
		fmt.Fprintln(p.out, "the secret.key of the backup is not the key of its data.db and was left out")
	}
	if len(done.Unopened) > 0 {
		fmt.Fprintln(p.out, "these secret values must be entered again, since their key is not there:")
		for _, title := range done.Unopened {
			fmt.Fprintln(p.out, " ", title)
		}
	}
	_, err = fmt.Fprintln(p.out, "restored; everybody has to sign in again")
	return err
}

// identities reads the file of --identity; none without the flag.
func (p *program) identities() ([]age.Identity, error) {
	if p.identity == "" {
		return nil, nil
	}
	f, err := os.Open(p.identity)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	all, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil { // its text may quote the file, which is secret
		return nil, fmt.Errorf("%s must hold age identities, one AGE-SECRET-KEY-… per line", p.identity)
	}
	return all, nil
}

func (p *program) rotateKey() error {
	n, err := store.RotateKey(p.config.String("data.dir"), p.storeOptions())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "secret.key has a new key; %d secret values are sealed with it\n", n)
	return err
}

// newIdentity prints what the age-keygen of the age project would.
func (p *program) newIdentity() error {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "# Keep this file away from the server; only it decrypts the backups.\n# backup.recipients = [%q]\n%s\n", identity.Recipient(), identity)
	return err
}

func (p *program) salvage() error {
	done, err := store.Salvage(p.config.String("data.dir"), p.args[0], p.storeOptions())
	if done == nil {
		return err
	}
	for _, list := range []struct {
		head  string
		lines []string
	}{{"lost", done.Lost}, {"found outside of the tree, perhaps an older version or deleted", done.Outside}, {"changed", done.Changed}} {
		for _, line := range list.lines {
			fmt.Fprintf(p.out, "%s: %s\n", list.head, line)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%d records and %d files are copied to %s, %d are lost, %d were found outside of the tree; start it with `reeve --data %[3]s`; everybody has to sign in again\n",
		done.Records, done.Blobs, p.args[0], len(done.Lost), len(done.Outside))
	return err
}

func (p *program) compact() error {
	done, err := store.Compact(p.config.String("data.dir"), p.storeOptions())
	for _, c := range done {
		fmt.Fprintf(p.out, "%s: %.1f MiB before, %.1f MiB after\n", c.Name, float64(c.Before)/(1<<20), float64(c.After)/(1<<20))
	}
	return err
}

func (p *program) recover() (err error) {
	if dir := p.config.String("data.dir"); !store.HasDatabase(dir) {
		return fmt.Errorf("there is no database in %s", dir)
	}
	db, a, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	password := auth.RandomPassword()
	username, err := a.Recover(password)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "username: %s\npassword: %s\nIt must be changed at the next sign-in.\n", username, password)
	return err
}

// key is one key of the configuration: what is needed before the database opens
// or could lock everybody out. Everything else is a setting.
type key struct {
	name  string
	value any // the default, and with it the type
	doc   string
	mask  func(string) string // hides what is secret where the value is shown; nil for nothing secret
}

var keys = []key{
	{"server.listen", "127.0.0.1:8080", "The address to listen on; 0.0.0.0:8080 or :8080 for every interface.", nil},
	{"server.tls_cert", "", "A PEM certificate and its key; both together turn on HTTPS.", nil},
	{"server.tls_key", "", "The key that belongs to server.tls_cert.", nil},
	{"server.trusted_proxies", []string{}, "Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed.", nil},
	{"server.max_connections", int64(0), "Connections at once, half of them from one address; 0 for as many as the limit of open files allows.", nil},
	{"server.cors_origins", []string{}, "Origins (https://app.example.org) whose pages may use the interface from a browser.", nil},
	{"server.ignored_fields", []string{"rePassword", "autoLogin"}, "Fields of forms that are ignored in a body although no record has them; any other unknown field is rejected.", nil},
	{"data.dir", "./data", "The directory for the database and its keys.", nil},
	{"auth.bcrypt_cost", int64(12), "The cost of a password hash, 10 to 15; each step doubles the time of a sign-in.", nil},
	{"security.login_log_days", int64(0), "Days that the login log is kept, 1 to 3650, in place of the setting, which can only be raised; 0 for the setting.", nil},
	{"security.login_log_rows", int64(0), "Rows that the login log has at most, 1000 to 10000000, in place of the setting, which can only be raised; 0 for the setting.", nil},
	{"backup.recipients", []string{}, "Whom backups are encrypted to, as age recipients (age1…); without any, backups lack secret.key.", nil},
	{"monitor.max_bytes", int64(256 << 20), "Bytes that monitoring may take on the disk, all its files together; 0 turns it off.", nil},
	{"monitor.min_free", int64(64 << 20), "Bytes of the disk that monitoring leaves free: below that its oldest data is removed.", nil},
	{"monitor.max_age", "168h", "How long monitoring keeps an event, like 168h or 30m.", nil},
	{"monitor.redis.targets", []string{}, "Redis servers to watch, like cache=redis://user:password@host:6379/0; rediss:// with TLS.", maskTargets},
	{"log.level", "info", "What to log: debug (a line per request), info, warn or error.", nil},
	{"metrics.token", "", "The token, of 16 characters or more, with which GET /metrics is read; without one there is no such address.", maskAll},
}

// example prints config.example.toml.
func (p *program) example() error {
	text := "# The configuration of Reeve, every key with its default. Each can also be given in the\n" +
		"# environment: server.listen as REEVE_SERVER__LISTEN, lists with commas between.\n"
	table := ""
	for _, k := range keys {
		head, name, _ := strings.Cut(k.name, ".")
		if head != table {
			text += "\n[" + head + "]\n"
			table = head
		}
		value := fmt.Sprintf("%v", k.value)
		switch v := k.value.(type) {
		case string:
			value = strconv.Quote(v)
		case []string:
			value = strings.ReplaceAll(fmt.Sprintf("%q", v), `" "`, `", "`)
		}
		text += fmt.Sprintf("# %s\n%s = %s\n", k.doc, name, value)
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// loadConfig joins defaults, file, environment and flags, later ones winning. A
// key in the file that does not exist is an error, in the environment a warning.
func loadConfig(path string, flags *flag.FlagSet) (k *koanf.Koanf, sources map[string]string, warnings []string, err error) {
	k, sources = koanf.New("."), map[string]string{}
	defaults := map[string]any{}
	for _, key := range keys {
		defaults[key.name] = key.value
	}
	if err := k.Load(confmap.Provider(defaults, "."), nil); err != nil {
		return nil, nil, nil, err
	}
	if path != "" {
		if err := loadFile(k, sources, path); err != nil {
			return nil, nil, nil, err
		}
	}
	fromEnv := env.Provider(".", env.Opt{Prefix: "REEVE_", TransformFunc: func(name, value string) (string, any) {
		at := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "REEVE_")), "__", ".")
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == at })
		switch {
		case i < 0 && !strings.HasPrefix(name, "REEVE_TEST_"):
			warnings = append(warnings, "the environment variable "+name+" is not known and is ignored")
			return "", nil
		case i < 0:
			return "", nil
		}
		sources[at] = "environment"
		if _, list := keys[i].value.([]string); list {
			return at, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
		return at, value
	}})
	if err := k.Load(fromEnv, nil); err != nil {
		return nil, nil, nil, err
	}
	set := map[string]any{}
	flags.Visit(func(f *flag.Flag) {
		if at := map[string]string{"data": "data.dir", "listen": "server.listen"}[f.Name]; at != "" {
			set[at], sources[at] = f.Value.String(), "flag"
		}
	})
	err = k.Load(confmap.Provider(set, "."), nil)
	return k, sources, warnings, errors.Join(err, checkConfig(k))
}

func loadFile(k *koanf.Koanf, sources map[string]string, path string) error {
	f := koanf.New(".")
	if err := f.Load(file.Provider(path), toml.Parser()); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for _, name := range f.Keys() {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if table, ok := f.Get(name).(map[string]any); ok && len(table) == 0 && isTable(name) {
			continue // a heading with nothing below it
		}
		if i < 0 {
			hint := "`reeve config` lists all keys"
			if near := nearest(name); near != "" {
				hint = "did you mean " + near + "?"
			}
			return fmt.Errorf("%s: unknown key %s; %s", path, name, hint)
		}
		got, want := reflect.TypeOf(f.Get(name)), reflect.TypeOf(keys[i].value)
		if _, list := keys[i].value.([]string); got != want && (!list || got.Kind() != reflect.Slice) {
			return fmt.Errorf("%s: %s must be %s", path, name, map[reflect.Kind]string{
				reflect.String: "a text in quotes", reflect.Int64: "a number", reflect.Slice: "a list of texts"}[want.Kind()])
		}
		sources[name] = "file"
	}
	return k.Merge(f)
}

func isTable(name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// nearest is the known key that was probably meant: the one whose last words the name
// is, or with the smallest edit distance, at most a third of the name; "" for none.
func nearest(name string) string {
	for _, k := range keys {
		if strings.HasSuffix(k.name, "."+name) {
			return k.name
		}
	}
	best := slices.MinFunc(keys, func(a, b key) int { return distance(name, a.name) - distance(name, b.name) }).name
	if distance(name, best) > len(name)/3 {
		return ""
	}
	return best
}

// distance is Levenshtein's edit distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}

func checkConfig(k *koanf.Koanf) error {
	if cost := k.Int("auth.bcrypt_cost"); cost < 10 || cost > 15 {
		return fmt.Errorf("auth.bcrypt_cost must be a number from 10 to 15")
	}
	for name, bounds := range map[string][2]int{"security.login_log_days": {1, 3650}, "security.login_log_rows": {1000, 10_000_000}} {
		if n := k.Int(name); n != 0 && (n < bounds[0] || n > bounds[1]) || n == 0 && k.String(name) != "0" {
			return fmt.Errorf("%s must be 0 or a number from %d to %d", name, bounds[0], bounds[1])
		}
	}
	if k.String("data.dir") == "" {
		return fmt.Errorf("data.dir must not be empty")
	}
	if token := k.String("metrics.token"); token != "" && (len(token) < 16 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })) {
		return fmt.Errorf("metrics.token must have 16 characters or more, of ASCII and without spaces")
	}
	return nil
}

func serverConfig(k *koanf.Koanf) (server.Config, error) {
	c := server.Config{
		Listen: k.String("server.listen"), TLSCert: k.String("server.tls_cert"), TLSKey: k.String("server.tls_key"),
		IgnoredFields: k.Strings("server.ignored_fields"), CORSOrigins: k.Strings("server.cors_origins"), RedisTargets: k.Strings("monitor.redis.targets"), Version: version,
		MetricsToken: k.String("metrics.token"), MaxConnections: k.Int("server.max_connections"),
	}
	if list := k.Strings("backup.recipients"); len(list) > 0 {
		recipients, err := age.ParseRecipients(strings.NewReader(strings.Join(list, "\n")))
		if err != nil {
			return c, fmt.Errorf("backup.recipients must be age recipients like age1…: %w", err)
		}
		c.BackupRecipients = recipients
	}
	if err := c.CheckRedis(); err != nil {
		return c, fmt.Errorf("monitor.redis.targets: %w", err)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return c, fmt.Errorf("server.tls_cert and server.tls_key belong together: set both or neither")
	}
	if n := c.MaxConnections; n != 0 && (n < 16 || n > 1_000_000) {
		return c, fmt.Errorf("server.max_connections must be 0 or a number from 16 to 1000000")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return c, fmt.Errorf("server.listen must be like 127.0.0.1:8080: %w", err)
	}
	age, err := time.ParseDuration(k.String("monitor.max_age"))
	if err != nil || age < time.Minute {
		return c, fmt.Errorf("monitor.max_age must be a time from one minute, like 168h or 30m")
	}
	bytes := k.Int64("monitor.max_bytes")
	if bytes < 0 || bytes > 0 && bytes < 4<<20 {
		return c, fmt.Errorf("monitor.max_bytes must be 0 or at least %d", 4<<20)
	}
	minFree := k.Int64("monitor.min_free")
	if minFree < 0 {
		return c, fmt.Errorf("monitor.min_free must be 0 or more")
	}
	c.Monitor = server.MonitorConfig{Off: bytes == 0, MaxBytes: bytes, MinFree: minFree, MaxAge: age}
	for _, text := range k.Strings("server.trusted_proxies") {
		prefix, err := netip.ParsePrefix(text)
		if addr, errAddr := netip.ParseAddr(text); err != nil && errAddr == nil {
			prefix, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return c, fmt.Errorf("server.trusted_proxies: %q is neither an address nor a network like 10.0.0.0/8", text)
		}
		c.TrustedProxies = append(c.TrustedProxies, prefix)
	}
	for _, origin := range c.CORSOrigins {
		if scheme, host, ok := strings.Cut(origin, "://"); !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/*") {
			return c, fmt.Errorf("server.cors_origins: %q is not an origin like https://app.example.org", origin)
		}
	}
	return c, nil
}

// effective is the configuration for people to look at: what is in force, where it
// comes from, and nothing that is secret.
func effective(k *koanf.Koanf, sources map[string]string) []server.ConfigValue {
	var all []server.ConfigValue
	for _, key := range keys {
		values := k.Strings(key.name)
		if _, list := key.value.([]string); !list {
			values = []string{k.String(key.name)}
		}
		if key.mask != nil {
			for i, v := range values {
				values[i] = key.mask(v)
			}
		}
		source := sources[key.name]
		if source == "" {
			source = "default"
		}
		all = append(all, server.ConfigValue{Key: key.name, Value: strings.Join(values, ", "), Source: source})
	}
	return all
}

// maskAll hides all of a secret, and leaves it visible that there is none.
func maskAll(v string) string {
	if v == "" {
		return ""
	}
	return "******"
}

// newLog writes for a person at a terminal and JSON anywhere else.
func newLog(out io.Writer, level string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil || !slices.Contains([]string{"debug", "info", "warn", "error"}, level) {
		return zerolog.Logger{}, fmt.Errorf("log.level must be debug, info, warn or error")
	}
	if isTerminal(out) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(l).With().Timestamp().Logger(), nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// maskTargets hides the password in name=redis://user:password@host:port.
func maskTargets(v string) string {
	name, address, _ := strings.Cut(v, "=")
	u, err := url.Parse(address)
	if err != nil {
		return name + "=******"
	}
	return name + "=" + u.Redacted()
}
