// Package trigram implements indexes of all sequences of three bytes (trigrams) in
// short texts, to find the texts that contain a given substring without reading them.
//
// A Segment is an immutable file: for each trigram, the IDs of the texts that contain
// it, and the positions in them. If the trigrams of a substring occur at consecutive
// positions, the text contains the substring, so the text itself need not be read. A
// View is a sequence of segments; a newer segment overrides older ones for the texts
// that it covers. Merge combines several segments into one.
//
// Texts are bytes, not characters: one Chinese character has three bytes and can be
// found. A zero byte separates texts that are indexed as one: no trigram contains it.
//
//	segment, err := trigram.Write(path, []trigram.Doc{{ID: 7, Text: []byte("alice")}})
//	ids, err := trigram.View{segment}.Find("lic", func(id uint64) bool { return false })
package trigram

import (
	"errors"
	"hash/crc32"
)

// Length is the minimum length of a substring in bytes.
const Length = 3

// MaxText is the maximum length of a text in bytes.
const MaxText = 1<<posBits - 1

// MaxID is the highest ID of a text.
const MaxID = 1<<(64-posBits) - 1

const posBits = 16

// Doc is a text that a segment covers. An empty Text removes the text of older segments
// from a view.
type Doc struct {
	ID   uint64
	Text []byte
}

// hit is the ID of a text and a position in it, in one number, ordered by ID and then
// position.
type hit uint64

func hitAt(id uint64, pos int) hit { return hit(id<<posBits | uint64(pos)) }
func (h hit) id() uint64           { return uint64(h) >> posBits }
func (h hit) pos() int             { return int(h & MaxText) }

// gram is a trigram as a number.
type gram uint32

func gramAt(text string, i int) gram {
	return gram(text[i])<<16 | gram(text[i+1])<<8 | gram(text[i+2])
}

// ErrDamaged is wrapped by the error for a damaged file.
var ErrDamaged = errors.New("the search index is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
