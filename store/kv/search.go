package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"reeve/store/disk"
	"reeve/store/fold"
)

// Search stores the search text of every record, folded and framed, in a bucket of its own, so
// that a search decodes only the records that it returns.
type Search struct {
	searchBuckets
	of    *collection
	texts func(record) []string
}

// NewSearch declares which texts of a record can be searched. A collection can have one Search.
func NewSearch[T any](of *Collection[T], texts func(*T) []string) *Search {
	name := of.Name()
	s := &Search{searchBuckets{name, name + ".search", name + ".search.changes"}, of.untyped,
		func(r record) []string { return texts(typed[T](r)) }}
	of.untyped.search = s
	return s
}

// between separates two texts. A search for a substring that contains it finds nothing.
const between = "\x00"

// foldTexts folds and joins texts with a separator, so that no substring matches across two.
func foldTexts(texts ...string) string {
	for i := range texts {
		texts[i] = fold.Search(texts[i])
	}
	return strings.Join(texts, between)
}

// value returns the framed search text of a record; nil for a nil record.
func (s *Search) value(id ID, v record) []byte {
	if v == nil {
		return nil
	}
	return disk.Frame(s.bucket, idKey(id), []byte(foldTexts(s.texts(v)...)))
}

// replace updates the search text of a record that is created, changed or deleted, and lists the
// change for the search index. It adds the change of the checksums to sum.
func (s *Search) replace(tx *Tx, id ID, old, v record, sum *uint64) error {
	had, gets := s.value(id, old), s.value(id, v)
	if bytes.Equal(had, gets) {
		return nil
	}
	if err := setSummed(tx, s.bucket, idKey(id), gets, sum); err != nil {
		return err
	}
	return s.changed(tx, id)
}

// matches iterates over the IDs of the records whose search text contains the folded substring
// part. It reads all search texts.
func (s *Search) matches(tx *Tx, part string) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		if strings.Contains(part, between) {
			return
		}

		want := []byte(part)
		cursor := tx.bucket(s.bucket).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			tx.recordResult(value)
			if len(key) != 8 {
				tx.NoteDamage(Damaged(s.bucket, keyText(key),
					fmt.Errorf("a key has %d bytes, not 8", len(key))))
				continue
			}
			id := ID(binary.BigEndian.Uint64(key))
			if s.contains(tx, id, value, want) && !yield(id) {
				return
			}
		}
	}
}

// match reports whether the search text of one record contains the folded substring part.
func (s *Search) match(tx *Tx, id ID, part string) bool {
	return !strings.Contains(part, between) &&
		s.contains(tx, id, tx.bucket(s.bucket).Get(idKey(id)), []byte(part))
}

// contains reports whether a framed search text contains the folded substring part. If the text is
// damaged, it is made from the record. If that is damaged, too, every search finds the record, so
// that the result names it.
func (s *Search) contains(tx *Tx, id ID, framed, part []byte) bool {
	text, err := disk.Unframe(s.bucket, idKey(id), framed)
	if err == nil {
		return bytes.Contains(text, part)
	}
	tx.NoteDamage(Damaged(s.bucket, id.String(), err))
	v, err := s.of.get(tx, id)
	if err != nil {
		return IsDamage(err)
	}
	return strings.Contains(foldTexts(s.texts(v)...), string(part))
}

// verify compares the search texts with the records. A text without a record shows in the
// numbers.
func (s *Search) verify(tx *Tx, report *Report) {
	records, texts := 0, 0
	for v, err := range s.of.all(tx) {
		if err != nil {
			continue // reported already
		}
		records++
		id := v.ident().ID
		stored := tx.bucket(s.bucket).Get(idKey(id))
		if !bytes.Equal(stored, s.value(id, v)) &&
			!(s.areOutdated(tx) && bytes.Equal(stored, s.outdated(id, v))) {
			report.fault("%s %d: it is missing or not the record's", s.bucket, id)
		}
	}

	cursor := tx.bucket(s.bucket).Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		texts++
	}

	if texts != records {
		report.fault("%s", fmt.Sprintf("%s: %d texts for %d records", s.bucket, texts, records))
	}

	s.searchBuckets.verify(tx, report)
}
