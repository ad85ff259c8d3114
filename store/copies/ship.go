package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"filippo.io/age"

	"reeve/store/blob"
	"reeve/store/stream"
)

// shipping is what Ship knows. It runs beside the other methods of a Repository.
type shipping struct {
	head    stream.Head // position up to which all is stored
	epoch   string
	last    uint64                   // last entry of the epoch that was stored by this start
	objects map[string][]string      // objects with parts of a segment, by its path
	whole   map[string]bool          // paths of segments that get no more entries and are stored
	pending map[blob.Digest]struct{} // contents that stored entries name, and that may not be stored

	mu       sync.Mutex
	contents map[blob.Digest]storedContent // contents that the last Scan has found
	named    map[blob.Digest]storedContent // contents that were stored, or named again, since it began
	doomed   map[string]bool               // objects that Prune deletes
	copies   []*Copy                       // copies that the last Scan has found
	parts    []part                        // what is stored, see merge
	lists    []string                      // lists of erasures that are stored
	added    []part                        // what was stored since the last Scan began
}

// Ship stores the entries of the commit stream that this start has not stored yet, and then the
// contents of files that they name. Entries come first: a large file must not keep other commits
// waiting. Once a segment gets no more entries, it replaces its parts. It reports whether all commits
// are stored; they are not while the stream is off.
func (r *Repository) Ship(ctx context.Context) (all bool, err error) {
	log, failed := r.db.Stream()
	if log == nil {
		return false, nil
	}
	head := log.Head()
	if head == r.ship.head {
		return failed == nil, nil
	}
	segments := log.Segments()
	r.forget(segments)
	for _, s := range segments {
		if r.ship.whole[s.Path] {
			continue
		}
		if err := r.shipSegment(ctx, log, &s); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	if err := r.shipErased(ctx); err != nil {
		return false, err
	}
	r.ship.head = head
	return failed == nil, nil
}

// forget forgets the segments that are no longer on the disk.
func (r *Repository) forget(segments []stream.Segment) {
	gone := func(path string) bool {
		return !slices.ContainsFunc(segments, func(s stream.Segment) bool { return s.Path == path })
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	maps.DeleteFunc(r.ship.whole, func(path string, _ bool) bool { return gone(path) })
	maps.DeleteFunc(r.ship.objects, func(path string, _ []string) bool { return gone(path) })
}

// Trim removes the segments of the log that all repositories of a database have stored whole.
func Trim(all []*Repository) error {
	log, _ := all[0].db.Stream()
	if log == nil {
		return nil
	}
	for _, s := range log.Segments() {
		if slices.ContainsFunc(all, func(r *Repository) bool { return !r.shipped(s.Path) }) {
			continue
		}
		if err := log.Remove(s.Path); err != nil {
			return err
		}
	}
	return nil
}

// shipped reports whether a segment, which gets no more entries, is stored.
func (r *Repository) shipped(path string) bool {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	return r.ship.whole[path]
}

func (r *Repository) shipSegment(ctx context.Context, log *stream.Log, s *stream.Segment) error {
	from := s.First
	if r.ship.epoch == s.Epoch {
		from = max(from, r.ship.last+1)
	}
	if from <= s.Last {
		name, err := r.shipPart(ctx, log, s.Path, from)
		if err != nil {
			return err
		}
		r.ship.objects[s.Path] = append(r.ship.objects[s.Path], name)
	}
	if err := r.shipContents(ctx); err != nil || s.Open {
		return err
	}
	if parts := r.ship.objects[s.Path]; len(parts) > 1 && !r.options.NoDelete {
		if _, err := r.shipPart(ctx, log, s.Path, s.First); err != nil {
			return err
		}
		for _, name := range parts {
			if err := r.target.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	delete(r.ship.objects, s.Path)
	r.ship.whole[s.Path] = true
	return nil
}

// shipPart stores the entries of a segment from a number on, and returns the name of their object.
func (r *Repository) shipPart(ctx context.Context, log *stream.Log, path string, from uint64) (name string, err error) {
	p, err := log.Part(path, from)
	if err != nil {
		return "", err
	}
	defer p.Close() // read only: nothing can be lost
	name = r.start + streamName + p.Name()
	w := r.quietly()
	_, err = w.put(ctx, name, p.Size, func(out io.Writer) error {
		_, err := io.Copy(out, p.Open())
		return err
	})
	if errors.Is(err, ErrExists) { // an earlier attempt has stored it without knowing
		err = r.sameAs(ctx, name, p)
	}
	if err != nil {
		return "", err
	}
	if p.Last > r.ship.last || p.Epoch != r.ship.epoch {
		r.ship.epoch, r.ship.last = p.Epoch, p.Last
		if err := r.noteContents(p); err != nil {
			return "", err
		}
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	stored := part{Part: stream.Part{Epoch: p.Epoch, First: p.First, Last: p.Last, Time: p.Time}}
	r.ship.added = merge(append(r.ship.added, stored))
	r.ship.parts = merge(append(r.ship.parts, stored))
	return name, nil
}

// sameAs returns an error unless an object has the bytes of a part.
func (r *Repository) sameAs(ctx context.Context, name string, p *stream.Part) error {
	want, err := digestOf(p.Open())
	if err != nil {
		return err
	}
	got, err := r.read(ctx, Stored{Object: name}, nil)
	if err == nil && got != want {
		err = fmt.Errorf("%s exists, and is not what was to be stored there", name)
	}
	return err
}

// quietly returns a writer without progress.
func (r *Repository) quietly() *writer {
	return &writer{Repository: r, progress: func(int64, int64) {}, limit: NewLimiter(r.options.Bandwidth)}
}

// noteContents notes the contents that the entries of a part name. Those in a part that only the
// recipients can open are left to the next copy.
func (r *Repository) noteContents(p *stream.Part) error {
	in, err := stream.NewReader(p.Open(), []age.Identity{r.server})
	if errors.Is(err, stream.ErrOtherKey) {
		return nil
	}
	for err == nil {
		var e *stream.Entry
		if e, err = in.Next(); err == nil {
			for _, d := range e.Stored {
				r.ship.pending[blob.Digest(d)] = struct{}{}
			}
		}
	}
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("the commit stream on this disk: %w", err)
}

// shipContents stores the contents that entries name, and indexes that name them: also those that are
// stored already, so that Prune keeps them as long as the entries.
func (r *Repository) shipContents(ctx context.Context) error {
	if len(r.ship.pending) == 0 {
		return nil
	}
	w := r.quietly()
	b := batch{w: w}
	var failed error
	for d := range r.ship.pending {
		c, known := r.lookUp(d)
		if !known {
			var local localError
			var err error
			c, err = w.storeLocal(ctx, d)
			switch {
			case errors.As(err, &local): // it was deleted since, or is damaged, which the next copy reports
				delete(r.ship.pending, d)
				continue
			case err != nil:
				failed = err
			}
		}
		if failed != nil {
			break
		}
		if failed = b.add(ctx, c); failed != nil {
			break
		}
	}
	if err := errors.Join(failed, b.flush(ctx)); err != nil {
		return err
	}
	clear(r.ship.pending)
	return nil
}

// lookUp returns a content that is stored and stays so.
func (r *Repository) lookUp(d blob.Digest) (c storedContent, ok bool) {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	if c, ok = r.ship.named[d]; ok {
		return c, true
	}
	if c, ok = r.ship.contents[d]; !ok || r.ship.doomed[c.Stored.Object] {
		return c, false
	}
	r.ship.named[d] = c
	return c, true
}

// localError is an error of reading a content on this machine.
type localError struct{ error }

// storeLocal stores a content of the database.
func (w *writer) storeLocal(ctx context.Context, d blob.Digest) (storedContent, error) {
	content, err := w.db.OpenBlob(d)
	if err != nil {
		return storedContent{}, localError{err}
	}
	c, err := w.storeContent(ctx, d, content.Size(), func() (io.Reader, error) { return content.Passing(), nil })
	if err == nil {
		w.ship.mu.Lock()
		w.ship.named[d] = c
		w.ship.mu.Unlock()
	}
	return c, err
}

// Continued reports whether the commits that this start has stored continue a copy: otherwise a new
// copy is needed.
func (r *Repository) Continued() bool {
	if r.ship.epoch == "" {
		return true
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	for _, c := range r.ship.copies {
		if c.Fault == nil && c.Manifest != nil && c.Manifest.Stream != nil && c.Manifest.Stream.Epoch == r.ship.epoch {
			if last, _ := reach(r.ship.parts, *c.Manifest.Stream); last >= r.ship.last {
				return true
			}
		}
	}
	return false
}

// Ranges returns which moments can be restored, the oldest first.
func (r *Repository) Ranges() []Range {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	return ranges(r.ship.copies, r.ship.parts)
}
