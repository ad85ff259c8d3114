package kv

import (
	"strings"

	"reeve/store/trigram"
)

// find returns the IDs of the records whose search text contains the folded substring part, from
// the search index and the listed changes. ok is false if part is too short, the transaction can't
// use an index, or too many changes are listed.
func (s *Search) find(tx *Tx, part string) (ids *idSet, ok bool, err error) {
	if len(part) < trigram.Length || strings.Contains(part, between) {
		return nil, false, nil
	}

	b := &s.searchBuckets
	state, err := b.state(tx)
	if state == nil || err != nil {
		return nil, false, err
	}

	x := tx.db.indexer.index(b)
	if x == nil {
		return nil, false, nil
	}

	v := x.current(state, b.number(tx))
	if v == nil {
		return nil, false, nil
	}

	ids, fresh := newIDSet(), newIDSet()
	for id, err := range b.listed(tx, v.From) {
		if err != nil {
			return nil, false, err
		}
		if fresh.add(id); fresh.n > changesRead {
			return nil, false, nil
		}
	}

	found, err := v.view.Find(part, func(id uint64) bool {
		return fresh.n > 0 && fresh.has(ID(id))
	})
	if err != nil {
		x.fail(err)
		return nil, false, nil
	}

	for _, id := range found {
		ids.add(ID(id))
	}

	for id := range fresh.walk(false) {
		if tx.bucket(b.bucket).Get(idKey(id)) == nil {
			continue // the record was deleted
		}
		if s.match(tx, id, part) {
			ids.add(id)
		}
	}

	return ids, true, nil
}

// changesRead is the maximum number of changed records that a search with the index reads. If more
// are listed, it reads all texts instead.
const changesRead = 50_000
