package server

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

const (
	deliveryDir  = "webhook"
	deliveryMax  = 64 << 20 // bytes of all stored deliveries
	deliveryFree = 64 << 20 // bytes of the disk that must stay free
	deliveryAge  = 30 * 24 * time.Hour

	saveEvery   = time.Second // positions and deliveries are stored; after a crash, what was sent since is sent again
	maxUnstored = 500         // deliveries that wait to be stored; more are stored at once
)

// sender sends events to all webhooks. Each of them has a goroutine, so that a slow receiver delays no
// other, and no write.
type sender struct {
	s       *Server
	client  *webhook.Client
	log     *webhook.Log
	changed chan struct{} // contains a token if a webhook was created, changed or deleted
	backoff func(n int) time.Duration

	delivered, failed atomic.Uint64 // attempts

	syncing sync.Mutex // held while the webhooks are read, and started or ended
	saving  sync.Mutex // held while positions and deliveries are stored
	running sync.WaitGroup

	mu       sync.Mutex
	ctx      context.Context // of the goroutines; nil while they do not run
	hooks    map[store.ID]*hook
	unstored []webhook.Delivery   // that are not in the log yet
	keys     map[uint64][]byte    // that seal the deliveries in unstored, by webhook
	erased   map[string]time.Time // persons who were erased, and when
}

func newSender(s *Server) *sender {
	w := &sender{
		s: s, client: webhook.NewClient(s.config.WebhookAllow, s.config.Version), backoff: backoff,
		log:     webhook.OpenLog(filepath.Join(s.db.Dir(), deliveryDir), deliveryMax, deliveryFree, deliveryAge),
		changed: make(chan struct{}, 1), hooks: map[store.ID]*hook{}, keys: map[uint64][]byte{}, erased: map[string]time.Time{},
	}
	w.changed <- struct{}{}
	s.db.OnCommit(func(c store.Changes) {
		if c.Of(store.Webhooks) == nil {
			return
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	})
	s.metrics.counter("reeve_webhook_deliveries_total", "Messages that receivers of webhooks have accepted.", w.delivered.Load)
	s.metrics.counter("reeve_webhook_failures_total", "Failed attempts to send a message to a webhook.", w.failed.Load)
	s.metrics.gauge("reeve_webhook_behind", "Entries of the change log that the slowest webhook has not handled.", func() float64 { return float64(w.behind()) })
	return w
}

// run sends events until ctx ends.
func (w *sender) run(ctx context.Context) {
	w.mu.Lock()
	w.ctx = ctx
	w.mu.Unlock()
	tick, expire := time.NewTicker(saveEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer expire.Stop()
	for ctx.Err() == nil {
		select {
		case <-w.changed:
			if err := w.sync(); err != nil {
				w.report(0, err)
				time.AfterFunc(saveEvery, w.again)
			}
		case <-tick.C:
			w.save()
		case <-expire.C:
			if err := w.log.Expire(); err != nil {
				w.report(0, err)
			}
		case <-ctx.Done():
		}
	}
	w.running.Wait()
	w.save()
	if err := w.log.Close(); err != nil {
		w.report(0, err)
	}
}

func (w *sender) again() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// sync starts webhooks that are new, ends those that were deleted, and wakes all others. One that read
// the webhooks earlier must not end what a later one has started.
func (w *sender) sync() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	found := map[store.ID]*store.WebhookState{}
	err := w.s.db.View(store.System, func(tx *store.Tx) error {
		for state, err := range store.WebhookStates.All(tx) {
			if err != nil {
				return err
			}
			found[state.WebhookID] = state
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, h := range w.hooks {
		if found[id] == nil {
			h.cancel()
			delete(w.hooks, id)
		}
	}
	for id, state := range found {
		h := w.hooks[id]
		if h == nil {
			h = &hook{sender: w, id: id, wake: make(chan struct{}, 1), cancel: func() {}, state: *state, stored: *state}
			w.hooks[id] = h
		}
		if !h.started && w.ctx != nil {
			h.started = true
			ctx, cancel := context.WithCancel(w.ctx)
			h.cancel = cancel
			w.running.Go(func() { h.run(ctx) })
		}
		h.poke()
	}
	return nil
}

// hook returns a webhook that exists.
func (w *sender) hook(id store.ID) (*hook, error) {
	w.mu.Lock()
	h := w.hooks[id]
	w.mu.Unlock()
	if h != nil {
		return h, nil
	}
	if err := w.sync(); err != nil { // it was created just now
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if h = w.hooks[id]; h == nil {
		return nil, store.Webhooks.NotFound(id)
	}
	return h, nil
}

func (w *sender) all() []*hook {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*hook
	for _, h := range w.hooks {
		all = append(all, h)
	}
	return all
}

// save stores the positions that have changed, and the deliveries. What fails is tried again.
func (w *sender) save() {
	w.saving.Lock()
	defer w.saving.Unlock()
	if err := errors.Join(w.savePositions(), w.saveDeliveries()); err != nil {
		w.report(0, err)
	}
}

func (w *sender) savePositions() error {
	var changed []*hook
	var states []store.WebhookState
	for _, h := range w.all() {
		h.mu.Lock()
		if h.state != h.stored {
			changed, states = append(changed, h), append(states, h.state)
		}
		h.mu.Unlock()
	}
	if changed == nil {
		return nil
	}
	err := w.s.db.WithRecorder(nil).For("webhook positions", nil).Update(store.System, func(tx *store.Tx) error {
		for i := range states {
			_, err := store.WebhookStates.UpdateQuietly(tx, states[i].ID, func(s *store.WebhookState) error {
				states[i].Timestamps = s.Timestamps
				*s = states[i]
				return nil
			})
			if err != nil && !errs.Is(err, errs.NotFound) { // NotFound: the webhook was deleted
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, h := range changed {
		h.mu.Lock()
		h.stored = states[i]
		h.state.Timestamps = states[i].Timestamps
		h.mu.Unlock()
	}
	return nil
}

func (w *sender) saveDeliveries() error {
	w.mu.Lock()
	list := slices.DeleteFunc(w.unstored, func(d webhook.Delivery) bool { // of messages that were being sent during an erasure
		return slices.ContainsFunc(d.Persons, func(person string) bool { return !w.erased[person].Before(d.At) })
	})
	keys := w.keys
	w.unstored, w.keys = nil, map[uint64][]byte{}
	w.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	return w.log.Append(keys, list) // what cannot be stored is dropped: the disk is full
}

// record records an attempt to send a message.
func (w *sender) record(id store.ID, key []byte, m *outgoing, kind string, attempt int, begun time.Time, r *webhook.Result) {
	if r.Fault.Empty() {
		w.delivered.Add(1)
	} else {
		w.failed.Add(1)
	}
	w.keep(key, webhook.Delivery{
		At: begun, Webhook: uint64(id), Event: m.ID, Type: m.Type, Attempt: attempt, Kind: kind, Status: r.Status, Took: r.Took,
		Fault: rawFault(r.Fault), Request: string(m.Body), Response: r.Response, Persons: m.persons,
	})
}

// recordLost records that entries of the change log were dropped before they could be sent.
func (w *sender) recordLost(id store.ID, keys *store.WebhookKeys, first, last uint64) {
	fault := errs.Say("entries %d to %d of the change log were removed by its retention before they could be sent", first, last)
	w.s.log.Warn().Stringer("webhook", id).Uint64("first", first).Uint64("last", last).Msg("entries of the change log were removed before a webhook could send them")
	w.keep(keys.Deliveries, webhook.Delivery{At: time.Now(), Webhook: uint64(id), Type: lostType, Kind: eventDelivery, Attempt: 1, Fault: rawFault(fault)})
}

func (w *sender) keep(key []byte, d webhook.Delivery) {
	w.mu.Lock()
	w.unstored, w.keys[d.Webhook] = append(w.unstored, d), key
	full := len(w.unstored) >= maxUnstored
	w.mu.Unlock()
	if full {
		w.save()
	}
}

// pause pauses a webhook until somebody resumes it.
func (w *sender) pause(id store.ID, reason string) {
	origin := store.Origin{Operation: audit.Operation{Title: "pause webhook"}}
	err := w.s.db.WithRecorder(nil).For("webhook", nil).From(&origin).Update(store.System, func(tx *store.Tx) error {
		_, err := store.Webhooks.UpdateQuietly(tx, id, func(v *store.Webhook) error { v.Paused = reason; return nil })
		return err
	})
	if err != nil {
		w.report(id, err)
		return
	}
	w.s.log.Warn().Stringer("webhook", id).Str("reason", reason).Msg("a webhook is paused until somebody resumes it")
}

// report logs an error. 0 is no webhook.
func (w *sender) report(id store.ID, err error) {
	if errs.Is(err, errs.NotFound) {
		return // the webhook was deleted
	}
	w.s.failures.log(w.s.log, "webhook "+id.String(), err, func(line *zerolog.Event) {
		line.Stringer("webhook", id).Msg("webhooks do not work as they should")
	})
}

// forget removes the deliveries that are about a person who was erased.
func (w *sender) forget(who store.Account) (removed int, err error) {
	person := who.Person()
	w.mu.Lock()
	maps.DeleteFunc(w.erased, func(_ string, at time.Time) bool { return time.Since(at) > time.Hour }) // no message takes that long
	w.erased[person] = time.Now()
	before := len(w.unstored)
	w.unstored = slices.DeleteFunc(w.unstored, func(d webhook.Delivery) bool { return slices.Contains(d.Persons, person) })
	removed = before - len(w.unstored)
	w.mu.Unlock()
	w.saving.Lock()
	defer w.saving.Unlock()
	n, err := w.log.Forget(person)
	return removed + n, err
}

// confirmAfterRestore pauses all webhooks if a restore has replaced the change log since they were last
// stored: somebody has to confirm that this installation is the one that sends.
func (w *sender) confirmAfterRestore() error {
	head := w.s.db.LogHead()
	var replaced []store.ID
	err := w.s.db.View(store.System, func(tx *store.Tx) error {
		replaced = nil
		for state, err := range store.WebhookStates.All(tx) {
			if err != nil {
				return err
			}
			if state.Generation != head.Generation {
				replaced = append(replaced, state.ID)
			}
		}
		return nil
	})
	if err != nil || replaced == nil {
		return err
	}
	origin := store.Origin{Operation: audit.Operation{Title: "pause webhooks after a restore"}}
	return w.s.db.WithRecorder(nil).For("webhook", nil).From(&origin).Update(store.System, func(tx *store.Tx) error {
		for _, id := range replaced {
			state, err := store.WebhookStates.UpdateQuietly(tx, id, func(s *store.WebhookState) error {
				s.Generation, s.Seq = head.Generation, min(s.Seq, head.Seq)
				s.ReplayNext, s.ReplayUntil, s.ReplayPart = 0, 0, 0
				clearFailures(s)
				return nil
			})
			if err == nil {
				_, err = store.Webhooks.UpdateQuietly(tx, state.WebhookID, func(v *store.Webhook) error { v.Paused = store.WebhookRestored; return nil })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// stateOf returns the state of a webhook, as it is now.
func (w *sender) stateOf(tx *store.Tx, id store.ID) (store.WebhookState, error) {
	w.mu.Lock()
	h := w.hooks[id]
	w.mu.Unlock()
	if h != nil {
		return h.now(), nil
	}
	state, err := store.WebhookStateOf(tx, id) // created just now
	if err != nil {
		return store.WebhookState{}, err
	}
	return *state, nil
}
