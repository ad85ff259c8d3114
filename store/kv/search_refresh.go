package kv

import (
	"bytes"
	"encoding/binary"
	"strings"

	"reeve/store/disk"
	"reeve/store/fold"
)

// A new version of the program may fold search texts in another way. A migration only marks them as
// outdated, and the indexer brings them up to date while the database is in use. Until then, a
// search does not find what only the new form has.

const (
	refreshRead  = 20_000 // records that one read transaction looks at
	refreshWrite = 200    // texts that one commit changes
)

// OutdateTexts marks the search texts of a collection as outdated, in a migration.
func (c *Collection[T]) OutdateTexts(tx *Tx) error { return c.untyped.search.setOutdated(tx, true) }

func (s *Search) setOutdated(tx *Tx, outdated bool) error {
	var value []byte
	if outdated {
		value = disk.Frame(s.changes, outdatedKey, nil)
	}
	var sum uint64
	if err := setSummed(tx, s.changes, outdatedKey, value, &sum); err != nil {
		return err
	}
	return addLocalTotals(tx, s.collection, 0, sum)
}

// areOutdated reports whether search texts may be in the form of an earlier version.
func (s *Search) areOutdated(tx *Tx) bool { return tx.bucket(s.changes).Get(outdatedKey) != nil }

// outdated returns the framed search text of a record in the form of the version before.
func (s *Search) outdated(id ID, v record) []byte {
	texts := s.texts(v)
	for i := range texts {
		texts[i] = fold.Lower(texts[i])
	}
	return disk.Frame(s.bucket, idKey(id), []byte(strings.Join(texts, between)))
}

// TextsUpToDate reports whether no search texts are in the form of an earlier version.
func (db *DB) TextsUpToDate() bool {
	outdated := false
	err := db.View(engine{}, func(tx *Tx) error {
		for _, x := range db.indexer.indexes {
			outdated = outdated || x.search.areOutdated(tx)
		}
		return nil
	})
	return err == nil && !outdated
}

// refresh brings outdated search texts up to date. If it is interrupted, it begins again at the
// next start.
func (x *searchIndex) refresh() error {
	outdated := false
	err := x.db.View(engine{}, func(tx *Tx) error {
		outdated = x.search.areOutdated(tx)
		return nil
	})
	for next := ID(1); outdated && err == nil && !x.stop(); {
		var ids []ID
		err = x.db.View(engine{}, func(tx *Tx) (err error) {
			ids, next, err = x.search.outdatedFrom(tx, next)
			return err
		})
		if err != nil {
			return err
		}
		outdated = next != 0
		if len(ids) > 0 || !outdated {
			err = x.db.Update(engine{}, func(tx *Tx) error {
				return x.search.update(tx, ids, outdated)
			})
		}
	}

	return err
}

// outdatedFrom returns records from an ID whose search text is outdated, and the ID to continue
// with; 0 at the end.
func (s *Search) outdatedFrom(tx *Tx, from ID) (ids []ID, next ID, err error) {
	cursor, texts, seen := tx.bucket(s.of.name).Cursor(), tx.bucket(s.bucket), 0
	for key, value := cursor.Seek(idKey(from)); key != nil; key, value = cursor.Next() {
		id := ID(binary.BigEndian.Uint64(key))
		if seen++; seen > refreshRead || len(ids) == refreshWrite {
			return ids, id, nil
		}
		if len(value) > disk.FrameHead && fold.IsUnchanged(value[disk.FrameHead:]) {
			continue
		}
		v, err := s.of.decode(id, value)
		if err != nil {
			return nil, 0, err
		}
		if !bytes.Equal(texts.Get(key), s.value(id, v)) {
			ids = append(ids, id)
		}
	}
	return ids, 0, nil
}

// update stores the search texts of some records again, and ends the state outdated unless there
// are more.
func (s *Search) update(tx *Tx, ids []ID, more bool) error {
	var sum uint64
	for _, id := range ids {
		value := tx.bucket(s.of.name).Get(idKey(id))
		if value == nil {
			continue // deleted
		}
		v, err := s.of.decode(id, value)
		if err == nil {
			err = setSummed(tx, s.bucket, idKey(id), s.value(id, v), &sum)
		}
		if err == nil {
			err = s.changed(tx, id)
		}
		if err != nil {
			return err
		}
	}

	if err := addTotals(tx, s.collection, 0, sum); err != nil || more {
		return err
	}

	return s.setOutdated(tx, false)
}
