package people

import (
	"encoding/json"
	"reflect"
	"slices"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// UsersEdit has the fields that can be changed for many users at once.
type UsersEdit struct {
	Status  *store.Flag `json:"status" doc:"Status: 1 enabled; 0 disabled, which ends the sessions. Requires the permission admin.list.status"`
	DeptID  *store.ID   `json:"dept_id" names:"department,department" doc:"ID of the department; 0 for none. Requires the permission admin.list.update"`
	RoleIDs *[]store.ID `json:"role_ids" names:"roles,role" check:"max=100" doc:"IDs of the roles, which replace those of each user. Requires the permission admin.list.update"`
}

func (in *UsersEdit) apply(u *store.User) error {
	web.Set(&u.Status, in.Status)
	web.Set(&u.DeptID, in.DeptID)
	web.Set(&u.RoleIDs, in.RoleIDs)
	return nil
}

func (in *UsersEdit) disables() bool { return in.Status != nil && !bool(*in.Status) }

// check returns an error if the actor lacks a permission for the change.
func (in *UsersEdit) check(tx *store.Tx) error {
	if in.Status != nil {
		if err := web.Demand(tx, "admin.list.status"); err != nil {
			return err
		}
	}
	if in.DeptID != nil || in.RoleIDs != nil {
		return web.Demand(tx, "admin.list.update")
	}
	return nil
}

type usersChange struct {
	web.Selection
	DryRun store.Flag `query:"dry_run" doc:"1 to run the same checks and change nothing"`
	UsersEdit
}

var usersChangeInput = web.Describe(reflect.TypeFor[usersChange](), "PUT",
	reflect.TypeFor[*UsersChanged]())

type UsersChanged struct {
	Count int64      `json:"count" doc:"Number of users changed, or in a dry run that would be changed; users who already have the values do not count"`
	Job   *store.Job `json:"job,omitempty" doc:"Job of a change of more than 100 users or with many sessions to end; it is still running if it takes longer than 30 seconds"`
}

// userBatch changes many users by jobs.
type userBatch struct{ jobs *jobs.Runner }

// changeUsers changes many users, all or none. It checks everything first, in a read
// transaction. A change that is too large for one write transaction is applied by a job.
func (b userBatch) changeUsers(req *web.Request, in *usersChange) (*UsersChanged, error) {
	var plan *usersPlan
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		plan, err = planUsers(req, tx, in)
		return err
	})
	if err != nil {
		return nil, err
	}

	out := &UsersChanged{Count: plan.count}
	switch {
	case bool(in.DryRun) || plan.count == 0:
		return out, nil
	case len(plan.steps) == 1:
		err := req.DB.Update(req.Actor, func(tx *store.Tx) error {
			_, err := plan.steps[0].Input.(*UsersStep).apply(tx)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, name := range plan.signedOut {
			req.Note("revoked", name, nil)
		}
		return out, nil
	}

	id, ended, err := b.jobs.Begin(req, UserUpdate, plan.steps)
	if err != nil {
		return nil, err
	}
	if out.Job, err = b.jobs.Wait(req, id, ended); err != nil {
		return nil, err
	}

	out.Count = out.Job.Done
	return out, nil
}

// selected returns the users that a request selects by ID or by filters. The caller comes
// last: after a change of the caller's own permissions, further changes could be denied.
func selected(req *web.Request, tx *store.Tx, in *usersChange) ([]store.ID, error) {
	all, err := web.SelectIDs(tx, req, &Users, usersChangeInput, &in.Selection, "admin.list.query")
	if i := slices.Index(all, req.Actor.ID); i >= 0 {
		all = append(slices.Delete(all, i, i+1), req.Actor.ID)
	}
	return all, err
}

// usersPlan is a validated change of users, in steps.
type usersPlan struct {
	steps     []jobs.Step
	count     int64
	signedOut []string // names of the users that it disables
}

func planUsers(req *web.Request, tx *store.Tx, in *usersChange) (*usersPlan, error) {
	if in.Status == nil && in.DeptID == nil && in.RoleIDs == nil {
		return nil, errs.Field(errs.Invalid, "status",
			"a status, a department or roles are required")
	}
	if err := in.check(tx); err != nil {
		return nil, err
	}
	if in.RoleIDs != nil {
		roles := store.Distinct(*in.RoleIDs)
		in.RoleIDs = &roles
	}

	ids, err := selected(req, tx, in)
	if err != nil {
		return nil, err
	}

	plan, weight := &usersPlan{}, 0
	var step *UsersStep
	for _, id := range ids {
		if err := req.HTTP.Context().Err(); err != nil {
			return nil, errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}

		u, changes, err := store.Users.ValidateUpdate(tx, id, in.apply)
		if err != nil {
			return nil, err
		}
		if !changes {
			continue
		}

		heavy := 1
		if in.disables() {
			plan.signedOut = append(plan.signedOut, u.Username)
			open, err := store.CountSessions(tx, store.Account{ID: id})
			if err != nil {
				return nil, err
			}
			heavy += open
		}
		if step == nil || len(step.IDs) == jobs.JobStepRecords || weight+heavy > web.StepWeight {
			step, weight = &UsersStep{Change: in.UsersEdit}, 0
			plan.steps = append(plan.steps, jobs.Step{Input: step})
		}

		step.IDs, weight = append(step.IDs, id), weight+heavy
		plan.steps[len(plan.steps)-1].Records++
		plan.count++
	}

	if in.disables() || in.RoleIDs != nil && !slices.Contains(*in.RoleIDs, store.OwnerRole) {
		return plan, store.RequireOwner(tx, ids...)
	}

	return plan, nil
}

// UserUpdate is the kind of jobs that change users.
const UserUpdate = "user_update"

// UsersStep is the part of a change that one transaction applies, and the old values once
// it has been applied.
type UsersStep struct {
	IDs    []store.ID `json:"ids"`
	Change UsersEdit  `json:"change"`
	Old    []oldUser  `json:"old,omitempty"`
}

// oldUser has the old values of the fields that a step can change.
type oldUser struct {
	ID      store.ID   `json:"id"`
	Status  store.Flag `json:"status"`
	DeptID  store.ID   `json:"dept_id"`
	RoleIDs []store.ID `json:"role_ids"`
}

// apply changes the users of a step and returns their old values. It checks permissions
// and constraints again, since data may have changed since the plan was made.
func (s *UsersStep) apply(tx *store.Tx) (old []oldUser, err error) {
	if err := s.Change.check(tx); err != nil {
		return nil, err
	}
	for _, id := range s.IDs {
		var was oldUser
		_, err := store.Users.Update(tx, id, func(u *store.User) error {
			was = oldUser{id, u.Status, u.DeptID, slices.Clone(u.RoleIDs)}
			return s.Change.apply(u)
		})
		if err == nil && s.Change.disables() {
			err = store.EndSessions(tx, store.Account{ID: id}, 0)
		}
		if err != nil {
			return nil, err
		}
		old = append(old, was)
	}
	return old, nil
}

func ApplyUserUpdate(tx *store.Tx,
	input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var step UsersStep
	if err := json.Unmarshal(input, &step); err != nil {
		return nil, nil, err
	}
	if step.Old, err = step.apply(tx); err != nil {
		return nil, nil, err
	}
	undo, err = json.Marshal(step)
	return step.IDs, undo, err
}

// UndoUserUpdate restores the fields that a step has changed, except those that have been
// changed again since. If the old department or role no longer exists, the user stays as it
// is.
func UndoUserUpdate(tx *store.Tx, input json.RawMessage, id store.ID) error {
	var step UsersStep
	if err := json.Unmarshal(input, &step); err != nil {
		return err
	}

	i := slices.IndexFunc(step.Old, func(old oldUser) bool { return old.ID == id })
	if i < 0 {
		return nil
	}

	old, change := step.Old[i], step.Change
	_, err := store.Users.Update(tx, id, func(u *store.User) error {
		if change.Status != nil && u.Status == *change.Status {
			u.Status = old.Status
		}
		if change.DeptID != nil && u.DeptID == *change.DeptID {
			u.DeptID = old.DeptID
		}
		if change.RoleIDs != nil && slices.Equal(u.RoleIDs, *change.RoleIDs) {
			u.RoleIDs = old.RoleIDs
		}
		return nil
	})
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) {
		return nil
	}

	return err
}
