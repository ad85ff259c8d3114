package store

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"reeve/store/disk"
	"reeve/store/errs"

	"go.etcd.io/bbolt"
)

// Salvaged says what Salvage has copied and what it has not.
type Salvaged struct {
	Records int      // copied
	Blobs   int      // files copied, the same bytes once
	Lost    []string // what is lost
	Outside []string // records that were found outside of the tree of the database
	Changed []string // what was changed so that the rest fits together
}

// Salvage copies everything sound of a damaged data directory, which no server may
// hold, to a new one that verifies. Records are read from the tree of the newest sound
// meta page. Only where that tree cannot be read, pages outside of it are searched,
// which may hold older versions of records, and ones that were deleted. Indexes and
// counts are built again, and references to what is lost are removed. The next start
// signs everybody out.
func Salvage(dir, to string, options Options) (report *Salvaged, err error) {
	if _, err := os.Stat(filepath.Join(dir, dataName)); err != nil && !restorePending(dir) {
		return nil, err
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty; name a new directory", to)
	}
	lock, _, err := takeDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := makeDir(to); err != nil {
		return nil, err
	}
	newLock, err := lockDir(to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, newLock.Unlock()) }()
	s := &salvage{dir: dir, to: to, report: &Salvaged{}, tables: map[string]*salvagedTable{}}
	if err := s.room(); err != nil {
		return nil, err
	}
	final := filepath.Join(to, dataName)
	s.db = &DB{path: final + ".new", dir: to, schema: options.schemaOr(), options: options, clock: clockNow}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("salvage %s: %w", dir, err)
	}
	if err := errors.Join(disk.MoveFile(s.db.path, final), s.finish()); err != nil {
		return nil, err
	}
	return s.report, s.verify(final)
}

// salvage is one run of Salvage.
type salvage struct {
	dir, to string
	db      *DB // that is made
	report  *Salvaged
	pages   *loosePages
	tables  map[string]*salvagedTable
	meta    fileMeta
	newest  Time // record of the tree
	batch   *bbolt.Tx
	puts    int
}

// salvagedTable is what is known of one collection.
type salvagedTable struct {
	table
	holes    []keyRange
	present  map[ID]bool // in the tree
	outside  map[ID]bool // copied from elsewhere
	lost     map[ID]bool
	listed   []map[ID]bool // ids of every index that can be read whole
	total    bool          // one of these has every record
	sequence uint64
	last     ID    // the highest that was seen anywhere
	said     tally // if counted
	counted  bool
	stale    bool // what can be read is not what the tally says: some of it may be old
}

func (t *salvagedTable) hole(r keyRange) { t.holes = append(t.holes, r) }

func (s *salvage) lost(format string, args ...any) {
	s.report.Lost = append(s.report.Lost, fmt.Sprintf(format, args...))
}

func (s *salvage) changed(format string, args ...any) {
	s.report.Changed = append(s.report.Changed, fmt.Sprintf(format, args...))
}

// room refuses a disk on which the copies do not fit.
func (s *salvage) room() error {
	need := int64(0)
	for _, name := range []string{dataName, blobsName} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			need += info.Size()
		}
	}
	return disk.NeedSpace(s.to, need)
}

func (s *salvage) run() (err error) {
	if err := s.copyKey(); err != nil {
		return err
	}
	pages, roots, err := openLoose(filepath.Join(s.dir, dataName), int64(os.Getpagesize()))
	if err != nil {
		return err
	}
	s.pages = pages
	defer func() { err = errors.Join(err, pages.f.Close()) }()
	if err := s.db.openFile(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.bolt.Sync(), s.db.bolt.Close()) }()
	s.db.bolt.NoSync = true // nobody looks at it before it is complete
	err = s.db.bolt.Update(func(btx *bbolt.Tx) error {
		return s.db.makeBuckets(&Tx{db: s.db, bolt: btx, changes: newChanges()})
	})
	if err == nil {
		err = s.copyRecords(roots)
	}
	if err == nil {
		err = s.mend()
	}
	if err != nil {
		return err
	}
	s.db.bolt.NoSync = false
	return s.db.migrate(false)
}

// copyKey copies the key file, if it can be used.
func (s *salvage) copyKey() error {
	text, err := os.ReadFile(filepath.Join(s.dir, keyName))
	if err == nil {
		_, err = parseKeyring(text)
	}
	if err != nil {
		s.lost("%s: %v; secret settings must be entered again", keyName, err)
		return nil
	}
	return errors.Join(disk.WriteFile(filepath.Join(s.to, keyName), text), disk.SyncDir(s.to))
}

// base chooses the tree that is read: that of the newest meta page, unless its root is
// damaged and the other's is not. later reports whether there was a newer one.
func (s *salvage) base(roots []disk.Meta) (buckets map[string]leafItem, later bool) {

	later = len(roots) < 2
	if mark, err := readMark(s.dir); err == nil && len(roots) == 1 && mark.Commit <= roots[0].Txid {
		later = false // the other meta page was the older one
	}
	for i, m := range roots {
		s.pages.seen = map[int64]bool{}
		found, sound := map[string]leafItem{}, true
		s.pages.tree(int64(m.Root), keyRange{}, 0, func(item leafItem) {
			if item.bucket {
				found[string(item.key)] = item
			}
		}, func(keyRange, error) { sound = false })
		if i == 0 || sound {
			buckets, later = found, later || i > 0
		}
		if sound {
			break
		}
	}
	return buckets, later
}

// copyRecords copies the sound records of the tree, and from elsewhere those that the
// tree should have.
func (s *salvage) copyRecords(roots []disk.Meta) error {
	buckets, later := s.base(roots)
	if later && len(roots) > 0 {
		s.lost("what the last commit has deleted, and what it changed without a new updated_at: its meta page or its root page is damaged")
	}
	s.readMeta(buckets[disk.MetaBucket])
	if err := s.db.schema.knows(s.meta, filepath.Join(s.dir, dataName), s.db.options.Version); err != nil {
		return err
	}
	for _, t := range s.db.schema.tables {
		s.tables[t.tableName()] = &salvagedTable{table: t, present: map[ID]bool{}, outside: map[ID]bool{}, lost: map[ID]bool{}}
	}
	s.readTallies(buckets[countBucket])
	search := later
	for _, t := range s.db.schema.tables {
		st := s.tables[t.tableName()]
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
	for _, t := range s.db.schema.tables {
		s.listLost(s.tables[t.tableName()], later)
	}
	return s.flush()
}

// readMeta reads what the file says of itself; without that it is taken for one of
// this schema.
func (s *salvage) readMeta(item leafItem) {
	s.meta = fileMeta{Schema: s.db.schema.version()}
	s.pages.bucket(item, func(e leafItem) {
		var meta fileMeta
		payload, err := disk.Unframe(disk.MetaBucket, e.key, e.value)
		if err == nil && string(e.key) == string(disk.MetaKey) && json.Unmarshal(payload, &meta) == nil {
			s.meta = meta
		}
	}, func(keyRange, error) {})
}

func (s *salvage) readTallies(item leafItem) {
	s.pages.bucket(item, func(e leafItem) {
		t := s.tables[string(e.key)]
		if payload, err := disk.Unframe(countBucket, e.key, e.value); t != nil && err == nil && len(payload) == 16 {
			t.said = tally{binary.BigEndian.Uint64(payload), binary.BigEndian.Uint64(payload[8:])}
			t.counted = true
		}
	}, func(keyRange, error) {})
}

// copyTable copies what the tree has of a collection. A branch page that is damaged may
// lead to an older version of a page, or leave pages out, and look sound: the tally tells.
func (s *salvage) copyTable(t *salvagedTable, buckets map[string]leafItem, later bool) error {
	var failed error
	var got tally
	name := t.tableName()
	item, found := buckets[name]
	if found && len(item.value) >= disk.BucketHead {
		t.sequence = binary.LittleEndian.Uint64(item.value[8:])
	}
	s.pages.bucket(item, func(e leafItem) {
		if e.bucket || len(e.key) != 8 {
			return
		}
		id := ID(binary.BigEndian.Uint64(e.key))
		payload, err := disk.Unframe(name, e.key, e.value)
		if err != nil {
			t.lost[id] = true
			t.hole(keyRange{e.key, append(slices.Clone(e.key), 0)})
			return
		}
		t.present[id], t.last = true, max(t.last, id)
		got.records++
		got.sum += uint64(disk.FrameSum(e.value))
		if later {
			s.newest = max(s.newest, updatedAt(payload))
		}
		failed = errors.Join(failed, s.put(name, e.key, e.value))
	}, func(r keyRange, _ error) { t.hole(r) })
	var indexes []map[ID]bool
	whole := true
	for _, bucket := range t.buckets()[1:] {
		ids, sum, read := s.readIndex(t, bucket, buckets[bucket])
		if got.sum += sum; read {
			indexes = append(indexes, ids)
		}
		whole = whole && read
	}
	if t.counted && len(t.holes) == len(t.lost) { // nothing is known to be missing but single records
		t.stale = got.records+uint64(len(t.lost)) < t.said.records || whole && len(t.lost) == 0 && got != t.said
	}
	if t.stale {
		t.hole(keyRange{})
	}
	if len(t.holes) > 0 {
		t.list(indexes)
	}
	return failed
}

// readIndex returns the ids in an index or search bucket of a collection, the sum of its
// checksums, and whether all of it can be read.
func (s *salvage) readIndex(t *salvagedTable, bucket string, item leafItem) (ids map[ID]bool, sum uint64, whole bool) {
	ids, whole = map[ID]bool{}, true
	search := t.searchedIn()
	texts, changes := search != nil && bucket == search.bucket, search != nil && bucket == search.changes
	s.pages.bucket(item, func(e leafItem) {
		sum += uint64(disk.Checksum(bucket, e.key, e.value))
		switch n := len(e.key); {
		case changes: // ids of past changes, not of records
		case texts && n == 8:
			ids[ID(binary.BigEndian.Uint64(e.key))] = true
		case len(e.value) == 8: // of a unique value
			ids[ID(binary.BigEndian.Uint64(e.value))] = true
		case len(e.value) == 0 && n > 8: // an entry with a value is a head entry: a count, no id
			ids[ID(binary.BigEndian.Uint64(e.key[n-8:]))] = true
		}
	}, func(keyRange, error) { whole = false })
	return ids, sum, whole
}

// list notes the ids of the indexes, and whether every record is in one of them: then one
// that is in none has been deleted.
func (t *salvagedTable) list(indexes []map[ID]bool) {
	for _, ids := range indexes {
		if len(ids) == 0 {
			continue
		}
		t.listed = append(t.listed, ids)
		total := t.counted && uint64(len(ids)) == t.said.records
		if !t.counted {
			total = len(t.present) > 0
			for id := range t.present {
				total = total && ids[id]
			}
		}
		t.total = t.total || total
	}
}

// deleted reports whether a record is in no index, although one has every record.
func (t *salvagedTable) deleted(id ID) bool {
	return t.total && !slices.ContainsFunc(t.listed, func(ids map[ID]bool) bool { return ids[id] })
}

// copyOutside copies records from pages that no tree leads to: those which the tree
// could not be read for, and, if the tree is not the last one, those that are newer.
func (s *salvage) copyOutside(later bool) error {
	var failed error
	var found func(e leafItem)
	found = func(e leafItem) {
		if e.bucket {
			s.pages.inline(e, found, func(keyRange, error) {})
			return
		}
		if len(e.key) == 8 && len(e.value) > disk.FrameHead && e.value[0] == disk.FrameVersion {
			failed = errors.Join(failed, s.consider(e, later))
		}
	}
	err := s.pages.others(found)
	return errors.Join(err, failed)
}

// consider copies a value if it is a record that is missing.
func (s *salvage) consider(e leafItem, later bool) error {
	for _, table := range s.db.schema.tables {
		t := s.tables[table.tableName()]
		payload, err := disk.Unframe(t.tableName(), e.key, e.value)
		if err != nil {
			continue
		}
		id, at := ID(binary.BigEndian.Uint64(e.key)), updatedAt(payload)
		t.last = max(t.last, id)
		missing := !t.present[id] && !t.deleted(id) && slices.ContainsFunc(t.holes, func(r keyRange) bool { return r.has(e.key) })
		if !missing && !(later && at > s.newest) && !(t.stale && t.present[id]) {
			return nil
		}
		if t.outside[id] || t.stale && t.present[id] { // the newest of several
			old, err := disk.Unframe(t.tableName(), e.key, s.get(t.tableName(), e.key))
			if err != nil || updatedAt(old) >= at {
				return err
			}
		}
		t.outside[id] = true
		return s.put(t.tableName(), e.key, e.value)
	}
	return nil
}

// updatedAt reads when a record was changed.
func updatedAt(payload []byte) (at Time) {
	if json.Unmarshal(member(payload, "updated_at"), &at) != nil {
		return 0
	}
	return at
}

// putEvery is how many records one commit of the copy has.
const putEvery = 5000

// tx is the transaction of the copy that is being filled.
func (s *salvage) tx() (*bbolt.Tx, error) {
	if s.batch != nil {
		return s.batch, nil
	}
	btx, err := s.db.bolt.Begin(true)
	s.batch, s.puts = btx, 0
	return btx, err
}

func (s *salvage) get(bucket string, key []byte) []byte {
	btx, err := s.tx()
	if err != nil {
		return nil
	}
	return btx.Bucket([]byte(bucket)).Get(key)
}

func (s *salvage) put(bucket string, key, value []byte) error {
	btx, err := s.tx()
	if err == nil {
		err = btx.Bucket([]byte(bucket)).Put(slices.Clone(key), slices.Clone(value))
	}
	if s.puts++; err == nil && s.puts >= putEvery {
		err = s.flush()
	}
	return err
}

func (s *salvage) flush() error {
	if s.batch == nil {
		return nil
	}
	btx := s.batch
	s.batch = nil
	return btx.Commit()
}

// listLost lists the records of a collection that are known to be lost, and those that
// were found outside of the tree.
func (s *salvage) listLost(t *salvagedTable, later bool) {
	have := uint64(len(t.present))
	for id := range t.outside {
		if !t.present[id] {
			have++
		}
	}
	for _, ids := range t.listed {
		for id := range ids {
			if (!t.counted || have < t.said.records) && id <= ID(t.sequence) && !t.present[id] && !t.outside[id] {
				t.lost[id] = true
			}
		}
	}
	for id := range t.outside {
		delete(t.lost, id)
	}
	for _, id := range slices.Sorted(maps.Keys(t.lost)) {
		t.last = max(t.last, id)
		s.lost("%s %d", t.noun(), id)
	}
	for _, id := range slices.Sorted(maps.Keys(t.outside)) {
		s.report.Outside = append(s.report.Outside, fmt.Sprintf("%s %d", t.noun(), id))
	}
	switch missing := int64(t.said.records) - int64(have) - int64(len(t.lost)); {
	case t.counted && missing > 0 && !later:
		s.lost("%s more, whose ids are not known", errs.Count(int(missing), t.noun()))
	case !t.counted && len(t.holes) > 0 && len(t.listed) == 0:
		s.lost("possibly more of %s: how many there were cannot be read", t.noun())
	}
}

// finish writes the small files of the new directory.
func (s *salvage) finish() error {
	f, err := os.Open(filepath.Join(s.to, dataName))
	if err != nil {
		return err
	}
	meta, _, err := disk.ReadMetas(f, false)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return errors.Join(
		writeMark(s.to, commitMark{Instance: s.db.instance, Commit: meta.Txid}),
		disk.WriteFile(filepath.Join(s.to, markerName), []byte(s.db.instance+"\n")), disk.SyncDir(s.to))
}

// verify is what `reeve verify` does, without the lock, which is held.
func (s *salvage) verify(path string) error {
	report, refs, instance, err := inspect(path, s.db.options)
	if err == nil && hasFiles(s.db.schema) {
		err = inspectBlobs(filepath.Join(s.to, blobsName), instance, refs, report)
	}
	s.report.Records, s.report.Blobs = report.Records, report.Blobs
	slices.SortStableFunc(s.report.Changed, cmp.Compare[string])
	return errors.Join(err, report.err("the copy in "+s.to))
}
