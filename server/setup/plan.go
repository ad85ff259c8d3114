package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Plan is what would change.
type Plan struct {
	Changes []*Change `json:"changes" doc:"Changes, in the order in which they are made"`

	compared *compared
}

// compared is what a plan was compared with.
type compared struct {
	state       *state
	tables      []kv.Table // collections on which the plan depends
	fingerprint string     // fingerprint of their records
}

// still reports whether the records are the same.
func (c *compared) still(tx *store.Tx) (bool, error) {
	now, err := kv.Fingerprint(tx, c.tables...)
	return err == nil && now == c.fingerprint, err
}

// Change is the change of one object.
type Change struct {
	Kind      string         `json:"kind" doc:"Kind of the object, such as role or setting"`
	Key       string         `json:"key" doc:"Name or key of the object"`
	Operation string         `json:"operation" enum:"change_kind" doc:"What is done: create, update or delete"`
	Fields    []ChangedField `json:"fields" doc:"Fields that are set; none of an object that is deleted"`

	want *wanted
	id   store.ID // ID of an object that exists
}

// ChangedField is the change of a field.
type ChangedField struct {
	Name   string     `json:"name"`
	Old    any        `json:"old,omitempty" doc:"Value before; absent for a new object"`
	New    any        `json:"new,omitempty"`
	Secret store.Flag `json:"secret,omitempty" doc:"1 for a secret, whose values are left out; otherwise absent"`
}

// names returns the names of the changed fields.
func (c *Change) names() (names []string) {
	for _, f := range c.Fields {
		names = append(names, f.Name)
	}
	return names
}

// newPlan compares files with the installation. checkValues is whether fields that would be deleted are
// checked to have no values, which reads all users: not while others wait to write.
func newPlan(tx *store.Tx, routes []web.Route, in *filesIn, checkValues bool) (*Plan, error) {
	if err := requireOwner(tx); err != nil {
		return nil, err
	}
	s, err := newState(tx, routes)
	if err != nil {
		return nil, err
	}
	r, err := s.read(in)
	if err != nil {
		return nil, err
	}

	c := &compared{state: s, tables: r.tables(in)}
	if c.fingerprint, err = kv.Fingerprint(tx, c.tables...); err != nil {
		return nil, err
	}
	plan := &Plan{Changes: []*Change{}, compared: c}
	for _, w := range r.inOrder() {
		if c := r.compare(w); c != nil {
			plan.Changes = append(plan.Changes, c)
		}
	}
	r.checkValues = checkValues
	removed, err := r.removals(in, plan.Changes)
	if err != nil {
		return nil, err
	}
	plan.Changes = append(plan.Changes, removed...)
	return plan, r.faults.Err(errs.Invalid)
}

// tables returns the collections on which the plan depends. Users, whose names flags can have, are left
// out: the route of a setting finds them again. So are API keys unless the files can change them, since
// they change with every use.
func (r *reader) tables(in *filesIn) []kv.Table {
	all := []kv.Table{store.Installs, store.SetupMarks, store.SettingSecrets, store.ProviderSecrets}
	for _, k := range kinds {
		if k.records != store.APIKeys || in.prunes() || slices.ContainsFunc(r.all, func(w *wanted) bool { return w.Kind == k.name }) {
			all = append(all, k.records)
		}
	}
	return all
}

// inOrder returns the objects with those first to which others refer.
func (r *reader) inOrder() []*wanted {
	all := slices.Clone(r.all)
	slices.SortStableFunc(all, func(a, b *wanted) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(r.depth(a), r.depth(b)),
			strings.Compare(a.Key, b.Key))
	})
	return all
}

// depth returns the number of objects of the files above an object of the same kind.
func (r *reader) depth(w *wanted) (n int) {
	for ; n < kv.MaxDepth; n++ {
		parent, _ := w.Fields["parent"].(string)
		if kind, key := parentOf(w); parent == "" && kind == w.Kind {
			parent = key
		}
		if w = r.known[w.Kind+" "+kindOf(w.Kind).folded(parent)]; w == nil {
			break
		}
	}
	return n
}

func rank(kindName string) int {
	return slices.IndexFunc(kinds, func(k *kind) bool { return k.name == kindName })
}

// compare returns the change that an object needs; nil for none. It adds what is wrong with it to
// the faults.
func (r *reader) compare(w *wanted) *Change {
	k := kindOf(w.Kind)
	had := r.s.find(k, w.Key)
	c := &Change{Kind: w.Kind, Key: w.Key, Operation: "update", Fields: []ChangedField{}, want: w}
	if had == nil {
		c.Operation, had = "create", &current{fields: object{}}
	} else {
		c.id, c.Key = had.id, had.key
	}

	clean := r.check(k, w, had, c.Operation == "create")
	for _, name := range slices.Sorted(maps.Keys(w.Fields)) {
		if name == "secret_file" || name == "secret" && c.Operation == "update" {
			continue
		}
		value, ok := clean[name]
		if !ok {
			continue // a fault
		}
		was, exists := had.fields[name]
		secret := k.hide != nil && k.hide(name, r.merged(had, w))
		changed := !exists || !sameValue(was, value)
		if text, is := secretOf(value); secret && (c.Operation == "update" || is && text == "unset") {
			changed = r.s.secretChanged(k, c.id, name, value)
		}
		if !changed || name == "type" && exists && sameValue(was, value) {
			continue
		}
		f := ChangedField{Name: name, Old: was, New: value}
		if secret {
			f.Old, f.New, f.Secret = nil, nil, true
		}
		c.Fields = append(c.Fields, f)
	}

	if c.Operation == "update" && len(c.Fields) == 0 {
		return nil
	}
	return c
}

// merged returns the fields of an object as they will be.
func (r *reader) merged(had *current, w *wanted) object {
	all := maps.Clone(had.fields)
	maps.Copy(all, w.Fields)
	return all
}

// check checks the fields of an object as its route does, and returns their values in the form of
// current ones.
func (r *reader) check(k *kind, w *wanted, had *current, create bool) object {
	route := r.s.routes[k.update]
	if create {
		route = r.s.routes[k.create]
	}
	body, err := r.s.bodyOf(k, w, slices.Collect(maps.Keys(w.Fields)), create)
	if err != nil {
		r.fail(w, err)
		return nil
	}
	if create && hasSecret(k) && w.Fields["secret"] == nil {
		if w.Fields["secret_file"] == nil {
			r.faults.Add(w.At+".secret_file", "is required: the file that the command writes the secret of a new object to")
		} else {
			r.faults.Add(w.At+".secret_file", "has no secret: the object was deleted after the plan; apply again")
		}
	}

	for name, value := range body {
		if !create && !route.Input.Has("json", name) && had.fields[name] != nil {
			delete(body, name)
			if !sameValue(had.fields[name], value) {
				r.faults.Add(w.At+"."+name, "can't be changed")
			}
		}
	}
	canonical, bad := route.Canonical(body)
	for name, fault := range bad.All() {
		if f := route.Input.Find("json", name); f != nil && f.Typ == reflect.TypeFor[store.Flag]() {
			fault = errs.Say("must be true or false")
		}
		if name == "values" {
			name = "value"
		}
		r.faults.Add(w.At+"."+name, "%s", fault)
	}

	if _, is := secretOf(w.Fields["value"]); is && k.name == "setting" && r.merged(had, w)["type"] != "secret" {
		r.faults.Add(w.At+".value", "must be the value itself: the setting is not a secret")
	}

	r.checkParent(k, w)
	clean := object{}
	for name, value := range w.Fields {
		ref := k.ref(name)
		switch raw, known := canonical[name]; {
		case ref != nil:
			clean[name] = r.checkRef(ref, value, w.At+"."+name)
		case known:
			clean[name] = inFile(route.Input.Find("json", name).Typ, decoded(raw))
		default:
			clean[name] = value
		}
	}
	if k.form != nil {
		k.form(r.s, w, clean)
	}
	return clean
}

// checkParent checks the parent that a file gives a permission or a department.
func (r *reader) checkParent(k *kind, w *wanted) {
	parent, given := w.Fields["parent"].(string)
	if !given || parent == "" {
		return
	}
	switch had := r.s.find(k, parent); {
	case had != nil && had.twins > 0:
		r.faults.Add(w.At+".parent", "%d others are named so; rename them", had.twins)
	case had == nil && !r.has(k, parent) && !r.reserved()[parent]:
		r.faults.Add(w.At+".parent", "%s %q not found", errs.Noun(k.records.Noun()), parent)
	}
}

// checkRef returns the keys of the objects that a field refers to, sorted.
func (r *reader) checkRef(ref *ref, value any, at string) any {
	list, ok := value.([]any)
	if !ok {
		r.faults.Add(at, "must be an array")
		return []any{}
	}

	k, reserved := kindOf(ref.kind), r.reserved()
	names := []string{}
	for i, element := range list {
		name, ok := element.(string)
		if !ok {
			r.faults.Add(fmt.Sprintf("%s[%d]", at, i), "must be a string")
			continue
		}
		switch had, want := r.s.find(k, name), r.known[k.name+" "+k.folded(name)]; {
		case had != nil && had.twins > 0:
			r.faults.Add(fmt.Sprintf("%s[%d]", at, i), "%d others are named so; rename them", had.twins)
		case had != nil:
			name = r.s.keyOf(k, name)
		case want != nil:
			name = want.Key
		case k.name == "permission" && reserved[name]:
		default:
			r.faults.Add(fmt.Sprintf("%s[%d]", at, i), "%s %q not found", errs.Noun(k.records.Noun()), name)
		}
		names = append(names, name)
	}

	slices.Sort(names)
	all := []any{}
	for _, name := range slices.Compact(names) {
		all = append(all, name)
	}
	return all
}

func (r *reader) fail(w *wanted, err error) {
	e := errs.Of(err)
	for name, fault := range e.Fields {
		r.faults.Add(w.At+"."+name, "%s", fault)
	}
	if len(e.Fields) == 0 {
		r.faults.Add(w.At, "%s", e.Msg)
	}
}

// sameValue reports whether two values are equal in JSON.
func sameValue(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// secretChanged reports whether a secret is another one than in a file. One that is unset stays as
// it is, and so do those that can only be set when the object is created.
func (s *state) secretChanged(k *kind, id store.ID, name string, value any) bool {
	text, is := secretOf(value)
	if !is {
		text, _ = value.(string)
	}
	switch {
	case is && text == "unset":
		return false
	case k.name == "setting":
		had, err := store.SettingSecretText(s.tx, id)
		return err != nil || had != text
	case name == "url":
		w, err := store.Webhooks.Get(s.tx, id)
		return err != nil || w.URL != text
	case name == "client_secret":
		had, err := store.ProviderSecretOf(s.tx, id)
		return err != nil || had != text
	}
	return false
}
