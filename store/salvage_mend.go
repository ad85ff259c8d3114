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

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// requiredRefs are references without which a record has no meaning, besides those to
// an owner.
var requiredRefs = []string{SettingByGroup.x.bucket, DictItemByDict.x.bucket}

// mend makes what was copied fit together: references, unique values, trees, files,
// and what a start needs.
func (s *salvage) mend() error {
	err := s.write(func(tx *Tx) error {
		if err := s.mendInstall(tx); err != nil {
			return err
		}
		s.db.instance = s.installName(tx)
		if hasFiles(s.db.schema) {
			return s.mendOwnerRole(tx)
		}
		return nil
	})
	if err == nil && hasFiles(s.db.schema) {
		err = s.copyBlobs()
	}
	if err != nil {
		return err
	}
	return s.write(func(tx *Tx) error {
		if hasFiles(s.db.schema) {
			if err := s.mendAvatars(tx); err != nil {
				return err
			}
		}
		for again := true; again; { // what is dropped may have been referred to
			again = false
			for _, t := range s.db.schema.tables {
				changed, err := t.mend(tx, s)
				if err != nil {
					return err
				}
				again = again || changed
			}
		}
		for _, t := range s.db.schema.tables {
			if err := t.reindex(tx); err != nil {
				return err
			}
		}
		if hasFiles(s.db.schema) {
			if err := s.mendOwner(tx); err != nil {
				return err
			}
		}
		for _, t := range s.tables {
			b := tx.bucket(t.tableName())
			next := max(t.sequence, b.Sequence())
			if next < uint64(t.last) { // the head of the bucket is lost or old
				next = uint64(t.last) + 1000
			}
			if err := b.SetSequence(next); err != nil {
				return err
			}
		}
		s.meta.Restored = true // sessions may have been found that were ended
		return writeMeta(tx, s.meta)
	})
}

func (s *salvage) write(fn func(tx *Tx) error) error {
	return disk.RecoverDamage(s.db.path, func() error {
		return s.db.bolt.Update(func(btx *bbolt.Tx) error {
			return fn(&Tx{db: s.db, actor: System, now: s.db.clock(), bolt: btx, changes: newChanges()})
		})
	})
}

func (s *salvage) installName(tx *Tx) string {
	install, err := Installs.Get(tx, 1)
	if err != nil {
		return ""
	}
	return install.Name
}

// mendInstall makes another description of the installation if it is lost. Its name
// is in another file, too.
func (s *salvage) mendInstall(tx *Tx) error {
	if _, err := Installs.Get(tx, 1); err == nil {
		return nil
	}
	name, err := os.ReadFile(filepath.Join(s.dir, markerName))
	install := &Install{Ident: Ident{1}, Name: strings.TrimSpace(string(name)), PasswordKey: randomBytes(48)}
	if err != nil || install.Name == "" {
		install.Name = rand.Text()
	}
	s.lost("every password: the key that they are mixed with; `reeve admin recover` gives an owner a new one")
	return storeRaw(tx, Installs, 1, install)
}

// mendOwnerRole makes the owner role again if it is lost.
func (s *salvage) mendOwnerRole(tx *Tx) error {
	if Roles.Exists(tx, OwnerRole) {
		return nil
	}
	s.changed("role %d: made again as the owner role", OwnerRole)
	return storeRaw(tx, Roles, OwnerRole, &Role{
		Ident: Ident{OwnerRole}, Name: fmt.Sprint("Owner ", tx.now), Status: true, DataScope: ScopeAll, DeptIDs: []ID{}, GrantRoleIDs: []ID{}, RuleIDs: []ID{},
	})
}

// mendOwner makes a user with the owner role if none is left who is enabled. It has no
// password before `reeve admin recover` gives it one.
func (s *salvage) mendOwner(tx *Tx) error {
	for u, err := range UserByRole.All(tx, OwnerRole) {
		if err == nil && bool(u.Status) {
			return nil
		}
	}
	u := &User{Username: "owner-" + strings.ToLower(rand.Text()[:8]), Status: true, RoleIDs: []ID{OwnerRole}}
	s.changed("user %s is made, because no enabled user with the owner role is left; `reeve admin recover` gives it a password", u.Username)
	b, t := tx.bucket(Users.name), s.tables[Users.name]
	id := ID(max(b.Sequence(), t.sequence, uint64(t.last))) + 1
	u.ID = id
	if err := storeRaw(tx, Users, id, u); err != nil {
		return err
	}
	return errors.Join(b.SetSequence(uint64(id)), Users.reindex(tx))
}

// mendAvatars takes lost pictures from their users.
func (s *salvage) mendAvatars(tx *Tx) error {
	var without []*User
	for u, err := range Users.All(tx) {
		if err == nil && u.AvatarID != 0 && !Avatars.Exists(tx, u.AvatarID) {
			without = append(without, u)
		}
	}
	for _, u := range without {
		s.changed("user %d: without the picture, which is lost", u.ID)
		u.AvatarID, u.AvatarKey = 0, ""
		if err := storeRaw(tx, Users, u.ID, u); err != nil {
			return err
		}
	}
	return nil
}

// storeRaw stores a record, and nothing that is derived from it.
func storeRaw[T any](tx *Tx, c *Collection[T], id ID, v *T) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return tx.put(c.name, idKey(id), disk.Frame(c.name, idKey(id), payload))
}

// drop removes a record that cannot be kept.
func (c *Collection[T]) drop(tx *Tx, s *salvage, id ID, format string, args ...any) error {
	s.lost("%s %d: %s", c.noun(), id, fmt.Sprintf(format, args...))
	return tx.delete(c.name, idKey(id))
}

// mend removes references to records that are lost, records that have no meaning
// without them, and all but one of those with the same unique value.
func (c *Collection[T]) mend(tx *Tx, s *salvage) (changed bool, err error) {
	var ids []ID
	cursor := tx.bucket(c.name).Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		ids = append(ids, ID(binary.BigEndian.Uint64(key)))
		s.tables[c.name].last = max(s.tables[c.name].last, ids[len(ids)-1])
	}
	taken := map[string]ID{}
	from := s.tables[c.name]
	slices.SortStableFunc(ids, func(a, b ID) int { // the tree's come first
		switch {
		case from.outside[a] == from.outside[b]:
			return 0
		case from.outside[a]:
			return 1
		}
		return -1
	})
	for _, id := range ids {
		did, err := c.mendOne(tx, s, id, taken)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

func (c *Collection[T]) mendOne(tx *Tx, s *salvage, id ID, taken map[string]ID) (changed bool, err error) {
	v, err := c.decode(id, tx.bucket(c.name).Get(idKey(id)))
	if err != nil {
		return true, c.drop(tx, s, id, "%s", disk.OneLine(err))
	}
	for _, x := range c.indexes {
		for _, key := range x.keys(v) {
			if x.unique {
				name := x.bucket + string(key)
				if other := taken[name]; other != 0 {
					return true, c.drop(tx, s, id, "%s %d has the same %s", c.noun(), other, x.field)
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
			if x.owned || slices.Contains(requiredRefs, x.bucket) {
				return true, c.drop(tx, s, id, "its %s %d is lost", x.target.noun(), to)
			}
			cleared, err := x.clear(tx, s, id, to)
			if cleared || err != nil {
				return true, err // the rest when it comes round again
			}
		}
	}
	return false, nil
}

// circular reports whether a record of a tree lies in a circle or too deep.
func (x *index[T]) circular(tx *Tx, id ID) bool {
	if x.target != table(x.of) || x.loose {
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
		if !x.of.Exists(tx, id) {
			return false
		}
	}
	return true
}

// clear takes a reference out of a record. One value that may lead nowhere stays.
func (x *index[T]) clear(tx *Tx, s *salvage, id, to ID) (cleared bool, err error) {
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
	} else if x.loose {
		return false, nil
	} else {
		fields[x.field] = json.RawMessage("0")
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return false, err
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return false, err
	}
	s.changed("%s %d: %s without %s %d", x.of.noun(), id, x.field, x.target.noun(), to)
	return true, storeRaw(tx, x.of, id, v)
}
