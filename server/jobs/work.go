package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"reeve/store"
	"reeve/store/errs"
)

// step does the work of a step, and applies it.
func (js *Runner) step(db store.Handle, j *store.Job, id store.ID, kind Kind) error {
	var input json.RawMessage
	if kind.Work != nil {
		done, release, err := js.work(db, j, id, kind)
		if err != nil || done == nil {
			return err
		}
		defer release()
		input = done
	}
	return db.Update(store.JobActor(j), func(tx *store.Tx) error {
		return applyStep(tx, j.ID, id, kind, input)
	})
}

// work does the work of a step, unless the step is applied; then done is nil.
func (js *Runner) work(db store.Handle, j *store.Job, id store.ID, kind Kind) (done json.RawMessage, release func(), err error) {
	ctx, cancel := context.WithCancel(js.ctx)
	defer cancel()
	js.mu.Lock()
	js.working[j.ID] = cancel
	js.mu.Unlock()
	defer func() {
		js.mu.Lock()
		delete(js.working, j.ID)
		js.mu.Unlock()
	}()

	var input json.RawMessage
	err = db.View(store.System, func(tx *store.Tx) error {
		if now, err := store.Jobs.Get(tx, j.ID); err != nil || now.State != store.JobRunning {
			return errors.Join(err, errCancelled)
		}
		step, err := store.JobSteps.Get(tx, id)
		if err != nil || step.Made != nil {
			return err
		}
		input, err = step.OpenInput(tx)
		return err
	})
	if err != nil || input == nil {
		return nil, nil, err
	}
	done, release, err = kind.Work(ctx, input)
	switch {
	case err == nil:
		return done, release, nil
	case ctx.Err() != nil:
		return nil, nil, js.interrupted(j.ID)
	}
	return nil, nil, err
}

// interrupted returns why the work of a job has ended early.
func (js *Runner) interrupted(id store.ID) error {
	cancelled := false
	err := js.s.DB.View(store.System, func(tx *store.Tx) error {
		j, err := store.Jobs.Get(tx, id)
		cancelled = err == nil && j.State != store.JobRunning
		return err
	})
	if cancelled {
		return errCancelled
	}
	return cmp.Or(err, errStopped)
}

// errCancelled is the error of a step of a job that a user has cancelled.
var errCancelled = errors.New("the job was cancelled")

// Cancel ends a job that runs beside others; what its steps have done stays.
func (js *Runner) Cancel(id store.ID) error {
	err := js.s.DB.WithRecorder(nil).For("cancelling a job", nil).Update(store.System, func(tx *store.Tx) error {
		j, err := store.Jobs.Get(tx, id)
		if err != nil || j.State != store.JobRunning || js.kinds[j.Kind].Work == nil {
			return err
		}
		return store.FailJob(tx, id, errs.New(errs.Conflict, "a user has ended it"))
	})
	js.mu.Lock()
	cancel := js.working[id]
	js.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return err
}
