package ops

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

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

// PasswordHealth reports whether the list of leaked passwords can be read: otherwise no one can set
// a password.
func PasswordHealth(s *web.Server) web.Part {
	p := web.Part{
		Name:    "passwords",
		State:   web.Healthy,
		Message: errs.Say("no list of leaked passwords is configured (auth.breached_passwords)"),
		Figures: map[string]int64{},
	}

	listed, since, err := s.Auth.BreachedFault()
	switch {
	case err != nil:
		p.State, p.Message = web.Degraded, errs.Say("no password can be set, because the list of leaked ones can't be read (auth.breached_passwords): %s", err)
		if !since.IsZero() {
			p.Since = kv.TimeOf(since)
		}
	case listed:
		p.Message = errs.Say("new passwords are looked up in the list of leaked ones")
	}

	return p
}
