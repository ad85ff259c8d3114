package stream

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"filippo.io/age"
)

// Sealer encrypts single entries of an epoch, for a place that keeps each by itself. What it returns
// has the form of a segment with one entry.
type Sealer struct {
	instance, epoch string
	recipients      []age.Recipient

	header []byte
	sum    Hash
	key    *dataKey
	since  time.Time // time at which key was made
}

// NewSealer returns the Sealer of an installation and an epoch.
func NewSealer(instance, epoch string, recipients ...age.Recipient) *Sealer {
	return &Sealer{instance: instance, epoch: epoch, recipients: recipients}
}

// Seal encrypts an entry, which Entry.Encode has encoded. The entries of an hour share a data key.
func (s *Sealer) Seal(number uint64, text []byte) ([]byte, error) {
	if s.key == nil || time.Since(s.since) > segmentAge {
		key, err := newDataKey(s.recipients)
		if err != nil {
			return nil, err
		}
		h := &header{s.instance, s.epoch, key.wrapped}
		if s.header, s.sum, err = h.encode(); err != nil {
			return nil, err
		}
		s.key, s.since = key, time.Now()
	}
	return appendFrames(bytes.Clone(s.header), s.sum, s.key, number, text), nil
}

// Opener decrypts what Sealers have encrypted. It keeps the data keys that it has used last, since those
// of one author follow one another.
type Opener struct {
	identities []age.Identity

	mu   sync.Mutex
	keys map[string]*dataKey // keys by their wrapped form
}

// maxOpenerKeys is the maximum number of data keys that an Opener keeps.
const maxOpenerKeys = 64

// NewOpener returns an Opener for the identities.
func NewOpener(identities ...age.Identity) *Opener {
	return &Opener{identities: identities, keys: map[string]*dataKey{}}
}

// Open decrypts and decodes an entry.
func (o *Opener) Open(sealed []byte) (*Entry, error) {
	in, err := openReader(bytes.NewReader(sealed))
	if err != nil {
		return nil, err
	}
	if in.key, err = o.key(in.header.Key); err != nil {
		return nil, err
	}
	e, err := in.Next()
	if err != nil {
		return nil, err
	}
	if _, err := in.Next(); err != io.EOF {
		return nil, errors.New("it is damaged: there is more than one entry")
	}
	return e, nil
}

func (o *Opener) key(wrapped []byte) (*dataKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if key := o.keys[string(wrapped)]; key != nil {
		return key, nil
	}
	key, err := unwrapKey(wrapped, o.identities)
	if err != nil {
		return nil, err
	}
	if len(o.keys) >= maxOpenerKeys {
		clear(o.keys)
	}
	o.keys[string(wrapped)] = key
	return key, nil
}
