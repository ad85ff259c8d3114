package store

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"reeve/store/disk"
	"reeve/store/errs"
)

const (
	maxWaitingChunks = 16 // over all uploads: what bounds their memory
	maxAhead         = 3  // chunks of one upload that wait while the next one is read
	maxBlobBatch     = 8  // jobs in one commit
)

// blobJob is a change of the file. It must not fail after it has written.
type blobJob struct {
	run   func(btx *bbolt.Tx) error
	after func() // once run is no longer needed; nil for nothing
	err   error
	done  chan struct{}
}

// submit hands a change to the writer; it is durable once done is closed.
func (b *blobs) submit(j *blobJob) *blobJob {
	j.done = make(chan struct{})
	b.gate.RLock()
	defer b.gate.RUnlock()
	if b.closed {
		j.finish(errs.New(errs.Busy, "the server is shutting down"))
		return j
	}
	b.jobs <- j
	return j
}

func (j *blobJob) finish(err error) {
	j.err = err
	if j.after != nil {
		j.after()
	}
	close(j.done)
}

func (b *blobs) update(run func(btx *bbolt.Tx) error) error {
	j := b.submit(&blobJob{run: run})
	<-j.done
	return j.err
}

// write is the goroutine that changes the file: like the one of data.db, it takes
// what waits and commits it together.
func (b *blobs) write() {
	for first := range b.jobs {
		batch := []*blobJob{first}
	more:
		for len(batch) < maxBlobBatch {
			select {
			case j, open := <-b.jobs:
				if !open {
					break more
				}
				batch = append(batch, j)
			default:
				break more
			}
		}
		b.commit(batch)
	}
}

func (b *blobs) commit(batch []*blobJob) {
	var err error
	if _, reason := b.failed.since(); reason != nil {
		err = reason
	} else if err = b.attempt(batch); err != nil && len(batch) > 1 {
		for _, j := range batch { // each for itself, to refuse only the cause
			b.commit([]*blobJob{j})
		}
		return
	}
	for _, j := range batch {
		j.finish(err)
	}
}

func (b *blobs) attempt(batch []*blobJob) error {
	return disk.RecoverDamage(b.path, func() error {
		btx, err := b.bolt.Begin(true)
		if err != nil {
			return err
		}
		defer btx.Rollback() // after a commit it does nothing
		for _, j := range batch {
			if err := j.run(btx); err != nil {
				return err
			}
		}
		if err := disk.RecoverDamage(b.path, btx.Commit); err != nil {
			return stopUnlessFull(&b.failed, blobsName, err)
		}
		return nil
	})
}

// Upload is a blob in the making: bytes are written to it, Finish makes them
// durable, and Release says that what refers to them is stored, or never will be.
type Upload struct {
	b      *blobs
	place  uint64
	number int64 // of chunks handed over
	sum    hash.Hash
	size   int64
	buf    []byte // a frame whose head is filled in when it is full
	ahead  []*blobJob
	digest Digest
	state  uploadState
	watch  *Watch // nil for none
	began  time.Time
}

type uploadState int

const (
	uploading uploadState = iota
	finished
	released
)

func (b *blobs) upload() *Upload {
	return &Upload{b: b, place: b.place.Add(1), sum: sha256.New(), began: time.Now()}
}

var chunkBuffers = sync.Pool{New: func() any { b := make([]byte, 0, disk.FrameHead+chunkSize); return &b }}

// Size is how many bytes were written.
func (u *Upload) Size() int64 { return u.size }

// Write takes the next bytes. It waits while the disk is behind, and fails with
// Full before the disk is.
func (u *Upload) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if u.buf == nil {
			if err := u.b.room(chunkSize); err != nil {
				return n, err
			}
			u.buf = (*chunkBuffers.Get().(*[]byte))[:disk.FrameHead]
		}
		part := p[:min(len(p), cap(u.buf)-len(u.buf))]
		u.buf = append(u.buf, part...)
		u.sum.Write(part)
		u.size += int64(len(part))
		n, p = n+len(part), p[len(part):]
		if len(u.buf) == cap(u.buf) {
			if err := u.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// flush hands the chunk over to be written.
func (u *Upload) flush() error {
	if len(u.ahead) == maxAhead {
		if err := u.wait(1); err != nil {
			return err
		}
	}
	name, value := chunkName(u.place, u.number), u.buf
	disk.SealFrame(chunkBucket, name, value)
	u.buf = nil
	u.number++
	u.b.slots <- struct{}{}
	u.b.coming.Add(int64(len(value) - disk.FrameHead))
	u.ahead = append(u.ahead, u.b.submit(&blobJob{
		run: func(btx *bbolt.Tx) error {
			chunk, err := btx.Bucket([]byte(chunkBucket)).CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			return chunk.Put(chunkKey, value)
		},
		after: func() {
			<-u.b.slots
			chunkBuffers.Put(&value)
		},
	}))
	return nil
}

// wait lets the first n chunks that were handed over become durable.
func (u *Upload) wait(n int) error {
	var err error
	for _, j := range u.ahead[:n] {
		<-j.done
		err = errors.Join(err, j.err)
	}
	u.ahead = u.ahead[n:]
	if e := errs.Of(err); err != nil && e.Kind == errs.Full {
		return e // once, however many chunks it has hit
	}
	return err
}

// Finish makes the bytes durable and returns their digest. The blob stays, even
// when nothing refers to it, until Release.
func (u *Upload) Finish() (Digest, error) {
	if len(u.buf) > disk.FrameHead {
		if err := u.flush(); err != nil {
			return Digest{}, err
		}
	}
	if err := u.wait(len(u.ahead)); err != nil {
		return Digest{}, err
	}
	u.digest = Digest(u.sum.Sum(nil))
	u.b.guardBlob(u.digest)
	payload, err := json.Marshal(blobEntry{u.place, u.size, chunkSize})
	if err != nil {
		return Digest{}, err
	}
	isNew := false
	err = u.b.update(func(btx *bbolt.Tx) error {
		bucket := btx.Bucket([]byte(blobBucket))
		_, found, err := u.b.find(btx, u.digest)
		if isNew = !found || err != nil; !isNew { // an entry that is damaged leads nowhere: this one mends it
			return nil // the same bytes are there already
		}
		return bucket.Put(u.digest[:], disk.Frame(blobBucket, u.digest[:], payload))
	})
	if err != nil {
		u.b.unguardBlob(u.digest)
		return Digest{}, err
	}
	u.state = finished
	u.watch.blob("PUT blob", "write", u.size, u.began)
	u.b.coming.Add(-u.size)
	if isNew {
		u.b.stored.Add(u.size)
	} else {
		u.b.leave(u.place)
	}
	return u.digest, nil
}

// Release ends the upload. The bytes go if they were not finished, or if no
// record refers to them by now. It may be called more than once.
func (u *Upload) Release() {
	switch u.state {
	case finished:
		u.b.unguardBlob(u.digest)
	case uploading:
		u.wait(len(u.ahead)) // whatever came of them, they go
		u.b.coming.Add(-min(u.size, u.number*chunkSize))
		u.b.leave(u.place)
	}
	u.state = released
}
