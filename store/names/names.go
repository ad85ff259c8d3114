// Package names finds records by what people and programs call them: roles by name, permissions
// by key, departments by path. Inputs that take the ID of a record take its name instead.
//
// Start with Kind, which Of returns for the name of a kind, and Lookup, which finds the records of
// one request.
//
// An actor finds the records that the choices of forms offer, and those that the actor may read.
// For all others, the fault is the same as for a name that no record has, so that it does not
// reveal which names exist. A fault suggests similar names from the same records.
//
//	find := names.Lookup{Tx: tx}
//	id, err := find.One(names.Of("role"), "Support", "role", faults)
package names

import (
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// MaxLength is the maximum length of a name in characters: of the path of a department.
const MaxLength = 4096

// Kind is a kind of records with names.
type Kind struct {
	// Doc describes one name, such as "Name of the role".
	Doc string
	// Docs describes several names.
	Docs string
	// Form describes how names are written; "" if as the record has them.
	Form string

	noun string // noun of the collection
	// match returns the records with a name, regardless of the actor, except for departments.
	match func(tx *store.Tx, name string) ([]store.ID, error)
	// find returns the records with a name that the actor may refer to: at most one, except for
	// departments, of which several can have the same path.
	find func(tx *store.Tx, name string) ([]store.ID, error)
	// near returns similar names of records that the actor may read.
	near func(tx *store.Tx, name string) ([]string, error)
	// unclear returns the fault of a name that several records have.
	unclear func(tx *store.Tx, name string, ids []store.ID) errs.Message
}

// kinds are the kinds by name.
var kinds = map[string]*Kind{
	"role":           roles,
	"permission":     permissions,
	"department":     departments,
	"app_role":       appRoles,
	"app_permission": appPermissions,
	"provider":       providers,
	"setting_group":  settingGroups,
	"file_group":     fileGroups,
	"user":           users,
	"app_user":       appUsers,
}

// Of returns the kind with a name. It panics if there is none.
func Of(name string) *Kind {
	if kinds[name] == nil {
		panic("names: there is no kind " + name)
	}
	return kinds[name]
}

// Any returns the records with one of some names, for a filter of records that the actor may read:
// also those that the actor could not refer to. Names of none are ignored.
func (k *Kind) Any(tx *store.Tx, names []string) (ids []store.ID, err error) {
	for _, name := range names {
		found, err := k.match(tx, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// maxHints is the number of unknown names in a request for which similar ones are looked for, since
// that reads all names.
const maxHints = 3

// Lookup finds the records of one request.
type Lookup struct {
	Tx    *store.Tx
	hints int
}

// All returns the IDs of the records with names. at is the field of the names.
func (l *Lookup) All(k *Kind, names []string, at string, faults errs.Faults) ([]store.ID, error) {
	ids, seen := make([]store.ID, 0, len(names)), map[store.ID]bool{}
	for i, name := range names {
		at := at + "[" + strconv.Itoa(i) + "]"
		id, err := l.One(k, name, at, faults)
		if err != nil {
			return nil, err
		}
		if seen[id] && id != 0 {
			faults.Add(at, "is given twice")
		}
		seen[id], ids = true, append(ids, id)
	}
	return ids, nil
}

// One returns the ID of the record with a name. If there is none, or more than one, it adds a fault
// of the field at and returns 0.
func (l *Lookup) One(k *Kind, name, at string, faults errs.Faults) (store.ID, error) {
	found, err := k.find(l.Tx, name)
	switch {
	case err != nil:
		return 0, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		faults.Add(at, "%s", k.unclear(l.Tx, name, found))
		return 0, nil
	}

	var near []string
	if l.hints < maxHints {
		l.hints++
		if near, err = k.near(l.Tx, name); err != nil {
			return 0, err
		}
	}
	if len(near) == 0 {
		faults.Add(at, "%s %q not found", errs.Noun(k.noun), quoted(name))
	} else {
		faults.Add(at, "%s %q not found; did you mean %s?", errs.Noun(k.noun), quoted(name), near)
	}
	return 0, nil
}

// quoted returns a name as an error repeats it.
func quoted(name string) string {
	const most = 128 // bytes
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}
