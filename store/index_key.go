package store

import (
	"encoding/binary"
	"unicode/utf8"
)

// idKey is how an ID is written as a key: 8 bytes, big-endian, so that keys
// order as ids do and new records go to the end.
func idKey(id ID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// Key is what an index can be over. Its encodings keep the order of the values
// and are prefix-free, so an id can follow and no value's entries run into another's.
type Key interface{ string | ID | Time | int64 }

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
			k = string([]rune(k)) // as JSON will store it
		}
		// 0x00 becomes 0x00 0xFF and 0x00 0x01 ends the text, the order-preserving
		// escape of FoundationDB's tuple layer with a terminator of our own.
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
