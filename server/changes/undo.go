package changes

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// LogDetail is one entry of the change log, with the effects of undoing it.
type LogDetail struct {
	LogEntry
	Undo undoInfo `json:"undo"`
}

// undoInfo says whether an entry can be undone.
type undoInfo struct {
	Possible  store.Flag       `json:"possible" doc:"1 if you can undo it now, else 0"`
	Reason    string           `json:"reason,omitempty" doc:"Why not; absent if it is possible"`
	Records   int              `json:"records" doc:"Number of records that would change; of a large operation, of all its entries. 0 if you may not undo it"`
	Lost      []store.UndoLost `json:"lost" doc:"What can't come back"`
	Conflicts []UndoDifference `json:"conflicts" doc:"Fields that have changed since, so that nothing can be undone; at most 100"`
}

// UndoDifference is a field that has changed since.
type UndoDifference struct {
	Collection string          `json:"collection"`
	ID         store.ID        `json:"id"`
	Field      string          `json:"field,omitempty" doc:"Name of the field; absent if the record was deleted, or exists again"`
	Expected   json.RawMessage `json:"expected,omitempty" doc:"Value after the change"`
	Current    json.RawMessage `json:"current,omitempty" doc:"Present value; absent if the record was deleted"`
}

const maxConflicts = 100

func getLogEntry(req *web.Request, in *entryIn) (*LogDetail, error) {
	e, entry, err := readEntry(req, uint64(in.Seq))
	if err != nil {
		return nil, err
	}
	info, err := undoOf(req, e)
	return &LogDetail{*entry, info}, err
}

// undoOf plans an undo without doing it.
func undoOf(req *web.Request, e *audit.Entry) (undoInfo, error) {
	info := undoInfo{Lost: []store.UndoLost{}, Conflicts: []UndoDifference{}}
	entries, err := operationOf(req, e)
	if err != nil {
		return info, err
	}

	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		plan, err := store.PlanUndo(tx, entries)
		if err != nil {
			return err
		}

		err = web.Demand(tx, "system.audit.undo")
		if err == nil {
			err = permitUndo(tx, plan)
		}
		if err == nil {
			var conflicts []store.UndoConflict
			if conflicts, err = plan.Conflicts(tx); err == nil {
				info.Conflicts, err = differences(tx, conflicts)
			}
		}
		if err == nil {
			err = validatePlan(tx, plan)
		}
		if errs.Of(err).Code == store.ErrReauth.Code { // it is possible once the user has confirmed who it is
			err = nil
		}
		if !errs.Is(err, errs.Denied) && !errs.Is(err, errs.NotFound) {
			info.Records, info.Lost = plan.Records(), append(info.Lost, plan.Lost...)
		}

		return err
	})
	if err == nil {
		info.Possible = true
		return info, nil
	}

	known := errs.Of(err)
	if known.Kind == errs.Internal {
		return info, err
	}

	info.Reason = known.Msg.In(req.Language())
	return info, nil
}

// validatePlan returns why a plan would be refused. Of several steps, which may depend on one
// another, it finds only what the actor may not do.
func validatePlan(tx *store.Tx, plan *store.UndoPlan) error {
	for i := range plan.Steps {
		err := plan.Steps[i].Validate(tx)
		switch kind := errs.Of(err).Kind; {
		case err == nil || kind == errs.Internal:
		case kind == errs.Denied || len(plan.Steps) == 1:
			return err
		}
	}
	return nil
}

// differences returns the values that have changed since. A caller who may undo the plan may read
// the values, except those of some custom fields.
func differences(tx *store.Tx, conflicts []store.UndoConflict) (list []UndoDifference, err error) {
	list, faults := []UndoDifference{}, errs.Faults{}
	for _, c := range conflicts {
		some := []UndoDifference{{c.Collection, c.ID, c.Field, c.Expected, c.Current}}
		if realm := RealmOfCustom(c.Collection); realm != "" && c.Field == "fields" {
			if some, err = customDifferences(tx, realm, &c); err != nil {
				return list, err
			}
		}
		if len(list) < maxConflicts {
			list = append(list, some...)
		}
		addConflict(faults, &c)
	}
	return list, changedSince(faults)
}

// addConflict adds a conflict to the faults of an error. It does not quote personal values, since
// monitoring keeps errors.
func addConflict(faults errs.Faults, c *store.UndoConflict) {
	name := c.Collection + "." + c.ID.String()
	switch {
	case c.Field == "" && c.Current == nil:
		faults.Add(name, "has been deleted since")
	case c.Field == "":
		faults.Add(name, "exists again")
	case c.Personal:
		faults.Add(name+"."+c.Field, "has been changed since")
	default:
		faults.Add(name+"."+c.Field, "is now %s, and was changed to %s",
			web.Truncate(string(c.Current), 100), web.Truncate(string(c.Expected), 100))
	}
}

func changedSince(faults errs.Faults) error {
	if len(faults) == 0 {
		return nil
	}
	e := errs.New(errs.Conflict, "fields have been changed since; nothing was undone").Coded("changed_since")
	e.Fields = faults
	return e
}

// permitUndo returns an error if there is nothing to undo, or if the actor may not do what undoing
// does.
func permitUndo(tx *store.Tx, plan *store.UndoPlan) error {
	if len(plan.Steps) == 0 {
		return errNothingToUndo()
	}
	for i := range plan.Steps {
		if err := permitStep(tx, &plan.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func errNothingToUndo() error {
	return errs.New(errs.Invalid, "there is nothing that can be undone").Coded("nothing_to_undo")
}

// permitStep demands the permissions of the operation that a step amounts to, and to read the
// record.
func permitStep(tx *store.Tx, s *store.UndoStep) error {
	if s.Follows {
		return nil
	}

	subject := store.AccessOf(s.Collection)
	keys := []string{subject.Query}
	switch s.Operation {
	case "create":
		keys = append(keys, subject.Create)
		if key, grants := subject.OfField("rule_ids"); grants &&
			string(s.Fields["rule_ids"]) != "[]" {
			keys = append(keys, key)
		}
	case "delete":
		keys = append(keys, subject.Delete)
	default:
		for name := range s.Fields {
			key, _ := subject.OfField(name)
			if s.Trashes() {
				key = subject.Delete
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}

	slices.Sort(keys)
	for _, key := range keys {
		if err := web.Demand(tx, key); err != nil {
			return err
		}
	}

	return nil
}

// operationOf returns the entries of the operation that an entry belongs to, the newest first:
// those of its job, or itself.
func operationOf(req *web.Request, e *audit.Entry) (entries []*audit.Entry, err error) {
	if e.JobID == 0 {
		return []*audit.Entry{e}, nil
	}

	q := audit.Query{All: [][]string{{audit.ByJob(e.JobID)}}}
	failed := req.DB.DB.SearchLog(q, 0, func(row audit.Row) bool {
		part, fault := row.Decode()
		if err = fault; err == nil && part.Generation == e.Generation {
			entries = append(entries, &part)
		}
		return err == nil
	})
	if err == nil {
		err = failed
	}

	return entries, err
}

type Undone struct {
	Records int              `json:"records" doc:"Number of records that changed"`
	Lost    []store.UndoLost `json:"lost" doc:"What did not come back"`
	Job     *store.Job       `json:"job,omitempty" doc:"Job of an undo with many records; it is still running if it takes longer than 30 seconds"`
}

// entryUndo undoes entries, by a job if they changed many records.
type entryUndo struct {
	jobs *jobs.Runner
	one  *sync.Mutex // held while the changes of an actor are in memory
}

// undoEntry undoes an entry or, if it is part of a large operation, all of the operation.
func (u entryUndo) undoEntry(req *web.Request, in *entryIn) (*Undone, error) {
	e, _, err := readEntry(req, uint64(in.Seq))
	if err != nil {
		return nil, err
	}

	entries, err := operationOf(req, e)
	if err != nil {
		return nil, err
	}

	out := &Undone{}
	return out, u.run(req, &undoing{entries: entries, part: undoPart{Seq: e.Seq}}, out, false)
}

// maxLeft is how many records that cannot be undone a request finds by trying.
const maxLeft = 20

// run carries out an undo, by a job if it has many steps. A dry run carries out what one transaction can,
// and takes it back.
func (u entryUndo) run(req *web.Request, of *undoing, out *Undone, dry bool) error {
	var parts []jobs.Step
	tell := func(plan *store.UndoPlan) {
		out.Records, out.Lost = plan.Records(), append([]store.UndoLost{}, plan.Lost...)
	}
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		plan, err := of.plan(tx)
		if err != nil {
			return err
		}
		tell(plan)
		parts, err = partsOf(tx, of.part, plan)
		return err
	})
	if err != nil || dry && len(parts) > 1 {
		return err
	}
	if len(parts) > 1 {
		id, ended, err := u.jobs.Begin(req, UndoKind, parts)
		if err == nil {
			out.Job, err = u.jobs.Wait(req, id, ended)
		}
		return err
	}

	taken := errors.New("taken back")
	for try := 0; ; try++ {
		part := of.part
		err := req.DB.Update(req.Actor, func(tx *store.Tx) error {
			plan, err := of.plan(tx) // again: people may have been erased since
			if err != nil {
				return err
			}
			tell(plan)
			part.Steps = plan.Steps
			if _, err = part.apply(tx); err == nil && dry {
				err = taken
			}
			return err
		})
		switch kind := errs.Of(err).Kind; {
		case err == taken:
			return nil
		case of.left == nil || part.failed == nil || try == maxLeft || kind != errs.Conflict && kind != errs.Invalid:
			return err
		}
		of.left[*part.failed] = true
	}
}

// UndoKind is the kind of jobs that undo a large operation.
const UndoKind = "undo"

// partsOf divides a plan into parts that one transaction can apply.
func partsOf(tx *store.Tx, of undoPart, plan *store.UndoPlan) (parts []jobs.Step, err error) {
	empty := func() *undoPart { return &undoPart{Seq: of.Seq, All: of.All, Leave: of.Leave} }
	part, weight := empty(), 0
	for i := range plan.Steps {
		heavy, err := plan.Steps[i].Weight(tx)
		if err != nil {
			return nil, err
		}
		if len(part.Steps) > 0 &&
			(len(part.Steps) == jobs.JobStepRecords || weight+heavy > web.StepWeight) {
			parts = append(parts, jobs.Step{Records: len(part.Steps), Input: part})
			part, weight = empty(), 0
		}
		part.Steps, weight = append(part.Steps, plan.Steps[i]), weight+heavy
	}
	return append(parts, jobs.Step{Records: len(part.Steps), Input: part}), nil
}

func ApplyUndo(tx *store.Tx,
	input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var part undoPart
	if err := json.Unmarshal(input, &part); err != nil {
		return nil, nil, err
	}
	if err := web.Demand(tx, "system.audit.undo"); err != nil {
		return nil, nil, err
	}
	if part.Steps, err = part.apply(tx); err != nil {
		return nil, nil, err
	}

	for i := range part.Steps {
		made = append(made, store.ID(i+1)) // positions, since the steps are of several collections
	}

	undo, err = json.Marshal(part)
	return made, undo, err
}

// RevertUndo reverts a step that a failed job has applied. If the record cannot be as it was any
// more, it stays as it is.
func RevertUndo(tx *store.Tx, input json.RawMessage, position store.ID) error {
	var part undoPart
	if err := json.Unmarshal(input, &part); err != nil {
		return err
	}
	err := part.Steps[position-1].Apply(tx)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) {
		return nil
	}
	return err
}
