package blob

import (
	"container/list"
	"errors"
	"io/fs"
	"sync"

	"go.etcd.io/bbolt"
)

// Chunks of contents that are objects, too, are a cache: the least recently used ones are deleted when
// there are more bytes than the bound.

// chunkID is the place and the number of a chunk. No place is ever used twice.
type chunkID struct {
	place  uint64
	number int64
}

// cachedChunk is a chunk that can be read from an object when it was deleted.
type cachedChunk struct {
	id     chunkID
	digest Digest
	bytes  int64
}

// cache knows the chunks in the file that an object has, too. Its order is lost at a stop; then the
// older uploads come first.
type cache struct {
	bound int64

	mu     sync.Mutex
	bytes  int64
	order  list.List // cachedChunks, the most recently used first
	chunks map[chunkID]*list.Element
	pinned map[Digest]int // contents that are about to lose their object
	frozen int            // compactions that rely on the chunks
}

// leastCached is what a small chunk counts, which takes that much space and memory.
const leastCached = 4 << 10

func newCache(bound int64) *cache {
	return &cache{bound: bound, chunks: map[chunkID]*list.Element{}, pinned: map[Digest]int{}}
}

// add adds a chunk that is in the file, or marks it as used.
func (c *cache) add(d Digest, id chunkID, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.chunks[id]; e != nil {
		c.order.MoveToFront(e)
		return
	}
	bytes = max(bytes, leastCached)
	c.chunks[id] = c.order.PushFront(cachedChunk{id, d, bytes})
	c.bytes += bytes
}

// used marks a chunk as used, if it is in the cache.
func (c *cache) used(id chunkID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.chunks[id]; e != nil {
		c.order.MoveToFront(e)
	}
}

// remove forgets a chunk.
func (c *cache) remove(id chunkID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.chunks[id]; e != nil {
		c.bytes -= e.Value.(cachedChunk).bytes
		c.order.Remove(e)
		delete(c.chunks, id)
	}
}

// forget forgets the chunks of a content of size bytes.
func (c *cache) forget(e Entry) {
	for number := range e.chunks() {
		c.remove(chunkID{e.Place, number})
	}
}

// full reports whether there are more bytes than the bound.
func (c *cache) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes > c.bound
}

// oldest returns up to n of the least recently used chunks of one content that exceed the bound.
func (c *cache) oldest(n int) (few []cachedChunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen > 0 {
		return nil
	}
	over := c.bytes - c.bound
	for e := c.order.Back(); e != nil && over > 0 && len(few) < n; e = e.Prev() {
		chunk := e.Value.(cachedChunk)
		if c.pinned[chunk.digest] > 0 {
			continue
		}
		if len(few) > 0 && chunk.digest != few[0].digest {
			break
		}
		few, over = append(few, chunk), over-chunk.bytes
	}
	return few
}

// pin keeps the chunks of a content until unpin is called.
func (c *cache) pin(d Digest) (unpin func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinned[d]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pinned[d]--; c.pinned[d] == 0 {
			delete(c.pinned, d)
		}
	}
}

func (c *cache) isPinned(d Digest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pinned[d] > 0 || c.frozen > 0
}

// Freeze keeps all chunks until release is called.
func (b *Store) Freeze() (release func()) {
	b.cache.mu.Lock()
	b.cache.frozen++
	b.cache.mu.Unlock()
	b.update(func(*bbolt.Tx) error { return nil }) // after it, every deletion that was decided before is complete
	return func() {
		b.cache.mu.Lock()
		b.cache.frozen--
		b.cache.mu.Unlock()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wake()
	}
}

// evict deletes the least recently used chunks above the bound. Before it deletes any of a content, it
// asks the bucket whether the object is there.
func (b *Store) evict() {
	if b.options.Remote == nil {
		return
	}
	for b.cache.full() && !b.stopped() {
		few := b.cache.oldest(clearStep)
		if len(few) == 0 {
			return
		}
		d := few[0].digest
		o, found, err := b.options.Object(d)
		if err == nil && found {
			err = b.options.Remote.Check(b.ctx, o)
		}
		switch {
		case err == nil && found:
			if b.deleteCached(d, o, few) != nil {
				return
			}
		case err == nil, errors.Is(err, fs.ErrNotExist):
			if err != nil {
				b.note(d, missing(o, errors.New("it is not there; the content is still in "+FileName)))
			}
			for _, chunk := range few { // they are the only copy
				b.cache.remove(chunk.id)
			}
		default:
			return // the bucket does not answer: the next run tries again
		}
	}
}

// deleteCached deletes chunks of a content, if it still has the object.
func (b *Store) deleteCached(d Digest, o Object, few []cachedChunk) error {
	deleted := false
	err := b.update(func(btx *bbolt.Tx) error {
		deleted = false
		now, found, err := b.options.Object(d)
		if err != nil || !found || now.Name != o.Name || b.cache.isPinned(d) {
			return err
		}
		chunks := btx.Bucket([]byte(ChunkBucket))
		for _, chunk := range few {
			name := ChunkName(chunk.id.place, chunk.id.number)
			if chunks.Bucket(name) == nil {
				continue
			}
			if err := chunks.DeleteBucket(name); err != nil {
				return err
			}
		}
		deleted = true
		return nil
	})
	if err == nil && !deleted {
		err = errNotNow
	}
	if err != nil {
		return err
	}
	for _, chunk := range few {
		b.cache.remove(chunk.id)
	}
	return nil
}

// errNotNow is the error of a deletion that has to wait.
var errNotNow = errors.New("the content is in use")

// Cached returns the bytes of chunks that objects have, too, and their bound.
func (b *Store) Cached() (bytes, bound int64) {
	b.cache.mu.Lock()
	defer b.cache.mu.Unlock()
	return b.cache.bytes, b.cache.bound
}
