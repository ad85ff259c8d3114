package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"reeve/store"
)

// FindAbandoned finds the jobs that were being prepared when the process ended. It is
// called before requests and commands, which prepare others, are accepted.
func (js *Runner) FindAbandoned() {
	err := js.s.DB.View(store.System, func(tx *store.Tx) (err error) {
		js.Abandoned, err = store.JobsIn(tx, store.JobPreparing)
		return err
	})
	if err != nil {
		js.s.Log.Error().Err(err).Msg("looking for abandoned jobs failed")
	}
}

// Keep continues jobs that were interrupted by a restart or a full disk until ctx ends,
// then waits for the current step.
func (js *Runner) Keep(ctx context.Context) {
	defer js.Running.Wait()
	tick := time.NewTicker(RetryJobs)
	defer tick.Stop()
	for {
		for _, id := range js.Abandoned { // each time, since failing a job is a write that can fail
			js.Start(id)
		}
		if err := js.Resume(); err != nil {
			js.s.Log.Error().Err(err).Msg("continuing jobs failed")
		}
		select {
		case <-ctx.Done():
			js.stop.Store(true)
			js.cancel()
			return
		case <-tick.C:
		}
	}
}

// Resume continues every unfinished job that is not being prepared.
func (js *Runner) Resume() error {
	var ids []store.ID
	err := js.update("trimming", func(tx *store.Tx) (err error) {
		if err = store.TrimJobs(tx, keptJobs); err == nil {
			ids, err = store.JobsIn(tx, store.JobRunning, store.JobUndoing)
		}
		return err
	})
	for _, id := range ids {
		js.Start(id)
	}
	return err
}

// Unfinished returns the unfinished jobs of a kind, the oldest first.
func Unfinished(tx *store.Tx, kind string) (all []*store.Job, err error) {
	ids, err := store.JobsIn(tx, store.JobPreparing, store.JobRunning, store.JobUndoing)
	for _, id := range ids {
		var j *store.Job
		if j, err = store.Jobs.Get(tx, id); err != nil {
			return nil, err
		}
		if j.Kind == kind {
			all = append(all, j)
		}
	}
	return all, err
}

// Settle continues the unfinished jobs of a kind and waits for them, as long as a request may. Jobs
// that another request is preparing, and those that are interrupted again, remain unfinished.
func (js *Runner) Settle(ctx context.Context, kind string) error {
	ctx, cancel := context.WithTimeout(ctx, jobWait)
	defer cancel()
	var all []*store.Job
	err := js.s.DB.View(store.System, func(tx *store.Tx) (err error) {
		all, err = Unfinished(tx, kind)
		return err
	})
	for _, j := range all {
		if j.State == store.JobPreparing && !slices.Contains(js.Abandoned, j.ID) {
			continue
		}
		select {
		case <-js.Start(j.ID):
		case <-ctx.Done():
		}
	}
	return err
}

// errStopped interrupts a job, which the next start continues.
var errStopped = errors.New("the server is shutting down")
