package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"reeve/store"
	"reeve/store/errs"
)

var healthRoutes = []Route{
	free("GET", "/health", public, "Check the server's health", health),
	free("GET", "/system/health", "system.info", "Get the system's health", systemHealth),
	free("POST", "/system/health/acknowledge", "system.info.acknowledge", "Acknowledge lost commits", acknowledgeLost),
}

type healthOut struct {
	Status string `json:"status" doc:"ok; anything else is an error answer"`
}

// pulseEvery is how long an answer of /health stands, so that a flood of
// questions asks nobody else.
const pulseEvery = time.Second

type pulse struct {
	at  time.Time
	err error
}

func health(req *Request, _ *none) (*healthOut, error) {
	now := time.Now()
	last := req.s.pulse.Load()
	if last == nil || now.Sub(last.at) >= pulseEvery {
		last = &pulse{now, req.s.alive()}
		req.s.pulse.Store(last)
	}
	if last.err != nil {
		return nil, last.err
	}
	return &healthOut{"ok"}, nil
}

// alive is an error once writing to data.db or files.db has stopped, which a restart
// can mend. A full disk is not one: reads go on, and a restart makes no room. The
// error has no cause, which would be logged with every request.
func (s *Server) alive() error {
	for _, err := range []error{s.db.Healthy(), s.db.FilesHealthy()} {
		if err != nil {
			return errs.New(errs.Busy, "%s", errs.Of(err).Msg).Coded("not_healthy")
		}
	}
	return nil
}

// The states of a part, from the best to the worst.
const (
	healthy  = "ok"
	checking = "checking" // it works; verification is still running
	degraded = "degraded" // it works, and somebody should look
	failed   = "failed"
)

// part is something that can work or not.
type part struct {
	Name    string           `json:"name"`
	State   string           `json:"state" doc:"ok, checking, degraded or failed"`
	Text    string           `json:"text"`
	Since   store.Time       `json:"since" null:"true" doc:"since when it has failed, where that is known"`
	Figures map[string]int64 `json:"figures" doc:"by name, with the unit at its end"`
}

type systemHealthOut struct {
	State string `json:"state" doc:"the worst of the parts"`
	Parts []part `json:"parts"`
}

func systemHealth(req *Request, _ *none) (*systemHealthOut, error) {
	order := []string{healthy, checking, degraded, failed} // the worst last
	out := &systemHealthOut{State: healthy}
	for _, look := range req.s.parts {
		p := look()
		if slices.Index(order, p.State) > slices.Index(order, out.State) {
			out.State = p.State
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

// unknownPart is a part that could not be looked at. The cause is logged, as it is
// of any other answer.
func (s *Server) unknownPart(name string, err error) part {
	s.failures.log(s.log, "part "+name, err, func(line *zerolog.Event) {
		line.Str("part", name).Msg("a part could not be looked at")
	})
	return part{Name: name, State: failed, Text: errs.Of(err).Msg, Figures: map[string]int64{}}
}

func (s *Server) databaseHealth() part {
	lost, lostAt := s.db.LostCommits()
	p := part{Name: "database", State: healthy, Text: "takes writes", Figures: map[string]int64{"writable": 1, "lost_commits": int64(lost)}}
	if err := s.db.Healthy(); err != nil {
		p.State, p.Text, p.Figures["writable"] = failed, errs.Of(err).Msg, 0
		if since := s.db.FailedSince(); !since.IsZero() {
			p.Since = store.TimeOf(since)
		}
		return p
	}
	if s.db.Checking() {
		p.State, p.Text = checking, "takes writes; large collections are still being verified"
	}
	if err := s.db.MarkHealthy(); err != nil {
		p.State, p.Text = degraded, errs.Of(err).Msg
	}
	if lost > 0 {
		p.State, p.Since = degraded, lostAt
		p.Text = fmt.Sprintf("the last changes before this start are missing (%d lost): data.db was damaged or replaced by an older file; "+
			"repeat them or restore a backup, then acknowledge the loss", lost)
	}
	return p
}

// secretsHealth is whether secret.key opens the secret values.
func (s *Server) secretsHealth() part {
	secrets, err := s.db.Secrets()
	if err != nil {
		return s.unknownPart("secrets", err)
	}
	p := part{Name: "secrets", State: healthy, Text: "can be decrypted", Figures: map[string]int64{"unopened": int64(len(secrets.Unopened))}}
	switch {
	case secrets.WrongKey:
		p.State, p.Text = degraded, "secret.key is not the key of this database: put the right file back and restart, or remove it, restart and enter the secret values again"
	case len(secrets.Unopened) > 0:
		few := secrets.Unopened[:min(len(secrets.Unopened), 5)]
		p.State, p.Text = degraded, fmt.Sprintf("%d cannot be decrypted with secret.key and must be entered again: %s", len(secrets.Unopened), strings.Join(few, ", "))
	case secrets.Rotating:
		p.State, p.Text = degraded, "a key rotation was interrupted: stop the server and run `reeve key rotate`"
	}
	return p
}

// acknowledgeLost ends the warning about lost commits.
func acknowledgeLost(req *Request, in *none) (*systemHealthOut, error) {
	if err := req.s.db.AcknowledgeLost(); err != nil {
		return nil, err
	}
	return systemHealth(req, in)
}

// leastFree is what the database needs to write at all.
const leastFree = 1 << 20

func (s *Server) diskHealth() part {
	free, known, err := s.db.DiskFree()
	if err != nil {
		return s.unknownPart("disk", err)
	}
	if !known {
		return part{Name: "disk", State: healthy, Text: "this system does not tell how full its disks are", Figures: map[string]int64{}}
	}
	floor := int64(0)
	err = s.db.View(store.Nobody, func(tx *store.Tx) error {
		floor = int64(store.FileFloor.Get(tx)) << 20
		return nil
	})
	if err != nil {
		return s.unknownPart("disk", err)
	}
	p := diskPart(free, floor)
	if s.db.DiskLow() {
		p.State, p.Text = failed, "the disk is full: only signing in and deleting are possible; make room"
	}
	return p
}

func diskPart(free, floor int64) part {
	p := part{Name: "disk", State: healthy, Figures: map[string]int64{"free_bytes": free, "floor_bytes": floor}}
	p.Text = fmt.Sprintf("%d MiB are free", free>>20)
	switch {
	case free < leastFree:
		p.State, p.Text = failed, "the disk is full; make room"
	case free < floor:
		p.State, p.Text = degraded, fmt.Sprintf("%s, and uploads stop below %d MiB (file.free_megabytes); make room", p.Text, floor>>20)
	}
	return p
}

func (s *Server) filesHealth() part {
	ready, err := s.db.FilesReady()
	stored, coming := s.db.FileBytes()
	p := part{Name: "files", State: healthy, Text: "open", Figures: map[string]int64{"stored_bytes": stored, "coming_bytes": coming}}
	if err != nil {
		p.State, p.Text = failed, "the database of files could not be opened; the log of the start says why"
		return p
	}
	if !ready {
		p.State, p.Text = degraded, "the database of files is being opened"
	}
	if err := s.db.FilesHealthy(); err != nil {
		p.State, p.Text = failed, errs.Of(err).Msg
		if since := s.db.FilesFailedSince(); !since.IsZero() {
			p.Since = store.TimeOf(since)
		}
	}
	return p
}

// searchHealth is whether the indexes of large collections' texts can be used.
func (s *Server) searchHealth() part {
	p := part{Name: "search", State: healthy, Figures: map[string]int64{}}
	var failing []string
	for _, i := range s.db.SearchIndexes() {
		p.Figures["indexes"]++
		p.Figures["index_bytes"] += i.Bytes
		if i.Err != nil {
			failing = append(failing, i.Collection)
			s.failures.log(s.log, "search index "+i.Collection, i.Err, func(line *zerolog.Event) {
				line.Str("collection", i.Collection).Msg("a search index cannot be made or read")
			})
		}
	}
	switch n := p.Figures["indexes"]; {
	case len(failing) > 0:
		p.State = degraded
		p.Text = fmt.Sprintf("the index of %s cannot be made or read: searches of it work and are slow; the log says why", strings.Join(failing, ", "))
	case n == 0:
		p.Text = "no collection is so large that it needs an index"
	default:
		p.Text = "the texts of large collections are indexed"
	}
	return p
}

func (s *Server) cacheHealth() part {
	var caches []store.CacheStats
	err := s.db.View(store.Nobody, func(tx *store.Tx) (err error) {
		caches, err = store.Caches(tx)
		return err
	})
	if err != nil {
		return s.unknownPart("caches", err)
	}
	p := part{Name: "caches", State: healthy, Text: "follow every commit", Figures: map[string]int64{}}
	for _, c := range caches {
		p.Figures[c.Name+"_generation"] = int64(c.Generation)
		p.Figures[c.Name+"_age_seconds"] = int64(time.Since(c.At).Seconds())
	}
	return p
}

func (s *Server) clockHealth() part {
	now := time.Now()
	var newest store.Time
	err := s.db.View(store.Nobody, func(tx *store.Tx) (err error) {
		newest, err = store.Newest(tx)
		return err
	})
	if err != nil {
		return s.unknownPart("clock", err)
	}
	// Round takes the monotonic reading away, so one difference is of the wall
	// clock and the other of the one that nobody sets.
	moved := now.Round(0).Sub(s.started.Round(0)) - now.Sub(s.started)
	return clockPart(moved, newest.Std().Sub(now))
}

// clockSlack is how far a clock may be off before anybody is told.
const clockSlack = 2 * time.Second

// clockPart judges a clock that was moved since the start, and records that are
// stamped ahead of it.
func clockPart(moved, ahead time.Duration) part {
	p := part{Name: "clock", State: healthy, Text: "goes forward", Figures: map[string]int64{
		"moved_ms": moved.Milliseconds(), "newest_ahead_seconds": max(0, int64(ahead.Seconds())),
	}}
	switch {
	case moved < -clockSlack:
		p.State, p.Text = degraded, fmt.Sprintf("the clock was put back by %s since the start: sessions last longer, and times do not follow each other", (-moved).Round(time.Second))
	case ahead > clockSlack:
		p.State, p.Text = degraded, fmt.Sprintf("records are stamped %s in the future: the clock was ahead once, or is behind now", ahead.Round(time.Second))
	}
	return p
}
