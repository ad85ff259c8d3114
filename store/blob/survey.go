package blob

import (
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"
)

// survey reads the totals, marks every blob as a suspect and collects the chunks to delete. It
// runs before the first upload, when every chunk without a blob entry is left over from an
// interrupted one.
func (b *Store) survey() error {
	return b.view(func(btx *bbolt.Tx) error {
		taken, unclear := map[uint64]bool{}, false
		cached := map[uint64]cachedEntry{}
		cursor := btx.Bucket([]byte(Bucket)).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			entry, err := DecodeEntry(key, value)
			if err != nil {
				unclear = true
				if len(key) == len(Digest{}) {
					b.note(Digest(key), err)
				}
				continue
			}
			taken[entry.Place] = true
			b.stored.Add(entry.Size)
			b.suspects[Digest(key)] = true
			if _, found, err := b.object(Digest(key)); err != nil {
				return err
			} else if found {
				cached[entry.Place] = cachedEntry{entry, Digest(key)}
			}
		}

		last := uint64(0)
		cursor = btx.Bucket([]byte(ChunkBucket)).Cursor()
		for key, _ := cursor.First(); key != nil; key, _ = cursor.Seek(placeKey(last + 1)) {
			for ; key != nil && len(key) != ChunkNameSize; key, _ = cursor.Next() {
				unclear = true // it may be the remains of a chunk; verify reports it
			}
			if key == nil {
				break
			}
			last = binary.BigEndian.Uint64(key)
			if !taken[last] && !unclear { // else these may be the chunks of a damaged entry, and the only copy
				b.places = append(b.places, last)
			}
			b.surveyCached(btx, cached[last])
		}

		b.place.Store(last)
		for place := range taken {
			b.place.Store(max(b.place.Load(), place))
		}

		b.wake()
		return nil
	})
}

// cachedEntry is the entry of a content that has an object.
type cachedEntry struct {
	Entry
	digest Digest
}

// surveyCached adds the chunks of a content that has an object to the cache.
func (b *Store) surveyCached(btx *bbolt.Tx, e cachedEntry) {
	if e.Place == 0 {
		return
	}
	lacking := b.absent(btx, e.Entry)
	for number := range e.chunks() {
		if !slices.Contains(lacking, number) {
			b.cache.add(e.digest, chunkID{e.Place, number}, e.length(number))
		}
	}
}
