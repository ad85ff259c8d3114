package store

import (
	"strings"

	"reeve/store/kv"
)

// Clashes returns the groups of records with a unique text that reads the same, see kv.Clash, of
// each at most limit records. The list is not complete if all is false.
func Clashes(tx *Tx, limit int) (clashes []kv.Clash, all bool, err error) {
	found, all, err := tx.Clashes(limit)
	for _, c := range found {
		if c.Key != "" { // of custom fields
			f := fieldOfKey(tx, c)
			if f == nil || !bool(f.Unique) {
				continue
			}
			c.Field += "." + f.Key
		}
		clashes = append(clashes, c)
	}
	return clashes, all, err
}

// fieldOfKey returns the custom field of an index key; nil if it has been deleted.
func fieldOfKey(tx *Tx, c kv.Clash) *CustomField {
	realm := AdminRealm
	if c.Collection == AppUsers.Name() {
		realm = AppRealm
	}
	for _, f := range CustomFieldCache.Get(tx).of(realm) {
		if strings.HasPrefix(c.Key, f.ID.String()+":") {
			return f
		}
	}
	return nil
}
