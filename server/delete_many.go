package server

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// deletion selects the records that a request deletes.
type deletion struct {
	selection
	DryRun store.Flag `query:"dry_run" doc:"1 to run the same checks and delete nothing"`
}

var deletionInput = describe(reflect.TypeFor[deletion](), "DELETE", reflect.TypeFor[*deleted]())

type deleted struct {
	Count int64      `json:"count,omitempty" doc:"Number of records deleted, or in a dry run that would be; absent if they were selected by ids and deleted at once"`
	Job   *store.Job `json:"job,omitempty" doc:"Job of a deletion that is too large for one transaction; it is still running if it takes longer than 30 seconds"`
}

// deletions declares a list whose records can be deleted in any number, by a job if they are many.
type deletions[T, Out any] struct {
	list  *Resource[T, Out]
	query string // permission of the list
	job   string // kind of the jobs
	// access is the permission to delete; check returns the error that a deletion would have, and one deletes a record.
	access     string
	check, one func(tx *store.Tx, id store.ID) error
	// weight returns how many records the deletion of one changes at most.
	weight func(tx *store.Tx, id store.ID) (int, error)
	// restored runs after a record was restored because the job has failed; nil for nothing.
	restored func(tx *store.Tx, id store.ID) error
}

var (
	userDeletions = deletions[store.User, *user]{
		&users, "admin.list.query", "user_delete", "admin.list.delete", store.Users.ValidateDelete, store.Users.Delete, weightOf(false), store.ForgetMissingAvatar,
	}
	appUserDeletions = deletions[store.AppUser, *appUser]{
		&appUsers, "user.list.query", "app_user_delete", "user.list.delete", store.AppUsers.ValidateDelete, store.AppUsers.Delete, weightOf(true), nil,
	}
	fileDeletions = deletions[store.File, *file]{&fileList, "file.list.query", "file_trash", "file.list.delete", mayTrash, toTrash, func(*store.Tx, store.ID) (int, error) { return 1, nil }, nil}
)

// weightOf returns the weight of users of a realm: sessions, and the hash, factors, photo and links.
func weightOf(app bool) func(tx *store.Tx, id store.ID) (int, error) {
	return func(tx *store.Tx, id store.ID) (int, error) {
		open, err := store.CountSessions(tx, store.Account{App: app, ID: id})
		return open + undoRecords, err
	}
}

func mayTrash(tx *store.Tx, id store.ID) error {
	_, err := seenFile(tx, id, false)
	return err
}

func toTrash(tx *store.Tx, id store.ID) error {
	_, err := trashFile(tx, nil, &byID{id})
	return err
}

// route returns the DELETE route of the list.
func (d *deletions[T, Out]) route(path, title string) Route {
	return named(onSelection(action("DELETE", path, d.access, title, d.delete), d.list.info()))
}

// delete deletes the selected records, all or none: at once if one transaction has room for them and
// what belongs to them, otherwise by a job.
func (d *deletions[T, Out]) delete(req *Request, in *deletion) (*deleted, error) {
	var ids []store.ID
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		if ids, err = selectIDs(tx, req, d.list, deletionInput, &in.selection, d.query); err != nil {
			return err
		}
		if i := slices.Index(ids, req.Actor.ID); i >= 0 && d.job == userDeletions.job { // after whom no other can be deleted
			ids = append(slices.Delete(ids, i, i+1), req.Actor.ID)
		}
		return d.validate(tx, req, ids)
	})
	out := &deleted{}
	if bool(in.All) || bool(in.DryRun) {
		out.Count = int64(len(ids))
	}
	if err != nil || bool(in.DryRun) || len(ids) == 0 {
		return out, err
	}
	if len(ids) <= store.MaxRecordsPerWrite {
		err := req.db.Update(req.Actor, func(tx *store.Tx) error {
			return each(tx, ids, func(id store.ID) error { return d.one(tx, id) })
		})
		if !errors.Is(err, errManyRecords) {
			return out, err
		}
	}
	steps, err := d.steps(req, ids)
	if err != nil {
		return nil, err
	}
	id, ended, err := req.startJob(d.job, steps)
	if err == nil {
		out.Job, err = req.finishedJob(id, ended)
	}
	if err == nil {
		out.Count = out.Job.Done
	}
	return out, err
}

// steps divides a deletion into the steps of a job, each with room for what belongs to its records.
func (d *deletions[T, Out]) steps(req *Request, ids []store.ID) (steps []jobStep, err error) {
	return steps, req.db.View(req.Actor, func(tx *store.Tx) error {
		var step *deletionStep
		weight := 0
		for _, id := range ids {
			heavy, err := d.weight(tx, id)
			if err != nil {
				return err
			}
			if step == nil || len(step.IDs) == jobStepRecords || weight+heavy > stepWeight {
				step, weight = &deletionStep{}, 0
				steps = append(steps, jobStep{input: step})
			}
			step.IDs, weight = append(step.IDs, id), weight+heavy
			steps[len(steps)-1].records++
		}
		return nil
	})
}

// validate returns the first error that the deletion of one of the records would have now.
func (d *deletions[T, Out]) validate(tx *store.Tx, req *Request, ids []store.ID) error {
	for _, id := range ids {
		if err := req.http.Context().Err(); err != nil {
			return errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}
		if err := d.check(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// deletionStep is the part of a deletion that one transaction makes, and what it has changed.
type deletionStep struct {
	IDs     []store.ID            `json:"ids"`
	Changes []store.TrackedChange `json:"changes,omitempty"`
}

func (d *deletions[T, Out]) apply(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var step deletionStep
	if err := json.Unmarshal(input, &step); err != nil {
		return nil, nil, err
	}
	step.Changes, err = tx.Track(func() error {
		for _, id := range step.IDs {
			if err := d.one(tx, id); err != nil && !errs.Is(err, errs.NotFound) { // it has been deleted since
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

// revert restores what a step has deleted. It is called for each record of it, and finds nothing to do
// after the first.
func (d *deletions[T, Out]) revert(tx *store.Tx, input json.RawMessage, id store.ID) error {
	var step deletionStep
	err := json.Unmarshal(input, &step)
	if err == nil {
		err = tx.Revert(step.Changes)
	}
	if err == nil && d.restored != nil {
		err = d.restored(tx, id)
	}
	return err
}

func (d *deletions[T, Out]) jobKind() jobKind { return jobKind{d.access, d.apply, d.revert} }
