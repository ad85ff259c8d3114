package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"math/big"
	"sync"
	"time"

	"reeve/server/changes"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	WebhookPace    = 5 * time.Millisecond // minimum time between two messages of a webhook, to leave processor time to other work
	WebhookBusy    = 4 * WebhookPace      // the same while there are many writes and the webhook is
	WebhookFar     = 1000                 // this many entries behind them
	webhookGiveUp  = 72 * time.Hour       // a message that has failed for this time pauses its webhook
	WebhookFirst   = 5 * time.Second      // before the second attempt; doubled with each further one
	WebhookLongest = 6 * time.Hour        // between two attempts
	webhookGrace   = 2 * time.Second      // for a message that is being sent when the server shuts down
	idleCheck      = time.Minute          // interval in which a webhook that sends nothing looks whether it may again
)

// Kinds of deliveries.
const (
	EventDelivery  = "event"
	ReplayDelivery = "replay"
	TestDelivery   = "test"
)

// Hook sends the events of one webhook, one after the other. Its position is a place in the change
// log, as that of a stream.
type Hook struct {
	Sender  *Sender
	id      store.ID
	wake    chan struct{}      // contains a token if the webhook or its state has changed
	cancel  context.CancelFunc // ends run; the sender's lock guards it and started
	started bool

	// steering is held while a user changes what is sent next, and while that is planned. It is
	// locked before mu, and never within a transaction: a write of a user waits for the writer with
	// it.
	steering sync.Mutex
	behind   []*changes.StreamEntry // entries that were read from the log, for the next messages; steering guards it

	mu     sync.Mutex // held for a moment only: transactions wait for it
	State  store.WebhookState
	stored store.WebhookState // as it is in the database
}

// run sends events until ctx ends.
func (h *Hook) run(ctx context.Context) {
	h.Sender.streams.Enter()
	defer h.Sender.streams.Leave()
	for ctx.Err() == nil {
		pause, woken := h.step(ctx)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (h *Hook) Poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// step sends at most one message. It returns how long to wait before the next step, and what else
// ends the wait; nil for nothing.
func (h *Hook) step(ctx context.Context) (pause time.Duration, woken <-chan struct{}) {
	begun := time.Now()
	p, woken, err := h.next()
	switch {
	case errors.Is(err, errTooEarly):
		return p.State.NextAt.Std().Sub(begun), nil
	case errors.Is(err, errNoOwner):
		return idleCheck, woken
	case errors.Is(err, errIdle):
		return idleCheck, nil
	case err != nil:
		h.Sender.report(h.id, err)
		return idleCheck, nil
	}

	if p.Lost.First > 0 && (p.Message == nil || p.Attempt() == 1) {
		h.Sender.recordLost(h.id, &p.keys, p.Lost.First, p.Lost.Last)
	}
	if p.Message != nil {
		h.send(ctx, p)
		return max(1, h.Pace()-time.Since(begun)), nil
	}

	h.Set(p.Advance)
	if p.done && p.Kind == EventDelivery {
		return p.pause, woken
	}

	return WebhookPace, nil
}

// Pace returns the minimum time between two messages.
func (h *Hook) Pace() time.Duration {
	if h.Sender.streams.IsBusy() && h.now().Seq+WebhookFar < h.Sender.s.DB.LogHead().Seq {
		return WebhookBusy
	}
	return WebhookPace
}

// next plans what is sent next.
func (h *Hook) next() (p *Plan, woken <-chan struct{}, err error) {
	h.steering.Lock()
	defer h.steering.Unlock()
	p = &Plan{Hook: h, begun: time.Now(), State: h.now()}
	if wait := time.Until(p.State.NextAt.Std()); wait > 0 && wait <= 2*WebhookLongest { // a longer one means that the clock was set back
		return p, nil, errTooEarly
	}
	if woken, err = p.read(); err == nil {
		err = h.Sender.s.DB.View(store.Anonymous, p.make)
	}
	return p, woken, err
}

// send sends the message of a plan and records the result.
func (h *Hook) send(ctx context.Context, p *Plan) {
	begun := p.begun // an erasure since then removes the delivery
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(webhookGrace, cancel) })()
	result := h.Sender.client.Send(sending, p.record.URL, p.keys.Secrets, &p.Message.Message)
	if sending.Err() != nil && !result.Fault.Empty() {
		return // the server shuts down, or the webhook was deleted
	}

	h.Sender.record(h.id, p.keys.Deliveries, p.Message, p.Kind, p.Attempt(), begun, &result)
	if result.Fault.Empty() {
		h.Set(func(s *store.WebhookState) {
			p.Advance(s)
			clearFailures(s)
			s.LastAt, s.LastStatus = kv.TimeOf(begun), result.Status
		})
		return
	}

	reason := ""
	h.Set(func(s *store.WebhookState) {
		if !p.moved(s) {
			reason = h.Failed(s, p, begun, &result)
		}
	})
	h.Sender.Save() // so that a restart does not begin again
	if reason != "" {
		h.Sender.pause(h.id, reason)
	}
}

// Failed notes a failed attempt in the state. It returns why the webhook must be paused; "" if the
// message is tried again.
func (h *Hook) Failed(s *store.WebhookState, p *Plan, at time.Time,
	result *webhook.Result) (reason string) {
	if !p.retries(s) {
		s.Attempts, s.FailingSince = 0, kv.TimeOf(at)
	}

	s.Blocked, s.BlockedKind = p.Message.ID, p.Kind
	if p.IsHead {
		s.BlockedKind = changes.HeadType
	}

	s.Attempts++
	s.LastAt, s.LastStatus = kv.TimeOf(at), result.Status
	s.NextAt = kv.TimeOf(time.Now().Add(max(h.Sender.Backoff(s.Attempts), result.RetryAfter)))
	switch {
	case result.Status == 410:
		return store.WebhookGone
	case at.Sub(s.FailingSince.Std()) >= webhookGiveUp:
		return store.WebhookFailing
	}

	return ""
}

// Backoff is the time after n failed attempts, with jitter: a receiver of several webhooks that
// comes back does not get all of them at once.
func Backoff(n int) time.Duration {
	d := WebhookLongest
	if n < 20 {
		d = min(d, WebhookFirst<<(n-1))
	}
	jitter, err := rand.Int(rand.Reader, big.NewInt(int64(d/2)))
	if err != nil {
		panic(err) // never fails: crypto/rand crashes the program instead
	}
	return d*3/4 + time.Duration(jitter.Int64())
}

// clearFailures makes the next attempt the first one.
func clearFailures(s *store.WebhookState) {
	s.Blocked, s.BlockedKind, s.Attempts, s.FailingSince, s.NextAt = "", "", 0, 0, 0
}

// Set changes the state, which is stored soon.
func (h *Hook) Set(change func(*store.WebhookState)) {
	h.steering.Lock()
	defer h.steering.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.State)
}

// adopt replaces the state by the one that is stored, if a user has changed that at another node.
func (h *Hook) adopt(stored *store.WebhookState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stored.Steered > h.State.Steered {
		h.State, h.stored = *stored, *stored
	}
}

// now returns the state.
func (h *Hook) now() store.WebhookState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.State
}

// Why a webhook sends nothing.
var (
	errIdle     = errors.New("the webhook is disabled or paused")
	errTooEarly = errors.New("the next attempt is later")
	errNoOwner  = errors.New("the owner of the webhook is disabled, or may not have one")
)

// rawFault returns the code and parameters of why an attempt failed; nil if it succeeded.
func rawFault(m errs.Message) json.RawMessage {
	if m.Empty() {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage(`{}`) // cannot happen: parameters are texts and numbers
	}
	return text
}
