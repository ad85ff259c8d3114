package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
)

// FieldValue is the value of a custom field in a record, as a setting of its type stores it. Fields
// are named by ID, which is never used again, so that a field of the same key does not get old
// values.
type FieldValue struct {
	ID    ID     `json:"id"`
	Value string `json:"value"` // never ""
}

// FieldValues are the values of a record, by ID.
type FieldValues []FieldValue

// FieldMark says how a value is found. The indexes of a record must follow from the record alone,
// and not from declarations that change, so each record has its marks. ApplyCustomFields changes
// the marks of all records after a declaration has changed.
type FieldMark struct {
	ID  ID     `json:"id"`
	How string `json:"how"` // combination of the letters below
}

// FieldMarks are the marks of a record, by ID.
type FieldMarks []FieldMark

// How a value is found.
const (
	byText   = "t" // in the index, as fold.Key
	byNumber = "n" // in the index, in the order of numbers
	byEntry  = "l" // in the index, by each entry of a JSON array
	bySearch = "s" // in the search text
)

// Get returns the value of a field; "" for none.
func (v FieldValues) Get(id ID) string {
	if i, found := slices.BinarySearchFunc(v, id, func(f FieldValue, id ID) int {
		return cmp.Compare(f.ID, id)
	}); found {
		return v[i].Value
	}
	return ""
}

// With returns the values with one of them replaced, or removed if value is "".
func (v FieldValues) With(id ID, value string) FieldValues {
	i, found := slices.BinarySearchFunc(v, id, func(f FieldValue, id ID) int {
		return cmp.Compare(f.ID, id)
	})
	next := slices.Clone(v)
	switch {
	case found && value == "":
		return slices.Delete(next, i, i+1)
	case found:
		next[i].Value = value
	case value != "":
		return slices.Insert(next, i, FieldValue{id, value})
	}
	return next
}

func (m FieldMarks) get(id ID) string {
	for _, mark := range m {
		if mark.ID == id {
			return mark.How
		}
	}
	return ""
}

// mark returns how a value of the field is found, as it is declared.
func (f *CustomField) mark() (how string) {
	if f.Filterable || f.Unique {
		switch f.Type {
		case "number":
			how = byNumber
		case "checkbox":
			how = byEntry
		default:
			how = byText
		}
	}
	return how + f.searchMark()
}

// searchMark returns the part of mark that is for a search.
func (f *CustomField) searchMark() string {
	if f.Searchable {
		return bySearch
	}
	return ""
}

// fieldKeys returns the keys of a record in the index of custom fields.
func fieldKeys(values FieldValues, marks FieldMarks) (keys []string) {
	for _, m := range marks {
		for _, how := range []string{byText, byNumber, byEntry} {
			if strings.Contains(m.How, how) {
				keys = append(keys, valueKeys(m.ID, how, values.Get(m.ID))...)
			}
		}
	}
	return keys
}

// valueKeys returns the keys of a value in the index.
func valueKeys(id ID, how, value string) []string {
	if value == "" {
		return nil
	}
	entries := []string{value}
	if how == byEntry && json.Unmarshal([]byte(value), &entries) != nil {
		return nil
	}
	keys := make([]string, 0, len(entries))
	for _, entry := range entries {
		keys = append(keys, entryKey(id, how, entry))
	}
	return keys
}

// Compared returns a text that is the same for values which are duplicates in a unique field; ""
// for none.
func (f *CustomField) Compared(value string) string {
	if value == "" {
		return ""
	}
	return entryKey(f.ID, f.mark()[:1], value)
}

func entryKey(id ID, how, entry string) string {
	if how == byNumber {
		return id.String() + ":" + numberKey(entry)
	}
	return id.String() + ":" + fold.Key(entry)
}

// numberKey returns a text whose order is that of the numbers: the bits of an IEEE 754 number, of
// which the sign is inverted, and of a negative number all.
func numberKey(text string) string {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	bits := math.Float64bits(n + 0) // -0 is 0
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return fmt.Sprintf("%016x", bits)
}

// searchedValues returns texts with those of the custom fields that a search finds.
func searchedValues(texts []string, values FieldValues, marks FieldMarks) []string {
	for _, m := range marks {
		if value := values.Get(m.ID); value != "" && strings.Contains(m.How, bySearch) {
			texts = append(texts, value)
		}
	}
	return texts
}

// MaxFieldBytes bounds the values of all custom fields of a record: they are written with every
// change of it, and lists have up to 1000 records.
const MaxFieldBytes = 16 << 10

// size returns the number of bytes of the values.
func (v FieldValues) size() (n int) {
	for _, f := range v {
		n += len(f.Value)
	}
	return n
}

// constrainCustomized is the constraint of collections of records with custom fields.
func constrainCustomized[P interface {
	comparable
	Member() Member
}](tx *Tx, realm string, old, new P, count func(*Tx, string) (int, error)) error {
	var none P
	switch {
	case new == none:
		return nil
	case old == none:
		return constrainValues(tx, realm, nil, new.Member(), count)
	}
	was := old.Member()
	return constrainValues(tx, realm, &was, new.Member(), count)
}

// constrainValues checks the values that new has and old has not, and marks them. old is nil for a
// new record. count returns the number of records with a key in the index.
func constrainValues(tx *Tx, realm string, old *Member, new Member,
	count func(*Tx, string) (int, error)) error {
	if len(*new.Fields) == 0 && (old == nil || len(*old.Fields) == 0) &&
		len(CustomFieldCache.Get(tx).of(realm)) == 0 {
		return nil
	}

	c := valueCheck{
		tx:       tx,
		set:      CustomFieldCache.Get(tx),
		realm:    realm,
		id:       new.ID,
		restored: old == nil && new.ID != 0,
		count:    count,
		faults:   errs.Faults{},
	}

	var had FieldValues
	var hadMarks FieldMarks
	if old != nil {
		had, hadMarks = *old.Fields, *old.marks
	}

	values, marks := FieldValues{}, FieldMarks{}
	edited := old != nil && !slices.Equal(had, *new.Fields)
	for _, v := range *new.Fields {
		f := c.set.find(realm, v.ID)
		if f == nil || v.Value == "" {
			continue // the field has been deleted
		}

		how := new.marks.get(v.ID)
		if had.Get(v.ID) != v.Value {
			how = f.mark()
			if err := c.changed(f, had.Get(v.ID), v.Value,
				valueKeysOf(v.ID, hadMarks.get(v.ID), had.Get(v.ID))); err != nil {
				return err
			}
		} else if edited {
			if err := c.mustDiffer(f, v.Value); err != nil {
				return err
			}
		}

		values = values.With(v.ID, v.Value)
		if how != "" {
			marks = append(marks, FieldMark{v.ID, how})
		}
	}

	c.missing(old == nil, had, values)
	if n := values.size(); n > MaxFieldBytes && n > had.size() {
		c.faults.Add("fields", "must total at most %d bytes", MaxFieldBytes)
	}
	if *new.Fields, *new.marks = values, marks; len(values) == 0 {
		*new.Fields, *new.marks = nil, nil
	}

	return c.faults.Err(errs.Invalid)
}

// valueKeysOf returns the keys of a value whose mark is how.
func valueKeysOf(id ID, how, value string) []string {
	return fieldKeys(FieldValues{{id, value}}, FieldMarks{{id, how}})
}

// valueCheck checks the values of one record.
type valueCheck struct {
	tx       *Tx
	set      *CustomFieldSet
	realm    string
	id       ID   // ID of the record; 0 for a new one
	restored bool // the deletion of the record is undone: its values are not changes of the actor
	count    func(*Tx, string) (int, error)
	faults   errs.Faults
}

// changed checks a value that is new or has changed. The record has the keys had in the index.
func (c *valueCheck) changed(f *CustomField, was, value string, had []string) error {
	name := c.name(f)
	if !c.restored {
		if !c.permits(f.WritableBy) {
			return errs.Field(errs.Denied, name, "you can't change this field")
		}
		fitting, err := normalize(f.setting(), value)
		if err == nil && fitting != value {
			err = errs.Say("is not in the form in which it is stored")
		}
		if err != nil {
			c.faults.Add(name, "%s", err)
			return nil
		}
	}
	if !f.Unique {
		return nil
	}

	for _, key := range valueKeysOf(f.ID, f.mark(), value) {
		if slices.Contains(had, key) {
			continue
		}
		n, err := c.count(c.tx, key)
		if err != nil {
			return err
		}
		if n > 0 {
			return errs.Field(errs.Conflict, name, "is already used by another %s",
				errs.Noun(c.noun())).Coded("duplicate")
		}
	}

	return nil
}

// mustDiffer returns a Conflict for a value that stays as it is although that of another record
// reads the same, which only a migration leaves.
func (c *valueCheck) mustDiffer(f *CustomField, value string) error {
	if !bool(f.Unique) || ActorOf(c.tx).system {
		return nil
	}
	for _, key := range valueKeysOf(f.ID, f.mark(), value) {
		n, err := c.count(c.tx, key)
		if err != nil {
			return err
		}
		if n > 1 {
			return errs.Field(errs.Conflict, c.name(f),
				"reads like that of another %s; change one of them first", errs.Noun(c.noun())).Coded("duplicate")
		}
	}
	return nil
}

func (c *valueCheck) noun() string {
	if c.realm == AppRealm {
		return AppUsers.Noun()
	}
	return Users.Noun()
}

// permits reports whether the actor is one of those who may read or change a field, whatever the
// operation, for example when a change is undone.
func (c *valueCheck) permits(access func(FieldAudience) bool) bool {
	switch a := ActorOf(c.tx); {
	case a.system:
		return true
	case a.App:
		return access(FieldSelf)
	case a.Key != nil:
		return access(FieldProgram)
	default:
		return access(FieldBackend) ||
			c.realm == AdminRealm && c.id == a.ID && a.By == nil && access(FieldSelf)
	}
}

// name returns the name of a field in errors. Those whom the field is hidden from don't get its
// key.
func (c *valueCheck) name(f *CustomField) string {
	if !c.permits(f.ReadableBy) {
		return "fields"
	}
	return "fields." + f.Key
}

// missing adds a fault for each required value that is removed. AssignFields checks which a new
// record lacks, because that depends on who fills in a form.
func (c *valueCheck) missing(created bool, had, values FieldValues) {
	for _, f := range c.set.of(c.realm) {
		if !created && bool(f.Required) && had.Get(f.ID) != "" && values.Get(f.ID) == "" {
			c.faults.Add(c.name(f), "is required")
		}
	}
	for _, v := range had {
		f := c.set.find(c.realm, v.ID)
		if f == nil || values.Get(v.ID) != "" {
			continue
		}
		if !c.permits(f.WritableBy) {
			c.faults.Add(c.name(f), "you can't change this field")
		}
	}
}

// Value returns a stored text as JSON has it: a text, number, boolean, array or any JSON value; nil
// for none.
func (f *CustomField) Value(text string) any {
	if text == "" {
		return nil
	}
	s := f.setting()
	s.Values = text
	return settingValue(s)
}
