package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// state has the objects of the installation in one transaction.
type state struct {
	tx     *store.Tx
	routes map[string]*web.Route // routes by method and path
	kinds  map[string]*objects   // objects by the name of the kind

	keysOnly bool // whether current objects have no fields

	planned func(k *kind, key string) bool // whether files have an object, while a plan is made; else nil
}

// objects are the objects of one kind.
type objects struct {
	byKey map[string]*current // objects by folded key
	other map[string]*current // objects by another key that a file can have
	keys  map[store.ID]string // keys in exports
}

// current is an object of the installation.
type current struct {
	id     store.ID
	key    string
	fields object
	twins  int // number of other objects with this key, so that none can be addressed by it
}

// newState reads all objects.
func newState(tx *store.Tx, routes []web.Route) (*state, error) {
	return readState(tx, routes, func(*kind) bool { return true }, false)
}

// readState reads the objects of some kinds; only their keys if keysOnly is true.
func readState(tx *store.Tx, routes []web.Route, of func(*kind) bool, keysOnly bool) (*state, error) {
	s := &state{tx: tx, routes: map[string]*web.Route{}, kinds: map[string]*objects{}, keysOnly: keysOnly}
	for i := range routes {
		s.routes[routes[i].Method+" "+routes[i].Path] = &routes[i]
	}
	for _, k := range kinds {
		s.kinds[k.name] = &objects{byKey: map[string]*current{}, other: map[string]*current{}, keys: map[store.ID]string{}}
	}
	for _, k := range kinds {
		if !of(k) {
			continue
		}
		if err := k.load(s); err != nil {
			return nil, fmt.Errorf("read the objects of the kind %s: %w", k.name, err)
		}
	}
	return s, nil
}

// in returns the state for another transaction, in which the objects are the same.
func (s *state) in(tx *store.Tx) *state {
	moved := *s
	moved.tx, moved.planned = tx, nil
	return &moved
}

// add adds an object.
func (s *state) add(kindName string, id store.ID, key string, fields object) {
	all, folded := s.kinds[kindName], kindOf(kindName).folded(key)
	all.keys[id] = key
	if known := all.byKey[folded]; known != nil {
		known.twins++
		return
	}
	all.byKey[folded] = &current{id: id, key: key, fields: fields}
}

// find returns the object with a key; nil for none.
func (s *state) find(k *kind, key string) *current {
	all, folded := s.kinds[k.name], k.folded(key)
	if o := all.byKey[folded]; o != nil {
		return o
	}
	return all.other[folded]
}

// keyOf returns the key that exports have for the object with a key; the key itself for one that is not
// there yet.
func (s *state) keyOf(k *kind, key string) string {
	if o := s.find(k, key); o != nil && o.twins == 0 {
		return s.kinds[k.name].keys[o.id]
	}
	return key
}

// namesOf returns the keys of the objects with some IDs, sorted. IDs of none are left out.
func (s *state) namesOf(kindName string, ids []store.ID) []any {
	names := []string{}
	for _, id := range ids {
		if key, ok := s.kinds[kindName].keys[id]; ok {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = name
	}
	return all
}

// fieldsOf returns the fields of a record that a request can set, as in files, without references.
func (s *state) fieldsOf(k *kind, v any) object {
	if s.keysOnly {
		return object{}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a stored record can be encoded
	}
	all, fields := decoded(text).(map[string]any), object{}
	for _, f := range s.routes[k.create].Input.Fields {
		if f.From != "json" || f.IDs != nil || f.Names != nil {
			continue
		}
		if value, ok := all[f.Name]; ok {
			fields[f.Name] = inFile(f.Typ, value)
		}
	}
	return fields
}

// decoded returns a JSON value, with numbers as json.Number.
func decoded(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		panic(err) // it was encoded here
	}
	return value
}

// inFile returns the value of a field as a file has it: 1 and 0 of a flag as true and false.
func inFile(of reflect.Type, value any) any {
	if of == reflect.TypeFor[store.Flag]() {
		return fmt.Sprint(value) == "1"
	}
	return value
}

// each calls load for each record of a collection.
func each[T any](tx *store.Tx, of *kv.Collection[T], load func(v *T) error) error {
	for v, err := range of.All(tx) {
		if err == nil {
			err = load(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// builtin are the permissions that Reeve itself has: it creates them again where they are missing.
func builtin(tx *store.Tx) (map[string]bool, error) {
	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, key := range install.Seeded {
		keys[key] = true
	}
	return keys, nil
}

func loadPermissions(s *state) error {
	return loadTree(s, "permission", store.Permissions,
		func(p *store.Permission) (id, parent store.ID, key string) { return p.ID, p.ParentID, p.Key })
}

func loadAppPermissions(s *state) error {
	return loadTree(s, "app permission", store.AppPermissions,
		func(p *store.AppPermission) (id, parent store.ID, key string) { return p.ID, p.ParentID, p.Key })
}

// loadTree adds objects whose field parent is the key of another one.
func loadTree[T any](s *state, kindName string, of *kv.Collection[T],
	place func(*T) (id, parent store.ID, key string)) error {
	k, keys := kindOf(kindName), map[store.ID]string{}
	err := each(s.tx, of, func(v *T) error {
		id, _, key := place(v)
		keys[id] = key
		return nil
	})
	if err != nil {
		return err
	}
	return each(s.tx, of, func(v *T) error {
		id, parent, key := place(v)
		fields := s.fieldsOf(k, v)
		delete(fields, "key")
		fields["parent"] = keys[parent]
		s.add(k.name, id, key, fields)
		return nil
	})
}

func loadDepts(s *state) error {
	k, policy := kindOf("department"), store.PolicyCache.Get(s.tx)
	other := s.kinds[k.name].other
	err := each(s.tx, store.Depts, func(d *store.Dept) error {
		ref, parent, byPath := policy.DeptRef(d.ID), policy.DeptRef(d.ParentID), s.fieldsOf(k, d)
		byCode := maps.Clone(byPath)
		byCode["parent"] = parent
		delete(byCode, "code")
		delete(byPath, "name")
		if strings.HasPrefix(parent, "#") { // which does not follow from the path
			byPath["parent"] = parent
		}

		if strings.HasPrefix(ref, "#") {
			s.add(k.name, d.ID, ref, byCode)
			path := k.folded(policy.DeptPath(d.ID))
			if other[path] == nil {
				other[path] = &current{}
			} else {
				other[path].twins++
			}
			return nil
		}
		s.add(k.name, d.ID, ref, byPath)
		if d.Code != "" {
			code := "#" + d.Code
			other[k.folded(code)] = &current{id: d.ID, key: code, fields: byCode}
		}
		return nil
	})
	for path, equal := range other { // some of those with a path have no code
		if o := s.kinds[k.name].byKey[path]; o != nil {
			o.twins += 1 + equal.twins
		}
	}
	return err
}

// deptForm brings the parent of a department into the form in which it is exported. A path has it
// already, unless several departments have the path of the parent.
func deptForm(s *state, w *wanted, fields object) {
	parent, sent := fields["parent"].(string)
	if !sent {
		return
	}
	fields["parent"] = s.keyOf(kindOf("department"), parent)
	if above, _ := store.SplitDeptPath(w.Key); !strings.HasPrefix(w.Key, "#") && fields["parent"] == above {
		delete(fields, "parent")
	}
}

func loadGroups(s *state) error {
	k := kindOf("setting group")
	return each(s.tx, store.SettingGroups, func(g *store.SettingGroup) error {
		fields := s.fieldsOf(k, g)
		delete(fields, "key")
		s.add(k.name, g.ID, g.Key, fields)
		return nil
	})
}

func loadRoles(s *state) error {
	k, grants := kindOf("role"), map[string][]store.ID{}
	err := each(s.tx, store.Roles, func(r *store.Role) error {
		fields := s.fieldsOf(k, r)
		delete(fields, "name")
		fields["permissions"] = s.namesOf("permission", r.RuleIDs)
		fields["departments"] = s.namesOf("department", r.DeptIDs)
		grants[r.Name] = r.GrantRoleIDs
		s.add(k.name, r.ID, r.Name, fields)
		return nil
	})
	for _, o := range s.kinds[k.name].byKey {
		o.fields["grant_roles"] = s.namesOf(k.name, grants[o.key])
	}
	return err
}

func loadAppRoles(s *state) error {
	k := kindOf("app role")
	return each(s.tx, store.AppRoles, func(r *store.AppRole) error {
		fields := s.fieldsOf(k, r)
		delete(fields, "name")
		fields["permissions"] = s.namesOf("app permission", r.RuleIDs)
		s.add(k.name, r.ID, r.Name, fields)
		return nil
	})
}

func loadDicts(s *state) error {
	k := kindOf("dictionary")
	return each(s.tx, store.Dicts, func(d *store.Dict) error {
		fields := s.fieldsOf(k, d)
		delete(fields, "code")
		s.add(k.name, d.ID, d.Code, fields)
		return nil
	})
}

func loadItems(s *state) error {
	k, codes := kindOf(itemKind), s.kinds["dictionary"].keys
	return each(s.tx, store.DictItems, func(i *store.DictItem) error {
		fields := s.fieldsOf(k, i)
		delete(fields, "value")
		s.add(k.name, i.ID, itemKey(codes[i.DictID], i.Value), fields)
		return nil
	})
}

// itemKey returns the key of an item of a dictionary, whose code has no slash.
func itemKey(dict, value string) string { return dict + "/" + value }

func loadFields(s *state) error {
	k := kindOf("custom field")
	return each(s.tx, store.CustomFields, func(f *store.CustomField) error {
		if bool(f.Deleted) {
			return nil
		}
		fields := s.fieldsOf(k, f)
		delete(fields, "key")
		delete(fields, "realm")
		s.add(k.name, f.ID, f.Realm+"."+f.Key, fields)
		return nil
	})
}

func loadWebhooks(s *state) error {
	k := kindOf("webhook")
	return each(s.tx, store.Webhooks, func(w *store.Webhook) error {
		fields := s.fieldsOf(k, w)
		delete(fields, "description")
		s.add(k.name, w.ID, w.Description, fields)
		return nil
	})
}

func loadKeys(s *state) error {
	k := kindOf("API key")
	return each(s.tx, store.APIKeys, func(key *store.APIKey) error {
		if bool(key.Personal) {
			return nil
		}
		fields := s.fieldsOf(k, key)
		delete(fields, "name")
		fields["roles"] = s.namesOf("role", key.RoleIDs)
		fields["departments"] = s.namesOf("department", key.DeptIDs)
		s.add(k.name, key.ID, key.Name, fields)
		return nil
	})
}
