package auth

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// What happens between two requests of a client is not kept by the server: the client has it, encrypted,
// in a token that every node can read. What a token is for is part of its encryption, and so is what it
// is bound to, such as the address of the client. That it was used is a row, see store.UsedValue.

// sealer encrypts the contents of tokens.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) *sealer { return &sealer{NewAEAD(key)} }

// NewAEAD returns AES-GCM with random nonces and a key of 32 bytes.
func NewAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for another length of the key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for another size of blocks
	}
	return aead
}

// maxSealed bounds the contents of a token.
const maxSealed = 64 << 10

// seal returns a token with contents. prefix tells what it is for.
func (s *sealer) seal(prefix, bound string, contents any) (string, error) {
	text, err := json.Marshal(contents)
	if err != nil {
		return "", err
	}
	return s.sealText(prefix, bound, text), nil
}

func (s *sealer) sealText(prefix, bound string, text []byte) string {
	box := base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(prefix+bound)))
	return prefix + box + tokenSum(prefix, box)
}

// open reads the contents of a token, and returns its hash. ok is false for any other text.
func (s *sealer) open(prefix, bound, token string, contents any) (hash tokenHash, ok bool) {
	text, hash, ok := s.openText(prefix, bound, token)
	return hash, ok && json.Unmarshal(text, contents) == nil
}

func (s *sealer) openText(prefix, bound, token string) (text []byte, hash tokenHash, ok bool) {
	if !isSealed(token, prefix) {
		return nil, hash, false
	}
	box, err := base64.RawURLEncoding.Strict().DecodeString(token[len(prefix) : len(token)-sumText])
	if err == nil {
		text, err = s.aead.Open(nil, nil, box, []byte(prefix+bound))
	}
	return text, sha256.Sum256([]byte(token)), err == nil
}

// isSealed reports whether a text has the form of a sealed token.
func isSealed(token, prefix string) bool {
	rest, ok := strings.CutPrefix(token, prefix)
	n := len(rest) - sumText
	return ok && n > 0 && tokenSum(prefix, rest[:n]) == rest[n:]
}

// pack compresses contents that a cookie has to hold.
func pack(contents any) ([]byte, error) {
	text, err := json.Marshal(contents)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// unpack reads what pack has compressed.
func unpack(packed []byte, contents any) error {
	r := flate.NewReader(bytes.NewReader(packed))
	d := json.NewDecoder(io.LimitReader(r, maxSealed))
	d.UseNumber()
	return d.Decode(contents)
}

// once is a value that can be used once.
type once struct {
	Kind  string     `json:"kind"`
	Hash  string     `json:"hash"`  // SHA-256, hexadecimal
	Until store.Time `json:"until"` // time from which the value is refused without a row
}

func onceOf(kind string, hash tokenHash, until time.Time) once {
	return once{kind, hash.String(), kv.TimeOf(until)}
}

func (o once) row() store.UsedValue {
	return store.UsedValue{Kind: o.Kind, Hash: o.Hash, ExpiresAt: o.Until}
}

// The kinds of values that are used once.
const (
	pendingValue   = "sign_in"
	mailedValue    = "mailed_code"
	arrivalValue   = "provider"
	forwardValue   = "forward"
	returnValue    = "return"
	passkeyValue   = "passkey"
	challengeValue = "challenge"
)

// spend uses up a value in the transaction that it allows. The error is store.ErrUsed if it was used.
func (a *Auth) spend(tx *store.Tx, o once) error {
	if a.held.isUsed(o) {
		return store.ErrUsed
	}
	return store.UseValue(tx, o.row())
}

// unspent returns store.ErrUsed if a value was used.
func (a *Auth) unspent(tx *store.Tx, o once) error {
	state, err := store.StateOfValue(tx, o.Hash)
	if err == nil && (bool(state.Used) || a.held.isUsed(o)) {
		err = store.ErrUsed
	}
	return err
}

// spendNow uses up a value that no change stands for. refusal is the error if it was used. On a full
// disk, a node that is alone keeps it in memory.
func (a *Auth) spendNow(o once, refusal error) error {
	err := a.db.Update(store.System, func(tx *store.Tx) error { return a.spend(tx, o) })
	if errs.Is(err, errs.Full) {
		return a.spendHeld(o, err, refusal)
	}
	return refuseUsed(err, refusal)
}

// spendHeld uses up a value in memory. full is returned by one of several nodes.
func (a *Auth) spendHeld(o once, full, refusal error) error {
	switch {
	case a.several():
		return full
	case !a.held.useOnce(o):
		return refusal
	}
	return nil
}

// refuseUsed replaces the error of a value that was used.
func refuseUsed(err, refusal error) error {
	if errors.Is(err, store.ErrUsed) {
		return refusal
	}
	return err
}

// several reports whether this server is one of several nodes. Nothing is held in memory then that the
// others would have to know.
func (a *Auth) several() bool { return a.options.Nodes != nil }
