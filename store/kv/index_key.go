package kv

import (
	"encoding/binary"
	"unicode/utf8"
)

// idKey returns an ID as a key: 8 bytes, big-endian, so that keys have the order of the IDs and
// new records are appended at the end of the bucket.
func idKey(id ID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// Key is the type of an indexed value. The encodings keep the order of the values and are
// prefix-free, so an ID can be appended and the entries of two values never mix.
type Key interface{ string | ID | Time | int64 }

// encodeKeys returns values as keys of an index.
//
//go:noinline
func encodeKeys[K Key](values []K) [][]byte {
	var keys [][]byte
	for _, v := range values {
		keys = append(keys, encodeKey(v))
	}
	return keys
}

// encodeKey returns a value as the key of an index.
func encodeKey[K Key](k K) []byte {
	switch k := any(k).(type) {
	case ID:
		return idKey(k)
	case Time:
		return encodeKey(int64(k))
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(k)^1<<63) // negatives sort first
	case string:
		if !utf8.ValidString(k) {
			k = string([]rune(k)) // json.Marshal stores it like this
		}
		// 0x00 becomes 0x00 0xFF, and 0x00 0x01 terminates the text: the order-preserving
		// escape of FoundationDB's tuple layer, with a different terminator.
		b := make([]byte, 0, len(k)+2)
		for i := range len(k) {
			b = append(b, k[i])
			if k[i] == 0 {
				b = append(b, 0xFF)
			}
		}
		return append(b, 0, 1)
	}
	panic("unreachable: Key has four types")
}
