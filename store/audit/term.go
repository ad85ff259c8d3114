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

// What a term begins with.
const (
	actorTerm     = "actor "
	recordTerm    = "record "
	changeTerm    = "change "
	operationTerm = "operation "
	actionTerm    = "action "
)

// ByActor is the term of the entries of an actor. id is 0 for an actor that is no user.
func ByActor(kind string, id uint64) string { return term(actorTerm, Actor{Kind: kind, ID: id}.Key()) }

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
func ByJob(id uint64) string { return term("job ", strconv.FormatUint(id, 10)) }

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

// Keys are what an entry is found by. They are as small as possible, since the engine keeps them in
// memory for the entries that are not in a segment.
type Keys struct {
	Micros int64  // time of the entry, Unix microseconds, not below 0
	packed string // the terms, each after a separator, and a separator at the end
}

// separator is no part of UTF-8, and so of no term.
const separator = "\xff"

// Keys returns the keys of an entry of a time in Unix microseconds, without decoding e.At.
func (e *Entry) Keys(micros int64) Keys {
	b := append(make([]byte, 0, 256), separator...)
	add := func(parts ...string) {
		start := len(b)
		for _, p := range parts {
			b = append(b, p...)
		}
		if len(b)-start > maxTerm || !utf8.Valid(b[start:]) {
			b = append(b[:start], term(parts...)...)
		}
		b = append(b, separator...)
		if bytes.Contains(b[:start], b[start-1:]) {
			b = b[:start]
		}
	}
	id := func(n uint64) string { return strconv.FormatUint(n, 10) }
	add(actorTerm, e.Actor.Kind, ":", id(e.Actor.ID))
	add(operationTerm, e.Operation.Key())
	if e.Action != "" {
		add(actionTerm, e.Action)
	}
	if e.JobID != 0 {
		add(ByJob(e.JobID))
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		add(changeTerm, c.Collection, ":", c.Operation)
		add(recordTerm, c.Collection, ":", id(c.ID))
	}
	return Keys{max(0, micros), string(b)}
}

// KeysOf returns the keys of the text of an entry.
func KeysOf(text []byte) (Keys, error) {
	e, scanned := scanSubject(text)
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
