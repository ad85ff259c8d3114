package kv

import (
	"context"
	"slices"
	"time"

	"reeve/store/blob"
)

// Contents are moved to the bucket and back in steps: first their bytes, outside of a transaction, then
// their rows in one.

// MovableContent is a content that can be moved.
type MovableContent struct {
	Digest blob.Digest
	Size   int64 // 0 if the record does not store it
}

// MovableContents returns the contents of files: all of them to move them to the bucket, where the ones
// that are there are only looked for, and those in the bucket to move them back.
func (db *DB) MovableContents(toBucket bool) (all []MovableContent, err error) {
	seen := map[blob.Digest]bool{}
	err = db.View(engine{}, func(tx *Tx) error {
		for _, r := range db.schema.blobRefs(tx) {
			if seen[r.digest] || !toBucket && r.object == nil {
				continue
			}
			seen[r.digest] = true
			all = append(all, MovableContent{r.digest, max(0, r.size)})
		}
		return nil
	})
	return all, err
}

// HasBucket reports whether there is a bucket for the contents of files.
func (db *DB) HasBucket() bool { return db.options.Files != nil }

// FillBucket stores the contents of records that the bucket lacks, and the rows of their objects. missing are
// those that can't be read here either.
func (db *DB) FillBucket(ctx context.Context) (missing []blob.Digest, err error) {
	there := map[string]int64{}
	err = db.keeper.remote.Walk(ctx, func(name string, size int64, _ time.Time) error {
		there[name] = size
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = db.View(engine{}, func(tx *Tx) error {
		seen := map[blob.Digest]bool{}
		for _, r := range db.schema.blobRefs(tx) {
			if seen[r.digest] {
				continue
			}
			seen[r.digest] = true
			if size, has := int64(0), false; r.object != nil {
				if size, has = there[r.object.Name]; has && size == r.object.Bytes {
					continue
				}
			}
			missing = append(missing, r.digest)
		}
		return nil
	})
	all := missing
	missing = nil
	for done := 0; done < len(all) && err == nil; done += fillSize {
		step := all[done:min(len(all), done+fillSize)]
		var sent []blob.Digest
		sent, err = db.fillStep(ctx, step)
		for _, d := range step {
			if !slices.Contains(sent, d) {
				missing = append(missing, d)
			}
		}
		db.options.progress("store contents of files", int64(done+len(step)), int64(len(all)))
	}
	return missing, err
}

// fillSize is the number of contents whose rows are stored in one commit.
const fillSize = 100

func (db *DB) fillStep(ctx context.Context, ds []blob.Digest) ([]blob.Digest, error) {
	sent, release, err := db.SendContents(ctx, ds)
	if err != nil {
		return nil, err
	}
	defer release()
	return sent, db.Update(engine{}, func(tx *Tx) error { return tx.ClaimObjects(sent) })
}

// SendContents stores contents in the bucket, unless it has them. Then ClaimObjects makes their rows.
// done are those that the bucket has, without those that can't be read or were deleted. release must be
// called after the transaction.
func (db *DB) SendContents(ctx context.Context, ds []blob.Digest) (done []blob.Digest, release func(), err error) {
	return db.moveContents(ds, func(b *blob.Store, d blob.Digest) (func(), error) {
		release := b.Keep(d)
		return release, b.Send(ctx, d, func() {})
	})
}

// FetchContents stores contents of the bucket in files.db, and keeps them there until release is called.
// Then DropObjects makes the bucket lose them. done are those that are in files.db, without those that
// can't be read or were deleted.
func (db *DB) FetchContents(ctx context.Context, ds []blob.Digest) (done []blob.Digest, release func(), err error) {
	return db.moveContents(ds, func(b *blob.Store, d blob.Digest) (func(), error) {
		return b.Fetch(ctx, d, func() {})
	})
}

func (db *DB) moveContents(ds []blob.Digest, move func(*blob.Store, blob.Digest) (func(), error)) (done []blob.Digest, release func(), err error) {
	b, err := db.files.open()
	if err != nil {
		return nil, nil, err
	}
	var kept []func()
	release = func() {
		for _, d := range ds {
			b.Cache(d)
		}
		for _, fn := range kept {
			fn()
		}
	}
	for _, d := range ds {
		keep, err := move(b, d)
		if keep != nil {
			kept = append(kept, keep)
		}
		switch {
		case err == nil:
			done = append(done, d)
		case IsDamage(err) || isMissing(err): // the health report names damage
			db.noteBlob(d, err)
		default:
			release()
			return nil, nil, err
		}
	}
	return done, release, nil
}

// ClaimObjects stores the rows of objects of SendContents, for the contents that records have.
func (tx *Tx) ClaimObjects(ds []blob.Digest) error {
	for _, d := range ds {
		n, err := tx.db.schema.refersTo(tx, d)
		if err == nil && n > 0 {
			err = tx.claimObject(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DropObjects makes contents of FetchContents independent of their objects, which are deleted later.
func (tx *Tx) DropObjects(ds []blob.Digest) error {
	for _, d := range ds {
		o, err := tx.objectOf(d)
		if err == nil && o != nil {
			err = tx.setObject(o, func(o *StoredObject) {
				o.SHA256, o.ReleasedAt = "", tx.now
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
