// Package webhooks sends changes to other servers: one goroutine for each webhook reads the change
// log in order, and retries until the receiver has accepted a message. Signing, sending and the log
// of deliveries are in package webhook.
package webhooks

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

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	DeliveryDir  = "webhook"
	deliveryMax  = 64 << 20 // bytes of all stored deliveries
	deliveryFree = 64 << 20 // bytes of the disk that must stay free
	deliveryAge  = 30 * 24 * time.Hour

	saveEvery   = time.Second // positions and deliveries are stored; after a crash, what was sent since is sent again
	maxUnstored = 500         // deliveries that wait to be stored; more are stored at once
)

// Sender sends events to all webhooks. Each of them has a goroutine, so that a slow receiver delays
// no other, and no write.
type Sender struct {
	s       *web.Server
	streams *changes.Streams
	client  *webhook.Client
	Log     *webhook.Log
	changed chan struct{} // contains a token if a webhook was created, changed or deleted
	Backoff func(n int) time.Duration

	delivered, failed atomic.Uint64 // attempts

	syncing sync.Mutex // held while the webhooks are read, and started or ended
	saving  sync.Mutex // held while positions and deliveries are stored
	running sync.WaitGroup

	mu       sync.Mutex
	ctx      context.Context // of the goroutines; nil while they do not run
	hooks    map[store.ID]*Hook
	unstored []webhook.Delivery   // that are not in the log yet
	keys     map[uint64][]byte    // that seal the deliveries in unstored, by webhook
	erased   map[string]time.Time // persons who were erased, and when
}

func NewSender(s *web.Server, streams *changes.Streams) *Sender {
	w := &Sender{
		s:       s,
		streams: streams,
		client:  webhook.NewClient(s.Config.WebhookAllow, s.Config.Version),
		Backoff: Backoff,
		Log: webhook.OpenLog(filepath.Join(s.DB.Dir(), DeliveryDir), deliveryMax, deliveryFree,
			deliveryAge),
		changed: make(chan struct{}, 1),
		hooks:   map[store.ID]*Hook{},
		keys:    map[uint64][]byte{},
		erased:  map[string]time.Time{},
	}
	w.changed <- struct{}{}
	s.DB.OnCommit(func(c kv.Changes) {
		if c.Of(store.Webhooks) != nil || c.Followed() && c.Of(store.WebhookStates) != nil {
			w.again()
		}
	})
	s.Metrics.Counter("reeve_webhook_deliveries_total",
		"Messages that receivers of webhooks have accepted.", w.delivered.Load)
	s.Metrics.Counter("reeve_webhook_failures_total",
		"Failed attempts to send a message to a webhook.", w.failed.Load)
	s.Metrics.Gauge("reeve_webhook_behind",
		"Entries of the change log that the slowest webhook has not handled.", func() float64 {
			return float64(w.behind())
		})
	return w
}

// Run sends events until ctx ends, in a cluster while this node has the duties.
func (w *Sender) Run(ctx context.Context) {
	w.mu.Lock()
	w.ctx = ctx
	w.mu.Unlock()
	tick, expire := time.NewTicker(saveEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer expire.Stop()
	for sends := true; ctx.Err() == nil; {
		select {
		case <-w.changed:
			if sends = w.s.OnDuty(); !sends {
				w.end()
			} else if err := w.sync(); err != nil {
				w.report(0, err)
				time.AfterFunc(saveEvery, w.again)
			}
		case <-tick.C:
			w.Save()
			if w.s.OnDuty() != sends {
				w.again()
			}
		case <-expire.C:
			if err := w.Log.Expire(); err != nil {
				w.report(0, err)
			}
		case <-ctx.Done():
		}
	}

	w.running.Wait()
	w.Save()
	if err := w.Log.Close(); err != nil {
		w.report(0, err)
	}
}

// end ends all webhooks: another node sends them, from the positions that are stored.
func (w *Sender) end() {
	w.mu.Lock()
	for _, h := range w.hooks {
		h.cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
	w.Save()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = map[store.ID]*Hook{}
}

func (w *Sender) again() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// sync starts webhooks that are new, ends those that were deleted, and wakes all others. One that
// read the webhooks earlier must not end what a later one has started.
func (w *Sender) sync() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	found := map[store.ID]*store.WebhookState{}
	err := w.s.DB.View(store.System, func(tx *store.Tx) error {
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
			h = &Hook{
				Sender: w,
				id:     id,
				wake:   make(chan struct{}, 1),
				cancel: func() {},
				State:  *state,
				stored: *state,
			}
			w.hooks[id] = h
		}
		h.adopt(state)
		if !h.started && w.ctx != nil {
			h.started = true
			ctx, cancel := context.WithCancel(w.ctx)
			h.cancel = cancel
			w.running.Go(func() { h.run(ctx) })
		}

		h.Poke()
	}

	return nil
}

func (w *Sender) all() []*Hook {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*Hook
	for _, h := range w.hooks {
		all = append(all, h)
	}
	return all
}

// Save stores the positions that have changed, and the deliveries. What fails is tried again.
func (w *Sender) Save() {
	w.saving.Lock()
	defer w.saving.Unlock()
	if err := errors.Join(w.savePositions(), w.saveDeliveries()); err != nil {
		w.report(0, err)
	}
}

func (w *Sender) savePositions() error {
	var changed []*Hook
	var states []store.WebhookState
	for _, h := range w.all() {
		h.mu.Lock()
		if h.State != h.stored {
			changed, states = append(changed, h), append(states, h.State)
		}
		h.mu.Unlock()
	}

	if changed == nil {
		return nil
	}

	stored := make([]store.WebhookState, len(states))
	err := w.s.DB.WithRecorder(nil).For("webhook positions", nil).Update(store.System,
		func(tx *store.Tx) error {
			for i := range states {
				_, err := store.WebhookStates.UpdateQuietly(tx, states[i].ID,
					func(s *store.WebhookState) error {
						if s.Steered == states[i].Steered { // otherwise a user has changed it at another node
							states[i].Timestamps = s.Timestamps
							*s = states[i]
						}
						stored[i] = *s
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
		if stored[i].ID == 0 {
			continue
		}
		h.adopt(&stored[i])
		h.mu.Lock()
		h.stored, h.State.Timestamps = stored[i], stored[i].Timestamps
		h.mu.Unlock()
	}

	return nil
}

func (w *Sender) saveDeliveries() error {
	w.mu.Lock()
	list := slices.DeleteFunc(w.unstored, func(d webhook.Delivery) bool { // of messages that were being sent during an erasure
		return slices.ContainsFunc(d.Persons, func(person string) bool {
			return !w.erased[person].Before(d.At)
		})
	})
	keys := w.keys
	w.unstored, w.keys = nil, map[uint64][]byte{}
	w.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	return w.Log.Append(keys, list) // what cannot be stored is dropped: the disk is full
}

// record records an attempt to send a message.
func (w *Sender) record(id store.ID, key []byte, m *Outgoing, kind string, attempt int,
	begun time.Time, r *webhook.Result) {
	if r.Fault.Empty() {
		w.delivered.Add(1)
	} else {
		w.failed.Add(1)
	}
	w.Keep(key, webhook.Delivery{
		At:       begun,
		Webhook:  uint64(id),
		Event:    m.ID,
		Type:     m.Type,
		Attempt:  attempt,
		Kind:     kind,
		Status:   r.Status,
		Took:     r.Took,
		Fault:    rawFault(r.Fault),
		Request:  string(m.Body),
		Response: r.Response,
		Persons:  m.persons,
	})
}

// recordLost records that entries of the change log were dropped before they could be sent.
func (w *Sender) recordLost(id store.ID, keys *store.WebhookKeys, first, last uint64) {
	fault := errs.Say("entries %d to %d of the change log were removed by its retention before they could be sent", first, last)
	w.s.Log.Warn().Stringer("webhook", id).Uint64("first", first).Uint64("last", last).Msg("entries of the change log were removed before a webhook could send them")
	w.Keep(keys.Deliveries, webhook.Delivery{
		At:      time.Now(),
		Webhook: uint64(id),
		Type:    lostType,
		Kind:    EventDelivery,
		Attempt: 1,
		Fault:   rawFault(fault),
	})
}

func (w *Sender) Keep(key []byte, d webhook.Delivery) {
	w.mu.Lock()
	w.unstored, w.keys[d.Webhook] = append(w.unstored, d), key
	full := len(w.unstored) >= maxUnstored
	w.mu.Unlock()
	if full {
		w.Save()
	}
}

// pause pauses a webhook until somebody resumes it.
func (w *Sender) pause(id store.ID, reason string) {
	origin := store.Origin{Operation: audit.Operation{Title: "pause webhook"}}
	err := w.s.DB.WithRecorder(nil).For("webhook", nil).From(&origin).Update(store.System,
		func(tx *store.Tx) error {
			_, err := store.Webhooks.UpdateQuietly(tx, id, func(v *store.Webhook) error {
				v.Paused = reason
				return nil
			})
			return err
		})
	if err != nil {
		w.report(id, err)
		return
	}
	w.s.Log.Warn().Stringer("webhook", id).Str("reason", reason).Msg("a webhook is paused until somebody resumes it")
}

// report logs an error. 0 is no webhook.
func (w *Sender) report(id store.ID, err error) {
	if errs.Is(err, errs.NotFound) {
		return // the webhook was deleted
	}
	w.s.Failures.Report(w.s.Log, "webhook "+id.String(), err, func(line *zerolog.Event) {
		line.Stringer("webhook", id).Msg("webhooks do not work as they should")
	})
}

// Forget removes the deliveries that are about a person who was erased.
func (w *Sender) Forget(who store.Account) (removed int, err error) {
	person := who.Person()
	w.mu.Lock()
	maps.DeleteFunc(w.erased, func(_ string, at time.Time) bool { return time.Since(at) > time.Hour }) // no message takes that long
	w.erased[person] = time.Now()
	before := len(w.unstored)
	w.unstored = slices.DeleteFunc(w.unstored, func(d webhook.Delivery) bool {
		return slices.Contains(d.Persons, person)
	})
	removed = before - len(w.unstored)
	w.mu.Unlock()
	w.saving.Lock()
	defer w.saving.Unlock()
	n, err := w.Log.Forget(person)
	return removed + n, err
}

// ConfirmAfterRestore pauses all webhooks if a restore has replaced the change log since they were
// last stored: somebody has to confirm that this installation is the one that sends.
func (w *Sender) ConfirmAfterRestore() error {
	head := w.s.DB.LogHead()
	var replaced []store.ID
	err := w.s.DB.View(store.System, func(tx *store.Tx) error {
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
	return w.s.DB.WithRecorder(nil).For("webhook", nil).From(&origin).Update(store.System,
		func(tx *store.Tx) error {
			for _, id := range replaced {
				state, err := store.WebhookStates.UpdateQuietly(tx, id,
					func(s *store.WebhookState) error {
						s.Generation, s.Seq = head.Generation, min(s.Seq, head.Seq)
						s.ReplayNext, s.ReplayUntil, s.ReplayPart = 0, 0, 0
						clearFailures(s)
						return nil
					})
				if err == nil {
					_, err = store.Webhooks.UpdateQuietly(tx, state.WebhookID,
						func(v *store.Webhook) error {
							v.Paused = store.WebhookRestored
							return nil
						})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
}

// stateOf returns the state of a webhook, as it is now.
func (w *Sender) stateOf(tx *store.Tx, id store.ID) (store.WebhookState, error) {
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
