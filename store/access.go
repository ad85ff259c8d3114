package store

import "reeve/store/kv"

// Access has the permissions with which the records of a collection are read and changed through
// the API. Users who read or undo entries of the change log about these records need them, too.
type Access struct {
	Table  kv.Table
	Query  string
	Create string // "" if the API does not do that, as for the following
	Update string
	Delete string
	Fields []FieldAccess // fields that are not changed with Update
}

// FieldAccess is the permission to change one field.
type FieldAccess struct{ Field, Permission string }

// OfField returns the permission to change a field, and whether it has one of its own.
func (a *Access) OfField(name string) (permission string, own bool) {
	for _, f := range a.Fields {
		if f.Field == name {
			return f.Permission, true
		}
	}
	return a.Update, false
}

// accesses has the declarations of Manage, by the name of the collection.
var accesses = map[string]*Access{}

// Manage declares the permissions of a collection: key with .query, .create, .update and .delete.
func Manage(t kv.Table, key string, fields ...FieldAccess) *Access {
	return manage(Access{t, key + ".query", key + ".create", key + ".update", key + ".delete",
		fields})
}

func manage(a Access) *Access {
	accesses[a.Table.Name()] = &a
	return &a
}

// withoutAccess is that of collections without permissions, which no one has.
var withoutAccess = &Access{}

// AccessOf returns the permissions of a collection; without a table if it has none.
func AccessOf(collection string) *Access {
	if a := accesses[collection]; a != nil {
		return a
	}
	return withoutAccess
}

// Accesses returns the permissions of all collections that have some, by the name of the
// collection. It must not be changed.
func Accesses() map[string]*Access { return accesses }
