package kv

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"reeve/store/blob"
	"reeve/store/disk"
)

// stageArchive stages an archive of length bytes.
func (in *staging) stageArchive(f io.Reader, length int64) error {
	f = &interruptible{f, &in.options}
	r := tar.NewReader(&readProgress{f, 0, func(done int64) { in.options.progress("restore", done, length) }})
	m, err := readManifest(r, length)
	if err != nil {
		return err
	}
	if err := disk.NeedSpace(in.dir, length); err != nil {
		return err
	}
	if err := os.Mkdir(in.path(segmentsName), 0o700); err != nil {
		return err
	}

	for i, e := range m.Entries[:m.files()] {
		if err := m.next(r, i); err != nil {
			return err
		}
		if err := writeExact(in.path(e.Name), e, r); err != nil {
			return err
		}
		if !segmentFile.MatchString(e.Name) {
			in.names = append(in.names, e.Name)
		}
	}

	if err := disk.SyncDir(in.path(segmentsName)); err != nil {
		return err
	}
	if len(m.segments()) > 0 {
		in.names = append(in.names, segmentsName)
	}
	if in.options.Expected != nil {
		in.expected = []Expected{*in.options.Expected, {m.Records, m.LogHead}}
	}
	if err := errors.Join(in.replay(m.Instance), in.accept()); err != nil {
		return err
	}
	if m.Instance != in.instance {
		return fmt.Errorf("its %s is of another installation than its %s", manifestName, dataName)
	}

	in.names = append(in.names, markName)
	if in.options.Schema.hasFiles() {
		if err := in.stageBlobs(m, r); err != nil {
			return err
		}
		in.names = append(in.names, blob.FileName)
	}

	in.aside = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(in.names),
		segmentsName))))
	if err := in.settleKey(); err != nil {
		return err
	}

	return errors.Join(m.next(r, len(m.Entries)), in.checkBlobs(true))
}

// interruptible is a reader that ends when a restore is interrupted.
type interruptible struct {
	io.Reader
	options *Options
}

func (r *interruptible) Read(b []byte) (int, error) {
	if err := r.options.interrupted(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// stageContents writes the content of files that is kept apart from the archive.
func (in *staging) stageContents(all []Content, b *blob.Store) (err error) {
	var done, total int64
	for _, c := range all {
		total += max(0, c.Size)
	}
	if err := disk.NeedSpace(in.dir, total); err != nil {
		return err
	}

	open := in.contents
	if open == nil {
		old, err := in.replacedFiles()
		if err == nil {
			defer old.Close() // nothing is written to it
		}
		open = func(c Content, nth int) (io.ReadCloser, error) {
			if err != nil { // there is none, or it is damaged
				return nil, err
			}
			if nth > 0 {
				return nil, fs.ErrNotExist
			}
			r, err := old.Reader(c.SHA256)
			return io.NopCloser(r), err
		}
	}

	in.missing = map[blob.Digest]error{}
	objects := objectsOf(in.refs)
	var mu sync.Mutex // guards the variables below, and in.missing
	var failed error
	next := 0
	one := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = in.options.interrupted()
		}
		if failed != nil || next == len(all) {
			return false
		}
		c := all[next]
		next++
		mu.Unlock()
		object, hasObject, _ := objects(c.SHA256) // it has no error
		var err error
		if !hasObject || !in.inBucket(object) {
			err = stageContent(b, c, open)
		}
		mu.Lock()
		if unwritten(err) || errors.Is(err, ErrUnavailable) {
			failed = err
		} else if err != nil {
			in.missing[c.SHA256] = err
		}
		done += max(0, c.Size)
		in.options.progress("restore files", done, total)
		return true
	}
	var workers sync.WaitGroup
	for range contentWorkers {
		workers.Go(func() {
			for one() {
			}
		})
	}
	workers.Wait()
	return failed
}

// mostLost is the maximum number of records without content that are named.
const mostLost = 5

// nameLost names some of the records whose content is missing.
func (in *staging) nameLost() error {
	if len(in.missing) == 0 {
		return nil
	}
	return readOnly(in.path(dataName), in.options, func(tx *Tx) error {
		for _, ref := range in.refs {
			if in.missing[ref.digest] == nil {
				continue
			}
			if in.without++; len(in.lost) == mostLost {
				continue
			}
			text, c := fmt.Sprintf("%s %d", ref.of.Noun(), ref.id), ref.of.table()
			if c.content.name != nil {
				v, err := c.get(tx, ref.id)
				if err != nil {
					return err
				}
				text += fmt.Sprintf(" %q", c.content.name(v))
			}
			in.lost = append(in.lost, text)
		}
		return nil
	})
}

// contentWorkers is how many contents are restored at the same time: one is decrypted and written while
// others are on their way.
const contentWorkers = 4

// inBucket reports whether a content can be read from the bucket, so that it need not be restored.
func (in *staging) inBucket(o blob.Object) bool {
	if in.options.Files == nil || slices.Contains(in.unopened, contentKeyTitle) {
		return false
	}
	return blob.NewRemote(in.options.Files.Storage, in.instance, nil).Check(context.Background(), o) == nil
}

// replacedFiles opens the files database in the data directory, which the restored one replaces.
func (in *staging) replacedFiles() (*blob.Store, error) {
	path := filepath.Join(filepath.Dir(in.dir), blob.FileName)
	if _, err := os.Stat(path); err != nil {
		return nil, err // it would be created
	}
	return blob.OpenOffline(path, blob.Options{Instance: in.instance})
}

// contentPauses are the pauses before a content is read again that was not available.
var contentPauses = []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}

// stageContent writes a content, from the first place at which it is not damaged.
func stageContent(b *blob.Store, c Content, open Contents) (first error) {
	tries := 0
	for nth := 0; ; {
		err := stageContentFrom(b, c, nth, open)
		switch {
		case err == nil || unwritten(err):
			return err
		case errors.Is(err, ErrUnavailable):
			if tries == len(contentPauses) || errors.Is(err, context.Canceled) {
				return err
			}
			time.Sleep(contentPauses[tries])
			tries++
			continue
		case errors.Is(err, fs.ErrNotExist) || nth == maxPlaces:
			return cmp.Or(first, err)
		}
		first = cmp.Or(first, err)
		nth++
	}
}

// maxPlaces bounds the places at which a content is looked for.
const maxPlaces = 16

func stageContentFrom(b *blob.Store, c Content, nth int, open Contents) error {
	r, err := open(c, nth)
	if err != nil {
		return err
	}
	defer r.Close() // read only: nothing can be lost
	return stageBlob(b, archiveEntry{archiveFiles + c.SHA256.String(), c.Size, c.SHA256}, r)
}

// stageBlobs writes the files of the archive to a new files database.
func (in *staging) stageBlobs(m *manifest, r *tar.Reader) error {
	b, err := blob.Fill(in.path(blob.FileName), in.instance)
	if err != nil {
		return err
	}
	for i := m.files(); i < len(m.Entries) && err == nil; i++ {
		if err = m.next(r, i); err == nil {
			err = stageBlob(b, m.Entries[i], r)
		}
	}
	if apart := in.apart(m); err == nil && len(apart) > 0 {
		err = in.stageContents(apart, b)
	}
	return errors.Join(err, b.Close())
}

// stageBlob copies one file of the archive to b.
func stageBlob(b *blob.Store, e archiveEntry, r io.Reader) error {
	u := b.Upload()
	defer u.Release()
	n, err := io.Copy(stagingWriter{u}, r)
	if err := e.exactly(n, u.Digest(), err); err != nil {
		return err
	}
	if _, err = u.Finish(); err != nil {
		return writeFault{err}
	}
	return nil
}

// writeFault is an error of writing to the staging directory, which says nothing about what was read.
type writeFault struct{ error }

func (f writeFault) Unwrap() error { return f.error }

// unwritten reports whether an error is one of writing.
func unwritten(err error) bool { return errors.As(err, &writeFault{}) }

// stagingWriter marks the errors of writing.
type stagingWriter struct{ io.Writer }

func (w stagingWriter) Write(p []byte) (n int, err error) {
	if n, err = w.Writer.Write(p); err != nil {
		err = writeFault{err}
	}
	return n, err
}

// writeExact writes an entry of an archive to a new file and syncs it.
func writeExact(path string, e archiveEntry, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(e.copyExact(f, r), f.Sync(), f.Close())
}
