package server

import (
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"reeve/store"
	"reeve/store/errs"
)

var healthRoutes = []Route{
	action("GET", "/health", public, "Check the server's health", health),
	action("GET", "/system/health", "system.info", "Get the system's health", systemHealth),
	action("POST", "/system/health/acknowledge", "system.info.acknowledge", "Acknowledge lost commits", acknowledgeLost),
}

type healthOut struct {
	Status string `json:"status" doc:"Always ok; any other state is an error response"`
}

// healthCacheTime is how long a result of /health is cached, so that a flood of
// requests costs nothing.
const healthCacheTime = time.Second

type cachedHealth struct {
	at  time.Time
	err error
}

func health(req *Request, _ *none) (*healthOut, error) {
	now := time.Now()
	last := req.s.health.Load()
	if last == nil || now.Sub(last.at) >= healthCacheTime {
		last = &cachedHealth{now, req.s.alive()}
		req.s.health.Store(last)
	}
	if last.err != nil {
		return nil, last.err
	}
	return &healthOut{"ok"}, nil
}

// alive returns an error once writing to data.db or files.db has stopped, which a
// restart can fix. A full disk is not an error: reads continue, and a restart frees no
// space. The error has no cause, which would be logged with every request.
func (s *Server) alive() error {
	for _, err := range []error{s.db.Healthy(), s.db.FilesHealthy()} {
		if err != nil {
			return errs.New(errs.Busy, "%s", errs.Of(err)).Coded("not_healthy")
		}
	}
	return nil
}

// States of a component, from best to worst.
const (
	healthy  = "ok"
	checking = "checking" // works; verification is still running
	degraded = "degraded" // works, but needs attention
	failed   = "failed"
)

// part is a component whose health is checked.
type part struct {
	Name    string           `json:"name" doc:"Name of the component"`
	State   string           `json:"state" doc:"State of the component: ok, checking, degraded or failed"`
	Text    string           `json:"text" doc:"Description of the state, in the language of the request"`
	Reason  reason           `json:"reason" doc:"Code and parameters of text"`
	Since   store.Time       `json:"since" null:"true" doc:"Time since when the component has failed, if known"`
	Figures map[string]int64 `json:"figures" doc:"Figures by name, which ends in the unit"`

	message errs.Message // written to Text and Reason for a response
}

type systemHealthOut struct {
	State string `json:"state" doc:"Worst state of all components"`
	Parts []part `json:"parts" doc:"Components of the system"`
}

func systemHealth(req *Request, _ *none) (*systemHealthOut, error) {
	order := []string{healthy, checking, degraded, failed} // worst last
	out, language := &systemHealthOut{State: healthy}, req.language()
	for _, look := range req.s.parts {
		p := look()
		p.Text, p.Reason = p.message.In(language), reasonOf(p.message)
		if slices.Index(order, p.State) > slices.Index(order, out.State) {
			out.State = p.State
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

// unknownPart returns the state of a component whose check failed, and logs the cause.
func (s *Server) unknownPart(name string, err error) part {
	s.failures.log(s.log, "part "+name, err, func(line *zerolog.Event) {
		line.Str("part", name).Msg("a health check failed")
	})
	return part{Name: name, State: failed, message: errs.Of(err).Msg, Figures: map[string]int64{}}
}

func (s *Server) databaseHealth() part {
	lost, lostAt := s.db.LostCommits()
	p := part{Name: "database", State: healthy, message: errs.Say("accepts writes"), Figures: map[string]int64{"writable": 1, "lost_commits": int64(lost)}}
	if err := s.db.Healthy(); err != nil {
		p.State, p.message, p.Figures["writable"] = failed, errs.Of(err).Msg, 0
		if since := s.db.FailedSince(); !since.IsZero() {
			p.Since = store.TimeOf(since)
		}
		return p
	}
	if s.db.Checking() {
		p.State, p.message = checking, errs.Say("accepts writes; large collections are still being verified")
	}
	if err := s.db.MarkHealthy(); err != nil {
		p.State, p.message = degraded, errs.Of(err).Msg
	}
	if found := s.db.FoundDamage().Data; len(found) > 0 {
		p.State, p.Figures["damaged"] = degraded, int64(len(found))
		p.message = errs.Say("records are damaged (%d found): %s; everything else works; stop the server and restore a backup, or copy what is intact with `reeve salvage NEWDIR`", len(found), found[0])
	}
	if lost > 0 {
		p.State, p.Since = degraded, lostAt
		p.message = errs.Say("the last changes before this start are missing (%d lost): data.db was damaged or replaced by an older file; "+
			"repeat them or restore a backup, then acknowledge the loss", lost)
	}
	return p
}

// secretsHealth reports whether secret.key decrypts the secret values.
func (s *Server) secretsHealth() part {
	secrets, err := s.db.Secrets()
	if err != nil {
		return s.unknownPart("secrets", err)
	}
	p := part{Name: "secrets", State: healthy, message: errs.Say("secret values can be decrypted"), Figures: map[string]int64{"unopened": int64(len(secrets.Unopened))}}
	switch {
	case secrets.WrongKey:
		p.State, p.message = degraded, errs.Say("secret.key is not the key of this database: restore the right file and restart, or remove it, restart and enter the secret values again")
	case len(secrets.Unopened) > 0:
		few := secrets.Unopened[:min(len(secrets.Unopened), 5)]
		p.State, p.message = degraded, errs.Say("%d secret values can't be decrypted with secret.key and must be entered again: %s", len(secrets.Unopened), few)
	case secrets.Rotating:
		p.State, p.message = degraded, errs.Say("a key rotation was interrupted: stop the server and run `reeve key rotate`")
	}
	return p
}

// acknowledgeLost clears the warning about lost commits.
func acknowledgeLost(req *Request, in *none) (*systemHealthOut, error) {
	if err := req.db.AcknowledgeLostCommits(); err != nil {
		return nil, err
	}
	return systemHealth(req, in)
}

// leastFree is the free disk space in bytes that the database needs to write at all.
const leastFree = 1 << 20

func (s *Server) diskHealth() part {
	free, known, err := s.db.DiskFree()
	if err != nil {
		return s.unknownPart("disk", err)
	}
	if !known {
		return part{Name: "disk", State: healthy, message: errs.Say("free disk space is unknown on this system"), Figures: map[string]int64{}}
	}
	floor := int64(0)
	err = s.db.View(store.Anonymous, func(tx *store.Tx) error {
		floor = int64(store.FileFloor.Get(tx)) << 20
		return nil
	})
	if err != nil {
		return s.unknownPart("disk", err)
	}
	p := diskPart(free, floor)
	if s.db.DiskLow() {
		p.State, p.message = failed, errs.Say("the disk is full: until space is freed, you can only sign in and delete")
	}
	return p
}

func diskPart(free, floor int64) part {
	p := part{Name: "disk", State: healthy, Figures: map[string]int64{"free_bytes": free, "floor_bytes": floor}}
	p.message = errs.Say("%d MiB are free", free>>20)
	switch {
	case free < leastFree:
		p.State, p.message = failed, errs.Say("the disk is full; free disk space")
	case free < floor:
		p.State, p.message = degraded, errs.Say("%d MiB are free; uploads are rejected below %d MiB (Settings → Files → Free disk space); free disk space", free>>20, floor>>20)
	}
	return p
}

func (s *Server) filesHealth() part {
	ready, err := s.db.FilesReady()
	stored, coming := s.db.FileBytes()
	p := part{Name: "files", State: healthy, message: errs.Say("open"), Figures: map[string]int64{"stored_bytes": stored, "coming_bytes": coming}}
	if err != nil {
		text, _, _ := strings.Cut(errs.ForOperator(err).Error(), "\n")
		p.State, p.message = failed, errs.Say("the files database could not be opened: %s; everything else works", text)
		return p
	}
	if !ready {
		p.State, p.message = degraded, errs.Say("the files database is being opened")
	}
	if found := s.db.FoundDamage().Files; len(found) > 0 {
		p.State, p.Figures["damaged"] = degraded, int64(len(found))
		p.message = errs.Say("files are damaged (%d found): %s; other files can be read; stop the server and restore a backup, or copy what is intact with `reeve salvage NEWDIR`", len(found), found[0])
	}
	if err := s.db.FilesHealthy(); err != nil {
		p.State, p.message = failed, errs.Of(err).Msg
		if since := s.db.FilesFailedSince(); !since.IsZero() {
			p.Since = store.TimeOf(since)
		}
	}
	return p
}

// searchHealth reports whether the search indexes of large collections are usable.
func (s *Server) searchHealth() part {
	p := part{Name: "search", State: healthy, Figures: map[string]int64{}}
	var failing []string
	for _, i := range s.db.SearchIndexes() {
		p.Figures["indexes"]++
		p.Figures["index_bytes"] += i.Bytes
		if i.Err != nil {
			failing = append(failing, strings.ReplaceAll(i.Collection, "_", " "))
			s.failures.log(s.log, "search index "+i.Collection, i.Err, func(line *zerolog.Event) {
				line.Str("collection", i.Collection).Msg("a search index cannot be made or read")
			})
		}
	}
	switch n := p.Figures["indexes"]; {
	case len(failing) > 0:
		p.State = degraded
		p.message = errs.Say("the search index of %s can't be built or read: searches work, but are slow; see the server log", failing)
	case n == 0:
		p.message = errs.Say("no collection is large enough to need a search index")
	default:
		p.message = errs.Say("large collections have search indexes")
	}
	return p
}

func (s *Server) cacheHealth() part {
	var caches []store.CacheStats
	err := s.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		caches, err = store.Caches(tx)
		return err
	})
	if err != nil {
		return s.unknownPart("caches", err)
	}
	p := part{Name: "caches", State: healthy, message: errs.Say("up to date"), Figures: map[string]int64{}}
	for _, c := range caches {
		p.Figures[c.Name+"_generation"] = int64(c.Generation)
		p.Figures[c.Name+"_age_seconds"] = int64(time.Since(c.At).Seconds())
	}
	return p
}

func (s *Server) clockHealth() part {
	now := time.Now()
	var newest store.Time
	err := s.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		newest, err = store.LatestUpdate(tx)
		return err
	})
	if err != nil {
		return s.unknownPart("clock", err)
	}
	// Round strips the monotonic reading, so one difference uses the wall clock and the
	// other the monotonic clock, which cannot be set.
	moved := now.Round(0).Sub(s.started.Round(0)) - now.Sub(s.started)
	return clockPart(moved, newest.Std().Sub(now))
}

// clockSlack is the deviation of a clock above which health reports it.
const clockSlack = 2 * time.Second

// clockPart reports a clock that was set since the start by moved, and records with
// timestamps ahead of it.
func clockPart(moved, ahead time.Duration) part {
	p := part{Name: "clock", State: healthy, message: errs.Say("consistent"), Figures: map[string]int64{
		"moved_ms": moved.Milliseconds(), "newest_ahead_seconds": max(0, int64(ahead.Seconds())),
	}}
	switch {
	case moved < -clockSlack:
		p.State, p.message = degraded, errs.Say("the clock was set back by %s since the start: sessions last longer, and timestamps may be out of order", (-moved).Round(time.Second))
	case ahead > clockSlack:
		p.State, p.message = degraded, errs.Say("records have timestamps %s in the future: the clock was ahead, or is behind now", ahead.Round(time.Second))
	}
	return p
}
