package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

const (
	batchBytes = 1 << 20   // bytes of entries per commit, which are in memory until then
	growBytes  = 256 << 10 // step by which a file grows
	mapBytes   = 32 << 20  // addresses of a file: when it outgrows them, bbolt copies all pages in memory
	fullPages  = 1.0       // keys ascend and the file is never changed, so pages are filled
)

// WriteSegment writes rows, which must be a part of one chain without gaps, to a new segment in
// dir and returns its path once the segment is durable and has been verified. checkpoint is
// stored with the rows; nil for none. An error of rows ends it.
//
// If the segment exists and has the same rows, as after a crash before they were deleted
// elsewhere, it is left as it is. It is an error if it has others. A log that is open does not
// read the new segment before Add; see Log.Write.
func WriteSegment(dir string, rows iter.Seq2[Row, error],
	checkpoint []byte) (path string, err error) {
	return writeSegment(dir, rows, checkpoint, func(meta) error { return nil })
}

// writeSegment is WriteSegment; accept can refuse the segment before it has its name.
func writeSegment(dir string, rows iter.Seq2[Row, error], checkpoint []byte,
	accept func(meta) error) (path string, err error) {
	temp := filepath.Join(dir, newName)
	if err := errors.Join(makeDir(dir), removeIfAny(temp)); err != nil {
		return "", err
	}

	m, err := build(temp, rows, checkpoint)
	if err == nil {
		err = accept(m)
	}
	if err == nil {
		err = verifyWith(temp, m.Head) // a segment has its name only if it can be read
	}
	if err != nil {
		os.Remove(temp) // if this fails, the next start removes it
		return "", fmt.Errorf("write a segment of the audit log: %w", err)
	}

	path = filepath.Join(dir, segmentName(m.First))
	if found, err := disk.Exists(path); found || err != nil {
		return path, errors.Join(err, sameSegment(path, m), os.Remove(temp))
	}

	return path, disk.MoveFile(temp, path)
}

func removeIfAny(path string) error {
	if found, err := disk.Exists(path); !found || err != nil {
		return err
	}
	return disk.RemoveFile(path)
}

// sameSegment returns an error unless the segment at path has the rows that m describes. The hash
// of the last entry covers all entries before it.
func sameSegment(path string, m meta) error {
	got, _, err := peekMeta(path)
	if err != nil {
		return damaged(path, err)
	}
	if got.First != m.First || got.Head != m.Head || got.Prev != m.Prev {
		return fmt.Errorf("%s exists and has other entries: %d to %d; move it away, and check it with `reeve verify`", path, got.First, got.Last)
	}
	return verifyWith(path, m.Head)
}

// verifyWith checks a segment alone, which must end with a known head.
func verifyWith(path string, head Head) error {
	var v Verifier
	v.Expect(head)
	if err := VerifySegment(path, &v); err != nil {
		return err
	}
	return v.Finish()
}

// builder fills a segment.
type builder struct {
	bolt    *bbolt.DB
	btx     *bbolt.Tx
	pending int           // bytes in the transaction
	block   []byte        // buffer of values; bbolt reads them until the commit
	link    Link          // link of the last entry
	entries *bbolt.Bucket // bucket of the transaction; nil before the first entry
	chain   Verifier
	meta    meta
	indexes indexes
}

// build writes a file and syncs it once, at the end. After a panic of bbolt the file stays open,
// since closing it could hang.
func build(path string, rows iter.Seq2[Row, error], checkpoint []byte) (m meta, err error) {
	options := disk.BoltOptions(false)
	options.NoSync, options.NoGrowSync = true, true
	if runtime.GOOS != "windows" { // where the file would get this size
		options.InitialMmapSize = mapBytes
	}

	bolt, err := openBolt(path, options)
	if err != nil {
		return m, err
	}

	bolt.AllocSize = growBytes
	b := &builder{bolt: bolt, meta: meta{Format: format, Checkpoint: len(checkpoint)}}
	err = disk.RecoverDamage(path, func() error {
		err := b.fill(rows, checkpoint)
		if b.btx != nil && b.btx.DB() != nil {
			err = errors.Join(err, b.btx.Rollback())
		}
		if err == nil {
			err = bolt.Sync()
		}
		return errors.Join(err, bolt.Close())
	})
	return b.meta, err
}

func (b *builder) fill(rows iter.Seq2[Row, error], checkpoint []byte) error {
	for row, err := range rows {
		if err != nil {
			return err
		}

		link, err := linkOf(row, &b.link)
		b.link = link
		if _, err := b.chain.addDecoded(link, err, row.Text, row.Seq, ""); err != nil {
			return err
		}
		if err == nil && row.Keys == nil {
			row.Keys = new(Keys)
			*row.Keys, err = KeysOf(row.Text)
		}
		if err != nil {
			return fmt.Errorf("entry %d cannot be read: %w", row.Seq, err)
		}
		if err := b.put(row, link.Prev); err != nil {
			return err
		}
	}

	if b.meta.Entries == 0 {
		return errors.New("there are no entries to write")
	}
	if err := b.chain.Finish(); err != nil {
		return err
	}

	return b.finish(b.chain.head, checkpoint)
}

// linkOf returns the link of a row; last is that of the row before it. Of one that comes with its
// keys, it decodes nothing else.
func linkOf(row Row, last *Link) (link Link, err error) {
	if row.Keys != nil {
		if link, ok := scanLink(row.Text, last); ok {
			return link, nil
		}
	}
	err = json.Unmarshal(row.Text, &link)
	return link, err
}

// finish writes what comes after the entries, of which head is the last.
func (b *builder) finish(head Head, checkpoint []byte) error {
	b.meta.Last, b.meta.Head, b.meta.Terms = head.Seq, head, uint64(len(b.indexes.terms))
	if err := errors.Join(b.putIndexes(), b.putRest(checkpoint), b.commit()); err != nil {
		return err
	}
	// An empty commit, so that both meta pages name the same tree: each is then as good as the
	// other.
	return errors.Join(b.begin(), b.commit())
}

func (b *builder) begin() (err error) {
	if b.btx == nil {
		b.btx, err = b.bolt.Begin(true)
	}
	return err
}

func (b *builder) commit() error {
	btx := b.btx
	b.pending, b.btx, b.entries = 0, nil, nil
	if btx == nil {
		return nil
	}
	err := btx.Commit()
	b.block = b.block[:0]
	if err != nil && btx.DB() != nil {
		err = errors.Join(err, btx.Rollback())
	}
	return err
}

// bucket returns a bucket whose keys are put in ascending order.
func (b *builder) bucket(name string) (*bbolt.Bucket, error) {
	if err := b.begin(); err != nil {
		return nil, err
	}
	bucket, err := b.btx.CreateBucketIfNotExists([]byte(name))
	if err == nil {
		bucket.FillPercent = fullPages
	}
	return bucket, err
}

// put writes an entry that expects the hash prev. The row has its keys.
func (b *builder) put(row Row, prev Hash) error {
	b.meta.add(row, prev)
	b.indexes.add(row.Keys)
	if b.entries == nil {
		var err error
		if b.entries, err = b.bucket(entryBucket); err != nil {
			return err
		}
	}

	key := seqKey(row.Seq)
	if err := b.entries.Put(key, b.frame(entryBucket, key, row.Text)); err != nil {
		return err
	}
	if b.pending += len(row.Text); b.pending > batchBytes {
		return b.commit()
	}

	return nil
}

// frame is disk.Frame in the block, which the next commit uses again.
func (b *builder) frame(bucket string, key, payload []byte) []byte {
	need := disk.FrameHead + len(payload)
	if cap(b.block)-len(b.block) < need {
		b.block = make([]byte, 0, max(need, batchBytes+growBytes))
	}
	start := len(b.block)
	b.block = append(b.block[:start+disk.FrameHead], payload...)
	value := b.block[start:len(b.block):len(b.block)]
	disk.SealFrame(bucket, key, value)
	return value
}

// add counts an entry, which expects the hash prev. The row has its keys.
func (m *meta) add(row Row, prev Hash) {
	at := row.Keys.Micros
	if m.Entries == 0 {
		m.First, m.Prev, m.From, m.To = row.Seq, prev, at, at
	}
	m.From, m.To = min(m.From, at), max(m.To, at)
	m.Entries++
	if row.Keys.denied() {
		m.Denials += int64(len(row.Text))
	}
}

// putIndexes writes the terms in their order, and the times.
func (b *builder) putIndexes() error {
	bucket, err := b.bucket(termBucket)
	if err != nil {
		return err
	}
	for _, term := range b.indexes.sorted() {
		key := []byte(term)
		if err := bucket.Put(key, b.frame(termBucket, key, b.indexes.terms[term].text)); err != nil {
			return err
		}
	}
	return b.putData(timeBucket, b.indexes.times)
}

// putData writes the only value of a bucket.
func (b *builder) putData(name string, data []byte) error {
	bucket, err := b.bucket(name)
	if err != nil {
		return err
	}
	return bucket.Put(dataKey, disk.Frame(name, dataKey, data))
}

// putRest writes the checkpoint and the description.
func (b *builder) putRest(checkpoint []byte) error {
	if len(checkpoint) > 0 {
		if err := b.putData(checkpointBucket, checkpoint); err != nil {
			return err
		}
	}
	payload, err := json.Marshal(b.meta)
	if err != nil {
		return err
	}
	bucket, err := b.bucket(disk.MetaBucket)
	if err != nil {
		return err
	}
	return bucket.Put(disk.MetaKey, disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
}
