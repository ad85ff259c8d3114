package webhook

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"reeve/store/journal"
)

// A delivery in the journal:
//
//	head  webhook (8 bytes), 1 if it succeeded, otherwise 0
//	body  stored, as JSON
//
// The box is a nonce and the Delivery as JSON, encrypted with AES-256-GCM. The ID of
// the webhook is authenticated with it, so that a box cannot be moved to another.
const (
	eventKind  = "delivery"
	headLength = 9
	keyLength  = 32

	// maxStored is the maximum length of a body in bytes, which the journal requires.
	maxStored = 256 << 10
)

type stored struct {
	Persons []string `json:"persons,omitempty"`
	Box     []byte   `json:"box"` // base64 in JSON
}

// sealer encrypts and decrypts the deliveries of one webhook.
type sealer struct {
	webhook uint64
	aead    cipher.AEAD
}

// sealers are the sealers of webhooks, made when they are needed.
type sealers map[uint64]*sealer

func (s sealers) of(webhook uint64, key []byte) (*sealer, error) {
	if s[webhook] == nil {
		made, err := newSealer(webhook, key)
		if err != nil {
			return nil, err
		}
		s[webhook] = made
	}
	return s[webhook], nil
}

func newSealer(webhook uint64, key []byte) (*sealer, error) {
	if len(key) != keyLength {
		return nil, fmt.Errorf("the key has %d bytes instead of %d", len(key), keyLength)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{webhook, aead}, err
}

// bound is the data that is authenticated with a box.
func (s *sealer) bound() []byte {
	return binary.BigEndian.AppendUint64([]byte("reeve webhook delivery "), s.webhook)
}

var errTooLarge = errors.New("it is too large to be stored")

// seal returns a delivery as an event. It truncates Request until it fits.
func (s *sealer) seal(d *Delivery) (journal.Event, error) {
	part, kept := *d, int64(len(d.Request))
	for {
		body, err := s.body(&part)
		switch {
		case err != nil:
			return journal.Event{}, err
		case len(body) <= maxStored:
			return journal.Event{Kind: eventKind, Head: headOf(d), Body: body}, nil
		case kept == 0:
			return journal.Event{}, errTooLarge
		}
		// It shrinks by a twentieth at least, so this ends soon.
		kept = kept * (maxStored * 19 / 20) / int64(len(body))
		part.Request = truncate(d.Request, int(kept)) + "…"
	}
}

func (s *sealer) body(d *Delivery) ([]byte, error) {
	plain, err := encode(d)
	if err != nil {
		return nil, err
	}
	return encode(stored{Persons: d.Persons, Box: s.aead.Seal(nil, nil, plain, s.bound())})
}

// encode returns a value as JSON. It does not escape what only HTML needs escaped, so
// that a Request does not grow.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func headOf(d *Delivery) []byte {
	head := binary.BigEndian.AppendUint64(make([]byte, 0, headLength), d.Webhook)
	if d.Fault == nil {
		return append(head, 1)
	}
	return append(head, 0)
}

// webhookOf returns the webhook of an event; false if it is not a delivery.
func webhookOf(e journal.Event) (uint64, bool) {
	if e.Kind != eventKind || len(e.Head) != headLength {
		return 0, false
	}
	return binary.BigEndian.Uint64(e.Head), true
}

// open decrypts a delivery; false if it was encrypted with another key, or is damaged.
func (s *sealer) open(e journal.Event) (d Delivery, ok bool) {
	var in stored
	if json.Unmarshal(e.Body, &in) != nil {
		return d, false
	}
	plain, err := s.aead.Open(nil, nil, in.Box, s.bound())
	if err != nil || json.Unmarshal(plain, &d) != nil {
		return Delivery{}, false
	}
	d.ID, d.Webhook, d.Persons = e.ID, s.webhook, in.Persons
	return d, true
}

// quote returns a person as it is written in a body.
func quote(person string) []byte {
	b, err := encode(person)
	if err != nil {
		return nil // a string can be encoded
	}
	return b
}

// names reports whether a body names a person. The box is base64, so that the quoted
// name can be found without decoding.
func names(body, quoted []byte, person string) bool {
	if !bytes.Contains(body, quoted) {
		return false
	}
	var in stored
	if json.Unmarshal(body, &in) != nil {
		return true // it is better to remove too much
	}
	return slices.Contains(in.Persons, person)
}
