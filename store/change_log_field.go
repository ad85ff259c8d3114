package store

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"reeve/store/kv"
)

// fieldClass is how the change log treats a field.
type fieldClass int

const (
	plainField fieldClass = iota
	personalField
	secretField
	sealedField // a secret that is encrypted in the record
	ignoredField
)

// loggedFields are the fields of a record type, by JSON name.
type loggedFields struct {
	byName map[string]loggedField
	name   string // name of the display name's field; "" for none
	person bool   // whether a field names the person whom the record is about
}

type loggedField struct {
	name  string
	class fieldClass
}

// fieldsByType has the *loggedFields of each record type, by reflect.Type.
var fieldsByType sync.Map

// fieldsOf returns how the fields of a collection are logged; nil if its changes are not.
func fieldsOf(t kv.Table) *loggedFields {
	if !t.IsLogged() {
		return nil
	}
	if f, ok := fieldsByType.Load(t.RecordType()); ok {
		return f.(*loggedFields)
	}
	f := classify(t.RecordType())
	fieldsByType.Store(t.RecordType(), f)
	return f
}

// keptOfDeleted are members that only the deletion of a record logs, so that it can be restored as
// it was.
var keptOfDeleted = []string{"created_at", "version"}

// nameFields are the fields that can be the display name of a record, the first that exists. A
// record without any is named by its first field that is a name for people (the tag
// visible:"name").
var nameFields = []string{"username", "title", "name", "label", "kind", "description"}

// bookkeeping are the members of embedded types that are not logged as fields: the ID, the times and the
// version of a record.
var bookkeeping = []string{"id", "created_at", "updated_at", "version"}

// classify reads the tags of a record type.
func classify(of reflect.Type) *loggedFields {
	logged := &loggedFields{byName: map[string]loggedField{}}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || len(f.Index) > 1 && slices.Contains(bookkeeping, name) {
			continue
		}
		logged.byName[name] = loggedField{name, classOf(f)}
		logged.person = logged.person || name == "user_id" || name == "uploader_id" ||
			name == "app_user_id"
	}

	for i := of.NumField() - 1; i >= 0; i-- {
		if f := of.Field(i); f.Tag.Get("visible") == "name" && classOf(f) == plainField {
			logged.name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
	}

	for _, name := range slices.Backward(nameFields) {
		if _, exists := logged.byName[name]; exists {
			logged.name = name
		}
	}

	return logged
}

func classOf(f reflect.StructField) fieldClass {
	switch tag := f.Tag.Get("log"); {
	case tag == "personal":
		return personalField
	case f.Type == reflect.TypeFor[kv.Sealed]():
		return sealedField
	case tag == "secret":
		return secretField
	case tag == "-":
		return ignoredField
	}
	return plainField
}
