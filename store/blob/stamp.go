package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// Each process that uses the objects of an installation stores a stamp now and then, an empty object.
// So each knows of the others: of one with a copy of the data, that names objects which this one does
// not know.

// stamps begins the names of the stamps of an installation.
const stamps = "alive/"

// StampName returns a name for the stamps of a process.
func StampName() string { return strings.ToLower(rand.Text()[:16]) }

// Stamp stores a stamp of this process, and deletes its earlier ones and those that are older than
// window. It returns the time of the stamp, by the clock of the bucket, and that of the newest one of
// another process; zero for none.
func (r *Remote) Stamp(ctx context.Context, process string, window time.Duration) (now, other time.Time, err error) {
	name := r.prefix + stamps + process + "/" + StampName()
	err = r.request(ctx, r.patience.send, func(ctx context.Context, _ func()) error {
		sending, end := unhurried(ctx)
		defer end()
		if err := r.bucket.Put(sending, name, 0, strings.NewReader("")); err != nil {
			return err
		}
		all := map[string]time.Time{}
		err := r.bucket.Walk(ctx, r.prefix+stamps, func(found string, _ int64, modified time.Time) error {
			all[found] = modified
			return nil
		})
		if err != nil {
			return err
		}
		if now = all[name]; now.IsZero() {
			return errors.New("an object was stored and is not in the list of objects")
		}
		for found, modified := range all {
			own := strings.HasPrefix(found, r.prefix+stamps+process+"/")
			switch {
			case found == name:
			case own || now.Sub(modified) > window:
				err = errors.Join(err, r.bucket.Delete(ctx, found))
			case modified.After(other):
				other = modified
			}
		}
		return err
	})
	return now, other, err
}

// Unstamp deletes the stamps of this process, which ends.
func (r *Remote) Unstamp(process string) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	var own []string
	err := r.bucket.Walk(ctx, r.prefix+stamps+process+"/", func(name string, _ int64, _ time.Time) error {
		own = append(own, name)
		return nil
	})
	for _, name := range own {
		err = errors.Join(err, r.bucket.Delete(ctx, name))
	}
	return err
}

// leaveTime is the time that a process that ends takes at most for the stamp that it is storing, and
// to delete its stamps.
const leaveTime = 2 * time.Second

// unhurried returns a context that ends leaveTime after ctx, or has ended with it. A request that is
// given up may still be carried out: a stamp that is stored after Unstamp would stay.
func unhurried(ctx context.Context) (context.Context, func()) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(leaveTime, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// Probe asks the bucket for an object that is not there, only to know whether it answers.
func (r *Remote) Probe(ctx context.Context) error {
	err := r.request(ctx, r.patience.read, func(ctx context.Context, _ func()) error {
		_, _, err := r.bucket.Stat(ctx, r.prefix+stamps+"none")
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Walk calls fn for each object that has a content, until it returns an error, which it returns.
func (r *Remote) Walk(ctx context.Context, fn func(name string, size int64, modified time.Time) error) error {
	var own error
	err := r.request(ctx, r.patience.send, func(ctx context.Context, moved func()) error {
		err := r.bucket.Walk(ctx, r.prefix+contents, func(name string, size int64, modified time.Time) error {
			moved()
			own = fn(name, size, modified)
			return own
		})
		if own != nil {
			return nil // the bucket has answered
		}
		return err
	})
	return errors.Join(own, err)
}

// Delete deletes an object.
func (r *Remote) Delete(ctx context.Context, name string) error {
	return r.request(ctx, r.patience.send, func(ctx context.Context, _ func()) error {
		return r.bucket.Delete(ctx, name)
	})
}
