package store

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strings"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Webhook sends changes to a URL. It sends what its owner may read at that time.
type Webhook struct {
	Ident
	URL         string   `json:"url" log:"secret"` // its path and query often are
	Description string   `json:"description"`
	Types       []string `json:"types"` // types of events, such as user.created, role.* or *
	Status      Flag     `json:"status"`
	OwnerID     ID       `json:"owner_id"`
	Paused      string   `json:"paused"` // reason of the pause until a user resumes it; "" if not paused
	Versioned
}

// Why a webhook is paused.
const (
	WebhookFailing  = "failing"  // its receiver has failed for days
	WebhookGone     = "gone"     // its receiver has answered 410
	WebhookRestored = "restored" // a backup was restored
)

// WebhookSecret has the secrets of a webhook. It is a record of its own and not a part of the
// webhook, so that no route can return it.
type WebhookSecret struct {
	Ident
	WebhookID     ID        `json:"webhook_id"`
	Current       kv.Sealed `json:"current"`        // signs messages
	Previous      kv.Sealed `json:"previous"`       // signs them too, until PreviousUntil
	PreviousUntil Time      `json:"previous_until"` // 0 for no previous one
	Deliveries    kv.Sealed `json:"deliveries"`     // seals the stored deliveries
	kv.Timestamps
}

// WebhookState is how far a webhook has come in the change log. Only the server's sender writes it,
// so it is a record of its own.
type WebhookState struct {
	Ident
	WebhookID  ID     `json:"webhook_id"`
	Generation string `json:"generation"` // generation of the change log
	Seq        uint64 `json:"seq"`        // number of the last entry that was handled completely
	Part       int    `json:"part"`       // number of events of the next entry that were handled

	ReplayNext  uint64 `json:"replay_next"` // next entry to send again; 0 for none
	ReplayUntil uint64 `json:"replay_until"`
	ReplayPart  int    `json:"replay_part"`

	Blocked      string `json:"blocked"`       // ID of the message that is being retried; "" for none
	BlockedKind  string `json:"blocked_kind"`  // whether it is an event, a replay or the head of the log
	Attempts     int    `json:"attempts"`      // failed attempts to send it
	FailingSince Time   `json:"failing_since"` // time of the first one; 0 for none
	NextAt       Time   `json:"next_at"`       // time of the next attempt; 0 for at once
	LastAt       Time   `json:"last_at"`       // time of the last attempt to send anything
	LastStatus   int    `json:"last_status"`   // its HTTP status; 0 without a response
	HeadAt       Time   `json:"head_at"`       // time of the last message with the log head

	Steered int `json:"steered"` // number of times that a user has changed what is sent next
	kv.Timestamps
}

// webhookCreation is the permission without which a user can't own a webhook.
const webhookCreation = "system.webhook.create"

// MaxWebhooks is the maximum number of webhooks. Each of them has a goroutine.
const MaxWebhooks = 50

// Webhooks, their secrets and states. A webhook outlives its owner, so that another user can take
// it over.
var (
	Webhooks       = kv.NewCollection[Webhook]("webhook")
	WebhookByOwner = kv.NewRef(Webhooks, "owner_id", Users, func(w *Webhook) ID {
		return w.OwnerID
	}, kv.Dangle)
	WebhookSearch = kv.NewSearch(Webhooks, func(w *Webhook) []string {
		return []string{hostOf(w.URL), w.Description}
	})

	WebhookSecrets  = kv.NewCollection[WebhookSecret]("webhook_secret").Unlogged()
	SecretByWebhook = kv.NewRef(WebhookSecrets, "webhook_id", Webhooks, func(s *WebhookSecret) ID {
		return s.WebhookID
	}, kv.Cascade)

	WebhookStates  = kv.NewCollection[WebhookState]("webhook_state").Unlogged()
	StateByWebhook = kv.NewRef(WebhookStates, "webhook_id", Webhooks, func(s *WebhookState) ID {
		return s.WebhookID
	}, kv.Cascade)

	_ = Webhooks.Authorize(authorizeWebhook).Constraint(constrainWebhook)
	_ = WebhookSecrets.
		Sealed(func(s *WebhookSecret) *kv.Sealed { return &s.Current }, webhookPlace, webhookTitle).
		Sealed(func(s *WebhookSecret) *kv.Sealed {
			return &s.Previous
		}, webhookPlace, webhookTitle).
		Sealed(func(s *WebhookSecret) *kv.Sealed {
			return &s.Deliveries
		}, webhookPlace, webhookTitle)
)

var _ = Manage(Webhooks, "system.webhook")

// webhookPlace is the place that the secrets of a webhook are bound to, see kv.Tx.Seal.
func webhookPlace(s *WebhookSecret) string { return "webhook " + s.WebhookID.String() }

// webhookTitle is the title of a secret for people, such as "secret of webhook 7".
func webhookTitle(_ *Tx, s *WebhookSecret) (string, error) {
	return "secret of " + webhookPlace(s), nil
}

// hostOf returns the host of a URL, with the port.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// Masked returns the URL without its path and query, which often are a secret of the receiver.
func (w *Webhook) Masked() string {
	scheme, _, _ := strings.Cut(w.URL, "://")
	return scheme + "://" + hostOf(w.URL) + "/" + SecretMask
}

// authorizeWebhook decides who may change a webhook, and read what it has sent: its owner, and
// users who could change the owner. Who changes its URL receives what the owner may read.
func authorizeWebhook(tx *Tx, w *Webhook) error {
	actor := ActorOf(tx)
	if actor.system || w.OwnerID == actor.ID && !actor.App && actor.Key == nil {
		return nil
	}
	owner, err := Users.Get(tx, w.OwnerID)
	if errs.Is(err, errs.NotFound) && actor.Scope(tx).All {
		return nil
	}
	if err != nil || !actor.Scope(tx).HasUser(owner) {
		return Webhooks.NotFound(w.ID)
	}
	return checkHolder(tx, errs.Say("the owner of webhook %d", w.ID), owner.ID, owner.RoleIDs,
		owner.DeptID)
}

// ReadDeliveriesOf returns a webhook if the actor may read its deliveries. The permissions of a
// deleted owner are unknown, so only the owner role may then.
func ReadDeliveriesOf(tx *Tx, id ID) (*Webhook, error) {
	w, err := ReadWebhook(tx, id)
	if err == nil && !Users.Exists(tx, w.OwnerID) && !ceilingFor(tx).all {
		err = beyond(errs.Say("the owner of webhook %d", id), errs.Say("the owner role"))
	}
	return w, err
}

// ForgetDeliveries makes what a webhook has sent so far unreadable.
func ForgetDeliveries(tx *Tx, webhook ID) error {
	ids, err := SecretByWebhook.IDs(tx, webhook)
	for _, id := range ids {
		if err == nil {
			_, err = WebhookSecrets.Update(tx, id, func(s *WebhookSecret) error {
				return s.newDeliveries(tx)
			})
		}
	}
	return err
}

// ReadWebhook returns a webhook if the actor may change it.
func ReadWebhook(tx *Tx, id ID) (*Webhook, error) {
	w, err := Webhooks.Get(tx, id)
	if err == nil {
		err = authorizeWebhook(tx, w)
	}
	return w, err
}

// constrainWebhook limits the number of webhooks, and makes only the actor an owner, who needs the
// permission to create one.
func constrainWebhook(tx *Tx, old, new *Webhook) error {
	if new == nil {
		return nil
	}
	if ActorOf(tx).Key != nil &&
		(old == nil || old.URL != new.URL || old.OwnerID != new.OwnerID ||
			!slices.Equal(old.Types, new.Types)) {
		return ErrKeyForbidden // it would send what its owner may read
	}
	if actor := ActorOf(tx); !actor.system && !actor.operator &&
		(old == nil || old.OwnerID != new.OwnerID) {
		switch {
		case new.OwnerID != actor.ID:
			return errs.Field(errs.Invalid, "owner_id", "must be yourself")
		case !actor.HasPermission(tx, webhookCreation):
			return errs.New(errs.Denied, "permission %s is required", webhookCreation)
		}
	}
	if old != nil {
		return nil
	}

	n, err := Webhooks.Count(tx)
	if err == nil && n >= MaxWebhooks {
		err = errs.New(errs.Conflict, "there are already %d webhooks, which is the maximum",
			MaxWebhooks).Coded("too_many_webhooks")
	}

	return err
}

// CreateWebhook creates a webhook of the actor, which begins after an entry of the change log.
func CreateWebhook(tx *Tx, w *Webhook, secret, generation string, seq uint64) (err error) {
	if w.OwnerID, err = OwnerFor(tx); err != nil {
		return err
	}
	if err := Webhooks.Create(tx, w); err != nil {
		return err
	}

	s := &WebhookSecret{WebhookID: w.ID}
	err = s.newDeliveries(tx)
	if err == nil {
		s.Current, err = tx.Seal(webhookPlace(s), secret)
	}
	if err == nil {
		err = WebhookSecrets.Create(tx, s)
	}
	if err != nil {
		return err
	}

	return WebhookStates.Create(tx, &WebhookState{
		WebhookID:  w.ID,
		Generation: generation,
		Seq:        seq,
		HeadAt:     tx.Now(),
	})
}

// newDeliveries sets a new key that seals deliveries. Those sealed with the previous one are lost.
func (s *WebhookSecret) newDeliveries(tx *Tx) (err error) {
	key := make([]byte, 32)
	rand.Read(key) // never fails: crypto/rand crashes the program instead
	s.Deliveries, err = tx.Seal(webhookPlace(s), string(key))
	return err
}

// SetWebhookSecret replaces the secret of a webhook. The previous one remains valid until a time; 0
// ends it at once. A secret that can't be decrypted, since a backup was restored without its
// secret.key, is dropped. The actor must be allowed to change the webhook.
func SetWebhookSecret(tx *Tx, webhook ID, secret string, until Time) error {
	ids, err := SecretByWebhook.IDs(tx, webhook)
	if err != nil {
		return err
	}

	for _, id := range ids {
		_, err := WebhookSecrets.Update(tx, id, func(s *WebhookSecret) (err error) {
			s.Previous, s.PreviousUntil = kv.Sealed{}, 0
			if _, lost := tx.Unseal(webhookPlace(s), s.Current); lost == nil && until != 0 {
				s.Previous, s.PreviousUntil = s.Current, until
			}
			if _, lost := tx.Unseal(webhookPlace(s), s.Deliveries); lost != nil {
				err = s.newDeliveries(tx)
			}
			if err == nil {
				s.Current, err = tx.Seal(webhookPlace(s), secret)
			}
			return err
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// WebhookKeys are the decrypted secrets of a webhook.
type WebhookKeys struct {
	Secrets       []string // keys that sign messages, the current one first
	PreviousUntil Time     // expiry of the previous secret; 0 if there is none
	Deliveries    []byte   // key that seals stored deliveries, 32 bytes
}

// WebhookKeysOf decrypts the secrets of a webhook.
func WebhookKeysOf(tx *Tx, webhook ID) (keys WebhookKeys, err error) {
	for s, err := range SecretByWebhook.All(tx, webhook) {
		if err != nil {
			return keys, err
		}

		sealed := []kv.Sealed{s.Deliveries, s.Current}
		if s.PreviousUntil > tx.Now() {
			sealed, keys.PreviousUntil = append(sealed, s.Previous), s.PreviousUntil
		}

		texts := make([]string, len(sealed))
		for i := range sealed {
			if texts[i], err = tx.Unseal(webhookPlace(s), sealed[i]); err != nil {
				return keys, errs.New(errs.Conflict,
					"the secrets of webhook %d can't be decrypted with secret.key; rotate its secret", webhook).Coded("webhook_secret_lost")
			}
		}

		keys.Deliveries, keys.Secrets = []byte(texts[0]), slices.Clip(texts[1:])
		return keys, nil
	}
	return keys, Webhooks.NotFound(webhook)
}

// WebhookStateOf returns the state of a webhook.
func WebhookStateOf(tx *Tx, webhook ID) (*WebhookState, error) {
	for s, err := range StateByWebhook.All(tx, webhook) {
		return s, err
	}
	return nil, Webhooks.NotFound(webhook)
}

// EnabledUser returns a user as an actor; nil if the user was deleted or disabled.
func EnabledUser(tx *Tx, id ID) (*Actor, error) {
	u, err := Users.Get(tx, id)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if !bool(u.Status) {
		return nil, nil
	}

	return &Actor{
		ID:         u.ID,
		Username:   u.Username,
		RoleIDs:    u.RoleIDs,
		DeptID:     u.DeptID,
		MustChange: bool(u.MustChangePassword),
		FactorDue:  u.FactorDue,
	}, nil
}
