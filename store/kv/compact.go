package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"reeve/store/blob"
	"reeve/store/disk"
)

// Compacted is the result of compacting one file.
type Compacted struct {
	Name          string
	Before, After int64         // bytes
	Paused        time.Duration // time for which writes waited; 0 for a closed database
}

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
		live, _, err := disk.WalkPages(part.Path, false)
		if err == nil {
			err = needCopy(part.Path, live, 0)
		}
		if err != nil {
			return nil, err
		}
	}

	for _, part := range parts {
		before, after, err := part.Run()
		if err != nil {
			return done, fmt.Errorf("%s is as it was: %w", part.Path, err)
		}
		done = append(done, Compacted{filepath.Base(part.Path), before, after, 0})
	}

	return done, nil
}

// compactions verifies the files and returns those to compact.
func compactions(data, files string, options Options) ([]disk.Compaction, error) {
	report, refs, instance, err := inspect(data, options)
	if err = errors.Join(err, beforeCompact(data, report)); err != nil {
		return nil, err
	}

	parts := []disk.Compaction{{
		Path:     data,
		PageSize: os.Getpagesize(),
		Verify: func(ctx context.Context, copied string) error {
			return verifyCopy(ctx, copied, options)
		},
	}}
	there, err := disk.Exists(files)
	if err != nil || !there && len(refs) == 0 {
		return parts, err
	}

	report = &Report{}
	err = inspectFiles(context.Background(), files, instance, refs, false, report)
	if err = errors.Join(err, beforeCompact(files, report)); err != nil {
		return nil, err
	}

	parts = append(parts, disk.Compaction{
		Path:     files,
		PageSize: blob.PageSize,
		Verify: func(ctx context.Context, copied string) error {
			return verifyFilesCopy(ctx, copied, instance, refs)
		},
	})
	return parts, sweepBlobs(files, instance, refs)
}

// verifyCopy returns an error if a copy of data.db is damaged, or if ctx has ended.
func verifyCopy(ctx context.Context, copied string, options Options) error {
	options.stop = &atomic.Bool{}
	defer context.AfterFunc(ctx, func() { options.stop.Store(true) })()
	report, _, _, err := inspect(copied, options)
	if err := errors.Join(context.Cause(ctx), err); err != nil {
		return err
	}
	return report.err("the copy")
}

// verifyFilesCopy returns an error if a copy of files.db is damaged or lacks content, or if ctx has
// ended.
func verifyFilesCopy(ctx context.Context, copied, instance string, refs []blobRef) error {
	report := &Report{}
	err := inspectFiles(ctx, copied, instance, refs, false, report)
	if err := errors.Join(context.Cause(ctx), err); err != nil {
		return err
	}
	return report.err("the copy")
}

// beforeCompact returns an error if a file to be compacted is damaged.
func beforeCompact(path string, report *Report) error {
	if err := report.err(path); err != nil {
		return fmt.Errorf("%w; restore a backup with `reeve restore FILE`, or copy the intact data with `reeve salvage NEWDIR`", err)
	}
	return nil
}

// needCopy returns an error if a copy of the pages in use, of live bytes, does not fit on the disk
// of path, or leaves less than spare bytes free. It adds a tenth, because the copy may fill its
// pages less.
func needCopy(path string, live, spare int64) error {
	return disk.NeedSpace(filepath.Dir(path), live+live/10+spare)
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
