package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"

	"reeve/store/disk"
)

// A Search of many records has a search index in separate files (search_index.go), which is
// updated in the background. Until then, data.db lists the records whose texts have changed since,
// and a search reads their texts itself.

// searchBuckets are the names of the buckets of a Search.
type searchBuckets struct {
	collection string
	bucket     string // name of the bucket of search texts
	// Name of the bucket with the searchState under stateKey, the numbered changes while these
	// exist, and outdatedKey.
	changes string
}

// searchState exists while a collection has a search index. Without it, changes are not listed.
type searchState struct {
	Generation string `json:"generation"` // random; index files of another generation have other texts
	Drained    uint64 `json:"drained"`    // changes up to this number have been removed from the list
}

// stateKey sorts behind the keys of all changes.
var stateKey = []byte("state")

// outdatedKey exists while search texts may be in the form of an earlier version. It sorts behind
// stateKey.
var outdatedKey = []byte("texts")

// changeKey returns the key of a change: a letter and the number, big-endian, 9 bytes. Keys have
// the order of the numbers, and no keys of other buckets have 9 bytes.
func changeKey(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("n"), n) }

// state returns the state of the search index; nil if there is none.
func (b *searchBuckets) state(tx *Tx) (*searchState, error) {
	value := tx.bucket(b.changes).Get(stateKey)
	if value == nil {
		return nil, nil
	}
	s := &searchState{}
	payload, err := disk.Unframe(b.changes, stateKey, value)
	if err == nil {
		err = json.Unmarshal(payload, s)
	}
	if err != nil {
		return nil, Damaged(b.changes, string(stateKey), err)
	}
	return s, nil
}

// setState stores the state of the search index; nil removes it.
func (b *searchBuckets) setState(tx *Tx, s *searchState) error {
	var value []byte
	if s != nil {
		payload, err := json.Marshal(s)
		if err != nil {
			return err
		}
		value = disk.Frame(b.changes, stateKey, payload)
	}
	var sum uint64
	err := setSummed(tx, b.changes, stateKey, value, &sum)
	return errors.Join(err, addLocalTotals(tx, b.collection, 0, sum))
}

// number returns the number of the last change.
func (b *searchBuckets) number(tx *Tx) uint64 { return tx.bucket(b.changes).Sequence() }

// changed adds a record to the list of changes if there is a search index.
func (b *searchBuckets) changed(tx *Tx, id ID) error {
	bucket := tx.bucket(b.changes)
	if bucket.Get(stateKey) == nil {
		return nil
	}
	n, err := bucket.NextSequence()
	if err != nil {
		return err
	}
	key := changeKey(n)
	value := disk.Frame(b.changes, key, idKey(id))
	if err := tx.put(b.changes, key, value); err != nil {
		return err
	}
	return addLocalTotals(tx, b.collection, 0, uint64(disk.Checksum(b.changes, key, value)))
}

// listed iterates over the listed changes with numbers above after. An ID may occur several
// times.
func (b *searchBuckets) listed(tx *Tx, after uint64) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		cursor := tx.bucket(b.changes).Cursor()
		for key, value := cursor.Seek(changeKey(after + 1)); key != nil &&
			bytes.Compare(key, stateKey) < 0; key, value = cursor.Next() {
			payload, err := disk.Unframe(b.changes, key, value)
			if err == nil && (len(key) != 9 || len(payload) != 8) {
				err = errors.New("it is no change")
			}
			if err != nil {
				yield(0, Damaged(b.changes, keyText(key), err))
				return
			}
			if !yield(ID(binary.BigEndian.Uint64(payload)), nil) {
				return
			}
		}
	}
}

// drain removes up to limit changes with numbers up to upto, and reports whether there may be
// more of them.
func (b *searchBuckets) drain(tx *Tx, upto uint64, limit int) (more bool, err error) {
	var keys [][]byte
	cursor, end := tx.bucket(b.changes).Cursor(), changeKey(upto)
	for key, _ := cursor.First(); key != nil && bytes.Compare(key, end) <= 0 &&
		len(keys) < limit; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}

	var sum uint64
	for _, key := range keys {
		if err := setSummed(tx, b.changes, key, nil, &sum); err != nil {
			return false, err
		}
	}

	if len(keys) == 0 {
		return false, nil
	}

	return len(keys) == limit, addLocalTotals(tx, b.collection, 0, sum)
}

// verify reports a state and changes that cannot be read.
func (b *searchBuckets) verify(tx *Tx, report *Report) {
	if _, err := b.state(tx); err != nil {
		report.fault("%s", disk.OneLine(err))
	}
	for _, err := range b.listed(tx, 0) {
		if err != nil {
			report.fault("%s", disk.OneLine(err))
		}
	}
}
