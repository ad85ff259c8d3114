package kv

// concluded makes a commit visible: it replaces the caches and calls the hooks. batch is nil for entries
// of the log of commits.
func (db *DB) concluded(number int, changes *changes, fresh map[AnyCache]computed, batch []*job) {
	db.marker.committed(number)
	db.indexer.wake()
	for c, f := range fresh {
		generation := db.swap(c, f.value)
		recordCacheEvent(batch, CacheEvent{
			Cache:      c.cacheName(),
			Op:         "set",
			Generation: generation,
			Size:       entriesOf(f.value),
			Began:      f.began,
			Took:       f.took,
		})
	}

	for _, hook := range db.hooks {
		hook(Changes{changes, batch})
	}

	if look := changes.released; db.files != nil {
		if batch == nil { // contents that another node has stored
			look = append(look, changes.stored...)
		}
		if len(look) > 0 {
			db.files.check(look)
		}
	}
	if db.commits != nil {
		db.commits.reached(db.stream.head) // last, since a caller that waits for it reads what the caches and hooks have
	}
}

// recordCacheEvent records a cache event for every write function that succeeded.
func recordCacheEvent(batch []*job, e CacheEvent) {
	for _, j := range batch {
		if j.recorder != nil && j.err == nil {
			j.recorder.recordCacheEvent(e)
		}
	}
}

// Changes are the changes of a commit, as passed to the hooks of OnCommit.
type Changes struct {
	c     *changes
	batch []*job
}

// RecordCacheEvent records an event of a cache outside this package for every write function of the
// commit.
func (c Changes) RecordCacheEvent(e CacheEvent) { recordCacheEvent(c.batch, e) }

// Of returns the IDs of a collection's records that were created, changed or deleted; nil if
// there are none.
func (c Changes) Of(t Table) map[ID]bool { return c.c.records[t] }

// Followed reports whether the commit applied entries of the log of commits, which other processes have
// written.
func (c Changes) Followed() bool { return c.batch == nil }

// OnCommit adds a function that the writer calls after every commit, before the writers
// return. All writes wait for it, so it must be fast. Call OnCommit before the first write.
func (db *DB) OnCommit(hook func(Changes)) { db.hooks = append(db.hooks, hook) }
