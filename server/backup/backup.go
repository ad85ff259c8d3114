// Package backup keeps copies of the installation: at the targets that the configuration names or,
// without one, in the data directory. Each target has a worker, so that one that is down delays no
// other, and nothing else.
//
// Start with Service. A worker (worker.go) decides when a copy is due, and lets its keeper make,
// prove and delete copies: remote.go for directories and buckets (package store/copies), command.go,
// and local.go. health.go says whether there is a proven copy, and notice.go tells the owners.
package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"reeve/server/target"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/copies"
	"reeve/store/kv"
)

// Service makes copies.
type Service struct {
	s *web.Server
	// Examine restores a copy and examines it, see copies.Examine. Without it, no copy is proven.
	Examine copies.Examine
	// MailsSent reports whether mails can be sent. Without it, no one is told of a missing proof.
	MailsSent func(*store.Tx) bool

	now       func() time.Time
	step      time.Duration // longest time until a worker reads the clock and the settings again
	examining chan struct{} // holds a value while a copy is examined

	changing sync.Mutex // held while the workers are replaced
	running  sync.WaitGroup

	streaming sync.Mutex // held while the commit stream is turned on or off
	streamed  *string    // recipients of the stream; nil while unknown
	resumed   time.Time  // time of the last attempt to turn it on or off

	placing sync.Mutex // held while the list of directories is changed

	told told // notices since the start; used by watch alone

	mu         sync.Mutex
	ctx        context.Context // context of the workers; nil while they do not run
	set        target.Set
	recipients []age.Recipient
	workers    []*worker // workers, in the order of their names
	stop       context.CancelFunc
}

// New returns a service without targets.
func New(s *web.Server) *Service {
	b := &Service{s: s, now: time.Now, step: step, examining: make(chan struct{}, 1)}
	s.Metrics.Gauge("reeve_backup_proof_age_seconds",
		"Age of the newest proven copy at the target for which it is highest; -1 if a target has none.", b.proofAge)
	s.Metrics.Gauge("reeve_backup_lag_seconds",
		"Time since all commits were stored, at the target for which it is longest; -1 if they never were.", b.lag)
	return b
}

// Configure replaces the targets. It changes nothing if there is an error in them. If they are the same, those
// that have failed are tried again.
func (b *Service) Configure(set target.Set) error {
	var recipients []age.Recipient
	var err error
	if len(set.Recipients) > 0 {
		if recipients, err = age.ParseRecipients(strings.NewReader(strings.Join(set.Recipients, "\n"))); err != nil {
			return fmt.Errorf("backup.recipients must be age recipients like age1…: %w", err)
		}
	}

	b.changing.Lock()
	defer b.changing.Unlock()
	b.mu.Lock()
	ctx, same := b.ctx, reflect.DeepEqual(b.set, set)
	b.mu.Unlock()
	if same {
		for _, w := range b.all() {
			w.retry()
		}
		return nil
	}
	b.end()
	b.mu.Lock()
	b.set, b.recipients = set, recipients
	b.setWorkers()
	b.mu.Unlock()
	err = b.setStream() // which the workers try again
	if ctx != nil {
		b.start(ctx)
	}
	return err
}

// setWorkers makes new workers for the targets, which count on and do what was asked of the ones before. b.mu must
// be locked, and the ones before have ended.
func (b *Service) setWorkers() {
	before := b.workers
	defer func() {
		for _, w := range b.workers {
			for _, old := range before {
				if old.target.Name == w.target.Name {
					w.follow(old)
				}
			}
		}
	}()
	b.workers = nil
	for _, t := range b.set.Targets {
		b.workers = append(b.workers, newWorker(b, t, keeperOf(b, t)))
	}
	if len(b.set.Targets) == 0 && b.set.Local {
		b.workers = append(b.workers, newWorker(b, target.Config{Name: LocalName, Path: localDir(b)}, &localKeeper{b: b}))
	}
}

// Stream returns the options of the commit stream of a data directory; nil for off.
func Stream(dir string, set target.Set) (*kv.StreamOptions, error) {
	if !slices.ContainsFunc(set.Targets, func(t target.Config) bool { return t.Kind() != target.Command }) {
		return nil, nil
	}
	if confirmed, err := hasConfirmed(dir, set.Recipients); err != nil || !confirmed {
		return nil, err
	}
	recipients, err := age.ParseRecipients(strings.NewReader(strings.Join(set.Recipients, "\n")))
	return &kv.StreamOptions{Recipients: recipients}, err
}

func keeperOf(b *Service, t target.Config) keeper {
	if t.Kind() == target.Command {
		return newCommandKeeper(b, t)
	}
	return &remoteKeeper{b: b, target: t}
}

// Run makes copies until ctx ends. It can be called again: what other nodes have done at the targets in the
// meantime is read again.
func (b *Service) Run(ctx context.Context) {
	left, _ := filepath.Glob(filepath.Join(b.s.DB.Dir(), proofName+"-*")) // the pattern is valid
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			b.s.Log.Warn().Err(err).Msg("what an interrupted proof has left could not be removed")
		}
	}
	b.changing.Lock()
	b.mu.Lock()
	b.ctx = ctx
	if b.s.Config.Cluster != nil {
		b.workers = nil // the report of the node that had the duties says where to count on
		b.setWorkers()
	}
	b.mu.Unlock()
	b.start(ctx)
	b.changing.Unlock()
	var talking sync.WaitGroup
	if b.s.Config.Cluster != nil {
		talking.Go(func() { b.talk(ctx) })
	}
	b.watch(ctx)
	talking.Wait()
	b.changing.Lock()
	defer b.changing.Unlock()
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = nil
}

func (b *Service) start(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop = stop
	for _, w := range b.workers {
		b.running.Go(func() { w.run(ctx) })
		if k, ok := w.keeper.(*remoteKeeper); ok {
			s := &shipper{w: w, k: k}
			b.running.Go(func() { s.run(ctx) })
		}
	}
}

// end ends the workers, and waits for them.
func (b *Service) end() {
	b.mu.Lock()
	stop := b.stop
	b.stop = nil
	b.mu.Unlock()
	if stop != nil {
		stop()
		b.running.Wait()
	}
}

// examine calls Examine, and returns at once when ctx ends: a restore can't be interrupted. One that
// goes on removes what it has written, which is in the directory of dir.
func (b *Service) examine(ctx context.Context, archive, dir string, identities []age.Identity) (records int, head *audit.Head, err error) {
	select {
	case b.examining <- struct{}{}:
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
	type result struct {
		records int
		head    *audit.Head
		err     error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-b.examining }()
		var r result
		r.records, r.head, r.err = b.Examine(ctx, archive, dir, identities)
		done <- r
		if ctx.Err() == nil {
			return
		}
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			b.s.Log.Warn().Err(err).Msg("what an interrupted proof has left could not be removed")
		}
	}()
	select {
	case r := <-done:
		return r.records, r.head, r.err
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// Refresh reads the lists of all targets, while the service does not run.
func (b *Service) Refresh(ctx context.Context) {
	for _, w := range b.all() {
		w.refresh(ctx) // the worker keeps an error
	}
}

// CopyOnce does what a user has asked for at a target, while the service does not run.
func (b *Service) CopyOnce(ctx context.Context, name string) {
	w := b.worker(name)
	select {
	case <-w.asked:
		w.attempt(ctx, wanted)
	default:
	}
}

func (b *Service) all() []*worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.workers)
}

// worker returns the worker with a name; nil for none.
func (b *Service) worker(name string) *worker {
	for _, w := range b.all() {
		if w.target.Name == name {
			return w
		}
	}
	return nil
}

// confirmed returns the recipients if the identity of one of them is known to exist: otherwise what
// is stored could never be opened.
func (b *Service) confirmed() ([]age.Recipient, error) {
	b.mu.Lock()
	recipients, texts := b.recipients, b.set.Recipients
	b.mu.Unlock()
	confirmed, err := hasConfirmed(b.s.DB.Dir(), texts)
	if err == nil && !confirmed {
		err = errors.New("no recipient was confirmed: run `reeve backup recipient` with its identity")
	}
	return recipients, err
}

// unconfirmed returns the recipients whose identities are not known to exist, if others are; without any, no copy
// is made, and that is the error.
func (b *Service) unconfirmed(recipients []string) []string {
	known, err := Confirmed(b.s.DB.Dir())
	if err != nil { // the worker reports it
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(recipients), func(r string) bool { return slices.Contains(known, r) })
	if len(left) == len(recipients) {
		return nil
	}
	return left
}

func timeOf(at time.Time) kv.Time {
	if at.IsZero() {
		return 0
	}
	return kv.TimeOf(at)
}
