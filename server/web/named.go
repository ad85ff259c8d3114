package web

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/names"
)

// An input field for the IDs of other records has a twin that takes their names instead, declared
// by the tag names:"roles,role": the name of the twin and its names.Kind. A request may have one
// of the two. The names are looked up after the request is decoded and before the handler runs,
// which finds the IDs.

// twin returns the field that takes names instead of the IDs of f.
func (f *Field) twin(tag string) *Field {
	name, kind, _ := strings.Cut(tag, ",")
	t := &Field{
		Name:   name,
		From:   f.From,
		Index:  slices.Clone(f.Index),
		IDs:    f,
		Kind:   names.Of(kind),
		filled: f.filled || f.Required,
		Typ:    reflect.TypeFor[string](),
	}
	t.Doc = t.Kind.Doc
	if f.Typ == reflect.TypeFor[[]store.ID]() {
		t.Typ, t.Doc, t.Min, t.Max = reflect.TypeFor[[]string](), t.Kind.Docs, f.Min, f.Max
	} else {
		most := names.MaxLength
		t.Max = &most
	}
	t.Doc += ", instead of " + f.Name
	if t.Kind.Form != "" {
		t.Doc += "; " + t.Kind.Form
	}
	f.Names = t
	return t
}

// paired reports whether values have the twin of a field, or the field of which f is the twin.
func paired[V any](f *Field, values map[string]V) bool {
	other := cmp.Or(f.IDs, f.Names)
	if other == nil {
		return false
	}
	_, has := values[other.Name]
	return has
}

// Named is a parameter of a list that takes the names of records instead of the IDs of a column.
type Named struct {
	Name string
	Kind *names.Kind
}

// ByName returns the parameter of a name for the records of a names.Kind.
func ByName(name, kind string) *Named { return &Named{name, names.Of(kind)} }

// infoOf returns the description of a column, and that of the parameter for names.
func infoOf(name string, uses use, number bool, named *Named) []ColumnInfo {
	infos := []ColumnInfo{{Name: name, Uses: uses, Number: number}}
	if named != nil {
		infos = append(infos, ColumnInfo{Name: named.Name, Uses: uses &^ Sorted, Kind: named.Kind,
			IDs: name})
	}
	return infos
}

// numbers returns a condition, on the IDs if it is one on names. A name of no record matches none.
func (n *Named) numbers(tx *store.Tx, of anyOf) (anyOf, error) {
	if n == nil || of.Column != n.Name {
		return of, nil
	}
	ids, err := n.Kind.Any(tx, of.Texts)
	of.Numbers = make([]int64, len(ids))
	for i, id := range ids {
		of.Numbers[i] = int64(id)
	}
	return of, err
}

// namedIDs are names in a request whose IDs are not known yet.
type namedIDs struct {
	f      *Field        // field that takes the names
	in     reflect.Value // input whose field for IDs is set
	values []string
	at     string
}

// bindNames checks the value of a field that takes names.
func (bad *InputFaults) bindNames(f *Field, in reflect.Value, value any, at string) {
	target := reflect.New(f.Typ).Elem()
	BindValue(f, target, value, at, bad)
	if !f.List() {
		bad.bindName(f, in, target.String(), at, bad.Invalid)
		return
	}
	bad.named = append(bad.named, namedIDs{f, in, target.Interface().([]string), at})
}

// bindName notes a single name. An empty one means no record.
func (bad *InputFaults) bindName(f *Field, in reflect.Value, name, at string,
	faults errs.Faults) {
	if name != "" {
		bad.named = append(bad.named, namedIDs{f, in, []string{name}, at})
	} else if FieldTarget(in, f); f.filled {
		faults.Add(at, "must not be empty")
	}
}

// findNames sets the IDs of names, outside transactions.
func (req *Request) findNames(named []namedIDs) error {
	if len(named) == 0 {
		return nil
	}
	return req.DB.View(req.Actor, func(tx *store.Tx) error { return findNames(tx, named) })
}

// findNames sets the IDs of names.
func findNames(tx *store.Tx, named []namedIDs) error {
	if len(named) == 0 {
		return nil
	}
	find, faults := names.Lookup{Tx: tx}, errs.Faults{}
	for _, n := range named {
		target := FieldTarget(n.in, n.f)
		if n.f.List() {
			ids, err := find.All(n.f.Kind, n.values, n.at, faults)
			if err != nil {
				return err
			}
			target.Set(reflect.ValueOf(ids))
			continue
		}
		id, err := find.One(n.f.Kind, n.values[0], n.at, faults)
		if err != nil {
			return err
		}
		target.SetUint(uint64(id))
	}
	return faults.Err(errs.Invalid)
}
