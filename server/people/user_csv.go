package people

import (
	"reflect"
	"strconv"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
	"reeve/store/names"
)

// userCSV describes the CSV files of users of the administration.
var userCSV = peopleCSV[store.User]{
	name: "users",
	columns: []string{"username", "nickname", "email", "mobile", "sex", "department", "roles",
		"status"},
	read:   readUserRow,
	write:  userRow,
	roleID: idNamed(store.Roles, store.RoleByName),
	sees:   (*store.Scope).HasUser,
}

// readUserRow returns the user of a row. The department is looked up by its name.
func readUserRow(c *importCheck, row csvRow, faults errs.Faults) store.User {
	in := new(userIn)
	bindRow(web.DescribeFields(reflect.TypeFor[userIn](), "POST"), in, row, faults, "department",
		"roles")
	u := store.User{Status: true}
	assignUser(in, &u)
	u.DeptID = c.deptAt(row.cells["department"], faults)
	return u
}

// deptAt returns the ID of a department; 0 for none.
func (c *importCheck) deptAt(path string, faults errs.Faults) store.ID {
	if path == "" {
		return 0
	}
	id, err := c.find.One(names.Of("department"), path, "department", faults)
	if err != nil {
		faults.Add("department", "%s", errs.Of(err).Msg)
	}
	return id
}

// MaxCellNames is the maximum number of roles in one cell.
const MaxCellNames = 100

// rolesNamed returns the IDs of roles. find returns that of a role with a folded name.
func (c *importCheck) rolesNamed(names string,
	find func(tx *store.Tx, name string) (store.ID, error),
	faults errs.Faults) (ids []store.ID, err error) {
	all := splitRoles(names)
	if len(all) > MaxCellNames {
		faults.Add("roles", "must name at most %d roles", MaxCellNames)
		return nil, nil
	}

	for _, name := range all {
		if name == "" {
			continue
		}
		id, err := c.role(name, find)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			faults.Add("roles", "role %q not found", echoed(name))
			continue
		}
		ids = append(ids, id)
	}

	return ids, nil
}

// role returns the ID of the role with a name; 0 for none.
func (c *importCheck) role(name string,
	find func(tx *store.Tx, name string) (store.ID, error)) (store.ID, error) {
	id, known := c.roles[name]
	if known {
		return id, nil
	}
	id, err := find(c.tx, name)
	if err != nil && !errs.Is(err, errs.NotFound) {
		return 0, err
	}
	c.roles[name] = id
	return id, nil
}

// idNamed returns the function that finds the ID of a record by its name.
func idNamed[T any](of *kv.Collection[T],
	by *kv.Unique[T]) func(tx *store.Tx, name string) (store.ID, error) {
	return func(tx *store.Tx, name string) (store.ID, error) {
		v, err := by.Get(tx, name)
		if err != nil {
			return 0, err
		}
		return of.ID(v), nil
	}
}

// roleEscape escapes semicolons in a role's name, since semicolons separate names.
var roleEscape = strings.NewReplacer(`\`, `\\`, `;`, `\;`)

// splitRoles splits names at semicolons that are not escaped by a backslash.
func splitRoles(names string) []string {
	var all []string
	var name strings.Builder
	for i := 0; i < len(names); i++ {
		switch {
		case names[i] == '\\' && i+1 < len(names):
			i++
			name.WriteByte(names[i])
		case names[i] == ';':
			all = append(all, strings.TrimSpace(name.String()))
			name.Reset()
		default:
			name.WriteByte(names[i])
		}
	}

	return append(all, strings.TrimSpace(name.String()))
}

// roleNames returns the cell with the names of roles.
func roleNames(rules *store.Policy, ids []store.ID) string {
	var names []string
	for _, id := range ids {
		names = append(names, roleEscape.Replace(rules.RoleName(id)))
	}
	return strings.Join(names, ";")
}

func userRow(tx *store.Tx, u *store.User) []string {
	rules := store.PolicyCache.Get(tx)
	return []string{
		u.Username, u.Nickname, u.Email, u.Mobile, strconv.FormatInt(u.Sex, 10),
		rules.DeptRef(u.DeptID), roleNames(rules, u.RoleIDs),
		strconv.FormatInt(web.FlagNumber(u.Status), 10),
	}
}
