package blob

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"filippo.io/age"

	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/seal"
	"reeve/store/stall"
)

// Storage stores objects by name outside of this machine, such as in a bucket of package s3.
type Storage interface {
	// Put stores an object of size bytes; fs.ErrExist if there is one with this name. After an error
	// there is one with all its bytes, or none.
	Put(ctx context.Context, name string, size int64, content io.Reader) error
	// Range opens length bytes of an object; fs.ErrNotExist if there is none.
	Range(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// Stat returns the size and the entity tag of an object; fs.ErrNotExist if there is none.
	Stat(ctx context.Context, name string) (size int64, tag string, err error)
	Walk(ctx context.Context, prefix string, fn func(name string, size int64, modified time.Time) error) error
	// Delete deletes an object. It is no error if there is none.
	Delete(ctx context.Context, name string) error
}

// PartBytes is the size of the parts in which a bucket gets a larger object.
const PartBytes = 16 << 20

// Object is an object with the content of a blob, encrypted with age to a key that is bound to its
// name.
type Object struct {
	Name  string
	Bytes int64  // size of the object
	Size  int64  // size of the content
	Key   uint64 // number of the key
}

// Remote keeps contents as objects of a bucket. Each upload is a new object with a random name, which
// is never replaced.
type Remote struct {
	bucket   Storage
	prefix   string // beginning of the names of all objects of the installation
	key      func(number uint64) (uint64, []byte, error)
	patience struct{ send, read time.Duration }
	reading  chan struct{} // limits concurrent requests for bytes, and so their memory
	sending  chan struct{}

	mu   sync.Mutex
	ends map[string]*ends
	last Contact
}

// Contact is the last contact with a bucket.
type Contact struct {
	At    time.Time // time of the last answer; zero for none
	Fault error     // error of the requests since; nil if the last one was answered
	Since time.Time // time of the first of these errors
	Gets  int64     // objects or ranges that were read
	Puts  int64     // objects that were stored
}

const (
	maxReading   = 16
	maxSending   = 4
	readPatience = 30 * time.Second // shorter, because a client waits
	maxEnds      = 64
	sealedChunk  = 64<<10 + 16 // chunk of age with its tag
	nonceBytes   = 16
	stanza       = "reeve-file"
)

// NewRemote returns the contents of an installation in a bucket. key returns a key of 32 bytes by its
// number, and for number 0 the current one.
func NewRemote(bucket Storage, instance string, key func(number uint64) (uint64, []byte, error)) *Remote {
	r := &Remote{
		bucket:  bucket,
		prefix:  instance + "/",
		key:     key,
		reading: make(chan struct{}, maxReading),
		sending: make(chan struct{}, maxSending),
		ends:    map[string]*ends{},
	}
	r.patience.send, r.patience.read = stall.Patience, readPatience
	return r
}

// Contact returns the last contact with the bucket.
func (r *Remote) Contact() Contact {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// answered keeps the outcome of a request, and returns the error for the caller. That the service
// has no such object is an answer.
func (r *Remote) answered(ctx context.Context, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		r.last.At, r.last.Fault = time.Now(), nil
		return err
	case errors.Is(context.Cause(ctx), errClosing):
		return errs.New(errs.Busy, "the server is shutting down")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.last.Fault == nil:
		r.last.Since = time.Now()
	}
	r.last.Fault = err
	return errs.New(errs.Busy, "the bucket that has the contents of files does not answer; try again later").
		Coded("bucket_unavailable").After(retryBucket).Because(err)
}

// request runs a request that ends when nothing moves for a time, and keeps its outcome.
func (r *Remote) request(ctx context.Context, patience time.Duration, run func(ctx context.Context, moved func()) error) error {
	guarded, moved, end := stall.Guard(ctx, patience)
	defer end()
	return r.answered(ctx, stall.Cause(guarded, run(guarded, moved)))
}

// cipher returns the key of an object.
func (r *Remote) cipher(o Object) (k seal.Key, err error) {
	_, secret, err := r.key(o.Key)
	if err != nil {
		return k, err
	}
	return seal.NewKey(secret, stanza, o.Name)
}

// retryBucket is the time after which clients should try again.
const retryBucket = 10 * time.Second

// errClosing ends the requests of a store that is closed.
var errClosing = errors.New("the server is shutting down")

// Store stores a content of size bytes as a new object and proves that the bucket has its bytes. moved
// is called whenever some were sent.
func (r *Remote) Store(ctx context.Context, size int64, content io.Reader, moved func()) (Object, error) {
	select {
	case r.sending <- struct{}{}:
		defer func() { <-r.sending }()
	case <-ctx.Done():
		return Object{}, r.answered(ctx, ctx.Err())
	}
	number, _, err := r.key(0)
	if err != nil {
		return Object{}, err
	}
	o := Object{Name: r.prefix + contents + strings.ToLower(rand.Text()), Size: size, Key: number}
	key, err := r.cipher(o)
	if err == nil {
		o.Bytes, err = seal.Size(size, key)
	}
	if err != nil {
		return Object{}, err
	}

	guarded, alive, end := stall.Guard(ctx, r.patience.send)
	defer end()
	sums := &sums{whole: sha256.New()}
	source := &encrypting{to: key}
	in := source.start(content)
	var over atomic.Bool // the client of the bucket may read for a moment after it has returned
	defer over.Store(true)
	body, err := sendable(io.TeeReader(in, sums), o.Bytes, func() {
		if !over.Load() {
			alive()
			moved()
		}
	})
	if err == nil {
		err = r.bucket.Put(guarded, o.Name, o.Bytes, body)
	}
	in.CloseWithError(errors.New("the bucket has stopped reading")) // so that the encryption ends
	if fault := source.fault(); fault != nil {
		return Object{}, fault // of the content, not of the bucket
	}
	err = stall.Cause(guarded, err)
	if err == nil || errors.Is(err, fs.ErrExist) { // of a request that was sent again although it had succeeded
		err = stall.Cause(guarded, r.prove(guarded, o, sums, alive))
	}
	if err = r.answered(ctx, err); err != nil {
		return Object{}, err
	}
	r.mu.Lock()
	r.last.Puts++
	r.mu.Unlock()
	return o, nil
}

// contents begins the names of the objects of an installation that have contents.
const contents = "content/"

// prove returns an error unless the bucket has the bytes that were sent. An entity tag that is made of
// their MD5 proves it; otherwise they are read back.
func (r *Remote) prove(ctx context.Context, o Object, sent *sums, moved func()) error {
	size, tag, err := r.bucket.Stat(ctx, o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("an object was stored and is not there")
	}
	if err != nil {
		return err
	}
	if size == o.Bytes && strings.Trim(tag, `"`) == sent.tag() {
		return nil
	}
	got := sha256.New()
	in, err := r.bucket.Range(ctx, o.Name, 0, o.Bytes)
	if err != nil {
		return err
	}
	defer in.Close() // read only: nothing can be lost
	n, err := io.Copy(got, &stall.Reader{Reader: in, Moved: moved})
	if err != nil {
		return err
	}
	if size != o.Bytes || n != o.Bytes || !bytes.Equal(got.Sum(nil), sent.whole.Sum(nil)) {
		return errors.Join(errors.New("an object was stored, and is another one when it is read back"),
			r.bucket.Delete(ctx, o.Name))
	}
	return nil
}

// sums are the digests of the bytes of an object.
type sums struct {
	whole hash.Hash // SHA-256
	part  hash.Hash // MD5 of the current part
	left  int       // bytes until it ends
	parts [][]byte  // those of the parts before
}

func (s *sums) Write(p []byte) (int, error) {
	s.whole.Write(p)
	for rest := p; len(rest) > 0; {
		if s.left == 0 {
			s.endPart()
			s.part, s.left = md5.New(), PartBytes
		}
		n := min(len(rest), s.left)
		s.part.Write(rest[:n])
		s.left, rest = s.left-n, rest[n:]
	}
	return len(p), nil
}

func (s *sums) endPart() {
	if s.part != nil {
		s.parts = append(s.parts, s.part.Sum(nil))
		s.part = nil
	}
}

// tag returns the entity tag that most services give to the object.
func (s *sums) tag() string {
	s.endPart()
	if len(s.parts) == 1 {
		return hex.EncodeToString(s.parts[0])
	}
	all := md5.Sum(bytes.Join(s.parts, nil))
	return fmt.Sprintf("%x-%d", all, len(s.parts))
}

// encrypting encrypts a content while it is read.
type encrypting struct {
	to   age.Recipient
	done chan struct{}
	err  error // error of reading the content
}

func (e *encrypting) start(content io.Reader) *io.PipeReader {
	in, pipe := io.Pipe()
	e.done = make(chan struct{})
	go func() {
		defer close(e.done)
		source := &seal.Reader{R: content}
		out, err := age.Encrypt(pipe, e.to)
		if err == nil {
			_, err = io.Copy(out, source)
		}
		if err == nil {
			err = out.Close()
		}
		e.err = source.Err
		pipe.CloseWithError(err)
	}()
	return in
}

// fault returns the error of reading the content.
func (e *encrypting) fault() error {
	<-e.done
	return e.err
}

// sendable returns the body of a request. That of a request with one part can be sent again.
func sendable(content io.Reader, size int64, moved func()) (io.Reader, error) {
	if size > PartBytes {
		return &stall.Reader{Reader: content, Moved: moved}, nil
	}
	part := make([]byte, size)
	if _, err := io.ReadFull(content, part); err != nil {
		return nil, err
	}
	if n, err := content.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, errors.Join(err, errors.New("the content is longer than it was"))
	}
	return &repeatable{bytes.NewReader(part), moved}, nil
}

type repeatable struct {
	*bytes.Reader
	moved func()
}

func (r *repeatable) ReadAt(p []byte, at int64) (int, error) {
	r.moved()
	return r.Reader.ReadAt(p, at)
}

// Check returns an error unless the bucket has the object; fs.ErrNotExist if it is not there or is
// another one.
func (r *Remote) Check(ctx context.Context, o Object) error {
	return r.request(ctx, r.patience.read, func(ctx context.Context, _ func()) error {
		size, _, err := r.bucket.Stat(ctx, o.Name)
		if err == nil && size != o.Bytes {
			err = fs.ErrNotExist
		}
		return err
	})
}

// BucketPlace begins the places of damage in the bucket.
const BucketPlace = "bucket: "

// missing is the damage of an object that is not there or can't be decrypted.
func missing(o Object, err error) error {
	return errs.Of(&disk.Damaged{Where: BucketPlace + o.Name, Err: err})
}
