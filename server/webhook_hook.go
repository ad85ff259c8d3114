package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
)

const (
	webhookPace    = 5 * time.Millisecond // minimum time between two messages of a webhook, so that many of them leave the processor to others
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
		if pause == 0 {
			continue
		}
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
		return max(1, webhookPace-time.Since(begun)), nil
	}
	h.set(p.advance)
	if p.done && p.kind == eventDelivery {
		return p.pause, woken
	}
	return webhookPace, nil
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

// plan is what a webhook does next.
type plan struct {
	hook    *hook
	begun   time.Time
	state   store.WebhookState
	kind    string
	entries []*streamEntry

	record  *store.Webhook
	keys    store.WebhookKeys
	message *outgoing     // nil if none of the entries has one for the webhook
	isHead  bool          // whether the message is the head of the log
	done    bool          // whether nothing is left to send
	pause   time.Duration // how long to wait then
	seq     uint64        // entry of the message, or the last one that was looked at
	part    int           // next part of that entry
	lost    lostEntries   // entries before it that were dropped by retention
}

// lostEntries are the numbers of entries that were dropped; first is 0 if there are none.
type lostEntries struct{ first, last uint64 }

// read reads the next entries of the change log.
func (p *plan) read() (woken <-chan struct{}, err error) {
	h, streams := p.hook, p.hook.sender.s.streams
	from := p.state.Seq + 1
	if p.kind = eventDelivery; p.state.ReplayNext != 0 {
		p.kind, from = replayDelivery, p.state.ReplayNext
	}
	if n := len(h.behind); n > 0 && h.behind[0].Seq <= from && from <= h.behind[n-1].Seq { // reading them for each message takes longer than sending it
		i, _ := slices.BinarySearchFunc(h.behind, from, func(e *streamEntry, seq uint64) int { return cmp.Compare(e.Seq, seq) })
		p.entries = h.behind[i:]
		return streams.wake(), nil
	}
	if h.behind = nil; p.kind == replayDelivery {
		p.entries, err = streams.read(from)
	} else {
		p.entries, woken, err = streams.after(p.state.Seq)
	}
	if err == nil {
		h.behind = p.entries
	}
	return woken, err
}

// make finds the next message, as the owner may read it now.
func (p *plan) make(tx *store.Tx) (err error) {
	if p.record, err = store.Webhooks.Get(tx, p.hook.id); err != nil {
		return errIdle // deleted: the hook ends soon
	}
	if !bool(p.record.Status) || p.record.Paused != "" {
		return errIdle
	}
	owner, err := webhookOwner(tx, p.record)
	if err == nil && owner == nil {
		err = errNoOwner
	}
	if err == nil {
		p.keys, err = store.WebhookKeysOf(tx, p.hook.id)
	}
	if err != nil {
		return err
	}
	tx.ActAs(owner)
	view, filter := newLogView(tx, owner), eventFilter(p.record.Types)
	if err := p.find(view, filter); err != nil || p.message != nil {
		return err
	}
	p.pause = idleCheck
	if p.done && p.kind == eventDelivery && filter.wants(headType) {
		if p.pause = time.Until(p.state.HeadAt.Std().Add(headEvery)); p.pause <= 0 {
			p.pause = idleCheck
			p.message, err = view.headMessage(p.hook.sender.s.db.LogHead(), time.Now())
			p.isHead = p.message != nil
		}
	}
	return err
}

// find finds the first message in the entries.
func (p *plan) find(view *logView, filter eventFilter) (err error) {
	part, until := p.state.Part, uint64(math.MaxUint64)
	if p.seq = p.state.Seq; p.kind == replayDelivery {
		part, until, p.seq = p.state.ReplayPart, p.state.ReplayUntil, p.state.ReplayNext-1
	}
	for _, e := range p.entries {
		if last := min(e.Seq-1, until); last > p.seq {
			if p.lost.first == 0 {
				p.lost.first = p.seq + 1
			}
			p.lost.last, part, p.seq = last, 0, last
		}
		if e.Seq > until {
			break
		}
		p.seq = e.Seq
		if p.message, p.part, err = view.message(&e.Entry, part, filter); err != nil || p.message != nil {
			return err
		}
		part = 0
	}
	p.done = len(p.entries) == 0 || p.seq >= until
	return nil
}

// webhookOwner returns the owner of a webhook; nil if the owner was deleted or disabled, or has lost
// the permission to have one.
func webhookOwner(tx *store.Tx, w *store.Webhook) (*store.Actor, error) {
	owner, err := store.EnabledUser(tx, w.OwnerID)
	if err != nil || owner == nil || !owner.HasPermission(tx, "system.webhook.create") {
		return nil, err
	}
	return owner, nil
}

// attempt is the number of the attempt to send the message.
func (p *plan) attempt() int {
	if p.retries(&p.state) {
		return p.state.Attempts + 1
	}
	return 1
}

// retries reports whether the message has been tried before. The head of the log has another ID as soon
// as the log grows, which must not begin its attempts again.
func (p *plan) retries(s *store.WebhookState) bool {
	return s.Blocked == p.message.ID || p.isHead && s.BlockedKind == headType
}

// moved reports whether a user has changed the position since the plan was made.
func (p *plan) moved(s *store.WebhookState) bool {
	if p.kind == replayDelivery {
		return s.ReplayNext != p.state.ReplayNext || s.ReplayPart != p.state.ReplayPart
	}
	return s.Seq != p.state.Seq || s.Part != p.state.Part
}

// advance moves the position behind the message, or behind the entries without one.
func (p *plan) advance(s *store.WebhookState) {
	switch {
	case p.moved(s):
	case p.isHead:
		s.HeadAt = store.TimeOf(time.Now())
	case p.kind == replayDelivery && p.message == nil && p.done:
		s.ReplayNext, s.ReplayUntil, s.ReplayPart = 0, 0, 0
		if s.BlockedKind == replayDelivery {
			clearFailures(s)
		}
	case p.kind == replayDelivery && p.message == nil:
		s.ReplayNext, s.ReplayPart = p.seq+1, 0
	case p.kind == replayDelivery:
		s.ReplayNext, s.ReplayPart = p.seq, p.part
	case p.message == nil && p.seq == s.Seq: // no entries: parts of the next one may have been sent already
	case p.message == nil:
		s.Seq, s.Part = p.seq, 0
		if s.BlockedKind == eventDelivery {
			clearFailures(s) // the owner may no longer read the event, or the webhook no longer wants it
		}
	default:
		s.Seq, s.Part = p.seq-1, p.part
	}
}

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
