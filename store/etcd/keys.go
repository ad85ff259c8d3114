package etcd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Hash is a hash of an entry.
type Hash [32]byte

// Nonce tells entries of two authors with one number apart.
type Nonce [16]byte

// Position is a place in the log: that of an entry, or the beginning of an epoch.
type Position struct {
	Epoch  string // name without spaces and slashes
	Number uint64
	Hash   Hash // hash of the entry with this number; at the beginning of an epoch, what the first entry has as Previous
}

// Entry is one commit. Its author sets Nonce, Hash and Sealed, and may set AskTurn or EndTurn.
type Entry struct {
	Number   uint64
	Previous Hash // hash of the predecessor
	Nonce    Nonce
	Hash     Hash
	Sealed   []byte // sealed commit, at most MostSealed bytes
	Urgent   bool   // see stream.SealedEntry
	AskTurn  int64  // seconds for which others are asked to wait if it is lost, see SetTurn; 0 for none; not stored
	EndTurn  bool   // whether the turn of the author ends with it; not stored

	stored int // number of parts that Sealed is to be read from, see getParts
}

// Position returns the position of an entry of an epoch.
func (e *Entry) Position(epoch string) Position { return Position{epoch, e.Number, e.Hash} }

func (l *Log) key(name string) string { return l.prefix + name }

// logOf is the beginning of the keys of the entries of an epoch.
func (l *Log) logOf(epoch string) string { return l.prefix + "log/" + epoch + "/" }

// afterLog is the key after those of all entries. Between it and head there are only the keys of turns.
func (l *Log) afterLog() string { return l.prefix + "log0" }

func (l *Log) entryKey(epoch string, number uint64) string {
	return fmt.Sprintf("%s%020d", l.logOf(epoch), number)
}

// String is the value of the key head. It must be the same at all nodes, because Append compares it.
func (p Position) String() string { return fmt.Sprintf("%s %d %x", p.Epoch, p.Number, p.Hash) }

func parsePosition(text []byte) (p Position, err error) {
	words := strings.Fields(string(text))
	if len(words) != 3 {
		return p, errors.New("a position is an epoch, a number and a hash")
	}
	p.Epoch = words[0]
	if p.Number, err = strconv.ParseUint(words[1], 10, 64); err != nil {
		return p, err
	}
	hash, err := hex.DecodeString(words[2])
	if err != nil || len(hash) != len(p.Hash) {
		return p, errors.New("a hash has 64 hexadecimal digits")
	}
	p.Hash = Hash(hash)
	return p, nil
}

// The value of an entry: a version, whether it is urgent (0 or 1), nonce, hash of the predecessor, hash, and
// the sealed bytes. With the version of an entry in parts, the number of parts is in the place of these.
const (
	entryVersion = 1
	partsVersion = 2
	entryHeader  = 2 + len(Nonce{}) + 2*len(Hash{})
)

func (e *Entry) encode() string {
	version, urgent, sealed := byte(entryVersion), byte(0), e.Sealed
	if n := e.parts(); n > 0 {
		version, sealed = partsVersion, []byte{byte(n)}
	}
	if e.Urgent {
		urgent = 1
	}
	return string(bytes.Join([][]byte{{version, urgent}, e.Nonce[:], e.Previous[:], e.Hash[:], sealed}, nil))
}

// numberOf returns the number of the entry of an epoch that has a key.
func (l *Log) numberOf(epoch string, key []byte) (uint64, error) {
	digits, ok := strings.CutPrefix(string(key), l.logOf(epoch))
	number, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%w: the key %q is not of an entry of epoch %s", ErrEpoch, key, epoch)
	}
	return number, nil
}

// entry decodes an entry of an epoch. If it has parts, it is without Sealed.
func (l *Log) entry(epoch string, kv *mvccpb.KeyValue) (*Entry, error) {
	number, err := l.numberOf(epoch, kv.Key)
	if err != nil {
		return nil, err
	}
	v := kv.Value
	inParts := len(v) == entryHeader+1 && v[0] == partsVersion
	if len(v) < entryHeader || v[0] != entryVersion && !inParts {
		return nil, fmt.Errorf("%w: entry %d is of another version or cut off", ErrGap, number)
	}
	e := &Entry{Number: number, Sealed: v[entryHeader:], Urgent: v[1] == 1}
	if inParts {
		e.Sealed, e.stored = nil, int(v[entryHeader])
	}
	v = v[2:]
	v = v[copy(e.Nonce[:], v):]
	v = v[copy(e.Previous[:], v):]
	copy(e.Hash[:], v)
	return e, nil
}

// follows returns an error unless an entry is the successor of a position.
func (e *Entry) follows(at Position) error {
	switch {
	case e.Number != at.Number+1:
		return fmt.Errorf("%w: entry %d comes after %d", ErrGap, e.Number, at.Number)
	case e.Previous != at.Hash:
		return fmt.Errorf("%w: entry %d does not follow from what this node has", ErrDiverged, e.Number)
	}
	return nil
}
