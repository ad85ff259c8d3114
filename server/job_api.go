package server

import (
	"time"

	"reeve/store"
	"reeve/store/errs"
)

var jobRoutes = []Route{
	table("/admin/job", signedIn, "List your own jobs", &ownJobs),
	read("/admin/job/:id", signedIn, "Get your own job", getOwnJob),
	table("/system/job", "system.job.query", "List jobs", &allJobs),
	read("/system/job/:id", "system.job.query", "Get a job", getJob),
}

var allJobs = Table[store.Job, *store.Job]{
	of: store.Jobs, order: "id, descending", descending: true, out: asItIs[store.Job],
	columns: []tableColumn[store.Job]{
		{name: "id", uses: sorted},
		{name: "state", uses: filtered | param, texts: anyText(store.JobByState)},
		{name: "user_id", uses: filtered | param, numbers: ids(store.JobByUser)},
	},
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) { return scopedTo(tx, req, store.JobByUser) },
}

var ownJobs = Table[store.Job, *store.Job]{
	of: store.Jobs, order: "id, descending", descending: true, out: asItIs[store.Job],
	columns: allJobs.columns[:2],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.JobByUser.AnyOf(req.Actor.ID), true
	},
}

func getOwnJob(tx *store.Tx, req *Request, in *byID) (*store.Job, error) {
	return ownJobs.get(tx, req, in.ID)
}

func getJob(tx *store.Tx, req *Request, in *byID) (*store.Job, error) {
	return allJobs.get(tx, req, in.ID)
}

// jobWait is how long a request waits for the job that it started. After that it
// answers with the job as it is, which its client can ask for again.
const jobWait = 30 * time.Second

// finishedJob waits for a job and returns it. A failed one is an error: nothing of it
// remains.
func (req *Request) finishedJob(id store.ID, ended <-chan struct{}) (*store.Job, error) {
	patience := time.NewTimer(jobWait)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-req.http.Context().Done(): // the job goes on without its client
	}
	var j *store.Job
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		j, err = store.Jobs.Get(tx, id)
		return err
	})
	if err == nil && j.State == store.JobFailed {
		failed := errs.New(errs.Conflict, "nothing was changed: %s", j.Msg)
		failed.Fields = j.Errors
		err = failed.Coded("job_failed")
	}
	return j, err
}
