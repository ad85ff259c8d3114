package rights_test

import (
	"net/url"
	"runtime"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestDeptFilter_RepeatedLookedUpOnce: each department includes all below it, so a short
// request with repeated departments must not become an expensive query.
func TestDeptFilter_RepeatedLookedUpOnce(t *testing.T) {
	in := servertest.Start(t)
	top := in.Dept("Top", 0)
	in.Update(func(tx *store.Tx) error {
		for range 1000 {
			if err := store.Depts.Create(tx, &store.Dept{Name: "D", ParentID: top, Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	in.Member("ann", top+7)
	filter := `{"dept_id":[1` + strings.Repeat(",1", 5000) + `]}`
	in.Lists(`/admin/list?filter={"dept_id":[1]}`, "username", "owner", "ann") // fills caches
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in.Lists("/admin/list?filter="+url.QueryEscape(filter), "username", "owner", "ann")
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 16 {
		t.Errorf("the question took %d MiB", mib)
	}
}
