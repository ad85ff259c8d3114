// Package passkeytest is an authenticator for passkeys in memory, for tests.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// Authenticator holds one passkey (ES256, no attestation).
type Authenticator struct {
	Origin   string // origin of the requesting page
	RPID     string // host name that the passkey is for
	Count    uint32 // number of uses; an authenticator that does not count has NoCount
	NoCount  bool
	Verified bool // whether it verifies the user, with a fingerprint or the like
	Eligible bool // whether the passkey can be synchronized between devices
	BackedUp bool // whether it is

	ID     []byte
	handle []byte
	key    *ecdsa.PrivateKey
}

// New returns an authenticator for an origin, without a passkey yet.
func New(origin, rpID string) *Authenticator {
	return &Authenticator{Origin: origin, RPID: rpID, Verified: true}
}

// Flags of authenticator data.
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
	eligible     = 1 << 3
	backedUp     = 1 << 4
	attested     = 1 << 6
)

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *Authenticator) data(flags byte, rest ...byte) []byte {
	if flags |= userPresent; a.Verified {
		flags |= userVerified
	}
	if a.Eligible {
		flags |= eligible
	}
	if a.BackedUp {
		flags |= backedUp
	}
	if !a.NoCount {
		a.Count++
	}

	host := sha256.Sum256([]byte(a.RPID))
	data := append(host[:], flags)
	return append(binary.BigEndian.AppendUint32(data, a.Count), rest...)
}

func (a *Authenticator) client(kind, challenge string) []byte {
	text, err := json.Marshal(map[string]any{
		"type":        kind,
		"challenge":   challenge,
		"origin":      a.Origin,
		"crossOrigin": false,
	})
	if err != nil {
		panic(err)
	}
	return text
}

// Create makes the passkey that PublicKeyCredentialCreationOptions ask for, and returns the
// response as JSON.
func (a *Authenticator) Create(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	if err := json.Unmarshal(options, &o); err != nil {
		panic(err)
	}

	a.handle, _ = base64.RawURLEncoding.DecodeString(o.User.ID)
	a.ID = make([]byte, 16)
	rand.Read(a.ID)
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		panic(err)
	}

	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err)
	}

	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32}, point[1:33]...)
	cose = append(append(cose, 0x22, 0x58, 32), point[33:]...)
	of := append(make([]byte, 16), 0, byte(len(a.ID))) // AAGUID, length
	data := a.data(attested, append(append(of, a.ID...), cose...)...)
	object := append([]byte{0xa3, 0x63}, "fmt"...)
	object = append(append(object, 0x64), "none"...)
	object = append(append(object, 0x67), "attStmt"...)
	object = append(append(object, 0xa0, 0x68), "authData"...)
	object = append(append(object, 0x58, byte(len(data))), data...)
	return a.response(map[string]any{
		"clientDataJSON":    encode(a.client("webauthn.create", o.Challenge)),
		"attestationObject": encode(object), "transports": []string{"internal"},
	})
}

// Get signs the challenge of PublicKeyCredentialRequestOptions, and returns the response as JSON.
func (a *Authenticator) Get(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &o); err != nil {
		panic(err)
	}

	data, client := a.data(0), a.client("webauthn.get", o.Challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		panic(err)
	}

	return a.response(map[string]any{
		"clientDataJSON": encode(client), "authenticatorData": encode(data),
		"signature": encode(signature), "userHandle": encode(a.handle),
	})
}

func (a *Authenticator) response(of map[string]any) []byte {
	text, err := json.Marshal(map[string]any{
		"id": encode(a.ID), "rawId": encode(a.ID), "type": "public-key",
		"authenticatorAttachment": "platform",
		"clientExtensionResults":  map[string]any{}, "response": of,
	})
	if err != nil {
		panic(err)
	}
	return text
}
