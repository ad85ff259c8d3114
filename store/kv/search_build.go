package kv

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"

	"reeve/store/disk"
	"reeve/store/trigram"
)

// build builds an index of all texts, one segment per read transaction, so that no transaction is
// open for long. Changes in between are listed: From is the last change before the first step.
func (x *searchIndex) build(generation string) (*indexView, error) {
	_, _, step, _ := x.limits()
	v := &indexView{Generation: generation}
	for last, more, first := ID(0), true, true; more; first = false {
		err := x.db.View(engine{}, func(tx *Tx) error {
			if v.Upto = x.number(tx); first {
				v.From = v.Upto
			}

			var docs []trigram.Doc
			bytes := 0
			more = false
			cursor := tx.bucket(x.bucket).Cursor()
			for key, value := cursor.Seek(idKey(last + 1)); key != nil; key, value = cursor.Next() {
				if more = len(docs) == step || bytes >= indexBytes; more {
					break
				}
				text, err := disk.Unframe(x.bucket, key, value)
				if err != nil || len(key) != 8 {
					return Damaged(x.bucket, keyText(key), err)
				}
				last = ID(binary.BigEndian.Uint64(key))
				docs = append(docs, trigram.Doc{ID: uint64(last), Text: text})
				bytes += len(text)
			}

			return x.write(v, docs)
		})
		if err != nil {
			return nil, err
		}
	}

	return v, nil
}

// add returns a view with new segments for all listed changes that v does not contain.
func (x *searchIndex) add(v *indexView) (*indexView, error) {
	_, _, step, _ := x.limits()
	next := &indexView{Generation: v.Generation, view: slices.Clone(v.view)}
	err := x.db.View(engine{}, func(tx *Tx) error {
		next.From, next.Upto = x.number(tx), x.number(tx)
		var ids []ID
		for id, err := range x.listed(tx, v.From) {
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}

		slices.Sort(ids)
		var docs []trigram.Doc
		bytes := 0
		for _, id := range slices.Compact(ids) {
			doc := trigram.Doc{ID: uint64(id)}
			if value := tx.bucket(x.bucket).Get(idKey(id)); value != nil {
				text, err := disk.Unframe(x.bucket, idKey(id), value)
				if err != nil {
					return Damaged(x.bucket, id.String(), err)
				}
				doc.Text = text
			}
			if len(docs) == step || bytes >= indexBytes {
				if err := x.write(next, docs); err != nil {
					return err
				}
				docs, bytes = nil, 0
			}

			docs, bytes = append(docs, doc), bytes+len(doc.Text)
		}

		return x.write(next, docs)
	})
	return next, err
}

// write writes a segment, adds it to a view that is not in use yet, and merges segments where
// that is due. It returns an error if disk space is low or the database is being closed.
func (x *searchIndex) write(v *indexView, docs []trigram.Doc) error {
	if x.stop() {
		return errors.New("the server is shutting down")
	}
	if len(docs) == 0 {
		return nil
	}

	err := os.MkdirAll(x.dir, 0o700)
	if err == nil {
		err = disk.NeedSpace(x.dir, indexFloor)
	}
	if err != nil {
		return err
	}

	s, err := trigram.Write(x.path(), docs)
	if err != nil {
		return err
	}

	v.view = append(v.view, s)
	if from := v.view.Due(); from < len(v.view) {
		size := v.view[from:].Size()
		if err := disk.NeedSpace(x.dir, 2*size); err != nil {
			return err
		}
		merged, err := trigram.Merge(x.path(), v.view[from:], func() bool { return !x.stop() })
		if err != nil {
			return err
		}
		v.view = append(v.view[:from:from], merged)
	}

	return nil
}
