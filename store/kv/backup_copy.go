package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// copyData makes and verifies the copy of data.db and returns the references to blobs in it.
// Without space in the data directory, the copy is in the directory for temporary files; if that
// can't have it either, data.db itself is read.
func (b *Backup) copyData(ctx context.Context, db *DB) (refs []blobRef, err error) {
	refs, err = b.copyDataIn(ctx, db, db.dir)
	if !disk.IsFull(err) {
		return refs, err
	}
	if refs, err = b.copyDataIn(ctx, db, os.TempDir()); err == nil {
		return refs, nil
	}
	return b.readLive(ctx, db)
}

// copyDataIn makes the copy in a directory and unlinks it.
func (b *Backup) copyDataIn(ctx context.Context, db *DB, dir string) (refs []blobRef, err error) {
	f, err := os.CreateTemp(dir, backupPattern)
	if err != nil {
		return nil, err
	}

	path := f.Name()
	if err = errors.Join(f.Close(), db.copyTo(ctx, path)); err == nil {
		var report *Report
		if report, refs, _, err = inspect(path, db.options); err == nil {
			b.records = report.Records
			err = errors.Join(report.err("the database"), context.Cause(ctx))
		}
		if err != nil {
			err = fmt.Errorf("verify the backup: %w", err)
		}
	}
	if err == nil {
		var f *os.File
		if err = b.readHeads(path, db); err == nil {
			f, err = os.Open(path)
		}
		if err == nil {
			b.data = f
		}
	}
	// Unlinked while it is open, so that a crash leaves no file behind.
	return refs, errors.Join(err, os.Remove(path))
}

// copyTo writes a consistent copy of data.db to path, atomically.
func (db *DB) copyTo(ctx context.Context, path string) error {
	f, err := disk.Create(path + ".new")
	if err != nil {
		return err
	}

	out := &keepError{ctx: ctx, w: f}
	err = disk.RecoverDamage(db.path, func() error {
		return db.bolt.View(func(btx *bbolt.Tx) error {
			db.stats.begin(btx)
			defer db.stats.end(btx)
			_, err := btx.WriteTo(out)
			return err
		})
	})
	if err = errors.Join(err, out.err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}

	return disk.MoveFile(path+".new", path)
}

// keepError records the first error of a writer. bbolt returns only its text, so that errors.Is
// would not find a full disk. It ends with ctx.
type keepError struct {
	ctx context.Context
	w   io.Writer
	err error
}

func (k *keepError) Write(b []byte) (int, error) {
	n, err := 0, context.Cause(k.ctx)
	if err == nil {
		n, err = k.w.Write(b)
	}
	if k.err == nil {
		k.err = err
	}
	return n, err
}
