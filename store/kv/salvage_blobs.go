package kv

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"reeve/store/blob"
	"reeve/store/disk"
)

// blobSalvage searches a damaged files.db for the content of files. A chunk is proved by its
// checksum and a file by its digest, so the age of the page that leads to it does not matter.
type blobSalvage struct {
	pages    *loosePages
	entries  map[blob.Digest][]blob.Entry
	chunks   map[string][]chunkPlace // locations of each chunk, by its name
	orphans  map[int64][]int64       // pages with a single value, by its length
	searched bool
}

// chunkPlace is a possible location of a chunk: on the root page of its bucket, or inside the
// page that has its name.
type chunkPlace struct{ root, within int64 }

// copyBlobs copies the content of all files that have records, and drops the records of those
// whose content is lost.
func (s *Salvaging) copyBlobs() error {
	var refs []blobRef
	if err := s.db.View(engine{}, func(tx *Tx) error {
		refs = tx.db.schema.blobRefs(tx)
		tx.findObjects(refs)
		return nil
	}); err != nil {
		return err
	}

	pages, roots, err := openLoose(filepath.Join(s.dir, blob.FileName), blob.PageSize)
	if errors.Is(err, fs.ErrNotExist) {
		return s.dropLost(refs, nil)
	}
	if err != nil {
		return err
	}

	b := &blobSalvage{
		pages:   pages,
		entries: map[blob.Digest][]blob.Entry{},
		chunks:  map[string][]chunkPlace{},
		orphans: map[int64][]int64{},
	}
	b.readTree(roots)
	copied, err := s.fillBlobs(b, refs)
	if err = errors.Join(err, pages.f.Close()); err != nil {
		return err
	}

	return s.dropLost(refs, copied)
}

// findObjects sets the objects of contents, without an index, which a salvage builds last.
func (tx *Tx) findObjects(refs []blobRef) {
	if !tx.db.schema.hasObjects() {
		return
	}
	all := map[string]blob.Object{}
	for o, err := range Objects.All(tx) {
		if err == nil && o.SHA256 != "" { // a damaged one is not salvaged
			all[o.SHA256] = o.blob()
		}
	}
	for i := range refs {
		if o, found := all[refs[i].digest.String()]; found {
			refs[i].object = &o
		}
	}
}

// fillBlobs copies the content of refs to a new files database and returns the digests it has
// copied. It searches pages outside the trees only if the trees do not lead to all.
func (s *Salvaging) fillBlobs(b *blobSalvage, refs []blobRef) (copied map[blob.Digest]bool, err error) {
	out, err := blob.Fill(filepath.Join(s.to, blob.FileName), s.db.instance)
	if err != nil {
		return nil, err
	}

	copied = map[blob.Digest]bool{}
	pass := func() error {
		for _, r := range refs {
			if copied[r.digest] {
				continue
			}
			entry, found := b.find(r.digest)
			if !found {
				continue
			}
			if err := b.copy(entry, r.digest, out); err != nil {
				return err
			}
			copied[r.digest] = true
		}
		return nil
	}
	err = pass()
	if err == nil && slices.ContainsFunc(refs, func(r blobRef) bool { return !copied[r.digest] && r.object == nil }) {
		if err = b.search(); err == nil {
			err = pass()
		}
	}

	return copied, errors.Join(err, out.Close())
}

// dropLost drops the records of files whose content was not copied.
func (s *Salvaging) dropLost(refs []blobRef, copied map[blob.Digest]bool) error {
	return s.write(func(tx *Tx) error {
		for _, r := range refs {
			if copied[r.digest] || r.object != nil { // or it is in the bucket
				continue
			}
			s.Lost("%s %d: its bytes, %s", r.of.Noun(), r.id, r.digest)
			if err := tx.delete(r.of.Name(), idKey(r.id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readTree records the entries and chunks in the trees of the sound meta pages.
func (b *blobSalvage) readTree(roots []disk.Meta) {
	nothing := func(keyRange, error) {}
	for _, m := range roots {
		b.pages.seen = map[int64]bool{}
		buckets := map[string]leafItem{}
		b.pages.tree(int64(m.Root), keyRange{}, 0, func(e leafItem) {
			buckets[string(e.key)] = e
		}, nothing)
		b.pages.bucket(buckets[blob.Bucket], b.note, nothing)
		b.pages.bucket(buckets[blob.ChunkBucket], b.note, nothing)
	}
	b.pages.seen = map[int64]bool{} // so that search reads these pages, too: so far only names are known
}

// search records the entries and chunks on all pages.
func (b *blobSalvage) search() error {
	b.searched = true
	return b.pages.others(b.note)
}

// note records an entry or chunk.
func (b *blobSalvage) note(e leafItem) {
	switch {
	case e.bucket && len(e.key) == blob.ChunkNameSize && len(e.value) >= disk.BucketHead:
		at := chunkPlace{int64(binary.LittleEndian.Uint64(e.value)), e.page}
		if places := b.chunks[string(e.key)]; !slices.Contains(places, at) {
			b.chunks[string(e.key)] = append(places, at)
		}
	case e.bucket: // an inline bucket of entries or chunks
		b.pages.inline(e, func(inner leafItem) {
			inner.page = e.page
			b.note(inner)
		}, func(keyRange, error) {})
	case len(e.key) == len(blob.Digest{}):
		if entry, err := blob.DecodeEntry(e.key, e.value); err == nil &&
			!slices.Contains(b.entries[blob.Digest(e.key)], entry) {
			b.entries[blob.Digest(e.key)] = append(b.entries[blob.Digest(e.key)], entry)
		}
	case b.searched && string(e.key) == string(blob.ChunkKey) && e.page > 0:
		b.orphans[int64(len(e.value))] = append(b.orphans[int64(len(e.value))], e.page)
	}
}

// find returns an entry from which the whole content with a digest can be read.
func (b *blobSalvage) find(d blob.Digest) (blob.Entry, bool) {
	for _, entry := range b.entries[d] {
		if b.hash(entry) == d {
			return entry, true
		}
	}
	if !b.searched {
		return blob.Entry{}, false
	}
	for _, place := range b.places() { // the entry is lost, but the chunks are not
		if entry, ok := b.guess(place); ok && b.hash(entry) == d {
			return entry, true
		}
	}
	return blob.Entry{}, false
}

// places returns the places of all known chunks.
func (b *blobSalvage) places() []uint64 {
	places := map[uint64]bool{}
	for name := range b.chunks {
		places[binary.BigEndian.Uint64([]byte(name))] = true
	}
	return slices.Sorted(maps.Keys(places))
}

// guess returns an entry for the chunks in a place.
func (b *blobSalvage) guess(place uint64) (blob.Entry, bool) {
	entry := blob.Entry{Place: place, Chunk: blob.ChunkSize}
	for number := int64(0); ; number++ {
		if len(b.chunks[string(blob.ChunkName(place, number))]) == 0 {
			return entry, number > 0
		}
		data, ok := b.chunk(place, number, -1)
		if !ok {
			return entry, false
		}
		if entry.Size += int64(len(data)); len(data) < blob.ChunkSize {
			return entry, true
		}
	}
}

// hash returns the digest of the content of an entry; zero if some of it cannot be
// read.
func (b *blobSalvage) hash(entry blob.Entry) blob.Digest {
	sum := sha256.New()
	if b.each(entry, sum) != nil {
		return blob.Digest{}
	}
	return blob.Digest(sum.Sum(nil))
}

// each writes the content of an entry to w, chunk by chunk.
func (b *blobSalvage) each(entry blob.Entry, w io.Writer) error {
	for number := int64(0); number*entry.Chunk < entry.Size; number++ {
		data, ok := b.chunk(entry.Place, number, min(entry.Chunk, entry.Size-number*entry.Chunk))
		if !ok {
			return fmt.Errorf("chunk %d of place %d is lost", number, entry.Place)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// chunk returns the content of a chunk of size bytes; size is -1 if that is unknown.
func (b *blobSalvage) chunk(place uint64, number, size int64) ([]byte, bool) {
	name := blob.ChunkName(place, number)
	sound := func(value []byte) ([]byte, bool) {
		payload, err := disk.Unframe(blob.ChunkBucket, name, value)
		return payload, err == nil && (size < 0 || int64(len(payload)) == size)
	}
	for _, at := range b.chunks[string(name)] {
		if payload, ok := sound(b.valueAt(at, name)); ok {
			return payload, true
		}
	}

	if size >= 0 {
		for _, page := range b.orphans[size+disk.FrameHead] {
			if payload, ok := sound(b.valueAt(chunkPlace{root: page}, name)); ok {
				return payload, true
			}
		}
	}

	return nil, false
}

// valueAt returns the only value in the bucket of a chunk; nil if it cannot be read.
func (b *blobSalvage) valueAt(at chunkPlace, name []byte) (value []byte) {
	id := at.root
	if id == 0 {
		id = at.within
	}

	page, err := b.pages.page(id)
	if err != nil {
		return nil
	}

	items, _ := b.pages.leaf(page, id*b.pages.pageSize)
	var look func(e leafItem)
	look = func(e leafItem) {
		switch {
		case at.root != 0 && !e.bucket && string(e.key) == string(blob.ChunkKey):
			value = e.value
		case at.root == 0 && e.bucket && string(e.key) == string(name):
			b.pages.inline(e, func(inner leafItem) {
				value = inner.value
			}, func(keyRange, error) {})
		case at.root == 0 && e.bucket:
			b.pages.inline(e, look, func(keyRange, error) {})
		}
	}
	for _, e := range items {
		look(e)
	}

	return value
}

// copy stores the content of an entry in the new files database.
func (b *blobSalvage) copy(entry blob.Entry, want blob.Digest, out *blob.Store) error {
	u := out.Upload()
	defer u.Release()
	if err := b.each(entry, u); err != nil {
		return err
	}
	got, err := u.Finish()
	if err == nil && got != want {
		err = fmt.Errorf("%s changes while it is read", b.pages.f.Name())
	}
	return err
}
