package web

import (
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

// pair returns the twin of a field for IDs, or the field of which f is the twin; nil for none.
func (f *Field) pair() *Field {
	if f.IDs != nil {
		return f.IDs
	}
	return f.Names
}

// paired reports whether values have the pair of a field.
func paired[V any](f *Field, values map[string]V) bool {
	other := f.pair()
	if other == nil {
		return false
	}
	_, has := values[other.Name]
	return has
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
