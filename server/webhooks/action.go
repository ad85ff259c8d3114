package webhooks

import (
	"cmp"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	secretOverlap = 24 * time.Hour // for which messages are signed with the previous secret too
	maxReplay     = 100_000        // entries of the change log
)

type rotationIn struct {
	web.ByID
	Secret *string `json:"secret" check:"min=38,max=200" doc:"New signing secret: whsec_ and the base64 of 24 to 64 bytes; one is generated if absent"`
}

func (w *Sender) rotateWebhookSecret(tx *store.Tx, req *web.Request,
	in *rotationIn) (*WebhookWithSecret, error) {
	secret, err := newWebhookSecret(in.Secret)
	if err != nil {
		return nil, err
	}
	v, err := store.ReadWebhook(tx, in.ID)
	if err == nil {
		err = store.SetWebhookSecret(tx, in.ID, secret, tx.Now().Add(secretOverlap))
	}
	if err != nil {
		return nil, err
	}
	tx.LogAction("webhook_secret", map[string]store.ID{"webhook": in.ID})
	return w.withSecret(tx, req, v, secret)
}

// steer changes what a webhook sends next, for a caller who may change the webhook. action and
// details are what the change log says about it.
func (w *Sender) steer(req *web.Request, id store.ID, action string, details map[string]any,
	change func(v *store.Webhook, s *store.WebhookState) error) (out *WebhookOut, err error) {
	w.mu.Lock()
	h := w.hooks[id] // nil if another node sends it
	w.mu.Unlock()
	if h != nil {
		h.steering.Lock() // nothing is sent in between
	}
	details["webhook"] = id
	var state store.WebhookState
	err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
		v, err := store.ReadWebhook(tx, id)
		if err == nil {
			err = req.Fresh(v)
		}
		if err != nil {
			return err
		}

		stored, err := store.WebhookStateOf(tx, id)
		if err != nil {
			return err
		}
		if state = *stored; h != nil {
			h.adopt(stored)
			state = h.now()
		}
		before := *v
		if err := change(v, &state); err != nil {
			return err
		}
		state.Steered++
		_, err = store.WebhookStates.UpdateQuietly(tx, stored.ID, func(s *store.WebhookState) error {
			state.Timestamps = s.Timestamps
			*s = state
			return nil
		})
		if err == nil && v.Paused != before.Paused {
			_, err = store.Webhooks.Update(tx, id, func(stored *store.Webhook) error {
				stored.Paused = v.Paused
				return nil
			})
		}

		tx.LogAction(action, details)
		return err
	})
	if h != nil {
		if err == nil {
			h.adopt(&state)
		}
		h.steering.Unlock()
		h.Poke()
	}
	if err != nil {
		return nil, err
	}

	err = req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		out, err = w.webhooks().Get(tx, req, id)
		return err
	})
	return out, err
}

type resumeIn struct {
	web.ByID
	Latest store.Flag `json:"latest" doc:"1 to leave out all events that wait, and continue with new ones; 0 to send them"`
}

// resumeWebhook ends a pause, or makes the next attempt now.
func (w *Sender) resumeWebhook(req *web.Request, in *resumeIn) (*WebhookOut, error) {
	head := req.Server.DB.LogHead()
	return w.steer(req, in.ID, "webhook_resume", map[string]any{"latest": in.Latest},
		func(v *store.Webhook, s *store.WebhookState) error {
			v.Paused = ""
			if in.Latest && s.BlockedKind == changes.HeadType {
				s.HeadAt = kv.TimeOf(time.Now())
			}
			clearFailures(s)
			if in.Latest {
				s.Seq, s.Part = max(s.Seq, head.Seq), 0
				s.ReplayNext, s.ReplayUntil, s.ReplayPart = 0, 0, 0
			}
			return nil
		})
}

type replayIn struct {
	web.ByID
	From  store.ID `json:"from" check:"required" doc:"Number of the first entry of the change log to send again"`
	Until store.ID `json:"until" doc:"Number of the last one; from if absent"`
}

// replayEvents sends the events of entries again, with the same message IDs. They are sent before
// the events that wait.
func (w *Sender) replayEvents(req *web.Request, in *replayIn) (*WebhookOut, error) {
	from, until := uint64(in.From), cmp.Or(uint64(in.Until), uint64(in.From))
	oldest, head := req.Server.DB.LogFirst(), req.Server.DB.LogHead().Seq
	faults := errs.Faults{}
	if from < oldest || from > head {
		faults.Add("from", "the change log has the entries %d to %d", oldest, head)
	}

	switch {
	case until < from:
		faults.Add("until", "must not be less than from")
	case uint64(in.Until) > head:
		faults.Add("until", "the change log has the entries %d to %d", oldest, head)
	case until-from >= maxReplay:
		faults.Add("until", "must be at most %d entries after from", maxReplay-1)
	}

	if err := faults.Err(errs.Invalid); err != nil {
		return nil, err
	}

	return w.steer(req, in.ID, "webhook_replay", map[string]any{"from": from, "until": until},
		func(v *store.Webhook, s *store.WebhookState) error {
			switch {
			case v.Paused != "":
				return errs.New(errs.Conflict, "the webhook is paused; resume it first").Coded("webhook_paused")
			case s.ReplayNext != 0:
				return errs.New(errs.Conflict,
					"the webhook is already replaying the entries %d to %d",
					s.ReplayNext, s.ReplayUntil).Coded("webhook_replaying")
			}
			s.ReplayNext, s.ReplayUntil, s.ReplayPart = from, until, 0
			return nil
		})
}

// testData is the data of a test event.
type testData struct {
	Webhook store.ID `json:"webhook"`
	Text    string   `json:"text"`
}

// sendTestEvent sends an event that is not in the change log, and waits for the response.
func (w *Sender) sendTestEvent(req *web.Request, in *web.ByID) (*DeliveryDetail, error) {
	if err := req.HoldOne(req.Server.Limits.Tests, 1); err != nil {
		return nil, err
	}

	var v *store.Webhook
	var keys store.WebhookKeys
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		if v, err = store.ReadWebhook(tx, in.ID); err == nil {
			keys, err = store.WebhookKeysOf(tx, in.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	begun := time.Now()
	m, err := newOutgoing("test-"+req.ID, TestType, kv.TimeOf(begun).String(),
		testData{in.ID, "This is a test event."})
	if err != nil {
		return nil, err
	}

	result := w.client.Send(req.HTTP.Context(), v.URL, keys.Secrets, &m.Message)
	w.record(in.ID, keys.Deliveries, m, TestDelivery, 1, begun, &result)
	if err := req.AdmitAgain(); err != nil { // the receiver may have taken long
		return nil, err
	}

	return deliveryDetailOf(req, &webhook.Delivery{
		At:       begun,
		Event:    m.ID,
		Type:     m.Type,
		Attempt:  1,
		Kind:     TestDelivery,
		Status:   result.Status,
		Took:     result.Took,
		Fault:    rawFault(result.Fault),
		Request:  string(m.Body),
		Response: result.Response,
	}), nil
}
