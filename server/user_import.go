package server

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// importIn has each parameter twice: in the query and as a form field.
type importIn struct {
	DryRun      *store.Flag `query:"dry_run" doc:"1 to report what would happen and change nothing; also a form field"`
	Charset     *string     `query:"charset" doc:"Encoding of the file: utf-8, utf-16le, utf-16be, windows-1252 or gb18030. By default it is detected by the byte order mark or the content. Also a form field"`
	Invite      *store.Flag `query:"invite" doc:"1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Requires the permission admin.invite.create; also a form field"`
	FormInvite  *store.Flag `form:"invite" doc:"1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Requires the permission admin.invite.create; also a query parameter"`
	FormDryRun  *store.Flag `form:"dry_run" doc:"1 to report what would happen and change nothing; also a query parameter"`
	FormCharset *string     `form:"charset" doc:"Encoding of the file: utf-8, utf-16le, utf-16be, windows-1252 or gb18030. By default it is detected by the byte order mark or the content. Also a query parameter"`
}

// either returns a parameter from the query or the form; the zero value if both are absent.
func either[T comparable](name string, query, form *T) (value T, err error) {
	if query != nil && form != nil && *query != *form {
		return value, errs.Field(errs.Malformed, name, "differs between the query and the form")
	}
	if query = cmp.Or(query, form); query != nil {
		value = *query
	}
	return value, nil
}

// verdict is the result of validating one row of an import.
type verdict struct {
	Line     int               `json:"line" doc:"Line number in the file; the header is line 1"`
	Username string            `json:"username"`
	OK       bool              `json:"ok"`
	Errors   map[string]string `json:"errors,omitempty" doc:"Messages about invalid cells, by column, in the language of the request"`
	Details  map[string]reason `json:"details,omitempty" doc:"Codes and parameters of errors, by column"`
}

type importOut struct {
	DryRun  store.Flag `json:"dry_run"`
	Created int        `json:"created" doc:"Number of users created so far, 0 in a dry run; all of them once the job is done"`
	Failed  int        `json:"failed" doc:"Number of rows that cannot be imported"`
	Rows    []verdict  `json:"rows"`
	Job     *store.Job `json:"job" null:"true" doc:"Job that creates the users, null in a dry run; it is still running if it takes longer than 30 seconds"`
}

// userImport is the kind of jobs that import users.
const userImport = "user_import"

// importUsers creates users from a CSV file, all or none. They have no password until
// they accept an invitation or somebody resets it. The whole file is validated first and then applied by a job.
func importUsers(req *Request, in *importIn, file []byte) (*importOut, error) {
	dryRun, err := either("dry_run", in.DryRun, in.FormDryRun)
	if err != nil {
		return nil, err
	}
	charset, err := either("charset", in.Charset, in.FormCharset)
	if err != nil {
		return nil, err
	}
	invite, err := either("invite", in.Invite, in.FormInvite)
	if err != nil {
		return nil, err
	}
	if err := req.admitAgain(); err != nil { // before the expensive decoding and validation
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
	language, bad := req.language(), errs.Faults{}
	out := &importOut{DryRun: dryRun, Rows: make([]verdict, 0, len(table))}
	var valid []importedUser
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		check := newImportCheck(tx)
		var inviting *importInvitation
		if invite {
			if err := demand(tx, "admin.invite.create"); err != nil {
				return err
			}
			inviting = &importInvitation{Mail: req.s.mailOff(tx).Empty(), Language: req.mailLanguage()}
		}
		for _, row := range table {
			if err := req.http.Context().Err(); err != nil {
				return errs.New(errs.Malformed, "the client has disconnected").Because(err)
			}
			u, v, faults, err := check.row(row)
			if err != nil {
				return err
			}
			if !v.OK {
				out.Failed++
			}
			v.Errors, v.Details = faults.In(language), reasons(faults)
			for column, fault := range faults {
				bad.AddRow(v.Line, column, fault)
			}
			out.Rows, valid = append(out.Rows, v), append(valid, importedUser{row.line, u, inviting})
		}
		return nil
	})
	if err != nil || bool(dryRun) {
		return out, err
	}
	if out.Failed > 0 {
		return nil, bad.Err(errs.Invalid)
	}
	var steps []jobStep
	size := jobStepRecords
	if invite {
		size /= 2 // each user has an invitation and a mail
	}
	for few := range slices.Chunk(valid, size) {
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

// importedUser is a validated row in the input of a job's step.
type importedUser struct {
	Line   int               `json:"line"`
	User   store.User        `json:"user"`
	Invite *importInvitation `json:"invite,omitempty"` // nil for no invitation
}

// importInvitation is how an imported user is invited.
type importInvitation struct {
	Mail     bool   `json:"mail"` // whether it is mailed, to users who have an address
	Language string `json:"language"`
}

// invite invites an imported user.
func (i *importInvitation) invite(tx *store.Tx, u *store.User) error {
	who := store.Account{ID: u.ID}
	if i == nil || !bool(u.Status) {
		return nil
	}
	if _, err := store.Invite(tx, who); err != nil || !i.Mail || u.Email == "" {
		return err
	}
	return store.QueueMail(tx, store.Invitation, who, "", i.Language)
}

// applyUserImport creates the users of one step. The store checks its constraints again:
// since the file was validated, a name may have been taken or a role deleted.
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
				named.AddRow(in.Line, column, text)
			}
			return nil, nil, named.Err(errs.Conflict)
		}
		if err := in.Invite.invite(tx, &u); err != nil {
			return nil, nil, err
		}
		made = append(made, u.ID)
	}
	return made, input, nil
}

var userFields = describeFields(reflect.TypeFor[userIn](), "POST")

// importCheck validates rows against the database and the previous rows.
type importCheck struct {
	tx    *store.Tx
	depts map[string][]store.ID
	roles map[string]store.ID // roles looked up so far, by folded name; 0 if there is none
	lines map[string]int      // line of a value, by column and folded value
}

func newImportCheck(tx *store.Tx) *importCheck {
	return &importCheck{tx, store.PolicyCache.Get(tx).DeptPaths(store.ActorOf(tx).Scope(tx)), map[string]store.ID{}, map[string]int{}}
}

// row validates one row and returns the user that it would create. Faults of the row are
// in the verdict; an error ends the import.
func (c *importCheck) row(row csvRow) (store.User, verdict, errs.Faults, error) {
	v := verdict{Line: row.line, Username: row.cells["username"]}
	faults := errs.Faults{}
	in := new(userIn)
	bindObject(userFields, reflect.ValueOf(in).Elem(), row.values(), "", &inputFaults{malformed: faults, missing: faults, invalid: faults})
	u := store.User{Status: true}
	assignUser(in, &u)
	u.DeptID = deptAt(row.cells["department"], c.depts, faults)
	var err error
	if u.RoleIDs, err = c.rolesNamed(row.cells["roles"], faults); err != nil {
		return u, v, nil, err
	}
	c.unique("username", u.Username, row.line, faults)
	c.unique("email", u.Email, row.line, faults)
	if len(faults) == 0 {
		err = refusedRow(store.Users.Validate(c.tx, &u), faults)
	}
	v.OK = len(faults) == 0
	return u, v, faults, err
}

// values returns a row's cells as JSON values of userIn. Department and roles are left out,
// since their names are looked up.
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

// unique adds a fault if a previous row has the same value.
func (c *importCheck) unique(column, value string, line int, faults errs.Faults) {
	if value == "" {
		return
	}
	key := column + " " + store.Fold(value)
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
		faults.Add("department", "department %q not found", truncate(path, maxEcho))
	case len(found) > 1:
		faults.Add("department", "%d departments are named %q", len(found), truncate(path, maxEcho))
	default:
		return found[0]
	}
	return 0
}

// maxCellNames is the maximum number of roles in one cell.
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
			faults.Add("roles", "role %q not found", truncate(name, maxEcho))
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// role returns the ID of the role with a name; 0 for none.
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

// maxEcho is the maximum number of bytes of the input that an error repeats.
const maxEcho = 100
