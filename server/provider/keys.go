package provider

import (
	"context"
	"crypto/rsa"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// keySet is the public keys of a provider, which change now and then. It is an oidc.KeySet.
type keySet struct {
	client *Client
	url    string

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // time of the keys
	asked   time.Time // time of the last request, which may have failed
	err     error     // result of the last request
}

const (
	keysLife = time.Hour
	// keysPause is the least time between two requests, whatever tokens with unknown keys arrive.
	keysPause = 5 * time.Second
	maxKeys   = 100
	minBits   = 2048 // of an RSA key, as RFC 7518 requires
	maxBits   = 4096 // of an RSA key: a check takes time by the square
)

// algorithms are those of ID tokens that are accepted: signatures with public keys only, so that
// a public key is never the secret of a signature.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384,
	jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// algorithmNames are the same for package oidc.
func algorithmNames() (names []string) {
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	return names
}

var errSignature = errors.New("no key of the provider has made the signature")

// VerifySignature returns the payload of a signed token.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, errSignature
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.fetched) < keysLife {
		if payload := k.check(signed); payload != nil {
			return payload, nil
		}
	}
	if time.Since(k.asked) < keysPause {
		if k.err != nil {
			return nil, k.err
		}
		return nil, errSignature
	}
	var set struct {
		Keys []jsonKey `json:"keys"`
	}
	// The request goes on when the browser has gone: otherwise a client that goes each time would keep the
	// keys from everybody.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeLimit)
	defer cancel()
	k.err = k.client.get(ctx, k.url, "", &set)
	k.asked = time.Now()
	if k.err != nil {
		return nil, k.err
	}
	k.keys, k.fetched = nil, k.asked
	for _, one := range set.Keys[:min(len(set.Keys), maxKeys)] {
		if one.usable() {
			k.keys = append(k.keys, one.key)
		}
	}
	if payload := k.check(signed); payload != nil {
		return payload, nil
	}
	return nil, errSignature
}

// keyFault is a keySet that keeps why the keys could not be fetched: package oidc returns a text only.
type keyFault struct {
	*keySet
	err error
}

// VerifySignature is that of keySet.
func (k *keyFault) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.keySet.VerifySignature(ctx, token)
	if err != nil && err != errSignature {
		k.err = err
	}
	return payload, err
}

// check returns the payload if one of the keys has made the signature; nil otherwise.
func (k *keySet) check(signed *jose.JSONWebSignature) []byte {
	id := signed.Signatures[0].Header.KeyID
	for i := range k.keys {
		if key := &k.keys[i]; id == "" || key.KeyID == id {
			if payload, err := signed.Verify(key); err == nil {
				return payload
			}
		}
	}
	return nil
}

// jsonKey is a key, or the zero value if its type is unknown.
type jsonKey struct{ key jose.JSONWebKey }

// usable reports whether signatures may be checked with the key.
func (k *jsonKey) usable() bool {
	if number, ok := k.key.Key.(*rsa.PublicKey); ok && (number.N.BitLen() < minBits || number.N.BitLen() > maxBits) {
		return false
	}
	return k.key.Valid() && k.key.IsPublic() && k.key.Use != "enc"
}

func (k *jsonKey) UnmarshalJSON(text []byte) error {
	if k.key.UnmarshalJSON(text) != nil {
		k.key = jose.JSONWebKey{}
	}
	return nil
}
