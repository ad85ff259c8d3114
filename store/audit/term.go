package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A term is a string that an entry is found by. It is valid UTF-8, as the text of an entry is.

// maxTerm is the maximum length of a term in bytes. Of a longer one there are the beginning and a
// hash: keys of a segment have a limit.
const maxTerm = 512

// First bytes of terms.
const (
	actorTerm     = "actor "
	recordTerm    = "record "
	changeTerm    = "change "
	operationTerm = "operation "
	actionTerm    = "action "
	jobTerm       = "job "
)

// ByActor is the term of the entries of an actor, and of those who acted as a user. id is 0 for an
// actor that is no user.
func ByActor(kind string, id uint64) string {
	return term(actorTerm, Actor{Kind: kind, ID: id}.Key())
}

// ByRecord is the term of the entries that changed a record.
func ByRecord(collection string, id uint64) string {
	return term(recordTerm, collection, ":", strconv.FormatUint(id, 10))
}

// ByChange is the term of the entries with a change of a kind: create, update or delete.
func ByChange(collection, operation string) string {
	return term(changeTerm, collection, ":", operation)
}

// ByOperation is the term of the entries of an operation; key is its Operation.Key.
func ByOperation(key string) string { return term(operationTerm, key) }

// ByAction is the term of the entries with an action.
func ByAction(action string) string { return term(actionTerm, action) }

// ByJob is the term of the entries of a large operation.
func ByJob(id uint64) string { return term(jobTerm, strconv.FormatUint(id, 10)) }

func term(parts ...string) string {
	s := strings.Join(parts, "")
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // as encoding/json replaces each byte
	}
	if len(s) > maxTerm {
		hash := sha256.Sum256([]byte(s))
		s = strings.ToValidUTF8(s[:maxTerm-2*len(hash)], "") + hex.EncodeToString(hash[:])
	}
	return s
}

// Terms returns the terms of an entry, each once.
func (e *Entry) Terms() []string {
	k := e.Keys(0)
	return k.Terms()
}

// Keys are the index keys of an entry. They are as small as possible, since the engine keeps them
// in memory for the entries that are not in a segment.
type Keys struct {
	Micros int64  // time of the entry, Unix microseconds, not below 0
	packed string // the terms, each after a separator, and a separator at the end
}

// separator is no part of UTF-8, and so of no term.
const separator = "\xff"

// Keys returns the keys of an entry of a time in Unix microseconds, without decoding e.At.
func (e *Entry) Keys(micros int64) Keys {
	return Keys{max(0, micros), string(e.appendTerms(make([]byte, 0, 256)))}
}

// appendTerms appends the packed terms of an entry.
func (e *Entry) appendTerms(b []byte) []byte {
	from := len(b)
	b = append(b, separator...)
	at := len(b)
	b = append(append(append(b, actorTerm...), e.Actor.Kind...), ':')
	b = endTerm(strconv.AppendUint(b, e.Actor.ID, 10), from, at)
	if at = len(b); e.As.ID != 0 {
		b = append(append(append(b, actorTerm...), e.As.Kind...), ':')
		b = endTerm(strconv.AppendUint(b, e.As.ID, 10), from, at)
	}

	at = len(b)
	b = append(b, operationTerm...)
	if e.Operation.Method == "" {
		b = append(b, e.Operation.Title...)
	} else {
		b = append(append(append(b, e.Operation.Method...), ' '), e.Operation.Route...)
	}

	b = endTerm(b, from, at)
	if at = len(b); e.Action != "" {
		b = endTerm(append(append(b, actionTerm...), e.Action...), from, at)
	}
	if at = len(b); e.JobID != 0 {
		b = endTerm(strconv.AppendUint(append(b, jobTerm...), e.JobID, 10), from, at)
	}

	for i := range e.Changes {
		c := &e.Changes[i]
		at = len(b)
		b = append(append(append(b, changeTerm...), c.Collection...), ':')
		b = endTerm(append(b, c.Operation...), from, at)
		at = len(b)
		b = append(append(append(b, recordTerm...), c.Collection...), ':')
		b = endTerm(strconv.AppendUint(b, c.ID, 10), from, at)
	}

	return b
}

// endTerm ends the term that begins at a position, of terms that begin at from. One that is there
// already is removed.
func endTerm(b []byte, from, at int) []byte {
	if len(b)-at > maxTerm || !utf8.Valid(b[at:]) {
		b = append(b[:at], term(string(b[at:]))...)
	}
	b = append(b, separator...)
	if bytes.Contains(b[from:at], b[at-1:]) {
		b = b[:at]
	}
	return b
}

// KeyList makes the keys of many entries, whose terms share one string. Its memory can be used
// again.
type KeyList struct {
	packed []byte
	list   []listedKeys
}

type listedKeys struct {
	micros int64
	end    int // offset in packed
}

// Append adds the keys of an entry of a time in Unix microseconds.
func (l *KeyList) Append(e *Entry, micros int64) {
	l.packed = e.appendTerms(l.packed)
	l.list = append(l.list, listedKeys{max(0, micros), len(l.packed)})
}

// Each yields the index and the keys of each entry.
func (l *KeyList) Each(yield func(int, Keys) bool) {
	packed, start := string(l.packed), 0
	for i, k := range l.list {
		if !yield(i, Keys{k.micros, packed[start:k.end]}) {
			return
		}
		start = k.end
	}
}

// Len returns the number of entries.
func (l *KeyList) Len() int { return len(l.list) }

// Reset removes all keys.
func (l *KeyList) Reset() { l.packed, l.list = l.packed[:0], l.list[:0] }

// KeysOf returns the keys of the text of an entry.
func KeysOf(text []byte) (Keys, error) {
	e, scanned := scanEntry(text, false)
	if !scanned {
		e = Entry{}
		if err := json.Unmarshal(text, &e); err != nil {
			return Keys{}, err
		}
	}
	return e.keys()
}

// keys are the keys of an entry that was decoded.
func (e *Entry) keys() (Keys, error) {
	at, err := time.Parse(time.RFC3339Nano, e.At)
	if err != nil {
		return Keys{}, fmt.Errorf("entry %d has no valid time: %w", e.Seq, err)
	}
	return e.Keys(at.UnixMicro()), nil
}

// Terms returns the terms.
func (k *Keys) Terms() (terms []string) {
	for t := range k.each {
		terms = append(terms, t)
	}
	return terms
}

// each yields the terms.
func (k *Keys) each(yield func(string) bool) {
	rest := strings.TrimPrefix(k.packed, separator)
	for rest != "" {
		var term string
		term, rest, _ = strings.Cut(rest, separator)
		if !yield(term) {
			return
		}
	}
}

// denied reports whether the entry is about refused requests.
func (k *Keys) denied() bool { return strings.Contains(k.packed, deniedPacked) }

var deniedPacked = separator + ByAction(Denied) + separator

// Matcher returns a function that reports whether an entry with the keys meets the query. Like the
// keys, it ignores the number of the entry.
func (q Query) Matcher() func(k *Keys) bool {
	all := make([][]string, len(q.All))
	for i, terms := range q.All {
		for _, t := range terms {
			if utf8.ValidString(t) {
				all[i] = append(all[i], separator+t+separator)
			}
		}
	}
	return func(k *Keys) bool {
		if q.From != 0 && k.Micros < q.From || q.To != 0 && k.Micros > q.To {
			return false
		}
		for _, terms := range all {
			found := false
			for i := 0; i < len(terms) && !found; i++ {
				found = strings.Contains(k.packed, terms[i])
			}
			if !found {
				return false
			}
		}
		return true
	}
}

// Size returns the number of bytes that the terms need in memory.
func (k *Keys) Size() int { return len(k.packed) }
