package kv

import (
	"errors"
	"slices"
	"sync"
	"time"

	"reeve/store/trigram"
)

// A search index finds substrings in the search texts of a large collection without reading them.
// It consists of segments, immutable files of package trigram.
//
// Every change of a search text gets a number and is listed in data.db (search_changes.go). A
// goroutine, the indexer (search_follow.go), writes new segments with the listed changes
// (search_build.go), saves their names (search_files.go), and then removes the changes from the
// list. A search (search_find.go) combines the segments with the changes that are still listed, so
// its result is exact at any time. If there is no usable index, it reads all texts.

// searchDir is the directory of the search indexes. Its files are derived from data.db: they are
// in no backup, and are built again if they are missing, damaged or belong to other data.
const searchDir = "search"

const (
	indexedFrom  = 5000        // records from which a collection has an index; fewer are searched as fast without
	indexEvery   = 32          // listed changes from which they are added to the index
	indexStep    = 20_000      // maximum number of texts in a new segment
	indexBytes   = 2 << 20     // bytes of text after which a new segment ends, to bound its memory
	drainStep    = 5000        // listed changes that one commit removes
	changesLimit = 100_000     // listed changes from which an index that cannot be written is given up
	indexFloor   = 64 << 20    // bytes of disk space that are left free for records
	viewsKept    = 4           // views of an index that are kept for running read transactions
	indexPause   = time.Second // minimum time between two updates of the indexes
	indexRetry   = time.Minute // time between attempts after an error
)

// indexView is a state of a search index: some segments, and the changes that they contain.
type indexView struct {
	Generation string   `json:"generation"` // generation of the searchState
	From       uint64   `json:"from"`       // all changes up to this number are contained
	Upto       uint64   `json:"upto"`       // no change above this number is contained
	Files      []string `json:"files"`
	view       trigram.View
}

// serves reports whether a read transaction with the state s and the last change number can use a
// view: it must contain all changes that are no longer listed, and none that the transaction does
// not see.
func (v *indexView) serves(s *searchState, number uint64) bool {
	return v.Generation == s.Generation && s.Drained <= v.From && v.Upto <= number
}

// searchIndex is the search index of one collection.
type searchIndex struct {
	*searchBuckets
	search *Search
	db     *DB
	dir    string
	stop   func() bool // reports whether the database is being closed

	files int // number of the last segment file

	mu      sync.Mutex   // guards the fields below
	views   []*indexView // the newest last
	broken  error        // why the files cannot be written or read; nil if they can
	damaged bool         // the files are damaged and must not be loaded
	retry   time.Time    // time of the next attempt after an error
}

// current returns the newest view that a transaction can use; nil if there is none. See serves.
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

// fail records why the files cannot be written or read, and schedules another attempt. Damaged
// files are not used any more.
func (x *searchIndex) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken = err; errors.Is(err, trigram.ErrDamaged) {
		x.views, x.damaged = nil, true
	}
	x.retry = time.Now().Add(indexRetry)
	time.AfterFunc(indexRetry, x.db.indexer.wake)
}

// waits reports whether it is too early for another attempt after an error.
func (x *searchIndex) waits() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().Before(x.retry)
}

// SearchIndex is the state of a collection's search index.
type SearchIndex struct {
	Collection string
	Bytes      int64  // size of its files
	Pending    uint64 // listed changes that it does not contain; searches read these texts themselves
	Err        error  // why it cannot be written or read now, so that searches read all texts; nil if it can
}

// SearchIndexes returns the search indexes that exist, and those that cannot be written.
func (db *DB) SearchIndexes() (all []SearchIndex) {
	numbers := map[string]uint64{}
	err := db.View(engine{}, func(tx *Tx) error {
		for _, x := range db.indexer.indexes {
			numbers[x.collection] = x.number(tx)
		}
		return nil
	})
	for _, x := range db.indexer.indexes {
		x.mu.Lock()
		i := SearchIndex{Collection: x.collection, Err: errors.Join(x.broken, err)}
		for _, v := range x.views {
			i.Bytes, i.Pending = v.view.Size(), numbers[x.collection]-min(v.From,
				numbers[x.collection])
		}
		if x.views != nil || x.broken != nil {
			all = append(all, i)
		}
		x.mu.Unlock()
	}

	return all
}
