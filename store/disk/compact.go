package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// CompactSuffix ends the name of an unfinished copy.
const CompactSuffix = ".compact.new"

// Compaction rewrites a database file without its free pages, since bbolt never shrinks a file.
type Compaction struct {
	Path     string
	PageSize int
	// Verify returns an error if the copy is damaged, or if ctx has ended.
	Verify func(ctx context.Context, copied string) error
	// Progress is called with the bytes of pages that were copied; nil for none.
	Progress func(bytes int64)
}

// Run compacts a file that no process has open, and returns its size before and after. On an error,
// the file is unchanged.
func (c *Compaction) Run() (before, after int64, err error) {
	if before, err = sizeOf(c.Path); err != nil {
		return 0, 0, err
	}

	err = c.cleanly(func() error {
		from, err := openBolt(c.Path, c.options(true))
		if err != nil {
			return err
		}

		err = RecoverDamage(c.Path, func() error {
			return from.View(func(btx *bbolt.Tx) error {
				tree, err := newTree(c.Path, btx)
				if err != nil {
					return err
				}
				return errors.Join(c.copy(context.Background(), tree, 0), tree.end())
			})
		})
		if err = errors.Join(err, from.Close()); err != nil {
			return err
		}

		return MoveFile(c.copied(), c.Path)
	})
	if err == nil {
		after, err = sizeOf(c.Path)
	}

	return before, after, err
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// copied returns the path of the copy.
func (c *Compaction) copied() string { return c.Path + CompactSuffix }

func (c *Compaction) options(readOnly bool) *bbolt.Options {
	options := BoltOptions(readOnly)
	options.PageSize = c.PageSize
	options.NoStatistics = false
	return options
}

// cleanly runs fn, and removes the copy if it fails.
func (c *Compaction) cleanly(fn func() error) error {
	err := fn()
	if err == nil {
		return nil
	}
	if fullBeforeCommit(err) || IsFull(err) {
		err = FullError(err)
	}
	if e := os.Remove(c.copied()); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// copy makes and verifies a copy of a tree, without free pages. Its transaction ID is that of the
// tree, a margin, and a few more.
func (c *Compaction) copy(ctx context.Context, from *tree, margin uint64) error {
	into, err := openBolt(c.copied(), c.options(false))
	if err != nil {
		return err
	}

	from.visit = func(bytes int64) error {
		if c.Progress != nil {
			c.Progress(bytes)
		}
		return context.Cause(ctx)
	}

	_, err = c.apply(into, nil, from, 1)
	if err = errors.Join(err, into.Close()); err != nil {
		return err
	}

	from.visit = nil
	if err := RaiseCommits(c.copied(), from.walk.meta.Txid+margin); err != nil {
		return err
	}
	if err := cutTail(c.copied()); err != nil {
		return err
	}

	return c.Verify(ctx, c.copied())
}

// apply changes the copy as the tree before has become the tree after, and returns the bytes of the
// changes.
func (c *Compaction) apply(into *bbolt.DB, before, after *tree, fill float64) (int64, error) {
	s := &stepped{file: into, fill: fill}
	err := RecoverDamage(c.Path, (&difference{before, after, s}).apply)
	if err == nil {
		err = RecoverDamage(c.Path, s.commit)
	}
	return s.all, errors.Join(err, RecoverDamage(c.Path, s.rollback))
}

// RaiseCommits adds by, rounded up to an even number, to the transaction ID of a closed file, so
// that it is not lower than that of the original. The parity of the ID determines the position of a
// meta page, so it must not change. The file is not synced; cutTail does that.
func RaiseCommits(path string, by uint64) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, f.Close()) }()
	for _, offset := range MetaOffsets(f) {
		b := make([]byte, MetaSize)
		if _, err := f.ReadAt(b, offset+PageHead); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(b[48:], binary.LittleEndian.Uint64(b[48:])+by+by%2)
		binary.LittleEndian.PutUint64(b[MetaSize-8:], MetaSum(b))
		if _, err := f.WriteAt(b, offset+PageHead); err != nil {
			return err
		}
	}

	return nil
}

// cutTail truncates a file after its last page, because bbolt grows files in large steps, and syncs
// it.
func cutTail(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	meta, _, err := ReadMetas(f, false)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(meta.Pages*meta.PageSize)), f.Sync())
}
