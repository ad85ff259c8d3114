package backup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/errs"
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
	askedFor string    // epoch of these commits
	hurried  int       // copies in a row that did not wait for askEvery
	failures int
}

const (
	askEvery    = 10 * time.Minute // shortest interval of copies that are asked for because of one gap
	mostHurried = 4                // copies because of gaps that follow each other sooner, as with a clock that goes back and forth
	shipSlowly  = time.Minute      // longest interval of attempts after failures
	shipLast    = 5 * time.Second  // timeout of the attempt when the server stops
)

// run stores commits until ctx ends, and then those that are left. What takes longer runs beside it.
func (s *shipper) run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() {
		for wait(ctx, s.interval()) {
			s.settle(ctx)
		}
	})
	for wait(ctx, s.pace()) {
		s.ship(ctx)
	}
	beside.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shipLast)
	defer cancel()
	if !s.ship(last) && s.k.opened() != nil {
		s.w.b.s.Log.Warn().Str("target", s.w.target.Name).Msg("the last commits are not stored at the target: they follow after the next start")
		return
	}
	s.settle(last)
}

// wait waits, and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// interval returns the setting.
func (s *shipper) interval() time.Duration {
	interval := time.Second
	err := s.w.b.s.DB.View(store.System, func(tx *store.Tx) error {
		interval = time.Duration(store.BackupShipSeconds.Get(tx)) * time.Second
		return nil
	})
	if err != nil { // the server stops
		return time.Second
	}
	return interval
}

// pace returns the time until the next attempt.
func (s *shipper) pace() time.Duration {
	interval := s.interval()
	return max(interval, min(interval<<min(s.failures, 10), shipSlowly))
}

// ship stores the commits that the target lacks, and reports whether it has all of them.
func (s *shipper) ship(ctx context.Context) (all bool) {
	b := s.w.b
	err := b.setStream()
	r := s.k.opened()
	if err == nil && r != nil {
		s.k.shipsSince(b.now())
		all, err = r.Ship(ctx)
	}
	if r != nil && ctx.Err() == nil && !r.Continued() {
		all = false
		epoch := r.Epoch()
		waited := b.now().Sub(s.asked) > askEvery
		if waited {
			s.hurried = 0
		}
		if (waited || epoch != s.askedFor && s.hurried < mostHurried) && s.w.needsCopy() {
			s.asked, s.askedFor = b.now(), epoch
			s.hurried++
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	s.k.shipped(err, all, b.now())
	s.failures++
	if err == nil {
		s.failures = 0
	} else {
		s.report(err, "commits were not stored")
	}
	return all
}

// settle stores the contents that commits name, and removes from this disk what all targets have.
func (s *shipper) settle(ctx context.Context) {
	r := s.k.opened()
	if r == nil {
		return
	}
	err := r.Settle(ctx)
	if err == nil {
		err = s.w.b.trim()
	}
	if err != nil && ctx.Err() == nil {
		s.report(err, "contents of files, or segments of the commit stream, were not stored")
	}
}

func (s *shipper) report(err error, text string) {
	s.w.b.s.Failures.Report(s.w.b.s.Log, "backup stream "+s.w.target.Name, errs.ForOperator(err), func(line *zerolog.Event) {
		line.Str("target", s.w.target.Name).Msg(text)
	})
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
	begun   time.Time // start of the attempt that is running; zero for none
}

// opened returns the repository once the target was listed; nil before.
func (k *remoteKeeper) opened() *copies.Repository {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listed
}

func (k *remoteKeeper) shipsSince(begun time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shipping.begun = begun
}

func (k *remoteKeeper) shipped(err error, all bool, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && k.shipping.fault == nil {
		k.shipping.since = now
	}
	k.shipping.fault, k.shipping.begun = err, time.Time{}
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

// mostLosses is how many losses are named.
const mostLosses = 5

// losses says which copies and commits a target has lost.
func (w *worker) losses() (all []errs.Message) {
	k, ok := w.keeper.(*remoteKeeper)
	if !ok || k.opened() == nil {
		return nil
	}
	name, lost := w.target.Name, k.opened().Lost()
	for i, l := range lost {
		until := l.Until.Format(time.RFC3339)
		switch {
		case i == mostLosses:
			return append(all, errs.Say("%d more copies or parts of the commits are lost", len(lost)-i))
		case !l.Copy.IsZero():
			all = append(all, errs.Say("the copy of %s was deleted at %s, and not by this server", l.Copy.UTC().Format(time.RFC3339), name))
		case l.Damage == nil:
			all = append(all, errs.Say("commits %d to %d, until %s, were deleted at %s, and not by this server", l.First, l.Last, until, name))
		default:
			all = append(all, errs.Say("commits %d to %d, until %s, can't be restored from %s: %s", l.First, l.Last, until, name, text(l.Damage)))
		}
	}
	return all
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
