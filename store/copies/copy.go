package copies

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"filippo.io/age"

	"reeve/store/blob"
	"reeve/store/kv"
	"reeve/store/seal"
	"reeve/store/stream"
)

// Contents are listed in an index when so many of them, or so many bytes, were stored since the last
// one: what an interrupted copy has stored until then is not stored again.
const (
	indexContents = 1000
	indexBytes    = 256 << 20
)

// Copy adds a copy of the database. version is that of the program. progress is called with the bytes
// that were sent and read back, and those of all. After an error, what it has stored is deleted again,
// except contents that an index names, which the next copy uses.
func (r *Repository) Copy(ctx context.Context, version string, progress func(done, total int64)) (err error) {
	s, err := r.Scan(ctx)
	if err != nil {
		return err
	}
	b, err := r.db.BackupRecords(ctx, true)
	if err != nil {
		return err
	}
	defer b.Close() // a copy that can't be closed was made anyway

	m := &Manifest{
		Format:   formatNumber,
		Version:  version,
		Instance: r.instance,
		Time:     b.Time().Std().UTC(),
		Records:  b.Records(),
		Nodes:    r.options.Nodes,
		LogHead:  b.LogHead(),
		Contents: []blob.Digest{},
	}
	if head := b.StreamHead(); head.Epoch != "" {
		m.Stream, m.Left = &head, r.db.StreamLeft()
		if i := slices.IndexFunc(m.Left, func(h stream.Head) bool { return h.Epoch == head.Epoch }); i >= 0 {
			m.Left = m.Left[:i] // the snapshot is older
		}
	}
	total, missing := b.Size(), int64(0)
	for _, c := range b.Contents() {
		m.Contents = append(m.Contents, c.SHA256)
		m.Bytes += c.Size
		if _, there := s.contents[c.SHA256]; !there {
			missing += c.Size
		}
	}
	w := &writer{
		Repository: r,
		progress:   progress,
		limit:      r.limit,
		total:      2 * (total + missing), // each byte is sent and read back
	}
	defer func() {
		if err != nil {
			w.clear(ctx)
		}
	}()
	if err := w.storeContents(ctx, s, b); err != nil {
		return err
	}

	name := r.start + copiesName + m.Time.Format(timeLayout)
	m.Data, err = w.store(ctx, name+dataSuffix, b.Size(), with(r.options.Recipients, r.memory.Recipient()),
		func(out io.Writer) error {
			_, err := b.WriteTo(out)
			return err
		})
	if err != nil {
		return err
	}
	if m.Erased, err = w.storeErased(ctx, name); err != nil {
		return err
	}
	_, err = w.storeJSON(ctx, name+listSuffix, m)
	return err
}

// writer stores the objects of a copy.
type writer struct {
	*Repository
	progress    func(done, total int64)
	limit       *Limiter
	done, total int64
	unnamed     []string // objects that may be stored and that no manifest and no index names, in their order
}

// lastTime is the timeout of the requests after a copy has failed or was cancelled.
const lastTime = 5 * time.Second

func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastTime)
}

// clear deletes the objects that nothing names, which would stay for a day, on a disk that may be full.
// The newest are the first, so that nothing names an object that is gone. It ends with the first error,
// which is the one that the copy has failed with, or hides it; Prune deletes what is left.
func (w *writer) clear(ctx context.Context) {
	if w.options.NoDelete {
		return
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	for _, name := range slices.Backward(w.unnamed) {
		if w.target.Delete(ctx, name) != nil {
			return
		}
	}
}

// storeContents stores the contents that no index names.
func (w *writer) storeContents(ctx context.Context, s *Scan, b *kv.Backup) error {
	stored := batch{w: w}
	for _, c := range b.Contents() {
		if _, there := s.contents[c.SHA256]; there {
			continue
		}
		one, err := w.storeContent(ctx, c.SHA256, c.Size, func() (io.Reader, error) { return b.Open(c) })
		if err == nil {
			err = stored.add(ctx, one)
		}
		if err != nil {
			last, cancel := afterwards(ctx)
			defer cancel()
			return errors.Join(err, stored.flush(last))
		}
	}
	return stored.flush(ctx)
}

// storeContent stores a content.
func (w *writer) storeContent(ctx context.Context, d blob.Digest, size int64, open func() (io.Reader, error)) (storedContent, error) {
	stored, err := w.store(ctx, w.start+filesName+randomName(), size, with(w.options.Recipients, w.memory.Recipient()), func(out io.Writer) error {
		content, err := open()
		if err != nil {
			return localError{err}
		}
		sum := sha256.New()
		read := &seal.Reader{R: io.TeeReader(content, sum)}
		_, err = io.Copy(out, read)
		switch {
		case read.Err != nil:
			return localError{read.Err}
		case err == nil && blob.Digest(sum.Sum(nil)) != d:
			err = localError{fmt.Errorf("the file %s is damaged", d)}
		}
		return err
	})
	return storedContent{d, size, stored}, err
}

// batch are contents that the next index names.
type batch struct {
	w        *writer
	flushed  func() // called when an index names them; nil for none
	contents []storedContent
	bytes    int64
}

func (b *batch) add(ctx context.Context, c storedContent) error {
	b.contents, b.bytes = append(b.contents, c), b.bytes+c.Size
	if len(b.contents) >= indexContents || b.bytes >= indexBytes {
		return b.flush(ctx)
	}
	return nil
}

// flush stores the index.
func (b *batch) flush(ctx context.Context) error {
	if len(b.contents) == 0 {
		return nil
	}
	_, err := b.w.storeJSON(ctx, b.w.start+filesName+randomName()+indexSuffix, index{formatNumber, b.contents, b.w.recipients})
	b.contents, b.bytes = nil, 0
	if err == nil {
		b.w.unnamed = nil
	}
	if err == nil && b.flushed != nil {
		b.flushed()
	}
	return err
}

// storeJSON stores a value for the recipients and the server.
func (w *writer) storeJSON(ctx context.Context, name string, value any) (Stored, error) {
	text, err := sealJSON(value, with(w.options.Recipients, w.server))
	if err != nil {
		return Stored{}, err
	}
	return w.put(ctx, name, int64(len(text)), func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}

// store stores a content of size bytes, encrypted to recipients.
func (w *writer) store(ctx context.Context, name string, size int64, recipients []age.Recipient,
	write func(io.Writer) error) (Stored, error) {
	sealed, err := seal.Size(size, recipients...)
	if err != nil {
		return Stored{}, err
	}
	return w.put(ctx, name, sealed, func(out io.Writer) error {
		sealing, err := age.Encrypt(out, recipients...)
		if err == nil {
			err = write(sealing)
		}
		if err != nil {
			return err
		}
		return sealing.Close()
	})
}

// put stores an object of size bytes and reads it back. One that differs is deleted, unless nothing is.
func (w *writer) put(ctx context.Context, name string, size int64, write func(io.Writer) error) (Stored, error) {
	out := Stored{Object: name, Size: size}
	in, pipe := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(pipe)
		pipe.CloseWithError(err)
		written <- err
	}()
	sum := sha256.New()
	sent := &counted{ctx: ctx, r: io.TeeReader(in, sum), w: w, limit: w.limit}
	w.unnamed = append(w.unnamed, name)
	err := w.target.Put(ctx, name, size, sent)
	in.CloseWithError(errors.New("the target has stopped reading")) // so that write ends
	if local := (localError{}); errors.As(<-written, &local) {
		err = local
	}
	if err != nil {
		return out, fmt.Errorf("store %s: %w", name, err)
	}
	out.SHA256 = blob.Digest(sum.Sum(nil))

	got, err := w.read(ctx, out, w)
	if err == nil && got != out.SHA256 {
		err = fmt.Errorf("%s was stored, and is another one when it is read back", name)
		if !w.options.NoDelete {
			err = errors.Join(err, w.target.Delete(ctx, name))
		}
	}
	return out, err
}

// read reads an object and returns the digest of its bytes.
func (r *Repository) read(ctx context.Context, s Stored, w *writer) (blob.Digest, error) {
	in, err := r.target.Get(ctx, s.Object)
	if err != nil {
		return blob.Digest{}, fmt.Errorf("read %s back: %w", s.Object, err)
	}
	defer in.Close() // read only: nothing can be lost
	sum, err := digestOf(&counted{ctx: ctx, r: in, w: w, limit: NewLimiter(0)})
	if err != nil {
		err = fmt.Errorf("read %s back: %w", s.Object, err)
	}
	return sum, err
}

// isSound reads a content, and reports whether it is what was stored. If this process has stored it, it is also opened:
// others only know the hash of the encrypted bytes.
func (r *Repository) isSound(ctx context.Context, c storedContent) (bool, error) {
	in, err := r.target.Get(ctx, c.Stored.Object)
	if err != nil {
		return false, fmt.Errorf("read %s back: %w", c.Stored.Object, err)
	}
	defer in.Close() // read only: nothing can be lost
	stored, content := sha256.New(), sha256.New()
	read := &seal.Reader{R: &counted{ctx: ctx, r: in, limit: NewLimiter(0)}}
	all := io.TeeReader(read, stored)
	opened, fault := age.Decrypt(all, r.memory)
	other := errors.As(fault, new(*age.NoIdentityMatchError))
	if fault == nil {
		_, fault = io.Copy(content, opened)
	}
	_, err = io.Copy(io.Discard, all)
	if err = cmp.Or(read.Err, err); err != nil {
		return false, fmt.Errorf("read %s back: %w", c.Stored.Object, err)
	}
	sound := blob.Digest(stored.Sum(nil)) == c.Stored.SHA256
	if !other {
		sound = sound && fault == nil && blob.Digest(content.Sum(nil)) == c.SHA256
	}
	return sound, nil
}

func digestOf(r io.Reader) (d blob.Digest, err error) {
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	return blob.Digest(sum.Sum(nil)), err
}

// counted reports the bytes that are read, and slows them down.
type counted struct {
	ctx   context.Context
	r     io.Reader
	w     *writer // nil for none
	limit *Limiter
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	if c.limit != nil {
		p = p[:min(len(p), c.limit.Most())]
	}
	n, err := c.r.Read(p)
	if c.w != nil {
		c.w.done += int64(n)
		c.w.progress(min(c.w.done, c.w.total), c.w.total)
	}
	if c.limit != nil {
		c.limit.Wait(c.ctx, n)
	}
	return n, err
}
