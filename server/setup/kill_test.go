package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// copied returns a copy of a data directory, as a crash would leave it.
func copied(t testing.TB, from string) string {
	to := t.TempDir()
	for _, name := range []string{"data.db", "files.db", "secret.key", "instance"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		servertest.Must(t, err)
		servertest.Must(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
	return to
}

// manyRoles returns a file that a job applies, in several steps.
func manyRoles(n int) map[string]any {
	roles := map[string]any{}
	for i := range n {
		roles[fmt.Sprintf("Role %03d", i)] = map[string]any{"permissions": []any{"system.info"}, "sort": i}
	}
	return map[string]any{"roles": roles}
}

// TestSetup_AppliedAgainAfterCrash applies a file again right after a crash that has interrupted the
// job after any of its commits: before, while or after the next start continues it.
func TestSetup_AppliedAgainAfterCrash(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	var images []string
	record := true
	in.DB.OnCommit(func(kv.Changes) { // in the writer, so nothing changes at the same time
		if record {
			images = append(images, copied(t, in.Dir))
		}
	})
	in.OK("POST", "/system/setup/apply", file(t, manyRoles(120), false), "cli")
	in.Update(func(*store.Tx) error { record = false; return nil })
	if len(images) < 6 {
		t.Fatalf("%d commits", len(images))
	}

	for i, dir := range images {
		after := servertest.Open(t, dir)
		after.Tokens["cli"] = servertest.ByCommand + "jens"
		after.Tokens["owner"] = after.SignIn(1)
		// One role is in a transaction, all are in a job.
		for _, n := range []int{119, 120} {
			after.OK("POST", "/system/setup/apply", file(t, manyRoles(n), false), "cli")
			servertest.Must(t, after.Server.Jobs.Resume())
			after.Server.Jobs.Running.Wait()
			left := changesOf(after.OK("POST", "/system/setup/plan", file(t, manyRoles(n), false), "cli"))
			disktest.Equal(t, fmt.Sprintf("what is left after commit %d of %d", i+1, len(images)), left, nil)
		}
		for _, j := range after.Jobs("owner") {
			if !j.Ended() {
				t.Errorf("after commit %d, job %d is %s", i+1, j.ID, j.State)
			}
		}
		after.Close()
	}
}

// TestSetup_OneAtATime applies and plans a setup while a job that applies another is prepared by a
// request.
func TestSetup_OneAtATime(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.Update(func(tx *store.Tx) error {
		return store.Jobs.Create(tx, &store.Job{Kind: "setup", State: store.JobPreparing, UserID: 1, Username: "admin"})
	})
	before := in.Dump()
	for _, values := range []map[string]any{decodedShop(t), manyRoles(120)} {
		for _, path := range []string{"plan", "apply"} {
			in.Call("POST", "/system/setup/"+path, file(t, values, false), "cli").Brief(503, "job 1")
		}
	}
	in.Unchanged(before)
}
