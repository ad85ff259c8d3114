package reeve

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Event is a change that a webhook or an event stream sends.
type Event struct {
	// ID is that of the message of a webhook, the same in every attempt: keep it to process an event
	// once. Of a stream, it is the position after which EventsAfter continues.
	ID        string
	Type      string          // such as user.updated
	Timestamp time.Time       // time of the change
	Data      json.RawMessage // the change, see EventData
}

// EventData is the data of most events: which record was changed.
type EventData struct {
	Seq        int64  `json:"seq"` // number of the entry of the change log
	Collection string `json:"collection"`
	Record     int64  `json:"record"`    // ID of the record
	Name       string `json:"name"`      // name of the record
	Operation  string `json:"operation"` // create, update or delete

	// Fields are the changed fields, as far as the owner of the webhook may read them.
	Fields []struct {
		Name string          `json:"name"`
		Old  json.RawMessage `json:"old"` // nil for a new record
		New  json.RawMessage `json:"new"` // nil for a deleted record
	} `json:"fields"`
}

// Errors of VerifyWebhook.
var (
	ErrWebhookBody      = errors.New("reeve: the body of the webhook is empty; was it read before?")
	ErrWebhookSignature = errors.New("reeve: the signature of the webhook is not valid; is it the secret of this webhook?")
	ErrWebhookTime      = errors.New("reeve: the webhook is more than five minutes old or ahead; is the clock right?")
)

const (
	webhookTolerance = 5 * time.Minute
	maxWebhook       = 1 << 20 // bytes of a message
)

// VerifyWebhook returns the event of a message if a secret ("whsec_…") has signed it, by the
// specification Standard Webhooks. body is the body as it was received.
func VerifyWebhook(secret string, header http.Header, body []byte) (*Event, error) {
	key, err := webhookKey(secret)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, ErrWebhookBody
	}

	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body) // a hash never fails
	if id == "" || !signedBy(mac.Sum(nil), header.Get("Webhook-Signature")) {
		return nil, ErrWebhookSignature
	}

	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age.Abs() > webhookTolerance {
		return nil, ErrWebhookTime
	}

	var message struct {
		Type      string          `json:"type"`
		Timestamp time.Time       `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, fmt.Errorf("reeve: decode the webhook: %w", err)
	}

	return &Event{id, message.Type, message.Timestamp, message.Data}, nil
}

// signedBy reports whether one of the signatures in a header, "v1,…" separated by spaces, is a sum.
// There are two after the rotation of the secret.
func signedBy(sum []byte, header string) bool {
	for text := range strings.FieldsSeq(header) {
		encoded, ok := strings.CutPrefix(text, "v1,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if ok && err == nil && hmac.Equal(signature, sum) {
			return true
		}
	}
	return false
}

func webhookKey(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(strings.TrimSpace(secret), "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 {
		return nil,
			errors.New("reeve: the secret of a webhook must be whsec_ and the base64 of at least 24 bytes")
	}
	return key, nil
}

// Webhook returns a handler that receives the events of a webhook with a secret. It answers 204 if
// the function returns nil. After an error it answers 500, so that Reeve sends the event, and all
// that follow it, again later. Messages that are not signed with the secret, or are older than five
// minutes, get 401. Webhook panics if the secret is not one.
func Webhook(secret string, receive func(context.Context, *Event) error) http.Handler {
	if _, err := webhookKey(secret); err != nil {
		panic(err)
	}
	var warned sometimes
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
		if err != nil {
			refuse(w, http.StatusRequestEntityTooLarge,
				"the message is larger than 1 MiB, or ended early")
			return
		}

		event, err := VerifyWebhook(secret, r.Header, body)
		if err != nil {
			if warned.now() {
				slog.Warn("reeve: a message of a webhook was refused", "error", err)
			}
			refuse(w, http.StatusUnauthorized, strings.TrimPrefix(err.Error(), "reeve: "))
			return
		}
		if err := receive(r.Context(), event); err != nil {
			slog.Error("reeve: an event was not processed; it will be sent again", "id", event.ID,
				"type", event.Type, "error", err)
			refuse(w, http.StatusInternalServerError, "the event was not processed")
			return
		}

		w.WriteHeader(http.StatusNoContent)
	})
}
