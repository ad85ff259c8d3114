package jobs

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Step is one step of a new job.
type Step struct {
	Records int
	Input   any
}

// Begin stores a job with its steps and starts it. The channel is closed when the
// job has ended or must be continued later.
func (js *Runner) Begin(req *web.Request, kind string,
	steps []Step) (id store.ID, ended <-chan struct{}, err error) {
	j := store.Job{
		Kind:     kind,
		State:    store.JobPreparing,
		UserID:   req.Actor.ID,
		Username: req.Actor.Username,
	}
	if req.Actor.Key != nil {
		j.KeyID = req.Actor.Key.ID
	}

	for _, step := range steps {
		j.Total += int64(step.Records)
	}

	err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
		if store.ActorOf(tx).By != nil { // it would go on as the other user alone
			return store.ErrActing
		}
		if err := roomForJob(tx, req.Actor.ID); err != nil {
			return err
		}
		if before := js.kinds[kind].Before; before != nil {
			if err := before(tx); err != nil {
				return err
			}
		}
		created := j // Update may run the function again
		created.Proved = store.RequireProof(tx) == nil
		err := store.Jobs.Create(tx, &created)
		id = created.ID
		return err
	})
	if err != nil {
		return 0, nil, err
	}

	for chunk := range slices.Chunk(steps, 10) { // ten, so that no transaction writes more than a few MiB
		if err == nil {
			err = js.storeSteps(req, kind, id, chunk)
		}
	}
	if err == nil {
		err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
			_, err := store.Jobs.UpdateQuietly(tx, id, func(j *store.Job) error {
				if j.State != store.JobPreparing {
					return errGivenUp
				}
				j.State = store.JobRunning
				return nil
			})
			return err
		})
	}
	if err != nil { // nothing has been applied yet; the job ends as failed
		failing := js.s.DB.WithRecorder(nil).For("job "+kind, nil)
		err = errors.Join(err, failing.Update(store.System, func(tx *store.Tx) error { return store.FailJob(tx, id, err) }))
	}

	return id, js.Start(id), err
}

// errGivenUp is the error of a job whose steps were not all stored.
var errGivenUp = errs.New(errs.Busy, "the job was interrupted before it started; start it again")

// roomForJob returns an error if too many jobs, or too many of the user, are
// unfinished.
func roomForJob(tx *store.Tx, user store.ID) error {
	unfinished, err := store.JobsIn(tx, store.JobPreparing, store.JobRunning, store.JobUndoing)
	if err != nil {
		return err
	}
	if len(unfinished) >= MaxJobs {
		return errs.New(errs.Busy,
			"%d jobs are running or waiting; try again when one has finished", len(unfinished)).After(10 * time.Second)
	}

	theirs := 0
	for _, id := range unfinished {
		j, err := store.Jobs.Get(tx, id)
		if err != nil {
			return err
		}
		if j.UserID == user {
			theirs++
		}
	}

	if theirs >= MaxJobsPerUser {
		return errs.New(errs.TooMany,
			"%d of your jobs are running or waiting; try again when one has finished", theirs).After(10 * time.Second)
	}

	return nil
}

func (js *Runner) storeSteps(req *web.Request, kind string, job store.ID, steps []Step) error {
	inputs := make([]json.RawMessage, len(steps))
	for i, step := range steps {
		var err error
		if inputs[i], err = json.Marshal(step.Input); err != nil {
			return err
		}
	}
	return req.DB.Update(req.Actor, func(tx *store.Tx) error {
		if j, err := store.Jobs.Get(tx, job); err != nil {
			return err
		} else if j.State != store.JobPreparing {
			return errGivenUp
		}
		for i, input := range inputs {
			step := &store.JobStep{JobID: job, Count: int64(steps[i].Records)}
			if err := step.SetInput(tx, input, js.kinds[kind].Secret); err != nil {
				return err
			}
			if err := store.JobSteps.Create(tx, step); err != nil {
				return err
			}
		}
		return nil
	})
}
