// Package trigram keeps indexes of all sequences of three bytes in short texts, so
// that the texts which have a given part are found without reading them.
//
// A Segment is a file that is written once: for each trigram the ids of the texts
// that have it, and where in them. Where the trigrams of a part lie one behind the
// other, the text has the part; nothing else needs to be looked at. A View is a
// sequence of segments, of which a newer one is right about the texts that it
// covers; Merge makes one segment of several.
//
// Texts are bytes, not characters: a part of one Chinese character is three bytes and
// can be found. A zero byte stands between texts that are kept as one: no trigram has it.
package trigram

import (
	"errors"
	"hash/crc32"
)

// Length is how many bytes a part must have to be found.
const Length = 3

// MaxText is how many bytes a text may have.
const MaxText = 1<<posBits - 1

// MaxID is the highest id of a text.
const MaxID = 1<<(64-posBits) - 1

const posBits = 16

// Doc is a text that a segment covers. One without a text is in no older segment
// of a view either.
type Doc struct {
	ID   uint64
	Text []byte
}

// hit is an id and a place in its text, in one number: their order is that of the ids.
type hit uint64

func hitAt(id uint64, pos int) hit { return hit(id<<posBits | uint64(pos)) }
func (h hit) id() uint64           { return uint64(h) >> posBits }
func (h hit) pos() int             { return int(h & MaxText) }

// gram is three bytes as a number.
type gram uint32

func gramAt(text string, i int) gram {
	return gram(text[i])<<16 | gram(text[i+1])<<8 | gram(text[i+2])
}

// ErrDamaged is in the error of a file that is not as it was written.
var ErrDamaged = errors.New("the search index is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
