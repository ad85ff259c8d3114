package backup

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/errs"
)

// keeper makes the copies at a target.
type keeper interface {
	// list returns the copies, the newest first.
	list(ctx context.Context) ([]Copy, error)
	// add makes a copy.
	add(ctx context.Context, progress func(done, total int64)) error
	// prove proves the newest copy.
	prove(ctx context.Context) error
	// prune deletes copies that are not kept.
	prune(ctx context.Context, keep copies.Keep) error
	// warnings returns what is to be said about the target.
	warnings() []errs.Message
}

// errUnproven is the error of a keeper that can't prove its copies.
var errUnproven = errors.New("copies at this target can't be read back")

// Phases of a worker.
const (
	Waiting = "waiting"
	Storing = "storing"
	Proving = "proving"
	Pruning = "deleting"
)

// worker makes the copies at one target.
type worker struct {
	b      *Service
	target target.Config
	keeper keeper
	asked  chan struct{} // holds a value while a user has asked for a copy
	needed chan struct{} // holds a value while commits need a copy that they continue
	checks chan struct{} // holds a value while a user has asked for a proof of the newest copy
	made   time.Time     // start of the server, or when the target was named

	mu     sync.Mutex
	now    progress
	copies []Copy
	listed bool               // whether copies was read from the target
	cancel context.CancelFunc // ends what is running; nil if nothing is

	unprovenAt time.Time // time at which the proof of the newest copy failed; zero if it did not
}

// progress is what a worker does.
type progress struct {
	phase       string
	done, total int64
	begun       time.Time // start of the attempt
	next        time.Time // next copy
	fault       error     // error of the last attempt; nil if it succeeded
	failures    int       // failed attempts since the last success
	unmade      error     // error of the last copy, if it could not be made and is tried again; nil if it was made
	cancelled   bool      // whether a user has ended the last copy, which is not tried again before the next one is due
	attempts    int       // attempts since the start of the server, with several nodes those of all
}

func newWorker(b *Service, t target.Config, k keeper) *worker {
	return &worker{b: b, target: t, keeper: k, asked: make(chan struct{}, 1), needed: make(chan struct{}, 1), checks: make(chan struct{}, 1), made: b.now(), now: progress{phase: Waiting}}
}

const (
	step       = 30 * time.Second // longest time until the clock and the settings are read again
	startDelay = time.Minute      // before a copy that was missed while the server did not run
	firstDelay = time.Hour        // from the installation to the first copy in the data directory
	proofEvery = 20 * time.Hour
	retryMin   = time.Minute
	retryMax   = time.Hour
)

// run makes copies when they are due until ctx ends.
func (w *worker) run(ctx context.Context) {
	begun := w.b.now()
	w.refresh(ctx)
	for ctx.Err() == nil {
		next, err := w.nextCopy(begun)
		if err != nil {
			w.b.s.Failures.Report(w.b.s.Log, "backup schedule", err, func(line *zerolog.Event) { line.Msg("the schedule of copies could not be read") })
			next = w.b.now().Add(w.b.step)
		}
		w.set(func(p *progress) { p.next = next })

		timer := time.NewTimer(min(w.b.step, max(0, next.Sub(w.b.now()))))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.asked:
			timer.Stop()
			w.attempt(ctx, wanted)
		case <-w.checks:
			timer.Stop()
			w.attempt(ctx, check)
		case <-w.needed:
			timer.Stop()
			w.setUnproven(time.Time{})
			w.attempt(ctx, due)
		case <-timer.C:
			if err == nil && !w.b.now().Before(next) && !w.foundAgain(ctx) {
				w.attempt(ctx, due)
			}
		}
	}
}

// ask asks for a copy now or after the one that is being made, unless that has been done, and returns
// the number of attempts before it.
func (w *worker) ask() (before int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.asked <- struct{}{}:
	default:
	}
	return w.now.attempts
}

// follow goes on where a worker of the same target has ended: a client may wait for a copy.
func (w *worker) follow(before *worker) {
	before.mu.Lock()
	defer before.mu.Unlock()
	w.now.attempts = before.now.attempts
	if len(before.asked) > 0 || len(before.checks) > 0 {
		w.ask() // a copy, since this worker has none yet that it can check
	}
}

// needsCopy asks for a copy that the commits since continue, unless one is being made or is due: before
// the first one, and after one that has failed.
func (w *worker) needsCopy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.phase != Waiting || newest(w.copies) == nil || w.now.failures > 0 {
		return false
	}
	select {
	case w.needed <- struct{}{}:
	default:
	}
	return true
}

// foundAgain reports whether the target, which could not be listed before, can be now: then its list
// says when a copy is due.
func (w *worker) foundAgain(ctx context.Context) bool {
	w.mu.Lock()
	listed := w.listed
	w.mu.Unlock()
	if listed || w.refresh(ctx) != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if newest(w.copies) == nil {
		return false
	}
	w.now.fault, w.now.failures, w.now.unmade = nil, 0, nil
	return true
}

func (w *worker) setUnproven(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unprovenAt = at
}

// onlyProof reports whether the newest copy was made since one was due, and only its proof has failed.
func (w *worker) onlyProof() bool {
	hour, hourly, _, err := w.schedule()
	w.mu.Lock()
	defer w.mu.Unlock()
	return err == nil && !w.unprovenAt.IsZero() && w.b.now().Before(after(w.unprovenAt, hour, hourly))
}

// retry asks for a copy if the last attempt has failed.
func (w *worker) retry() {
	w.mu.Lock()
	failed := w.now.failures > 0
	w.mu.Unlock()
	if failed {
		w.ask()
	}
}

// interrupt ends what is running, if anything is, and what was asked for.
func (w *worker) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range []chan struct{}{w.asked, w.checks} {
		select {
		case <-c:
		default:
		}
	}
	if w.cancel != nil {
		w.cancel()
	}
}

func (w *worker) set(change func(*progress)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.now)
}

// errCancelled is the error of an attempt that a user has ended.
var errCancelled = errors.New("a user has ended it")

// attempt makes a copy, proves it if the last proof is old or a user has asked for it, and deletes
// copies that are not kept.
func (w *worker) attempt(ctx context.Context, why cause) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	w.cancel = cancel
	before := w.now
	w.now = progress{phase: why.begins(), begun: w.b.now(), failures: w.now.failures, fault: w.now.fault, unmade: w.now.unmade, attempts: w.now.attempts + 1}
	w.mu.Unlock()

	proven, err := w.steps(inner, why)
	if listErr := w.refresh(ctx); err == nil {
		err = listErr
	}
	if proven && ctx.Err() == nil {
		w.b.ping(ctx)
	}
	if ctx.Err() != nil {
		err = ctx.Err() // the server stops, which is no failure
	} else if inner.Err() != nil {
		err = errCancelled
	}
	w.mu.Lock()
	w.cancel = nil
	took := w.b.now().Sub(w.now.begun)
	w.now.phase, w.now.done, w.now.total = Waiting, 0, 0
	w.now.fault, w.now.failures = err, w.now.failures+1
	if err == nil || ctx.Err() != nil {
		w.now.fault, w.now.failures = nil, 0
	}
	if w.now.cancelled = why != check && errors.Is(err, errCancelled); w.now.cancelled {
		w.now.unmade = nil
	}
	if why == check { // which says nothing about a copy that is to be tried again, and when
		w.now.cancelled = before.cancelled
		if before.unmade != nil || errors.Is(err, errCancelled) {
			w.now.fault, w.now.failures, w.now.begun = errors.Join(err, before.unmade), before.failures, before.begun
		}
	}
	if ctx.Err() != nil { // it was none for a client that waits, see follow
		w.now.attempts--
	}
	w.mu.Unlock()
	if ctx.Err() != nil {
		if why == wanted {
			w.ask()
		}
		return
	}
	if err != nil {
		w.b.s.Failures.Report(w.b.s.Log, "backup "+w.target.Name, errs.ForOperator(err), func(line *zerolog.Event) {
			line.Str("target", w.target.Name).Msg("a copy was not made, or is not proven")
		})
		return
	}
	w.b.s.Log.Info().Str("target", w.target.Name).Dur("took", took).Msg(why.done())
}

// steps reports whether it has proven a copy.
func (w *worker) steps(ctx context.Context, why cause) (proven bool, err error) {
	again := why == check || why == due && w.onlyProof()
	if !again {
		err := w.keeper.add(ctx, func(done, total int64) {
			w.set(func(p *progress) { p.done, p.total = done, total })
		})
		if err != nil {
			if w.sending() && ctx.Err() == nil {
				_ = w.prune(ctx) // what interrupted copies have left may fill the target; if not, this one's error is the reason
			}
			w.set(func(p *progress) { p.unmade = err })
			return false, err
		}
		w.set(func(p *progress) { p.unmade = nil })
		w.setUnproven(time.Time{})
		if w.target.Name != LocalName { // those are lost with the disk
			if err := w.b.s.DB.RecordBackup(); err != nil {
				return false, err
			}
		}
	}

	var unproven error
	_, hourly, _, err := w.schedule()
	if err != nil {
		return false, err
	}
	if w.b.Examine != nil && (why == wanted || again || !hourly || w.b.now().Sub(w.proven()) > proofEvery) {
		w.set(func(p *progress) { p.phase, p.done, p.total = Proving, 0, 0 })
		switch err := w.keeper.prove(ctx); {
		case err == nil:
			w.setUnproven(time.Time{})
			proven = true
		case errors.As(err, &copies.LostError{}): // which the next copy stores again
			unproven = err
		case !errors.Is(err, errUnproven):
			w.setUnproven(w.b.now())
			unproven = err
		}
	}
	if err := ctx.Err(); err != nil || why == check {
		return proven, errors.Join(err, unproven)
	}
	w.set(func(p *progress) { p.phase, p.done, p.total = Pruning, 0, 0 })
	return proven, errors.Join(unproven, w.prune(ctx))
}

// sending reports whether the attempt has begun to send bytes.
func (w *worker) sending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now.done > 0
}

func (w *worker) prune(ctx context.Context) error {
	var keep copies.Keep
	err := w.b.s.DB.View(store.System, func(tx *store.Tx) error {
		keep = copies.Keep{
			Hourly:  store.BackupHourly.Get(tx),
			Daily:   store.BackupDaily.Get(tx),
			Weekly:  store.BackupWeekly.Get(tx),
			Monthly: store.BackupMonthly.Get(tx),

			StreamDays: store.BackupStreamDays.Get(tx),
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.keeper.prune(ctx, keep)
}

// refresh reads the list of copies. An error is shown until the next attempt.
func (w *worker) refresh(ctx context.Context) error {
	all, err := w.keeper.list(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.copies, w.listed = all, true
	} else if w.now.fault == nil && ctx.Err() == nil {
		w.now.fault = err
	}
	return err
}

// provable reports whether copies can be proven.
func (w *worker) provable() bool { return w.b.Examine != nil && w.target.Kind() != target.Command }

// proven returns the time of the last proof; zero for none.
func (w *worker) proven() (at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.copies {
		if c.State == Proven && c.ProvenAt.Std().After(at) && !c.ProvenAt.Std().After(w.b.now().Add(aheadBy)) {
			at = c.ProvenAt.Std()
		}
	}
	return at
}

// withoutProof returns the name of a target that can be read and has no proven copy within the limit; "" for none.
func (b *Service) withoutProof() (name string, err error) {
	r, err := b.readRule()
	if err != nil {
		return "", err
	}
	for _, w := range b.all() {
		if w.target.Kind() != target.Command && r.now.Sub(w.good()) > r.limit {
			return w.target.Name, nil
		}
	}
	return "", nil
}
