package store

import (
	"strings"

	"reeve/store/errs"
	"reeve/store/kv"
)

// A permission that is created by its key alone is placed below the permissions that the beginning
// of its key names: shop.order.refund below shop.order, and that below shop. Those that are missing
// are created in the same transaction.

// PermissionAbove returns the ID of the parent of a new permission with a key; 0 for a root.
// Missing ones are headings, which appear in the menu of the console only with a page below them.
func PermissionAbove(tx *Tx, key string) (ID, error) {
	return parentOf(tx, key, "", Permissions, PermissionByKey,
		func(key, name string, parent ID) *Permission {
			return &Permission{
				ParentID: parent,
				Type:     MenuPermission,
				Key:      key,
				Name:     name,
				Show:     true,
				Status:   true,
			}
		}, func(p *Permission) error {
			if p.Type == ActionPermission {
				return errs.Field(errs.Invalid, "key",
					"%s is an action, which can't have children; state the parent", p.Key)
			}
			return nil
		})
}

// AppPermissionAbove is PermissionAbove for app permissions. All their keys begin with
// AppKeyPrefix, so that this is no parent.
func AppPermissionAbove(tx *Tx, key string) (ID, error) {
	return parentOf(tx, key, AppKeyPrefix, AppPermissions, AppPermissionByKey,
		func(key, name string, parent ID) *AppPermission {
			return &AppPermission{ParentID: parent, Key: key, Name: name, Status: true}
		}, func(*AppPermission) error { return nil })
}

// parentOf returns the ID of the record whose key is all but the last segment of key, after prefix,
// which is no key itself. It creates that record and those above it where they are missing. may
// returns an error if a record can't have children.
func parentOf[T any](tx *Tx, key, prefix string, of *kv.Collection[T], by *kv.Unique[T],
	blank func(key, name string, parent ID) *T, may func(*T) error) (parent ID, err error) {
	rest, known := strings.CutPrefix(key, prefix)
	if !known {
		return 0, nil // the constraint of the keys rejects it
	}
	for {
		segment, after, more := strings.Cut(rest, ".")
		if !more {
			return parent, nil
		}
		rest = after
		above := strings.TrimSuffix(key, "."+rest)
		v, err := by.Get(tx, above)
		if errs.Is(err, errs.NotFound) {
			v = blank(above, titleOf(segment), parent)
			err = of.Create(tx, v)
		} else if err == nil {
			err = may(v)
		}
		if err != nil {
			return 0, err
		}
		parent = of.ID(v)
	}
}

// titleOf returns the name of a permission after the segment of a key: Sales team for sales-team.
func titleOf(segment string) string {
	name := strings.NewReplacer("-", " ", "_", " ").Replace(segment)
	return strings.ToUpper(name[:1]) + name[1:]
}
