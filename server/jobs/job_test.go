package jobs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"reeve/server/jobs"
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// manyPeople returns a file with n users to import.
func manyPeople(n int) string {
	var file strings.Builder
	file.WriteString("username,email,roles\n")
	for i := range n {
		fmt.Fprintf(&file, "person%05d,person%05d@example.org,Plain\n", i, i)
	}
	return file.String()
}

func userCount(in *servertest.Instance) (n int) {
	in.View(func(tx *store.Tx) (err error) {
		n, err = store.Users.Count(tx)
		return err
	})
	return n
}

func TestImportJob_BoundedSteps(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	commits := in.DB.Stats().Commits
	n := servertest.Size(450, 2000, 10_000)
	a := in.Upload("/admin/list-import", manyPeople(n), "owner")
	var out people.ImportOut
	a.Brief(200)
	a.Data(&out)
	if out.Created != n || out.Job.State != store.JobDone || out.Job.Total != int64(n) ||
		out.Job.EndedAt == 0 {
		t.Errorf("%d created, %+v", out.Created, out.Job)
	}

	stats := in.DB.Stats()
	if stats.Largest > kv.MaxRecordsPerWrite {
		t.Errorf("a write changed %d records", stats.Largest)
	}
	if got, least := int(stats.Commits-commits), n/jobs.JobStepRecords; got < least {
		t.Errorf("%d commits, want at least %d", got, least)
	}
	if jobs := in.Jobs("owner"); len(jobs) != 1 || jobs[0].Username != "admin" ||
		jobs[0].Done != int64(n) {
		t.Errorf("%+v", jobs)
	}

	in.View(func(tx *store.Tx) error {
		steps, err := store.JobSteps.Count(tx)
		if steps != 0 {
			t.Errorf("%d steps are left", steps)
		}
		return err
	})
}

// TestImportJob_CheckLeavesWriterFree: validation runs outside the writer, so a dry
// run writes nothing and others can write meanwhile.
func TestImportJob_CheckLeavesWriterFree(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	before := in.DB.Stats()
	in.Imported(manyPeople(servertest.Size(1000, 5000, 10_000)))
	if after := in.DB.Stats(); after.Updates != before.Updates {
		t.Errorf("%d writes", after.Updates-before.Updates)
	}
}

func TestImportJob_CellBounds(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	for name, c := range map[string]struct{ file, field string }{
		"four million role names": {"username,roles\nnew," + strings.Repeat("a;", 4_000_000-1000) + "\n", "file"},
		"a long cell": {"username,nickname\nnew," + strings.Repeat("x",
			people.MaxCellBytes+1) + "\n", "file"},
		"a long row": {"username,nickname,roles\nnew," + strings.Repeat("x",
			people.MaxCellBytes) + "," + strings.Repeat("y", people.MaxCellBytes) + "\n", "file"},
	} {
		if a := in.Upload("/admin/list-import?dry_run=1", c.file, "owner"); a.Code != 422 ||
			!strings.Contains(a.Envelope().Errors[c.field], "line 2") || len(a.Body) > 2000 {
			t.Errorf("%s: %d %.300s", name, a.Code, a.Body)
		}
	}

	_, _, rows := in.Imported("username,roles\nnew," + strings.Repeat("a;", people.MaxCellNames+1) + "\n")
	if !strings.Contains(rows[0].Errors["roles"], "at most 100 roles") {
		t.Errorf("%+v", rows)
	}

	_, _, rows = in.Imported("username,roles\nnew," + strings.Repeat("a", people.MaxCellBytes-100) + "\n")
	if n := len(rows[0].Errors["roles"]); n == 0 || n > 2*people.MaxEcho {
		t.Errorf("an error of %d bytes", n)
	}
}

func TestImportJob_DuplicateInFile(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	_, failed, rows := in.Imported("username,email\nann,a@example.org\nANN,b@example.org\nbob,A@example.org\n")
	if failed != 2 || rows[1].Errors["username"] != "is the same as on line 2" ||
		rows[2].Errors["email"] != "is the same as on line 2" {
		t.Errorf("%+v", rows)
	}
}

// heldImport uploads an import of n users and calls then when its job is stored, before it runs.
func heldImport(in *servertest.Instance, n int, as string, then func()) *servertest.Reply {
	in.T.Helper()
	return in.HeldUpload("/admin/list-import", manyPeople(n), as, then)
}

func TestImportJob_FailureIsUndone(t *testing.T) {
	t.Parallel()
	const n = 2*jobs.JobStepRecords + 50
	for name, c := range map[string]struct {
		then func(in *servertest.Instance, clerk *store.User)
		says string
	}{
		"a name is taken meanwhile": {func(in *servertest.Instance, _ *store.User) {
			in.Create("/admin/list", `{"username":"person00249"}`)
		}, "line 251 username"},
		"the role is deleted meanwhile": {func(in *servertest.Instance, _ *store.User) {
			in.OK("DELETE", fmt.Sprintf("/admin/role/%d", roleNamed(in, "Plain")), "", "owner")
		}, "line 2 roles"},
		"the permission is revoked": {func(in *servertest.Instance, clerk *store.User) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", clerk.RoleIDs[0]), `{"rule_ids":[]}`,
				"owner")
		}, "admin.list.import"},
		"the user is disabled": {func(in *servertest.Instance, clerk *store.User) {
			in.Update(func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, clerk.ID, func(u *store.User) error {
					u.Status = false
					return nil
				})
				return err
			})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.WithOffice(t, nil)
			clerk := in.Clerk("clerk", "admin.list.import")
			users := 0
			a := heldImport(in, n, "clerk", func() { c.then(in, clerk); users = userCount(in) })
			if a.Code == 200 || !strings.Contains(a.Body, c.says) {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			if got := userCount(in); got != users {
				t.Errorf("%d users, want %d", got, users)
			}
			if j := in.Jobs("owner")[0]; j.State != store.JobFailed || j.Done != 0 || j.Msg == "" {
				t.Errorf("%+v", j)
			}

			r := in.Request("GET", "/system/job", "", "owner")
			r.Header.Set("Accept-Language", "zh")
			var page struct{ Data []store.Job }
			in.Send(r).Data(&page)
			if j := page.Data[0]; !strings.ContainsFunc(j.Msg, func(r rune) bool {
				return unicode.Is(unicode.Han, r)
			}) || len(j.Reason) == 0 {
				t.Errorf("in Chinese: %+v", j)
			}
			if largest := in.DB.Stats().Largest; largest > kv.MaxRecordsPerWrite {
				t.Errorf("a write changed %d records", largest)
			}
		})
	}
}

func roleNamed(in *servertest.Instance, name string) (id store.ID) {
	in.View(func(tx *store.Tx) error {
		r, err := store.RoleByName.Get(tx, name)
		if err == nil {
			id = r.ID
		}
		return err
	})
	return id
}

// TestJob_ContinuedAfterCrash: a job interrupted after any of its commits is
// completed, or undone, by the next start. A crash is simulated by a copy of the data
// directory after a commit.
func TestJob_ContinuedAfterCrash(t *testing.T) {
	t.Parallel()
	const n = jobs.JobStepRecords + 20
	for name, taken := range map[string]bool{"done": false, "undone": true} {
		t.Run(name, func(t *testing.T) {
			in := servertest.WithOffice(t, nil)
			users := userCount(in)
			if taken {
				users++
			}

			var images []string
			record := false
			in.DB.OnCommit(func(kv.Changes) { // in the writer, so nothing changes meanwhile
				if record {
					images = append(images, copyData(t, in.Dir))
				}
			})
			a := heldImport(in, n, "owner", func() {
				if taken {
					in.Create("/admin/list", fmt.Sprintf(`{"username":"person%05d"}`, n-1))
				}
				in.Update(func(*store.Tx) error { record = true; return nil })
			})

			in.Update(func(*store.Tx) error { record = false; return nil })
			if (a.Code == 200) == taken || len(images) < 4 {
				t.Fatalf("%d %s, %d commits", a.Code, a.Body, len(images))
			}

			for i, dir := range images {
				other := servertest.Open(t, dir)
				continueJobs(other)
				other.Tokens["owner"] = other.SignIn(1)
				want, state := users+n, store.JobDone
				if taken {
					want, state = users, store.JobFailed
				}
				if got, j := userCount(other), other.Jobs("owner")[0]; got != want ||
					j.State != state {
					t.Errorf("after commit %d of %d: %d users, want %d; %+v", i+1, len(images),
						got, want, j)
				}
				other.Close()
			}
		})
	}
}

// TestJob_UnpreparedIsGivenUp has a job whose steps were not all stored when the process ended.
func TestJob_UnpreparedIsGivenUp(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Update(func(tx *store.Tx) error {
		j := &store.Job{
			Kind:     people.UserRealm.ImportJob,
			State:    store.JobPreparing,
			UserID:   1,
			Username: "admin",
			Total:    200,
		}
		if err := store.Jobs.Create(tx, j); err != nil {
			return err
		}
		return store.JobSteps.Create(tx,
			&store.JobStep{JobID: j.ID, Input: []byte("[]"), Count: 100})
	})
	for range 2 { // continuing it again changes nothing
		continueJobs(in)
		if j := in.Jobs("owner")[0]; j.State != store.JobFailed || j.Done != 0 {
			t.Errorf("%+v", j)
		}
		servertest.Must(t, in.Server.Jobs.Run(1))
	}

	in.Update(func(tx *store.Tx) error { return store.Jobs.Delete(tx, 1) }) // as trimming does
	servertest.Must(t, in.Server.Jobs.Run(1))
}

// continueJobs does what a start does, and waits for the end.
func continueJobs(in *servertest.Instance) {
	in.T.Helper()
	in.Server.Jobs.FindAbandoned()
	for _, id := range in.Server.Jobs.Abandoned {
		in.Server.Jobs.Start(id)
	}
	servertest.Must(in.T, in.Server.Jobs.Resume())
	in.Server.Jobs.Running.Wait()
}

func TestJob_Limit(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	add := func(n int, user store.ID) {
		in.Update(func(tx *store.Tx) error {
			for range n {
				if err := store.Jobs.Create(tx, &store.Job{
					Kind:   people.UserRealm.ImportJob,
					State:  store.JobRunning,
					UserID: user,
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}

	in.Clerk("clerk", "admin.list.import")
	add(jobs.MaxJobsPerUser, 1)
	in.Upload("/admin/list-import", manyPeople(1), "owner").Brief(429, "of your jobs")
	add(jobs.MaxJobs-jobs.MaxJobsPerUser, 1)
	in.Upload("/admin/list-import", manyPeople(1), "clerk").Brief(503, "try again")
	in.Update(func(tx *store.Tx) error { return store.Jobs.Delete(tx, 1) })
	in.Upload("/admin/list-import", manyPeople(1), "clerk").Brief(200)
}

// TestJob_Visibility: users see their own jobs, and with the permission those of users
// in their data scope.
func TestJob_Visibility(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	in.Clerk("clerk", "admin.list.import")
	in.Clerk("other")
	in.Clerk("auditor", "system.job.query")
	in.Upload("/admin/list-import", manyPeople(1), "clerk").Brief(200)
	in.Lists("/admin/job", "username", "clerk", "clerk")
	in.Lists("/admin/job", "username", "other")
	in.OK("GET", "/admin/job/1", "", "clerk").Brief(200, `"state":"done"`)
	in.Call("GET", "/admin/job/1", "", "other").Brief(404)
	in.Lists("/system/job", "username", "auditor", "clerk")
	in.OK("GET", "/system/job/1", "", "auditor")
	in.Call("GET", "/system/job", "", "clerk").Brief(403, "system.job.query")
}

// copyData copies the files that a crash leaves, without the lock.
func copyData(t testing.TB, from string) string {
	to := t.TempDir()
	for _, name := range []string{"data.db", "files.db", "secret.key", "instance"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		servertest.Must(t, err)
		servertest.Must(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
	return to
}

// TestJob_ContinuedEveryMinute checks that interrupted jobs continue without a restart.
func TestJob_ContinuedEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { in.Server.Jobs.Keep(ctx); close(ended) }()
		time.Sleep(jobs.RetryJobs + time.Second)
		in.Update(func(tx *store.Tx) error { // as an interruption would leave it
			return store.Jobs.Create(tx, &store.Job{
				Kind:     people.UserRealm.ImportJob,
				State:    store.JobRunning,
				UserID:   1,
				Username: "admin",
			})
		})
		time.Sleep(3 * jobs.RetryJobs)
		if j := in.Jobs("owner")[0]; j.State != store.JobDone {
			t.Errorf("%+v", j)
		}

		cancel()
		<-ended
		in.Close()
	})
}
