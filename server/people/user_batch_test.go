package people_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// newStaff creates n enabled users with a role, in a department, and returns their IDs.
func newStaff(in *servertest.Instance, n int, dept, role store.ID) (ids []store.ID) {
	in.T.Helper()
	for first := 0; first < n; first += 100 {
		in.Update(func(tx *store.Tx) error {
			for i := first; i < min(n, first+100); i++ {
				u := &store.User{
					Username: fmt.Sprintf("staff%04d", i),
					Nickname: "Staff",
					Status:   true,
					DeptID:   dept,
					RoleIDs:  []store.ID{role},
				}
				if err := store.Users.Create(tx, u); err != nil {
					return err
				}
				ids = append(ids, u.ID)
			}
			return nil
		})
	}
	return ids
}

func user(in *servertest.Instance, id store.ID) (u *store.User) {
	in.T.Helper()
	in.View(func(tx *store.Tx) (err error) { u, err = store.Users.Get(tx, id); return err })
	return u
}

func TestBulkUserUpdate(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	sales, role, other := in.Dept("Sales", 0), in.Role("Plain", nil), in.Role("Other", nil)
	ann, bob, cleo := in.Member("ann", 0, role), in.Member("bob", sales, role), in.Member("cleo", 0)
	url := fmt.Sprintf("/admin/list?ids=%d,%d,%d", ann, bob, ann)
	before := in.Dump()
	in.OK("PUT", url+"&dry_run=1", fmt.Sprintf(`{"dept_id":%d}`, sales), "owner").Brief(200, `"data":{"count":1}`) // bob is in the department already
	in.Unchanged(before)
	in.OK("PUT", url, fmt.Sprintf(`{"dept_id":%d,"role_ids":[%d,%d]}`, sales, other, other),
		"owner").Brief(200, `"data":{"count":2}`)
	in.OK("PUT", url, `{"status":0}`, "owner").Brief(200, `"data":{"count":2}`)
	in.OK("PUT", url, `{"status":0}`, "owner").Brief(200, `"data":{"count":0}`)
	for _, id := range []store.ID{ann, bob} {
		if u := user(in, id); u.Status || u.DeptID != sales ||
			fmt.Sprint(u.RoleIDs) != fmt.Sprint([]store.ID{other}) || len(in.SessionsOf(id)) != 0 {
			t.Errorf("%+v", u)
		}
	}

	if u := user(in, cleo); !u.Status || u.DeptID != 0 || len(in.SessionsOf(cleo)) != 1 {
		t.Errorf("%+v", u)
	}

	in.OK("PUT", "/admin/list?all=1&status=0&keywordSearch=ann", `{"status":1}`, "owner").Brief(200, `"count":1`)
	in.OK("PUT", `/admin/list?all=1&filter=%7B%22dept_id%22%3A%5B`+sales.String()+`%5D%7D`,
		`{"dept_id":0}`, "owner").Brief(200, `"count":2`)
	in.OK("PUT", "/admin/list?all=1&keywordSearch=nobody", `{"status":0}`, "owner").Brief(200,
		`"count":0`)
	in.Lists("/admin/list", "status", "owner", "1", "1", "0", "1")
	in.OK("PUT", fmt.Sprintf("/admin/list?all=1&except=1,%d&except=%d&dry_run=1", bob, cleo),
		fmt.Sprintf(`{"dept_id":%d}`, sales), "owner").Brief(200, `"count":1`)
	in.OK("PUT", "/admin/list?all=1&except=1", `{"status":0}`, "owner").Brief(200, `"count":2`)
	in.Lists("/admin/list", "status", "owner", "1", "0", "0", "0")
}

func TestBulkUserUpdate_SameRulesAsSingle(t *testing.T) {
	t.Parallel()
	in := servertest.WithCeilings(t) // users: 2 editor, 3 both, 4 desk, 5 peer, 6 chief
	in.Clerk("switcher", "admin.list.status")
	in.Clerk("editing", "admin.list.update")
	second := in.Member("second", 0, store.OwnerRole)
	narrow := in.Role("Narrow", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.status", "admin.list.query")

	sales := in.Dept("Sales", 0)
	in.Member("local", sales, narrow)
	colleague := in.Member("colleague", sales, narrow)
	many := strings.TrimSuffix(strings.Repeat("2,", kv.MaxRecordsPerWrite+1), ",")
	for _, c := range []servertest.Case{
		{"nothing to change", "PUT", "/admin/list?ids=2", `{}`, "owner", 422,
			[]string{`"status":`}, nil},
		{"no ids", "PUT", "/admin/list", `{"status":0}`, "owner", 400, []string{`"ids":`}, nil},
		{"a filter without all", "PUT", "/admin/list?keywordSearch=e", `{"status":0}`, "owner",
			400, []string{`"ids":`}, nil},
		{"all said to be 0", "PUT", "/admin/list?all=0", `{"status":0}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"ids and all", "PUT", "/admin/list?ids=2&all=1", `{"status":0}`, "owner", 400,
			[]string{`"all":`}, nil},
		{"an exception from ids", "PUT", "/admin/list?ids=2,3&except=3", `{"status":0}`, "owner",
			400, []string{`"except":`}, nil},
		{"ids and a filter", "PUT", "/admin/list?ids=2&sex=1", `{"status":0}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"a page of all", "PUT", "/admin/list?all=1&page=2", `{"status":0}`, "owner", 400,
			[]string{`"page":`}, nil},
		{"an order of all", "PUT", "/admin/list?all=1&sorter=%7B%7D", `{"status":0}`, "owner", 400,
			[]string{`"sorter":`}, nil},
		{"an unknown filter", "PUT", "/admin/list?all=1&filter=%7B%22email%22%3A%5B1%5D%7D",
			`{"status":0}`, "owner", 400, []string{`"filter":`}, nil},
		{"too many ids", "PUT", "/admin/list?ids=" + many, `{"status":0}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"one who is not there", "PUT", "/admin/list?ids=2,777", `{"status":0}`, "owner", 404,
			[]string{"777"}, nil},
		{"a department that is not there", "PUT", "/admin/list?ids=2", `{"dept_id":777}`, "owner",
			422, []string{`"dept_id":`}, nil},
		{"a role that is not there", "PUT", "/admin/list?ids=2", `{"role_ids":[777]}`, "owner",
			422, []string{`"role_ids":`}, nil},
		{"another field", "PUT", "/admin/list?ids=2", `{"nickname":"x"}`, "owner", 400,
			[]string{`"nickname":`}, nil},
		{"status without its permission", "PUT", "/admin/list?ids=2", `{"status":0}`, "editing",
			403, []string{"admin.list.status"}, nil},
		{"a department without its permission", "PUT", "/admin/list?ids=2", `{"dept_id":0}`,
			"switcher", 403, []string{"admin.list.update"}, nil},
		{"both with one permission", "PUT", "/admin/list?ids=2", `{"dept_id":0,"status":0}`,
			"switcher", 403, []string{"admin.list.update"}, nil},
		{"all without seeing the list", "PUT", "/admin/list?all=1", `{"status":0}`, "switcher",
			403, []string{"admin.list.query"}, nil},
		{"one beyond among others", "PUT", "/admin/list?ids=2,3", `{"status":0}`, "desk", 403,
			[]string{"beyond_ceiling"}, nil},
		{"one beyond whom nothing changes of", "PUT", "/admin/list?ids=2,3", `{"status":1}`,
			"desk", 403, []string{"beyond_ceiling"}, nil},
		{"a role beyond", "PUT", "/admin/list?ids=2", `{"role_ids":[3]}`, "desk", 403,
			[]string{"beyond_ceiling"}, nil},
		{"one out of the data scope", "PUT", fmt.Sprintf("/admin/list?ids=%d,2", colleague),
			`{"status":0}`, "local", 404, nil, nil},
		{"all owners disabled", "PUT", fmt.Sprintf("/admin/list?ids=1,2,%d", second),
			`{"status":0}`, "owner", 409, []string{"last_owner"}, nil},
		{"all owners without the role", "PUT", fmt.Sprintf("/admin/list?ids=1,%d", second),
			`{"role_ids":[2]}`, "owner", 409, []string{"last_owner"}, nil},
		{"everybody disabled", "PUT", "/admin/list?all=1", `{"status":0}`, "owner", 409,
			[]string{"last_owner"}, nil},
	} {
		dry := c
		dry.Name += ", tried"
		if mark := "?"; !strings.Contains(c.URL, mark) {
			dry.URL += "?dry_run=1"
		} else {
			dry.URL += "&dry_run=1"
		}
		servertest.RunCases(t, in, []servertest.Case{dry, c})
	}

	in.OK("PUT", "/admin/list?all=1&dry_run=1", `{"status":1,"dept_id":0}`, "owner")
	in.OK("PUT", fmt.Sprintf("/admin/list?all=1&dept_id=%d&keywordSearch=colleague", sales),
		`{"status":0}`, "local").Brief(200, `"count":1`)
}

// Permissions that the caller loses by a change apply until all other users are changed.
func TestBulkUserUpdate_CallerIsLast(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Member("second", 0, store.OwnerRole)
	ann := in.Member("ann", 0, in.Role("Plain", nil))
	in.OK("PUT", fmt.Sprintf("/admin/list?ids=1,%d", ann), `{"role_ids":[]}`, "owner").Brief(200,
		`"count":2`)
	if roles := user(in, 1).RoleIDs; len(roles) != 0 {
		t.Errorf("%v", roles)
	}
}

func TestBulkUserUpdate_ManyByJob(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	n := servertest.Size(250, 1000, 5000)
	staff := newStaff(in, n, 0, in.Role("Plain", nil))
	for _, id := range staff[:20] {
		for range 10 {
			in.SignIn(id)
		}
	}

	in.OK("PUT", "/admin/list?all=1&keywordSearch=staff&dry_run=1", `{"status":0}`, "owner").Brief(200, fmt.Sprintf(`"data":{"count":%d}`, n))
	var out people.UsersChanged
	in.OK("PUT", "/admin/list?all=1&keywordSearch=staff", `{"status":0}`, "owner").Data(&out)
	if out.Count != int64(n) || out.Job == nil || out.Job.State != store.JobDone ||
		out.Job.Total != int64(n) || out.Job.Kind != "user_update" {
		t.Errorf("%+v %+v", out, out.Job)
	}

	in.OK("GET", "/admin/list?status=0", "", "owner").Brief(200, fmt.Sprintf(`"total":%d`, n))
	if open := in.SessionsOf(staff[3]); len(open) != 0 {
		t.Errorf("%d sessions are left", len(open))
	}
	if largest := in.DB.Stats().Largest; largest > kv.MaxRecordsPerWrite {
		t.Errorf("a write changed %d records", largest)
	}

	in.OK("PUT", fmt.Sprintf("/admin/list?ids=%s", servertest.ManyOf(staff[:101])), `{"status":1}`,
		"owner").Brief(200, `"count":101`, `"user_update"`)
}

// A change that fails halfway is undone, except for users that have been changed since.
func TestBulkUserUpdate_FailureIsUndone(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	plain, fresh := in.Role("Plain", nil), in.Role("Fresh", nil)
	old, dept := in.Dept("Old", 0), in.Dept("New", 0)
	staff := newStaff(in, 250, old, plain)
	in.Server.Jobs.Turn <- struct{}{} // another job is running
	var wg sync.WaitGroup
	var answer *servertest.Reply
	wg.Go(func() {
		answer = in.Call("PUT", "/admin/list?all=1&keywordSearch=staff",
			fmt.Sprintf(`{"dept_id":%d,"role_ids":[%d],"status":0}`, dept, fresh), "owner")
	})
	servertest.Until(t, "the job is stored", func() bool {
		jobs := in.Jobs("owner")
		return len(jobs) > 0 && jobs[0].State == store.JobRunning
	})
	in.OK("DELETE", fmt.Sprint("/admin/list/", staff[240]), "", "owner")
	<-in.Server.Jobs.Turn
	wg.Wait()
	answer.Brief(409, "job_failed", "nothing was changed", staff[240].String())
	for i, id := range staff {
		if i == 240 {
			continue
		}
		if u := user(in, id); !u.Status || u.DeptID != old ||
			fmt.Sprint(u.RoleIDs) != fmt.Sprint([]store.ID{plain}) {
			t.Fatalf("%+v", u)
		}
	}

	if j := in.Jobs("owner")[0]; j.State != store.JobFailed || j.Done != 0 ||
		j.EndedAt < kv.TimeOf(time.Now().Add(-time.Minute)) {
		t.Errorf("%+v", j)
	}
}

func TestBulkUserUpdate_UndoKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	plain, fresh := in.Role("Plain", nil), in.Role("Fresh", nil)
	gone, dept, third := in.Dept("Gone", 0), in.Dept("New", 0), in.Dept("Third", 0)
	staff := newStaff(in, 2, gone, plain)
	status := store.Flag(false)
	step := people.UsersStep{
		IDs:    staff,
		Change: people.UsersEdit{Status: &status, DeptID: &dept, RoleIDs: &[]store.ID{fresh}},
	}
	in.Update(func(tx *store.Tx) error {
		_, undo, err := people.ApplyUserUpdate(tx, servertest.EncodeJSON(t, step))
		if err != nil {
			return err
		}
		if _, err := store.Users.Update(tx, staff[0], func(u *store.User) error {
			u.DeptID = third
			return nil
		}); err != nil {
			return err
		}
		if err := people.UndoUserUpdate(tx, undo, staff[0]); err != nil {
			return err
		}
		if err := store.Depts.Delete(tx, gone); err != nil {
			return err
		}

		return people.UndoUserUpdate(tx, undo, staff[1]) // whose old department is gone
	})
	if u := user(in, staff[0]); !u.Status || u.DeptID != third || u.RoleIDs[0] != plain {
		t.Errorf("%+v", u)
	}
	if u := user(in, staff[1]); u.Status || u.DeptID != dept || u.RoleIDs[0] != fresh {
		t.Errorf("%+v", u)
	}
}
