package kv

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// indexer updates the search indexes of an open database in a goroutine.
type indexer struct {
	indexes []*searchIndex
	nudge   chan struct{} // holds one value while there may be changes
	stop    chan struct{} // closed to end run
	done    chan struct{} // closed when run has ended
}

// openIndexer starts the indexer.
func (db *DB) openIndexer() {
	r := &indexer{
		nudge: make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	stopped := func() bool {
		select {
		case <-r.stop:
			return true
		default:
			return false
		}
	}
	for _, t := range db.schema.Tables {
		if b := t.table().searchedIn(); b != nil {
			r.indexes = append(r.indexes, &searchIndex{
				searchBuckets: b,
				search:        t.table().search,
				db:            db,
				dir:           filepath.Join(db.dir, searchDir),
				stop:          stopped,
			})
		}
	}

	db.indexer = r
	r.wake()
	go r.run()
}

// index returns the search index of a Search; nil if there is no indexer.
func (r *indexer) index(b *searchBuckets) *searchIndex {
	if r == nil { // the database is not fully open
		return nil
	}
	for _, x := range r.indexes {
		if x.searchBuckets == b {
			return x
		}
	}
	return nil
}

// wake makes the indexer look for changes. It does not block.
func (r *indexer) wake() {
	if r == nil { // the database is not fully open
		return
	}
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// run is the goroutine: it updates all indexes after a wake, with a pause in between.
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

// close ends the goroutine and waits for it. It must be called before data.db is closed.
func (r *indexer) close() {
	if r != nil {
		close(r.stop)
		<-r.done
	}
}

// limits returns the limits that tests reduce with Options.IndexFrom: see indexedFrom, indexEvery,
// indexStep and indexPause.
func (x *searchIndex) limits() (from uint64, every uint64, step int, pause time.Duration) {
	if n := x.db.options.IndexFrom; n > 0 {
		return uint64(n), 1, n, 10 * time.Millisecond
	}
	return indexedFrom, indexEvery, indexStep, indexPause
}

// keep updates the index. It creates the state of an index when the collection is large enough,
// and gives the index up if it cannot be written while too many changes are listed.
func (x *searchIndex) keep() error {
	if err := x.refresh(); err != nil {
		return err
	}

	from, every, _, _ := x.limits()
	var state *searchState
	var number, records uint64
	read := func(tx *Tx) error {
		t, err := readTotals(tx, x.collection)
		records, number = t.records, x.number(tx)
		if err == nil {
			state, err = x.state(tx)
		}
		return err
	}
	if err := x.db.View(engine{}, read); err != nil {
		return err
	}
	if state == nil {
		if records < from {
			return nil
		}
		err := x.db.Update(engine{}, func(tx *Tx) error {
			return x.setState(tx, &searchState{Generation: rand.Text(), Drained: x.number(tx)})
		})
		if err == nil {
			err = x.db.View(engine{}, read)
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

// follow builds the index if v is nil, or adds the listed changes to v if there are enough. Then it
// removes the changes that the index contains from the list.
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
		x.sweep(old) // otherwise each attempt would leave segment files
		return err
	}

	x.show(v)
	x.sweep(v)
	return x.drainUpto(v.From, state)
}

// show makes a view available to searches.
func (x *searchIndex) show(v *indexView) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken, x.damaged = nil, false
	if n := len(x.views); n > 0 && x.views[n-1] == v {
		return
	}
	x.views = append(x.views, v)
	if n := len(x.views); n > viewsKept {
		x.views = slices.Clone(x.views[n-viewsKept:])
	}
}

// drainUpto removes the changes up to a number from the list, in several commits.
func (x *searchIndex) drainUpto(upto uint64, state *searchState) error {
	for more := state.Drained < upto; more; {
		err := x.db.Update(engine{}, func(tx *Tx) error {
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

// giveUp removes the state of the index and all listed changes. The index is built from scratch
// when it can be written again.
func (x *searchIndex) giveUp() error {
	for more := true; more; {
		err := x.db.Update(engine{}, func(tx *Tx) (err error) {
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

// forgetIndexes removes the states of all search indexes, so that they are built from scratch. It
// is for a database that has replaced another one, whose files may still be in searchDir.
func (db *DB) forgetIndexes(tx *Tx) error {
	for _, t := range db.schema.Tables {
		b := t.table().searchedIn()
		if b == nil || tx.bucket(b.changes).Get(stateKey) == nil {
			continue
		}
		if err := b.setState(tx, nil); err != nil {
			return err
		}
	}
	return nil
}
