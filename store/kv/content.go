package kv

import (
	"errors"

	"reeve/store/blob"
)

// content declares that each record of a collection has a blob.
type content struct {
	digest   func(record) blob.Digest
	size     func(record) int64 // nil if the record does not store the size
	byDigest *index
	name     func(record) string // name for people; nil for none
}

// follow releases the blob of a record that is deleted or gets another blob, and keeps the object of
// that which it gets.
func (f *content) follow(tx *Tx, old, v record) error {
	if f == nil || old != nil && v != nil && f.digest(v) == f.digest(old) {
		return nil
	}
	if old != nil {
		tx.changes.release(f.digest(old))
		if err := tx.releaseObject(f.digest(old)); err != nil {
			return err
		}
	}
	if v == nil {
		return nil
	}
	tx.changes.stored = append(tx.changes.stored, f.digest(v))
	return tx.claimObject(f.digest(v))
}

// blobRef is a record that has a blob.
type blobRef struct {
	of     Table
	id     ID
	digest blob.Digest
	size   int64        // -1 if the record does not store it
	object *blob.Object // object that has it, too; nil for none
}

func (c *collection) hasContent() bool { return c.content != nil }

// blobRefs returns the records of a collection that have a blob. It skips damaged records, which
// Verify reports elsewhere.
func (c *collection) blobRefs(tx *Tx) (refs []blobRef) {
	if c.content == nil {
		return nil
	}
	for v, err := range c.all(tx) {
		if err != nil {
			continue
		}
		ref := blobRef{of: c.self, id: v.ident().ID, digest: c.content.digest(v), size: -1}
		if c.content.size != nil {
			ref.size = c.content.size(v)
		}
		if row, err := tx.objectOf(ref.digest); err == nil && row != nil {
			o := row.blob()
			ref.object = &o
		}
		refs = append(refs, ref)
	}
	return refs
}

// refersTo returns the number of records of the collection that have the blob.
func (c *collection) refersTo(tx *Tx, d blob.Digest) (int, error) {
	if c.content == nil {
		return 0, nil
	}
	return c.content.byDigest.counted(tx, encodeKey(d.String()))
}

// hasFiles reports whether a schema has records with blobs.
func (s *Schema) hasFiles() bool {
	for _, t := range s.Tables {
		if t.table().hasContent() {
			return true
		}
	}
	return false
}

// blobRefs returns all records that have a blob.
func (s *Schema) blobRefs(tx *Tx) (refs []blobRef) {
	for _, t := range s.Tables {
		refs = append(refs, t.table().blobRefs(tx)...)
	}
	return refs
}

// objectsOf returns the objects that have the contents of records.
func objectsOf(refs []blobRef) func(blob.Digest) (blob.Object, bool, error) {
	all := map[blob.Digest]blob.Object{}
	for _, r := range refs {
		if r.object != nil {
			all[r.digest] = *r.object
		}
	}
	return func(d blob.Digest) (o blob.Object, found bool, err error) {
		o, found = all[d]
		return o, found, nil
	}
}

// countContent returns the number of records that have a blob, without those whose blob an object has,
// too, if there is a bucket.
func (s *Schema) countContent(tx *Tx, bucket bool) (n int, err error) {
	for _, t := range s.Tables {
		switch {
		case !t.table().hasContent():
		case bucket:
			for _, r := range t.table().blobRefs(tx) {
				if r.object == nil {
					n++
				}
			}
		default:
			records, countErr := t.Count(tx)
			n, err = n+records, errors.Join(err, countErr)
		}
	}
	return n, err
}

// refersTo returns the number of records that have the blob.
func (s *Schema) refersTo(tx *Tx, d blob.Digest) (n int, err error) {
	for _, t := range s.Tables {
		records, countErr := t.table().refersTo(tx, d)
		n, err = n+records, errors.Join(err, countErr)
	}
	return n, err
}

// haveBlob returns the names of some records that have the blob.
func (s *Schema) haveBlob(tx *Tx, d blob.Digest) (names []string) {
	for _, t := range s.Tables {
		if c := t.table().content; c != nil {
			for id := range c.byDigest.ids(tx, encodeKey(d.String())) {
				if len(names) == maxBlobNames {
					return names
				}
				names = append(names, t.Noun()+" "+id.String())
			}
		}
	}
	return names
}

// maxBlobNames is the maximum number of records with a damaged blob that are named.
const maxBlobNames = 3
