package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"reeve/store"
)

// FindAbandoned finds the jobs that were being prepared when the process ended. It is called before
// requests and commands, which prepare others, are accepted. In a cluster, jobs of other nodes are among
// them: see lost.
func (js *Runner) FindAbandoned() {
	if js.s.Config.Cluster != nil {
		return
	}
	err := js.s.DB.View(store.System, func(tx *store.Tx) (err error) {
		js.Abandoned, err = store.JobsIn(tx, store.JobPreparing)
		return err
	})
	if err != nil {
		js.s.Log.Error().Err(err).Msg("looking for abandoned jobs failed")
	}
}

const (
	dutyStep  = time.Second      // how often a node looks whether it has the duties
	lostAfter = 10 * time.Minute // since the last step that was stored of a job in preparation
)

// Keep continues jobs that were interrupted by a restart or a full disk, or that other nodes have begun,
// until ctx ends, then waits for the current step.
func (js *Runner) Keep(ctx context.Context) {
	defer js.Running.Wait()
	step := RetryJobs
	if js.s.Config.Cluster != nil {
		step = dutyStep
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	var last time.Time
	for nudged := true; ; {
		switch {
		case !js.s.OnDuty():
			last = time.Time{}
			js.interrupt(nil)
		case nudged || time.Since(last) >= RetryJobs:
			last = time.Now()
			js.resume()
		}
		nudged = false
		select {
		case <-ctx.Done():
			js.stop.Store(true)
			js.cancel()
			return
		case <-tick.C:
		case <-js.nudged:
			nudged = true
		}
	}
}

func (js *Runner) resume() {
	for _, id := range js.Abandoned { // each time, since failing a job is a write that can fail
		js.begin(id)
	}
	if err := js.Resume(); err != nil {
		js.s.Log.Error().Err(err).Msg("continuing jobs failed")
	}
	js.interrupt(func(j *store.Job) bool { return j.State == store.JobRunning })
}

// interrupt ends the work of jobs, except those that may go on; nil for none.
func (js *Runner) interrupt(goesOn func(j *store.Job) bool) {
	js.mu.Lock()
	working := maps.Clone(js.working)
	js.mu.Unlock()
	for id, cancel := range working {
		goes := false
		err := js.s.DB.View(store.System, func(tx *store.Tx) error {
			j, err := store.Jobs.Get(tx, id)
			goes = err == nil && goesOn != nil && goesOn(j)
			return err
		})
		if err == nil && !goes {
			cancel()
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
		if err == nil && js.s.Config.Cluster != nil {
			var lost []store.ID
			lost, err = js.lostJobs(tx)
			ids = append(ids, lost...)
		}
		return err
	})
	for _, id := range ids {
		js.begin(id)
	}
	return err
}

// lostJobs returns the jobs in preparation whose node has stored no step of them for so long that it must
// have ended.
func (js *Runner) lostJobs(tx *store.Tx) (lost []store.ID, err error) {
	ids, err := store.JobsIn(tx, store.JobPreparing)
	for _, id := range ids {
		j, err := store.Jobs.Get(tx, id)
		if err != nil {
			return lost, err
		}
		at := j.CreatedAt
		for step, err := range store.StepByJob.All(tx, id) {
			if err != nil {
				return lost, err
			}
			at = max(at, step.CreatedAt)
		}
		if at.Add(js.Lost) < tx.Now() {
			lost = append(lost, id)
		}
	}
	return lost, err
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

// stopped reports whether jobs stop before their next step.
func (js *Runner) stopped() bool { return js.stop.Load() || !js.s.OnDuty() }

// errStopped interrupts a job, which the next start or another node continues.
var errStopped = errors.New("the server is shutting down, or another node has the duties")
