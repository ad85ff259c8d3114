package webhooks

import (
	"maps"

	"reeve/server/changes"
	"reeve/server/outgoing"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"webhook_state": {WebhookActive, WebhookRetrying, WebhookPaused, webhookDisabled,
			WebhookNoOwner, webhookNoSecret},
		"webhook_paused": {"", store.WebhookFailing, store.WebhookGone, store.WebhookRestored},
		"delivery_kind":  {EventDelivery, ReplayDelivery, TestDelivery},
	})
}

func Routes(w *Sender) []web.Route {
	return []web.Route{
		web.List("/system/webhook", "system.webhook.query", "List webhooks", w.webhooks()),
		web.Get("/system/webhook/:id", "system.webhook.query", "Get a webhook", w.webhooks()),
		web.Write("POST", "/system/webhook", "system.webhook.create", "Create a webhook",
			w.createWebhook, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Hidden:    redact.Fields{URLs: true},
				Note: "You become its owner: it sends what you may read, at the time of sending. Returns " +
					"the signing secret, once. Sending begins with the next change.",
			}),
		web.Write("PUT", "/system/webhook/:id", "system.webhook.update", "Change a webhook",
			w.changeWebhook, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Hidden:    redact.Fields{URLs: true},
				Record:    web.RecordOf(store.Webhooks),
				Note: "Another URL gets a new signing secret, which is returned once. owner_id takes the webhook " +
					"over: it then sends what you may read. You need system.webhook.create and the rights of " +
					"the previous owner.",
			}),
		web.Remove("/system/webhook/:id", "system.webhook.delete", "Delete a webhook",
			w.webhooks(), web.Options{
				Note: "What it has not sent yet is not sent, and its stored deliveries can no longer be " +
					"read.",
			}),
		web.RemoveSeveral("/system/webhook", "system.webhook.delete", "Delete webhooks",
			w.webhooks(), web.Options{
				Note: "What they have not sent yet is not sent, and their stored deliveries can no longer " +
					"be read.",
			}),
		web.Write("POST", "/system/webhook/:id/secret", "system.webhook.secret",
			"Rotate a webhook's secret", w.rotateWebhookSecret, web.Options{
				Confirmed: true,
				Reveals:   true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.Webhooks),
				Note: "Returns the new signing secret, once. Messages are signed with the previous one, " +
					"too, for 24 hours.",
			}),
		web.Action("POST", "/system/webhook/:id/resume", "system.webhook.send", "Resume a webhook",
			w.resumeWebhook, web.Options{
				Record: web.RecordOf(store.Webhooks),
				Note: "Ends a pause, or makes the next attempt now. latest=1 continues with new events, for " +
					"example after one that the receiver never accepts; the others can be replayed.",
			}),
		web.Action("POST", "/system/webhook/:id/replay", "system.webhook.send",
			"Replay events to a webhook", w.replayEvents, web.Options{
				Record: web.RecordOf(store.Webhooks),
				Note: "Sends the events of entries of the change log again, with the same message IDs and " +
					"as the owner may read them now. They are sent before the events that wait.",
			}),
		web.Action("POST", "/system/webhook/:id/test", "system.webhook.send",
			"Send a test event to a webhook", w.sendTestEvent, web.Options{
				Note: "Sends an event of the type webhook.test once, whatever the state of the webhook, " +
					"and returns the result.",
			}),
		w.deliveryList("/system/webhook/:id/delivery", "system.webhook.query",
			"List a webhook's deliveries", web.Options{
				Note: "Attempts to send, the newest first, of at most 30 days and within 64 MiB for all " +
					"webhooks. Only for the owner and those who could change the owner.",
			}),
		web.Action("GET", "/system/webhook/:id/delivery/:delivery_id", "system.webhook.query",
			"Get a delivery", w.getDelivery, web.Options{
				Note: "With the body that was sent and the beginning of the response.",
			}),
		web.Action("GET", "/system/event-type", web.SignedIn, "List event types",
			changes.ListEventTypes, web.Options{
				AllowedForCommands: true,

				Note: "The types of events that streams and webhooks can ask for. A whole group is asked " +
					"for with an asterisk, such as role.*.",
			}),
	}
}

// WebhookOut is a webhook in responses.
type WebhookOut struct {
	store.Ident
	URL           string     `json:"url" doc:"Address to which events are sent; with ****** in place of path and query for callers who may not change the webhook"`
	Description   string     `json:"description"`
	Types         []string   `json:"types" doc:"Types of events that are sent, such as user.created, role.* or *"`
	Status        store.Flag `json:"status" doc:"Status: 1 enabled; 0 disabled: nothing is sent, and events wait"`
	OwnerID       store.ID   `json:"owner_id" doc:"ID of the user whose permissions and data scope limit what is sent"`
	OwnerName     string     `json:"owner_name" doc:"Username of the owner; empty if the owner was deleted"`
	State         string     `json:"state" enum:"webhook_state" doc:"State: active, retrying, paused, disabled, no_owner if the owner is disabled, deleted or may not have a webhook, or no_secret if its secret can't be decrypted and must be rotated"`
	Paused        string     `json:"paused" enum:"webhook_paused" doc:"Why nothing is sent until the webhook is resumed: failing for 3 days, gone after 410, restored after a restore; empty otherwise"`
	PreviousUntil store.Time `json:"previous_until" null:"true" doc:"Time until which messages are signed with the previous secret too; null if there is none"`
	Seq           uint64     `json:"seq" doc:"Number of the newest entry of the change log that was handled"`
	Behind        uint64     `json:"behind" doc:"Number of entries of the change log after it"`
	Replaying     uint64     `json:"replaying" doc:"Number of entries that are still to be replayed"`
	Blocked       string     `json:"blocked" doc:"ID of the message that is being retried; empty for none"`
	Attempts      int        `json:"attempts" doc:"Number of failed attempts to send it"`
	FailingSince  store.Time `json:"failing_since" null:"true" doc:"Time of the first one; null for none"`
	NextAt        store.Time `json:"next_at" null:"true" doc:"Time of the next attempt; null if none is waiting"`
	LastAt        store.Time `json:"last_at" null:"true" doc:"Time of the last attempt to send anything; null before the first"`
	LastStatus    int        `json:"last_status" doc:"Its HTTP status; 0 without a response"`
	store.Versioned
}

// States of a webhook.
const (
	WebhookActive   = "active"
	WebhookRetrying = "retrying"
	WebhookPaused   = "paused"
	webhookDisabled = "disabled"
	WebhookNoOwner  = "no_owner"
	webhookNoSecret = "no_secret"
)

func (w *Sender) webhooks() *web.Resource[store.Webhook, *WebhookOut] {
	return &web.Resource[store.Webhook, *WebhookOut]{
		Collection: store.Webhooks,
		Keywords:   []string{"url", "description"},
		Order:      "id, ascending",
		Output:     w.webhookOf,
		Columns: []web.Column[store.Webhook]{
			{Name: "id", Uses: web.Sorted},
			{
				Name:    "owner_id",
				Uses:    web.Filtered | web.Param,
				Numbers: web.IDs(store.WebhookByOwner),
				Named:   web.ByName("owner", "user"),
			},
		},
		Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
			return web.ScopedTo(tx, req, store.WebhookByOwner)
		},
	}
}

func (w *Sender) webhookOf(tx *store.Tx, req *web.Request, v *store.Webhook) (*WebhookOut, error) {
	out := &WebhookOut{
		Ident:       v.Ident,
		URL:         v.URL,
		Description: v.Description,
		Types:       v.Types,
		Status:      v.Status,
		OwnerID:     v.OwnerID,
		Paused:      v.Paused,
		Versioned:   v.Versioned,
	}

	owner, err := webhookOwner(tx, v)
	if err != nil {
		return nil, err
	}
	if u, err := store.Users.Get(tx, v.OwnerID); err == nil {
		out.OwnerName = u.Username
	}

	state, err := w.stateOf(tx, v.ID)
	if err != nil {
		return nil, err
	}
	if _, err := store.ReadWebhook(tx, v.ID); err != nil {
		out.URL = v.Masked()
	}

	keys, lost := store.WebhookKeysOf(tx, v.ID)
	out.PreviousUntil = keys.PreviousUntil
	out.Seq, out.Blocked, out.Attempts, out.FailingSince = state.Seq, state.Blocked, state.Attempts, state.FailingSince
	out.NextAt, out.LastAt, out.LastStatus = state.NextAt, state.LastAt, state.LastStatus
	if head := req.Server.DB.LogHead().Seq; head > state.Seq {
		out.Behind = head - state.Seq
	}
	if state.ReplayNext != 0 {
		out.Replaying = state.ReplayUntil + 1 - state.ReplayNext
	}

	switch {
	case !bool(v.Status):
		out.State = webhookDisabled
	case v.Paused != "":
		out.State = WebhookPaused
	case owner == nil:
		out.State = WebhookNoOwner
	case lost != nil:
		out.State = webhookNoSecret
	case state.Attempts > 0:
		out.State = WebhookRetrying
	default:
		out.State = WebhookActive
	}

	return out, nil
}

// WebhookWithSecret is a webhook with a new secret, which no other response contains.
type WebhookWithSecret struct {
	WebhookOut
	Secret string `json:"secret,omitempty" doc:"New signing secret, which no other response contains; absent unless it is new"`
}

type webhookIn struct {
	URL         *string     `json:"url" check:"create,max=2000" doc:"Address to which events are sent with POST: https, or http if webhooks.allow in the configuration names the host"`
	Description *string     `json:"description" check:"max=200,text"`
	Types       *[]string   `json:"types" check:"create,min=1,max=50" doc:"Types of events to send, such as user.created, role.* or *; see GET /system/event-type"`
	Status      *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new webhook; 0 disabled"`
}

var assignWebhook = web.Assigning[webhookIn, store.Webhook]()

type webhookCreation struct {
	webhookIn
	Secret *string `json:"secret" check:"min=38,max=200" doc:"Signing secret: whsec_ and the base64 of 24 to 64 bytes; one is generated if absent"`
}

type webhookChange struct {
	web.ByID
	webhookIn
	OwnerID *store.ID `json:"owner_id" names:"owner,user" check:"filled" doc:"Your own ID, to become the owner"`
}

// check checks the fields that were sent.
func (in *webhookIn) check(req *web.Request) error {
	faults := errs.Faults{}
	if in.URL != nil {
		if err := outgoing.CheckURL("url", *in.URL, req.Server.Config.WebhookAllow); err != nil {
			maps.Copy(faults, errs.Of(err).Fields)
		}
	}
	if in.Types != nil {
		changes.CheckTypes(*in.Types, faults)
	}
	return faults.Err(errs.Invalid)
}

func newWebhookSecret(given *string) (string, error) {
	if given == nil {
		return webhook.NewSecret(), nil
	}
	return *given, webhook.CheckSecret(*given)
}

func (w *Sender) createWebhook(tx *store.Tx, req *web.Request,
	in *webhookCreation) (*WebhookWithSecret, error) {
	secret, err := newWebhookSecret(in.Secret)
	if err == nil {
		err = in.check(req)
	}
	if err != nil {
		return nil, err
	}
	v, head := &store.Webhook{Status: true}, req.Server.DB.LogHead()
	assignWebhook(&in.webhookIn, v)
	if err := store.CreateWebhook(tx, v, secret, head.Generation, head.Seq); err != nil {
		return nil, err
	}
	return w.withSecret(tx, req, v, secret)
}

func (w *Sender) withSecret(tx *store.Tx, req *web.Request, v *store.Webhook,
	secret string) (*WebhookWithSecret, error) {
	out, err := w.webhookOf(tx, req, v)
	if err != nil {
		return nil, err
	}
	return &WebhookWithSecret{*out, secret}, nil
}

// changeWebhook changes a webhook. Another URL needs a new secret, since the previous receiver
// knows the old one. A caller who may not read what the webhook has sent so far can't read it as
// the new owner either.
func (w *Sender) changeWebhook(tx *store.Tx, req *web.Request,
	in *webhookChange) (*WebhookWithSecret, error) {
	if err := in.check(req); err != nil {
		return nil, err
	}

	secret, owner := "", store.ID(0) // previous owner
	_, unread := store.ReadDeliveriesOf(tx, in.ID)
	v, err := store.Webhooks.Update(tx, in.ID, func(v *store.Webhook) error {
		if in.URL != nil && *in.URL != v.URL {
			secret = webhook.NewSecret()
		}
		assignWebhook(&in.webhookIn, v)
		owner = v.OwnerID
		if in.OwnerID != nil {
			v.OwnerID = *in.OwnerID
		}
		return nil
	})
	if err == nil && v.OwnerID != owner && unread != nil {
		err = store.ForgetDeliveries(tx, in.ID)
	}
	if err == nil && secret != "" {
		err = store.SetWebhookSecret(tx, in.ID, secret, 0)
	}
	if err != nil {
		return nil, err
	}

	return w.withSecret(tx, req, v, secret)
}
