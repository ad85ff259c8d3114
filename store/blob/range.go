package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"time"

	"filippo.io/age"

	"reeve/store/stall"
)

// Read returns n bytes of the content of an object from an offset. Their authenticity is checked: they
// are those that were stored under the name of the object, at that offset.
func (r *Remote) Read(ctx context.Context, o Object, at, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	key, err := r.cipher(o)
	if err != nil {
		return nil, err
	}
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
	case <-ctx.Done():
		return nil, r.answered(ctx, ctx.Err())
	case <-time.After(r.patience.read): // the others wait for the bucket
		return nil, r.answered(ctx, stall.ErrStalled)
	}

	from, to := o.sealedRange(at, n)
	if from < 0 {
		return nil, missing(o, errors.New("its size does not fit its content"))
	}
	got := pieces{}
	piece, err := r.get(ctx, o, from, to)
	if err == nil {
		got.add(piece)
		err = r.addEnds(ctx, o, &got)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = missing(o, errors.New("a record leads to it, and it is not there"))
	}
	if err != nil {
		return nil, err
	}
	plain, size, err := age.DecryptReaderAt(&got, o.Bytes, key)
	if err != nil {
		return nil, missing(o, err)
	}
	if size != o.Size {
		return nil, missing(o, fmt.Errorf("it has a content of %d bytes, not %d", size, o.Size))
	}
	out := make([]byte, n)
	if _, err := plain.ReadAt(out, at); err != nil && err != io.EOF {
		return nil, missing(o, err)
	}
	return out, nil
}

// head returns the number of bytes before the first chunk of age.
func (o Object) head() int64 {
	chunks := max(1, (o.Size+sealedChunk-17)/(sealedChunk-16))
	return o.Bytes - o.Size - 16*chunks
}

// sealedRange returns the bytes of the object that n bytes of its content from an offset are in.
func (o Object) sealedRange(at, n int64) (from, to int64) {
	head := o.head()
	if head < nonceBytes || at < 0 || at+n > o.Size {
		return -1, -1
	}
	if first := at / (sealedChunk - 16); first > 0 { // the head of the object is read with its first chunk
		from = head + first*sealedChunk
	}
	return from, min(o.Bytes, head+((at+n-1)/(sealedChunk-16)+1)*sealedChunk)
}

// piece is a part of an object.
type piece struct {
	from  int64
	bytes []byte
}

// get reads bytes of an object.
func (r *Remote) get(ctx context.Context, o Object, from, to int64) (piece, error) {
	r.mu.Lock()
	r.last.Gets++
	r.mu.Unlock()
	p := piece{from, make([]byte, to-from)}
	return p, r.request(ctx, r.patience.read, func(ctx context.Context, moved func()) error {
		in, err := r.bucket.Range(ctx, o.Name, from, to-from)
		if err != nil {
			return err
		}
		defer in.Close() // read only: nothing can be lost
		for n := 0; n < len(p.bytes) && err == nil; moved() {
			var more int
			more, err = io.ReadAtLeast(in, p.bytes[n:], 1)
			n += more
		}
		return err
	})
}

// ends are the first and the last bytes of an object, which each decryption needs.
type ends struct{ head, tail piece }

// addEnds adds the ends of an object to pieces of it. Those of a few objects are kept.
func (r *Remote) addEnds(ctx context.Context, o Object, got *pieces) (err error) {
	r.mu.Lock()
	known := r.ends[o.Name]
	r.mu.Unlock()
	if known == nil {
		known = &ends{}
		if known.head, err = r.end(ctx, o, got, 0, o.head()); err != nil {
			return err
		}
		last := max(0, (o.Size-1)/(sealedChunk-16))
		if known.tail, err = r.end(ctx, o, got, o.head()+last*sealedChunk, o.Bytes); err != nil {
			return err
		}
		r.mu.Lock()
		for len(r.ends) >= maxEnds {
			for name := range maps.Keys(r.ends) { // any of them
				delete(r.ends, name)
				break
			}
		}
		r.ends[o.Name] = known
		r.mu.Unlock()
	}
	got.add(known.head)
	got.add(known.tail)
	return nil
}

// end returns a part of an object, from those that were read if it is in them.
func (r *Remote) end(ctx context.Context, o Object, got *pieces, from, to int64) (piece, error) {
	p := piece{from, make([]byte, to-from)}
	if _, err := got.ReadAt(p.bytes, from); err == nil {
		return p, nil
	}
	return r.get(ctx, o, from, to)
}

// pieces are parts of an object as an io.ReaderAt, which fails elsewhere.
type pieces struct{ all []piece }

func (s *pieces) add(p piece) { s.all = append(s.all, p) }

// ReadAt implements io.ReaderAt.
func (s *pieces) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		before := n
		for _, p := range s.all {
			if off := at + int64(n) - p.from; off >= 0 && off < int64(len(p.bytes)) {
				n += copy(b[n:], p.bytes[off:])
				break
			}
		}
		if n == before {
			return n, io.ErrUnexpectedEOF
		}
	}
	return n, nil
}
