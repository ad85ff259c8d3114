// Package server puts Reeve together: it builds the features that have a state, concatenates
// their routes to one table, runs their goroutines, and serves the console's files. What all
// routes have in common is in package web.
//
// New builds a Server; Run serves until its context ends.
//
// Invariant: every operation is one row of the route table, from which the router, the
// permission tree, the OpenAPI document and the tests follow.
//
//	s, err := server.New(config, db, auth, log)
//	err = s.Run(ctx, func(addr net.Addr) { log.Info().Stringer("address", addr).Msg("serving") })
package server

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/backup"
	"reeve/server/changes"
	"reeve/server/choices"
	"reeve/server/files"
	"reeve/server/forward"
	"reeve/server/jobs"
	"reeve/server/mails"
	"reeve/server/openapi"
	"reeve/server/ops"
	"reeve/server/pages"
	"reeve/server/people"
	"reeve/server/person"
	"reeve/server/providers"
	"reeve/server/rights"
	"reeve/server/settings"
	"reeve/server/setup"
	"reeve/server/web"
	"reeve/server/webhooks"
	"reeve/store"
)

// features are the parts of the server that have a state of their own.
type features struct {
	Jobs    *jobs.Runner
	Streams *changes.Streams
	Outbox  *mails.Outbox
	Sender  *webhooks.Sender
	Person  *person.Person
	Reads   *settings.SecretReads
	Flags   *settings.FlagStreams
	Files   *files.Downloads
	Pages   *pages.Pages
	Forward *forward.Forwarder
	Choices *choices.Choices
	Fields  *people.FieldKeeper
	Ops     *ops.Ops
	Backups *backup.Service
	SignIn  *providers.Providers
	OpenAPI *openapi.Documents // made for the first request, not at start: it takes 20 ms
}

// Routes returns the table of all routes, without the features that their handlers need.
func Routes() []web.Route { return new(features).routes() }

// routes returns the table of all routes. It must not use the features, which may be nil: handlers
// do.
func (f *features) routes() []web.Route {
	return slices.Concat(
		account.Routes(),
		account.DeviceRoutes(),
		account.ViewRoutes(),
		account.ActAsRoutes(),
		account.FactorRoutes(),
		people.LockoutRoutes(),
		account.PasskeyRoutes(),
		account.ReauthRoutes(),
		files.AvatarRoutes(f.Files),
		rights.KeyRoutes(),
		rights.AccessCheckRoutes(),
		rights.AuthZENRoutes(),
		forward.Routes(f.Forward),
		people.UserRoutes(f.Jobs),
		f.Person.UserRoutes(),
		people.UserImportRoutes(f.Jobs),
		rights.RoleRoutes(),
		rights.ReachRoutes(),
		rights.DeptRoutes(),
		rights.PermissionRoutes(),
		people.AppUserRoutes(f.Jobs),
		f.Person.AppUserRoutes(),
		rights.AppRoleRoutes(),
		account.AppRoutes(),
		account.ProgramSignInRoutes(),
		account.AppSelfRoutes(),
		account.AppFactorRoutes(),
		account.CodeSignInRoutes(),
		account.AppPasskeyRoutes(),
		account.AppReturnRoutes(),
		pages.Routes(f.Pages),
		pages.FactorRoutes(f.Pages),
		pages.EmailCodeRoutes(f.Pages),
		pages.PasskeyRoutes(f.Pages),
		account.ChallengeRoutes(),
		changes.AuditRoutes(f.Jobs),
		changes.StreamRoutes(f.Streams),
		settings.ConfigRoutes(f.Reads),
		webhooks.Routes(f.Sender),
		settings.Routes(),
		settings.GroupRoutes(),
		settings.FlagRoutes(f.Flags),
		files.Routes(f.Jobs),
		files.VersionRoutes(),
		files.TrashRoutes(),
		files.GroupRoutes(),
		files.ContentRoutes(f.Files),
		jobs.MoveRoutes(f.Jobs),
		account.SessionRoutes(),
		ops.MonitorRoutes(),
		openapi.Routes(f.OpenAPI),
		ops.SystemRoutes(),
		ops.CompactRoutes(f.Ops),
		backup.Routes(f.Backups),
		settings.DictRoutes(),
		settings.DictItemRoutes(),
		jobs.Routes(),
		ops.HealthRoutes(f.Ops),
		ops.InfoRoutes(),
		ops.ManualRoutes(f.Ops),
		web.MetricRoutes(),
		web.NodeRoutes(),
		account.LinkRoutes(),
		pages.LinkRoutes(f.Pages),
		people.InviteRoutes(),
		people.SignInRoutes(),
		people.SignOutRoutes(),
		mails.Routes(f.Outbox),
		people.CustomFieldRoutes(),
		ops.ClientRoutes(f.Ops),
		choices.Routes(f.Choices),
		setup.Routes(f.Jobs),
		providers.Routes(f.SignIn),
	)
}

func jobKinds(c *web.Server) map[string]jobs.Kind {
	kinds := map[string]jobs.Kind{
		people.UserRealm.ImportJob:    people.UserRealm.ImportKind(),
		people.AppUserRealm.ImportJob: people.AppUserRealm.ImportKind(),
		people.UserUpdate: {
			Access: "",
			Apply:  people.ApplyUserUpdate,
			Undo:   people.UndoUserUpdate,
		},
		setup.JobKind:    setup.Job(c),
		changes.UndoKind: {Access: "", Apply: changes.ApplyUndo, Undo: changes.RevertUndo},

		people.UserRealm.DeleteJob:    people.UserRealm.DeleteKind(),
		people.AppUserRealm.DeleteJob: people.AppUserRealm.DeleteKind(),
		files.FileDeletions.Job:       files.FileDeletions.JobKind(),
	}
	maps.Copy(kinds, jobs.MoveKinds(c.DB))
	return kinds
}

// Server serves the API of one database.
type Server struct {
	*web.Server
	features
}

// New returns a Server that does not listen yet.
func New(config web.Config, db *store.DB, a *auth.Auth, log zerolog.Logger) (*Server, error) {
	c, err := web.New(config, db, a, log)
	if err != nil {
		return nil, err
	}

	s := &Server{Server: c}
	if s.features, err = newFeatures(c); err != nil {
		return nil, err
	}

	all := s.features.routes()
	s.Choices.Choosers = choices.ChoosersOf(all)
	c.FailPage, c.Hides = s.Pages.Fail, func(path string) bool { return pages.HidesPages(c, path) }
	if err := c.Mount(all, func(r *httprouter.Router) {
		console(c, r)
	}, s.Ops.ServeClients); err != nil {
		return nil, err
	}

	s.Ops.Parts = []func() web.Part{
		func() web.Part { return ops.DatabaseHealth(c) },
		func() web.Part { return ops.SecretsHealth(c) },
		func() web.Part { return ops.DiskHealth(c) },
		func() web.Part { return ops.FilesHealth(c) },
		func() web.Part { return ops.SearchHealth(c) },
		func() web.Part { return ops.TextHealth(c) },
		func() web.Part { return ops.CacheHealth(c) },
		func() web.Part { return ops.ClockHealth(c) },
		c.MonitorHealth,
		func() web.Part { return changes.ChangeLogHealth(c) },
		s.Sender.Health,
		func() web.Part { return rights.KeyHealth(c) },
		s.Outbox.Health,
		func() web.Part { return ops.LimitHealth(c) },
		func() web.Part { return account.SignInHealth(c) },
		func() web.Part { return ops.PasswordHealth(c) },
		func() web.Part { return ops.PermissionsHealth(c) },
		s.Backups.Health,
	}

	if c.Config.Cluster != nil {
		s.Ops.Parts = append(s.Ops.Parts, c.Config.Cluster.Health)
	}

	s.Jobs.FindAbandoned()
	return s, nil
}

// Warnings returns what should be changed about a configuration, to log at start and when a running
// server reads it again.
func Warnings(settings *web.Config, dataDir string) (all []string) {
	if settings.PlainBeyondLoopback() {
		all = append(all, "passwords and tokens are sent unencrypted to "+settings.Listen+
			": set server.tls_cert and server.tls_key, or put a TLS proxy in front")
	}
	for _, network := range settings.WideProxies() {
		all = append(all, ProxyWarning(network))
	}
	for _, origin := range forward.Exposed(&settings.Forward) {
		all = append(all, origin+" gets the sessions of its users, since browsers send cookies to every port of a host name: give it a host name other than that of forward_auth.url")
	}
	return append(all, ops.InstallationWarnings(settings, dataDir)...)
}

// ProxyWarning returns the warning about a network of Config.WideProxies.
func ProxyWarning(network string) string {
	return "server.trusted_proxies has " + network + ": each client in it can claim any address, and so evade limits and the networks of API keys"
}

func newFeatures(c *web.Server) (f features, err error) {
	named := settings.NewNamedUsers(c.DB)
	f.Jobs, f.Streams = jobs.NewJobs(c, jobKinds(c)), changes.NewStreams(c)
	f.Sender = webhooks.NewSender(c, f.Streams)
	f.Reads, f.Files = settings.NewSecretReads(c, f.Streams), files.NewDownloads(c.DB)
	f.Flags = settings.NewFlagStreams(c.DB, f.Streams, named)
	f.Person = &person.Person{S: c, Sender: f.Sender}
	if f.Outbox, err = mails.NewOutbox(c); err != nil {
		return f, err
	}
	if f.Pages, err = pages.NewPages(c.Config.Pages); err != nil {
		return f, fmt.Errorf("read the HTML pages: %w", err)
	}

	f.Forward, f.Choices, f.Fields = &forward.Forwarder{Pages: f.Pages}, &choices.Choices{}, people.NewFieldKeeper(c)
	f.Ops, f.Backups, f.SignIn = ops.NewOps(c), backup.New(c), providers.New(c, f.Pages)
	f.Outbox.Unproven = f.Backups.Unproven
	f.Backups.MailsSent = func(tx *store.Tx) bool { return mails.MailOff(c, tx).Empty() }
	f.OpenAPI = openapi.NewDocuments(func() (openapi.Document, error) {
		return openapi.NewDocument(c, c.Routes)
	})

	return f, nil
}

// Run listens and serves until ctx ends, then lets requests in flight finish. It calls
// ready with the address once it accepts connections.
func (s *Server) Run(ctx context.Context, ready func(net.Addr)) error {
	return s.Server.Listen(ctx, web.Background{
		Start: func() error {
			s.ReportLog("the start", changes.LogStart(s.Server))
			if err := s.Sender.ConfirmAfterRestore(); err != nil {
				return fmt.Errorf("prepare webhooks: %w", err)
			}
			return nil
		},
		Tasks: append(s.Duties(s.Outbox.Run, s.Fields.Run, s.Backups.Run), s.Jobs.Keep, func(ctx context.Context) {
			files.KeepFiles(s.Server, ctx)
		}, func(ctx context.Context) {
			changes.KeepChangeLog(s.Server, ctx)
		}, func(ctx context.Context) {
			s.Ops.KeepCompact(s.Server, ctx)
		}, s.Reads.Run, s.Person.Run, s.Streams.Run, s.Sender.Run),
		Stop: s.Streams.End,
	}, ready)
}
