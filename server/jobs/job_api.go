package jobs

import (
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func Routes() []web.Route {
	return []web.Route{
		web.List("/admin/job", web.SignedIn, "List your own jobs", &ownJobs,
			web.Options{Keys: web.ByPersonalKey}),
		web.Read("/admin/job/:id", web.SignedIn, "Get your own job", getOwnJob),
		web.List("/system/job", "system.job.query", "List jobs", &allJobs),
		web.Read("/system/job/:id", "system.job.query", "Get a job", getJob),
	}
}

var allJobs = web.Resource[store.Job, *store.Job]{
	Collection: store.Jobs,
	Order:      "id, descending",
	Descending: true,
	Output:     readableJob,
	Columns: []web.Column[store.Job]{
		{Name: "id", Uses: web.Sorted},
		{Name: "state", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.JobByState)},
		{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.JobByUser),
			Named: web.ByName("user", "user")},
	},
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.JobByUser)
	},
}

var ownJobs = web.Resource[store.Job, *store.Job]{
	Collection: store.Jobs,
	Order:      "id, descending",
	Descending: true,
	Output:     readableJob,
	Columns:    allJobs.Columns[:2],
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.JobByUser.AnyOf(req.Actor.ID), true
	},
}

// readableJob returns a job with its texts in the language of the request.
func readableJob(_ *store.Tx, req *web.Request, j *store.Job) (*store.Job, error) {
	return j.In(req.Language()), nil
}

func getOwnJob(tx *store.Tx, req *web.Request, in *web.ByID) (*store.Job, error) {
	req.NamePosition() // the client reads next what the job has written
	j, err := ownJobs.Get(tx, req, in.ID)
	if key := req.Actor.Key; err == nil && key != nil && !key.Personal && j.KeyID != key.ID {
		return nil, store.Jobs.NotFound(in.ID) // a service key only sees what it has started itself
	}
	return j, err
}

func getJob(tx *store.Tx, req *web.Request, in *web.ByID) (*store.Job, error) {
	req.NamePosition()
	return allJobs.Get(tx, req, in.ID)
}

// jobWait is how long a request waits for the job that it started. After that it
// returns the unfinished job, which the client can poll.
const jobWait = 30 * time.Second

// Wait waits for a job and returns it. It returns an error for a failed job, of
// which nothing remains.
func (js *Runner) Wait(req *web.Request, id store.ID, ended <-chan struct{}) (*store.Job, error) {
	patience := time.NewTimer(jobWait)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-req.HTTP.Context().Done(): // the job continues without its client
	}

	var j *store.Job
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
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

	return j.In(req.Language()), nil
}

func init() {
	web.Enums(map[string][]string{"contents_place": {"s3", "local"}})
}

// MoveRoutes returns the operations that move the contents of files.
func MoveRoutes(js *Runner) []web.Route {
	begin := func(req *web.Request, in *moveIn) (*store.Job, error) { return beginMove(js, req, in) }
	cancel := func(req *web.Request, _ *web.None) (web.Nothing, error) {
		return web.Nothing{}, cancelMoves(js, req)
	}
	return []web.Route{
		web.Action("POST", "/system/file-move", "system.file.move", "Move the contents of files", begin, web.Options{
			LoggedAs: "file_move",
			Note: "Starts a job that moves the contents of all files to the bucket that the configuration " +
				"names, or back from it, and returns the job at once. Files can be read and uploaded while it runs. " +
				"What is there already is not moved again.",
		}),
		web.Action("POST", "/system/file-move/cancel", "system.file.move", "Cancel the move of contents", cancel,
			web.Options{
				LoggedAs: "file_move_cancel",
				Note:     "Ends the job that moves the contents of files. What was moved stays where it is. If there is none, nothing changes.",
			}),
	}
}

type moveIn struct {
	To string `json:"to" check:"required,enum=contents_place" doc:"s3 for the bucket, local for the data directory"`
}

func beginMove(js *Runner, req *web.Request, in *moveIn) (*store.Job, error) {
	if in.To != "local" && !req.DB.HasBucket() {
		return nil, errs.Field(errs.Conflict, "to", "the configuration names no bucket for the contents of files: set files.s3 and restart").Coded("no_bucket")
	}
	if in.To == "local" && req.Server.Config.Cluster != nil {
		return nil, errs.Field(errs.Conflict, "to", "the contents of files are in the bucket, where all nodes find them").Coded("contents_in_bucket")
	}
	kind := ToBucket
	if in.To == "local" {
		kind = ToLocal
	}
	all, err := req.DB.MovableContents(kind == ToBucket)
	if err != nil {
		return nil, err
	}
	steps := moveSteps(all)
	id, ended, err := js.Begin(req, kind, steps)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		<-ended // at once
	}
	var j *store.Job
	err = req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		j, err = store.Jobs.Get(tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return j.In(req.Language()), nil
}

func cancelMoves(js *Runner, req *web.Request) error {
	var ids []store.ID
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		ids, err = moves(tx)
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = js.Cancel(id)
		}
	}
	return err
}
