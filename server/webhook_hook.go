package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"time"

	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
)

const (
	webhookPace    = 5 * time.Millisecond // minimum time between two messages of a webhook, to leave processor time to other work
	webhookBusy    = 4 * webhookPace      // the same while there are many writes and the webhook is
	webhookFar     = 1000                 // this many entries behind them
	webhookGiveUp  = 72 * time.Hour       // a message that has failed for this time pauses its webhook
	webhookFirst   = 5 * time.Second      // before the second attempt; doubled with each further one
	webhookLongest = 6 * time.Hour        // between two attempts
	webhookGrace   = 2 * time.Second      // for a message that is being sent when the server shuts down
	idleCheck      = time.Minute          // interval in which a webhook that sends nothing looks whether it may again
)

// Kinds of deliveries.
const (
	eventDelivery  = "event"
	replayDelivery = "replay"
	testDelivery   = "test"
)

// hook sends the events of one webhook, one after the other. Its position is a place in the change log,
// as that of a stream.
type hook struct {
	sender  *sender
	id      store.ID
	wake    chan struct{}      // contains a token if the webhook or its state has changed
	cancel  context.CancelFunc // ends run; the sender's lock guards it and started
	started bool

	// steering is held while a user changes what is sent next, and while that is planned. It is locked
	// before mu, and never within a transaction: a write of a user waits for the writer with it.
	steering sync.Mutex
	behind   []*streamEntry // entries that were read from the log, for the next messages; steering guards it

	mu     sync.Mutex // held for a moment only: transactions wait for it
	state  store.WebhookState
	stored store.WebhookState // as it is in the database
}

// run sends events until ctx ends.
func (h *hook) run(ctx context.Context) {
	h.sender.s.streams.enter()
	defer h.sender.s.streams.leave()
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

func (h *hook) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// step sends at most one message. It returns how long to wait before the next step, and what else ends
// the wait; nil for nothing.
func (h *hook) step(ctx context.Context) (pause time.Duration, woken <-chan struct{}) {
	begun := time.Now()
	p, woken, err := h.next()
	switch {
	case errors.Is(err, errTooEarly):
		return p.state.NextAt.Std().Sub(begun), nil
	case errors.Is(err, errNoOwner):
		return idleCheck, woken
	case errors.Is(err, errIdle):
		return idleCheck, nil
	case err != nil:
		h.sender.report(h.id, err)
		return idleCheck, nil
	}
	if p.lost.first > 0 && (p.message == nil || p.attempt() == 1) {
		h.sender.recordLost(h.id, &p.keys, p.lost.first, p.lost.last)
	}
	if p.message != nil {
		h.send(ctx, p)
		return max(1, h.pace()-time.Since(begun)), nil
	}
	h.set(p.advance)
	if p.done && p.kind == eventDelivery {
		return p.pause, woken
	}
	return webhookPace, nil
}

// pace returns the minimum time between two messages.
func (h *hook) pace() time.Duration {
	if h.sender.s.streams.isBusy() && h.now().Seq+webhookFar < h.sender.s.db.LogHead().Seq {
		return webhookBusy
	}
	return webhookPace
}

// next plans what is sent next.
func (h *hook) next() (p *plan, woken <-chan struct{}, err error) {
	h.steering.Lock()
	defer h.steering.Unlock()
	p = &plan{hook: h, begun: time.Now(), state: h.now()}
	if wait := time.Until(p.state.NextAt.Std()); wait > 0 && wait <= 2*webhookLongest { // a longer one means that the clock was set back
		return p, nil, errTooEarly
	}
	if woken, err = p.read(); err == nil {
		err = h.sender.s.db.View(store.Anonymous, p.make)
	}
	return p, woken, err
}

// send sends the message of a plan and records the result.
func (h *hook) send(ctx context.Context, p *plan) {
	begun := p.begun // an erasure since then removes the delivery
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(webhookGrace, cancel) })()
	result := h.sender.client.Send(sending, p.record.URL, p.keys.Secrets, &p.message.Message)
	if sending.Err() != nil && !result.Fault.Empty() {
		return // the server shuts down, or the webhook was deleted
	}
	h.sender.record(h.id, p.keys.Deliveries, p.message, p.kind, p.attempt(), begun, &result)
	if result.Fault.Empty() {
		h.set(func(s *store.WebhookState) {
			p.advance(s)
			clearFailures(s)
			s.LastAt, s.LastStatus = store.TimeOf(begun), result.Status
		})
		return
	}
	reason := ""
	h.set(func(s *store.WebhookState) {
		if !p.moved(s) {
			reason = h.failed(s, p, begun, &result)
		}
	})
	h.sender.save() // so that a restart does not begin again
	if reason != "" {
		h.sender.pause(h.id, reason)
	}
}

// failed notes a failed attempt in the state. It returns why the webhook must be paused; "" if the
// message is tried again.
func (h *hook) failed(s *store.WebhookState, p *plan, at time.Time, result *webhook.Result) (reason string) {
	if !p.retries(s) {
		s.Attempts, s.FailingSince = 0, store.TimeOf(at)
	}
	s.Blocked, s.BlockedKind = p.message.ID, p.kind
	if p.isHead {
		s.BlockedKind = headType
	}
	s.Attempts++
	s.LastAt, s.LastStatus = store.TimeOf(at), result.Status
	s.NextAt = store.TimeOf(time.Now().Add(max(h.sender.backoff(s.Attempts), result.RetryAfter)))
	switch {
	case result.Status == 410:
		return store.WebhookGone
	case at.Sub(s.FailingSince.Std()) >= webhookGiveUp:
		return store.WebhookFailing
	}
	return ""
}

// backoff is the time after n failed attempts, with jitter: a receiver of several webhooks that comes
// back does not get all of them at once.
func backoff(n int) time.Duration {
	d := webhookLongest
	if n < 20 {
		d = min(d, webhookFirst<<(n-1))
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

// skipBlocked moves the position behind the message that is being retried.
func skipBlocked(s *store.WebhookState) {
	parts := strings.Split(s.Blocked, "-") // generation, number of the entry, and part unless that is 0
	var seq uint64
	part := 0
	if len(parts) > 1 {
		seq, _ = strconv.ParseUint(parts[1], 10, 64) // as message has written it
	}
	if len(parts) > 2 {
		part, _ = strconv.Atoi(parts[2])
	}
	switch s.BlockedKind {
	case headType:
		s.HeadAt = store.TimeOf(time.Now())
	case replayDelivery:
		if s.ReplayNext != 0 && seq >= s.ReplayNext {
			s.ReplayNext, s.ReplayPart = seq, part+1
		}
	default:
		if seq > s.Seq { // otherwise the message is behind the position: it is no longer sent
			s.Seq, s.Part = seq-1, part+1
		}
	}
	clearFailures(s)
}

// set changes the state, which is stored soon.
func (h *hook) set(change func(*store.WebhookState)) {
	h.steering.Lock()
	defer h.steering.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.state)
}

// now returns the state.
func (h *hook) now() store.WebhookState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
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
