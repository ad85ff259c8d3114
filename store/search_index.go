package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"reeve/store/disk"
	"reeve/store/trigram"
)

// searchDir is the folder of the search indexes. What is in it is derived from data.db: it
// is in no backup, and is made again if it is missing, damaged or of other data.
const searchDir = "search"

const (
	indexedFrom  = 5000     // records of a collection; fewer are searched as fast without an index
	indexEvery   = 32       // changes that are listed before the index takes them over
	indexStep    = 20_000   // texts of one segment that is made at a time
	indexBytes   = 2 << 20  // of text after which a segment ends, to bound the memory that it takes
	drainStep    = 5000     // changes that are removed by one commit
	changesLimit = 100_000  // that are listed while the index cannot be written; then it is given up
	indexFloor   = 64 << 20 // bytes that stay free on the disk for records
	viewsKept    = 4        // states of an index that read transactions can use
	indexPause   = time.Second
	indexRetry   = time.Minute
)

// indexView is a state of an index.
type indexView struct {
	Generation string   `json:"generation"`
	From       uint64   `json:"from"` // changes up to this number are in it
	Upto       uint64   `json:"upto"` // none behind this number is
	Files      []string `json:"files"`
	view       trigram.View
}

// serves reports whether a transaction can use a view: it has what is no longer listed,
// and nothing newer than what the transaction sees.
func (v *indexView) serves(s *searchState, number uint64) bool {
	return v.Generation == s.Generation && s.Drained <= v.From && v.Upto <= number
}

// searchIndex is the index of one Search.
type searchIndex struct {
	*searchBuckets
	db   *DB
	dir  string
	stop func() bool

	files int // made so far

	mu     sync.Mutex
	views  []*indexView // the newest last
	broken error        // why the files cannot be made or read
	anew   bool         // the files are damaged
	retry  time.Time    // not before this moment, after a failure
}

// current returns the newest view that a transaction can use, nil if there is none.
func (x *searchIndex) current(s *searchState, number uint64) *indexView {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range slices.Backward(x.views) {
		if v.serves(s, number) {
			return v
		}
	}
	return nil
}

// fail notes why the files cannot be made or read. That is tried again after a while.
func (x *searchIndex) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken = err; errors.Is(err, trigram.ErrDamaged) {
		x.views, x.anew = nil, true
	}
	x.retry = time.Now().Add(indexRetry)
	time.AfterFunc(indexRetry, x.db.indexer.wake)
}

// waits reports whether it is too early to try again.
func (x *searchIndex) waits() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().Before(x.retry)
}

// SearchIndex says how the index of a collection's texts is.
type SearchIndex struct {
	Collection string
	Bytes      int64 // of its files
	Err        error // why it cannot be made or used at the moment; searches read all texts
}

// SearchIndexes returns the indexes that are there, and those that cannot be made.
func (db *DB) SearchIndexes() (all []SearchIndex) {
	for _, x := range db.indexer.indexes {
		x.mu.Lock()
		i := SearchIndex{Collection: x.collection, Err: x.broken}
		for _, v := range x.views {
			i.Bytes = v.view.Size()
		}
		if x.views != nil || x.broken != nil {
			all = append(all, i)
		}
		x.mu.Unlock()
	}
	return all
}

// indexer keeps the search indexes of an open database, in a goroutine of its own.
type indexer struct {
	indexes []*searchIndex
	nudge   chan struct{}
	stop    chan struct{}
	done    chan struct{} // closed when run has ended
}

func (db *DB) openIndexer() {
	r := &indexer{nudge: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	stopped := func() bool {
		select {
		case <-r.stop:
			return true
		default:
			return false
		}
	}
	for _, t := range db.schema.tables {
		if b := t.searchedIn(); b != nil {
			r.indexes = append(r.indexes, &searchIndex{searchBuckets: b, db: db, dir: filepath.Join(db.dir, searchDir), stop: stopped})
		}
	}
	db.indexer = r
	r.wake()
	go r.run()
}

// index returns the index of a Search.
func (r *indexer) index(b *searchBuckets) *searchIndex {
	if r == nil { // the database is being looked through
		return nil
	}
	for _, x := range r.indexes {
		if x.searchBuckets == b {
			return x
		}
	}
	return nil
}

// wake says that there may be something to do. It does not wait.
func (r *indexer) wake() {
	if r == nil { // the database is being opened
		return
	}
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

func (r *indexer) run() {
	defer close(r.done)
	for {
		select {
		case <-r.stop:
			return
		case <-r.nudge:
		}
		pause := indexPause
		for _, x := range r.indexes {
			_, _, _, pause = x.limits()
			if x.waits() {
				continue
			}
			if err := x.keep(); err != nil && !x.stop() {
				x.fail(err)
			}
		}
		select {
		case <-r.stop:
			return
		case <-time.After(pause):
		}
	}
}

// close ends the goroutine, before the file is closed.
func (r *indexer) close() {
	if r != nil {
		close(r.stop)
		<-r.done
	}
}

// limits are what tests make smaller.
func (x *searchIndex) limits() (from uint64, every uint64, step int, pause time.Duration) {
	if n := x.db.options.indexFrom; n > 0 {
		return uint64(n), 1, n, 10 * time.Millisecond
	}
	return indexedFrom, indexEvery, indexStep, indexPause
}

// keep brings the index up to the database.
func (x *searchIndex) keep() error {
	from, every, _, _ := x.limits()
	var state *searchState
	var number, records uint64
	read := func(tx *Tx) error {
		t, err := readTally(tx, x.collection)
		records, number = t.records, x.number(tx)
		if err == nil {
			state, err = x.state(tx)
		}
		return err
	}
	if err := x.db.View(System, read); err != nil {
		return err
	}
	if state == nil {
		if records < from {
			return nil
		}
		err := x.db.Update(System, func(tx *Tx) error {
			return x.setState(tx, &searchState{Generation: rand.Text(), Drained: x.number(tx)})
		})
		if err == nil {
			err = x.db.View(System, read)
		}
		if err != nil {
			return err
		}
	}
	v := x.current(state, number)
	if v == nil {
		v = x.load(state, number)
	}
	err := x.follow(v, state, number, every)
	if err != nil && number-state.Drained > changesLimit {
		err = errors.Join(err, x.giveUp())
	}
	return err
}

// follow makes the index, or adds to it what has changed since.
func (x *searchIndex) follow(v *indexView, state *searchState, number, every uint64) error {
	var err error
	old := v
	switch {
	case v == nil:
		v, err = x.build(state.Generation)
	case number-v.From >= every:
		v, err = x.add(v)
	default:
		x.show(v)
		return x.drainUpto(v.From, state)
	}
	if err == nil {
		err = x.save(v)
	}
	if err != nil {
		x.sweep(old) // each attempt would leave its segments
		return err
	}
	x.show(v)
	x.sweep(v)
	return x.drainUpto(v.From, state)
}

// show lets searches use a view.
func (x *searchIndex) show(v *indexView) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken, x.anew = nil, false
	if n := len(x.views); n > 0 && x.views[n-1] == v {
		return
	}
	x.views = append(x.views, v)
	if n := len(x.views); n > viewsKept {
		x.views = slices.Clone(x.views[n-viewsKept:])
	}
}

// drainUpto removes the changes that the index has taken over.
func (x *searchIndex) drainUpto(upto uint64, state *searchState) error {
	for more := state.Drained < upto; more; {
		err := x.db.Update(System, func(tx *Tx) error {
			now, err := x.state(tx)
			if err != nil || now == nil || now.Generation != state.Generation {
				more = false
				return err
			}
			if more, err = x.drain(tx, upto, drainStep); err != nil || more {
				return err
			}
			return x.setState(tx, &searchState{now.Generation, upto})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// giveUp ends the listing of changes; the index is made anew when that is possible.
func (x *searchIndex) giveUp() error {
	for more := true; more; {
		err := x.db.Update(System, func(tx *Tx) (err error) {
			if err := x.setState(tx, nil); err != nil {
				return err
			}
			more, err = x.drain(tx, x.number(tx), drainStep)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetIndexes has all indexes made again, for those that are there are of other data.
func (db *DB) forgetIndexes(tx *Tx) error {
	for _, t := range db.schema.tables {
		b := t.searchedIn()
		if b == nil || tx.bucket(b.changes).Get(stateKey) == nil {
			continue
		}
		if err := b.setState(tx, nil); err != nil {
			return err
		}
	}
	return nil
}

// build makes an index of all texts, in steps that each have a transaction of their own:
// what changes meanwhile is listed.
func (x *searchIndex) build(generation string) (*indexView, error) {
	_, _, step, _ := x.limits()
	v := &indexView{Generation: generation}
	for last, more, first := ID(0), true, true; more; first = false {
		err := x.db.View(System, func(tx *Tx) error {
			if v.Upto = x.number(tx); first {
				v.From = v.Upto
			}
			var docs []trigram.Doc
			bytes := 0
			more = false
			cursor := tx.bucket(x.bucket).Cursor()
			for key, value := cursor.Seek(idKey(last + 1)); key != nil; key, value = cursor.Next() {
				if more = len(docs) == step || bytes >= indexBytes; more {
					break
				}
				text, err := disk.Unframe(x.bucket, key, value)
				if err != nil || len(key) != 8 {
					return damaged(x.bucket, keyText(key), err)
				}
				last = ID(binary.BigEndian.Uint64(key))
				docs = append(docs, trigram.Doc{ID: uint64(last), Text: text})
				bytes += len(text)
			}
			return x.write(v, docs)
		})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// add makes the view that follows another one: it has all changes that are listed.
func (x *searchIndex) add(v *indexView) (*indexView, error) {
	_, _, step, _ := x.limits()
	next := &indexView{Generation: v.Generation, view: slices.Clone(v.view)}
	err := x.db.View(System, func(tx *Tx) error {
		next.From, next.Upto = x.number(tx), x.number(tx)
		var ids []ID
		for id, err := range x.listed(tx, v.From) {
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		var docs []trigram.Doc
		bytes := 0
		for _, id := range slices.Compact(ids) {
			doc := trigram.Doc{ID: uint64(id)}
			if value := tx.bucket(x.bucket).Get(idKey(id)); value != nil {
				text, err := disk.Unframe(x.bucket, idKey(id), value)
				if err != nil {
					return damaged(x.bucket, id.String(), err)
				}
				doc.Text = text
			}
			if len(docs) == step || bytes >= indexBytes {
				if err := x.write(next, docs); err != nil {
					return err
				}
				docs, bytes = nil, 0
			}
			docs, bytes = append(docs, doc), bytes+len(doc.Text)
		}
		return x.write(next, docs)
	})
	return next, err
}

// write adds a segment to a view that nobody uses yet, and merges what is due.
func (x *searchIndex) write(v *indexView, docs []trigram.Doc) error {
	if x.stop() {
		return errors.New("the server is shutting down")
	}
	if len(docs) == 0 {
		return nil
	}
	err := os.MkdirAll(x.dir, 0o700)
	if err == nil {
		err = disk.NeedSpace(x.dir, indexFloor)
	}
	if err != nil {
		return err
	}
	s, err := trigram.Write(x.path(), docs)
	if err != nil {
		return err
	}
	v.view = append(v.view, s)
	if from := v.view.Due(); from < len(v.view) {
		size := v.view[from:].Size()
		if err := disk.NeedSpace(x.dir, 2*size); err != nil {
			return err
		}
		merged, err := trigram.Merge(x.path(), v.view[from:], func() bool { return !x.stop() })
		if err != nil {
			return err
		}
		v.view = append(v.view[:from:from], merged)
	}
	return nil
}

// path is that of a new segment.
func (x *searchIndex) path() string {
	for {
		x.files++
		path := filepath.Join(x.dir, fmt.Sprintf("%s-%d.segment", x.collection, x.files))
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
}

func (x *searchIndex) listPath() string { return filepath.Join(x.dir, x.collection+".json") }

// save makes a view the one that the next start uses.
func (x *searchIndex) save(v *indexView) error {
	v.Files = []string{}
	for _, s := range v.view {
		v.Files = append(v.Files, filepath.Base(s.Name()))
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(x.dir, 0o700)
	}
	if err != nil {
		return err
	}
	return errors.Join(disk.WriteFile(x.listPath(), text), disk.SyncDir(x.dir))
}

// load opens the files of an earlier start, if they are of this state.
func (x *searchIndex) load(state *searchState, number uint64) *indexView {
	x.mu.Lock()
	anew := x.anew
	x.mu.Unlock()
	text, err := os.ReadFile(x.listPath())
	v := &indexView{}
	if err != nil || anew || json.Unmarshal(text, v) != nil || !v.serves(state, number) {
		return nil
	}
	for _, name := range v.Files {
		s, err := trigram.Open(filepath.Join(x.dir, filepath.Base(name)))
		if err != nil {
			return nil
		}
		v.view = append(v.view, s)
	}
	return v
}

// sweep removes the files that are not part of v; nil removes all. Running searches keep
// them open; on systems where that prevents removal, a later sweep removes them.
func (x *searchIndex) sweep(v *indexView) {
	left, err := filepath.Glob(filepath.Join(x.dir, x.collection+"-*.segment"))
	if err != nil {
		return
	}
	for _, path := range left {
		if v == nil || !slices.Contains(v.Files, filepath.Base(path)) {
			_ = os.Remove(path) // tried again next time
		}
	}
}

// find returns the ids of the texts that have a folded part. ok is false if no index can
// tell.
func (b *searchBuckets) find(tx *Tx, part string) (ids *idSet, ok bool, err error) {
	if len(part) < trigram.Length || strings.Contains(part, between) {
		return nil, false, nil
	}
	state, err := b.state(tx)
	if state == nil || err != nil {
		return nil, false, err
	}
	x := tx.db.indexer.index(b)
	if x == nil {
		return nil, false, nil
	}
	v := x.current(state, b.number(tx))
	if v == nil {
		return nil, false, nil
	}
	ids, fresh := newIDSet(), newIDSet()
	for id, err := range b.listed(tx, v.From) {
		if err != nil {
			return nil, false, err
		}
		if fresh.add(id); fresh.n > changesRead {
			return nil, false, nil
		}
	}
	found, err := v.view.Find(part, func(id uint64) bool { return fresh.n > 0 && fresh.has(ID(id)) })
	if err != nil {
		x.fail(err)
		return nil, false, nil
	}
	for _, id := range found {
		ids.add(ID(id))
	}
	for id := range fresh.walk(false) {
		if tx.bucket(b.bucket).Get(idKey(id)) == nil {
			continue // deleted
		}
		has, err := b.match(tx, id, part)
		if err != nil {
			return nil, false, err
		}
		if has {
			ids.add(id)
		}
	}
	return ids, true, nil
}

// changesRead is how many listed changes a search reads; with more it reads all texts.
const changesRead = 50_000
