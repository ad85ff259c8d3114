package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Compacted says what compacting a file has brought.
type Compacted struct {
	Name          string
	Before, After int64 // bytes
}

// compactSuffix names a copy that is being made; sweepDir knows it.
const compactSuffix = ".compact.new"

// Compact writes the files of a data directory, which no server may hold, anew
// without what is free in them: bbolt gives nothing back of itself. Each is copied,
// the copy verified, and put in the place of the file by one rename. Before that
// what no record refers to is deleted.
func Compact(dir string, options Options) (done []Compacted, err error) {
	data, files := filepath.Join(dir, dataName), filepath.Join(dir, blobsName)
	if _, err := os.Stat(data); err != nil && !restorePending(dir) {
		return nil, err
	}
	lock, _, err := takeDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := sweepDir(dir); err != nil {
		return nil, err
	}
	parts, err := compactions(data, files, options)
	if err != nil {
		return nil, fmt.Errorf("nothing is changed: %w", err)
	}
	for _, part := range parts { // for all of them, before one is changed
		if err := part.room(); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		one, err := part.run()
		if err != nil {
			return done, fmt.Errorf("%s is as it was: %w", part.path, err)
		}
		done = append(done, one)
	}
	return done, nil
}

// compactions are what there is to do with sound files.
func compactions(data, files string, options Options) ([]compaction, error) {
	report, refs, instance, err := inspect(data, options)
	if err = errors.Join(err, report.err(data)); err != nil {
		return nil, err
	}
	parts := []compaction{{data, os.Getpagesize(), func(copied string) (*Report, error) {
		report, _, _, err := inspect(copied, options)
		return report, err
	}}}
	there, err := disk.Exists(files)
	if err != nil || !there && len(refs) == 0 {
		return parts, err
	}
	verify := func(path string) (*Report, error) {
		report := &Report{}
		return report, inspectBlobs(path, instance, refs, report)
	}
	report, err = verify(files)
	if err = errors.Join(err, report.err(files)); err != nil {
		return nil, err
	}
	return append(parts, compaction{files, blobPageSize, verify}), sweepBlobs(files, instance, refs)
}

// compaction is one file on its way to being smaller.
type compaction struct {
	path     string
	pageSize int
	verify   func(copied string) (*Report, error)
}

// room refuses when a copy of what is in use does not fit. Its pages may be filled
// a little otherwise.
func (c *compaction) room() error {
	live, _, err := disk.WalkPages(c.path, false)
	if err != nil {
		return err
	}
	return disk.NeedSpace(filepath.Dir(c.path), live+live/10)
}

func (c *compaction) run() (done Compacted, err error) {
	before, err := os.Stat(c.path)
	if err != nil {
		return done, err
	}
	copied := c.path + compactSuffix
	after, err := c.copy(copied)
	if err == nil {
		err = disk.MoveFile(copied, c.path)
	}
	if err != nil {
		if disk.IsFull(err) {
			err = errFull(err)
		}
		if e := os.Remove(copied); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return done, err
	}
	return Compacted{filepath.Base(c.path), before.Size(), after}, nil
}

// compactStep is how many bytes one commit copies: they are held in memory.
const compactStep = 4 << 20

// copy makes the copy, verified and on the disk, and returns its size.
func (c *compaction) copy(to string) (size int64, err error) {
	from, err := c.open(c.path, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	into, err := c.open(to, false)
	if err != nil {
		return 0, err
	}
	err = disk.RecoverDamage(c.path, func() error { return bbolt.Compact(into, from, compactStep) })
	if err = errors.Join(err, into.Close()); err != nil {
		return 0, err
	}
	commit := 0
	err = from.View(func(btx *bbolt.Tx) error {
		commit = btx.ID()
		return nil
	})
	if err = errors.Join(err, raiseCommits(to, uint64(commit))); err != nil {
		return 0, err
	}
	if size, err = cutTail(to); err != nil {
		return 0, err
	}
	report, err := c.verify(to)
	if err == nil {
		err = report.err("the copy")
	}
	return size, err
}

func (c *compaction) open(path string, readOnly bool) (file *bbolt.DB, err error) {
	options := disk.BoltOptions(readOnly)
	options.PageSize = c.pageSize
	err = disk.RecoverDamage(path, func() (err error) {
		file, err = bbolt.Open(path, 0o600, options)
		return err
	})
	return file, err
}

// raiseCommits adds to the number of the last commit of a closed file, so that it is
// not behind its mark. A meta page goes to the place that its number's parity names,
// so the sum stays even. cutTail syncs the file.
func raiseCommits(path string, by uint64) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, offset := range disk.MetaOffsets(f) {
		b := make([]byte, disk.MetaSize)
		if _, err := f.ReadAt(b, offset+disk.PageHead); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(b[48:], binary.LittleEndian.Uint64(b[48:])+by+by%2)
		binary.LittleEndian.PutUint64(b[disk.MetaSize-8:], disk.MetaSum(b))
		if _, err := f.WriteAt(b, offset+disk.PageHead); err != nil {
			return err
		}
	}
	return nil
}

// cutTail takes away what bbolt has let a file grow by beyond its last page, in
// steps that double, and returns its size.
func cutTail(path string) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	meta, _, err := disk.ReadMetas(f, false)
	if err != nil {
		return 0, err
	}
	size = int64(meta.Pages * meta.PageSize)
	return size, errors.Join(f.Truncate(size), f.Sync())
}

// sweepBlobs deletes what no record refers to, as a start would. What cannot be
// deleted stays.
func sweepBlobs(path, instance string, refs []blobRef) error {
	used := map[Digest]bool{}
	for _, r := range refs {
		used[r.digest] = true
	}
	b, _, err := newBlobs(path, instance, func(d Digest) (bool, error) { return used[d], nil }, unlimited)
	if err != nil {
		return err
	}
	b.done.Go(b.write)
	b.sweepOnce()
	return b.close()
}
