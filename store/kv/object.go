package kv

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"reeve/store/blob"
	"reeve/store/errs"
)

// The contents of files can be objects of a bucket, too: see Options.Files. Which object has a content
// is in data.db, in a row that the commit of the first record with the content stores.

// StoredObject is an object of the bucket.
type StoredObject struct {
	Ident
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`      // digest of its content; "" for an object that is only to be deleted
	Size       int64  `json:"size"`        // bytes of the content
	Bytes      int64  `json:"bytes"`       // bytes of the object
	KeyID      ID     `json:"key_id"`      // ContentKey that it is encrypted with
	ReleasedAt Time   `json:"released_at"` // time since which no record has the content; 0 while one does
	Timestamps
}

// ContentKey is a key of the contents in the bucket. A further one is made when secret.key does not
// open the last one.
type ContentKey struct {
	Ident
	Seal Sealed `json:"seal"`
	Timestamps
}

// Objects and ContentKeys. A schema that has files lists both.
var (
	Objects          = NewCollection[StoredObject]("object").Unlogged()
	ObjectByName     = NewUnique(Objects, "name", func(o *StoredObject) string { return o.Name })
	ObjectByContent  = NewUnique(Objects, "sha256", func(o *StoredObject) string { return o.SHA256 })
	ObjectByReleased = NewMany(Objects, "released_at", func(o *StoredObject) []Time {
		if o.ReleasedAt == 0 {
			return nil
		}
		return []Time{o.ReleasedAt}
	})

	ContentKeys = NewCollection[ContentKey]("content_key").Unlogged().
			Sealed(func(k *ContentKey) *Sealed { return &k.Seal }, func(*ContentKey) string {
			return contentKeyPlace
		}, func(*Tx, *ContentKey) (string, error) { return contentKeyTitle, nil })
)

const (
	contentKeyPlace = "content key"
	contentKeyTitle = "key of the contents of files in the bucket"
)

// hasObjects reports whether a schema has a collection of objects.
func (s *Schema) hasObjects() bool { return slices.Contains(s.Tables, Table(Objects)) }

// objectOf returns the row of the object with a content; nil if there is none.
func (tx *Tx) objectOf(d blob.Digest) (*StoredObject, error) {
	if !tx.db.schema.hasObjects() {
		return nil, nil
	}
	o, err := ObjectByContent.Get(tx, d.String())
	if isMissing(err) {
		return nil, nil
	}
	return o, err
}

// hasObject reports whether a row names an object.
func hasObject(tx *Tx, name string) (bool, error) {
	_, err := ObjectByName.Get(tx, name)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

func isMissing(err error) bool { return errs.Is(err, errs.NotFound) }

func (o *StoredObject) blob() blob.Object {
	return blob.Object{Name: o.Name, Bytes: o.Bytes, Size: o.Size, Key: uint64(o.KeyID)}
}

// object returns the object with a content; found is false if there is none.
func (db *DB) object(d blob.Digest) (o blob.Object, found bool, err error) {
	err = db.View(engine{}, func(tx *Tx) error {
		row, err := tx.objectOf(d)
		if found = row != nil; found {
			o = row.blob()
		}
		return err
	})
	return o, found, err
}

// releaseObject marks the object of a content that a record is about to lose, if it is the last one
// that has it. It is called before the indexes lose the record.
func (tx *Tx) releaseObject(d blob.Digest) error {
	o, err := tx.objectOf(d)
	if o == nil || err != nil {
		return err
	}
	if n, err := tx.db.schema.refersTo(tx, d); err != nil || n > 1 {
		return err
	}
	return tx.setObject(o, func(o *StoredObject) { o.ReleasedAt = tx.now })
}

// claimObject makes a record that gets a content keep its object. It stores the row of an object that
// was just sent.
func (tx *Tx) claimObject(d blob.Digest) error {
	o, err := tx.objectOf(d)
	if err != nil {
		return err
	}
	sent, isSent := tx.db.sent(d)
	switch {
	case o != nil && isSent && sent.Replaces == o.Name:
		return tx.setObject(o, func(o *StoredObject) {
			o.Name, o.Bytes, o.KeyID, o.ReleasedAt = sent.Name, sent.Bytes, ID(sent.Key), 0
		})
	case o != nil && o.ReleasedAt != 0:
		return tx.setObject(o, func(o *StoredObject) { o.ReleasedAt = 0 })
	case o == nil && isSent && sent.Known: // its row was deleted since
		return errs.New(errs.Busy, "the same content was just deleted; try again")
	case o == nil && isSent && tx.db.schema.hasObjects():
		return tx.uncounted(func() error {
			return Objects.Create(tx, &StoredObject{
				Name:   sent.Name,
				SHA256: d.String(),
				Size:   sent.Size,
				Bytes:  sent.Bytes,
				KeyID:  ID(sent.Key),
			})
		})
	}
	return nil
}

// keepReleased makes objects that no record has stay as long after a restore as if they had just been
// released: the state that it has replaced may name them.
func (tx *Tx) keepReleased() error {
	if !tx.db.schema.hasObjects() {
		return nil
	}
	for _, id := range ObjectByReleased.First(tx, 1, math.MaxInt64, math.MaxInt) {
		err := tx.uncounted(func() error {
			_, err := Objects.UpdateQuietly(tx, id, func(o *StoredObject) error {
				o.ReleasedAt = tx.now
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) setObject(o *StoredObject, set func(*StoredObject)) error {
	return tx.uncounted(func() error {
		_, err := Objects.UpdateQuietly(tx, o.ID, func(o *StoredObject) error {
			set(o)
			return nil
		})
		return err
	})
}

// uncounted runs fn, whose changes belong to that of a record and don't count for MaxRecordsPerWrite.
func (tx *Tx) uncounted(fn func() error) error {
	touched := tx.touched
	err := tx.asSystem(fn)
	tx.touched = touched
	return err
}

// sent returns the object that was sent for an upload of a content and has no row yet.
func (db *DB) sent(d blob.Digest) (blob.Sent, bool) {
	b := db.openedFiles()
	if b == nil {
		return blob.Sent{}, false
	}
	return b.Sent(d)
}

// contentKey returns a key of the contents in the bucket by its number, and the newest one that
// secret.key opens for number 0. If there is none, it makes one.
func (db *DB) contentKey(number uint64) (uint64, []byte, error) {
	db.contentKeys.mu.Lock()
	defer db.contentKeys.mu.Unlock()
	if number == 0 {
		number = db.contentKeys.newest
	}
	if key := db.contentKeys.known[number]; key != nil {
		return number, key, nil
	}
	number, text, err := db.readContentKey(number)
	if err == nil && text == "" {
		number, text, err = db.newContentKey()
	}
	if err != nil {
		return 0, nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != 32 {
		return 0, nil, Damaged(ContentKeys.Name(), ID(number).String(), errors.New("it is not a key"))
	}
	if db.contentKeys.known == nil {
		db.contentKeys.known = map[uint64][]byte{}
	}
	db.contentKeys.known[number] = key
	db.contentKeys.newest = max(db.contentKeys.newest, number)
	return number, key, nil
}

// readContentKey returns a stored key. For number 0 it returns the newest one that opens; text is "" for
// none.
func (db *DB) readContentKey(number uint64) (id uint64, text string, err error) {
	err = db.View(engine{}, func(tx *Tx) error {
		for k, err := range ContentKeys.All(tx) {
			if err != nil {
				return err
			}
			if number != 0 && k.ID != ID(number) {
				continue
			}
			if opened, err := tx.Unseal(contentKeyPlace, k.Seal); err == nil {
				id, text = uint64(k.ID), opened
			}
		}
		return nil
	})
	if err == nil && number != 0 && text == "" {
		err = fmt.Errorf("the contents in the bucket can't be decrypted, because %s is not the one with which they were stored: restore the right file", keyName)
	}
	return id, text, err
}

func (db *DB) newContentKey() (number uint64, text string, err error) {
	text = hex.EncodeToString(randomBytes(32))
	return number, text, db.Update(engine{}, func(tx *Tx) error {
		box, err := tx.Seal(contentKeyPlace, text)
		if err != nil {
			return err
		}
		k := &ContentKey{Seal: box}
		err = ContentKeys.Create(tx, k)
		number = uint64(k.ID)
		return err
	})
}
