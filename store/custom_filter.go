package store

import (
	"reeve/store/errs"
	"reeve/store/kv"
)

// FieldCondition returns the condition that a record has one of some values of a field.
func FieldCondition[T any](by *kv.Many[T, string], f *CustomField, values []string) (Condition, error) {
	keys := make([]string, len(values))
	for i, v := range values {
		if err := f.checkBound(v); err != nil {
			return Condition{}, err
		}
		keys[i] = entryKey(f.ID, f.mark()[:1], v)
	}
	return by.AnyOf(keys...), nil
}

// FieldRange returns the condition that a record has a value of a field from low to high; "" for no bound.
func FieldRange[T any](tx *Tx, by *kv.Many[T, string], f *CustomField, low, high string) (Condition, error) {
	if !f.hasOrder() {
		return Condition{}, errs.Field(errs.Malformed, "fields."+f.Key, "can't be filtered by a range: its type is %s", f.Type)
	}
	how, head := f.mark()[:1], f.ID.String()+":"
	from, to := head, head+"\U0010ffff"
	if low != "" {
		from = entryKey(f.ID, how, low)
	}
	if high != "" {
		to = entryKey(f.ID, how, high)
	}
	for _, bound := range []string{low, high} {
		if err := f.checkBound(bound); err != nil {
			return Condition{}, err
		}
	}
	return by.Between(tx, from, to), nil
}

// checkBound returns an error for a text that is no number, date or time, for a field of these.
func (f *CustomField) checkBound(text string) error {
	if text == "" || !f.hasOrder() {
		return nil
	}
	if _, err := normalize(&Setting{Type: f.Type}, text); err != nil {
		return errs.Field(errs.Malformed, "fields."+f.Key, "%s", err)
	}
	return nil
}

// hasOrder reports whether ranges of the values have a meaning.
func (f *CustomField) hasOrder() bool {
	return f.Type == "number" || f.Type == "date" || f.Type == "time"
}

// FilteredField returns a field of a realm that an audience can filter by.
func FilteredField(tx *Tx, realm string, who FieldAudience, key string) (*CustomField, error) {
	f := CustomFieldCache.Get(tx).get(realm, key)
	switch name := "fields." + key; {
	case f == nil || !f.ReadableBy(who) || !bool(f.Filterable):
		return nil, errs.Field(errs.Malformed, name, "is not a custom field that this list can be filtered by")
	case !f.Ready():
		return nil, errs.Field(errs.Busy, name, "can't be used yet: the records are being prepared, or have duplicate values").Coded("field_not_ready")
	}
	return f, nil
}
