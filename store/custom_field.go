package store

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// CustomField declares a field that an installation adds to its users or app users. The values are
// in the records of these, see custom_value.go.
type CustomField struct {
	Ident
	Realm         string   `json:"realm" enum:"field_realm"` // admin for users, app for app users
	Key           string   `json:"key"`
	Title         string   `json:"title" visible:"name"`
	Describe      string   `json:"describe"`
	Type          string   `json:"type" enum:"field_type"` // a type of settings, see CustomFieldTypes
	Options       []Option `json:"options"`
	Props         []Prop   `json:"props"`
	Required      Flag     `json:"required"`
	SelfAccess    string   `json:"self_access" enum:"field_access"` // access of the user; see FieldAccesses
	BackendAccess string   `json:"backend_access" enum:"field_access"`
	ProgramAccess string   `json:"program_access" enum:"field_access"`
	Searchable    Flag     `json:"searchable"`
	Filterable    Flag     `json:"filterable"`
	Unique        Flag     `json:"unique"`
	Listed        Flag     `json:"listed"` // a column of lists in the console
	Sort          int64    `json:"sort"`
	Deleted       Flag     `json:"deleted"`            // its values are being removed, and then the declaration
	Applied       Flag     `json:"applied" log:"-"`    // all records follow Searchable, Filterable and Unique
	Duplicates    []ID     `json:"duplicates" log:"-"` // the first records whose value another one had already, when the field became unique
	Versioned
}

// CustomFields and their indexes. A deleted field is there until its values are removed, and only
// the program sees it; its key can be used again.
var (
	CustomFields       = kv.NewCollection[CustomField]("custom_field").Undoable()
	CustomFieldByKey   = kv.NewUnique(CustomFields, "key", customFieldKey, "realm", "deleted")
	CustomFieldDeleted = byFlag(CustomFields, "deleted", func(f *CustomField) Flag {
		return f.Deleted
	})

	_ = CustomFields.Constraint(constrainCustomField).Authorize(func(tx *Tx,
		old *CustomField) error {
		if bool(old.Deleted) && !ActorOf(tx).system {
			return CustomFields.NotFound(old.ID)
		}
		return nil
	})
)

var _ = Manage(CustomFields, "system.field")

func customFieldKey(f *CustomField) string {
	if f.Deleted {
		return ""
	}
	return f.Realm + "." + f.Key
}

// Access to the values of a field.
const (
	FieldHidden   = "none"
	FieldReadable = "read"
	FieldWritable = "write"
)

// FieldAccesses are the values of SelfAccess, BackendAccess and ProgramAccess.
var FieldAccesses = []string{FieldHidden, FieldReadable, FieldWritable}

// Realms of custom fields.
const (
	AdminRealm = "admin"
	AppRealm   = "app"
)

// MaxCustomFields bounds the fields of a realm: all of their values are in each record.
const MaxCustomFields = 50

// fieldUse says in which ways the values of a type can be found.
type fieldUse struct{ search, filter, unique bool }

var fieldUses = map[string]fieldUse{
	"input":    {search: true, filter: true, unique: true},
	"textarea": {search: true},
	"number":   {search: true, filter: true, unique: true},
	"switch":   {filter: true},
	"radio":    {filter: true},
	"select":   {filter: true},
	"checkbox": {filter: true},
	"date":     {filter: true},
	"time":     {filter: true},
	"color":    {filter: true},
	"image":    {},
	"json":     {},
}

// CustomFieldTypes returns the types of settings that a custom field can have, sorted: not secrets,
// which are encrypted in a way of their own, and not flags.
func CustomFieldTypes() []string {
	var types []string
	for name := range fieldUses {
		types = append(types, name)
	}
	slices.Sort(types)
	return types
}

var fieldKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

func constrainCustomField(tx *Tx, old, new *CustomField) error {
	system := ActorOf(tx).system
	switch {
	case new == nil && !system:
		return errs.New(errs.Conflict,
			"the values of a custom field are removed before it: delete it with DELETE /system/field/:id").Coded("field_has_values")
	case new == nil:
		return nil
	case old != nil && (old.Realm != new.Realm || old.Key != new.Key || old.Type != new.Type):
		return errs.New(errs.Conflict,
			"realm, key and type of a custom field can't be changed; create another field").Coded("field_fixed")
	}

	if old == nil && new.ID != 0 {
		return errs.New(errs.Conflict,
			"a deleted custom field can't be restored, because its values are gone; create another one").Coded("field_deleted")
	}
	if old == nil {
		if err := limitCustomFields(tx, new.Realm); err != nil {
			return err
		}
		new.Applied, new.Deleted = true, false // no record has a value yet
	}
	if old != nil && !system && old.uses() != new.uses() {
		new.Applied, new.Duplicates = false, nil
	}

	new.Options, new.Props, new.Duplicates = notNil(new.Options), notNil(new.Props), notNil(new.Duplicates)
	faults := errs.Faults{}
	new.check(faults)
	if old != nil && bool(old.Searchable || !old.Applied) {
		new.checkHidden(old, faults)
	}

	return faults.Err(errs.Invalid)
}

// checkHidden adds a fault for each access that is withdrawn while a search may still find the
// values.
func (f *CustomField) checkHidden(old *CustomField, faults errs.Faults) {
	for _, access := range []struct{ name, was, is string }{
		{"backend_access", old.BackendAccess, f.BackendAccess},
		{"program_access", old.ProgramAccess, f.ProgramAccess},
	} {
		if access.is == FieldHidden && access.was != FieldHidden {
			faults.Add(access.name,
				"can't be none while a search may find the values; turn off searchable and wait until applied is 1")
		}
	}
}

// notNil returns an empty list for nil, so that it is [] in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func limitCustomFields(tx *Tx, realm string) error {
	if n := len(CustomFieldCache.Get(tx).of(realm)); n >= MaxCustomFields {
		return errs.New(errs.Conflict, "the limit of %d custom fields is reached", n).Coded("too_many")
	}
	return nil
}

// Ready reports whether all records follow the declaration, so that filters find every one.
func (f *CustomField) Ready() bool { return bool(f.Applied) && len(f.Duplicates) == 0 }

// uses returns the declarations that records must follow.
func (f *CustomField) uses() [4]Flag {
	return [4]Flag{f.Searchable, f.Filterable, f.Unique, f.Deleted}
}

// checkOptions adds a fault for each option that a filter can't distinguish from another one.
func (f *CustomField) checkOptions(faults errs.Faults) {
	seen := map[string]string{}
	for i, o := range f.Options {
		same, found := seen[fold.Key(o.Value)]
		if found && same != o.Value {
			faults.Add(fmt.Sprintf("options[%d].value", i),
				"differs from %q only in case, which filters ignore", same)
		}
		seen[fold.Key(o.Value)] = o.Value
	}
}

// check adds what is wrong with a declaration.
func (f *CustomField) check(faults errs.Faults) {
	if f.Realm != AdminRealm && f.Realm != AppRealm {
		faults.Add("realm", "must be one of %s", []string{AdminRealm, AppRealm})
	}
	if !fieldKey.MatchString(f.Key) {
		faults.Add("key", "must begin with a letter and have only lower-case letters, digits and _")
	}

	uses, known := fieldUses[f.Type]
	if !known {
		faults.Add("type", "must be one of %s", CustomFieldTypes())
		return
	}

	checkShape(f.setting(), faults)
	f.checkOptions(faults)
	if f.Required && f.Type == "image" && f.Realm == AppRealm && f.SelfAccess == FieldWritable {
		faults.Add("required",
			"can't be 1 for an image that app users can write, because they can't upload images")
	}

	for name, access := range map[string]string{
		"self_access":    f.SelfAccess,
		"backend_access": f.BackendAccess,
		"program_access": f.ProgramAccess,
	} {
		if !slices.Contains(FieldAccesses, access) {
			faults.Add(name, "must be one of %s", FieldAccesses)
		}
	}

	for _, use := range []struct {
		name    string
		on      Flag
		allowed bool
	}{{"searchable", f.Searchable, uses.search}, {"filterable", f.Filterable, uses.filter},
		{"unique", f.Unique, uses.unique}} {
		if bool(use.on) && !use.allowed {
			faults.Add(use.name, "is not possible for the type %s", f.Type)
		}
	}
	// A search finds a value for everybody who may search, who could guess a hidden one piece by
	// piece.
	if bool(f.Searchable) && (f.BackendAccess == FieldHidden || f.ProgramAccess == FieldHidden) {
		faults.Add("searchable", "requires that the backend and programs can read the field")
	}
}

// setting returns a setting with the type, options and props of the field, which define its values.
func (f *CustomField) setting() *Setting {
	return &Setting{Type: f.Type, Options: f.Options, Props: f.Props}
}

// MaxLength returns the maximum number of characters of a value; 0 if only the bytes of the type
// are bounded.
func (f *CustomField) MaxLength() int {
	if n, ok := f.setting().prop("maxlength"); ok && n > 0 && n < 1<<16 {
		return int(n)
	}
	if t := settingTypes[f.Type]; t.maxBytes <= 1000 {
		return t.maxBytes
	}
	return 0
}

// FieldAudience is who reads or writes custom fields.
type FieldAudience int

// The audiences of custom fields.
const (
	FieldSelf    FieldAudience = iota // users, of their own record
	FieldBackend                      // users of the administration
	FieldProgram                      // API keys
	FieldActing                       // users who act as another one, of the record of that one
	FieldExport                       // the export of everything that is stored about a person
)

// access returns the access of an audience to the values.
func (f *CustomField) access(who FieldAudience) string {
	switch who {
	case FieldSelf:
		return f.SelfAccess
	case FieldBackend:
		return f.BackendAccess
	case FieldProgram:
		return f.ProgramAccess
	case FieldActing:
		if f.SelfAccess == FieldHidden || f.BackendAccess == FieldHidden {
			return FieldHidden
		}
	}
	return FieldReadable
}

// ReadableBy reports whether an audience may read the values.
func (f *CustomField) ReadableBy(who FieldAudience) bool { return f.access(who) != FieldHidden }

// WritableBy reports whether an audience may change the values.
func (f *CustomField) WritableBy(who FieldAudience) bool { return f.access(who) == FieldWritable }

// CustomFieldSet are all declarations, in memory.
type CustomFieldSet struct {
	Rows   []Row[CustomField] // rows by Sort, then ID
	byID   map[ID]*CustomField
	realms map[string][]*CustomField // fields by Sort, then ID, without deleted ones
}

// Len returns the number of declarations, for monitoring.
func (s *CustomFieldSet) Len() int { return len(s.byID) }

// CustomFieldCache is the cache of the declarations.
var CustomFieldCache = kv.NewCache("custom_fields", func(tx *Tx) (*CustomFieldSet, error) {
	all, err := kv.ReadRecords(tx, CustomFields)
	if err != nil {
		return nil, err
	}

	s := &CustomFieldSet{byID: all, realms: map[string][]*CustomField{}}
	s.Rows, err = rowsWith(nil, all, func(f *CustomField) []string {
		return []string{f.Key, f.Title, f.Describe}
	},
		func(a, b *CustomField) int {
			return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID))
		})

	s.Rows = slices.DeleteFunc(s.Rows, func(row Row[CustomField]) bool {
		return bool(row.Value.Deleted)
	})

	for _, row := range s.Rows {
		s.realms[row.Value.Realm] = append(s.realms[row.Value.Realm], row.Value)
	}

	return s, err
}, CustomFields)

// of returns the fields of a realm, in their order.
func (s *CustomFieldSet) of(realm string) []*CustomField { return s.realms[realm] }

// CustomFieldsOf returns the fields of a realm that an audience may read, in their order.
func CustomFieldsOf(tx *Tx, realm string, who FieldAudience) (fields []*CustomField) {
	for _, f := range CustomFieldCache.Get(tx).of(realm) {
		if f.ReadableBy(who) {
			fields = append(fields, f)
		}
	}
	return fields
}

// get returns the field of a realm with a key; nil if there is none.
func (s *CustomFieldSet) get(realm, key string) *CustomField {
	for _, f := range s.realms[realm] {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// find returns a field that is in use; nil if there is none with the ID.
func (s *CustomFieldSet) find(realm string, id ID) *CustomField {
	f := s.byID[id]
	if f == nil || bool(f.Deleted) || f.Realm != realm {
		return nil
	}
	return f
}

// HasCustomField reports whether a field of a realm is in use.
func HasCustomField(tx *Tx, realm string, id ID) bool {
	return CustomFieldCache.Get(tx).find(realm, id) != nil
}

// DeleteCustomField marks a field as deleted. It can't be used any more, and its values are removed
// in the background, see Applying.
func DeleteCustomField(tx *Tx, id ID) error {
	_, err := CustomFields.Update(tx, id, func(f *CustomField) error {
		f.Deleted = true
		return nil
	})
	return err
}
