package store

import (
	"reeve/store/errs"
	"reeve/store/kv"
)

// FieldIndex is an index of the values of custom fields, whose keys entryKey makes.
type FieldIndex interface {
	AnyOf(keys ...string) kv.Condition
	Between(tx *Tx, low, high string) kv.Condition
}

// FieldCondition returns the condition that a record has one of some values of a field.
func FieldCondition(by FieldIndex, f *CustomField, values []string) (kv.Condition, error) {
	keys := []string{}
	for _, v := range values {
		forms, err := f.forms(v)
		if err != nil {
			return kv.Condition{}, err
		}
		for _, form := range forms {
			keys = append(keys, entryKey(f.ID, f.mark()[:1], form))
		}
	}
	return by.AnyOf(keys...), nil
}

// FieldRange returns the condition that a record has a value of a field from low to high; "" for no
// bound.
func FieldRange(tx *Tx, by FieldIndex, f *CustomField, low, high string) (kv.Condition, error) {
	if !f.hasOrder() {
		return kv.Condition{}, errs.Field(errs.Malformed, "fields."+f.Key,
			"can't be filtered by a range: its type is %s", f.Type)
	}

	how, head := f.mark()[:1], f.ID.String()+":"
	lows, err := f.forms(low)
	if err != nil {
		return kv.Condition{}, err
	}

	highs, err := f.forms(high)
	if err != nil {
		return kv.Condition{}, err
	}

	from, to := head, head+"\U0010ffff"
	if low != "" {
		from = entryKey(f.ID, how, lows[0])
	}
	if high != "" {
		to = entryKey(f.ID, how, highs[len(highs)-1])
	}

	return by.Between(tx, from, to), nil
}

// forms returns the stored texts that a text of a filter stands for, in their order.
func (f *CustomField) forms(text string) (forms []string, err error) {
	if text != "" && (f.Type == "switch" || f.hasOrder()) {
		if text, err = normalize(&Setting{Type: f.Type}, text); err != nil {
			return nil, errs.Field(errs.Malformed, "fields."+f.Key, "%s", err)
		}
	}
	if f.Type == "time" && len(text) >= len("15:04") {
		if minute := text[:len("15:04")]; text == minute || text == minute+":00" {
			return []string{minute, minute + ":00"}, nil
		}
	}
	return []string{text}, nil
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
		return nil, errs.Field(errs.Malformed, name,
			"is not a custom field that this list can be filtered by")
	case !f.Ready():
		return nil, errs.Field(errs.Busy, name,
			"can't be used yet: the records are being prepared, or have duplicate values").Coded("field_not_ready")
	}
	return f, nil
}
