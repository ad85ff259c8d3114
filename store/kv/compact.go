package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
)

// Compacted is the result of compacting one file.
type Compacted struct {
	Name          string
	Before, After int64 // bytes
}

// compactSuffix ends the name of an unfinished copy. sweepDir removes such files.
const compactSuffix = ".compact.new"

// Compact rewrites the databases in dir without their free pages, since bbolt never shrinks a
// file. No server may be using dir. Each file is copied, the copy verified, and then renamed
// over the original. Content of files that no record refers to is deleted first.
func Compact(dir string, options Options) (done []Compacted, err error) {
	data, files := filepath.Join(dir, dataName), filepath.Join(dir, blob.FileName)
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

	for _, part := range parts { // for all files, before the first is changed
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

// compactions verifies the files and returns those to compact.
func compactions(data, files string, options Options) ([]compaction, error) {
	report, refs, instance, err := inspect(data, options)
	if err = errors.Join(err, beforeCompact(data, report)); err != nil {
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
		return report, inspectFiles(path, instance, refs, report)
	}
	report, err = verify(files)
	if err = errors.Join(err, beforeCompact(files, report)); err != nil {
		return nil, err
	}

	return append(parts, compaction{files, blob.PageSize, verify}), sweepBlobs(files, instance, refs)
}

// beforeCompact returns an error if a file to be compacted is damaged.
func beforeCompact(path string, report *Report) error {
	if err := report.err(path); err != nil {
		return fmt.Errorf("%w; restore a backup with `reeve restore FILE`, or copy the intact data with `reeve salvage NEWDIR`", err)
	}
	return nil
}

// compaction is the compaction of one file.
type compaction struct {
	path     string
	pageSize int
	verify   func(copied string) (*Report, error)
}

// room returns an error if a copy of the pages in use does not fit on the disk. It adds a
// tenth, because the copy may fill its pages less.
func (c *compaction) room() error {
	live, _, err := disk.WalkPages(c.path, false)
	if err != nil {
		return err
	}
	return disk.NeedSpace(filepath.Dir(c.path), live+live/10)
}

// run compacts the file. On an error, the file is unchanged.
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
			err = disk.FullError(err)
		}
		if e := os.Remove(copied); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return done, err
	}

	return Compacted{filepath.Base(c.path), before.Size(), after}, nil
}

// compactStep is the number of bytes that one commit copies. They are held in memory.
const compactStep = 4 << 20

// copy writes, syncs and verifies the copy and returns its size in bytes.
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

// raiseCommits adds by, rounded up to an even number, to the transaction ID of a closed file,
// so that it is not lower than the one in the commit mark. The parity of the ID determines the
// position of a meta page, so it must not change. The file is not synced; cutTail does that.
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

// cutTail truncates a file after its last page, because bbolt grows files in large steps, syncs
// it, and returns its size in bytes.
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

// sweepBlobs deletes the content that no record refers to, like a start of the server. A failed
// deletion is not an error.
func sweepBlobs(path, instance string, refs []blobRef) error {
	used := map[blob.Digest]bool{}
	for _, r := range refs {
		used[r.digest] = true
	}
	b, err := blob.OpenOffline(path, blob.Options{
		Instance:   instance,
		Referenced: func(d blob.Digest) (bool, error) { return used[d], nil },
	})
	if err != nil {
		return err
	}
	b.Sweep()
	return b.Close()
}
