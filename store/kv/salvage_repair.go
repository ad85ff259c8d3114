package kv

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// repair makes the copied records consistent: references, unique values, trees, files, and the
// records that a start needs.
func (s *Salvaging) repair() error {
	err := s.write(func(tx *Tx) error {
		err := s.repairInstall(tx)
		s.db.instance = s.installName(tx)
		return err
	})
	if err == nil && s.db.schema.hasFiles() {
		err = s.copyBlobs()
	}
	if err != nil {
		return err
	}

	return s.write(func(tx *Tx) error {
		if err := s.hook(tx, s.db.schema.Repair); err != nil {
			return err
		}
		if err := s.repairTables(tx); err != nil {
			return err
		}
		if err := s.hook(tx, s.db.schema.RepairLast); err != nil {
			return err
		}
		if err := s.repairSequences(tx); err != nil {
			return err
		}
		if err := s.writeLog(tx); err != nil {
			return err
		}

		s.meta.Restored, s.meta.Salvaged = true, true // it may have sessions that had ended
		return writeMeta(tx, s.meta)
	})
}

// hook calls a hook of the schema; nil does nothing.
func (s *Salvaging) hook(tx *Tx, mend func(tx *Tx, s *Salvaging) error) error {
	if mend == nil {
		return nil
	}
	return mend(tx, s)
}

// repairTables mends all collections until nothing changes, because a dropped record may have
// been referred to, and then builds the indexes.
func (s *Salvaging) repairTables(tx *Tx) error {
	for again := true; again; {
		again = false
		for _, t := range s.db.schema.Tables {
			changed, err := t.table().repair(tx, s)
			if err != nil {
				return err
			}
			again = again || changed
		}
	}
	for _, t := range s.db.schema.Tables {
		if err := t.Reindex(tx); err != nil {
			return err
		}
	}
	return nil
}

// repairSequences sets the sequences so that no ID is used again for another record.
func (s *Salvaging) repairSequences(tx *Tx) error {
	for _, t := range s.tables {
		b := tx.bucket(t.Name())
		next := max(t.sequence, b.Sequence())
		if next < uint64(t.last) { // the bucket header is lost or old
			next = uint64(t.last) + 1000
		}
		if err := b.SetSequence(next); err != nil {
			return err
		}
	}
	return nil
}

// NextID returns an ID for a new record of a collection that no record ever had.
func (s *Salvaging) NextID(tx *Tx, of Table) (ID, error) {
	b, t := tx.bucket(of.Name()), s.tables[of.Name()]
	id := max(b.Sequence(), t.sequence, uint64(t.last)) + 1
	return ID(id), b.SetSequence(id)
}

// write runs fn in a transaction of the copy, without rules and change tracking.
func (s *Salvaging) write(fn func(tx *Tx) error) error {
	return disk.RecoverDamage(s.db.path, func() error {
		return s.db.bolt.Update(func(btx *bbolt.Tx) error {
			return fn(&Tx{
				db:      s.db,
				actor:   engine{},
				now:     s.db.clock(),
				bolt:    btx,
				changes: newChanges(),
			})
		})
	})
}

func (s *Salvaging) installName(tx *Tx) string {
	install, err := Installs.Get(tx, 1)
	if err != nil {
		return ""
	}
	return install.Name
}

// repairInstall creates the description of the installation again if it is lost. Its name is also
// in the marker file.
func (s *Salvaging) repairInstall(tx *Tx) error {
	if _, err := Installs.Get(tx, 1); err == nil {
		return nil
	}
	name, err := os.ReadFile(filepath.Join(s.dir, markerName))
	install := &Install{
		Ident:       Ident{1},
		Name:        strings.TrimSpace(string(name)),
		PasswordKey: randomBytes(48),
	}
	if err != nil || install.Name == "" {
		install.Name = rand.Text()
	}
	s.Lost("every password: the key that they are mixed with; `reeve user reset --owner` gives an owner a new one")
	return PutRaw(tx, Installs, 1, install)
}

// PutRaw stores a record as it is, without rules, indexes and counts. It is for migrations and
// hooks of Salvage.
func PutRaw[T any](tx *Tx, c *Collection[T], id ID, v *T) error {
	return c.untyped.putRaw(tx, id, asRecord(v))
}

func (c *collection) putRaw(tx *Tx, id ID, v record) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return tx.put(c.name, idKey(id), disk.Frame(c.name, idKey(id), payload))
}

// drop deletes a record that cannot be kept and reports it as lost.
func (c *collection) drop(tx *Tx, s *Salvaging, id ID, format string, args ...any) error {
	s.Lost("%s %d: %s", c.noun(), id, fmt.Sprintf(format, args...))
	return tx.delete(c.name, idKey(id))
}

// repair removes references to lost records, records that make no sense without them, and all but
// one of the records with the same unique value. changed reports whether anything was removed.
func (c *collection) repair(tx *Tx, s *Salvaging) (changed bool, err error) {
	var ids []ID
	cursor := tx.bucket(c.name).Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		ids = append(ids, ID(binary.BigEndian.Uint64(key)))
		s.tables[c.name].last = max(s.tables[c.name].last, ids[len(ids)-1])
	}

	taken := map[string]ID{}
	from := s.tables[c.name]
	slices.SortStableFunc(ids, func(a, b ID) int { // records of the tree come first
		switch {
		case from.outside[a] == from.outside[b]:
			return 0
		case from.outside[a]:
			return 1
		}
		return -1
	})
	for _, id := range ids {
		did, err := c.repairOne(tx, s, id, taken)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}

	return changed, nil
}

// repairOne mends one record. taken has the unique values of the records before it.
func (c *collection) repairOne(tx *Tx, s *Salvaging, id ID,
	taken map[string]ID) (changed bool, err error) {
	v, err := c.decode(id, tx.bucket(c.name).Get(idKey(id)))
	if err != nil {
		return true, c.drop(tx, s, id, "%s", disk.OneLine(err))
	}

	for _, x := range c.indexes {
		for _, key := range x.keys(v) {
			if x.unique {
				name := x.bucket + string(key)
				if other := taken[name]; other != 0 {
					return true, c.drop(tx, s, id, "%s %d has the same %s", c.noun(), other,
						x.field)
				}
				taken[name] = id
			}
			if x.target == nil {
				continue
			}

			to := ID(binary.BigEndian.Uint64(key))
			if x.target.Exists(tx, to) && !x.circular(tx, id) {
				continue
			}
			if x.cascades || x.required {
				return true, c.drop(tx, s, id, "its %s %d is lost", x.target.Noun(), to)
			}

			cleared, err := x.clear(tx, s, id, to)
			if cleared || err != nil {
				return true, err // the other references in the next round
			}
		}
	}

	return false, nil
}

// circular reports whether a record of a tree is in a cycle or deeper than MaxDepth.
func (x *index) circular(tx *Tx, id ID) bool {
	if x.target != x.of.self || x.dangles {
		return false
	}
	for depth := 0; depth <= MaxDepth; depth++ {
		v, err := x.of.decode(id, tx.bucket(x.of.name).Get(idKey(id)))
		if err != nil {
			return false
		}
		above := x.keys(v)
		if len(above) == 0 {
			return false
		}
		id = ID(binary.BigEndian.Uint64(above[0]))
		if !x.of.exists(tx, id) {
			return false
		}
	}
	return true
}

// clear removes a reference from a record. A single loose reference stays, because it may be
// dangling.
func (x *index) clear(tx *Tx, s *Salvaging, id, to ID) (cleared bool, err error) {
	payload, err := disk.Unframe(x.of.name, idKey(id), tx.bucket(x.of.name).Get(idKey(id)))
	if err != nil {
		return false, err
	}

	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(payload, &fields); err != nil {
		return false, err
	}

	var list []ID
	if err := json.Unmarshal(fields[x.field], &list); err == nil {
		fields[x.field], err = json.Marshal(without(list, to))
		if err != nil {
			return false, err
		}
	} else if x.dangles {
		return false, nil
	} else {
		fields[x.field] = json.RawMessage("0")
	}

	text, err := json.Marshal(fields)
	if err != nil {
		return false, err
	}

	v := x.of.new()
	if err := json.Unmarshal(text, v); err != nil {
		return false, err
	}

	s.Changed("%s %d: %s without %s %d", x.of.noun(), id, x.field, x.target.Noun(), to)
	return true, x.of.putRaw(tx, id, v)
}
