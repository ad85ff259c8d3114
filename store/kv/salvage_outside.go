package kv

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"reeve/store/disk"
	"reeve/store/errs"
)

// copyOutside copies records from pages outside the tree: those that could not be read from the
// tree and, if the tree is not the newest one, those that are newer.
func (s *Salvaging) copyOutside(later bool) error {
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

// consider copies a value if it is a missing or newer record.
func (s *Salvaging) consider(e leafItem, later bool) error {
	stored := e.key
	for _, table := range s.db.schema.Tables {
		e.key = stored
		t := s.tables[table.Name()]
		id := ID(binary.BigEndian.Uint64(e.key))
		payload, err := disk.Unframe(t.Name(), e.key, e.value)
		if err != nil {
			id, payload = repairKey(t.Name(), e, 0, ID(t.sequence)+1)
			e.key = idKey(id)
		}
		if payload == nil {
			continue
		}

		at := updatedAt(payload)
		t.last = max(t.last, id)
		missing := !t.present[id] && !t.deleted(id) &&
			slices.ContainsFunc(t.holes, func(r keyRange) bool {
				return r.has(e.key)
			})
		if !missing && !(later && at > s.newest) && !(t.stale && t.present[id]) {
			return nil
		}
		if t.outside[id] || t.stale && t.present[id] { // several versions: keep the newest
			old, err := disk.Unframe(t.Name(), e.key, s.get(t.Name(), e.key))
			if err != nil || updatedAt(old) >= at {
				return err
			}
		}

		t.outside[id] = true
		return s.put(t.Name(), e.key, e.value)
	}
	return nil
}

// deleted reports whether a record is known to be deleted: some index has every record, and
// none has this one.
func (t *salvagedTable) deleted(id ID) bool {
	return t.total && !slices.ContainsFunc(t.indexed, func(ids map[ID]bool) bool { return ids[id] })
}

// updatedAt returns the updated_at of an encoded record, or 0 if it has none.
func updatedAt(payload []byte) (at Time) {
	if json.Unmarshal(member(payload, "updated_at"), &at) != nil {
		return 0
	}
	return at
}

// listLost reports the records of a collection that are known to be lost, and those that were
// found outside the tree.
func (s *Salvaging) listLost(t *salvagedTable, later bool) {
	have := uint64(len(t.present))
	for id := range t.outside {
		if !t.present[id] {
			have++
		}
	}

	for _, ids := range t.indexed {
		for id := range ids {
			if (!t.counted || have < t.stored.records) && id <= ID(t.sequence) && !t.present[id] &&
				!t.outside[id] {
				t.lost[id] = true
			}
		}
	}

	for id := range t.outside {
		delete(t.lost, id)
	}

	for _, id := range slices.Sorted(maps.Keys(t.lost)) {
		t.last = max(t.last, id)
		s.Lost("%s %d", t.Noun(), id)
	}

	for _, id := range slices.Sorted(maps.Keys(t.outside)) {
		s.report.Outside = append(s.report.Outside, fmt.Sprintf("%s %d", t.Noun(), id))
	}

	switch missing := int64(t.stored.records) - int64(have) - int64(len(t.lost)); {
	case t.counted && missing > 0 && !later:
		s.Lost("%s more, whose ids are not known", errs.Count(int(missing), t.Noun()))
	case !t.counted && len(t.holes) > 0 && len(t.indexed) == 0:
		s.Lost("possibly more of %s: how many there were cannot be read", t.Noun())
	}
}
