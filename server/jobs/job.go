// Package jobs makes changes that are too large for one transaction. A request stores the steps
// of a job and waits; the Runner applies them for the user, with the permissions that the user
// has at each step, and undoes all of them if one is refused. It continues after a restart.
//
// Deletions declares a list whose records can be deleted in any number.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

const (
	JobStepRecords = 100 // records of one step; with those of the job itself below kv.MaxRecordsPerWrite
	undoRecords    = 10  // users deleted at once, each with a hash, sessions and tokens
	MaxJobs        = 10  // unfinished jobs; more are rejected
	MaxJobsPerUser = 4
	keptJobs       = 1000
	RetryJobs      = time.Minute // delay before a job is continued that the disk or a shutdown has interrupted
)

// Kind is a kind of job.
type Kind struct {
	Secret bool                     // whether the steps have secrets, so that they are stored encrypted
	Access string                   // permission that the user needs at every step; "" if apply checks
	Before func(tx *store.Tx) error // returns an error unless a job may begin; nil for always
	// Apply makes the changes of one step and returns the records that it created or
	// changed, and the data for undo: the input, or the input with the old values.
	Apply func(tx *store.Tx,
		input json.RawMessage) (made []store.ID, undo json.RawMessage, err error)
	Undo func(tx *store.Tx, input json.RawMessage, id store.ID) error

	// Work does what may not be done in the transaction of a step before it, such as sending bytes,
	// and returns the input of Apply. release is called after the transaction. Nil for nothing. A job
	// with Work runs beside others, because it can take hours. What its steps have done stays if it
	// fails.
	Work func(ctx context.Context, input json.RawMessage) (done json.RawMessage, release func(), err error)
}

// Runner runs at most one job at a time. In a cluster, that of the node with the duties runs the jobs of
// all nodes.
type Runner struct {
	s         *web.Server
	kinds     map[string]Kind
	Turn      chan struct{}   // contains a token while a job runs
	Lost      time.Duration   // lostAfter, except in tests
	stop      atomic.Bool     // the server is shutting down: jobs stop before their next step
	ctx       context.Context // ends the work of jobs then
	cancel    context.CancelFunc
	Running   sync.WaitGroup
	Abandoned []store.ID    // jobs that were being prepared when the process ended
	nudged    chan struct{} // holds a token while another node has changed jobs
	mu        sync.Mutex
	ended     map[store.ID]chan struct{}      // closed when the runner is done with the job
	working   map[store.ID]context.CancelFunc // ends the work of a job
	followed  map[store.ID]chan struct{}      // closed when a job has ended, see follow
	changed   chan struct{}                   // closed when jobs have changed; nil while no request waits for that
}

func NewJobs(s *web.Server, kinds map[string]Kind) *Runner {
	ctx, cancel := context.WithCancel(context.Background())
	js := &Runner{
		s:       s,
		kinds:   kinds,
		Turn:    make(chan struct{}, 1),
		Lost:    lostAfter,
		ctx:     ctx,
		cancel:  cancel,
		nudged:  make(chan struct{}, 1),
		ended:   map[store.ID]chan struct{}{},
		working: map[store.ID]context.CancelFunc{},

		followed: map[store.ID]chan struct{}{},
	}
	if s.Config.Cluster != nil {
		s.DB.OnCommit(js.note)
	}
	return js
}

// Kinds returns the names of all kinds.
func (js *Runner) Kinds() []string { return slices.Sorted(maps.Keys(js.kinds)) }

func (js *Runner) update(kind string, fn func(*store.Tx) error) error {
	if js.stopped() {
		return errStopped
	}
	return js.s.DB.WithRecorder(nil).For("job "+kind, nil).Update(store.System, fn)
}

// Run runs a job to its end. On error it must be continued later.
func (js *Runner) Run(id store.ID) error {
	var j *store.Job
	var steps []store.ID
	err := js.s.DB.View(store.System, func(tx *store.Tx) (err error) {
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

	kind, known := js.kinds[j.Kind]
	switch {
	case j.State == store.JobDone || j.State == store.JobFailed:
		return nil // it has ended in the meantime
	case !known:
		return fmt.Errorf("job %d is of the unknown kind %q", id, j.Kind)
	case j.State == store.JobPreparing: // the request that was storing its steps is gone
		err = js.fail(j.Kind, id, errGivenUp)
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
func (js *Runner) apply(j *store.Job, kind Kind, steps []store.ID) error {
	authorize := func(tx *store.Tx) error {
		if kind.Access != "" && !store.ActorOf(tx).HasPermission(tx, kind.Access) {
			return errs.New(errs.Denied, "permission %s is required", kind.Access)
		}
		return nil
	}
	db := js.s.DB.WithRecorder(nil).For("job "+j.Kind, authorize)
	for i, id := range steps {
		if js.stopped() {
			return errStopped
		}

		origin := store.Origin{
			Operation: audit.Operation{Title: "job " + j.Kind},
			JobID:     j.ID,
			Part:      i + 1,
		}
		err := js.step(db.From(&origin), j, id, kind)
		if errors.Is(err, errCancelled) {
			return nil
		}
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

// applyStep applies a step. input takes the place of the stored one, unless it is nil.
func applyStep(tx *store.Tx, job, id store.ID, kind Kind, input json.RawMessage) error {
	step, err := store.JobSteps.Get(tx, id)
	if err != nil || step.Made != nil {
		return err
	}

	if input == nil {
		if input, err = step.OpenInput(tx); err != nil {
			return err
		}
	}
	made, undo, err := kind.Apply(tx, input)
	if err != nil {
		return err
	}

	_, err = store.JobSteps.UpdateQuietly(tx, id, func(s *store.JobStep) error {
		s.Made = append([]store.ID{}, made...)
		return s.SetInput(tx, undo, kind.Secret)
	})
	if err != nil {
		return err
	}

	_, err = store.Jobs.UpdateQuietly(tx, job, func(j *store.Job) error {
		j.Done += step.Count
		return nil
	})
	return err
}

func (js *Runner) fail(kind string, id store.ID, reason error) error {
	return js.update(kind, func(tx *store.Tx) error { return store.FailJob(tx, id, reason) })
}

// finish undoes what a failed job has applied, deletes the steps and ends the job.
func (js *Runner) finish(j *store.Job, kind Kind, steps []store.ID) error {
	failed := false
	err := js.s.DB.View(store.System, func(tx *store.Tx) error {
		now, err := store.Jobs.Get(tx, j.ID)
		failed = err == nil && now.State == store.JobUndoing
		return err
	})
	if err != nil {
		return err
	}
	if failed && kind.Work == nil {
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
func (js *Runner) undo(j *store.Job, kind Kind, id store.ID) error {
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

			input, err := step.OpenInput(tx)
			if err != nil {
				return err
			}

			few := step.Made[max(0, len(step.Made)-undoRecords):]
			for _, made := range slices.Backward(few) { // what was made later can refer to what was made before
				if err := kind.Undo(tx, input, made); err != nil &&
					!errs.Is(err, errs.NotFound) {
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

			_, err = store.Jobs.UpdateQuietly(tx, j.ID, func(j *store.Job) error {
				j.Done -= step.Count
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
