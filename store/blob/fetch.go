package blob

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// A content that is an object, too, can lack chunks in the file: they are read from the object when
// they are needed, and stored. It can even lack its entry, after a restore of the records alone.

// chunks returns the numbers of the chunks of a content.
func (e Entry) chunks() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for number := int64(0); number*e.Chunk < e.Size && yield(number); number++ {
		}
	}
}

// length returns the size of a chunk.
func (e Entry) length(number int64) int64 { return min(e.Chunk, e.Size-number*e.Chunk) }

// object returns the object of a content; found is false if it has none, or there is no bucket.
func (b *Store) object(d Digest) (o Object, found bool, err error) {
	if b.options.Remote == nil || b.options.Object == nil {
		return o, false, nil
	}
	return b.options.Object(d)
}

// adopt adds the entry of a content that only an object has. found is false if there is none.
func (b *Store) adopt(d Digest) (entry Entry, found bool, err error) {
	o, found, err := b.object(d)
	if err != nil || !found {
		return entry, false, err
	}
	fresh := Entry{b.place.Add(1), o.Size, ChunkSize}
	payload, err := json.Marshal(fresh)
	if err != nil {
		return entry, false, err
	}
	isNew := false
	err = b.update(func(btx *bbolt.Tx) (err error) {
		isNew = false
		if entry, found, err = b.find(btx, d); found || err != nil {
			return err
		}
		entry, found, isNew = fresh, true, true
		return btx.Bucket([]byte(Bucket)).Put(d[:], disk.Frame(Bucket, d[:], payload))
	})
	if err == nil && isNew {
		b.stored.Add(o.Size)
	}
	return entry, found, err
}

// learn adds the entry of a content that only an object has, if it lacks.
func (b *Store) learn(d Digest) error {
	if b.options.Remote == nil {
		return nil
	}
	known := false
	err := b.view(func(btx *bbolt.Tx) (err error) {
		_, known, err = b.find(btx, d)
		return err
	})
	if err == nil && !known {
		_, _, err = b.adopt(d)
	}
	return err
}

// flight is a chunk that is being fetched.
type flight struct {
	done chan struct{}
	data []byte
	err  error
}

// fetch returns a chunk of a content from its object. found is false if it has none. Unless passing is
// set, the chunk is stored, and stored says whether that was possible.
func (b *Store) fetch(d Digest, entry Entry, number int64, passing bool) (data []byte, stored, found bool, err error) {
	o, found, err := b.object(d)
	if err != nil || !found {
		return nil, false, false, err
	}
	if o.Size != entry.Size {
		return nil, false, true, missing(o, fmt.Errorf("it has a content of %d bytes, not %d", o.Size, entry.Size))
	}
	id := chunkID{entry.Place, number}
	b.mu.Lock()
	running := b.flights[id]
	if running == nil {
		running = &flight{done: make(chan struct{})}
		b.flights[id] = running
		go b.fly(running, id, o, entry)
	}
	b.mu.Unlock()
	<-running.done
	if running.err != nil || passing {
		return running.data, false, true, running.err
	}
	return running.data, b.keep(d, entry, id, running.data) == nil, true, nil
}

// fly fetches a chunk for all readers that wait for it.
func (b *Store) fly(f *flight, id chunkID, o Object, entry Entry) {
	f.data, f.err = b.options.Remote.Read(b.ctx, o, id.number*entry.Chunk, entry.length(id.number))
	b.mu.Lock()
	delete(b.flights, id)
	b.mu.Unlock()
	close(f.done)
}

// keep stores a chunk that was fetched, if there is room, and the content is still in this place.
func (b *Store) keep(d Digest, entry Entry, id chunkID, data []byte) error {
	if b.options.Limits != nil {
		if _, floor := b.options.Limits(); b.roomOnDisk(int64(len(data)), floor) != nil {
			return errNotNow
		}
	}
	name := ChunkName(id.place, id.number)
	value := append(make([]byte, disk.FrameHead, disk.FrameHead+len(data)), data...)
	disk.SealFrame(ChunkBucket, name, value)
	err := b.update(func(btx *bbolt.Tx) error {
		if now, found, err := b.find(btx, d); err != nil || !found || now != entry {
			return errors.Join(err, errNotNow)
		}
		chunk, err := btx.Bucket([]byte(ChunkBucket)).CreateBucketIfNotExists(name)
		if err != nil {
			return err
		}
		return chunk.Put(ChunkKey, value)
	})
	if err != nil {
		return err
	}
	b.cache.add(d, id, int64(len(data)))
	b.nudgeIfFull()
	return nil
}

// nudgeIfFull makes the sweeper delete chunks above the bound.
func (b *Store) nudgeIfFull() {
	if b.cache.full() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wake()
	}
}

// absent returns the numbers of the chunks of a content that are not in the file.
func (b *Store) absent(btx *bbolt.Tx, entry Entry) (numbers []int64) {
	chunks := btx.Bucket([]byte(ChunkBucket))
	for number := range entry.chunks() {
		if chunks.Bucket(ChunkName(entry.Place, number)) == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// Whole reports whether the file has all chunks of a content.
func (b *Store) Whole(d Digest) (whole bool, err error) {
	err = b.view(func(btx *bbolt.Tx) error {
		entry, found, err := b.find(btx, d)
		whole = err == nil && found && len(b.absent(btx, entry)) == 0
		return err
	})
	return whole, err
}

// Send stores a content as an object, unless there is one. The object counts once a record of it is
// stored; see Sent. The caller keeps the content from being deleted. moved is called whenever bytes
// were sent.
func (b *Store) Send(ctx context.Context, d Digest, moved func()) error {
	if b.options.Remote == nil {
		return nil
	}
	ctx, cancel := b.joined(ctx)
	defer cancel()
	o, found, err := b.object(d)
	if err == nil && found {
		if err = b.options.Remote.Check(ctx, o); err == nil {
			b.setSent(d, Sent{Object: o, Known: true})
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	r := &Reader{b: b, digest: d, passing: true}
	if err := r.noted(r.unlessDeleted(r.find(), r.find)); err != nil {
		return err
	}
	sum := sha256.New()
	sent, err := b.options.Remote.Store(ctx, r.Size(), io.TeeReader(r, sum), moved)
	if err != nil {
		return err
	}
	if got := Digest(sum.Sum(nil)); got != d {
		return r.noted(damaged(Bucket, d.String(), fmt.Errorf("its bytes have the SHA-256 %s", got)))
	}
	b.setSent(d, Sent{Object: sent, Replaces: o.Name})
	return nil
}

// setSent keeps the object of a content as long as that is pending.
func (b *Store) setSent(d Digest, s Sent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending[d] > 0 {
		b.sent[d] = s
	}
}

// Sent is the object of a content whose record is about to be stored.
type Sent struct {
	Object
	Known    bool   // whether a row names it already
	Replaces string // name of an object of the same content that is not there; "" for none
}

// Sent returns the object that Send has stored for a content that is kept for an upload.
func (b *Store) Sent(d Digest) (s Sent, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok = b.sent[d]
	return s, ok
}

// Fetch stores all chunks of a content in the file, and keeps them there until release is called.
func (b *Store) Fetch(ctx context.Context, d Digest, moved func()) (release func(), err error) {
	release = b.cache.pin(d)
	defer func() {
		if err != nil {
			release()
		}
	}()
	r := &Reader{b: b, digest: d}
	if err := r.unlessDeleted(r.find(), r.find); err != nil {
		return nil, err
	}
	sum := sha256.New()
	buf := make([]byte, ChunkSize)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := r.Read(buf)
		sum.Write(buf[:n])
		moved()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if r.held != nil {
			return nil, errs.New(errs.Full, "the disk has no room for the contents of files: free disk space")
		}
	}
	if got := Digest(sum.Sum(nil)); got != d {
		return nil, r.noted(damaged(Bucket, d.String(), fmt.Errorf("its bytes have the SHA-256 %s", got)))
	}
	whole, err := b.Whole(d)
	if err == nil && !whole {
		err = errNotNow
	}
	return release, err
}

// Cache adds the chunks of a content that has got an object to the cache, or removes those of one that
// has lost it.
func (b *Store) Cache(d Digest) {
	_, found, err := b.object(d)
	if err != nil {
		return // the next start finds them
	}
	var entry Entry
	var there bool
	lacking := map[int64]bool{}
	err = b.view(func(btx *bbolt.Tx) (err error) {
		if entry, there, err = b.find(btx, d); there {
			for _, number := range b.absent(btx, entry) {
				lacking[number] = true
			}
		}
		return err
	})
	if err != nil || !there {
		return
	}
	if !found {
		b.cache.forget(entry)
		return
	}
	for number := range entry.chunks() {
		if !lacking[number] {
			b.cache.add(d, chunkID{entry.Place, number}, entry.length(number))
		}
	}
	b.nudgeIfFull()
}

// joined returns a context that also ends when the store is closed.
func (b *Store) joined(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.ctx, func() { cancel(errClosing) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
