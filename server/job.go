package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// Jobs apply changes that are too large for one transaction: see store.Job. A request
// stores the steps and waits; the runner applies them for the user, with the
// permissions that the user has at each step. It continues when the client has
// disconnected, and after a restart.

const (
	jobStepRecords = 100 // records of one step; with those of the job itself below store.MaxRecordsPerWrite
	undoRecords    = 10  // users deleted at once, each with a hash, sessions and tokens
	maxJobs        = 10  // unfinished jobs; more are rejected
	maxJobsPerUser = 4
	keptJobs       = 1000
	retryJobs      = time.Minute // delay before a job is continued that the disk or a shutdown has interrupted
)

// jobKind is a kind of job.
type jobKind struct {
	access string // permission that the user needs at every step; "" if apply checks
	// apply makes the changes of one step and returns the records that it created or
	// changed, and the data for undo: the input, or the input with the old values.
	apply func(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error)
	undo  func(tx *store.Tx, input json.RawMessage, id store.ID) error
}

var jobKinds = map[string]jobKind{
	userCSV.job:    userCSV.jobKind(),
	appUserCSV.job: appUserCSV.jobKind(),
	userUpdate:     {"", applyUserUpdate, undoUserUpdate},
	undoKind:       {"", applyUndo, revertUndo},

	userDeletions.job:    userDeletions.jobKind(),
	appUserDeletions.job: appUserDeletions.jobKind(),
	fileDeletions.job:    fileDeletions.jobKind(),
}

// jobs runs at most one job at a time.
type jobs struct {
	s       *Server
	turn    chan struct{} // contains a token while a job runs
	stop    atomic.Bool   // the server is shutting down: jobs stop before their next step
	running sync.WaitGroup
	mu      sync.Mutex
	ended   map[store.ID]chan struct{} // closed when the runner is done with the job
}

func newJobs(s *Server) *jobs {
	return &jobs{s: s, turn: make(chan struct{}, 1), ended: map[store.ID]chan struct{}{}}
}

// jobStep is one step of a new job.
type jobStep struct {
	records int
	input   any
}

// startJob stores a job with its steps and starts it. The channel is closed when the
// job has ended or must be continued later.
func (req *Request) startJob(kind string, steps []jobStep) (id store.ID, ended <-chan struct{}, err error) {
	j := store.Job{Kind: kind, State: store.JobPreparing, UserID: req.Actor.ID, Username: req.Actor.Username}
	if req.Actor.Key != nil {
		j.KeyID = req.Actor.Key.ID
	}
	for _, step := range steps {
		j.Total += int64(step.records)
	}
	err = req.db.Update(req.Actor, func(tx *store.Tx) error {
		if store.ActorOf(tx).By != nil { // it would go on as the other user alone
			return store.ErrActing
		}
		if err := roomForJob(tx, req.Actor.ID); err != nil {
			return err
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
			err = req.storeSteps(id, chunk)
		}
	}
	if err == nil {
		err = req.db.Update(req.Actor, func(tx *store.Tx) error {
			_, err := store.Jobs.UpdateQuietly(tx, id, func(j *store.Job) error { j.State = store.JobRunning; return nil })
			return err
		})
	}
	if err != nil { // nothing has been applied yet; the job ends as failed
		err = errors.Join(err, req.s.jobs.fail(kind, id, err))
	}
	return id, req.s.jobs.start(id), err
}

// roomForJob returns an error if too many jobs, or too many of the user, are
// unfinished.
func roomForJob(tx *store.Tx, user store.ID) error {
	unfinished, err := store.JobsIn(tx, store.JobPreparing, store.JobRunning, store.JobUndoing)
	if err != nil {
		return err
	}
	if len(unfinished) >= maxJobs {
		return errs.New(errs.Busy, "%d jobs are running or waiting; try again when one has finished", len(unfinished)).After(10 * time.Second)
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
	if theirs >= maxJobsPerUser {
		return errs.New(errs.TooMany, "%d of your jobs are running or waiting; try again when one has finished", theirs).After(10 * time.Second)
	}
	return nil
}

func (req *Request) storeSteps(job store.ID, steps []jobStep) error {
	inputs := make([]json.RawMessage, len(steps))
	for i, step := range steps {
		var err error
		if inputs[i], err = json.Marshal(step.input); err != nil {
			return err
		}
	}
	return req.db.Update(req.Actor, func(tx *store.Tx) error {
		for i, input := range inputs {
			if err := store.JobSteps.Create(tx, &store.JobStep{JobID: job, Input: input, Count: int64(steps[i].records)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// start runs a job in the background unless it is already running.
func (js *jobs) start(id store.ID) <-chan struct{} {
	js.mu.Lock()
	defer js.mu.Unlock()
	if ended := js.ended[id]; ended != nil {
		return ended
	}
	ended := make(chan struct{})
	js.ended[id] = ended
	js.running.Go(func() {
		js.turn <- struct{}{}
		err := js.run(id)
		<-js.turn
		if err != nil && !errors.Is(err, errStopped) {
			js.s.log.Error().Err(err).Stringer("job", id).Msg("a job was interrupted and will be continued")
		}
		js.mu.Lock()
		delete(js.ended, id)
		js.mu.Unlock()
		close(ended)
	})
	return ended
}

// abandoned returns the jobs that were being prepared when the process ended. It is
// called before requests, which prepare others, are accepted.
func (js *jobs) abandoned() (ids []store.ID) {
	err := js.s.db.View(store.System, func(tx *store.Tx) (err error) {
		ids, err = store.JobsIn(tx, store.JobPreparing)
		return err
	})
	if err != nil {
		js.s.log.Error().Err(err).Msg("looking for abandoned jobs failed")
	}
	return ids
}

// keep continues jobs that were interrupted by a restart or a full disk until ctx ends,
// then waits for the current step.
func (js *jobs) keep(ctx context.Context, abandoned []store.ID) {
	defer js.running.Wait()
	tick := time.NewTicker(retryJobs)
	defer tick.Stop()
	for {
		for _, id := range abandoned { // each time, since failing a job is a write that can fail
			js.start(id)
		}
		if err := js.resume(); err != nil {
			js.s.log.Error().Err(err).Msg("continuing jobs failed")
		}
		select {
		case <-ctx.Done():
			js.stop.Store(true)
			return
		case <-tick.C:
		}
	}
}

// resume continues every unfinished job that is not being prepared.
func (js *jobs) resume() error {
	var ids []store.ID
	err := js.update("trimming", func(tx *store.Tx) (err error) {
		if err = store.TrimJobs(tx, keptJobs); err == nil {
			ids, err = store.JobsIn(tx, store.JobRunning, store.JobUndoing)
		}
		return err
	})
	for _, id := range ids {
		js.start(id)
	}
	return err
}

// errStopped interrupts a job, which the next start continues.
var errStopped = errors.New("the server is shutting down")

func (js *jobs) update(kind string, fn func(*store.Tx) error) error {
	if js.stop.Load() {
		return errStopped
	}
	return js.s.db.WithRecorder(nil).For("job "+kind, nil).Update(store.System, fn)
}

// run runs a job to its end. On error it must be continued later.
func (js *jobs) run(id store.ID) error {
	var j *store.Job
	var steps []store.ID
	err := js.s.db.View(store.System, func(tx *store.Tx) (err error) {
		if j, err = store.Jobs.Get(tx, id); err == nil {
			steps, err = store.StepByJob.IDs(tx, id)
		}
		return err
	})
	if errs.Is(err, errs.NotFound) {
		return nil // it has ended and been trimmed in the meantime
	}
	if err != nil {
		return err
	}
	kind, known := jobKinds[j.Kind]
	switch {
	case j.State == store.JobDone || j.State == store.JobFailed:
		return nil // it has ended in the meantime
	case !known:
		return fmt.Errorf("job %d is of the unknown kind %q", id, j.Kind)
	case j.State == store.JobPreparing: // the request that was storing its steps is gone
		err = js.fail(j.Kind, id, errs.New(errs.Busy, "the job was interrupted before it started; start it again"))
	case j.State == store.JobRunning:
		err = js.apply(j, kind, steps)
	}
	if err != nil {
		return err
	}
	return js.finish(j, kind, steps)
}

// apply applies the remaining steps. A rejected step fails the job; any other error,
// such as a full disk, leaves it unchanged.
func (js *jobs) apply(j *store.Job, kind jobKind, steps []store.ID) error {
	authorize := func(tx *store.Tx) error {
		if kind.access != "" && !store.ActorOf(tx).HasPermission(tx, kind.access) {
			return errs.New(errs.Denied, "permission %s is required", kind.access)
		}
		return nil
	}
	db := js.s.db.WithRecorder(nil).For("job "+j.Kind, authorize)
	for i, id := range steps {
		if js.stop.Load() {
			return errStopped
		}
		origin := store.Origin{Operation: audit.Operation{Title: "job " + j.Kind}, JobID: j.ID, Part: i + 1}
		err := db.From(&origin).Update(store.JobActor(j), func(tx *store.Tx) error { return applyStep(tx, j.ID, id, kind) })
		switch errs.Of(err).Kind {
		case errs.Internal, errs.Busy, errs.Full:
			if err != nil {
				return err
			}
		default:
			return js.fail(j.Kind, j.ID, err)
		}
	}
	return nil
}

func applyStep(tx *store.Tx, job, id store.ID, kind jobKind) error {
	step, err := store.JobSteps.Get(tx, id)
	if err != nil || step.Made != nil {
		return err
	}
	made, undo, err := kind.apply(tx, step.Input)
	if err != nil {
		return err
	}
	_, err = store.JobSteps.UpdateQuietly(tx, id, func(s *store.JobStep) error {
		s.Made, s.Input = append([]store.ID{}, made...), undo
		return nil
	})
	if err != nil {
		return err
	}
	_, err = store.Jobs.UpdateQuietly(tx, job, func(j *store.Job) error { j.Done += step.Count; return nil })
	return err
}

func (js *jobs) fail(kind string, id store.ID, reason error) error {
	return js.update(kind, func(tx *store.Tx) error { return store.FailJob(tx, id, reason) })
}

// finish undoes what a failed job has applied, deletes the steps and ends the job.
func (js *jobs) finish(j *store.Job, kind jobKind, steps []store.ID) error {
	failed := false
	err := js.s.db.View(store.System, func(tx *store.Tx) error {
		now, err := store.Jobs.Get(tx, j.ID)
		failed = err == nil && now.State == store.JobUndoing
		return err
	})
	if err != nil {
		return err
	}
	if failed {
		for _, id := range slices.Backward(steps) {
			if err := js.undo(j, kind, id); err != nil {
				return err
			}
		}
	}
	for more := true; more; {
		err := js.update(j.Kind, func(tx *store.Tx) (err error) {
			more, err = store.DropSteps(tx, j.ID)
			return err
		})
		if err != nil {
			return err
		}
	}
	return js.update(j.Kind, func(tx *store.Tx) error {
		_, err := store.Jobs.UpdateQuietly(tx, j.ID, func(j *store.Job) error {
			j.State, j.EndedAt = store.JobDone, tx.Now()
			if failed {
				j.State = store.JobFailed
			}
			return nil
		})
		return err
	})
}

// undo reverts one step, a few records at a time. It skips records that have been
// deleted since.
func (js *jobs) undo(j *store.Job, kind jobKind, id store.ID) error {
	for left := 1; left > 0; {
		err := js.update(j.Kind, func(tx *store.Tx) error {
			left = 0
			step, err := store.JobSteps.Get(tx, id)
			if errs.Is(err, errs.NotFound) || err == nil && step.Made == nil {
				return nil
			}
			if err != nil {
				return err
			}
			few := step.Made[max(0, len(step.Made)-undoRecords):]
			for _, made := range few {
				if err := kind.undo(tx, step.Input, made); err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
			}
			left = len(step.Made) - len(few)
			step, err = store.JobSteps.UpdateQuietly(tx, id, func(s *store.JobStep) error {
				if s.Made = s.Made[:left]; left == 0 {
					s.Made = nil
				}
				return nil
			})
			if err != nil || left > 0 {
				return err
			}
			_, err = store.Jobs.UpdateQuietly(tx, j.ID, func(j *store.Job) error { j.Done -= step.Count; return nil })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
