package blob

import (
	"bytes"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Thumb returns the thumbnail that is stored with a blob under a name, or nil if there is none.
func (b *Store) Thumb(d Digest, name string) (picture []byte, err error) {
	key := append(d[:], name...)
	return picture, b.view(func(btx *bbolt.Tx) error {
		payload, err := disk.Unframe(thumbBucket, key, btx.Bucket([]byte(thumbBucket)).Get(key))
		if err == nil { // the caller computes a missing or damaged one again
			picture = bytes.Clone(payload)
		}
		return nil
	})
}

// SaveThumb stores a thumbnail with a blob under a name. It is deleted with the blob; if there is no
// such blob, nothing is stored.
func (b *Store) SaveThumb(d Digest, name string, picture []byte) error {
	if err := b.Room(int64(len(picture))); err != nil {
		return err
	}
	key := append(d[:], name...)
	return b.update(func(btx *bbolt.Tx) error {
		if btx.Bucket([]byte(Bucket)).Get(d[:]) == nil {
			return nil
		}
		return btx.Bucket([]byte(thumbBucket)).Put(key, disk.Frame(thumbBucket, key, picture))
	})
}
