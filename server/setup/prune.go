package setup

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
	"reeve/store/names"
)

// reference names what a record refers to: objects of a kind.
type reference struct {
	collection string // collection of the record
	id         store.ID
	kind       string
}

// gone are references that are no more when the objects that the files have are as they want.
type gone map[reference]bool

func (g gone) set(c *Change, gone bool, kinds ...string) {
	for _, kindName := range kinds {
		g[reference{kindOf(c.Kind).records.Name(), c.id, kindName}] = gone
	}
}

// removals returns the deletions: of items that a dictionary no longer has and, if the files are to
// be pruned, of objects that they have created and no longer have. changes are those of the objects
// that they have.
func (r *reader) removals(in *filesIn, changes []*Change) (all []*Change, err error) {
	items := kindOf(itemKind)
	for _, o := range r.s.kinds[itemKind].byKey {
		dict, _, _ := strings.Cut(o.key, "/")
		if r.whole[dict] && r.known[itemKind+" "+o.key] == nil {
			all = append(all, deletion(items, o.key, o.id))
		}
	}
	if in.prunes() {
		pruned, err := r.pruned(in, all, changes)
		if err != nil {
			return nil, err
		}
		all = append(all, pruned...)
	}

	sort.Slice(all, func(i, j int) bool { // the opposite of the order of creation
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(r.s.depth(a), r.s.depth(b)),
			strings.Compare(a.Key, b.Key)) > 0
	})
	return all, err
}

func deletion(k *kind, key string, id store.ID) *Change {
	return &Change{Kind: k.name, Key: key, Operation: "delete", Fields: []ChangedField{}, id: id}
}

// pruned returns the deletions of objects that the files have created and no longer have, without
// those that must stay because the files rely on them, and without parents of objects that stay. Others that are
// in use are faults.
func (r *reader) pruned(in *filesIn, items, changes []*Change) (all []*Change, err error) {
	named, owners := r.named(), map[*Change]string{}
	err = each(r.s.tx, store.SetupMarks, func(m *store.SetupMark) error {
		k := kindOf(m.Kind)
		key, exists := r.s.kinds[k.name].keys[m.RecordID]
		owned := slices.ContainsFunc(in.Files, func(f fileIn) bool { return f.Name == m.Owner })
		whole := slices.ContainsFunc(items, func(c *Change) bool { return c.Kind == k.name && c.id == m.RecordID })
		if owned && exists && !whole && !named[k.name+" "+k.folded(key)] {
			c := deletion(k, key, m.RecordID)
			all, owners[c] = append(all, c), m.Owner
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	lost, every := gone{}, []string{}
	for _, k := range kinds {
		every = append(every, k.name)
	}
	for _, c := range slices.Concat(items, all) {
		lost.set(c, true, every...)
	}
	for _, c := range changes {
		for _, f := range c.Fields {
			if c.Operation == "update" {
				lost.set(c, true, kindOf(c.Kind).refersTo(f.Name)...)
			}
		}
	}
	for kept := true; kept; { // an object that stays keeps its parent
		kept = false
		all = slices.DeleteFunc(all, func(c *Change) bool {
			stays := r.s.hasChild(c, lost)
			if stays {
				lost.set(c, false, every...)
				kept = true
			}
			return stays
		})
	}

	for _, c := range all {
		k, at := kindOf(c.Kind), ""
		if len(in.Files) > 1 {
			at = owners[c] + ": "
		}
		if err := r.checkUnused(k, c, lost); err != nil {
			r.faults.Add(fmt.Sprintf("%s%s.%s", at, cmp.Or(k.table, k.name), c.Key), "%s", errs.Of(err).Msg)
		}
	}
	return all, nil
}

// named returns the objects that the files have or rely on, by kind and folded key: those to which
// they refer, and the parents of new ones.
func (r *reader) named() map[string]bool {
	named := map[string]bool{}
	add := func(kindName, key string) {
		k := kindOf(kindName)
		named[kindName+" "+k.folded(key)] = true
		named[kindName+" "+k.folded(r.s.keyOf(k, key))] = true
	}
	for _, w := range r.all {
		add(w.Kind, w.Key)
		k := kindOf(w.Kind)
		if above, key := parentOf(w); key != "" && r.s.find(k, w.Key) == nil {
			add(above, key)
		}
		for _, ref := range k.refs {
			names, _ := w.Fields[ref.field].([]any)
			for _, name := range names {
				add(ref.kind, fmt.Sprint(name))
			}
		}
		eachMapped(w.Fields, add)
		names.EachInRules(w.Fields["value"], func(kind, _ string, element any) (any, error) {
			if r.s.kinds[objectKind(kind)] != nil {
				add(objectKind(kind), fmt.Sprint(element))
			}
			return element, nil
		}) // never fails
		if parent, is := w.Fields["parent"].(string); is {
			add(w.Kind, parent)
		}
	}
	return named
}

// parentOf returns the object that a new object is created below; an empty key for none.
func parentOf(w *wanted) (kindName, key string) {
	switch w.Kind {
	case "permission", "app permission":
		return w.Kind, parentKey(w.Kind, w.Key)
	case "department":
		if !strings.HasPrefix(w.Key, "#") {
			key, _ = store.SplitDeptPath(w.Key)
		}
		return w.Kind, key
	case "setting":
		key, _ = splitSetting(w.Key)
		return "setting group", key
	case itemKind:
		key, _, _ = strings.Cut(w.Key, "/")
		return "dictionary", key
	}
	return "", ""
}

// depth returns the number of objects above an object of the same kind.
func (s *state) depth(c *Change) (n int) {
	k := kindOf(c.Kind)
	for o := s.find(k, c.Key); o != nil && n < kv.MaxDepth; n++ {
		parent, _ := o.fields["parent"].(string)
		if parent == "" && c.Kind == "department" && !strings.HasPrefix(o.key, "#") {
			parent, _ = store.SplitDeptPath(o.key)
		}
		if parent == "" {
			break
		}
		o = s.find(k, parent)
	}
	return n
}

// hasChild reports whether a record that stays is below an object: a permission, a department, or a
// setting of a group.
func (s *state) hasChild(c *Change, lost gone) bool {
	k := kindOf(c.Kind)
	for collection, id := range k.records.Restricting(s.tx, c.id) {
		below := collection == k.records.Name() || c.Kind == "setting group"
		if below && !lost[reference{collection, id, c.Kind}] {
			return true
		}
	}
	return false
}

// checkUnused returns an error if a record that stays refers to an object, or if the object is a
// field that has values, which nothing brings back.
func (r *reader) checkUnused(k *kind, c *Change, lost gone) error {
	users, n := "", 0 // collection of records that stay, and their number
	for collection, id := range k.records.Restricting(r.s.tx, c.id) {
		if stays := !lost[reference{collection, id, c.Kind}]; stays && (n == 0 || collection == users) {
			users = collection
			n++
		}
	}
	if n > 0 {
		return errs.New(errs.Conflict, "%s %s is still used by %s", errs.Noun(k.records.Noun()), c.Key,
			errs.Number(n, users)).Coded("in_use")
	}
	if k.name != "custom field" || !r.checkValues {
		return nil
	}

	return requireNoValues(r.s.tx, c.Key, c.id)
}

// requireNoValues returns an error if a custom field has values. It reads all records of the realm.
func requireNoValues(tx *store.Tx, key string, id store.ID) error {
	n, err := store.CustomValues(tx, id)
	if err == nil && n > 0 {
		noun := "user"
		if isOfApp(key) {
			noun = "app user"
		}
		err = errs.New(errs.Conflict, "the field has values of %s, which would be lost; keep it in the file, or delete it yourself first",
			errs.Number(n, noun)).Coded("prune_values")
	}
	return err
}

// isOfApp reports whether a custom field is one of app users.
func isOfApp(key string) bool { return strings.HasPrefix(key, store.AppRealm+".") }

// maxComparedInWrite is the number of records that are read while others wait to write.
const maxComparedInWrite = 5000

// requireStillNoValues is requireNoValues in the transaction that deletes the field, for values that were
// entered since the plan was made. It looks for none if there are too many records.
func requireStillNoValues(tx *store.Tx, key string, id store.ID) error {
	count := store.Users.Count
	if isOfApp(key) {
		count = store.AppUsers.Count
	}
	if n, err := count(tx); err != nil || n > maxComparedInWrite {
		return err
	}
	return requireNoValues(tx, key, id)
}
