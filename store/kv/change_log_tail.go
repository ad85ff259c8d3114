package kv

import (
	"math"
	"sort"
	"sync"

	"reeve/store/audit"
)

// logTail has the keys of the entries in data.db, so that they can be searched without reading
// them, and moved to a segment without decoding them. It follows each commit.
type logTail struct {
	mu      sync.RWMutex
	entries []tailEntry // entries by number; elements never change, so a reader can use an old slice
}

type tailEntry struct {
	seq  uint64
	keys audit.Keys
}

// now returns the entries at this moment.
func (t *logTail) now() []tailEntry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.entries
}

// append adds the keys of entries from a number on.
func (t *logTail) append(first uint64, keys *audit.KeyList) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range keys.Each {
		t.entries = append(t.entries, tailEntry{first + uint64(i), k})
	}
}

// drop removes the entries up to a number, which are in a segment.
func (t *logTail) drop(through uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].seq > through })
	t.entries = append([]tailEntry(nil), t.entries[n:]...) // a copy, which frees the rest
}

// add adds the entries of commits of other processes.
func (t *logTail) add(rows []audit.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		t.read(row)
	}
}

// read adds an entry from the file. One whose keys cannot be read is left out: it is not found, and
// moving it is an error.
func (t *logTail) read(row audit.Row) {
	if keys, err := audit.KeysOf(row.Text); err == nil {
		t.entries = append(t.entries, tailEntry{row.Seq, keys})
	}
}

// firstOf returns the number of the first of some entries; the highest number if there are none.
func firstOf(entries []tailEntry) uint64 {
	if len(entries) == 0 {
		return math.MaxUint64
	}
	return entries[0].seq
}

// withKeys adds keys to rows, and returns those of the entries after them.
func withKeys(rows []audit.Row, entries []tailEntry) []tailEntry {
	for i := range rows {
		for len(entries) > 0 && entries[0].seq < rows[i].Seq {
			entries = entries[1:]
		}
		if len(entries) > 0 && entries[0].seq == rows[i].Seq {
			rows[i].Keys = &entries[0].keys
		}
	}
	return entries
}
