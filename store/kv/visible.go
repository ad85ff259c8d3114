package kv

import (
	"reflect"

	"reeve/store/errs"
	"reeve/store/fold"
)

// A field with the tag visible is a name, for which people take what they see: characters that are
// invisible are refused. With the value name, those that writing systems and emoji need are
// accepted; with address, none. A record that has such a name already keeps it until the field is
// changed.

// visibleField is a field with the tag visible.
type visibleField struct {
	index   []int
	name    string
	address bool
}

func visibleFields(t reflect.Type) (fields []visibleField) {
	for _, f := range reflect.VisibleFields(t) {
		switch kind := f.Tag.Get("visible"); kind {
		case "":
		case "name", "address":
			fields = append(fields, visibleField{f.Index, f.Tag.Get("json"), kind == "address"})
		default:
			panic("kv: " + t.Name() + "." + f.Name + " has an unknown tag visible")
		}
	}
	return fields
}

// validateNames adds a fault for each name that has changed and has invisible characters.
func (c *collection) validateNames(old, v record, faults errs.Faults) {
	for _, f := range c.names {
		text := reflect.ValueOf(v).Elem().FieldByIndex(f.index).String()
		if hidden := f.address && fold.HasIgnorable(text) || fold.HasInvisible(text); !hidden {
			continue
		}
		if old == nil || reflect.ValueOf(old).Elem().FieldByIndex(f.index).String() != text {
			faults.Add(f.name, "must not contain invisible characters")
		}
	}
}

// nameOf returns the name of a record for people: its first name that is not empty, else its ID.
func (c *collection) nameOf(v record) string {
	for _, f := range c.names {
		if text := reflect.ValueOf(v).Elem().FieldByIndex(f.index).String(); text != "" {
			return text
		}
	}
	return v.ident().ID.String()
}
