package store

import (
	"encoding/json"
	"errors"

	"reeve/store/errs"
)

// Job is a change of many records. No transaction may change more than MaxRecords,
// since all other writes wait for it, so a larger change is applied in steps. The
// steps are stored before the first is applied: a job that was interrupted goes on
// where it stopped, and one that cannot go on is undone step by step.
type Job struct {
	Ident
	Kind     string            `json:"kind" doc:"What the job does: user_import or user_update"`
	State    string            `json:"state" enum:"job_state" doc:"preparing, running, undoing, done or failed"`
	UserID   ID                `json:"user_id" doc:"ID of the user who started it"`
	Username string            `json:"username"`
	Total    int64             `json:"total" doc:"Records to change"`
	Done     int64             `json:"done" doc:"Records changed so far; of a failed job none remain changed"`
	Msg      string            `json:"msg" doc:"Why the job failed; empty otherwise"`
	Errors   map[string]string `json:"errors,omitempty" doc:"What is wrong, by field"`
	EndedAt  Time              `json:"ended_at" null:"true" doc:"null until the job is done or failed"`
	Stamps
}

// JobStep is a part of a job's work, small enough for one transaction.
type JobStep struct {
	Ident
	JobID ID              `json:"job_id"`
	Input json.RawMessage `json:"input"`
	Count int64           `json:"count"` // records that it changes
	Made  []ID            `json:"made"`  // what it created; nil until it is applied
	Stamps
}

// The states of a job.
const (
	JobPreparing = "preparing" // its steps are not all stored; nothing is applied
	JobRunning   = "running"
	JobUndoing   = "undoing" // it failed, and what was applied is being removed
	JobDone      = "done"
	JobFailed    = "failed" // and nothing of it remains
)

// MaxRecords is how many records one write function may change.
const MaxRecords = 200

// Jobs and their steps, which end with them.
var (
	Jobs       = NewCollection[Job]("job")
	JobByState = NewMany(Jobs, "state", func(j *Job) []string { return []string{j.State} })
	JobByUser  = NewRef(Jobs, "user_id", Users, func(j *Job) ID { return j.UserID }, Loose)

	JobSteps  = NewCollection[JobStep]("job_step")
	StepByJob = NewRef(JobSteps, "job_id", Jobs, func(s *JobStep) ID { return s.JobID }, Owned)
)

// JobActor is the user for whom a job runs, with the rights that the user has now.
func JobActor(j *Job) *Actor { return &Actor{ID: j.UserID, Username: j.Username} }

// Ended reports whether nothing more happens to the job.
func (j *Job) Ended() bool { return j.State == JobDone || j.State == JobFailed }

// JobsIn returns the ids of the jobs in some states, the oldest first.
func JobsIn(tx *Tx, states ...string) ([]ID, error) {
	return Jobs.FindIDs(tx, Query[Job]{Where: []Condition{JobByState.AnyOf(states...)}, Limit: 1000})
}

// TrimJobs deletes up to MaxRecords of the oldest ended jobs beyond keep.
func TrimJobs(tx *Tx, keep int) error {
	total, err := Jobs.Count(tx)
	if err != nil || total <= keep {
		return err
	}
	ids, err := Jobs.FindIDs(tx, Query[Job]{Where: []Condition{JobByState.AnyOf(JobDone, JobFailed)}, Limit: min(total-keep, MaxRecords)})
	for _, id := range ids {
		err = errors.Join(err, Jobs.Delete(tx, id))
	}
	return err
}

// DropSteps deletes up to MaxRecords steps of a job and reports whether some remain.
func DropSteps(tx *Tx, job ID) (more bool, err error) {
	ids, err := StepByJob.IDs(tx, job)
	if err != nil {
		return false, err
	}
	few := ids[:min(len(ids), MaxRecords)]
	for _, id := range few {
		if err := JobSteps.Delete(tx, id); err != nil {
			return false, err
		}
	}
	return len(ids) > len(few), nil
}

// FailJob turns a job to undoing what it has applied, for a reason that a user may
// read.
func FailJob(tx *Tx, id ID, reason error) error {
	e := errs.Of(reason)
	_, err := Jobs.Touch(tx, id, func(j *Job) error {
		j.State, j.Msg, j.Errors = JobUndoing, e.Msg, e.Fields
		return nil
	})
	return err
}
