package server

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

var jobRoutes = []Route{
	byPerson(diskList("/admin/job", signedIn, "List your own jobs", &ownJobs)),
	read("/admin/job/:id", signedIn, "Get your own job", getOwnJob),
	diskList("/system/job", "system.job.query", "List jobs", &allJobs),
	read("/system/job/:id", "system.job.query", "Get a job", getJob),
}

var allJobs = Resource[store.Job, *store.Job]{
	of: store.Jobs, order: "id, descending", descending: true, out: readableJob,
	columns: []diskColumn[store.Job]{
		{name: "id", uses: sorted},
		{name: "state", uses: filtered | param, texts: anyText(store.JobByState)},
		{name: "user_id", uses: filtered | param, numbers: ids(store.JobByUser)},
	},
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) { return scopedTo(tx, req, store.JobByUser) },
}

var ownJobs = Resource[store.Job, *store.Job]{
	of: store.Jobs, order: "id, descending", descending: true, out: readableJob,
	columns: allJobs.columns[:2],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.JobByUser.AnyOf(req.Actor.ID), true
	},
}

// readableJob returns a job with its texts in the language of the request.
func readableJob(_ *store.Tx, req *Request, j *store.Job) (*store.Job, error) {
	return j.In(req.language()), nil
}

func getOwnJob(tx *store.Tx, req *Request, in *byID) (*store.Job, error) {
	j, err := ownJobs.get(tx, req, in.ID)
	if key := req.Actor.Key; err == nil && key != nil && !key.Personal && j.KeyID != key.ID {
		return nil, store.Jobs.NotFound(in.ID) // a service key only sees what it has started itself
	}
	return j, err
}

func getJob(tx *store.Tx, req *Request, in *byID) (*store.Job, error) {
	return allJobs.get(tx, req, in.ID)
}

// jobWait is how long a request waits for the job that it started. After that it
// returns the unfinished job, which the client can poll.
const jobWait = 30 * time.Second

// finishedJob waits for a job and returns it. It returns an error for a failed job, of
// which nothing remains.
func (req *Request) finishedJob(id store.ID, ended <-chan struct{}) (*store.Job, error) {
	patience := time.NewTimer(jobWait)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-req.http.Context().Done(): // the job continues without its client
	}
	var j *store.Job
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		j, err = store.Jobs.Get(tx, id)
		return err
	})
	if err == nil && j.State == store.JobFailed {
		why, faults := j.Failure()
		failed := errs.New(errs.Conflict, "nothing was changed: %s", why)
		failed.Fields = faults
		err = failed.Coded("job_failed")
	}
	if err != nil {
		return nil, err
	}
	return j.In(req.language()), nil
}
