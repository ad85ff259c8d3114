package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"reeve/store/audit"
	"reeve/store/kv"
)

// decisive are the fields, by collection, that decide about permissions. The change log must have
// them as they are, neither sealed nor hashed.
var decisive = map[string][]string{
	Permissions.Name():    {"parent_id", "key", "name", "status"},
	Roles.Name():          {"name", "status", "data_scope", "dept_ids", "rule_ids"},
	Depts.Name():          {"parent_id", "name"},
	Users.Name():          {"dept_id", "role_ids", "status"},
	AppPermissions.Name(): {"parent_id", "key", "name", "status"},
	AppRoles.Name():       {"name", "status", "rule_ids"},
	AppUsers.Name():       {"role_ids", "status"},
}

// pastState has the decisive fields of the policy of a realm and of one user after an entry of the
// change log.
type pastState struct {
	seq     uint64 // number of the entry
	user    Account
	tables  pastTables
	records map[string]map[ID]pastRecord // records by collection
}

// pastTables are the names of the collections of a realm that decide about permissions, besides
// departments.
type pastTables struct{ permissions, roles, users string }

func (a Account) pastTables() pastTables {
	if a.App {
		return pastTables{AppPermissions.Name(), AppRoles.Name(), AppUsers.Name()}
	}
	return pastTables{Permissions.Name(), Roles.Name(), Users.Name()}
}

// pastRecord has the JSON of fields, by name.
type pastRecord map[string]json.RawMessage

func newPastState(seq uint64, user Account) *pastState {
	s := &pastState{
		seq:     seq,
		user:    user,
		tables:  user.pastTables(),
		records: map[string]map[ID]pastRecord{},
	}
	for _, name := range []string{s.tables.permissions, s.tables.roles, s.tables.users} {
		s.records[name] = map[ID]pastRecord{}
	}
	if !user.App {
		s.records[Depts.Name()] = map[ID]pastRecord{}
	}
	return s
}

// presentState returns the state that a transaction sees.
func presentState(tx *Tx, user Account) (*pastState, error) {
	if user.App {
		return presentAppState(tx, user)
	}

	c := LogCheckpoint{Seq: tx.LogEnd()}
	if err := collect(tx, Permissions, &c.Permissions); err != nil {
		return nil, err
	}
	if err := collect(tx, Roles, &c.Roles); err != nil {
		return nil, err
	}
	if err := collect(tx, Depts, &c.Depts); err != nil {
		return nil, err
	}

	s, err := c.state(user)
	if err != nil || !Users.Exists(tx, user.ID) {
		return s, err
	}

	u, err := Users.Get(tx, user.ID)
	if err != nil {
		return nil, err
	}

	return s, addPast(s, Users, []*User{u})
}

// presentAppState is presentState for an app user.
func presentAppState(tx *Tx, user Account) (*pastState, error) {
	s := newPastState(tx.LogEnd(), user)
	var permissions []*AppPermission
	var roles []*AppRole
	err := errors.Join(collect(tx, AppPermissions, &permissions), collect(tx, AppRoles, &roles))
	if err == nil {
		err = errors.Join(addPast(s, AppPermissions, permissions), addPast(s, AppRoles, roles))
	}
	if err != nil || !AppUsers.Exists(tx, user.ID) {
		return s, err
	}

	u, err := AppUsers.Get(tx, user.ID)
	if err != nil {
		return nil, err
	}

	return s, addPast(s, AppUsers, []*AppUser{u})
}

// state returns the state at a checkpoint.
func (c *LogCheckpoint) state(user Account) (*pastState, error) {
	s := newPastState(c.Seq, user)
	if err := addPast(s, Permissions, c.Permissions); err != nil {
		return nil, err
	}
	if err := addPast(s, Roles, c.Roles); err != nil {
		return nil, err
	}
	if err := addPast(s, Depts, c.Depts); err != nil {
		return nil, err
	}

	var users []*User
	sound := c.EachUser(func(u CheckpointUser) bool {
		if u.ID == user.ID {
			users = append(users, &User{
				Ident:   Ident{ID: u.ID},
				DeptID:  u.DeptID,
				RoleIDs: u.RoleIDs,
				Status:  Flag(u.Enabled),
			})
		}
		return u.ID < user.ID
	})
	if !sound {
		return nil, fmt.Errorf("the users of the checkpoint at entry %d are damaged", c.Seq)
	}

	return s, addPast(s, Users, users)
}

// addPast adds the decisive fields of records to a state.
func addPast[T any](s *pastState, of *kv.Collection[T], all []*T) error {
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		m, r := membersOf(text), pastRecord{}
		for _, name := range decisive[of.Name()] {
			r[name] = m.get(name)
		}
		s.records[of.Name()][m.id("id")] = r
	}
	return nil
}

// needed returns texts of which an entry has at least one if it matters for the state: decoding all
// others would take most of the time.
func (s *pastState) needed() [][]byte {
	parts := [][]byte{[]byte(`"action":"restore"`)}
	for name := range s.records {
		if name != s.tables.users {
			parts = append(parts, fmt.Appendf(nil, `"collection":%q`, name))
		}
	}
	return append(parts, fmt.Appendf(nil, `"collection":%q,"id":%d,`, s.tables.users, s.user.ID))
}

// apply makes a change of a record, or undoes it if back is true. It is an error if the change does
// not begin with the values of the state.
func (s *pastState) apply(c audit.Change, back bool) error {
	fields, records := decisive[c.Collection], s.records[c.Collection]
	if fields == nil || records == nil || c.Collection == s.tables.users && ID(c.ID) != s.user.ID {
		return nil
	}

	appears, disappears := c.Operation == "create", c.Operation == "delete"
	if back {
		appears, disappears = disappears, appears
	}

	r := records[ID(c.ID)]
	if (r == nil) != appears {
		return fmt.Errorf("%s of %s %d does not fit what was there", c.Operation, c.Collection,
			c.ID)
	}
	if r == nil {
		r = pastRecord{}
		records[ID(c.ID)] = r
	}

	for _, f := range c.Fields {
		if !slices.Contains(fields, f.Name) {
			continue
		}
		old, new := f.Old, f.New
		if back {
			old, new = new, old
		}
		if !sameJSON(old.Plain, r[f.Name]) || old.Box != nil || old.Hash != "" {
			return fmt.Errorf("%s of %s %d was not what the entry says", f.Name, c.Collection, c.ID)
		}
		r[f.Name] = new.Plain
	}

	if disappears {
		delete(records, ID(c.ID))
	}

	return nil
}

// sameJSON reports whether values of a field are the same. A field that an older version of the
// program did not have is the same as an empty one.
func sameJSON(a, b json.RawMessage) bool {
	empty := func(text json.RawMessage) bool {
		return text == nil || isEmptyJSON(text) || string(text) == "[]"
	}
	return bytes.Equal(a, b) || empty(a) && empty(b)
}

// decode returns the policy and the user of a state; a nil user if there was none.
func (s *pastState) decode() (*Policy, *User, error) {
	permissions, err := decodePast(s, s.tables.permissions, func(p *Permission, id ID) {
		p.ID = id
	})
	if err != nil {
		return nil, nil, err
	}

	roles, err := decodePast(s, s.tables.roles, func(r *Role, id ID) { r.ID = id })
	if err != nil {
		return nil, nil, err
	}

	depts, err := decodePast(s, Depts.Name(), func(d *Dept, id ID) { d.ID = id })
	if err != nil {
		return nil, nil, err
	}

	users, err := decodePast(s, s.tables.users, func(u *User, id ID) { u.ID = id })
	owner := ByRealm(s.user.App, OwnerRole, 0)
	return newPolicy(owner, roles, permissions, depts), users[s.user.ID], err
}

// decodePast returns the records of a collection by ID, with the decisive fields only. Those of app
// users have the names of the fields of T, too.
func decodePast[T any](s *pastState, name string, setID func(*T, ID)) (map[ID]*T, error) {
	all := map[ID]*T{}
	for id, r := range s.records[name] {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		v := new(T)
		if err := json.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("%s %d: %w", name, id, err)
		}
		setID(v, id)
		all[id] = v
	}
	return all, nil
}
