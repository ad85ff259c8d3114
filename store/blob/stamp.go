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

// Stamp stores a stamp of this process, and deletes its earlier ones. It returns the time of the stamp,
// by the clock of the bucket, and when another process has stored one since this one began, at first;
// zero for none.
func (r *Remote) Stamp(ctx context.Context, process string, first time.Time) (now, other time.Time, err error) {
	own := r.prefix + stamps + process + "/"
	name := own + StampName()
	err = r.request(ctx, patience, func(ctx context.Context, _ func()) error {
		if err := r.bucket.Put(ctx, name, 0, strings.NewReader("")); err != nil {
			return err
		}
		var old []string
		err := r.bucket.Walk(ctx, r.prefix+stamps, func(found string, _ int64, modified time.Time) error {
			switch {
			case found == name:
				now = modified
			case strings.HasPrefix(found, own), first.IsZero() && time.Since(modified) > forgotten:
				old = append(old, found)
			case !first.IsZero() && modified.After(first) && modified.After(other):
				other = modified
			}
			return nil
		})
		if err == nil && now.IsZero() {
			err = errors.New("an object was stored and is not in the list of objects")
		}
		for i := 0; i < len(old) && err == nil; i++ {
			err = r.bucket.Delete(ctx, old[i])
		}
		return err
	})
	return now, other, err
}

// forgotten is the age of the stamps of a process that has ended.
const forgotten = 30 * 24 * time.Hour

// Probe asks the bucket for an object that is not there, only to know whether it answers.
func (r *Remote) Probe(ctx context.Context) error {
	err := r.request(ctx, readPatience, func(ctx context.Context, _ func()) error {
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
	err := r.request(ctx, patience, func(ctx context.Context, moved func()) error {
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
	return r.request(ctx, patience, func(ctx context.Context, _ func()) error {
		return r.bucket.Delete(ctx, name)
	})
}
