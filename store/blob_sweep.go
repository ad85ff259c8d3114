package store

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	"reeve/store/errs"
)

// What no record refers to is deleted. Whether one does is asked of data.db alone,
// when a blob's turn to be deleted has come, so no count in two files can go wrong.

// guardBlob keeps a blob that is about to be referred to.
func (b *blobs) guardBlob(d Digest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[d]++
}

// unguardBlob lets a blob be judged by what refers to it.
func (b *blobs) unguardBlob(d Digest) {
	b.mu.Lock()
	if b.pending[d]--; b.pending[d] == 0 {
		delete(b.pending, d)
	}
	b.mu.Unlock()
	b.suspect(d)
}

// suspect has a blob looked at that perhaps nothing refers to any more.
func (b *blobs) suspect(ds ...Digest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range ds {
		b.suspects[d] = true
	}
	b.wake()
}

// leave has the chunks in a place deleted.
func (b *blobs) leave(place uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.places = append(b.places, place)
	b.wake()
}

// hold keeps every blob that is there when it returns, until release is called.
func (b *blobs) hold() (release func()) {
	b.mu.Lock()
	b.held++
	b.mu.Unlock()
	// What was judged before is deleted by the time that the writer has come to
	// this; if it refuses, it deletes nothing either.
	b.update(func(*bbolt.Tx) error { return nil })
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held--
		b.wake()
	}
}

// wake has the sweeper look.
func (b *blobs) wake() {
	select {
	case b.nudge <- struct{}{}:
	default: // it is about to look anyway
	}
}

// sweepAgain is when what could not be deleted is tried again.
const sweepAgain = time.Minute

// sweep is the goroutine that deletes.
func (b *blobs) sweep() {
	again := time.NewTicker(sweepAgain)
	defer again.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-b.nudge:
		case <-again.C:
		}
		b.sweepOnce()
	}
}

// sweepOnce deletes what it can; what fails stays for the next time.
func (b *blobs) sweepOnce() {
	b.mu.Lock()
	suspects, places := slices.Collect(maps.Keys(b.suspects)), slices.Clone(b.places)
	b.mu.Unlock()
	for _, d := range suspects {
		if b.stopped() {
			return
		}
		// No suspect from here on, so that what becomes of it while it is judged makes
		// it one again.
		b.setSuspect(d, false)
		place, err := b.judge(d)
		if err != nil {
			b.setSuspect(d, true)
		}
		switch {
		case errs.Is(err, errs.Busy):
			return
		case err == nil && place != 0:
			places = append(places, place)
			b.leave(place)
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

// setSuspect notes whether a blob has yet to be looked at, and wakes nobody.
func (b *blobs) setSuspect(d Digest, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if is {
		b.suspects[d] = true
	} else {
		delete(b.suspects, d)
	}
}

// stopped tells whether the file is being closed.
func (b *blobs) stopped() bool {
	select {
	case <-b.stop:
		return true
	default:
		return false
	}
}

// judge deletes the entry of a blob that nothing refers to and returns the place
// of its chunks; 0 when it stays. It runs in the writer's turn: an upload of the
// same bytes either is pending by now, or finds the entry gone.
func (b *blobs) judge(d Digest) (place uint64, err error) {
	if used, err := b.used(d); used || err != nil {
		return 0, err // the usual case costs no commit
	}
	var size int64
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
		place, size = entry.Place, entry.Size
		return btx.Bucket([]byte(blobBucket)).Delete(d[:])
	})
	if err == nil && place != 0 {
		b.stored.Add(-size)
	}
	return place, err
}

// used tells whether a blob is pending or referred to, asked in this order: an
// upload stores its record before it stops being pending.
func (b *blobs) used(d Digest) (bool, error) {
	b.mu.Lock()
	pending, held := b.pending[d] > 0, b.held > 0
	b.mu.Unlock()
	switch {
	case held:
		return true, errs.New(errs.Busy, "a backup is being taken")
	case pending:
		return true, nil
	}
	return b.referenced(d)
}

// clearStep is how many chunks one commit deletes.
const clearStep = 64

// clear deletes the chunks in a place.
func (b *blobs) clear(place uint64) error {
	for more := true; more; {
		err := b.update(func(btx *bbolt.Tx) error {
			chunks := btx.Bucket([]byte(chunkBucket))
			var names [][]byte
			cursor := chunks.Cursor()
			prefix := placeKey(place)
			for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && len(names) < clearStep; key, _ = cursor.Next() {
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
