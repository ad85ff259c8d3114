package people

import (
	"cmp"
	"encoding/json"
	"slices"

	"reeve/server/jobs"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// importIn has each parameter twice: in the query and as a form field.
type importIn struct {
	DryRun      *store.Flag `query:"dry_run" doc:"1 to report what would happen and change nothing; also a form field"`
	Charset     *string     `query:"charset" doc:"Encoding of the file, such as utf-8, utf-16le, windows-1251, gb18030, big5, shift_jis or euc-kr; an unknown name is answered with all of them. Required unless the file is UTF-8 or has a byte order mark, which comes first. Also a form field"`
	Invite      *store.Flag `query:"invite" doc:"1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Users with a password hash are not invited. Requires the permission admin.invite.create, or user.invite.create for app users; also a form field"`
	FormInvite  *store.Flag `form:"invite" doc:"1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Users with a password hash are not invited. Requires the permission admin.invite.create, or user.invite.create for app users; also a query parameter"`
	FormDryRun  *store.Flag `form:"dry_run" doc:"1 to report what would happen and change nothing; also a query parameter"`
	FormCharset *string     `form:"charset" doc:"Encoding of the file, such as utf-8, utf-16le, windows-1251, gb18030, big5, shift_jis or euc-kr; an unknown name is answered with all of them. Required unless the file is UTF-8 or has a byte order mark, which comes first. Also a query parameter"`
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

// importSettings are the parameters of an import.
type importSettings struct {
	dryRun, invite bool
	charset        string
}

func (in *importIn) settings() (s importSettings, err error) {
	dryRun, err := either("dry_run", in.DryRun, in.FormDryRun)
	if err != nil {
		return s, err
	}
	invite, err := either("invite", in.Invite, in.FormInvite)
	if err != nil {
		return s, err
	}
	s = importSettings{dryRun: bool(dryRun), invite: bool(invite)}
	s.charset, err = either("charset", in.Charset, in.FormCharset)
	return s, err
}

// Verdict is the result of validating one row of an import.
type Verdict struct {
	Line     int                   `json:"line" doc:"Line number in the file; the header is line 1"`
	Username string                `json:"username"`
	OK       bool                  `json:"ok"`
	Errors   map[string]string     `json:"errors,omitempty" doc:"Messages about invalid cells, by column, in the language of the request"`
	Details  map[string]web.Reason `json:"details,omitempty" doc:"Codes and parameters of errors, by column"`
}

type ImportOut struct {
	DryRun  store.Flag `json:"dry_run"`
	Created int        `json:"created" doc:"Number of users created so far, 0 in a dry run; all of them once the job is done"`
	Failed  int        `json:"failed" doc:"Number of rows that cannot be imported"`
	Rows    []Verdict  `json:"rows"`
	Job     *store.Job `json:"job" null:"true" doc:"Job that creates the users, null in a dry run; it is still running if it takes longer than 30 seconds"`
	Charset string     `json:"charset" doc:"Encoding as which the file was read"`
}

// importRoute returns the route of an import, which runs as a job.
func (r *Realm[T, Out, P]) importRoute(js *jobs.Runner) web.Route {
	return web.Upload(r.at("/list-import"), r.may("list.import"), "Import "+r.noun+"s",
		MaxImportBytes, func(req *web.Request, in *importIn, file []byte) (*ImportOut, error) {
			return r.importPeople(js, req, in, file)
		}, web.Options{
			Note: "All or nothing: if one row is invalid, no user is created, and errors has the " +
				"faults by line and column, at most 1000. With dry_run=1 it only returns a verdict " +
				"for each row. The column password_hash, for which you need the permission " +
				r.may("list.password") + ", too, has hashes of bcrypt, argon2 or scrypt that another " +
				"program has made; each is replaced when its user signs in." +
				r.only(" Users with the owner role can't have one.", ""),
		})
}

// importPeople creates users from a CSV file, all or none. Those without a password hash have no
// password until they accept an invitation or an administrator resets it. The whole file is
// validated first and then applied by a job.
func (r *Realm[T, Out, P]) importPeople(js *jobs.Runner, req *web.Request, in *importIn,
	file []byte) (*ImportOut, error) {
	settings, err := in.settings()
	if err != nil {
		return nil, err
	}
	if err := req.AdmitAgain(); err != nil { // before the expensive decoding and validation
		return nil, err
	}

	text, charset, err := decodeCSV(file, settings.charset)
	if err != nil {
		return nil, err
	}

	columns, err := r.importColumns(req)
	if err != nil {
		return nil, err
	}

	table, err := readCSV(text, columns)
	if err != nil {
		return nil, err
	}

	settings.charset = charset
	plan, err := r.plan(req, settings, table)
	if err != nil || settings.dryRun {
		return plan.out, err
	}
	if plan.out.Failed > 0 {
		return nil, plan.bad.Err(errs.Invalid)
	}

	id, ended, err := js.Begin(req, r.ImportJob, plan.steps())
	if err != nil {
		return nil, err
	}
	if plan.out.Job, err = js.Wait(req, id, ended); err != nil {
		return nil, err
	}

	plan.out.Created = int(plan.out.Job.Done)
	return plan.out, nil
}

// importColumns returns the columns that a file can have.
func (r *Realm[T, Out, P]) importColumns(req *web.Request) (columns []string, err error) {
	columns = append(slices.Clone(r.csv.columns), hashColumn)
	return columns, req.DB.View(req.Actor, func(tx *store.Tx) error {
		for _, f := range store.CustomFieldsOf(tx, r.list.Realm, web.AudienceOf(req.Actor)) {
			columns = append(columns, web.CustomPrefix+f.Key)
		}
		return nil
	})
}

// importPlan is a validated file.
type importPlan[T any] struct {
	out  *ImportOut
	bad  errs.Faults // faults of all rows
	rows []ImportedRow[T]
	size int // users whom one step creates
}

// plan validates the rows of a file.
func (r *Realm[T, Out, P]) plan(req *web.Request, settings importSettings,
	table []csvRow) (p importPlan[T], err error) {
	p = importPlan[T]{
		out: &ImportOut{
			DryRun:  store.Flag(settings.dryRun),
			Charset: settings.charset,
			Rows:    make([]Verdict, 0, len(table)),
		},
		bad:  errs.Faults{},
		size: jobs.JobStepRecords,
	}
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		if err := r.permit(tx, settings, table); err != nil {
			return err
		}

		var inviting *importInvitation
		if settings.invite {
			inviting = &importInvitation{
				Mail:     mails.MailOff(req.Server, tx).Empty(),
				Language: mails.MailLanguage(req),
			}
		}
		if settings.invite || hasHashes(table) {
			p.size /= 2 // each user has an invitation and a mail, or a hash
		}

		check := newImportCheck(tx)
		for _, row := range table {
			if err := req.HTTP.Context().Err(); err != nil {
				return errs.New(errs.Malformed, "the client has disconnected").Because(err)
			}
			faults := errs.Faults{}
			u, hash, err := r.check(check, row, faults)
			if err != nil {
				return err
			}
			in := ImportedRow[T]{Line: row.line, User: u, Hash: hash}
			if hash == nil {
				in.Invite = inviting
			}
			p.add(in, row.cells["username"], faults, req.Language())
		}

		return nil
	})
	return p, err
}

// permit checks the permissions and the proof that an import needs besides its own permission.
func (r *Realm[T, Out, P]) permit(tx *store.Tx, settings importSettings, table []csvRow) error {
	if settings.invite {
		if err := web.Demand(tx, r.may("invite.create")); err != nil {
			return err
		}
	}

	hashes := hasHashes(table)
	if hashes {
		if err := web.Demand(tx, r.may("list.password")); err != nil {
			return err
		}
	}
	if !r.app && (settings.invite || hashes) {
		return store.RequireSessionProof(tx)
	}

	return nil
}

// add adds a row with its verdict.
func (p *importPlan[T]) add(row ImportedRow[T], username string, faults errs.Faults,
	l errs.Language) {
	if len(faults) > 0 {
		p.out.Failed++
	}
	for column, fault := range faults {
		p.bad.AddRow(row.Line, column, fault)
	}
	p.out.Rows = append(p.out.Rows,
		Verdict{row.Line, username, len(faults) == 0, faults.In(l), web.Reasons(faults)})
	p.rows = append(p.rows, row)
}

func (p *importPlan[T]) steps() (steps []jobs.Step) {
	for few := range slices.Chunk(p.rows, p.size) {
		steps = append(steps, jobs.Step{Records: len(few), Input: few})
	}
	return steps
}

// ImportedRow is a validated row in the input of a job's step.
type ImportedRow[T any] struct {
	Line   int               `json:"line"`
	User   T                 `json:"user"`
	Invite *importInvitation `json:"invite,omitempty"` // nil for no invitation
	Hash   *kv.Sealed        `json:"hash,omitempty"`   // password hash; nil for none
}

// importInvitation is how an imported user is invited.
type importInvitation struct {
	Mail     bool   `json:"mail"` // whether it is mailed, to users who have an address
	Language string `json:"language"`
}

// invite invites an imported user.
func (i *importInvitation) invite(tx *store.Tx, p store.Member) error {
	if i == nil || !bool(*p.Status) {
		return nil
	}
	if _, err := store.Invite(tx, p.Account); err != nil || !i.Mail || *p.Email == "" {
		return err
	}
	return store.QueueMail(tx, store.Invitation, p.Account, "", i.Language)
}

// Apply creates the users of one step. The store checks its constraints again: since the file was
// validated, a name may have been taken or a role deleted. Once a step is applied, its rows are no
// longer needed: undoing deletes the users.
func (r *Realm[T, Out, P]) Apply(tx *store.Tx,
	input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var rows []ImportedRow[T]
	if err := json.Unmarshal(input, &rows); err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		who, err := r.createRow(tx, &row)
		if err != nil {
			return nil, nil, err
		}
		made = append(made, who)
	}
	return made, json.RawMessage("null"), nil
}

// createRow creates the user of one row.
func (r *Realm[T, Out, P]) createRow(tx *store.Tx, row *ImportedRow[T]) (store.ID, error) {
	u := row.User
	if err := r.list.Collection.Create(tx, &u); err != nil {
		return 0, refusedLine(row.Line, err)
	}

	p := P(&u).Member()
	if row.Hash != nil {
		if err := web.Demand(tx, r.may("list.password")); err != nil { // it may have been taken away since
			return 0, err
		}
		if err := store.ImportHash(tx, p.Account, *p.Username, *row.Hash); err != nil {
			return 0, refusedLine(row.Line, err)
		}
	}
	if row.Invite == nil {
		return p.ID, nil
	}
	if err := web.Demand(tx, r.may("invite.create")); err != nil {
		return 0, err
	}

	return p.ID, row.Invite.invite(tx, p)
}

// ImportKind returns the kind of the jobs that import.
func (r *Realm[T, Out, P]) ImportKind() jobs.Kind {
	return jobs.Kind{Access: r.may("list.import"), Apply: r.Apply,
		Undo: func(tx *store.Tx, _ json.RawMessage, id store.ID) error {
			return r.list.Collection.Delete(tx, id)
		}}
}
