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
	"reeve/store/errs"
)

// Jobs apply changes that are too large for one transaction: see store.Job. A
// request stores the steps and waits; the runner applies them for the user who asked,
// with the rights that the user has at each step. It goes on when the client has
// disconnected, and after a restart.

const (
	jobStepRecords = 100 // records of one step; with those of the job itself below store.MaxRecords
	undoRecords    = 10  // users deleted at once, each with a hash, sessions and tokens
	maxJobs        = 10  // that have not ended; more are refused
	maxJobsPerUser = 4
	keptJobs       = 1000
	retryJobs      = time.Minute // until a job is continued that the disk or a shutdown has stopped
)

// jobKind is what a job does.
type jobKind struct {
	access string // the permission that the user needs at every step; "" if apply checks
	// apply makes the changes of one step and returns what it created or changed, and
	// what undo needs to know of it: the input, or the input with the old values.
	apply func(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error)
	undo  func(tx *store.Tx, input json.RawMessage, id store.ID) error
}

var jobKinds = map[string]jobKind{
	userImport: {"admin.list.import", applyUserImport, func(tx *store.Tx, _ json.RawMessage, id store.ID) error { return store.Users.Delete(tx, id) }},
	userUpdate: {"", applyUserUpdate, undoUserUpdate},
}

// jobs runs at most one job at a time.
type jobs struct {
	s       *Server
	turn    chan struct{} // holds one token while a job runs
	stop    atomic.Bool   // the program ends: jobs stop before their next step
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

// startJob stores a job with its steps and starts it. The channel is closed when it
// has ended, or has to wait to be continued.
func (req *Request) startJob(kind string, steps []jobStep) (id store.ID, ended <-chan struct{}, err error) {
	j := store.Job{Kind: kind, State: store.JobPreparing, UserID: req.Actor.ID, Username: req.Actor.Username}
	for _, step := range steps {
		j.Total += int64(step.records)
	}
	err = req.db.Update(req.Actor, func(tx *store.Tx) error {
		if err := roomForJob(tx, req.Actor.ID); err != nil {
			return err
		}
		created := j // the function may run again
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
			_, err := store.Jobs.Touch(tx, id, func(j *store.Job) error { j.State = store.JobRunning; return nil })
			return err
		})
	}
	if err != nil { // nothing is applied yet; what is left of it ends as failed
		err = errors.Join(err, req.s.jobs.fail(kind, id, err))
	}
	return id, req.s.jobs.start(id), err
}

// roomForJob refuses another job of a user while too many have not ended.
func roomForJob(tx *store.Tx, user store.ID) error {
	unfinished, err := store.JobsIn(tx, store.JobPreparing, store.JobRunning, store.JobUndoing)
	if err != nil {
		return err
	}
	if len(unfinished) >= maxJobs {
		return errs.New(errs.Busy, "%d jobs are running or waiting; try again when one has ended", len(unfinished)).After(10 * time.Second)
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
		return errs.New(errs.TooMany, "%d jobs of yours are running or waiting; try again when one has ended", theirs).After(10 * time.Second)
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

// start runs a job in the background, unless it is already running.
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

// abandoned returns the jobs that were still being prepared when the program ended.
// It is called before requests, which prepare others, are accepted.
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

// keep continues the jobs that were interrupted, by a restart or a full disk, until
// ctx ends, and then waits for the step that is being applied.
func (js *jobs) keep(ctx context.Context, abandoned []store.ID) {
	defer js.running.Wait()
	tick := time.NewTicker(retryJobs)
	defer tick.Stop()
	for {
		for _, id := range abandoned { // again each time: failing one takes a write, which may have failed
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

// resume continues every job that is not being prepared and has not ended.
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

// errStopped ends the running of a job, which the next start continues.
var errStopped = errors.New("the server is shutting down")

func (js *jobs) update(kind string, fn func(*store.Tx) error) error {
	if js.stop.Load() {
		return errStopped
	}
	return js.s.db.Watched(nil).For("job "+kind, nil).Update(store.System, fn)
}

// run takes a job to its end. An error means that it has to be continued later.
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
		return nil // it has ended and been trimmed since it was found
	}
	if err != nil {
		return err
	}
	kind, known := jobKinds[j.Kind]
	switch {
	case j.State == store.JobDone || j.State == store.JobFailed:
		return nil // it has ended since it was found
	case !known:
		return fmt.Errorf("job %d is of the unknown kind %q", id, j.Kind)
	case j.State == store.JobPreparing: // the request that was storing its steps is gone
		err = js.fail(j.Kind, id, errs.New(errs.Busy, "the job was interrupted before it began; start it again"))
	case j.State == store.JobRunning:
		err = js.apply(j, kind, steps)
	}
	if err != nil {
		return err
	}
	return js.finish(j, kind, steps)
}

// apply applies the steps that are left. A step that is refused fails the job; any
// other error, such as a full disk, leaves it as it is.
func (js *jobs) apply(j *store.Job, kind jobKind, steps []store.ID) error {
	authorize := func(tx *store.Tx) error {
		if kind.access != "" && !tx.Actor().May(tx, kind.access) {
			return errs.New(errs.Denied, "the permission %s is missing", kind.access)
		}
		return nil
	}
	db := js.s.db.Watched(nil).For("job "+j.Kind, authorize)
	for _, id := range steps {
		if js.stop.Load() {
			return errStopped
		}
		err := db.Update(store.JobActor(j), func(tx *store.Tx) error { return applyStep(tx, j.ID, id, kind) })
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
	_, err = store.JobSteps.Touch(tx, id, func(s *store.JobStep) error {
		s.Made, s.Input = append([]store.ID{}, made...), undo
		return nil
	})
	if err != nil {
		return err
	}
	_, err = store.Jobs.Touch(tx, job, func(j *store.Job) error { j.Done += step.Count; return nil })
	return err
}

func (js *jobs) fail(kind string, id store.ID, reason error) error {
	return js.update(kind, func(tx *store.Tx) error { return store.FailJob(tx, id, reason) })
}

// finish undoes what a failed job has applied, drops the steps and ends the job.
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
		_, err := store.Jobs.Touch(tx, j.ID, func(j *store.Job) error {
			j.State, j.EndedAt = store.JobDone, tx.Now()
			if failed {
				j.State = store.JobFailed
			}
			return nil
		})
		return err
	})
}

// undo reverts one step, a few records at a time. Records that were deleted since are
// skipped.
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
			step, err = store.JobSteps.Touch(tx, id, func(s *store.JobStep) error {
				if s.Made = s.Made[:left]; left == 0 {
					s.Made = nil
				}
				return nil
			})
			if err != nil || left > 0 {
				return err
			}
			_, err = store.Jobs.Touch(tx, j.ID, func(j *store.Job) error { j.Done -= step.Count; return nil })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
