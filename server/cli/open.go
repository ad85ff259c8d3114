package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reeve/auth"
	"reeve/embed"
	"reeve/server"
	"reeve/server/people"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
)

const (
	// reserveBytes is the disk space reserved for deletions and sign-ins on a full
	// disk.
	reserveBytes = 4 << 20

	// firstUser is the username of the first user, unless the environment variable
	// usernameVariable has another one.
	firstUser        = "admin"
	usernameVariable = "REEVE_ADMIN_USERNAME"

	// passwordVariable is the environment variable with the first user's password, and
	// passwordFileVariable the one with the path of a file that has it.
	passwordVariable     = "REEVE_ADMIN_PASSWORD"
	passwordFileVariable = passwordVariable + "_FILE"

	// initialName is the file in the data directory with the first user's generated
	// password. It is removed when the password is changed.
	initialName = "initial-password"
)

// open opens the database, created and seeded or upgraded as necessary, and auth on top of
// it.
func (p *program) open() (*store.DB, *auth.Auth, error) {
	files, err := fs.Sub(embed.Seed, "seed")
	if err != nil {
		return nil, nil, err
	}

	seed := &server.Seed{Files: files, Username: p.firstName, Cost: p.config.BcryptCost}
	options := p.storeOptions()
	if options.Pages, err = seed.Pages(); err != nil {
		return nil, nil, err
	}

	options.Upgrade, options.Checked = seed.Upgrade, p.warn
	options.Seed = func(tx *store.Tx) error {
		if err := people.CheckUsername(usernameVariable, p.firstName); err != nil {
			return err
		}
		if err := p.firstPassword(seed); err != nil {
			return err
		}
		return seed.Create(tx)
	}

	db, err := p.openStore(options)
	if err != nil {
		return nil, nil, err
	}

	p.warn(db.Warnings())
	a, err := auth.New(db, p.authOptions())
	if err == nil && !seed.MustChange { // otherwise the file has just been written
		err = a.RemoveStaleInitial()
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}

	return db, a, nil
}

// openStore opens the database, and before that this server as a node, if it is one of several.
func (p *program) openStore(options store.Options) (db *store.DB, err error) {
	if p.node, err = p.newNode(false); err != nil {
		return nil, err
	}
	if p.node == nil {
		return store.Open(p.config.DataDir, options)
	}
	joining := options
	options.CommitLog = p.node.CommitLog()
	options.Files.OnDuty = p.node.OnDuty
	err = p.node.Prepare(context.Background(), joining, func() (err error) {
		db, err = store.Open(p.config.DataDir, options)
		return err
	})
	if err == nil {
		err = p.node.Attach(db)
	}
	if err != nil {
		return nil, errors.Join(err, p.node.Close())
	}
	return db, nil
}

// newServer returns a server that is not running, on the database. The caller closes its database.
func (p *program) newServer(settings web.Config) (*server.Server, error) {
	db, a, err := p.open()
	if err != nil {
		return nil, err
	}
	if p.node != nil {
		settings.Cluster = offDuty{p.node}
	}
	s, err := server.New(settings, db, a, p.log)
	if err != nil {
		return nil, errors.Join(err, db.Close(), p.closeNode())
	}
	return s, nil
}

func (p *program) storeOptions() store.Options {
	options := store.Options{
		Progress:  p.progress.step,
		Version:   p.Version,
		Keys:      server.Keys(),
		Confirmed: server.ConfirmedKeys(),
		Reserve:   reserveBytes,
		Log:       p.config.ChangeLog,
	}
	options.Stream = p.streamOptions()
	if p.config.Files != nil {
		files := *p.config.Files
		files.Idle = !p.serves
		files.Log = func(text string, err error) { p.log.Warn().Err(err).Msg(text) }
		options.Files = &files
	}
	if p.serves {
		m := &migrationLog{log: p.log, every: migrationEvery}
		options.Migrating = m.update
	} else {
		options.Origin = store.Origin{
			Kind:      "cli",
			Operation: audit.Operation{Title: "reeve " + p.command},
		}
	}
	return options
}

func (p *program) authOptions() auth.Options {
	options := auth.Options{
		Cost:         p.config.BcryptCost,
		InitialFile:  filepath.Join(p.config.DataDir, initialName),
		Common:       embed.CommonPasswords(),
		Breached:     p.breached,
		LoginLogDays: p.config.LoginLogDays,
		LoginLogRows: p.config.LoginLogRows,
		PublicURL:    p.config.PublicURL,
	}
	if p.node != nil {
		options.Nodes, options.OnDuty = p.node.Live, p.node.OnDuty
	}
	return options
}

// firstPassword sets the first user's password: the one in the environment, else a
// generated one, which must be changed.
func (p *program) firstPassword(seed *server.Seed) (err error) {
	if p.first != "" && p.firstFile != "" {
		return fmt.Errorf("%s and %s are both set: set one of them", passwordVariable,
			passwordFileVariable)
	}

	from := passwordVariable
	if seed.Password = p.first; seed.Password == "" && p.firstFile != "" {
		from = passwordFileVariable
		if seed.Password, err = readPassword(p.firstFile); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	if seed.Password != "" {
		return p.authOptions().CheckFirst(p.firstName, from, seed.Password)
	}

	seed.Password, seed.MustChange = auth.RandomPassword(), true
	return p.announce(seed.Password)
}

// readPassword reads a password file. It ignores a byte order mark and a line break at the end.
func readPassword(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	password := strings.TrimRight(strings.TrimPrefix(string(b), "\ufeff"), "\r\n")
	if password == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	return password, nil
}

// announce writes the generated password to a file that only this user of the machine
// can read. It also shows the password if the log goes to a terminal, but never logs
// it, since more people can read the log.
func (p *program) announce(password string) error {
	path := p.authOptions().InitialFile
	if err := auth.WriteInitial(path, p.firstName, password); err != nil { // before the database, so that the password is never lost
		return err
	}
	if isTerminal(p.err) {
		fmt.Fprintf(p.err,
			"\n  First sign-in: username %s, password %s\n  You must change it when you sign in. Until then it is also in %s\n\n", p.firstName, password, path)
	} else {
		p.log.Info().Str("file", path).Msg("the username and the password of the first user are in the file until the password is changed")
	}
	return nil
}
