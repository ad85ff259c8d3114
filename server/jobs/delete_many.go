package jobs

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// deletion selects the records that a request deletes.
type deletion struct {
	web.Selection
	DryRun store.Flag `query:"dry_run" doc:"1 to run the same checks and delete nothing"`
}

var deletionInput = web.Describe(reflect.TypeFor[deletion](), "DELETE", reflect.TypeFor[*Deleted]())

type Deleted struct {
	Count int64      `json:"count,omitempty" doc:"Number of records deleted, or in a dry run that would be; absent if they were selected by ids and deleted at once"`
	Job   *store.Job `json:"job,omitempty" doc:"Job of a deletion that is too large for one transaction; it is still running if it takes longer than 30 seconds"`
}

// Deletions declares a list whose records can be deleted in any number, by a job if they are many.
type Deletions[T, Out any] struct {
	List  *web.Resource[T, Out]
	Query string // permission of the list
	Job   string // kind of the jobs
	// Access is the permission to delete; check returns the error that a deletion would have, and
	// one deletes a record.
	Access     string
	Check, One func(tx *store.Tx, id store.ID) error
	// Weight returns how many records the deletion of one changes at most.
	Weight     func(tx *store.Tx, id store.ID) (int, error)
	CallerLast bool // whether the records are users, of whom the caller must be deleted last
	// Restored runs after a record was restored because the job has failed; nil for nothing.
	Restored func(tx *store.Tx, id store.ID) error
}

// WeightOf returns the weight of users of a realm: sessions, and the hash, factors, photo and
// links.
func WeightOf(app bool) func(tx *store.Tx, id store.ID) (int, error) {
	return func(tx *store.Tx, id store.ID) (int, error) {
		open, err := store.CountSessions(tx, store.Account{App: app, ID: id})
		return open + undoRecords, err
	}
}

// Route returns the DELETE route of the list.
func (d *Deletions[T, Out]) Route(js *Runner, path, title string,
	options ...web.Options) web.Route {
	handler := func(req *web.Request, in *deletion) (*Deleted, error) {
		return d.delete(js, req, in)
	}
	return web.Action("DELETE", path, d.Access, title, handler, web.Options{
		Selects: d.List.Info(),
	}).With(options...)
}

// delete deletes the selected records, all or none: at once if one transaction has room for them
// and what belongs to them, otherwise by a job.
func (d *Deletions[T, Out]) delete(js *Runner, req *web.Request, in *deletion) (*Deleted, error) {
	var ids []store.ID
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		if ids, err = web.SelectIDs(tx, req, d.List, deletionInput, &in.Selection, d.Query); err != nil {
			return err
		}
		if i := slices.Index(ids, req.Actor.ID); i >= 0 && d.CallerLast { // after whom no other can be deleted
			ids = append(slices.Delete(ids, i, i+1), req.Actor.ID)
		}
		return d.validate(tx, req, ids)
	})

	out := &Deleted{}
	if bool(in.All) || bool(in.DryRun) {
		out.Count = int64(len(ids))
	}
	if err != nil || bool(in.DryRun) || len(ids) == 0 {
		return out, err
	}
	if len(ids) <= kv.MaxRecordsPerWrite {
		err := req.DB.Update(req.Actor, func(tx *store.Tx) error {
			return web.Each(tx, ids, func(id store.ID) error { return d.One(tx, id) })
		})
		if !errors.Is(err, web.ErrManyRecords) {
			return out, err
		}
	}

	steps, err := d.steps(req, ids)
	if err != nil {
		return nil, err
	}

	id, ended, err := js.Begin(req, d.Job, steps)
	if err == nil {
		out.Job, err = js.Wait(req, id, ended)
	}
	if err == nil {
		out.Count = out.Job.Done
	}

	return out, err
}

// steps divides a deletion into the steps of a job, each with room for the dependents of its
// records.
func (d *Deletions[T, Out]) steps(req *web.Request, ids []store.ID) (steps []Step, err error) {
	return steps, req.DB.View(req.Actor, func(tx *store.Tx) error {
		var step *deletionStep
		weight := 0
		for _, id := range ids {
			heavy, err := d.Weight(tx, id)
			if err != nil {
				return err
			}
			if step == nil || len(step.IDs) == JobStepRecords || weight+heavy > web.StepWeight {
				step, weight = &deletionStep{}, 0
				steps = append(steps, Step{Input: step})
			}
			step.IDs, weight = append(step.IDs, id), weight+heavy
			steps[len(steps)-1].Records++
		}

		return nil
	})
}

// validate returns the first error that the deletion of one of the records would have now.
func (d *Deletions[T, Out]) validate(tx *store.Tx, req *web.Request, ids []store.ID) error {
	for _, id := range ids {
		if err := req.HTTP.Context().Err(); err != nil {
			return errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}
		if err := d.Check(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// deletionStep is the part of a deletion that one transaction makes, and its changes.
type deletionStep struct {
	IDs     []store.ID         `json:"ids"`
	Changes []kv.TrackedChange `json:"changes,omitempty"`
}

func (d *Deletions[T, Out]) apply(tx *store.Tx,
	input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var step deletionStep
	if err := json.Unmarshal(input, &step); err != nil {
		return nil, nil, err
	}

	step.Changes, err = tx.Track(func() error {
		for _, id := range step.IDs {
			if err := d.One(tx, id); err != nil && !errs.Is(err, errs.NotFound) { // it has been deleted since
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}

	undo, err = json.Marshal(step)
	return step.IDs, undo, err
}

// revert restores what a step has deleted. It is called for each record of it, and finds nothing to
// do after the first.
func (d *Deletions[T, Out]) revert(tx *store.Tx, input json.RawMessage, id store.ID) error {
	var step deletionStep
	err := json.Unmarshal(input, &step)
	if err == nil {
		err = tx.Revert(step.Changes)
	}
	if err == nil && d.Restored != nil {
		err = d.Restored(tx, id)
	}
	return err
}

func (d *Deletions[T, Out]) JobKind() Kind {
	return Kind{Access: d.Access, Apply: d.apply, Undo: d.revert}
}
