// Package stall ends operations of a remote service in which nothing moves.
//
//	guarded, moved, end := stall.Guard(ctx, stall.Patience)
//	defer end()
//	err := stall.Cause(guarded, put(guarded, &stall.Reader{Reader: content, Moved: moved}))
package stall

import (
	"context"
	"errors"
	"io"
	"time"
)

// Patience is the time after which a transfer ends in which no byte has moved, and a request that
// moves none.
const Patience = 2 * time.Minute

// ErrStalled is the error of an operation in which nothing has moved.
var ErrStalled = errors.New("the target does not respond")

// Guard returns a context that ends when moved is not called for a time, and the function that frees
// it.
func Guard(ctx context.Context, patience time.Duration) (guarded context.Context, moved func(), end func()) {
	guarded, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(patience, func() { cancel(ErrStalled) })
	return guarded, func() { timer.Reset(patience) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Cause returns the reason for which a guarded context has ended instead of an error that it caused.
func Cause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrStalled) {
		return ErrStalled
	}
	return err
}

// Reader calls Moved for each read.
type Reader struct {
	io.Reader
	Moved func()
}

// Sent calls Moved for bytes that were read before and are sent now, see s3.Bucket.Put.
func (r *Reader) Sent() { r.Moved() }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.Moved()
	return n, err
}
