package server

import (
	"cmp"
	"math"
	"slices"
	"time"

	"reeve/store"
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
