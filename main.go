// Reeve is an administration backend in one program: users, roles, permissions,
// settings and more behind a JSON interface, all data in embedded files in one
// directory. This file has the commands, the log and the signals; the
// configuration is in server/config, the server in server, the data in store, the
// sign-in in auth.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"
	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/embed"
	"reeve/server"
	"reeve/server/config"
	"reeve/store"
)

// version is raised with every release, and with every change of the schema.
const version = "0.7.0"

// reserveBytes of disk space are kept for deletions and sign-ins on a full disk.
const reserveBytes = 4 << 20

// initialName is the file in the data directory with the first user's generated
// password; it goes when the password is changed.
const initialName = "initial-password"

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

	config *config.Config
	log    zerolog.Logger
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
	set := map[string]string{}
	flags.Visit(func(f *flag.Flag) {
		if name := map[string]string{"data": "data.dir", "listen": "server.listen"}[f.Name]; name != "" {
			set[name] = f.Value.String()
		}
	})
	if p.config, err = config.Load(*configFile, set); err != nil {
		return err
	}
	if p.log, err = newLog(errOut, p.config.LogLevel); err != nil {
		return err
	}
	for _, w := range p.config.Warnings {
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
	settings, err := p.config.Server()
	if err != nil {
		return err
	}
	settings.Version = version
	container := server.InContainer()
	settings.Root = os.Geteuid() == 0 && !container
	for _, path := range []string{p.config.File, settings.TLSKey} {
		if path != "" && !container {
			settings.PrivateFiles = append(settings.PrivateFiles, path)
		}
	}
	if settings.PlainBeyondLoopback() {
		p.log.Warn().Str("listen", settings.Listen).Msg("passwords and tokens cross the network in the clear: set server.tls_cert and server.tls_key, or put a TLS proxy in front")
	}
	db, a, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, w := range settings.InstallationWarnings(db.Dir()) {
		p.log.Warn().Msg(w)
	}
	// Go's scheduler gives a hash one of its processors for long at a time. With
	// one more for each that can run, those who wait in its queue need not; the
	// system's own scheduler then lets requests go first.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + a.Workers())
	if settings.Console, err = fs.Sub(embed.Console, "dist"); err != nil {
		return err
	}
	s, err := server.New(settings, db, a, p.log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	scheme := "http"
	if settings.TLSCert != "" {
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
	seed := &server.Seed{Files: files, Cost: p.config.BcryptCost}
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
	db, err := store.Open(p.config.DataDir, options)
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
		Cost: p.config.BcryptCost, InitialFile: filepath.Join(p.config.DataDir, initialName),
		Common: embed.CommonPasswords(), LoginLogDays: p.config.LoginLogDays, LoginLogRows: p.config.LoginLogRows,
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
	report, err := store.VerifyDir(p.config.DataDir, p.storeOptions())
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
	done, err := store.Restore(p.config.DataDir, p.args[0], identities, p.storeOptions())
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
	n, err := store.RotateKey(p.config.DataDir, p.storeOptions())
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
	done, err := store.Salvage(p.config.DataDir, p.args[0], p.storeOptions())
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
	done, err := store.Compact(p.config.DataDir, p.storeOptions())
	for _, c := range done {
		fmt.Fprintf(p.out, "%s: %.1f MiB before, %.1f MiB after\n", c.Name, float64(c.Before)/(1<<20), float64(c.After)/(1<<20))
	}
	return err
}

func (p *program) recover() (err error) {
	if dir := p.config.DataDir; !store.HasDatabase(dir) {
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

// example prints config.example.toml.
func (p *program) example() error {
	_, err := io.WriteString(p.out, config.Example())
	return err
}

// newLog writes for a person at a terminal and JSON anywhere else.
func newLog(out io.Writer, level string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Logger{}, err
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
