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

// examine restores a copy to dir, and serves one request of an operator from it. The server in it
// does not run: it has no listener, sends nothing, and goes on with no job.
func (p *program) examine(ctx context.Context, archive, dir string, identities []age.Identity) (records int, head *audit.Head, err error) {
	none := func(kv.Content, int) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	done, err := store.RestoreContents(dir, archive, identities, none, p.storeOptions())
	if err != nil {
		return 0, nil, err
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}

	configuration := *p.config
	configuration.DataDir, configuration.Cluster = dir, nil // restored data are those of one server
	of := &program{Release: p.Release, command: p.command, firstName: p.firstName, config: &configuration}
	settings, err := of.settings(nil)
	if err != nil {
		return 0, nil, err
	}
	settings.Monitor.Off, settings.Console = true, nil
	s, err := of.newServer(settings)
	if err != nil {
		return 0, nil, fmt.Errorf("the copy can't be started: %w", err)
	}
	defer func() { err = errors.Join(err, s.DB.Close()) }()
	c := of.clientOf(s)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.get("/system/info", nil, nil); err != nil {
		return 0, nil, fmt.Errorf("the copy does not answer: %w", err)
	}
	return done.Records, done.LogHead, nil
}
