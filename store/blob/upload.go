package blob

import (
	"context"
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
	maxWaitingChunks = 16 // over all uploads, which limits their memory
	maxAhead         = 3  // chunks of one upload that wait to be written while the next is received
	maxBatch         = 8  // maximum jobs in one commit

	sendBytes = 16 << 20 // bytes after which a file that is filled is written to the disk
)

// job is a change of the files database. run must not fail after its first write.
type job struct {
	run   func(btx *bbolt.Tx) error
	after func() // called when run will not be called any more; nil for none
	err   error
	done  chan struct{}
}

// submit passes a job to the writer. Once done is closed, it is durable or err is set.
func (b *Store) submit(j *job) *job {
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

func (j *job) finish(err error) {
	j.err = err
	if j.after != nil {
		j.after()
	}
	close(j.done)
}

// update submits a job and waits until it is durable.
func (b *Store) update(run func(btx *bbolt.Tx) error) error {
	j := b.submit(&job{run: run})
	<-j.done
	return j.err
}

// write is the goroutine that changes the file. Like the writer of data.db it commits all
// waiting jobs together.
func (b *Store) write() {
	for first := range b.jobs {
		batch := []*job{first}
	more:
		for len(batch) < maxBatch {
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
		b.writing <- struct{}{} // a compaction keeps the writer away while it replaces the file
		b.commit(batch)
		<-b.writing
	}
}

// commit commits a batch of jobs. If it fails, each job is retried on its own.
func (b *Store) commit(batch []*job) {
	var err error
	if _, reason := b.Failed.Since(); reason != nil {
		err = reason
	} else if err = b.tryCommit(batch); err != nil && len(batch) > 1 {
		for _, j := range batch { // each on its own, so that only the cause fails
			b.commit([]*job{j})
		}
		return
	}
	for _, j := range batch {
		j.finish(err)
	}
}

// tryCommit runs the jobs in one transaction. A failure to write stops all further writes, except
// on a full disk.
func (b *Store) tryCommit(batch []*job) error {
	return disk.RecoverDamage(b.path, func() error {
		btx, err := b.bolt.Begin(true)
		if err != nil {
			return err
		}
		defer btx.Rollback() // no effect after a commit
		for _, j := range batch {
			if err := j.run(btx); err != nil {
				return err
			}
		}
		if err := disk.RecoverDamage(b.path, btx.Commit); err != nil {
			return b.Failed.StopUnlessFull(FileName, err)
		}
		if b.unsent += len(batch) * ChunkSize; b.file != nil && b.unsent > sendBytes {
			disk.StartWriting(b.file)
			b.unsent = 0
		}
		return nil
	})
}

// Upload receives the content of a new blob: Write appends to it, Finish makes it durable, and
// Release must be called when the record that refers to it is stored or never will be.
type Upload struct {
	Done func(size int64, began time.Time) // called when the content is durable; nil for none

	b      *Store
	place  uint64
	number int64 // number of chunks that were submitted
	sum    hash.Hash
	size   int64
	buf    []byte // frame of the current chunk; its header is filled in by flush
	ahead  []*job
	digest Digest
	state  uploadState
	began  time.Time
}

type uploadState int

const (
	uploading uploadState = iota
	finished
	released
)

// Upload starts an upload. The caller must call Release.
func (b *Store) Upload() *Upload {
	return &Upload{b: b, place: b.place.Add(1), sum: sha256.New(), began: time.Now()}
}

// chunkBuffers are reused: a buffer holds a frame with a whole chunk, about 1 MiB.
var chunkBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, disk.FrameHead+ChunkSize)
	return &b
}}

// Size returns the number of bytes written so far.
func (u *Upload) Size() int64 { return u.size }

// Digest returns the digest of the bytes written so far.
func (u *Upload) Digest() Digest { return Digest(u.sum.Sum(nil)) }

// Write appends p. It blocks while the disk is slower than the client, and returns Full before
// the quota or the disk is exhausted.
func (u *Upload) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if u.buf == nil {
			if err := u.b.Room(ChunkSize); err != nil {
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

// flush submits the current chunk.
func (u *Upload) flush() error {
	if len(u.ahead) == maxAhead {
		if err := u.wait(1); err != nil {
			return err
		}
	}

	name, value := ChunkName(u.place, u.number), u.buf
	disk.SealFrame(ChunkBucket, name, value)
	u.buf = nil
	u.number++
	u.b.slots <- struct{}{}
	u.b.coming.Add(int64(len(value) - disk.FrameHead))
	u.ahead = append(u.ahead, u.b.submit(&job{
		run: func(btx *bbolt.Tx) error {
			chunk, err := btx.Bucket([]byte(ChunkBucket)).CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			return chunk.Put(ChunkKey, value)
		},
		after: func() {
			<-u.b.slots
			chunkBuffers.Put(&value)
		},
	}))

	return nil
}

// wait waits until the first n submitted chunks are durable.
func (u *Upload) wait(n int) error {
	var err error
	for _, j := range u.ahead[:n] {
		<-j.done
		err = errors.Join(err, j.err)
	}
	u.ahead = u.ahead[n:]
	if e := errs.Of(err); err != nil && e.Kind == errs.Full {
		return e // one error, however many chunks failed
	}
	return err
}

// Finish makes the content durable and returns its digest. The blob is kept until Release, even
// if no record refers to it.
func (u *Upload) Finish() (Digest, error) {
	if len(u.buf) > disk.FrameHead {
		if err := u.flush(); err != nil {
			return Digest{}, err
		}
	}
	if err := u.wait(len(u.ahead)); err != nil {
		return Digest{}, err
	}

	u.digest = u.Digest()
	u.b.guard(u.digest)
	payload, err := json.Marshal(Entry{u.place, u.size, ChunkSize})
	if err != nil {
		return Digest{}, err
	}

	isNew, old := false, Entry{}
	err = u.b.update(func(btx *bbolt.Tx) error {
		bucket := btx.Bucket([]byte(Bucket))
		entry, found, err := u.b.find(btx, u.digest)
		isNew, old = !found || err != nil, Entry{} // a damaged entry is useless: the new one replaces it
		if !isNew && len(u.b.absent(btx, entry)) == 0 {
			return nil // the content is already stored
		}
		if !isNew {
			old = entry // some of it is in the bucket at best
		}
		return bucket.Put(u.digest[:], disk.Frame(Bucket, u.digest[:], payload))
	})
	if err != nil {
		u.b.unguard(u.digest)
		return Digest{}, err
	}

	u.state = finished
	if u.Done != nil {
		u.Done(u.size, u.began)
	}

	u.b.coming.Add(-u.size)
	switch {
	case isNew:
		u.b.stored.Add(u.size)
	case old != Entry{}:
		u.b.cache.forget(old)
		u.b.discard(old.Place)
	default:
		u.b.discard(u.place)
	}

	return u.digest, nil
}

// Send stores the content as an object, too, if there is a bucket for contents. It is called after
// Finish, and before the record is stored, which takes the object. moved is called whenever bytes were
// sent.
func (u *Upload) Send(ctx context.Context, moved func()) error { return u.b.Send(ctx, u.digest, moved) }

// Release ends the upload. The content is deleted if Finish did not succeed or no record refers
// to it. Release can be called more than once.
func (u *Upload) Release() {
	switch u.state {
	case finished:
		if u.b.options.Remote != nil {
			u.b.Cache(u.digest)
		}
		u.b.unguard(u.digest)
	case uploading:
		u.wait(len(u.ahead)) // only for them to end: the chunks are deleted, written or not
		u.b.coming.Add(-min(u.size, u.number*ChunkSize))
		u.b.discard(u.place)
	}
	u.state = released
}
