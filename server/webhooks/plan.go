package webhooks

import (
	"cmp"
	"math"
	"slices"
	"time"

	"reeve/server/changes"
	"reeve/store"
	"reeve/store/kv"
)

// Plan is what a webhook does next.
type Plan struct {
	Hook    *Hook
	begun   time.Time
	State   store.WebhookState
	Kind    string
	Entries []*changes.StreamEntry

	record  *store.Webhook
	keys    store.WebhookKeys
	Message *Outgoing     // nil if none of the entries has one for the webhook
	IsHead  bool          // whether the message is the head of the log
	done    bool          // whether nothing is left to send
	pause   time.Duration // how long to wait then
	seq     uint64        // entry of the message, or the last one that was looked at
	part    int           // next part of that entry
	Lost    LostEntries   // entries before it that were dropped by retention
}

// LostEntries are the numbers of entries that were dropped; first is 0 if there are none.
type LostEntries struct{ First, Last uint64 }

// read reads the next entries of the change log.
func (p *Plan) read() (woken <-chan struct{}, err error) {
	h, streams := p.Hook, p.Hook.Sender.streams
	from := p.State.Seq + 1
	if p.Kind = EventDelivery; p.State.ReplayNext != 0 {
		p.Kind, from = ReplayDelivery, p.State.ReplayNext
	}
	if n := len(h.behind); n > 0 && h.behind[0].Seq <= from && from <= h.behind[n-1].Seq { // reading them for each message takes longer than sending it
		i, _ := slices.BinarySearchFunc(h.behind, from,
			func(e *changes.StreamEntry, seq uint64) int {
				return cmp.Compare(e.Seq, seq)
			})
		p.Entries = h.behind[i:]
		return streams.Wake(), nil
	}
	if h.behind = nil; p.Kind == ReplayDelivery {
		p.Entries, err = streams.Read(from)
	} else {
		p.Entries, woken, err = streams.After(p.State.Seq)
	}
	if err == nil {
		h.behind = p.Entries
	}

	return woken, err
}

// make finds the next message, as the owner may read it now.
func (p *Plan) make(tx *store.Tx) (err error) {
	if p.record, err = store.Webhooks.Get(tx, p.Hook.id); err != nil {
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
		p.keys, err = store.WebhookKeysOf(tx, p.Hook.id)
	}
	if err != nil {
		return err
	}

	tx.ActAs(owner)
	view, filter := changes.NewView(tx, owner), changes.EventFilter(p.record.Types)
	if err := p.Find(view, filter); err != nil || p.Message != nil {
		return err
	}

	p.pause = idleCheck
	if p.done && p.Kind == EventDelivery && filter.Wants(changes.HeadType) {
		if p.pause = time.Until(p.State.HeadAt.Std().Add(changes.HeadEvery)); p.pause <= 0 {
			p.pause = idleCheck
			p.Message, err = headMessage(view, p.Hook.Sender.s.DB.LogHead(), time.Now())
			p.IsHead = p.Message != nil
		}
	}

	return err
}

// Find finds the first message in the entries.
func (p *Plan) Find(view *changes.View, filter changes.EventFilter) (err error) {
	part, until := p.State.Part, uint64(math.MaxUint64)
	if p.seq = p.State.Seq; p.Kind == ReplayDelivery {
		part, until, p.seq = p.State.ReplayPart, p.State.ReplayUntil, p.State.ReplayNext-1
	}

	for _, e := range p.Entries {
		if last := min(e.Seq-1, until); last > p.seq {
			if p.Lost.First == 0 {
				p.Lost.First = p.seq + 1
			}
			p.Lost.Last, part, p.seq = last, 0, last
		}
		if e.Seq > until {
			break
		}

		p.seq = e.Seq
		if p.Message, p.part, err = message(view, &e.Entry, part, filter); err != nil ||
			p.Message != nil {
			return err
		}

		part = 0
	}

	p.done = len(p.Entries) == 0 || p.seq >= until
	return nil
}

// webhookOwner returns the owner of a webhook; nil if the owner was deleted or disabled, or has
// lost the permission to have one.
func webhookOwner(tx *store.Tx, w *store.Webhook) (*store.Actor, error) {
	owner, err := store.EnabledUser(tx, w.OwnerID)
	if err != nil || owner == nil || !owner.HasPermission(tx, "system.webhook.create") {
		return nil, err
	}
	return owner, nil
}

// Attempt is the number of the attempt to send the message.
func (p *Plan) Attempt() int {
	if p.retries(&p.State) {
		return p.State.Attempts + 1
	}
	return 1
}

// retries reports whether the message has been tried before. The head of the log has another ID as
// soon as the log grows, which must not begin its attempts again.
func (p *Plan) retries(s *store.WebhookState) bool {
	return s.Blocked == p.Message.ID || p.IsHead && s.BlockedKind == changes.HeadType
}

// moved reports whether a user has changed the position since the plan was made.
func (p *Plan) moved(s *store.WebhookState) bool {
	if p.Kind == ReplayDelivery {
		return s.ReplayNext != p.State.ReplayNext || s.ReplayPart != p.State.ReplayPart
	}
	return s.Seq != p.State.Seq || s.Part != p.State.Part
}

// Advance moves the position behind the message, or behind the entries without one.
func (p *Plan) Advance(s *store.WebhookState) {
	switch {
	case p.moved(s):
	case p.IsHead:
		s.HeadAt = kv.TimeOf(time.Now())
	case p.Kind == ReplayDelivery && p.Message == nil && p.done:
		s.ReplayNext, s.ReplayUntil, s.ReplayPart = 0, 0, 0
		if s.BlockedKind == ReplayDelivery {
			clearFailures(s)
		}
	case p.Kind == ReplayDelivery && p.Message == nil:
		s.ReplayNext, s.ReplayPart = p.seq+1, 0
	case p.Kind == ReplayDelivery:
		s.ReplayNext, s.ReplayPart = p.seq, p.part
	case p.Message == nil && p.seq == s.Seq: // no entries: parts of the next one may have been sent already
	case p.Message == nil:
		s.Seq, s.Part = p.seq, 0
		if s.BlockedKind == EventDelivery {
			clearFailures(s) // the owner may no longer read the event, or the webhook no longer wants it
		}
	default:
		s.Seq, s.Part = p.seq-1, p.part
	}
}
