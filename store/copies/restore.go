package copies

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"

	"filippo.io/age"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/kv"
	"reeve/store/seal"
)

// List returns the copies at a target that one of the identities opens, the newest first, and how
// many it does not open.
func List(ctx context.Context, target Target, identities []age.Identity) (all []*Manifest, others int, err error) {
	objects, err := target.List(ctx, "")
	if err != nil {
		return nil, 0, err
	}
	shipped := map[string]time.Time{}
	for _, o := range objects {
		if p, ok := partOf(o); ok {
			start, at := startOf(o.Name), time.UnixMicro(p.Time).UTC()
			if at.After(shipped[start]) {
				shipped[start] = at
			}
		}
	}
	for _, o := range objects {
		name, suffix, ok := base(o.Name)
		if !ok || suffix != listSuffix {
			continue
		}
		m, err := readManifest(ctx, target, name, identities)
		switch {
		case err == nil:
			m.shipped = shipped
			all = append(all, m)
		case errors.Is(err, errOtherKey) || errors.Is(err, errNewer) || isDamage(err):
			others++
		default:
			return nil, 0, err
		}
	}
	sortManifests(all)
	return all, others, nil
}

// Fetch reads the archive of a copy to a new file, and compares its bytes.
func Fetch(ctx context.Context, target Target, m *Manifest, path string) (err error) {
	return fetch(ctx, target, m, path, nil)
}

// fetch is Fetch at the pace of a limiter; nil for as fast as possible.
func fetch(ctx context.Context, target Target, m *Manifest, path string, limit *Limiter) (err error) {
	in, err := target.Get(ctx, m.Data.Object)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is missing", m.Data.Object)
	}
	if err != nil {
		return err
	}
	defer in.Close() // read only: nothing can be lost
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(&disk.StepWriter{File: f}, sum), &counted{ctx: ctx, r: in, limit: limit})
	if err = errors.Join(err, f.Close()); err == nil && (n != m.Data.Size || blob.Digest(sum.Sum(nil)) != m.Data.SHA256) {
		err = damage{fmt.Errorf("%s is damaged: it is not what was stored", m.Data.Object)}
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// Contents returns a function that opens the contents of files in the copies of an installation.
func Contents(ctx context.Context, target Target, instance string, identities []age.Identity) (kv.Contents, error) {
	objects, err := target.List(ctx, instance+"/")
	if err != nil {
		return nil, err
	}
	sizes, stored := map[string]int64{}, map[blob.Digest][]Stored{}
	for _, o := range objects {
		sizes[o.Name] = o.Size
	}
	sort.SliceStable(objects, func(i, j int) bool { return objects[i].Modified.After(objects[j].Modified) }) // one that was damaged was stored again
	for _, o := range objects {
		if !strings.HasSuffix(o.Name, indexSuffix) {
			continue
		}
		in := index{}
		if err := readJSON(ctx, target, o.Name, &in, identities); err != nil && !isDamage(err) && !errors.Is(err, errOtherKey) {
			return nil, err
		}
		for _, c := range in.Contents {
			if sizes[c.Stored.Object] == c.Stored.Size {
				stored[c.SHA256] = append(stored[c.SHA256], c.Stored)
			}
		}
	}

	return func(c kv.Content, nth int) (io.ReadCloser, error) {
		if nth >= len(stored[c.SHA256]) {
			return nil, fs.ErrNotExist
		}
		in, err := target.Get(ctx, stored[c.SHA256][nth].Object)
		if err != nil {
			return nil, unavailable(err)
		}
		read := &seal.Reader{R: in}
		opened, err := age.Decrypt(read, identities...)
		if read.Err != nil {
			err = unavailable(read.Err)
		}
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return &contentReader{in, read, opened}, nil
	}, nil
}

// contentReader reads an object with a content.
type contentReader struct {
	io.Closer
	stored *seal.Reader
	opened io.Reader
}

func (r *contentReader) Read(p []byte) (int, error) {
	n, err := r.opened.Read(p)
	if r.stored.Err != nil {
		err = unavailable(r.stored.Err)
	}
	return n, err
}

// errGone is not fs.ErrNotExist: another object may have the content.
var errGone = errors.New("the object is missing")

// unavailable returns an error of reading an object as one of the target, unless the object is missing or damaged.
func unavailable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if errors.Is(err, syscall.EIO) { // a bad sector
		return err
	}
	return fmt.Errorf("%w: %w", kv.ErrUnavailable, err)
}
