package jobs

import (
	"context"
	"encoding/json"

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

// moveStep are the contents that one step moves.
type moveStep struct {
	Contents []blob.Digest `json:"contents"`
}

// moveSteps divides contents into steps.
func moveSteps(all []kv.MovableContent) []Step {
	var steps []Step
	var step *moveStep
	bytes := int64(0)
	for _, c := range all {
		if step == nil || len(step.Contents) == moveContents || bytes+c.Size > moveBytes {
			step, bytes = &moveStep{}, 0
			steps = append(steps, Step{Input: step})
		}
		step.Contents, bytes = append(step.Contents, c.Digest), bytes+c.Size
		steps[len(steps)-1].Records++
	}
	return steps
}

// moves returns the unfinished jobs that move contents.
func moves(tx *store.Tx) (ids []store.ID, err error) {
	for _, kind := range []string{ToBucket, ToLocal} {
		all, err := Unfinished(tx, kind)
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
func MoveKinds(db *store.DB) map[string]Kind {
	return map[string]Kind{
		ToBucket: moveKind(func(ctx context.Context, ds []blob.Digest) ([]blob.Digest, func(), error) {
			return db.SendContents(ctx, ds)
		}, (*kv.Tx).ClaimObjects),
		ToLocal: moveKind(func(ctx context.Context, ds []blob.Digest) ([]blob.Digest, func(), error) {
			return db.FetchContents(ctx, ds)
		}, (*kv.Tx).DropObjects),
	}
}

func moveKind(move func(context.Context, []blob.Digest) ([]blob.Digest, func(), error), apply func(*kv.Tx, []blob.Digest) error) Kind {
	return Kind{
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
