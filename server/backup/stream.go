package backup

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/copies"
)

// Between two copies, each commit is stored at the targets, see package stream: the database appends
// it to a log in the data directory, and a shipper for each target stores what it lacks. The stream is
// on while there is a target that can have it, and a recipient was confirmed.

func hasConfirmed(dir string, recipients []string) (bool, error) {
	known, err := Confirmed(dir)
	return slices.ContainsFunc(recipients, func(text string) bool { return slices.Contains(known, text) }), err
}

// resumeEvery is the interval of attempts to go on with a stream that has failed.
const resumeEvery = 5 * time.Minute

// setStream turns the stream on or off, as the configuration says. One that has failed begins again.
func (b *Service) setStream() error {
	b.mu.Lock()
	set := b.set
	b.mu.Unlock()
	b.streaming.Lock()
	defer b.streaming.Unlock()
	options, err := Stream(b.s.DB.Dir(), set)
	if err != nil {
		return err
	}
	recipients := ""
	if options != nil {
		recipients = strings.Join(set.Recipients, "\n")
	}
	log, failed := b.s.DB.Stream()
	if b.streamed == nil && log != nil { // it was opened with this configuration
		b.streamed = &recipients
	}
	now := b.now()
	if failed != nil && now.Sub(b.resumed) < resumeEvery {
		return nil
	}
	if failed == nil && (log != nil) == (options != nil) && (log == nil || *b.streamed == recipients) {
		return nil
	}
	b.resumed = now
	if err := b.s.DB.SetStream(options); err != nil {
		return err
	}
	b.streamed = &recipients
	return nil
}

// shipper stores the commit stream at a target.
type shipper struct {
	w *worker
	k *remoteKeeper

	asked    time.Time // time at which a copy was asked for, because the commits continue none
	failures int
}

const (
	askEvery   = 10 * time.Minute // shortest interval of copies that are asked for
	shipSlowly = time.Minute      // longest interval of attempts after failures
	shipLast   = 5 * time.Second  // timeout of the attempt when the server stops
)

// run stores commits until ctx ends, and then those that are left.
func (s *shipper) run(ctx context.Context) {
	for {
		timer := time.NewTimer(s.wait())
		select {
		case <-ctx.Done():
			timer.Stop()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipLast)
			defer cancel()
			s.ship(last)
			return
		case <-timer.C:
			s.ship(ctx)
		}
	}
}

// wait returns the time until the next attempt.
func (s *shipper) wait() time.Duration {
	interval := time.Second
	err := s.w.b.s.DB.View(store.System, func(tx *store.Tx) error {
		interval = time.Duration(store.BackupShipSeconds.Get(tx)) * time.Second
		return nil
	})
	if err != nil { // the server stops
		return interval
	}
	return max(interval, min(interval<<min(s.failures, 10), shipSlowly))
}

// ship stores the commits that the target lacks.
func (s *shipper) ship(ctx context.Context) {
	b := s.w.b
	err := b.setStream()
	r, all := s.k.opened(), false
	if err == nil && r != nil {
		all, err = r.Ship(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	s.k.shipped(err, all, b.now())
	if err != nil {
		s.failures++
		b.s.Failures.Report(b.s.Log, "backup stream "+s.w.target.Name, err, func(line *zerolog.Event) {
			line.Str("target", s.w.target.Name).Msg("commits were not stored")
		})
		return
	}
	s.failures = 0
	if r == nil {
		return
	}
	if now := b.now(); !r.Continued() && now.Sub(s.asked) > askEvery {
		s.asked = now
		s.w.need()
	}
	if err := b.trim(); err != nil {
		b.s.Failures.Report(b.s.Log, "backup stream", err, func(line *zerolog.Event) {
			line.Msg("a segment of the commit stream could not be removed")
		})
	}
}

// trim removes the commits that all targets have from this disk.
func (b *Service) trim() error {
	var all []*copies.Repository
	for _, w := range b.all() {
		if k, ok := w.keeper.(*remoteKeeper); ok {
			r := k.opened()
			if r == nil {
				return nil
			}
			all = append(all, r)
		}
	}
	return copies.Trim(all)
}

// shipping is what is known about the commits at a target.
type shipping struct {
	fault   error     // error of the last attempt; nil if it succeeded
	since   time.Time // time of the first of the attempts that have failed
	current time.Time // last time at which all commits were stored; zero for none
}

// opened returns the repository once the target was listed; nil before.
func (k *remoteKeeper) opened() *copies.Repository {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listed
}

func (k *remoteKeeper) shipped(err error, all bool, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && k.shipping.fault == nil {
		k.shipping.since = now
	}
	k.shipping.fault = err
	if all {
		k.shipping.current = now
	}
}

// commits returns what is known about the commits at a target, and of which moments they can be
// restored; ok is false if the target has none.
func (w *worker) commits() (s shipping, ranges []copies.Range, ok bool) {
	k, ok := w.keeper.(*remoteKeeper)
	if !ok {
		return s, nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listed != nil {
		ranges = k.listed.Ranges()
	}
	return k.shipping, ranges, true
}

// lag is the value of a metric.
func (b *Service) lag() float64 {
	longest := 0.0
	for _, w := range b.all() {
		s, _, ok := w.commits()
		if !ok {
			continue
		}
		if s.current.IsZero() {
			return -1
		}
		longest = max(longest, b.now().Sub(s.current).Seconds())
	}
	return longest
}
