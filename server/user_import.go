package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// importIn takes its parameters in the query or as form fields.
type importIn struct {
	DryRun      *store.Flag `query:"dry_run" doc:"1 reports what would happen and changes nothing; also a form field"`
	Charset     *string     `query:"charset" doc:"utf-8, utf-16le, utf-16be, windows-1252 or gb18030; when absent, a byte order mark or the content decides. Also a form field"`
	FormDryRun  *store.Flag `form:"dry_run" doc:"1 reports what would happen and changes nothing; also a parameter of the query"`
	FormCharset *string     `form:"charset" doc:"utf-8, utf-16le, utf-16be, windows-1252 or gb18030; when absent, a byte order mark or the content decides. Also a parameter of the query"`
}

// either returns what is given in the query or in the form, the zero value for neither.
func either[T comparable](name string, query, form *T) (value T, err error) {
	if query != nil && form != nil && *query != *form {
		return value, errs.Field(errs.Malformed, name, "is given in the query and in the form, which differ")
	}
	if query = cmp.Or(query, form); query != nil {
		value = *query
	}
	return value, nil
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
	Created int        `json:"created" doc:"Users created so far, 0 in a dry run; all of them once the job is done"`
	Failed  int        `json:"failed" doc:"Rows that cannot be imported"`
	Rows    []verdict  `json:"rows"`
	Job     *store.Job `json:"job" null:"true" doc:"The job that creates the users; null in a dry run. It is still running if it takes longer than half a minute"`
}

// userImport is the kind of the jobs that import users.
const userImport = "user_import"

// importUsers creates users from a CSV file, all or none. They have no password yet: a
// reset gives one. The whole file is validated before anything is written, and then
// applied as a job.
func importUsers(req *Request, in *importIn, file []byte) (*importOut, error) {
	dryRun, err := either("dry_run", in.DryRun, in.FormDryRun)
	if err != nil {
		return nil, err
	}
	charset, err := either("charset", in.Charset, in.FormCharset)
	if err != nil {
		return nil, err
	}
	if err := req.admitAgain(); err != nil { // before the work of decoding and validating
		return nil, err
	}
	text, err := decodeCSV(file, charset)
	if err != nil {
		return nil, err
	}
	table, err := readUserCSV(text)
	if err != nil {
		return nil, err
	}
	out := &importOut{DryRun: dryRun, Rows: make([]verdict, 0, len(table))}
	var valid []importedUser
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		check := newImportCheck(tx)
		for _, row := range table {
			if err := req.http.Context().Err(); err != nil {
				return errs.New(errs.Malformed, "the client has disconnected").Because(err)
			}
			u, v, err := check.row(row)
			if err != nil {
				return err
			}
			if !v.OK {
				out.Failed++
			}
			out.Rows, valid = append(out.Rows, v), append(valid, importedUser{row.line, u})
		}
		return nil
	})
	if err != nil || bool(dryRun) {
		return out, err
	}
	if out.Failed > 0 {
		return nil, importFaults(out)
	}
	var steps []jobStep
	for few := range slices.Chunk(valid, jobStepRecords) {
		steps = append(steps, jobStep{len(few), few})
	}
	id, ended, err := req.startJob(userImport, steps)
	if err != nil {
		return nil, err
	}
	if out.Job, err = req.finishedJob(id, ended); err != nil {
		return nil, err
	}
	out.Created = int(out.Job.Done)
	return out, nil
}

// importedUser is a validated row, as the job's steps hold it.
type importedUser struct {
	Line int        `json:"line"`
	User store.User `json:"user"`
}

// applyUserImport creates the users of one step. The rules are checked again: since
// the file was validated, a name may have been taken or a role deleted.
func applyUserImport(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var users []importedUser
	if err := json.Unmarshal(input, &users); err != nil {
		return nil, nil, err
	}
	for _, in := range users {
		u := in.User
		if err := store.Users.Create(tx, &u); err != nil {
			faults := errs.Faults{}
			if err := refusedRow(err, faults); err != nil {
				return nil, nil, err
			}
			named := errs.Faults{}
			for column, text := range faults {
				named.Add(fmt.Sprintf("line %d %s", in.Line, column), "%s", text)
			}
			return nil, nil, named.Err(errs.Conflict)
		}
		made = append(made, u.ID)
	}
	return made, input, nil
}

// maxImportFaults bounds the faults that are answered, one or two for each row.
const maxImportFaults = 1000

// importFaults names the rows that cannot be imported.
func importFaults(out *importOut) error {
	faults := errs.Faults{}
	for _, v := range out.Rows {
		for column, text := range v.Errors {
			if len(faults) < maxImportFaults {
				faults.Add(fmt.Sprintf("line %d %s", v.Line, column), "%s", text)
			}
		}
	}
	return faults.Err(errs.Invalid)
}

var userFields = describeFields(reflect.TypeFor[userIn](), "POST")

// importCheck validates rows against the database and against the rows before.
type importCheck struct {
	tx    *store.Tx
	depts map[string][]store.ID
	roles map[string]store.ID // by folded name, as far as they were looked up; 0 for none
	lines map[string]int      // by column and folded value: the line that has it
}

func newImportCheck(tx *store.Tx) *importCheck {
	return &importCheck{tx, store.RuleBook.Get(tx).DeptPaths(tx.Actor().Scope(tx)), map[string]store.ID{}, map[string]int{}}
}

// row validates one row and returns the user that it would create. What is wrong is
// in the verdict; an error ends the import.
func (c *importCheck) row(row csvRow) (store.User, verdict, error) {
	v := verdict{Line: row.line, Username: row.cells["username"]}
	faults := errs.Faults{}
	in := new(userIn)
	bindObject(userFields, reflect.ValueOf(in).Elem(), row.values(), "", &inputFaults{faults, faults, faults})
	u := store.User{Status: true}
	in.apply(&u)
	u.DeptID = deptAt(row.cells["department"], c.depts, faults)
	var err error
	if u.RoleIDs, err = c.rolesNamed(row.cells["roles"], faults); err != nil {
		return u, v, err
	}
	c.unique("username", u.Username, row.line, faults)
	c.unique("email", u.Email, row.line, faults)
	if len(faults) == 0 {
		err = refusedRow(store.Users.Allowed(c.tx, &u), faults)
	}
	v.OK, v.Errors = len(faults) == 0, faults
	return u, v, err
}

// values are a row's cells as the fields of a user; the references are looked up.
func (row csvRow) values() map[string]any {
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
	return values
}

// unique refuses a value that a row before has.
func (c *importCheck) unique(column, value string, line int, faults errs.Faults) {
	if value == "" {
		return
	}
	key := column + " " + store.Fold(value)
	if first := c.lines[key]; first != 0 {
		faults.Add(column, "is the same as in line %d", first)
		return
	}
	c.lines[key] = line
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
		faults.Add("department", "there is no department %q", truncate(path, maxEcho))
	case len(found) > 1:
		faults.Add("department", "%d departments are called %q", len(found), truncate(path, maxEcho))
	default:
		return found[0]
	}
	return 0
}

// maxCellNames is how many roles one cell may name.
const maxCellNames = 100

func (c *importCheck) rolesNamed(names string, faults errs.Faults) (ids []store.ID, err error) {
	all := splitRoles(names)
	if len(all) > maxCellNames {
		faults.Add("roles", "must name at most %d roles", maxCellNames)
		return nil, nil
	}
	for _, name := range all {
		if name == "" {
			continue
		}
		id, err := c.role(name)
		if err != nil {
			return nil, err
		}
		if id == 0 {
			faults.Add("roles", "there is no role %q", truncate(name, maxEcho))
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// role returns the id of the role with a name; 0 for none.
func (c *importCheck) role(name string) (store.ID, error) {
	key := store.Fold(name)
	id, known := c.roles[key]
	if known {
		return id, nil
	}
	r, err := store.RoleByName.Get(c.tx, key)
	if err == nil {
		id = r.ID
	} else if !errs.Is(err, errs.NotFound) {
		return 0, err
	}
	c.roles[key] = id
	return id, nil
}

// maxEcho is how many bytes of what a client sent an error repeats.
const maxEcho = 100
