package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"filippo.io/age"

	"reeve/store/blob"
	"reeve/store/stream"
)

// shipping is what is known about the commits at the target. Ship and Settle run beside each other and
// beside the other methods of a Repository.
type shipping struct {
	head  stream.Head // position up to which all entries are stored, for Ship alone
	epoch string      // epoch of last, for Ship alone
	last  uint64      // last entry that was stored by this start, for Ship alone

	mu       sync.Mutex
	objects  map[segment][]string          // objects with parts of a segment, in their order, that this start has stored
	whole    map[segment]bool              // segments that get no more entries and are stored
	pending  map[blob.Digest]segment       // contents that may not be stored, and a segment that names them
	contents map[blob.Digest]storedContent // contents that the last Scan has found
	named    map[blob.Digest]storedContent // contents that were stored, or named again, since it began
	unlisted map[blob.Digest]bool          // those of them that no index names yet
	doomed   map[string]bool               // objects that Prune deletes
	copies   []*Copy                       // copies that the last Scan has found
	parts    []part                        // commits that are stored, see merge
	added    []part                        // commits that were stored since the last Scan began
	had      []part                        // commits that the target had, see hourly
	gone     []gone                        // copies and commits that it has no longer
	left     string                        // epoch that another process has continued, see kv.DB.LeaveEpoch; "" for none

	unreadable []*unreadable // commits that the last proof could not read
}

// segment names a segment: paths are used again after the log was cleared.
type segment struct{ path, epoch string }

func segmentOf(s *stream.Segment) segment { return segment{s.Path, s.Epoch} }

// Ship stores the entries of the commit stream that this start has not stored yet. What takes longer is left to
// Settle. It reports whether all commits are stored; they are not while the stream is off.
func (r *Repository) Ship(ctx context.Context) (all bool, err error) {
	r.ship.mu.Lock()
	left := r.ship.left
	r.ship.mu.Unlock()
	if left != "" {
		if err := r.db.LeaveEpoch(left); err != nil {
			return false, err
		}
	}
	if err := r.db.FollowClock(); err != nil {
		return false, err
	}
	log, failed := r.db.Stream()
	if log == nil {
		return false, nil
	}
	head := log.Head()
	if head == r.ship.head {
		return failed == nil, failed
	}
	segments := log.Segments()
	r.forget(segments)
	for _, s := range segments {
		if err := r.shipSegment(ctx, log, &s); err != nil && !errors.Is(err, stream.ErrRemoved) {
			return false, err
		}
	}
	r.ship.head = head
	return failed == nil, failed
}

// forget forgets the segments that are no longer on the disk.
func (r *Repository) forget(segments []stream.Segment) {
	there := map[segment]bool{}
	for _, s := range segments {
		there[segmentOf(&s)] = true
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	maps.DeleteFunc(r.ship.whole, func(s segment, _ bool) bool { return !there[s] })
	maps.DeleteFunc(r.ship.objects, func(s segment, _ []string) bool { return !there[s] })
}

func (r *Repository) shipSegment(ctx context.Context, log *stream.Log, s *stream.Segment) error {
	key, from := segmentOf(s), s.First
	r.ship.mu.Lock()
	stored, whole := r.ship.objects[key], r.ship.whole[key]
	r.ship.mu.Unlock()
	if len(stored) > 0 {
		if last, ok := partOf(Object{Name: stored[len(stored)-1]}); ok {
			from = last.Last + 1
		}
	}
	if whole || from > s.Last {
		return nil
	}
	p, err := log.Part(s.Path, from)
	if err != nil {
		return err
	}
	defer p.Close() // read only: nothing can be lost
	name, err := r.storePart(ctx, p)
	if err != nil {
		return err
	}
	r.ship.epoch, r.ship.last = p.Epoch, p.Last
	r.ship.mu.Lock()
	r.ship.objects[key] = append(r.ship.objects[key], name)
	r.ship.mu.Unlock()
	return r.noteContents(p, key)
}

// Settle stores the contents of files that stored entries name, and then the segments that get no more
// entries, each of which replaces its parts.
func (r *Repository) Settle(ctx context.Context) error {
	log, _ := r.db.Stream()
	if log == nil {
		return nil
	}
	if err := r.shipContents(ctx); err != nil {
		return err
	}
	for _, s := range log.Segments() {
		if err := r.replaceParts(ctx, log, &s); err != nil && !errors.Is(err, stream.ErrRemoved) {
			return err
		}
	}
	return nil
}

// replaceParts stores a segment whole, if all of it is stored in parts.
func (r *Repository) replaceParts(ctx context.Context, log *stream.Log, s *stream.Segment) error {
	key := segmentOf(s)
	r.ship.mu.Lock()
	parts, whole := slices.Clone(r.ship.objects[key]), r.ship.whole[key]
	r.ship.mu.Unlock()
	if s.Open || whole || len(parts) == 0 {
		return nil
	}
	if last, ok := partOf(Object{Name: parts[len(parts)-1]}); !ok || last.Last < s.Last {
		return nil // Ship has not stored the rest yet
	}
	if len(parts) > 1 && !r.options.NoDelete {
		p, err := log.Part(s.Path, s.First)
		if err != nil {
			return err
		}
		defer p.Close() // read only: nothing can be lost
		all, err := r.storePart(ctx, p)
		if err != nil {
			return err
		}
		for _, name := range parts {
			if name == all {
				continue
			}
			if err := r.target.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	delete(r.ship.objects, key)
	r.ship.whole[key] = true
	return nil
}

// Trim removes the segments of the log that all repositories of a database have stored whole, with the
// contents that they name.
func Trim(all []*Repository) error {
	log, _ := all[0].db.Stream()
	if log == nil {
		return nil
	}
	for _, s := range log.Segments() {
		if slices.ContainsFunc(all, func(r *Repository) bool { return !r.shipped(&s) }) {
			continue
		}
		if err := log.Remove(s.Path); err != nil {
			return err
		}
	}
	return nil
}

// shipped reports whether a segment, which gets no more entries, is stored with its contents.
func (r *Repository) shipped(s *stream.Segment) bool {
	key := segmentOf(s)
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	for _, of := range r.ship.pending {
		if of == key {
			return false
		}
	}
	return r.ship.whole[key]
}

// storePart stores a part of a segment, and returns the name of its object.
func (r *Repository) storePart(ctx context.Context, p *stream.Part) (name string, err error) {
	put := func() error {
		_, err := r.quietly().put(ctx, name, p.Size, func(out io.Writer) error {
			_, err := io.Copy(out, p.Open())
			return err
		})
		return err
	}
	name = r.start + streamName + p.Name()
	if err = put(); errors.Is(err, ErrExists) { // an earlier attempt has stored it without knowing
		if err = r.sameAs(ctx, name, p); errors.Is(err, errDiffers) { // it was altered, and nothing is deleted there
			name = r.anotherStart() + streamName + p.Name()
			err = put()
		}
	}
	if err != nil {
		return "", err
	}
	stored := part{Part: stream.Part{Epoch: p.Epoch, First: p.First, Last: p.Last, Time: p.Time}}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	r.ship.added = merge(append(r.ship.added, stored))
	r.ship.parts = merge(append(r.ship.parts, stored))
	return name, nil
}

var errDiffers = errors.New("it exists, and is not what was to be stored there")

// sameAs returns an error unless an object has the bytes of a part.
func (r *Repository) sameAs(ctx context.Context, name string, p *stream.Part) error {
	want, err := digestOf(p.Open())
	if err != nil {
		return err
	}
	got, err := r.read(ctx, Stored{Object: name}, nil)
	if err == nil && got != want {
		err = fmt.Errorf("%s: %w", name, errDiffers)
	}
	return err
}

// quietly returns a writer without progress.
func (r *Repository) quietly() *writer {
	return &writer{Repository: r, progress: func(int64, int64) {}, limit: r.limit}
}

// noteContents notes the contents that the entries of a part name. Those in a part that only the
// recipients can open are left to the next copy.
func (r *Repository) noteContents(p *stream.Part, of segment) error {
	in, err := stream.NewReader(p.Open(), []age.Identity{r.server})
	if errors.Is(err, stream.ErrOtherKey) {
		return nil
	}
	for err == nil {
		var e *stream.Entry
		if e, err = in.Next(); err != nil {
			break
		}
		r.ship.mu.Lock()
		for _, d := range e.Stored {
			r.ship.pending[blob.Digest(d)] = of
		}
		r.ship.mu.Unlock()
	}
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("the commit stream on this disk: %w", err)
}

// shipContents stores the contents that entries name, and indexes that name them: also those that are
// stored already, so that Prune keeps them as long as the entries.
func (r *Repository) shipContents(ctx context.Context) error {
	r.ship.mu.Lock()
	pending := slices.Collect(maps.Keys(r.ship.pending))
	r.ship.mu.Unlock()
	b := batch{w: r.quietly(), flushed: r.listed}
	var failed error
	for _, d := range pending {
		c, known := r.lookUp(d)
		if !known {
			var local localError
			c, failed = b.w.storeLocal(ctx, d)
			if errors.As(failed, &local) { // it was deleted since, or is damaged, which the next copy reports
				failed = nil
				continue
			}
		}
		if failed == nil {
			failed = b.add(ctx, c)
		}
		if failed != nil {
			break
		}
	}
	if err := errors.Join(failed, b.flush(ctx)); err != nil {
		return err
	}
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	for _, d := range pending {
		delete(r.ship.pending, d)
	}
	return nil
}

// name notes that a content is about to be named by an index. The caller holds the lock.
func (s *shipping) name(c storedContent) {
	s.named[c.SHA256], s.unlisted[c.SHA256] = c, true
}

// listed notes that an index names all contents that were about to be named.
func (r *Repository) listed() {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	clear(r.ship.unlisted)
}

// lookUp returns a content that is stored and stays so.
func (r *Repository) lookUp(d blob.Digest) (c storedContent, ok bool) {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	if c, ok = r.ship.named[d]; ok {
		r.ship.name(c)
		return c, true
	}
	if c, ok = r.ship.contents[d]; !ok || r.ship.doomed[c.Stored.Object] {
		return c, false
	}
	r.ship.name(c)
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
		w.ship.name(c)
		w.ship.mu.Unlock()
	}
	return c, err
}

// Pending returns the number of contents that entries name and that may not be stored.
func (r *Repository) Pending() int {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	return len(r.ship.pending)
}

// Ranges returns which moments can be restored, the oldest first.
func (r *Repository) Ranges() []Range {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	return ranges(r.ship.copies, r.ship.parts)
}
