package server

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"reeve/server/jobs"
	"reeve/store"
)

// TestDeletion_ManyByAJob deletes more users than one transaction can, and undoes it.
func TestDeletion_ManyByAJob(t *testing.T) {
	t.Parallel()
	in := start(t)
	n := size(250, 1000, 5000)
	staff := in.staff(n, 0, in.role("Plain", nil))
	for range 10 {
		in.signIn(staff[3])
	}
	const all = "/admin/list?all=1&keywordSearch=staff"
	in.ok("DELETE", all+"&dry_run=1", "", "owner").brief(200, fmt.Sprintf(`"data":{"count":%d}`, n))
	in.ok("GET", "/admin/list?keywordSearch=staff", "", "owner").brief(200, fmt.Sprintf(`"total":%d`, n))
	var out jobs.Deleted
	in.ok("DELETE", all, "", "owner").data(&out)
	if out.Count != int64(n) || out.Job == nil || out.Job.State != store.JobDone || out.Job.Kind != "user_delete" {
		t.Errorf("%+v %+v", out, out.Job)
	}
	in.ok("GET", "/admin/list?keywordSearch=staff", "", "owner").brief(200, `"total":0`)
	if open := in.sessionsOf(staff[3]); len(open) != 0 {
		t.Errorf("%d sessions are left", len(open))
	}
	if largest := in.db.Stats().Largest; largest > store.MaxRecordsPerWrite {
		t.Errorf("a write changed %d records", largest)
	}
	in.ok("DELETE", all, "", "owner").brief(200, `"data":{}`)

	var log struct {
		Data []struct {
			Seq    uint64
			Action string
		}
	}
	in.ok("GET", "/system/audit?collection=user&pageSize=1", "", "owner").data(&log)
	in.undo(log.Data[0].Seq, "owner").brief(200)
	in.ok("GET", "/admin/list?keywordSearch=staff", "", "owner").brief(200, fmt.Sprintf(`"total":%d`, n))
}

// A deletion by ID whose records have too many others becomes a job, too.
func TestDeletion_ManyDependentRecords(t *testing.T) {
	t.Parallel()
	in := start(t)
	staff := in.staff(150, 0, in.role("Plain", nil))
	for _, id := range staff {
		in.update(func(tx *store.Tx) error { return store.SetHash(tx, store.Account{ID: id}, "$2a$04$x", false, 0) })
	}
	in.ok("DELETE", "/admin/list?ids="+manyOf(staff), "", "owner").brief(200, `"count":150`, `"kind":"user_delete"`)
	in.lists("/admin/list", "username", "owner", "admin")
}

// A deletion that fails halfway leaves everything as it was, passwords and sessions included.
func TestDeletion_FailedIsReverted(t *testing.T) {
	t.Parallel()
	in := start(t)
	staff := in.staff(150, 0, in.role("Plain", nil))
	in.member("deleter", 0, in.role("Deleter", func(r *store.Role) { r.DataScope = store.ScopeAll }, "admin.list.query", "admin.list.delete"))
	for _, id := range staff {
		in.update(func(tx *store.Tx) error { return store.SetHash(tx, store.Account{ID: id}, "$2a$04$x", false, 0) })
	}
	in.signIn(staff[3])
	in.server.jobs.Turn <- struct{}{} // another job is running
	var wg sync.WaitGroup
	var answer *reply
	wg.Go(func() { answer = in.call("DELETE", "/admin/list?all=1&keywordSearch=staff", "", "deleter") })
	until(t, "the job is stored", func() bool {
		jobs := in.jobs("owner")
		return len(jobs) > 0 && jobs[0].State == store.JobRunning
	})
	in.ok("PUT", fmt.Sprint("/admin/list/", staff[0]), fmt.Sprintf(`{"role_ids":[%d]}`, store.OwnerRole), "owner") // who is deleted last
	state := func() map[string]string {
		all := in.dump()
		maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, "job") || strings.Contains(name, "log") })
		return all
	}
	before := state()
	<-in.server.jobs.Turn
	wg.Wait()
	answer.brief(409, "job_failed", "nothing was changed")
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("(- before, + after):\n%s", diff)
	}
	if open := in.sessionsOf(staff[3]); len(open) != 1 {
		t.Errorf("%d sessions are left", len(open))
	}
}

// Lists that can be long take all=1.
func TestDeletion_AppUsersAndFiles(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.update(func(tx *store.Tx) error {
		for i := range 150 {
			if err := store.AppUsers.Create(tx, &store.AppUser{Username: fmt.Sprintf("c%d", i), Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	in.ok("DELETE", "/user/list?all=1&except=1,2", "", "owner").brief(200, `"count":148`)
	in.ok("GET", "/user/list", "", "owner").brief(200, `"total":2`)
	a, b := in.keep("owner", "a.txt", "a").ID, in.keep("owner", "b.txt", "b").ID
	in.ok("DELETE", fmt.Sprintf("/file/list?all=1&except=%d", b), "", "owner").brief(200, `"count":1`)
	in.ok("PUT", fmt.Sprint("/file/trash/", a), "", "owner")
	in.clerk("deleter", "admin.list.delete")
	in.call("DELETE", "/admin/list?all=1", "", "deleter").brief(403, "admin.list.query")
	in.call("DELETE", "/admin/list?all=1&ids=1", "", "owner").names(400, "all")
	in.call("DELETE", "/admin/list?all=1", "", "owner").brief(409) // an owner remains
}
