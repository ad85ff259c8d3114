// Package stream is the commit stream: the exact changes of each group commit to the rows of
// data.db, in order, encrypted. A copy of data.db and the entries that follow it give data.db at any
// commit since. Package kv makes the entries and applies them; it knows what the rows mean.
//
// Start with Entry, which is one commit. Log keeps entries in segments, files in the data directory,
// until they are stored elsewhere (package copies). Read reads entries from a segment, or from an
// object that has a part of one.
//
// Entries of one epoch follow one another without a gap: each has the hash of its predecessor. An
// epoch begins when what was committed and what the stream has may differ, for example after a power
// cut. Only a copy that was made since leads from there to a later commit.
package stream

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Format is the version of the encoding of entries.
const Format = 1

// Hash is the SHA-256 of an encoded entry.
type Hash [sha256.Size]byte

// MarshalText returns 64 hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText parses 64 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return errors.New("a hash has 64 hexadecimal digits")
	}
	*h = Hash(b)
	return nil
}

// Head is a position in the stream: that of the last entry, or the beginning of an epoch.
type Head struct {
	Epoch  string `json:"epoch"`  // random
	Number uint64 `json:"number"` // number of the entry; 0 at the beginning of an epoch
	Hash   Hash   `json:"hash"`   // hash of the entry; zero at the beginning
	Time   int64  `json:"time"`   // time of the entry, microseconds since 1970
}

// Entry is one commit.
type Entry struct {
	_        struct{} `cbor:",toarray"`
	Format   int
	Instance string // name of the installation
	Epoch    string
	Number   uint64
	Prev     []byte // hash of the predecessor
	Schema   int    // version of the schema of the rows
	Author   string // node that made the commit; "" for the only one
	Nonce    []byte // tells entries of two authors with one number apart; nil for the only author
	Time     int64  // microseconds since 1970, never before the predecessor's
	Buckets  []Bucket
	Stored   [][]byte // digests of the contents of files that records refer to since this commit
	Released [][]byte // digests of the contents to which a reference was removed

	hash Hash // set by Encode and Decode
}

// Bucket is what a commit changes in a bucket.
type Bucket struct {
	_        struct{} `cbor:",toarray"`
	Name     string
	Sequence uint64 // sequence of the bucket after the commit
	Rows     []Row
}

// Row is the last value of a key in a commit.
type Row struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Value []byte // nil if the key was deleted; not nil for an empty value
	Old   int64  // checksum of the value that it replaces, see disk.Checksum; NoValue if there was none
}

// NoValue is the Old of a row without a value before.
const NoValue = -1

var (
	encoding = mustEncode()
	decoding = mustDecode()
)

func mustEncode() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return mode
}

// Limit of the elements that an entry may claim. A commit changes at most 128 × 200 records.
const maxElements = 8 << 20

func mustDecode() cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxArrayElements:  maxElements,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		TagsMd:            cbor.TagsForbidden,
		IndefLength:       cbor.IndefLengthForbidden,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return mode
}

// Encode returns the encoded entry.
func (e *Entry) Encode() (text []byte, err error) {
	text, err = encoding.Marshal(e)
	e.hash = sha256.Sum256(text)
	return text, err
}

// Decode decodes an entry.
func Decode(text []byte) (*Entry, error) {
	e := &Entry{}
	if err := decoding.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if e.Format > Format {
		return nil, fmt.Errorf("a newer program has made it (format %d, this one knows %d)", e.Format, Format)
	}
	if len(e.Prev) != len(Hash{}) {
		return nil, errors.New("it is damaged: the hash of the entry before it is missing")
	}
	e.hash = sha256.Sum256(text)
	return e, nil
}

// Head returns the position of an entry that was encoded or decoded.
func (e *Entry) Head() Head { return Head{e.Epoch, e.Number, e.hash, e.Time} }

// Follows returns an error unless the entry is the successor of a position.
func (e *Entry) Follows(h Head) error {
	switch {
	case e.Epoch != h.Epoch:
		return fmt.Errorf("it is of another epoch, %s", e.Epoch)
	case e.Number != h.Number+1:
		return fmt.Errorf("it has the number %d, not %d", e.Number, h.Number+1)
	case Hash(e.Prev) != h.Hash:
		return errors.New("it does not follow from the one before it")
	}
	return nil
}
