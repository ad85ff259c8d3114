package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// commandLine returns an instance with a command as the caller "cli".
func commandLine(t *testing.T) *servertest.Instance {
	in := servertest.Start(t)
	in.Tokens["cli"] = servertest.ByCommand + "jens"
	return in
}

func TestOperator_InChangeLog(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.NewestEntry()
	in.OK("POST", "/admin/role", `{"name":"By a command"}`, "cli")
	entries := in.EntriesSince(before)
	if len(entries) != 1 {
		t.Fatalf("%d entries", len(entries))
	}
	if a := entries[0].Actor; a.Kind != "cli" || a.ID != 0 || string(a.Name.Plain) != `"cli:jens"` {
		t.Errorf("the actor is %+v", a)
	}
}

// TestOperator_RulesHold checks that an operator is exempt from confirmations alone.
func TestOperator_RulesHold(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.Call("PUT", "/admin/list/1/status", `{"status":0}`, "cli").Brief(409, "last enabled user")
	in.Call("DELETE", "/admin/role/1", "", "cli").Brief(409, "owner role")
	in.Call("POST", "/admin/role", `{"name":""}`, "cli").Names(422, "name")
	in.Call("GET", "/admin/account", "", "cli").Brief(404)
	in.Call("GET", "/admin/info", "", "cli").Brief(403, "a command has none")

	u := in.Person("second")
	in.OK("PUT", fmt.Sprint("/admin/list/", u.ID), `{"role_ids":[1]}`, "cli") // needs a proof of a user
	in.OK("PUT", "/admin/list/1/status", `{"status":0}`, "cli")

	r := in.Request("GET", "/admin/list", "", "cli")
	r.Header.Set("Authorization", "Bearer "+in.SignIn(u.ID))
	in.Send(r).Brief(http.StatusBadRequest, "can't be used with this socket")
}

// TestOperator_OwnerOfWhatItCreates checks that keys and webhooks of a command belong to the first
// enabled owner.
func TestOperator_OwnerOfWhatItCreates(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.Person("holder") // has the role 2
	var key struct {
		ID     store.ID
		UserID store.ID `json:"user_id"`
		Token  string
	}
	in.OK("POST", "/admin/key", `{"name":"deploy","role_ids":[2]}`, "cli").Data(&key)
	if key.UserID != 1 || key.Token == "" {
		t.Errorf("%+v", key)
	}
	in.OK("POST", fmt.Sprintf("/admin/key/%d/rotate", key.ID), "{}", "cli")
	in.OK("DELETE", fmt.Sprintf("/admin/key/%d", key.ID), "", "cli")

	var hook struct {
		OwnerID store.ID `json:"owner_id"`
	}
	in.OK("POST", "/system/webhook", `{"url":"https://example.org/a","types":["role.*"]}`, "cli").Data(&hook)
	if hook.OwnerID != 1 {
		t.Errorf("%+v", hook)
	}
}

// TestOperator_JobsGoOnWithItsRights checks an operation that needs a job.
func TestOperator_JobsGoOnWithItsRights(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	ids := ""
	for i := range 150 {
		ids += fmt.Sprint(",", in.Person(fmt.Sprint("person", i)).ID)
	}
	in.OK("DELETE", "/admin/list?ids="+ids[1:], "", "cli")
	in.OK("GET", "/admin/list", "", "cli").Brief(200, `"total":1`)
}
