package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/web"
	"reeve/store/errs"
)

// With several nodes, the one with the duties makes the copies. It tells the others what it does at the
// targets, and they tell it what is asked of it, in notes beside the log.
const (
	notes      = "backup/"
	reportNote = notes + "report"
	cancelNote = notes + "cancel/" // with the name of a target; a random text
	makeNote   = notes + "make/"
	checkNote  = notes + "check/"

	notesEvery   = time.Second
	notesTimeout = 5 * time.Second
	mostReported = 1000 // copies, the newest
)

// report is the state of all targets, as the node with the duties tells it.
type report struct {
	Targets map[errs.Language][]backupTargetOut
	Copies  []backupCopyOut
	Done    map[string]string // requests that were done, as their notes
}

// elsewhere reports whether another node makes the copies.
func (b *Service) elsewhere() bool { return b.s.Config.Cluster != nil && !b.s.Config.Cluster.OnDuty() }

func (b *Service) notes(ctx context.Context) (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, notesTimeout)
	defer cancel()
	return b.s.Config.Cluster.Notes(ctx, notes)
}

// reported returns what the node with the duties has told last.
func (b *Service) reported(req *web.Request) (r report, err error) {
	all, err := b.notes(req.HTTP.Context())
	if text := all[reportNote]; err == nil && text != nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// request leaves a note about a target for the node with the duties, and returns the target as it was told last.
func (b *Service) request(req *web.Request, note, name string) (*backupTargetOut, error) {
	r, err := b.reported(req)
	if err != nil {
		return nil, err
	}
	all := r.Targets[req.Language()]
	i := slices.IndexFunc(all, func(t backupTargetOut) bool { return t.Name == name })
	if i < 0 {
		return nil, errs.New(errs.Busy, "the node with the duties has not read its targets yet; try again")
	}
	ctx, end := context.WithTimeout(req.HTTP.Context(), notesTimeout)
	defer end()
	return &all[i], b.s.Config.Cluster.SetNote(ctx, note+name, []byte(rand.Text()))
}

// talk tells the other nodes what this one does, and does what they ask for, until ctx ends.
func (b *Service) talk(ctx context.Context) {
	ticker := time.NewTicker(notesEvery)
	defer ticker.Stop()
	var done map[string]string
	var last []byte
	for {
		var err error
		if done, last, err = b.exchange(ctx, done, last); err != nil && ctx.Err() == nil {
			b.s.Failures.Report(b.s.Log, "backup notes", err, func(line *zerolog.Event) {
				line.Msg("the other nodes could not be told about backups")
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// exchange does what was asked for and not done, and tells the state if it has changed. done is nil at first.
func (b *Service) exchange(ctx context.Context, done map[string]string, last []byte) (map[string]string, []byte, error) {
	all, err := b.notes(ctx)
	if err != nil {
		return done, last, err
	}
	if done == nil { // this node has just got the duties, and goes on where the node before has ended
		var before report
		if text := all[reportNote]; text != nil && json.Unmarshal(text, &before) == nil {
			done = before.Done
		}
		for _, t := range before.Targets[errs.English] {
			if w := b.worker(t.Name); w != nil { // a client that waits for an attempt may have counted those of another node
				w.set(func(p *progress) { p.attempts += t.Attempts })
			}
		}
		if done == nil {
			done = map[string]string{}
		}
	}
	for _, w := range b.all() {
		for _, kind := range []struct {
			note string
			do   func()
		}{{cancelNote, w.interrupt}, {makeNote, func() { w.ask() }}, {checkNote, func() { w.askCheck() }}} { // one without a copy does nothing
			name := kind.note + w.target.Name
			if asked := string(all[name]); asked != done[name] {
				done[name] = asked
				kind.do()
			}
		}
	}
	text, err := b.report(done)
	if err != nil || bytes.Equal(text, last) {
		return done, last, err
	}
	ctx, cancel := context.WithTimeout(ctx, notesTimeout)
	defer cancel()
	if err := b.s.Config.Cluster.SetNote(ctx, reportNote, text); err != nil {
		return done, last, err
	}
	return done, text, nil
}

func (b *Service) report(done map[string]string) ([]byte, error) {
	rule, err := b.readRule()
	if err != nil {
		return nil, err
	}
	r := report{map[errs.Language][]backupTargetOut{}, []backupCopyOut{}, done}
	for _, w := range b.all() {
		for _, language := range []errs.Language{errs.English, errs.Chinese} {
			r.Targets[language] = append(r.Targets[language], w.describe(rule, language))
		}
	}
	r.Copies = b.listed()
	r.Copies = r.Copies[:min(len(r.Copies), mostReported)]
	return json.Marshal(r)
}
