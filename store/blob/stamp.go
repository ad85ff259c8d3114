package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"time"

	"reeve/store/stall"
)

// Each process that uses the objects of an installation stores a stamp now and then, an empty object.
// So each knows of the others: of one with a copy of the data, that names objects which this one does
// not know.

// stamps begins the names of the stamps of an installation.
const stamps = "alive/"

// StampName returns a name for the stamps of a process.
func StampName() string { return strings.ToLower(rand.Text()[:16]) }

// walkPatience is how many times as long a list may take: it is many requests.
const walkPatience = 10

// Stamp stores a stamp of this process, and deletes its earlier ones. It returns the time of the stamp,
// by the clock of the bucket, and when another process has stored one since this one began, at first;
// zero for none.
func (r *Remote) Stamp(ctx context.Context, process string, first time.Time) (now, other time.Time, err error) {
	own := r.prefix + stamps + process + "/"
	name := own + StampName()
	guarded, _, end := stall.Guard(ctx, stall.Patience)
	defer end()
	err = r.bucket.Put(guarded, name, 0, strings.NewReader(""))
	var old []string
	if err == nil {
		err = r.bucket.Walk(guarded, r.prefix+stamps, func(found string, _ int64, modified time.Time) error {
			switch {
			case found == name:
				now = modified
			case strings.HasPrefix(found, own):
				old = append(old, found)
			case !first.IsZero() && modified.After(first) && modified.After(other):
				other = modified
			case first.IsZero() && time.Since(modified) > forgotten:
				old = append(old, found)
			}
			return nil
		})
	}
	if err == nil && now.IsZero() {
		err = errors.New("what was stored is not in the list of objects")
	}
	for i := 0; i < len(old) && err == nil; i++ {
		err = r.bucket.Delete(guarded, old[i])
	}
	return now, other, r.answered(ctx, stall.Cause(guarded, err))
}

// forgotten is the age of the stamps of a process that has ended.
const forgotten = 30 * 24 * time.Hour

// Probe asks the bucket for an object that is not there, only to know whether it answers.
func (r *Remote) Probe(ctx context.Context) error {
	guarded, _, end := stall.Guard(ctx, readPatience)
	defer end()
	_, _, err := r.bucket.Stat(guarded, r.prefix+stamps+"none")
	if err = r.answered(ctx, stall.Cause(guarded, err)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Walk calls fn for each object that has a content, until it returns an error, which it returns.
func (r *Remote) Walk(ctx context.Context, fn func(name string, size int64, modified time.Time) error) error {
	guarded, moved, end := stall.Guard(ctx, walkPatience*stall.Patience)
	defer end()
	var own error
	err := r.bucket.Walk(guarded, r.prefix+contents, func(name string, size int64, modified time.Time) error {
		moved()
		own = fn(name, size, modified)
		return own
	})
	if own != nil {
		return own
	}
	return r.answered(ctx, stall.Cause(guarded, err))
}

// Delete deletes an object.
func (r *Remote) Delete(ctx context.Context, name string) error {
	guarded, _, end := stall.Guard(ctx, stall.Patience)
	defer end()
	return r.answered(ctx, stall.Cause(guarded, r.bucket.Delete(guarded, name)))
}
