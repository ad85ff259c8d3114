package stream

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"

	"reeve/store/seal"

	"filippo.io/age"
	"github.com/klauspost/compress/s2"
)

// dataKey encrypts entries. Wrapped is the key, encrypted to recipients with age: so it costs one
// public-key operation for each recipient and segment, not for each entry.
type dataKey struct {
	aead    cipher.AEAD
	wrapped []byte
}

const keySize = 32

func newDataKey(recipients []age.Recipient) (*dataKey, error) {
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	var wrapped bytes.Buffer
	w, err := age.Encrypt(&wrapped, recipients...)
	if err == nil {
		_, err = w.Write(key)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	aead, err := seal.AEAD(key)
	return &dataKey{aead, wrapped.Bytes()}, err
}

// ErrOtherKey is the error of a segment that none of the identities opens.
var ErrOtherKey = errors.New("it is encrypted for other identities")

// unwrapKey opens a wrapped key.
func unwrapKey(wrapped []byte, identities []age.Identity) (*dataKey, error) {
	r, err := age.Decrypt(bytes.NewReader(wrapped), identities...)
	if none := (*age.NoIdentityMatchError)(nil); errors.As(err, &none) {
		return nil, ErrOtherKey
	}
	var key []byte
	if err == nil {
		key, err = io.ReadAll(io.LimitReader(r, keySize+1))
	}
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, errors.New("its key is damaged")
	}
	aead, err := seal.AEAD(key)
	return &dataKey{aead, wrapped}, err
}

// binding returns what a part of an entry is bound to: the header of its segment, which names the
// installation and the epoch, and the head of its frame.
func binding(headerSum Hash, h frameHead) []byte {
	b := binary.BigEndian.AppendUint64(append(headerSum[:], h.kind), h.number)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, h.part), h.parts)
}

// maxEntry is the maximum size in bytes of an encoded entry.
const maxEntry = 1 << 30

func compress(text []byte) []byte { return s2.Encode(nil, text) }

func decompress(packed []byte) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err == nil && n > maxEntry {
		err = errors.New("it is too long")
	}
	if err != nil {
		return nil, err
	}
	return s2.Decode(nil, packed)
}
