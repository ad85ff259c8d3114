package people

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
	"reeve/store/names"
)

// importCheck validates rows against the database and the previous rows.
type importCheck struct {
	tx    *store.Tx
	find  *names.Lookup
	roles map[string]store.ID // roles looked up so far, by folded name; 0 if there is none
	lines map[string]int      // line of a value, by column and folded value
}

func newImportCheck(tx *store.Tx) *importCheck {
	return &importCheck{tx, &names.Lookup{Tx: tx}, map[string]store.ID{}, map[string]int{}}
}

// hasHashes reports whether a file has the column of password hashes.
func hasHashes(table []csvRow) bool {
	if len(table) == 0 {
		return false
	}
	_, has := table[0].cells[hashColumn]
	return has
}

// check validates one row and returns the user that it would create, and the user's password hash,
// if the row has one. It adds the faults of the row; an error ends the import.
func (r *Realm[T, Out, P]) check(check *importCheck, row csvRow,
	faults errs.Faults) (u T, hash *kv.Sealed, err error) {
	u = r.csv.read(check, row, faults)
	p := P(&u).Member()
	*p.RoleIDs, err = check.rolesNamed(row.cells["roles"], r.csv.roleID, faults)
	if err == nil && !r.app && row.cells[hashColumn] != "" {
		err = faults.Merge(store.OwnerHash(*p.RoleIDs))
	}
	if err != nil {
		return u, nil, err
	}
	if err := r.assignCustom(check, row, p, faults); err != nil {
		return u, nil, err
	}
	if hash, err = sealedHash(check.tx, *p.Username, row.cells[hashColumn], faults); err != nil {
		return u, nil, err
	}

	check.unique("username", *p.Username, row.line, faults)
	check.unique("email", *p.Email, row.line, faults)
	if len(faults) == 0 {
		err = refusedRow(r.list.Collection.Validate(check.tx, &u), faults)
	}

	return u, hash, err
}

// assignCustom sets the custom fields of a row.
func (r *Realm[T, Out, P]) assignCustom(check *importCheck, row csvRow, p store.Member,
	faults errs.Faults) error {
	in := store.FieldInput{Values: map[string]any{},
		Text: func(_ *store.Setting, cell any) (string, error) {
			return cell.(string), nil
		}}
	for column, cell := range row.cells {
		if key, custom := strings.CutPrefix(column, web.CustomPrefix); custom {
			in.Values[key] = cell
		}
	}

	tx := check.tx
	who := web.AudienceOf(store.ActorOf(tx))
	values, err := store.AssignFields(tx, r.list.Realm, who, true, nil, in)
	*p.Fields = values
	for _, f := range store.CustomFieldsOf(tx, r.list.Realm, who) {
		if f.Unique {
			check.unique(web.CustomPrefix+f.Key, f.Compared(values.Get(f.ID)), row.line, faults)
		}
	}

	return faults.Merge(err)
}

// sealedHash checks a password hash, and encrypts it for the steps of a job, which are stored.
func sealedHash(tx *store.Tx, username, hash string, faults errs.Faults) (*kv.Sealed, error) {
	if hash == "" {
		return nil, nil
	}
	stored, err := auth.ImportHash(hashColumn, hash)
	if err != nil {
		return nil, faults.Merge(err)
	}
	sealed, err := store.SealHash(tx, username, stored)
	return &sealed, err
}

// bindRow sets the fields of in from the cells of a row. other are columns whose cells are not
// values of the fields with their names.
func bindRow(fields []*web.Field, in any, row csvRow, faults errs.Faults, other ...string) {
	values := map[string]any{}
	for column, cell := range row.cells {
		switch {
		case column == hashColumn || slices.Contains(other, column) ||
			strings.HasPrefix(column, web.CustomPrefix):
		case column == "sex" || column == "status":
			if cell != "" {
				values[column] = json.Number(cell)
			}
		default:
			values[column] = cell
		}
	}
	web.BindObject(fields, reflect.ValueOf(in).Elem(), values, "", &web.InputFaults{
		Malformed: faults,
		Missing:   faults,
		Invalid:   faults,
	})
}

// unique adds a fault if a previous row has the same value.
func (c *importCheck) unique(column, value string, line int, faults errs.Faults) {
	if value == "" {
		return
	}
	key := column + " " + fold.Key(value)
	if column == "email" {
		key = column + " " + fold.Address(value).Key
	}
	if first := c.lines[key]; first != 0 {
		faults.Add(column, "is the same as on line %d", first)
		return
	}
	c.lines[key] = line
}

// columnOf maps fields to columns with another name.
var columnOf = map[string]string{"dept_id": "department", "role_ids": "roles"}

// refusedRow adds an error of the store to the faults, by column. It returns internal
// errors.
func refusedRow(err error, faults errs.Faults) error {
	e := errs.Of(err)
	switch {
	case err == nil:
		return nil
	case e.Kind == errs.Internal, e.Code == store.ErrReauth.Code: // then it is not about the row
		return err
	case e.Fields == nil:
		faults.Add("row", "%s", e.Msg)
	}

	for field, text := range e.Fields {
		column := field
		if other := columnOf[field]; other != "" {
			column = other
		}
		faults.Add(column, "%s", text)
	}

	return nil
}

// refusedLine returns the error of the store about a row, by line and column.
func refusedLine(line int, err error) error {
	faults, named := errs.Faults{}, errs.Faults{}
	if err := refusedRow(err, faults); err != nil {
		return err
	}
	for column, text := range faults {
		named.AddRow(line, column, text)
	}
	return named.Err(errs.Conflict)
}

// echoed returns a cell for an error text, which monitoring stores: shortened, and masked if it may
// be a password hash in the wrong column.
func echoed(cell string) string {
	if strings.Contains(cell, "$") {
		return store.SecretMask
	}
	return web.Truncate(cell, MaxEcho)
}

// MaxEcho is the maximum number of bytes of the input that an error repeats.
const MaxEcho = 100
