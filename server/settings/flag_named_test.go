package settings_test

import (
	"fmt"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// named makes an API key with all data in its scope, and a flag that it may evaluate.
func named(t *testing.T) (in *servertest.Instance, at string) {
	t.Helper()
	in = servertest.Start(t)
	in.Flag(in.FlagGroup("shop", false), "checkout", servertest.OnFor(`"name":"all"`))
	in.Role("Shop program", func(r *store.Role) { r.DataScope = store.ScopeAll }, store.ReadPermission("shop"))
	in.NewKey("shop", "/admin/key", `{"name":"shop","roles":["Shop program"]}`, "owner")
	return in, in.Live() + flagStream(in, "shop")
}

// asks evaluates the flag for a user whom the key names.
func asks(in *servertest.Instance, kind string, id store.ID) {
	in.T.Helper()
	in.OK("POST", servertest.AllFlags+"/shop.checkout",
		fmt.Sprintf(`{"context":{"targetingKey":"%s:%d"}}`, kind, id), "shop")
}

// TestFlagStream_NamedUsers: the stream of an API key tells of changes of the users whom the key has
// named, as far as they concern flags, and of no others.
func TestFlagStream_NamedUsers(t *testing.T) {
	t.Parallel()
	in, at := named(t)
	tester := in.Role("Tester", nil)
	ann, bob := in.Member("ann", 0), in.Member("bob", 0)
	customer := in.AppUser("customer").ID
	before := state(in, at, "nobody")
	asks(in, "user", ann)
	asks(in, "app_user", customer)
	asks(in, "user", 4711)
	l := in.Follow(at, "nobody", "Last-Event-ID", before)
	l.Last = before

	for _, c := range []struct {
		what string
		told bool
		do   func()
	}{
		{"nothing", false, func() {}},
		{"a user who was not named", false, func() {
			in.OK("PUT", fmt.Sprint("/admin/list/", bob), fmt.Sprintf(`{"role_ids":[%d]}`, tester), "owner")
		}},
		{"a field that no flag has", false, func() {
			in.OK("PUT", fmt.Sprint("/admin/list/", ann), `{"nickname":"Ann"}`, "owner")
		}},
		{"a role of a named user", true, func() {
			in.OK("PUT", fmt.Sprint("/admin/list/", ann), fmt.Sprintf(`{"role_ids":[%d]}`, tester), "owner")
		}},
		{"the status of that role", true, func() {
			in.OK("PUT", fmt.Sprint("/admin/role/", tester), `{"status":0}`, "owner")
		}},
		{"the name of a named app user", true, func() {
			in.OK("PUT", fmt.Sprint("/user/list/", customer), `{"username":"buyer"}`, "owner")
		}},
		{"the status of a named app user", true, func() {
			in.OK("PUT", fmt.Sprint("/user/list/", customer), `{"status":0}`, "owner")
		}},
		{"and back", true, func() {
			in.OK("PUT", fmt.Sprint("/user/list/", customer), `{"status":1}`, "owner")
		}},
	} {
		c.do()
		if told := state(in, at, "nobody") != l.Last; told != c.told {
			t.Fatalf("%s: told is %v, want %v", c.what, told, c.told)
		}
		if c.told {
			refetches(t, l)
		}
		asks(in, "user", ann) // as the client does then
	}
}

// TestFlagStream_ManyNamedUsers: the users that a key has named last are remembered.
func TestFlagStream_ManyNamedUsers(t *testing.T) {
	t.Parallel()
	in, at := named(t)
	first, last := in.Member("first", 0), in.Member("last", 0)
	asks(in, "user", first)
	for id := range store.ID(1000) {
		asks(in, "user", 5000+id)
	}
	asks(in, "user", last)
	before := state(in, at, "nobody")
	in.OK("PUT", fmt.Sprint("/admin/list/", first), `{"username":"forgotten"}`, "owner")
	if now := state(in, at, "nobody"); now != before {
		t.Error("a user who is not remembered is an event")
	}
	in.OK("PUT", fmt.Sprint("/admin/list/", last), `{"username":"remembered"}`, "owner")
	if now := state(in, at, "nobody"); now == before {
		t.Error("the user who was named last is no event")
	}
}
