package rights_test

import (
	"fmt"
	"sync"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestPermission_MissingParentsCreated creates permissions by their keys alone.
func TestPermission_MissingParentsCreated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before, seq := in.State(), in.NewestEntry()
	in.OK("POST", "/admin/rule", `{"type":2,"key":"shop.order-items.refund","name":"Refund"}`,
		"owner")
	top, middle := in.Permission("shop"), in.Permission("shop.order-items")
	in.OK("GET", fmt.Sprint("/admin/rule-node/", top), "", "owner").Brief(200,
		`"parent_id":0,"type":0,"key":"shop","name":"Shop"`, `"show":1,"status":1`)
	in.OK("GET", fmt.Sprint("/admin/rule-node/", middle), "", "owner").Brief(200,
		fmt.Sprintf(`"parent_id":%d,"type":0,"key":"shop.order-items","name":"Order items"`, top))
	in.OK("GET", fmt.Sprint("/admin/rule-node/", in.Permission("shop.order-items.refund")), "",
		"owner").Brief(200, fmt.Sprintf(`"parent_id":%d,"type":2`, middle))

	if n := in.NewestEntry() - seq; n != 1 {
		t.Errorf("%d entries in the change log, want 1", n)
	}
	in.Undo(seq+1, "owner").Brief(200)
	in.SameState("undone", before)
}

// TestPermission_ExistingParentsUsed: a parent that is stated wins, and an action is none.
func TestPermission_ExistingParentsUsed(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	orders := in.Create("/admin/rule", `{"type":1,"key":"shop.order","name":"Orders"}`)
	in.OK("POST", "/admin/rule", `{"type":2,"key":"shop.order.query","name":"x"}`, "owner").Brief(200,
		fmt.Sprintf(`"parent_id":%d,`, orders))
	for _, parent := range []string{`"parent_id":0`, `"parent_id":null`, `"parent":""`} {
		id := in.Create("/admin/rule", `{"type":2,"key":"some.where","name":"x",`+parent+`}`)
		in.OK("GET", fmt.Sprint("/admin/rule-node/", id), "", "owner").Brief(200, `"parent_id":0,`)
		in.OK("DELETE", fmt.Sprint("/admin/rule/", id), "", "owner")
	}

	before := in.Dump()
	in.Call("POST", "/admin/rule", `{"type":2,"key":"shop.order.query.more.yet","name":"x"}`,
		"owner").Brief(422, `"key":"shop.order.query is an action, which can't have children`)
	in.Call("POST", "/admin/rule", `{"type":1,"key":"shop.order","name":"x"}`, "owner").Brief(409)
	in.Call("POST", "/admin/rule", `{"type":1,"key":"new.page","name":"x","url":"ftp://x"}`,
		"owner").Names(422, "url") // nor is the parent created
	in.Call("POST", "/admin/rule", `{"type":2,"key":"system.setting.read.x.y","name":"x"}`,
		"owner").Names(422, "key")
	in.Unchanged(before)
}

// TestAppPermission_MissingParentsCreated: the prefix of all keys is no parent.
func TestAppPermission_MissingParentsCreated(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before, seq := in.State(), in.NewestEntry()
	in.OK("POST", "/user/rule", `{"key":"app.order.line.refund","name":"Refund"}`, "owner")
	in.OK("GET", "/user/rule", "", "owner").Brief(200,
		`"parent_id":0,"key":"app.order","name":"Order"`, `"key":"app.order.line","name":"Line"`)
	if n := in.NewestEntry() - seq; n != 1 {
		t.Errorf("%d entries in the change log, want 1", n)
	}
	in.Undo(seq+1, "owner").Brief(200)
	in.SameState("undone", before)
	in.OK("POST", "/user/rule", `{"key":"app.order","name":"Order"}`, "owner").Brief(200,
		`"parent_id":0,`)
	for _, key := range []string{"shop.order.refund", "ap.x.y", "app"} {
		in.Call("POST", "/user/rule", `{"key":"`+key+`","name":"x"}`, "owner").Names(422, "key")
	}
}

// TestPermission_ParentsCreatedOnce creates permissions with the same missing parents at once.
func TestPermission_ParentsCreatedOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const n = 20
	replies := make([]*servertest.Reply, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			replies[i] = in.Call("POST", "/admin/rule",
				fmt.Sprintf(`{"type":2,"key":"shop.order.action%d","name":"x"}`, i), "owner")
		})
	}
	wait.Wait()

	parent := in.Permission("shop.order")
	for _, a := range replies {
		a.Brief(200, fmt.Sprintf(`"parent_id":%d,`, parent))
	}
	in.View(func(tx *store.Tx) error {
		children, err := store.PermissionByParent.Count(tx, parent)
		if children != n {
			t.Errorf("%d permissions, want %d", children, n)
		}
		return err
	})
}
