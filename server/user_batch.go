package server

import (
	"encoding/json"
	"reflect"
	"slices"

	"reeve/store"
	"reeve/store/errs"
)

// maxBatchUsers is the maximum number of users that one request can change.
const maxBatchUsers = 10_000

// usersEdit has the fields that can be changed for many users at once.
type usersEdit struct {
	Status  *store.Flag `json:"status" doc:"Status: 1 enabled; 0 disabled, which ends the sessions. Requires the permission admin.list.status"`
	DeptID  *store.ID   `json:"dept_id" doc:"ID of the department; 0 for none. Requires the permission admin.list.update"`
	RoleIDs *[]store.ID `json:"role_ids" check:"max=100" doc:"IDs of the roles, which replace those of each user. Requires the permission admin.list.update"`
}

func (in *usersEdit) apply(u *store.User) error {
	set(&u.Status, in.Status)
	set(&u.DeptID, in.DeptID)
	set(&u.RoleIDs, in.RoleIDs)
	return nil
}

func (in *usersEdit) disables() bool { return in.Status != nil && !bool(*in.Status) }

// check returns an error if the actor lacks a permission for the change.
func (in *usersEdit) check(tx *store.Tx) error {
	if in.Status != nil {
		if err := demand(tx, "admin.list.status"); err != nil {
			return err
		}
	}
	if in.DeptID != nil || in.RoleIDs != nil {
		return demand(tx, "admin.list.update")
	}
	return nil
}

func demand(tx *store.Tx, key string) error {
	if !store.ActorOf(tx).HasPermission(tx, key) {
		return errs.New(errs.Denied, "permission %s is required", key)
	}
	return nil
}

// selection selects records of a list by ID or by its filters.
type selection struct {
	IDs    []store.ID `query:"ids" doc:"IDs of the records, at most 200, as repeated keys or separated by commas"`
	All    store.Flag `query:"all" doc:"1, instead of ids, for all records that the parameters of the list select, at most 10000. Requires the permission to list them"`
	Except []store.ID `query:"except" doc:"IDs of records to leave out, only with all=1; at most 200, as repeated keys or separated by commas"`
}

type usersChange struct {
	selection
	DryRun store.Flag `query:"dry_run" doc:"1 to run the same checks and change nothing"`
	usersEdit
}

var usersChangeInput = describe(reflect.TypeFor[usersChange](), "PUT", reflect.TypeFor[*usersChanged]())

type usersChanged struct {
	Count int64      `json:"count" doc:"Number of users changed, or in a dry run that would be changed; users who already have the values do not count"`
	Job   *store.Job `json:"job,omitempty" doc:"Job of a change of more than 100 users or with many sessions to end; it is still running if it takes longer than 30 seconds"`
}

// changeUsers changes many users, all or none. It checks everything first, in a read
// transaction. A change that is too large for one write transaction is applied by a job.
func changeUsers(req *Request, in *usersChange) (*usersChanged, error) {
	var plan *usersPlan
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		plan, err = req.planUsers(tx, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &usersChanged{Count: plan.count}
	switch {
	case bool(in.DryRun) || plan.count == 0:
		return out, nil
	case len(plan.steps) == 1:
		err := req.db.Update(req.Actor, func(tx *store.Tx) error {
			_, err := plan.steps[0].input.(*usersStep).apply(tx)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, name := range plan.signedOut {
			req.note("revoked", name, nil)
		}
		return out, nil
	}
	id, ended, err := req.startJob(userUpdate, plan.steps)
	if err != nil {
		return nil, err
	}
	if out.Job, err = req.finishedJob(id, ended); err != nil {
		return nil, err
	}
	out.Count = out.Job.Done
	return out, nil
}

// selectIDs returns the IDs of the records that a request selects. permission is that of the list.
func selectIDs[T, Out any](tx *store.Tx, req *Request, list *Resource[T, Out], d *input, in *selection, permission string) ([]store.ID, error) {
	ask, err := list.info().parse(req, d)
	if err != nil {
		return nil, err
	}
	selected := in.IDs
	switch {
	case bool(in.All) && in.IDs != nil:
		return nil, errs.Field(errs.Malformed, "all", "conflicts with %s", "ids")
	case !bool(in.All) && in.IDs == nil:
		return nil, errs.Field(errs.Malformed, "ids", "is required, or use all=1")
	case !bool(in.All) && ask.narrowed():
		return nil, errs.Field(errs.Malformed, "ids", "conflicts with the list parameters; use all=1 with them")
	case !bool(in.All) && in.Except != nil:
		return nil, errs.Field(errs.Malformed, "except", "can only be used with all=1")
	case bool(in.All):
		if err := demand(tx, permission); err != nil {
			return nil, err
		}
		if selected, err = list.findIDs(tx, req, ask, maxBatchUsers+1); err != nil {
			return nil, err
		}
		if len(selected) > maxBatchUsers {
			return nil, errs.Field(errs.Invalid, "all", "select at most %d of them", maxBatchUsers)
		}
		selected = slices.DeleteFunc(selected, func(id store.ID) bool { return slices.Contains(in.Except, id) })
	}
	seen := make(map[store.ID]bool, len(selected))
	return slices.DeleteFunc(selected, func(id store.ID) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	}), nil
}

// selected returns the users that a request selects by ID or by filters. The caller comes
// last: after a change of the caller's own permissions, further changes could be denied.
func (req *Request) selected(tx *store.Tx, in *usersChange) ([]store.ID, error) {
	all, err := selectIDs(tx, req, &users, usersChangeInput, &in.selection, "admin.list.query")
	if i := slices.Index(all, req.Actor.ID); i >= 0 {
		all = append(slices.Delete(all, i, i+1), req.Actor.ID)
	}
	return all, err
}

// usersPlan is a validated change of users, in steps.
type usersPlan struct {
	steps     []jobStep
	count     int64
	signedOut []string // names of the users that it disables
}

// stepWeight is the maximum number of records that one step changes, sessions included. It
// leaves room for sessions that are opened after they were counted.
const stepWeight = store.MaxRecordsPerWrite - 20

func (req *Request) planUsers(tx *store.Tx, in *usersChange) (*usersPlan, error) {
	if in.Status == nil && in.DeptID == nil && in.RoleIDs == nil {
		return nil, errs.Field(errs.Invalid, "status", "a status, a department or roles are required")
	}
	if err := in.check(tx); err != nil {
		return nil, err
	}
	if in.RoleIDs != nil {
		roles := store.Distinct(*in.RoleIDs)
		in.RoleIDs = &roles
	}
	ids, err := req.selected(tx, in)
	if err != nil {
		return nil, err
	}
	plan, weight := &usersPlan{}, 0
	var step *usersStep
	for _, id := range ids {
		if err := req.http.Context().Err(); err != nil {
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
		if step == nil || len(step.IDs) == jobStepRecords || weight+heavy > stepWeight {
			step, weight = &usersStep{Change: in.usersEdit}, 0
			plan.steps = append(plan.steps, jobStep{input: step})
		}
		step.IDs, weight = append(step.IDs, id), weight+heavy
		plan.steps[len(plan.steps)-1].records++
		plan.count++
	}
	if in.disables() || in.RoleIDs != nil && !slices.Contains(*in.RoleIDs, store.OwnerRole) {
		return plan, store.RequireOwner(tx, ids...)
	}
	return plan, nil
}

// userUpdate is the kind of jobs that change users.
const userUpdate = "user_update"

// usersStep is the part of a change that one transaction applies, and the old values once
// it has been applied.
type usersStep struct {
	IDs    []store.ID `json:"ids"`
	Change usersEdit  `json:"change"`
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
func (s *usersStep) apply(tx *store.Tx) (old []oldUser, err error) {
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

func applyUserUpdate(tx *store.Tx, input json.RawMessage) (made []store.ID, undo json.RawMessage, err error) {
	var step usersStep
	if err := json.Unmarshal(input, &step); err != nil {
		return nil, nil, err
	}
	if step.Old, err = step.apply(tx); err != nil {
		return nil, nil, err
	}
	undo, err = json.Marshal(step)
	return step.IDs, undo, err
}

// undoUserUpdate restores the fields that a step has changed, except those that have been
// changed again since. If the old department or role no longer exists, the user stays as it
// is.
func undoUserUpdate(tx *store.Tx, input json.RawMessage, id store.ID) error {
	var step usersStep
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
