package blob

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/errs"
)

// Blobs that no record refers to are deleted. References are looked up in data.db when a blob
// is about to be deleted; there are no reference counts, which could diverge between the two
// files.

// guard keeps a blob from being deleted until unguard: its record is about to be
// stored.
func (b *Store) guard(d Digest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[d]++
}

// unguard undoes guard and makes the sweeper check the blob.
func (b *Store) unguard(d Digest) {
	b.mu.Lock()
	if b.pending[d]--; b.pending[d] == 0 {
		delete(b.pending, d)
		delete(b.sent, d)
	}
	b.mu.Unlock()
	b.Suspect(d)
}

// Suspect makes the sweeper check blobs: those that no record refers to any more are deleted, and those that
// are only objects get an entry, so that they count.
func (b *Store) Suspect(ds ...Digest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range ds {
		b.suspects[d] = true
	}
	b.wake()
}

// discard makes the sweeper delete the chunks in a place.
func (b *Store) discard(place uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.places = append(b.places, place)
	b.wake()
}

// Hold keeps every blob that exists when it returns from being deleted until release is called.
func (b *Store) Hold() (release func()) {
	b.mu.Lock()
	b.held++
	b.mu.Unlock()
	// Jobs run in order: when this one has run, every deletion that was decided before is
	// complete. If the writer refuses it, it deletes nothing either.
	b.update(func(*bbolt.Tx) error { return nil })
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held--
		b.wake()
	}
}

// wake makes the sweeper run.
func (b *Store) wake() {
	select {
	case b.nudge <- struct{}{}:
	default: // a run is already pending
	}
}

// sweepAgain is the interval at which failed deletions are retried.
const sweepAgain = time.Minute

// sweep is the goroutine that deletes unreferenced blobs.
func (b *Store) sweep() {
	again := time.NewTicker(sweepAgain)
	defer again.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-b.nudge:
		case <-again.C:
		}
		b.Sweep()
		b.evict()
	}
}

// Sweep checks all suspects and deletes what it can. The rest stays for the next run.
func (b *Store) Sweep() {
	b.mu.Lock()
	suspects, places := slices.Collect(maps.Keys(b.suspects)), slices.Clone(b.places)
	b.mu.Unlock()
	for _, d := range suspects {
		if b.stopped() {
			return
		}
		// Removed before it is checked, so that a reference removed during the check makes it a
		// suspect again.
		b.setSuspect(d, false)
		place, err := b.deleteUnreferenced(d)
		if err != nil {
			b.setSuspect(d, true)
		}

		switch {
		case errs.Is(err, errs.Busy):
			return
		case err == nil && place != 0:
			places = append(places, place)
			b.discard(place)
		}
	}

	for _, place := range places {
		if b.clear(place) != nil {
			return
		}
		b.mu.Lock()
		b.places = slices.DeleteFunc(b.places, func(p uint64) bool { return p == place })
		b.mu.Unlock()
	}
}

// Pending reports whether a content is kept because its record is about to be stored, or because of a
// backup.
func (b *Store) Pending(d Digest) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending[d] > 0 || b.held > 0
}

// Keep keeps a content from being deleted until release is called.
func (b *Store) Keep(d Digest) (release func()) {
	b.guard(d)
	return func() { b.unguard(d) }
}

// setSuspect adds or removes a suspect without waking the sweeper.
func (b *Store) setSuspect(d Digest, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if is {
		b.suspects[d] = true
	} else {
		delete(b.suspects, d)
	}
}

// stopped reports whether the file is being closed.
func (b *Store) stopped() bool {
	select {
	case <-b.stop:
		return true
	default:
		return false
	}
}

// deleteUnreferenced deletes the entry of a blob that no record refers to. It returns the place of
// its chunks, or 0 if the blob stays. The check runs inside the writer's transaction: an upload of
// the same content is either pending by then, or will find no entry.
func (b *Store) deleteUnreferenced(d Digest) (place uint64, err error) {
	if used, err := b.used(d); used || err != nil {
		if err == nil {
			err = b.learn(d)
		}
		return 0, err // in the usual case no commit is needed
	}

	var deleted Entry
	err = b.update(func(btx *bbolt.Tx) error {
		place = 0
		if used, err := b.used(d); used || err != nil {
			return err
		}

		entry, found, err := b.find(btx, d)
		if err != nil || !found {
			return err
		}

		cursor := btx.Bucket([]byte(thumbBucket)).Cursor()
		var thumbs [][]byte
		for key, _ := cursor.Seek(d[:]); bytes.HasPrefix(key, d[:]); key, _ = cursor.Next() {
			thumbs = append(thumbs, bytes.Clone(key))
		}

		for _, key := range thumbs {
			if err := btx.Bucket([]byte(thumbBucket)).Delete(key); err != nil {
				return err
			}
		}

		place, deleted = entry.Place, entry
		return btx.Bucket([]byte(Bucket)).Delete(d[:])
	})
	if err == nil && place != 0 {
		b.stored.Add(-deleted.Size)
		b.cache.forget(deleted)
	}

	return place, err
}

// used reports whether a blob is pending or a record refers to it. The order matters: an upload
// stores its record before it stops being pending.
func (b *Store) used(d Digest) (bool, error) {
	b.mu.Lock()
	pending, held := b.pending[d] > 0, b.held > 0
	b.mu.Unlock()
	switch {
	case held:
		return true, errs.New(errs.Busy, "a backup is running")
	case pending:
		return true, nil
	}
	return b.options.Referenced(d)
}

// clearStep is the maximum number of chunks that one commit deletes.
const clearStep = 64

// clear deletes the chunks in a place, in steps of clearStep.
func (b *Store) clear(place uint64) error {
	for more := true; more; {
		err := b.update(func(btx *bbolt.Tx) error {
			chunks := btx.Bucket([]byte(ChunkBucket))
			var names [][]byte
			cursor := chunks.Cursor()
			prefix := placeKey(place)
			for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) &&
				len(names) < clearStep; key, _ = cursor.Next() {
				names = append(names, bytes.Clone(key))
			}

			for _, name := range names {
				if err := chunks.DeleteBucket(name); err != nil {
					return err
				}
			}

			more = len(names) == clearStep
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
