package people_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/server/jobs"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// TestDeletion_ManyByAJob deletes more users than one transaction can, and undoes it.
func TestDeletion_ManyByAJob(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	n := servertest.Size(250, 1000, 5000)
	staff := newStaff(in, n, 0, in.Role("Plain", nil))
	for range 10 {
		in.SignIn(staff[3])
	}

	const all = "/admin/list?all=1&keywordSearch=staff"
	in.OK("DELETE", all+"&dry_run=1", "", "owner").Brief(200, fmt.Sprintf(`"data":{"count":%d}`, n))
	in.OK("GET", "/admin/list?keywordSearch=staff", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d`, n))
	var out jobs.Deleted
	in.OK("DELETE", all, "", "owner").Data(&out)
	if out.Count != int64(n) || out.Job == nil || out.Job.State != store.JobDone ||
		out.Job.Kind != "user_delete" {
		t.Errorf("%+v %+v", out, out.Job)
	}

	in.OK("GET", "/admin/list?keywordSearch=staff", "", "owner").Brief(200, `"total":0`)
	if open := in.SessionsOf(staff[3]); len(open) != 0 {
		t.Errorf("%d sessions are left", len(open))
	}
	if largest := in.DB.Stats().Largest; largest > kv.MaxRecordsPerWrite {
		t.Errorf("a write changed %d records", largest)
	}

	in.OK("DELETE", all, "", "owner").Brief(200, `"data":{}`)

	var log struct {
		Data []struct {
			Seq    uint64
			Action string
		}
	}
	in.OK("GET", "/system/audit?collection=user&pageSize=1", "", "owner").Data(&log)
	in.Undo(log.Data[0].Seq, "owner").Brief(200)
	in.OK("GET", "/admin/list?keywordSearch=staff", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d`, n))
}

// A deletion by ID whose records have too many others becomes a job, too.
func TestDeletion_ManyDependentRecords(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	staff := newStaff(in, 150, 0, in.Role("Plain", nil))
	for _, id := range staff {
		in.Update(func(tx *store.Tx) error {
			return store.SetHash(tx, store.Account{ID: id}, "$2a$04$x", false, 0)
		})
	}
	in.OK("DELETE", "/admin/list?ids="+servertest.ManyOf(staff), "", "owner").Brief(200,
		`"count":150`, `"kind":"user_delete"`)
	in.Lists("/admin/list", "username", "owner", "admin")
}

// A deletion that fails halfway leaves everything as it was, passwords and sessions included.
func TestDeletion_FailedIsReverted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	staff := newStaff(in, 150, 0, in.Role("Plain", nil))
	in.Member("deleter", 0, in.Role("Deleter", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "admin.list.query", "admin.list.delete"))
	for _, id := range staff {
		in.Update(func(tx *store.Tx) error {
			return store.SetHash(tx, store.Account{ID: id}, "$2a$04$x", false, 0)
		})
	}

	in.SignIn(staff[3])
	in.Server.Jobs.Turn <- struct{}{} // another job is running
	var wg sync.WaitGroup
	var answer *servertest.Reply
	wg.Go(func() {
		answer = in.Call("DELETE", "/admin/list?all=1&keywordSearch=staff", "", "deleter")
	})
	servertest.Until(t, "the job is stored", func() bool {
		jobs := in.Jobs("owner")
		return len(jobs) > 0 && jobs[0].State == store.JobRunning
	})
	in.OK("PUT", fmt.Sprint("/admin/list/", staff[0]), fmt.Sprintf(`{"role_ids":[%d]}`, store.OwnerRole), "owner") // who is deleted last
	state := func() map[string]string {
		all := in.Dump()
		maps.DeleteFunc(all, func(name, _ string) bool {
			return strings.HasPrefix(name, "job") || strings.Contains(name, "log")
		})
		return all
	}
	before := state()
	<-in.Server.Jobs.Turn
	wg.Wait()
	answer.Brief(409, "job_failed", "nothing was changed")
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("(- before, + after):\n%s", diff)
	}
	if open := in.SessionsOf(staff[3]); len(open) != 1 {
		t.Errorf("%d sessions are left", len(open))
	}
}

// Lists that can be long take all=1.
func TestDeletion_AppUsersAndFiles(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Update(func(tx *store.Tx) error {
		for i := range 150 {
			if err := store.AppUsers.Create(tx, &store.AppUser{
				Username: fmt.Sprintf("c%d", i),
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	in.OK("DELETE", "/user/list?all=1&except=1,2", "", "owner").Brief(200, `"count":148`)
	in.OK("GET", "/user/list", "", "owner").Brief(200, `"total":2`)
	a, b := in.Keep("owner", "a.txt", "a").ID, in.Keep("owner", "b.txt", "b").ID
	in.OK("DELETE", fmt.Sprintf("/file/list?all=1&except=%d", b), "", "owner").Brief(200,
		`"count":1`)
	in.OK("PUT", fmt.Sprint("/file/trash/", a), "", "owner")
	in.Clerk("deleter", "admin.list.delete")
	in.Call("DELETE", "/admin/list?all=1", "", "deleter").Brief(403, "admin.list.query")
	in.Call("DELETE", "/admin/list?all=1&ids=1", "", "owner").Names(400, "all")
	in.Call("DELETE", "/admin/list?all=1", "", "owner").Brief(409) // an owner remains
}
