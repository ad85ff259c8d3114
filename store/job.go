package store

import (
	"encoding/json"
	"errors"
	"strings"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Job is a change of many records. A transaction may change at most MaxRecordsPerWrite, because all
// other writes wait for it, so a larger change is made in steps. The steps are stored before
// the first one runs: an interrupted job continues, and one that cannot continue is undone step
// by step.
type Job struct {
	Ident
	Kind     string            `json:"kind" doc:"What the job does: user_import, app_user_import, user_update, user_delete, app_user_delete, file_trash, setup, undo, files_to_bucket or files_to_local"`
	State    string            `json:"state" enum:"job_state" doc:"State: preparing, running, undoing, done or failed" log:"-"`
	UserID   ID                `json:"user_id" doc:"ID of the user who started it"`
	KeyID    ID                `json:"key_id" doc:"ID of the API key that started it for the user; 0 for none"`
	Username string            `json:"username" log:"personal"`
	Proved   Flag              `json:"proved" doc:"1 if the user had just confirmed who it is when the job was started, so that it can do what requires that" log:"-"`
	Total    int64             `json:"total" doc:"Records to change"`
	Done     int64             `json:"done" doc:"Records changed so far; of a failed job none remain changed, except contents of files that were moved" log:"-"`
	Msg      string            `json:"msg" doc:"Why the job failed, in the language of the request; empty otherwise" log:"-"`
	Errors   map[string]string `json:"errors,omitempty" doc:"What is wrong, by field, in the language of the request" log:"-"`
	Reason   json.RawMessage   `json:"reason,omitempty" doc:"Code and parameters of msg" log:"-"`
	Details  json.RawMessage   `json:"details,omitempty" doc:"Codes and parameters of errors, by field" log:"-"`
	EndedAt  Time              `json:"ended_at" null:"true" doc:"Time when the job ended; null until it is done or failed" log:"-"`
	kv.Timestamps
}

// JobStep is a part of a job's work, small enough for one transaction.
type JobStep struct {
	Ident
	JobID ID              `json:"job_id"`
	Input json.RawMessage `json:"input"` // null if it is sealed
	Seal  kv.Sealed       `json:"seal"`  // the input, if it has secrets
	Count int64           `json:"count"` // number of records that the step changes
	Made  []ID            `json:"made"`  // IDs of the records it created; nil until it has run
	kv.Timestamps
}

// The states of a job.
const (
	JobPreparing = "preparing" // not all steps are stored, none has run
	JobRunning   = "running"
	JobUndoing   = "undoing" // it failed, and its changes are being undone
	JobDone      = "done"
	JobFailed    = "failed" // and all its changes are undone
)

// Jobs, their steps and indexes. Steps are deleted with their job.
var (
	Jobs       = kv.NewCollection[Job]("job")
	JobByState = kv.NewEach(Jobs, "state", func(j *Job) string { return j.State })
	JobByUser  = refToUser(Jobs, func(j *Job) ID { return j.UserID }, kv.Dangle)

	JobSteps = kv.NewCollection[JobStep]("job_step").Unlogged()
	_        = JobSteps.Sealed(func(s *JobStep) *kv.Sealed { return &s.Seal }, stepPlace,
		func(_ *Tx, s *JobStep) (string, error) { return "step of job " + s.JobID.String(), nil })
	StepByJob = kv.NewRef(JobSteps, "job_id", Jobs, func(s *JobStep) ID {
		return s.JobID
	}, kv.Cascade)
)

var _ = manage(Access{Table: Jobs, Query: "admin.list.query"})

// stepPlace is the place that a sealed input is bound to, see kv.Tx.Seal.
func stepPlace(s *JobStep) string { return "job " + s.JobID.String() }

// SetInput sets the input of the step, sealed if it has secrets.
func (s *JobStep) SetInput(tx *Tx, input json.RawMessage, secret bool) (err error) {
	if !secret {
		s.Input = input
		return nil
	}
	s.Input = nil
	s.Seal, err = tx.Seal(stepPlace(s), string(input))
	return err
}

// OpenInput returns the input of the step.
func (s *JobStep) OpenInput(tx *Tx) (json.RawMessage, error) {
	if len(s.Seal.Box) == 0 {
		return s.Input, nil
	}
	text, err := tx.Unseal(stepPlace(s), s.Seal)
	return json.RawMessage(text), err
}

// JobActor returns the user, the API key or the operator for whom a job runs, with the permissions that they have
// now.
func JobActor(j *Job) *Actor {
	if j.UserID == 0 && strings.HasPrefix(j.Username, operatorPrefix) {
		return Operator(j.Username)
	}
	a := &Actor{ID: j.UserID, Username: j.Username}
	if j.KeyID != 0 {
		a.Key = &KeyLimit{ID: j.KeyID}
	}
	if j.Proved {
		a.Proof = lasting
	}
	return a
}

// Ended reports whether the job is done or failed.
func (j *Job) Ended() bool { return j.State == JobDone || j.State == JobFailed }

// JobsIn returns the IDs of up to 1000 jobs in some states, the oldest first.
func JobsIn(tx *Tx, states ...string) ([]ID, error) {
	return Jobs.FindIDs(tx, kv.Query[Job]{
		Where: []kv.Condition{JobByState.AnyOf(states...)},
		Limit: 1000,
	})
}

// TrimJobs deletes up to MaxRecordsPerWrite of the oldest ended jobs while there are more than
// keep.
func TrimJobs(tx *Tx, keep int) error {
	total, err := Jobs.Count(tx)
	if err != nil || total <= keep {
		return err
	}
	ids, err := Jobs.FindIDs(tx, kv.Query[Job]{
		Where: []kv.Condition{JobByState.AnyOf(JobDone, JobFailed)},
		Limit: min(total-keep, kv.MaxRecordsPerWrite),
	})
	for _, id := range ids {
		err = errors.Join(err, Jobs.Delete(tx, id))
	}
	return err
}

// DropSteps deletes up to MaxRecordsPerWrite steps of a job and reports whether some remain.
func DropSteps(tx *Tx, job ID) (more bool, err error) {
	ids, err := StepByJob.IDs(tx, job)
	if err != nil {
		return false, err
	}
	few := ids[:min(len(ids), kv.MaxRecordsPerWrite)]
	for _, id := range few {
		if err := JobSteps.Delete(tx, id); err != nil {
			return false, err
		}
	}
	return len(ids) > len(few), nil
}

// FailJob sets the state of a job to undoing, unless it has ended. Users can read the reason.
func FailJob(tx *Tx, id ID, reason error) error {
	e := errs.Of(reason)
	_, err := Jobs.UpdateQuietly(tx, id, func(j *Job) (err error) {
		if j.Ended() {
			return nil
		}
		j.State, j.Msg, j.Errors = JobUndoing, e.Msg.String(), e.Fields.In(errs.English)
		if j.Reason, err = json.Marshal(e.Msg); err == nil && e.Fields != nil {
			j.Details, err = json.Marshal(e.Fields)
		}
		return err
	})
	return err
}

// Failure returns why the job failed. For a job that another version stored without codes, or with
// unknown ones, it returns the stored English texts.
func (j *Job) Failure() (errs.Message, errs.Faults) {
	var why errs.Message
	var faults errs.Faults
	err := json.Unmarshal(j.Reason, &why)
	if err == nil && j.Details != nil {
		err = json.Unmarshal(j.Details, &faults)
	}
	if err == nil {
		return why, faults
	}
	if faults = nil; j.Errors != nil {
		faults = errs.Faults{}
	}

	for field, text := range j.Errors {
		faults.Add(field, "%s", text)
	}

	return errs.Say("%s", j.Msg), faults
}

// In returns the job with its texts in a language.
func (j *Job) In(l errs.Language) *Job {
	if j.Msg == "" {
		return j
	}
	out := *j
	why, faults := j.Failure()
	out.Msg, out.Errors = why.In(l), faults.In(l)
	return &out
}
