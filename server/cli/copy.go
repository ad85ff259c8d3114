package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"filippo.io/age"

	"reeve/server"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/copies"
	"reeve/store/errs"
	"reeve/store/kv"
)

// configureBackups gives the server the targets of copies in the configuration.
func (p *program) configureBackups(s *server.Server) error {
	set, err := p.config.Backups()
	if err != nil {
		return err
	}
	return s.Backups.Configure(set)
}

// examinerOf returns the examination of copies of a database: in encrypted ones, the secret values that the
// database can decrypt must be readable, too.
func (p *program) examinerOf(db *store.DB) copies.Examine {
	return func(ctx context.Context, archive, dir string, identities []age.Identity) (records int, head *audit.Head, err error) {
		secrets := kv.SecretState{WrongKey: true} // a copy that is not encrypted lacks secret.key
		if identities != nil {
			if secrets, err = db.Secrets(); err != nil {
				return 0, nil, err
			}
		}
		return p.examine(ctx, archive, dir, identities, !secrets.WrongKey && len(secrets.Unopened) == 0)
	}
}

// examine restores a copy to dir, verifies its records, its change log and, if withSecrets is set, its secret values, and
// serves one request of an operator from it. The server in it does not run: it has no listener, sends nothing, goes on
// with no job, and asks no bucket of files, whose contents are examined apart.
func (p *program) examine(ctx context.Context, archive, dir string, identities []age.Identity,
	withSecrets bool) (records int, head *audit.Head, err error) {
	none := func(kv.Content, int) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	options := p.storeOptions()
	options.Files = nil
	options.Expected = &kv.Expected{}
	done, err := store.RestoreContents(dir, archive, identities, none, options)
	if err != nil {
		return 0, nil, err
	}
	if withSecrets && (done.WrongKey || len(done.Unopened) > 0) {
		return 0, nil, fmt.Errorf("its secret.key does not open %s", errs.Count(len(done.Unopened), "secret value"))
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}

	if err := p.answerOnce(dir); err != nil {
		return 0, nil, err
	}
	return done.Records, done.LogHead, nil
}

// answerOnce opens restored data as a start would, without a request to the bucket of files, verifies the change log, and serves one request of an operator.
func (p *program) answerOnce(dir string) (err error) {
	configuration := *p.config
	configuration.DataDir, configuration.Cluster = dir, nil // restored data are those of one server
	of := &program{Release: p.Release, command: p.command, firstName: p.firstName, config: &configuration}
	settings, err := of.settings(nil)
	if err != nil {
		return err
	}
	settings.Monitor.Off, settings.Console = true, nil
	s, err := of.newServer(settings)
	if err != nil {
		return fmt.Errorf("the copy can't be started: %w", err)
	}
	defer func() { err = errors.Join(err, s.DB.Close()) }()
	if _, err := s.DB.VerifyLog(nil); err != nil {
		return fmt.Errorf("its change log is not as it was written: %w", err)
	}
	c := of.clientOf(s)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.get("/system/info", nil, nil); err != nil {
		return fmt.Errorf("the copy does not answer: %w", err)
	}
	return nil
}
