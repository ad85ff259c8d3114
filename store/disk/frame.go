package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A stored value is framed: one version byte, the CRC-32C (Castagnoli) of bucket name, key
// and payload, then the payload. bbolt has no page checksums, so only the frame detects a
// flipped bit, or a value under the wrong key or in the wrong bucket.
const (
	FrameVersion = 1
	FrameHead    = 1 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of bucket name, key and payload.
func Checksum(bucket string, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(bucket))
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

// Frame wraps a payload for storing under key in bucket.
func Frame(bucket string, key, payload []byte) []byte {
	b := append(make([]byte, FrameHead, FrameHead+len(payload)), payload...)
	SealFrame(bucket, key, b)
	return b
}

// SealFrame writes the head of a frame: b has FrameHead bytes and then the payload.
func SealFrame(bucket string, key, b []byte) {
	b[0] = FrameVersion
	binary.BigEndian.PutUint32(b[1:], Checksum(bucket, key, b[FrameHead:]))
}

var errFrame = errors.New("its checksum does not match")

// Unframe checks a framed value and returns its payload. The payload is part of the mapped
// file: it is valid only as long as the transaction.
func Unframe(bucket string, key, value []byte) ([]byte, error) {
	payload, err := UnframeKnown(bucket, key, value)
	if err == nil && binary.BigEndian.Uint32(value[1:]) != Checksum(bucket, key, payload) {
		return nil, errFrame
	}
	return payload, err
}

// UnframeKnown is Unframe for a value whose checksum was verified before.
func UnframeKnown(_ string, _, value []byte) ([]byte, error) {
	if len(value) < FrameHead {
		return nil, errors.New("it is cut short")
	}
	if value[0] != FrameVersion {
		return nil, fmt.Errorf("it has frame version %d, this program knows %d", value[0],
			FrameVersion)
	}
	return value[FrameHead:], nil
}

// FrameSum returns the checksum in a framed value.
func FrameSum(value []byte) uint32 { return binary.BigEndian.Uint32(value[1:]) }
