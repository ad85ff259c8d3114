package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"syscall"

	"filippo.io/age"

	"reeve/store/stream"
)

// A proof also reads the commits that the list says can be restored, as a restore would follow them: those between
// the last two copies each time, and those before and after them once for each process, until their objects change.

// proveBytes is how many bytes of commits a proof reads beside those between the last two copies. The rest is left
// to the next one.
const proveBytes = 1 << 30

// requestBytes is how many of these bytes a request counts as: parts may be short.
const requestBytes = 256 << 10

// mostListed is how often the commits of a span are listed again because their objects were replaced while they
// were read.
const mostListed = 3

// span is a part of a Range: the commits from one copy to the next one, or to the last one that is stored.
type span struct {
	from, to stream.Head // the hash of to is zero if no copy ends the span
}

// spans returns the spans of all epochs, those that begin last first.
func spans(all []*Copy, parts []part) (out []span) {
	epochs := map[string][]stream.Head{}
	for _, c := range all {
		if c.Fault == nil && c.Manifest != nil && c.Manifest.Stream != nil {
			h := *c.Manifest.Stream
			epochs[h.Epoch] = append(epochs[h.Epoch], h)
		}
	}
	for _, heads := range epochs {
		sort.Slice(heads, func(i, j int) bool { return heads[i].Number < heads[j].Number })
		for i, from := range heads {
			to := from
			if to.Number, to.Time = reach(parts, from); i+1 < len(heads) && heads[i+1].Number <= to.Number {
				to = heads[i+1]
			} else {
				to.Hash = stream.Hash{}
			}
			if to.Number > from.Number {
				out = append(out, span{from, to})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].from.Time > out[j].from.Time })
	return out
}

// of returns the parts that have commits of the span.
func (s *span) of(parts []part) (out []part) {
	for _, p := range parts {
		if p.Epoch == s.from.Epoch && p.First <= s.to.Number && p.Last > s.from.Number {
			out = append(out, p)
		}
	}
	return out
}

// readPart is a part whose commits from one to another one were read, and follow one another.
type readPart struct {
	object      Object
	first, last uint64
}

// covers reports whether a proof has read all commits of a span that the parts have.
func (r *Repository) covers(s *span, parts []part) bool {
	return !slices.ContainsFunc(parts, func(p part) bool {
		read := r.reading[p.object.Name]
		return !p.object.same(read.object) || read.first > max(p.First, s.from.Number+1) || read.last < min(p.Last, s.to.Number)
	})
}

func (o Object) same(other Object) bool {
	return o.Name == other.Name && o.Size == other.Size && o.Modified.Equal(other.Modified)
}

// noteRead notes that the commits of a span were read from parts.
func (r *Repository) noteRead(s *span, parts []part) {
	for _, p := range parts {
		now := readPart{p.object, max(p.First, s.from.Number+1), p.Last}
		if before := r.reading[p.object.Name]; p.object.same(before.object) && before.first <= now.last+1 && now.first <= before.last+1 {
			now.first, now.last = min(now.first, before.first), max(now.last, before.last)
		}
		r.reading[p.object.Name] = now
	}
}

// listParts lists the parts of the commit stream.
func (r *Repository) listParts(ctx context.Context) (parts []part, err error) {
	objects, err := r.target.List(ctx, r.instance+"/")
	for _, o := range objects {
		if p, ok := partOf(o); ok {
			parts = append(parts, p)
		}
	}
	sortParts(parts)
	return parts, err
}

// readSpan reads the commits of a span, which must lead from its beginning to its end, and returns their number.
// Those that only the identities open, because they are of an earlier secret.key, are not read.
func (r *Repository) readSpan(ctx context.Context, s *span, parts []part) (n int, err error) {
	stored, _ := reach(parts, s.from)
	for range mostListed {
		paced := &pacedTarget{Target: r.target, limit: NewLimiter(0)}
		n, err = lead(ctx, paced, parts, s.from, s.to, []age.Identity{r.server})
		if read := s.from.Number + uint64(n); err == nil && read < min(stored, s.to.Number) { // parts were deleted since they were listed
			err = fmt.Errorf("the commits from %d to %d are missing", read+1, min(stored, s.to.Number))
		}
		if err == nil {
			r.noteRead(s, parts)
			return n, nil
		}
		switch {
		case errors.Is(err, stream.ErrOtherKey):
			return n, nil
		case paced.err != nil:
			return n, unavailableError{err}
		}
		all, listed := r.listParts(ctx)
		if listed != nil {
			return n, errors.Join(err, listed)
		}
		now := s.of(all)
		if slices.EqualFunc(now, parts, func(a, b part) bool { return a.object.same(b.object) }) {
			return n, err
		}
		parts = now
	}
	return n, err
}

// unavailableError is an error of the target, which says nothing about what is stored there.
type unavailableError struct{ error }

func (e unavailableError) Unwrap() error { return e.error }

// pacedTarget is a target whose objects are read at the pace of a limiter.
type pacedTarget struct {
	Target
	limit *Limiter
	err   error // error of the target; nil if objects are only missing, or on a bad sector
}

func (p *pacedTarget) note(err error) {
	if err != nil && err != io.EOF && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EIO) {
		p.err = err
	}
}

func (p *pacedTarget) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := p.Target.Get(ctx, name)
	if err != nil {
		p.note(err)
		return nil, err
	}
	return &pacedReader{in, &counted{ctx: ctx, r: in, limit: p.limit}, p}, nil
}

type pacedReader struct {
	io.Closer
	in   io.Reader
	from *pacedTarget
}

func (r *pacedReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.from.note(err)
	return n, err
}

// proveOthers reads the commits that this process has not read yet, those before the copies the newest first.
// Commits that can't be restored are told by Lost, and no longer by Ranges: they are no fault of the copy.
func (r *Repository) proveOthers(ctx context.Context, s *Scan) error {
	parts, err := r.listParts(ctx)
	if err != nil {
		return err
	}
	present := map[string]Object{}
	for _, p := range parts {
		present[p.object.Name] = p.object
	}
	for name, read := range r.reading {
		if !present[name].same(read.object) {
			delete(r.reading, name)
		}
	}

	before := map[span]*unreadable{}
	for _, u := range r.unread() {
		before[u.span] = u
	}
	var faults []*unreadable
	left := r.proveBytes
	for _, one := range spans(s.Copies, parts) {
		of := one.of(parts)
		if r.covers(&one, of) {
			continue
		}
		size := int64(0)
		for _, p := range of {
			size += p.object.Size
		}
		if left <= 0 {
			if u := before[one]; u != nil {
				faults = append(faults, u)
			}
			continue
		}
		left -= size + int64(len(of))*requestBytes
		if _, err = r.readSpan(ctx, &one, of); err == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var bad partError
		if errors.As(err, &unavailableError{}) { // the next proof tries again
			if u := before[one]; u != nil {
				faults = append(faults, u)
			}
			left = 0
			continue
		}
		errors.As(err, &bad) // a fork has none
		faults = append(faults, &unreadable{one, bad.object, err})
	}
	r.ship.mu.Lock()
	r.ship.unreadable = faults
	r.ship.mu.Unlock()
	return nil
}

// partError is the error of a part of the commit stream.
type partError struct {
	object Object
	err    error
}

func (e partError) Error() string { return e.object.Name + ": " + e.err.Error() }
func (e partError) Unwrap() error { return e.err }

// unreadable is a span whose commits can't be restored.
type unreadable struct {
	span
	part Object // object that is damaged; none if that can't be said
	err  error
}

func (r *Repository) unread() []*unreadable {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	return r.ship.unreadable
}

// sound returns the parts that no proof has found to be damaged. The caller holds the lock.
func (s *shipping) sound(parts []part) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return slices.ContainsFunc(s.unreadable, func(u *unreadable) bool { return p.object.same(u.part) })
	})
}
