// Package s3 keeps copies and the contents of files in a bucket of an S3-compatible service. It alone
// imports the client.
//
//	target, err := s3.New(s3.Options{Endpoint: "https://s3.eu-central-1.amazonaws.com", Bucket: "backup", …})
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"reeve/store/blob"
	"reeve/store/copies"
)

// Options configure a bucket.
type Options struct {
	Endpoint  string // URL of the service, http or https
	Region    string // "" to ask the service
	Bucket    string
	Prefix    string // beginning of the names of objects; "" for none
	AccessKey string
	SecretKey string
	Style     string // place of the bucket's name: path, host, or "" for what the service usually has
	CA        string // path of PEM certificates that are trusted in place of the system's; "" for these
}

// Bucket is a copies.Target and a blob.Storage.
type Bucket struct {
	client *minio.Client
	bucket string
	prefix string
}

// Timeouts of requests. The body of a request or a response has no limit of its own: the copy ends
// with its context, and a connection on which nothing arrives with these.
const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 60 * time.Second
	idleTimeout    = 60 * time.Second
	retries        = 4
)

// PartBytes is the size of the parts in which a larger object is sent. They are held in memory.
const PartBytes = blob.PartBytes

// New returns a bucket. It does not connect.
func New(o Options) (*Bucket, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, errors.New("endpoint must be a URL like https://s3.example.org")
	}
	lookup := map[string]minio.BucketLookupType{"": minio.BucketLookupAuto, "path": minio.BucketLookupPath, "host": minio.BucketLookupDNS}
	style, ok := lookup[o.Style]
	if !ok {
		return nil, errors.New("style must be path or host")
	}
	transport, err := transport(o.CA)
	if err != nil {
		return nil, err
	}

	client, err := minio.New(u.Host, &minio.Options{
		Creds:        credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""),
		Secure:       u.Scheme == "https",
		Region:       o.Region,
		BucketLookup: style,
		Transport:    sender{transport},
		MaxRetries:   retries,
	})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(o.Prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{client, o.Bucket, prefix}, nil
}

// Put implements copies.Target. Services refuse to replace an object that is sent at once; for one in
// parts, not all do. They refuse bytes that do not have the MD5 that is sent with them, which a bucket
// with Object Lock needs, so up to PartBytes are read before they are sent: they can be sent again if a
// connection fails, such as one that the service has closed while it was idle. If the content has a
// method Sent, it is called while they are sent.
func (b *Bucket) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if size > PartBytes {
		_, err := b.client.StatObject(ctx, b.bucket, b.prefix+name, minio.StatObjectOptions{})
		if err == nil {
			return copies.ErrExists
		}
		if err := plain(err); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var sent func()
	if s, ok := content.(interface{ Sent() }); ok {
		sent = s.Sent
	}
	if _, again := content.(io.Seeker); !again && size <= PartBytes {
		text := make([]byte, size)
		if _, err := io.ReadFull(content, text); err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", PartSize: PartBytes, SendContentMd5: true}
	if sent != nil {
		options.Progress = progress(sent)
	}
	options.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.bucket, b.prefix+name, content, size, options)
	if broken := new(net.OpError); errors.As(err, &broken) && broken.Op != "dial" {
		// A service that refuses a request before it has read the content closes the connection, which can
		// break before its answer is read. It gives the same answer to a request without content.
		if _, refused := b.List(ctx, name); refused != nil {
			return refused
		}
	}
	return plain(err)
}

// progress is a reader that is called for bytes that are sent.
type progress func()

func (p progress) Read(b []byte) (int, error) {
	p()
	return len(b), nil
}

// Get implements copies.Target.
func (b *Bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	return b.get(ctx, name, minio.GetObjectOptions{})
}

// get is without the Object of the client, which passes each read through a goroutine.
func (b *Bucket) get(ctx context.Context, name string, o minio.GetObjectOptions) (io.ReadCloser, error) {
	body, _, _, err := minio.Core{Client: b.client}.GetObject(ctx, b.bucket, b.prefix+name, o)
	return body, plain(err)
}

// Range opens length bytes of an object from an offset. There may be fewer.
func (b *Bucket) Range(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	var options minio.GetObjectOptions
	if err := options.SetRange(offset, offset+length-1); err != nil {
		return nil, err
	}
	return b.get(ctx, name, options)
}

// Stat returns the size of an object and its entity tag, which many services make of the MD5 of its
// bytes, or of its parts of PartBytes.
func (b *Bucket) Stat(ctx context.Context, name string) (size int64, tag string, err error) {
	o, err := b.client.StatObject(ctx, b.bucket, b.prefix+name, minio.StatObjectOptions{})
	return o.Size, o.ETag, plain(err)
}

// Walk calls fn for each object whose name begins with prefix, in the order of their names, until it
// returns an error.
func (b *Bucket) Walk(ctx context.Context, prefix string, fn func(name string, size int64, modified time.Time) error) error {
	ctx, cancel := context.WithCancel(ctx) // which ends the listing after an error
	defer cancel()
	options := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
	for o := range b.client.ListObjects(ctx, b.bucket, options) {
		if o.Err != nil {
			return plain(o.Err)
		}
		if err := fn(strings.TrimPrefix(o.Key, b.prefix), o.Size, o.LastModified); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// List implements copies.Target.
func (b *Bucket) List(ctx context.Context, prefix string) (all []copies.Object, err error) {
	return all, b.Walk(ctx, prefix, func(name string, size int64, modified time.Time) error {
		all = append(all, copies.Object{Name: name, Size: size, Modified: modified})
		return nil
	})
}

// Delete implements copies.Target.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	return plain(b.client.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{}))
}

// plain returns an error that says what to do, without the host IDs and keys in those of services.
func plain(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.StatusCode == http.StatusPreconditionFailed, r.Code == "PreconditionFailed":
		return copies.ErrExists
	case r.Code == "NoSuchKey":
		return fs.ErrNotExist
	case r.Code == "NoSuchBucket":
		return errors.New("the bucket does not exist")
	case r.Code == "InvalidAccessKeyId", r.Code == "SignatureDoesNotMatch":
		return errors.New("the service does not accept access_key and secret_key")
	case r.Code == "AccessDenied":
		return errors.New("access_key may not do this: it needs to list the bucket, and to get, put and delete objects")
	case r.Code == "BadDigest":
		return errors.New("the bytes were damaged on their way to the service")
	case r.Code == "RequestTimeTooSkewed":
		return errors.New("the clock of this machine is wrong: the service refuses its requests")
	case r.Code != "" && r.StatusCode != 0:
		return fmt.Errorf("the service answers %d %s", r.StatusCode, r.Code)
	}
	return err
}
