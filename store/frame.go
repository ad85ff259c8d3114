package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// A stored value is framed: one version byte, the CRC-32C (Castagnoli) of bucket
// name, key and payload, then the payload. bbolt has no page checksum, so the
// frame is what tells a flipped bit, and a value that turned up under another
// key or in another bucket, from the truth.
const (
	frameVersion = 1
	frameHead    = 1 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(bucket string, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(bucket))
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

// frame wraps a payload for storing under key in bucket.
func frame(bucket string, key, payload []byte) []byte {
	b := append(make([]byte, frameHead, frameHead+len(payload)), payload...)
	sealFrame(bucket, key, b)
	return b
}

// sealFrame fills in the head of a frame whose payload is in its place.
func sealFrame(bucket string, key, b []byte) {
	b[0] = frameVersion
	binary.BigEndian.PutUint32(b[1:], checksum(bucket, key, b[frameHead:]))
}

var errFrame = errors.New("its checksum does not match")

// unframe returns the payload of a framed value, which still lies in the mapped
// file: it is valid only as long as the transaction.
func unframe(bucket string, key, value []byte) ([]byte, error) {
	if len(value) < frameHead {
		return nil, errors.New("it is cut short")
	}
	if value[0] != frameVersion {
		return nil, fmt.Errorf("it has frame version %d, this program knows %d", value[0], frameVersion)
	}
	payload := value[frameHead:]
	if binary.BigEndian.Uint32(value[1:]) != checksum(bucket, key, payload) {
		return nil, errFrame
	}
	return payload, nil
}

// frameSum is the CRC that a framed value carries.
func frameSum(value []byte) uint32 { return binary.BigEndian.Uint32(value[1:]) }

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
