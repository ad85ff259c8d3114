package kv

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// salvagedTable is the state of one collection.
type salvagedTable struct {
	Table
	holes    []keyRange
	present  map[ID]bool // records in the tree
	outside  map[ID]bool // records from pages outside the tree
	lost     map[ID]bool
	indexed  []map[ID]bool // IDs in each index that can be read completely
	total    bool          // one of these indexes has every record
	sequence uint64
	last     ID     // highest ID that was seen
	stored   totals // stored count and checksum, if counted is true
	counted  bool
	stale    bool // the readable records do not match said: some of them may be old versions
}

func (t *salvagedTable) hole(r keyRange) { t.holes = append(t.holes, r) }

// base chooses the tree to read: that of the newest meta page, unless its root is damaged and
// that of the other is not. later reports whether there was a newer tree.
func (s *Salvaging) base(roots []disk.Meta) (buckets map[string]leafItem, later bool) {
	later = len(roots) < 2
	if mark, err := readMark(s.dir); err == nil && len(roots) == 1 && mark.Commit <= roots[0].Txid {
		later = false // the damaged meta page was the older one
	}

	var seen map[int64]bool
	damaged := false
	for i, m := range roots {
		s.pages.seen = map[int64]bool{}
		found, sound := map[string]leafItem{}, true
		s.pages.tree(int64(m.Root), keyRange{}, 0, func(item leafItem) {
			if item.bucket {
				found[string(item.key)] = item
			}
		}, func(keyRange, error) { sound = false })
		switch {
		case i == 0:
			buckets, seen, damaged = found, s.pages.seen, !sound
		case sound && (damaged || behind(buckets, found)):
			buckets, seen, later = found, s.pages.seen, true
		}
	}

	s.pages.seen = seen
	return buckets, later
}

// behind reports whether buckets are older than those of an earlier commit, since a damaged branch
// page leads to an old page: their sequences never decrease.
func behind(buckets, earlier map[string]leafItem) bool {
	for name, item := range earlier {
		if newer, found := buckets[name]; found && sequence(newer) < sequence(item) {
			return true
		}
	}
	return false
}

// sequence returns the highest ID that a bucket has given out.
func sequence(bucket leafItem) uint64 {
	if len(bucket.value) < disk.BucketHead {
		return 0
	}
	return binary.LittleEndian.Uint64(bucket.value[8:])
}

// copyRecords copies the sound records of the tree, and from other pages those that the tree
// should have.
func (s *Salvaging) copyRecords(roots []disk.Meta) error {
	buckets, later := s.base(roots)
	if later && len(roots) > 0 {
		s.Lost("what the last commit has deleted, and what it changed without a new updated_at: its meta page or its root page is damaged")
	}

	s.readMeta(buckets[disk.MetaBucket])
	if err := s.db.schema.knows(s.meta, filepath.Join(s.dir, dataName), s.db.options.Version); err != nil {
		return err
	}

	for _, t := range s.db.schema.Tables {
		s.tables[t.Name()] = &salvagedTable{
			Table:   t,
			present: map[ID]bool{},
			outside: map[ID]bool{},
			lost:    map[ID]bool{},
		}
	}

	s.readTallies(buckets[countBucket])
	if err := s.copyLog(buckets[logBucket]); err != nil {
		return err
	}

	search := later
	for _, t := range s.db.schema.Tables {
		st := s.tables[t.Name()]
		if err := s.copyTable(st, buckets, later); err != nil {
			return err
		}
		search = search || len(st.holes) > 0
	}

	if search {
		if err := s.copyOutside(later); err != nil {
			return err
		}
	}

	for _, t := range s.db.schema.Tables {
		s.listLost(s.tables[t.Name()], later)
	}

	return s.flush()
}

// readMeta reads the description of the file. Without one it is assumed to have the current
// schema.
func (s *Salvaging) readMeta(item leafItem) {
	s.meta = fileMeta{Schema: s.db.schema.Version()}
	s.pages.bucket(item, func(e leafItem) {
		var meta fileMeta
		payload, err := disk.Unframe(disk.MetaBucket, e.key, e.value)
		if err == nil && string(e.key) == string(disk.MetaKey) &&
			json.Unmarshal(payload, &meta) == nil {
			s.meta = meta
			s.meta.Cluster = false // the log of commits does not have what a salvage changes
		}
	}, func(keyRange, error) {})
}

// readTallies reads the stored counts and checksums of the collections.
func (s *Salvaging) readTallies(item leafItem) {
	s.pages.bucket(item, func(e leafItem) {
		t := s.tables[string(e.key)]
		if payload, err := disk.Unframe(countBucket, e.key, e.value); t != nil && err == nil &&
			len(payload) == 16 {
			t.stored = totals{binary.BigEndian.Uint64(payload),
				binary.BigEndian.Uint64(payload[8:])}
			t.counted = true
		}
	}, func(keyRange, error) {})
}

// copyTable copies the records of a collection from the tree. A damaged branch page may lead to
// an older version of a page, or leave out pages, and look sound; the stored count and checksum
// reveal it.
func (s *Salvaging) copyTable(t *salvagedTable, buckets map[string]leafItem, later bool) error {
	got, unreadable, err := s.copyTree(t, buckets[t.Name()], later)
	var indexes []map[ID]bool
	whole := true
	for _, bucket := range t.Buckets()[1:] {
		ids, sum, read := s.readIndex(t, bucket, buckets[bucket])
		if got.sum += sum; read {
			indexes = append(indexes, ids)
		}
		whole = whole && read
	}

	if t.counted && len(t.holes) == unreadable { // only single records are known to be missing
		t.stale = got.records+uint64(unreadable) < t.stored.records ||
			whole && unreadable == 0 && got != t.stored
	}
	if t.stale {
		t.hole(keyRange{})
	}
	if len(t.holes) > 0 {
		t.addIndexes(indexes)
	}
	if t.stale {
		for id := range t.present {
			if t.deleted(id) { // on an old page; or the index is the one that is damaged
				t.outside[id] = true
			}
		}
	}

	return err
}

// copyTree copies the sound records in the tree of a collection. It returns their totals and the
// number of elements whose checksum is wrong.
func (s *Salvaging) copyTree(t *salvagedTable, bucket leafItem,
	later bool) (got totals, unreadable int, failed error) {
	t.sequence = sequence(bucket)
	last := ID(0)          // of the last sound record
	var unsound []leafItem // elements after it
	add := func(id ID, value, payload []byte) {
		t.present[id], t.last = true, max(t.last, id)
		got.records++
		got.sum += uint64(disk.FrameSum(value))
		if later {
			s.newest = max(s.newest, updatedAt(payload))
		}
		failed = errors.Join(failed, s.put(t.Name(), idKey(id), value))
	}
	resolve := func(next ID) {
		for _, e := range unsound {
			if id, payload := repairKey(t.Name(), e, last, next); payload != nil && !t.present[id] {
				add(id, e.value, payload)
				s.Changed("%s %d has its ID again: its key was damaged", t.Noun(), id)
				continue
			}
			unreadable++
			t.hole(keyRange{idKey(last + 1), idKey(next)})
			if id := ID(binary.BigEndian.Uint64(e.key)); last < id && id < next {
				t.lost[id] = true
			}
		}
		unsound = unsound[:0]
	}
	s.pages.bucket(bucket, func(e leafItem) {
		if e.bucket || len(e.key) != 8 {
			return
		}
		payload, err := disk.Unframe(t.Name(), e.key, e.value)
		if err != nil {
			unsound = append(unsound, e)
			return
		}
		id := ID(binary.BigEndian.Uint64(e.key))
		resolve(id)
		add(id, e.value, payload)
		last = id
	}, func(r keyRange, _ error) { t.hole(r) })
	resolve(max(last, ID(t.sequence)) + 1)
	return got, unreadable, failed
}

// repairKey returns the ID of an element one byte of whose key was altered, and its payload: the
// checksum covers both. The ID is between those of its neighbours. Without a result payload is nil.
func repairKey(bucket string, e leafItem, after, before ID) (id ID, payload []byte) {
	key := slices.Clone(e.key)
	for i, was := range e.key {
		for b := range 256 {
			key[i] = byte(b)
			if id = ID(binary.BigEndian.Uint64(key)); id <= after || id >= before {
				continue
			}
			if payload, err := disk.Unframe(bucket, key, e.value); err == nil {
				return id, payload
			}
		}
		key[i] = was
	}
	return 0, nil
}

// readIndex returns the IDs in an index or search bucket of a collection, the sum of its
// checksums, and whether all of it could be read.
func (s *Salvaging) readIndex(t *salvagedTable, bucket string,
	item leafItem) (ids map[ID]bool, sum uint64, whole bool) {
	ids, whole = map[ID]bool{}, true
	search := t.table().searchedIn()
	texts, changes := search != nil &&
		bucket == search.bucket, search != nil && bucket == search.changes
	s.pages.bucket(item, func(e leafItem) {
		sum += uint64(disk.Checksum(bucket, e.key, e.value))
		switch n := len(e.key); {
		case changes: // IDs of past changes, not of records
		case texts && n == 8:
			ids[ID(binary.BigEndian.Uint64(e.key))] = true
		case len(e.value) == 8: // entry of a unique index
			ids[ID(binary.BigEndian.Uint64(e.value))] = true
		case len(e.value) == 0 && n > 8: // an entry with a value is a count and has no ID
			ids[ID(binary.BigEndian.Uint64(e.key[n-8:]))] = true
		}
	}, func(keyRange, error) { whole = false })
	return ids, sum, whole
}

// addIndexes records the IDs in the indexes, and whether one of them has every record: then a
// record that is in none was deleted.
func (t *salvagedTable) addIndexes(indexes []map[ID]bool) {
	for _, ids := range indexes {
		if len(ids) == 0 {
			continue
		}
		t.indexed = append(t.indexed, ids)
		total := t.counted && uint64(len(ids)) == t.stored.records
		if !t.counted {
			total = len(t.present) > 0
			for id := range t.present {
				total = total && ids[id]
			}
		}
		t.total = t.total || total
	}
}

// putEvery is the number of records in one commit of the copy.
const putEvery = 5000

// tx returns the current transaction of the copy, and begins one if there is none.
func (s *Salvaging) tx() (*bbolt.Tx, error) {
	if s.batch != nil {
		return s.batch, nil
	}
	btx, err := s.db.bolt.Begin(true)
	s.batch, s.puts = btx, 0
	return btx, err
}

func (s *Salvaging) get(bucket string, key []byte) []byte {
	btx, err := s.tx()
	if err != nil {
		return nil
	}
	return btx.Bucket([]byte(bucket)).Get(key)
}

// put copies a stored value, and commits after every putEvery of them.
func (s *Salvaging) put(bucket string, key, value []byte) error {
	btx, err := s.tx()
	if err == nil {
		err = btx.Bucket([]byte(bucket)).Put(slices.Clone(key), slices.Clone(value))
	}
	if s.puts++; err == nil && s.puts >= putEvery {
		err = s.flush()
	}
	return err
}

func (s *Salvaging) flush() error {
	if s.batch == nil {
		return nil
	}
	btx := s.batch
	s.batch = nil
	return btx.Commit()
}
