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
	"net"
	"slices"

	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"
	"reeve/auth"
	"reeve/server/account"
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
	"reeve/server/rights"
	"reeve/server/settings"
	"reeve/server/web"
	"reeve/server/webhooks"
	"reeve/store"
)

// features are the parts of the server that have a state of their own.
type features struct {
	jobs    *jobs.Runner
	streams *changes.Streams
	outbox  *mails.Outbox
	sender  *webhooks.Sender
	person  *person.Person
	reads   *settings.SecretReads
	files   *files.Downloads
	pages   *pages.Pages
	forward *forward.Forwarder
	choices *choices.Choices
	fields  *people.FieldKeeper
	ops     *ops.Ops
	openapi *openapi.Documents // made for the first request, not at start: it takes 20 ms
}

// routes returns the table of all routes, without the features that their handlers need.
func routes() []web.Route { return new(features).routes() }

// routes returns the table of all routes. It must not use the features, which may be nil: handlers do.
func (f *features) routes() []web.Route {
	return slices.Concat(
		account.Routes(),
		account.DeviceRoutes(),
		account.ActAsRoutes(),
		account.FactorRoutes(),
		people.LockoutRoutes(),
		account.PasskeyRoutes(),
		account.ReauthRoutes(),
		files.AvatarRoutes(f.files),
		rights.KeyRoutes(),
		rights.AccessCheckRoutes(),
		forward.Routes(f.forward),
		people.UserRoutes(f.jobs),
		f.person.UserRoutes(),
		people.UserImportRoutes(f.jobs),
		rights.RoleRoutes(),
		rights.DeptRoutes(),
		rights.PermissionRoutes(),
		people.AppUserRoutes(f.jobs),
		f.person.AppUserRoutes(),
		rights.AppRoleRoutes(),
		account.AppRoutes(),
		account.AppSelfRoutes(),
		account.AppFactorRoutes(),
		pages.Routes(f.pages),
		pages.FactorRoutes(f.pages),
		account.ChallengeRoutes(),
		changes.AuditRoutes(f.jobs),
		changes.StreamRoutes(f.streams),
		settings.ConfigRoutes(f.reads),
		webhooks.Routes(f.sender),
		settings.Routes(),
		settings.GroupRoutes(),
		settings.FlagRoutes(),
		files.Routes(f.jobs),
		files.TrashRoutes(),
		files.GroupRoutes(),
		files.ContentRoutes(f.files),
		account.SessionRoutes(),
		ops.MonitorRoutes(),
		openapi.Routes(f.openapi),
		ops.SystemRoutes(),
		settings.DictRoutes(),
		settings.DictItemRoutes(),
		jobs.Routes(),
		ops.HealthRoutes(f.ops),
		ops.InfoRoutes(),
		ops.ManualRoutes(f.ops),
		web.MetricRoutes(),
		account.LinkRoutes(),
		pages.LinkRoutes(f.pages),
		people.InviteRoutes(),
		mails.Routes(f.outbox),
		people.CustomFieldRoutes(),
		ops.ClientRoutes(f.ops),
		choices.Routes(f.choices),
	)
}

func jobKinds() map[string]jobs.Kind {
	return map[string]jobs.Kind{
		people.UserCSV.Job:    people.UserCSV.JobKind(),
		people.AppUserCSV.Job: people.AppUserCSV.JobKind(),
		people.UserUpdate:     {Access: "", Apply: people.ApplyUserUpdate, Undo: people.UndoUserUpdate},
		changes.UndoKind:      {Access: "", Apply: changes.ApplyUndo, Undo: changes.RevertUndo},

		people.UserDeletions.Job:    people.UserDeletions.JobKind(),
		people.AppUserDeletions.Job: people.AppUserDeletions.JobKind(),
		files.FileDeletions.Job:     files.FileDeletions.JobKind(),
	}
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
	s.choices.Choosers = choices.ChoosersOf(all)
	c.FailPage, c.Hides = s.pages.Fail, func(path string) bool { return pages.HidesPages(c, path) }
	if err := c.Mount(all, func(r *httprouter.Router) { console(c, r) }, s.ops.ServeClients); err != nil {
		return nil, err
	}
	s.ops.Parts = []func() web.Part{
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
		s.sender.Health,
		func() web.Part { return rights.KeyHealth(c) },
		s.outbox.Health,
		func() web.Part { return ops.LimitHealth(c) },
		func() web.Part { return account.SignInHealth(c) },
		func() web.Part { return ops.PasswordHealth(c) },
		func() web.Part { return ops.PermissionsHealth(c) },
	}
	return s, nil
}

func newFeatures(c *web.Server) (f features, err error) {
	f.jobs, f.streams = jobs.NewJobs(c, jobKinds()), changes.NewStreams(c)
	f.sender = webhooks.NewSender(c, f.streams)
	f.reads, f.files = settings.NewSecretReads(c, f.streams), files.NewDownloads()
	f.person = &person.Person{S: c, Sender: f.sender}
	if f.outbox, err = mails.NewOutbox(c); err != nil {
		return f, err
	}
	if f.pages, err = pages.NewPages(c.Config.Pages); err != nil {
		return f, fmt.Errorf("read the HTML pages: %w", err)
	}
	for _, origin := range forward.Exposed(&c.Config.Forward) {
		c.Log.Warn().Str("origin", origin).Msg("this program gets the sessions of its users, since browsers send cookies to every port of a host name: give it a host name other than that of forward_auth.url")
	}
	f.forward, f.choices, f.fields = &forward.Forwarder{Pages: f.pages}, &choices.Choices{}, people.NewFieldKeeper(c)
	f.ops = ops.NewOps(c)
	f.openapi = openapi.NewDocuments(func() (openapi.Document, error) { return openapi.NewDocument(c, c.Routes) })
	return f, nil
}

// Run listens and serves until ctx ends, then lets requests in flight finish. It calls
// ready with the address once it accepts connections.
func (s *Server) Run(ctx context.Context, ready func(net.Addr)) error {
	return s.Server.Listen(ctx, web.Background{
		Start: func() error {
			s.jobs.FindAbandoned()
			s.ReportLog("the start", changes.LogStart(s.Server))
			if err := s.sender.ConfirmAfterRestore(); err != nil {
				return fmt.Errorf("prepare webhooks: %w", err)
			}
			return nil
		},
		Tasks: []func(context.Context){s.jobs.Keep, func(ctx context.Context) { files.KeepFiles(s.Server, ctx) }, func(ctx context.Context) { changes.KeepChangeLog(s.Server, ctx) }, s.reads.Run, s.person.Run, s.streams.Run, s.sender.Run, s.outbox.Run, s.fields.Run},
		Stop:  s.streams.End,
	}, ready)
}
