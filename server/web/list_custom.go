package web

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Filters of lists by custom fields.

// customFilter is the condition that a custom field has one of the values, or one in a range.
type customFilter struct {
	key       string
	values    []string
	isRange   bool
	low, high string // "" for no bound
}

// CustomPrefix begins the names of custom fields in the parameters of lists.
const CustomPrefix = "fields."

// customField parses a parameter named after a custom field: fields.KEY=VALUE, or
// fields.KEY[]=FROM&fields.KEY[]=TO.
func (q *ListQuery) customField(key string, values []string, faults errs.Faults) {
	key, isRange := strings.CutSuffix(key, "[]")
	if isRange && len(values) == 1 {
		values = strings.SplitN(values[0], ",", 3)
	}
	switch {
	case isRange && len(values) == 2:
		q.custom = append(q.custom, customFilter{
			key:     key,
			isRange: true,
			low:     values[0],
			high:    values[1],
		})
	case isRange:
		faults.Add(CustomPrefix+key, "must have two values: from and to")
	case len(values) > 1:
		faults.Add(CustomPrefix+key, "must be given once, not %d times", len(values))
	default:
		q.custom = append(q.custom, customFilter{key: key, values: values})
	}
}

// customCondition returns the condition of a filter by a custom field.
func (t *conditions) customCondition(tx *store.Tx, req *Request,
	of customFilter) (kv.Condition, error) {
	f, err := store.FilteredField(tx, t.realm, AudienceOf(req.Actor), of.key)
	switch {
	case err != nil:
		return kv.Condition{}, err
	case of.isRange:
		return store.FieldRange(tx, t.custom, f, of.low, of.high)
	}
	return store.FieldCondition(t.custom, f, of.values)
}
