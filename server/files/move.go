package files

import (
	"context"
	"encoding/json"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/blob"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Kinds of the jobs that move contents.
const (
	ToBucket = "files_to_bucket"
	ToLocal  = "files_to_local"
)

// A step of such a job has at most so many contents, and about so many bytes.
const (
	moveContents = 100
	moveBytes    = 64 << 20
)

func init() {
	web.Enums(map[string][]string{"contents_place": {"s3", "local"}})
}

// MoveRoutes returns the operations that move the contents of files.
func MoveRoutes(js *jobs.Runner) []web.Route {
	begin := func(req *web.Request, in *moveIn) (*store.Job, error) { return beginMove(js, req, in) }
	cancel := func(req *web.Request, _ *web.None) (web.Nothing, error) {
		return web.Nothing{}, cancelMoves(js, req)
	}
	return []web.Route{
		web.Action("POST", "/system/file-move", "system.file.move", "Move the contents of files", begin, web.Options{
			LoggedAs: "file_move",
			Note: "Starts a job that moves the contents of all files to the bucket that the configuration " +
				"names, or back from it, and returns the job at once. Files can be read and uploaded meanwhile. " +
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

// moveStep are the contents that one step moves.
type moveStep struct {
	Contents []blob.Digest `json:"contents"`
}

func beginMove(js *jobs.Runner, req *web.Request, in *moveIn) (*store.Job, error) {
	if !req.DB.HasBucket() {
		return nil, errs.Field(errs.Conflict, "to", "the configuration names no bucket for the contents of files: set files.s3 and restart").Coded("no_bucket")
	}
	kind := ToBucket
	if in.To == "local" {
		kind = ToLocal
	}
	all, err := req.DB.MovableContents(kind == ToBucket)
	if err != nil {
		return nil, err
	}
	var steps []jobs.Step
	var step *moveStep
	bytes := int64(0)
	for _, c := range all {
		if step == nil || len(step.Contents) == moveContents || bytes+c.Size > moveBytes {
			step, bytes = &moveStep{}, 0
			steps = append(steps, jobs.Step{Input: step})
		}
		step.Contents, bytes = append(step.Contents, c.Digest), bytes+c.Size
		steps[len(steps)-1].Records++
	}

	id, _, err := js.Begin(req, kind, steps)
	if err != nil {
		return nil, err
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

func cancelMoves(js *jobs.Runner, req *web.Request) error {
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

// moves returns the unfinished jobs that move contents.
func moves(tx *store.Tx) (ids []store.ID, err error) {
	for _, kind := range []string{ToBucket, ToLocal} {
		all, err := jobs.Unfinished(tx, kind)
		if err != nil {
			return nil, err
		}
		for _, j := range all {
			ids = append(ids, j.ID)
		}
	}
	return ids, nil
}

// MoveKinds returns the kinds of jobs that move contents.
func MoveKinds(s *web.Server) map[string]jobs.Kind {
	return map[string]jobs.Kind{
		ToBucket: moveKind(func(ctx context.Context, ds []blob.Digest) ([]blob.Digest, func(), error) {
			return s.DB.SendContents(ctx, ds)
		}, (*kv.Tx).ClaimObjects),
		ToLocal: moveKind(func(ctx context.Context, ds []blob.Digest) ([]blob.Digest, func(), error) {
			return s.DB.FetchContents(ctx, ds)
		}, (*kv.Tx).DropObjects),
	}
}

func moveKind(move func(context.Context, []blob.Digest) ([]blob.Digest, func(), error), apply func(*kv.Tx, []blob.Digest) error) jobs.Kind {
	return jobs.Kind{
		Access: "system.file.move",
		Before: func(tx *store.Tx) error {
			ids, err := moves(tx)
			if err == nil && len(ids) > 0 {
				err = errs.New(errs.Conflict, "contents of files are being moved already").Coded("moving_already")
			}
			return err
		},
		Work: func(ctx context.Context, input json.RawMessage) (json.RawMessage, func(), error) {
			var step moveStep
			if err := json.Unmarshal(input, &step); err != nil {
				return nil, nil, err
			}
			done, release, err := move(ctx, step.Contents)
			if err != nil {
				return nil, nil, err
			}
			text, err := json.Marshal(moveStep{done})
			if err != nil {
				release()
			}
			return text, release, err
		},
		Apply: func(tx *store.Tx, input json.RawMessage) ([]store.ID, json.RawMessage, error) {
			var step moveStep
			if err := json.Unmarshal(input, &step); err != nil {
				return nil, nil, err
			}
			return nil, input, apply(tx, step.Contents)
		},
	}
}
