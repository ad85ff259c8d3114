package server

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// userCSV are the columns of an export, and those that an import can have.
var userCSV = []string{"username", "nickname", "email", "mobile", "sex", "department", "roles", "status"}

const (
	maxImportRows  = 10_000
	maxImportBytes = 8 << 20
)

// roleEscape keeps a semicolon in a role's name apart from those between names.
var roleEscape = strings.NewReplacer(`\`, `\\`, `;`, `\;`)

// formulaStart are the characters with which a spreadsheet takes a cell for a formula.
const formulaStart = "=+-@\t\r"

// safeCell puts an apostrophe before what a spreadsheet would compute.
func safeCell(cell string) string {
	if cell != "" && strings.ContainsRune(formulaStart+"'", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// plainCell undoes safeCell.
func plainCell(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsRune(formulaStart+"'", rune(cell[1])) {
		return cell[1:]
	}
	return cell
}

type importIn struct {
	DryRun store.Flag `query:"dry_run" doc:"1 tells what would happen and changes nothing"`
}

// verdict is what becomes of one row of an import.
type verdict struct {
	Line     int               `json:"line" doc:"in the file, the header being 1"`
	Username string            `json:"username"`
	OK       bool              `json:"ok"`
	Errors   map[string]string `json:"errors,omitempty" doc:"what is wrong, by column"`
}

type importOut struct {
	DryRun  store.Flag `json:"dry_run"`
	Created int        `json:"created" doc:"users that were made; 0 in a dry run"`
	Failed  int        `json:"failed" doc:"rows that cannot be imported"`
	Rows    []verdict  `json:"rows"`
}

// errRollback ends a write that is not to be kept.
var errRollback = errors.New("not to be kept")

// importUsers makes users of a CSV file, all or none. They have no password yet: a
// reset gives one.
func importUsers(req *Request, in *importIn, file io.Reader) (*importOut, error) {
	table, err := readUserCSV(file)
	if err == nil {
		err = req.admitAgain() // before the work of validating
	}
	if err != nil {
		return nil, err
	}
	var out *importOut
	err = req.db.Update(req.Actor, func(tx *store.Tx) error {
		out = &importOut{DryRun: in.DryRun, Rows: []verdict{}}
		paths := store.RuleBook.Get(tx).DeptPaths(tx.Actor().Scope(tx))
		for _, row := range table {
			v, err := importRow(tx, row, paths)
			if err != nil {
				return err
			}
			out.Rows = append(out.Rows, v)
			if !v.OK {
				out.Failed++
			}
		}
		if out.Failed > 0 || bool(in.DryRun) {
			return errRollback
		}
		out.Created = len(table)
		return nil
	})
	switch {
	case errors.Is(err, errRollback) && !bool(in.DryRun):
		return nil, importFaults(out)
	case errors.Is(err, errRollback):
		return out, nil
	}
	return out, err
}

// importFaults names every row that cannot be imported.
func importFaults(out *importOut) error {
	faults := errs.Faults{}
	for _, v := range out.Rows {
		for column, text := range v.Errors {
			faults.Add(fmt.Sprintf("line %d %s", v.Line, column), "%s", text)
		}
	}
	return faults.Err(errs.Invalid)
}

// csvRow is one row by column.
type csvRow struct {
	line  int
	cells map[string]string
}

// readUserCSV reads the rows; the header says which columns there are, in any order.
func readUserCSV(file io.Reader) ([]csvRow, error) {
	buffered := bufio.NewReader(file)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		buffered.Discard(3) // just peeked
	}
	reader := csv.NewReader(buffered)
	header, err := reader.Read()
	if err != nil {
		return nil, csvFault(err)
	}
	for i, name := range header {
		header[i] = store.Fold(name)
		if !slices.Contains(userCSV, header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: %q is not a column; they are %s", name, strings.Join(userCSV, ", "))
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: the column %s is there twice", header[i])
		}
	}
	if !slices.Contains(header, "username") {
		return nil, errs.Field(errs.Invalid, "file", "line 1: the column username is missing")
	}
	var rows []csvRow
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, csvFault(err)
		}
		if len(rows) == maxImportRows {
			return nil, errs.Field(errs.Invalid, "file", "has more than %d rows", maxImportRows)
		}
		line, _ := reader.FieldPos(0)
		row := csvRow{line, map[string]string{}}
		for i, cell := range record {
			row.cells[header[i]] = plainCell(strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
}

func csvFault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errs.Field(errs.Invalid, "file", "is empty")
	case errors.As(err, &parse):
		return errs.Field(errs.Invalid, "file", "line %d: %s", parse.Line, parse.Err)
	}
	return uploadFault(err)
}

var userFields = describeFields(reflect.TypeFor[userIn](), "POST")

// importRow tries to make one user. What is wrong with the row is in the verdict;
// an error ends the import.
func importRow(tx *store.Tx, row csvRow, paths map[string][]store.ID) (verdict, error) {
	v := verdict{Line: row.line, Username: row.cells["username"]}
	faults := errs.Faults{}
	values := map[string]any{}
	for column, cell := range row.cells {
		switch {
		case column == "department" || column == "roles":
		case column == "sex" || column == "status":
			if cell != "" {
				values[column] = json.Number(cell)
			}
		default:
			values[column] = cell
		}
	}
	in := new(userIn)
	bindObject(userFields, reflect.ValueOf(in).Elem(), values, "", faults, faults)
	u := &store.User{Status: true}
	in.apply(u)
	u.DeptID = deptAt(row.cells["department"], paths, faults)
	var err error
	if u.RoleIDs, err = rolesNamed(tx, row.cells["roles"], faults); err != nil {
		return v, err
	}
	if len(faults) == 0 {
		if err := refusedRow(store.Users.Create(tx, u), faults); err != nil {
			return v, err
		}
	}
	v.OK, v.Errors = len(faults) == 0, faults
	return v, nil
}

// columnOf are the columns that are not called like the field they fill.
var columnOf = map[string]string{"dept_id": "department", "role_ids": "roles"}

// refusedRow tells a refusal by column; any other error comes back.
func refusedRow(err error, faults errs.Faults) error {
	e := errs.Of(err)
	switch {
	case err == nil:
		return nil
	case e.Kind == errs.Internal:
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

func deptAt(path string, paths map[string][]store.ID, faults errs.Faults) store.ID {
	found := paths[store.Fold(path)]
	switch {
	case path == "":
	case len(found) == 0:
		faults.Add("department", "there is no department %q", path)
	case len(found) > 1:
		faults.Add("department", "%d departments are called %q", len(found), path)
	default:
		return found[0]
	}
	return 0
}

func rolesNamed(tx *store.Tx, names string, faults errs.Faults) (ids []store.ID, err error) {
	for _, name := range splitRoles(names) {
		if name == "" {
			continue
		}
		r, err := store.RoleByName.Get(tx, store.Fold(name))
		if errs.Is(err, errs.NotFound) {
			faults.Add("roles", "there is no role %q", name)
			continue
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// splitRoles splits at semicolons that have no backslash before them.
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
