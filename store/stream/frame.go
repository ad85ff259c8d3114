package stream

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// A segment begins with a magic line and a header, and has one frame for each part of an entry:
//
//	reeve-stream 1\n
//	length (4 bytes), JSON of header
//	length (4), kind (1), number (8), part (4), parts (4), encrypted part
//
// All numbers are big-endian. A part is bound to the header and its frame's head, so that none can take
// the place of another. An object elsewhere has the header and some of the frames.
const (
	magic     = "reeve-stream 1\n"
	kindEntry = 'e'
	headSize  = 4 + 1 + 8 + 4 + 4
	maxHeader = 64 << 10

	// maxPart is the maximum size in bytes of a part of a compressed entry.
	maxPart  = 1 << 20
	overhead = 64 // more than encryption adds
)

// header describes a segment.
type header struct {
	Instance string `json:"instance"`
	Epoch    string `json:"epoch"`
	Key      []byte `json:"key"` // see dataKey
}

type frameHead struct {
	length      uint32 // size of the encrypted part
	kind        byte
	number      uint64
	part, parts uint32
}

// encode returns the header as it is in a segment, and the hash to which parts are bound.
func (h *header) encode() (out []byte, sum Hash, err error) {
	text, err := json.Marshal(h)
	return append(binary.BigEndian.AppendUint32([]byte(magic), uint32(len(text))), text...), sha256.Sum256(text), err
}

// appendFrames appends the frames of an encoded entry.
func appendFrames(out []byte, headerSum Hash, key *dataKey, number uint64, text []byte) []byte {
	packed := compress(text)
	parts := uint32(max(1, (len(packed)+maxPart-1)/maxPart))
	for part := range parts {
		piece := packed[:min(len(packed), maxPart)]
		packed = packed[len(piece):]
		at := frameHead{0, kindEntry, number, part, parts}
		start := len(out)
		out = append(out, make([]byte, headSize)...)
		out = key.aead.Seal(out, nil, piece, binding(headerSum, at))
		at.length = uint32(len(out) - start - headSize)
		at.put(out[start:])
	}
	return out
}

func (at frameHead) put(b []byte) {
	binary.BigEndian.PutUint32(b, at.length)
	b[4] = at.kind
	binary.BigEndian.PutUint64(b[5:], at.number)
	binary.BigEndian.PutUint32(b[13:], at.part)
	binary.BigEndian.PutUint32(b[17:], at.parts)
}

func parseFrame(b []byte) (at frameHead, err error) {
	at = frameHead{
		binary.BigEndian.Uint32(b), b[4], binary.BigEndian.Uint64(b[5:]),
		binary.BigEndian.Uint32(b[13:]), binary.BigEndian.Uint32(b[17:]),
	}
	if at.length > maxPart+overhead || at.kind != kindEntry || at.part >= at.parts || at.parts > maxEntry/maxPart {
		return at, errors.New("it is damaged: a frame has an impossible head")
	}
	return at, nil
}

// Reader reads the entries of a segment.
type Reader struct {
	r      *bufio.Reader
	header header
	size   int64 // size of the header
	sum    Hash  // hash of the header
	key    *dataKey
}

// NewReader reads the header of a segment, or of an object with a part of one. The error is
// ErrOtherKey if none of the identities opens it.
func NewReader(r io.Reader, identities []age.Identity) (*Reader, error) {
	in, err := openReader(r)
	if err != nil {
		return nil, err
	}
	in.key, err = unwrapKey(in.header.Key, identities)
	return in, err
}

// openReader reads the header of a segment. Its entries can't be read without the key.
func openReader(r io.Reader) (*Reader, error) {
	in := &Reader{}
	in.reset(r)
	return in, in.readHeader()
}

// reset continues to read entries from r.
func (in *Reader) reset(r io.Reader) { in.r = bufio.NewReaderSize(r, 64<<10) }

func (in *Reader) readHeader() error {
	start := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(in.r, start); err != nil {
		return cutOff(err)
	}
	n := binary.BigEndian.Uint32(start[len(magic):])
	if string(start[:len(magic)]) != magic || n > maxHeader {
		return errors.New("it is not a segment of the commit stream")
	}
	in.size = int64(len(start)) + int64(n)
	text := make([]byte, n)
	if _, err := io.ReadFull(in.r, text); err != nil {
		return cutOff(err)
	}
	in.sum = sha256.Sum256(text)
	if err := json.Unmarshal(text, &in.header); err != nil {
		return fmt.Errorf("its header is damaged: %w", err)
	}
	return nil
}

// ErrCutOff is wrapped by the error of a segment that ends within a frame.
var ErrCutOff = errors.New("it is cut off")

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCutOff
	}
	return err
}

// Next returns the next entry; io.EOF at the end.
func (in *Reader) Next() (*Entry, error) {
	text, number, err := in.next()
	if err != nil {
		return nil, err
	}
	e, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", number, err)
	}
	if e.Number != number || e.Instance != in.header.Instance || e.Epoch != in.header.Epoch {
		return nil, fmt.Errorf("entry %d: it is damaged: it says that it is another one", number)
	}
	return e, nil
}

func (in *Reader) next() (text []byte, number uint64, err error) {
	var packed bytes.Buffer
	for part := uint32(0); ; part++ {
		head := make([]byte, headSize)
		if _, err := io.ReadFull(in.r, head); err == io.EOF && part == 0 {
			return nil, 0, io.EOF
		} else if err != nil {
			return nil, 0, cutOff(err)
		}
		at, err := parseFrame(head)
		if err == nil && (at.part != part || part > 0 && at.number != number) {
			err = errors.New("it is damaged: a part of an entry is in the wrong place")
		}
		if err != nil {
			return nil, 0, err
		}
		number = at.number
		sealed := make([]byte, at.length)
		if _, err := io.ReadFull(in.r, sealed); err != nil {
			return nil, 0, cutOff(err)
		}
		opened, err := in.key.aead.Open(sealed[:0], nil, sealed, binding(in.sum, at))
		if err != nil {
			return nil, 0, fmt.Errorf("entry %d: it is damaged: it can't be decrypted", number)
		}
		packed.Write(opened)
		if part+1 == at.parts {
			break
		}
	}
	text, err = decompress(packed.Bytes())
	if err != nil {
		return nil, 0, fmt.Errorf("entry %d: it is damaged: %w", number, err)
	}
	return text, number, nil
}
