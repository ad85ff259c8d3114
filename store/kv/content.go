package kv

import "errors"

// content declares that each record of a collection has a blob.
type content[T any] struct {
	digest   func(*T) Digest
	size     func(*T) int64 // nil if the record does not store the size
	byDigest *Many[T, string]
}

// Content declares that every record has a blob in files.db. size returns its size in bytes; nil
// if the record does not store it. byDigest finds the records that share a blob. When the last of
// them is deleted or gets another blob, the blob is deleted after the commit. Content returns the
// collection, for use in a declaration.
func (c *Collection[T]) Content(digest func(*T) Digest, size func(*T) int64, byDigest *Many[T, string]) *Collection[T] {
	c.content = &content[T]{digest, size, byDigest}
	return c
}

// follow releases the blob of a record that is deleted or gets another blob.
func (f *content[T]) follow(tx *Tx, old, v *T) {
	if f != nil && old != nil && (v == nil || f.digest(v) != f.digest(old)) {
		tx.changes.release(f.digest(old))
	}
}

// blobRef is a record that has a blob.
type blobRef struct {
	of     Table
	id     ID
	digest Digest
	size   int64 // -1 if the record does not store it
}

func (c *Collection[T]) hasContent() bool { return c.content != nil }

// blobRefs returns the records of a collection that have a blob. It skips damaged records, which
// Verify reports elsewhere.
func (c *Collection[T]) blobRefs(tx *Tx) (refs []blobRef) {
	if c.content == nil {
		return nil
	}
	for v, err := range c.All(tx) {
		if err != nil {
			continue
		}
		ref := blobRef{c, c.rec(v).ident().ID, c.content.digest(v), -1}
		if c.content.size != nil {
			ref.size = c.content.size(v)
		}
		refs = append(refs, ref)
	}
	return refs
}

// refersTo returns the number of records of the collection that have the blob.
func (c *Collection[T]) refersTo(tx *Tx, d Digest) (int, error) {
	if c.content == nil {
		return 0, nil
	}
	return c.content.byDigest.Count(tx, d.String())
}

// hasFiles reports whether a schema has records with blobs.
func (s *Schema) hasFiles() bool {
	for _, t := range s.Tables {
		if t.hasContent() {
			return true
		}
	}
	return false
}

// blobRefs returns all records that have a blob.
func (s *Schema) blobRefs(tx *Tx) (refs []blobRef) {
	for _, t := range s.Tables {
		refs = append(refs, t.blobRefs(tx)...)
	}
	return refs
}

// countContent returns the number of records that have a blob.
func (s *Schema) countContent(tx *Tx) (n int, err error) {
	for _, t := range s.Tables {
		if t.hasContent() {
			records, countErr := t.Count(tx)
			n, err = n+records, errors.Join(err, countErr)
		}
	}
	return n, err
}

// refersTo returns the number of records that have the blob.
func (s *Schema) refersTo(tx *Tx, d Digest) (n int, err error) {
	for _, t := range s.Tables {
		records, countErr := t.refersTo(tx, d)
		n, err = n+records, errors.Join(err, countErr)
	}
	return n, err
}
