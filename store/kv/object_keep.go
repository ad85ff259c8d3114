package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"reeve/store/blob"
)

// FileStorage keeps the contents of files in a bucket, see Options.Files.
type FileStorage struct {
	Storage blob.Storage
	Cache   int64         // maximum number of bytes of these contents in files.db
	Keep    time.Duration // time for which an object stays that no record names
	Idle    bool          // whether nothing is tidied up in the bucket
	// Log receives what happens without a request; nil for nothing.
	Log func(text string, err error)
	// OnDuty reports whether this process tidies up the bucket for all that have the same log of commits.
	// Nil for always.
	OnDuty func() bool

	every    time.Duration // test option: interval of the keeper
	leftover time.Duration // test option: age from which an object without a row is left over
}

// Hurried returns a storage whose keeper runs at an interval, and for which an object without a row is
// left over from an age, for tests.
func (s FileStorage) Hurried(every, leftover time.Duration) *FileStorage {
	s.every, s.leftover = every, leftover
	return &s
}

// objectKeeper deletes objects that no record has named for a time. They stay that long because a
// backup, or the state that a restore has replaced, may name them. While another process has used the
// same objects within that time, which its stamps in the bucket show, it deletes nothing: it does not
// know which ones that process names.
type objectKeeper struct {
	db      *DB
	remote  *blob.Remote
	storage FileStorage
	blobs   *blob.Store
	name    string // name of the stamps of this process
	cancel  context.CancelFunc
	done    chan struct{}

	first   time.Time // time of the first stamp, by the clock of the bucket; zero before
	alone   time.Time // time of the first stamp since which no other process was there; zero while one is
	checked time.Time // time of the last comparison of all objects

	mu    sync.Mutex
	other time.Time // see ObjectState
}

const (
	keepEvery    = time.Hour
	probeEvery   = time.Minute
	compareEvery = 24 * time.Hour
	leftoverAge  = 24 * time.Hour
	keepStep     = 100       // rows changed in one commit
	clocksApart  = time.Hour // difference of the clocks from which nothing is deleted
)

// startKeeper starts the keeper once files.db is open.
func (db *DB) startKeeper() {
	if db.options.Files == nil || db.files == nil {
		return
	}
	storage := *db.options.Files
	if storage.every == 0 {
		storage.every = keepEvery
	}
	if storage.leftover == 0 {
		storage.leftover = leftoverAge
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &objectKeeper{
		db:      db,
		remote:  db.files.remote,
		storage: storage,
		name:    db.stampName(),
		cancel:  cancel,
		done:    make(chan struct{}),
	}
	db.keeper = k
	if storage.Idle {
		close(k.done)
		return
	}
	go func() {
		defer close(k.done)
		var err error
		if k.blobs, err = db.files.open(); err == nil {
			k.run(ctx)
		}
	}()
}

// stampName returns the name of the stamps of this process. All processes with the same log of commits
// know the same objects, and have the same name.
func (db *DB) stampName() string {
	if db.commits.inUse() {
		return strings.ToLower(db.commits.position().Epoch)
	}
	return blob.StampName()
}

func (k *objectKeeper) close() {
	if k != nil {
		k.cancel()
		<-k.done
	}
}

// run keeps the objects until ctx ends. Between its runs it asks the bucket now and then, so that a
// failure is known before a user meets it.
func (k *objectKeeper) run(ctx context.Context) {
	tick := time.NewTicker(min(k.storage.every, probeEvery))
	defer tick.Stop()
	var last time.Time
	for {
		duty := k.storage.OnDuty == nil || k.storage.OnDuty()
		if !duty {
			last, k.first, k.alone = time.Time{}, time.Time{}, time.Time{}
		}
		if duty && time.Since(last) >= k.storage.every {
			if err := k.once(ctx); err == nil {
				last = time.Now()
			} else if ctx.Err() == nil {
				k.log("the objects of files were not tidied up", err)
			}
		} else if time.Since(k.remote.Contact().At) >= probeEvery {
			k.remote.Probe(ctx) // which keeps the outcome
		}
		select {
		case <-ctx.Done():
			if k.remote.Contact().Fault == nil && k.storage.OnDuty == nil {
				if err := k.remote.Unstamp(k.name); err != nil { // as after a kill
					k.log("no objects of files are deleted in the next 24 hours: the mark that this server is running stays in the bucket", err)
				}
			}
			return
		case <-tick.C:
		}
	}
}

func (k *objectKeeper) log(text string, err error) {
	if k.storage.Log != nil {
		k.storage.Log(text, err)
	}
}

// once stamps the bucket, and does what is due.
func (k *objectKeeper) once(ctx context.Context) error {
	now, other, err := k.remote.Stamp(ctx, k.name, max(k.storage.Keep, compareEvery))
	if err != nil {
		return err
	}
	if !other.IsZero() {
		k.alone = time.Time{}
	} else if k.alone.IsZero() {
		k.alone = now
	}
	if k.first.IsZero() {
		k.first = now
		return nil // others have stamped once more before the next run
	}
	k.mu.Lock()
	if k.other = (time.Time{}); other.After(k.first) {
		k.other = other
	}
	k.mu.Unlock()
	if apart := k.db.clock().Std().Sub(now).Abs(); apart > clocksApart {
		k.log("no objects of files are deleted", fmt.Errorf("the clocks of this machine and of the bucket differ by %s", apart.Round(time.Second)))
		return nil
	}
	if time.Since(k.checked) >= min(compareEvery, 24*k.storage.every) {
		if err := errors.Join(k.settle(ctx), k.adopt(ctx, now)); err != nil {
			return err
		}
		k.checked = time.Now()
	}
	if k.alone.IsZero() || now.Sub(k.alone) < 2*k.storage.every { // one list may miss a stamp that is being replaced
		return nil
	}
	return k.expire(ctx)
}

// expire deletes the objects that no record has named for long enough: first their rows, so that no
// record can come to name them, then the objects.
func (k *objectKeeper) expire(ctx context.Context) error {
	for ctx.Err() == nil {
		var names []string
		err := k.db.Update(engine{}, func(tx *Tx) error {
			names = nil
			before := tx.Now() - Time(k.storage.Keep.Microseconds())
			for _, id := range ObjectByReleased.First(tx, 1, before, keepStep) {
				o, err := Objects.Get(tx, id)
				if err != nil {
					return err
				}
				if used, err := k.used(tx, o); err != nil {
					return err
				} else if used {
					continue
				}
				if err := Objects.Delete(tx, id); err != nil {
					return err
				}
				names = append(names, o.Name)
			}
			return nil
		})
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := k.remote.Delete(ctx, name); err != nil {
				return err // it is left over, and found again
			}
		}
	}
	return ctx.Err()
}

// used reports whether a content has a record, or is about to get one.
func (k *objectKeeper) used(tx *Tx, o *StoredObject) (bool, error) {
	d, err := o.digest()
	if err != nil || o.SHA256 == "" {
		return false, err
	}
	n, err := tx.db.schema.refersTo(tx, d)
	return n > 0 || k.blobs.Pending(d), err
}

// misdated reports whether the content was released at a time that can't be right.
func (o *StoredObject) misdated(now Time) bool {
	return o.ReleasedAt != 0 && (o.ReleasedAt < o.CreatedAt || o.ReleasedAt > now.Add(clocksApart))
}

// named reports whether a record has the content of an object.
func (tx *Tx) named(o *StoredObject) (bool, error) {
	d, err := o.digest()
	if err != nil || o.SHA256 == "" {
		return false, err
	}
	n, err := tx.db.schema.refersTo(tx, d)
	return n > 0, err
}

// digest returns the digest of the content; zero for none.
func (o *StoredObject) digest() (d blob.Digest, err error) {
	if o.SHA256 == "" {
		return d, nil
	}
	if err := d.UnmarshalText([]byte(o.SHA256)); err != nil {
		return d, Damaged(Objects.Name(), o.ID.String(), err)
	}
	return d, nil
}

// settle corrects rows whose time of release does not fit the records, after a damage that a salvage
// has repaired, or can't be right, because the clock was wrong then.
func (k *objectKeeper) settle(ctx context.Context) error {
	for after, more := ID(0), true; more && ctx.Err() == nil; {
		var wrong []ID
		err := k.db.View(engine{}, func(tx *Tx) error {
			rows, err := objectsAfter(tx, after, keepStep)
			more = len(rows) == keepStep
			for _, o := range rows {
				after = o.ID
				used, usedErr := tx.named(o)
				if err = errors.Join(err, usedErr); used != (o.ReleasedAt == 0) || o.misdated(tx.now) {
					wrong = append(wrong, o.ID)
				}
			}
			return err
		})
		if err == nil && len(wrong) > 0 {
			err = k.db.Update(engine{}, func(tx *Tx) error { return k.correct(tx, wrong) })
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (k *objectKeeper) correct(tx *Tx, ids []ID) error {
	for _, id := range ids {
		if !Objects.Exists(tx, id) {
			continue
		}
		o, err := Objects.Get(tx, id)
		if err != nil {
			return err
		}
		used, err := tx.named(o)
		if err != nil {
			return err
		}
		err = tx.setObject(o, func(o *StoredObject) {
			switch {
			case used:
				o.ReleasedAt = 0
			case o.ReleasedAt == 0, o.misdated(tx.now):
				o.ReleasedAt = tx.now
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// objectsAfter returns up to n rows with IDs above after.
func objectsAfter(tx *Tx, after ID, n int) (rows []*StoredObject, err error) {
	cursor := tx.bucket(Objects.Name()).Cursor()
	for key, _ := cursor.Seek(idKey(after + 1)); len(key) == 8 && len(rows) < n; key, _ = cursor.Next() {
		o, err := Objects.Get(tx, ID(binary.BigEndian.Uint64(key)))
		if err != nil {
			return rows, err
		}
		rows = append(rows, o)
	}
	return rows, nil
}

// adopt gives objects that are left over, because an upload was not completed or a row was deleted and
// not the object, a row without a content. So they stay as long as others that no record names.
func (k *objectKeeper) adopt(ctx context.Context, now time.Time) error {
	var names []string
	flush := func() error {
		defer func() { names = nil }()
		return k.db.Update(engine{}, func(tx *Tx) error {
			for _, name := range names {
				if there, err := hasObject(tx, name); err != nil {
					return err
				} else if there { // of an upload that was completed since
					continue
				}
				if err := Objects.Create(tx, &StoredObject{Name: name, ReleasedAt: tx.now}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := k.remote.Walk(ctx, func(name string, size int64, modified time.Time) error {
		if now.Sub(modified) < k.storage.leftover {
			return nil
		}
		var there bool
		err := k.db.View(engine{}, func(tx *Tx) (err error) {
			there, err = hasObject(tx, name)
			return err
		})
		if there || err != nil {
			return err
		}
		if names = append(names, name); len(names) == keepStep {
			return flush()
		}
		return nil
	})
	if err == nil && len(names) > 0 {
		err = flush()
	}
	return err
}

// ObjectState describes the bucket that has contents of files.
type ObjectState struct {
	blob.Contact
	Cached, Bound int64     // bytes in files.db of contents that the bucket has, too, and their maximum
	Other         time.Time // time at which another process has last used the same objects; zero for none
}

// ObjectState returns the state of the bucket; ok is false without Options.Files.
func (db *DB) ObjectState() (s ObjectState, ok bool) {
	if db.keeper == nil {
		return s, false
	}
	s.Contact = db.keeper.remote.Contact()
	if b := db.openedFiles(); b != nil {
		s.Cached, s.Bound = b.Cached()
	}
	db.keeper.mu.Lock()
	defer db.keeper.mu.Unlock()
	s.Other = db.keeper.other
	return s, true
}
