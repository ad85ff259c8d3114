// Package ops tells administrators and their programs about the server: health, system
// information, monitoring, backup, the manual, and the client libraries.
package ops

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/sdk"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func HealthRoutes(o *Ops) []web.Route {
	return []web.Route{
		web.Action("GET", "/health", web.Public, "Check the server's health", o.health, web.Options{
			Note: "Returns 200 while the server can serve requests; for load balancers and supervisors.",
		}),
		web.Action("GET", "/health/live", web.Public, "Check that the server runs", live, web.Options{
			Note: "Returns 200 while the process answers. A supervisor restarts a server that does not; a " +
				"full disk or one that is being drained is no reason.",
		}),
		web.Action("GET", "/health/ready", web.Public, "Check that the server is ready", o.ready,
			web.Options{
				Note: "Returns 200 while the server answers requests and lets users sign in, and 503 when " +
					"it has begun to stop or writing has failed. With write=1 also 503 while the disk is " +
					"full: then only sign-ins and deletions are possible.",
			}),
		web.Action("GET", "/system/health", "system.info", "Get the system's health",
			o.systemHealth, web.Options{
				Note: "Returns the state of each part of the server and the worst of them.",
			}),
		web.Action("POST", "/system/health/acknowledge", "system.info.acknowledge",
			"Acknowledge lost commits", o.acknowledgeLost, web.Options{
				Note: "Ends the warning that commits were lost, and returns the state of each part.",
			}),
	}
}

// Ops tells administrators and their programs about the server.
type Ops struct {
	Parts  []func() web.Part // components of /system/health
	Cached atomic.Pointer[cachedHealth]

	compaction compaction

	clients func() (*sdk.Files, error)                // packed for the first request, not at start
	manual  func() (web.Encoded[manualAnswer], error) // rendered for the first request, not at start
}

func NewOps(s *web.Server) *Ops {
	return &Ops{
		compaction: compaction{
			start: make(chan struct{}, 1),
			state: compactionState{State: noCompaction, Files: []compactedFile{}},
		},
		clients: sync.OnceValues(func() (*sdk.Files, error) {
			return packClients(s.Config.Clients, s.Config.Version)
		}),
		manual: sync.OnceValues(func() (web.Encoded[manualAnswer], error) {
			return NewManual(s.Config.Manual, s.URL(ManualPages))
		}),
	}
}

type healthOut struct {
	Status string `json:"status" doc:"Always ok; any other state is an error response"`
}

// HealthCacheTime is how long a result of /health is cached, so that a flood of
// requests costs nothing.
const HealthCacheTime = time.Second

type cachedHealth struct {
	At  time.Time
	err error
}

func (o *Ops) health(req *web.Request, _ *web.None) (*healthOut, error) {
	now := time.Now()
	last := o.Cached.Load()
	if last == nil || now.Sub(last.At) >= HealthCacheTime {
		last = &cachedHealth{now, alive(req.Server)}
		o.Cached.Store(last)
	}
	if last.err != nil {
		return nil, last.err
	}
	return &healthOut{"ok"}, nil
}

// live answers as long as the process does.
func live(*web.Request, *web.None) (*healthOut, error) { return &healthOut{"ok"}, nil }

type readyIn struct {
	Write store.Flag `query:"write" doc:"1 to require that records can be written, too"`
}

func (o *Ops) ready(req *web.Request, in *readyIn) (*healthOut, error) {
	req.Server.Probed()
	switch {
	case req.Server.Draining():
		return nil, errs.New(errs.Busy, "the server is shutting down").Coded("not_ready")
	case bool(in.Write) && req.Server.DB.DiskLow():
		return nil, errs.New(errs.Busy, "the disk is full: until space is freed, you can only sign in and delete").Coded("not_ready")
	}
	if err := req.DB.View(store.System, func(tx *store.Tx) error {
		_, err := store.Roles.Get(tx, store.OwnerRole)
		return err
	}); err != nil {
		return nil, errs.New(errs.Busy, "%s", errs.Of(err)).Coded("not_ready")
	}
	return o.health(req, nil)
}

// alive returns an error once writing to data.db or files.db has stopped, which a
// restart can fix. A full disk is not an error: reads continue, and a restart frees no
// space. The error has no cause, which would be logged with every request.
func alive(s *web.Server) error {
	for _, err := range []error{s.DB.Healthy(), s.DB.FilesHealthy()} {
		if err != nil {
			return errs.New(errs.Busy, "%s", errs.Of(err)).Coded("not_healthy")
		}
	}
	return nil
}

// States of a component, from best to worst.
const ()

type SystemHealthOut struct {
	State string     `json:"state" doc:"Worst state of all components"`
	Parts []web.Part `json:"parts" doc:"Components of the system"`
}

func (o *Ops) systemHealth(req *web.Request, _ *web.None) (*SystemHealthOut, error) {
	order := []string{web.Healthy, web.Checking, web.Degraded, web.Failed} // worst last
	out, language := &SystemHealthOut{State: web.Healthy}, req.Language()
	for _, look := range o.Parts {
		p := look()
		p.Text, p.Reason = p.Message.In(language), web.ReasonOf(p.Message)
		if slices.Index(order, p.State) > slices.Index(order, out.State) {
			out.State = p.State
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

func DatabaseHealth(s *web.Server) web.Part {
	lost, lostAt := s.DB.LostCommits()
	p := web.Part{
		Name:    "database",
		State:   web.Healthy,
		Message: errs.Say("accepts writes"),
		Figures: map[string]int64{"writable": 1, "lost_commits": int64(lost)},
	}
	if err := s.DB.Healthy(); err != nil {
		p.State, p.Message, p.Figures["writable"] = web.Failed, errs.Of(err).Msg, 0
		if since := s.DB.FailedSince(); !since.IsZero() {
			p.Since = kv.TimeOf(since)
		}
		return p
	}
	if s.DB.Checking() {
		p.State, p.Message = web.Checking, errs.Say("accepts writes; large collections are still being verified")
	}
	if err := s.DB.MarkHealthy(); err != nil {
		p.State, p.Message = web.Degraded, errs.Of(err).Msg
	}
	if found := s.DB.FoundDamage().Data; len(found) > 0 {
		p.State, p.Figures["damaged"] = web.Degraded, int64(len(found))
		p.Message = errs.Say("records are damaged (%d found): %s; everything else works; stop the server and restore a backup, or copy what is intact with `reeve salvage NEWDIR`", len(found), found[0])
	}
	if lost > 0 {
		p.State, p.Since = web.Degraded, lostAt
		p.Message = errs.Say("the last changes before this start are missing (%d lost): data.db was damaged or replaced by an older file; "+
			"repeat them or restore a backup, then acknowledge the loss", lost)
	}

	return p
}

// SecretsHealth reports whether secret.key decrypts the secret values.
func SecretsHealth(s *web.Server) web.Part {
	secrets, err := s.DB.Secrets()
	if err != nil {
		return s.UnknownPart("secrets", err)
	}

	p := web.Part{
		Name:    "secrets",
		State:   web.Healthy,
		Message: errs.Say("secret values can be decrypted"),
		Figures: map[string]int64{"unopened": int64(len(secrets.Unopened))},
	}
	switch {
	case secrets.WrongKey:
		p.State, p.Message = web.Degraded, errs.Say("secret.key is not the key of this database: restore the right file and restart, or remove it, restart and enter the secret values again")
	case len(secrets.Unopened) > 0:
		few := secrets.Unopened[:min(len(secrets.Unopened), 5)]
		p.State, p.Message = web.Degraded, errs.Say("%d secret values can't be decrypted with secret.key and must be entered again: %s", len(secrets.Unopened), few)
	case secrets.Rotating:
		p.State, p.Message = web.Degraded, errs.Say("a key rotation was interrupted: stop the server and run `reeve secret rotate`")
	}

	return p
}

// acknowledgeLost clears the warning about lost commits.
func (o *Ops) acknowledgeLost(req *web.Request, in *web.None) (*SystemHealthOut, error) {
	if err := req.DB.AcknowledgeLostCommits(); err != nil {
		return nil, err
	}
	return o.systemHealth(req, in)
}

// leastFree is the free disk space in bytes that the database needs to write at all.
const leastFree = 1 << 20

func DiskHealth(s *web.Server) web.Part {
	free, known, err := s.DB.DiskFree()
	if err != nil {
		return s.UnknownPart("disk", err)
	}
	if !known {
		return web.Part{
			Name:    "disk",
			State:   web.Healthy,
			Message: errs.Say("free disk space is unknown on this system"),
			Figures: map[string]int64{},
		}
	}

	floor := int64(0)
	err = s.DB.View(store.Anonymous, func(tx *store.Tx) error {
		floor = int64(store.FileFloor.Get(tx)) << 20
		return nil
	})
	if err != nil {
		return s.UnknownPart("disk", err)
	}

	p := DiskPart(free, floor)
	if s.DB.DiskLow() {
		p.State, p.Message = web.Failed, errs.Say("the disk is full: until space is freed, you can only sign in and delete")
	}

	return p
}

func DiskPart(free, floor int64) web.Part {
	p := web.Part{
		Name:    "disk",
		State:   web.Healthy,
		Figures: map[string]int64{"free_bytes": free, "floor_bytes": floor},
	}
	p.Message = errs.Say("%d MiB are free", free>>20)
	switch {
	case free < leastFree:
		p.State, p.Message = web.Failed, errs.Say("the disk is full; free disk space")
	case free < floor:
		p.State, p.Message = web.Degraded, errs.Say("%d MiB are free; uploads are rejected below %d MiB (Settings → Files → Free disk space); free disk space", free>>20, floor>>20)
	}
	return p
}

func FilesHealth(s *web.Server) web.Part {
	ready, err := s.DB.FilesReady()
	stored, coming := s.DB.FileBytes()
	p := web.Part{
		Name:    "files",
		State:   web.Healthy,
		Message: errs.Say("open"),
		Figures: map[string]int64{"stored_bytes": stored, "coming_bytes": coming},
	}
	if err != nil {
		text, _, _ := strings.Cut(errs.ForOperator(err).Error(), "\n")
		p.State, p.Message = web.Failed, errs.Say("the files database could not be opened: %s; everything else works", text)
		return p
	}
	if !ready {
		p.State, p.Message = web.Checking, errs.Say("the files database is being opened")
	}
	bucketHealth(s, &p)
	if found := s.DB.FoundDamage().Files; len(found) > 0 {
		p.State, p.Figures["damaged"] = web.Degraded, int64(len(found))
		p.Message = errs.Say("files are damaged (%d found): %s; other files can be read; stop the server and restore a backup, or copy what is intact with `reeve salvage NEWDIR`", len(found), found[0])
	}
	if err := s.DB.FilesHealthy(); err != nil {
		p.State, p.Message = web.Failed, errs.Of(err).Msg
		if since := s.DB.FilesFailedSince(); !since.IsZero() {
			p.Since = kv.TimeOf(since)
		}
	}

	return p
}

// bucketHealth adds the state of the bucket that has contents of files.
func bucketHealth(s *web.Server, p *web.Part) {
	bucket, ok := s.DB.ObjectState()
	if !ok {
		return
	}
	p.Figures["cached_bytes"] = bucket.Cached
	switch {
	case bucket.Fault != nil:
		text, _, _ := strings.Cut(errs.ForOperator(bucket.Fault).Error(), "\n")
		p.State, p.Since = web.Degraded, kv.TimeOf(bucket.Since)
		p.Message = errs.Say("the bucket of files does not answer: %s; only files in the cache can be read, and none uploaded", text)
	case !bucket.Other.IsZero():
		p.State = web.Degraded
		p.Message = errs.Say("another server with a copy of this data uses the bucket of files, last at %s; nothing is deleted there", bucket.Other.UTC().Format(time.RFC3339))
	}
}

// SearchHealth reports whether the search indexes of large collections are usable.
func SearchHealth(s *web.Server) web.Part {
	p := web.Part{Name: "search", State: web.Healthy, Figures: map[string]int64{}}
	var failing []string
	for _, i := range s.DB.SearchIndexes() {
		p.Figures["indexes"]++
		p.Figures["index_bytes"] += i.Bytes
		if i.Err != nil {
			failing = append(failing, strings.ReplaceAll(i.Collection, "_", " "))
			s.Failures.Report(s.Log, "search index "+i.Collection, i.Err, func(line *zerolog.Event) {
				line.Str("collection", i.Collection).Msg("a search index cannot be made or read")
			})
		}
	}

	switch n := p.Figures["indexes"]; {
	case len(failing) > 0:
		p.State = web.Degraded
		p.Message = errs.Say("the search index of %s can't be built or read: searches work, but are slow; see the server log", failing)
	case n == 0:
		p.Message = errs.Say("no collection is large enough to need a search index")
	default:
		p.Message = errs.Say("large collections have search indexes")
	}

	return p
}

func CacheHealth(s *web.Server) web.Part {
	var caches []kv.CacheStats
	err := s.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		caches, err = kv.Caches(tx)
		return err
	})
	if err != nil {
		return s.UnknownPart("caches", err)
	}

	p := web.Part{
		Name:    "caches",
		State:   web.Healthy,
		Message: errs.Say("up to date"),
		Figures: map[string]int64{},
	}
	for _, c := range caches {
		p.Figures[c.Name+"_generation"] = int64(c.Generation)
		p.Figures[c.Name+"_age_seconds"] = int64(time.Since(c.At).Seconds())
	}

	return p
}

func ClockHealth(s *web.Server) web.Part {
	now := time.Now()
	var newest store.Time
	err := s.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		newest, err = kv.LatestUpdate(tx)
		return err
	})
	if err != nil {
		return s.UnknownPart("clock", err)
	}
	// Round strips the monotonic reading, so one difference uses the wall clock and the
	// other the monotonic clock, which cannot be set.
	moved := now.Round(0).Sub(s.Started.Round(0)) - now.Sub(s.Started)
	return ClockPart(moved, newest.Std().Sub(now))
}

// clockSlack is the deviation of a clock above which health reports it.
const clockSlack = 2 * time.Second

// ClockPart reports a clock that was set since the start by moved, and records with
// timestamps ahead of it.
func ClockPart(moved, ahead time.Duration) web.Part {
	p := web.Part{Name: "clock", State: web.Healthy, Message: errs.Say("consistent"),
		Figures: map[string]int64{
			"moved_ms":             moved.Milliseconds(),
			"newest_ahead_seconds": max(0, int64(ahead.Seconds())),
		}}
	switch {
	case moved < -clockSlack:
		p.State, p.Message = web.Degraded, errs.Say("the clock was set back by %s since the start: sessions last longer, and timestamps may be out of order", (-moved).Round(time.Second))
	case ahead > clockSlack:
		p.State, p.Message = web.Degraded, errs.Say("records have timestamps %s in the future: the clock was ahead, or is behind now", ahead.Round(time.Second))
	}
	return p
}
