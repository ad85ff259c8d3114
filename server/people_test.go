package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/people"
	"reeve/server/rights"
	"reeve/server/web"
	"reeve/store"
)

// role creates a role with permissions.
func (in *instance) role(name string, edit func(*store.Role), keys ...string) store.ID {
	in.t.Helper()
	r := &store.Role{Name: name, Status: true, DataScope: store.ScopeSelf}
	for _, key := range keys {
		r.RuleIDs = append(r.RuleIDs, in.permission(key))
	}
	if edit != nil {
		edit(r)
	}
	in.update(func(tx *store.Tx) error { r.ID = 0; return store.Roles.Create(tx, r) })
	return r.ID
}

// member creates a signed-in user with ownerPassword.
func (in *instance) member(name string, dept store.ID, roles ...store.ID) store.ID {
	in.t.Helper()
	u := &store.User{Username: name, Status: true, DeptID: dept, RoleIDs: roles}
	in.update(func(tx *store.Tx) error {
		u.ID = 0
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		hash, err := auth.HashPassword(tx, ownerPassword, testCost)
		if err != nil {
			return err
		}
		return store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0)
	})
	in.tokens[name] = in.signIn(u.ID)
	return u.ID
}

// dept creates a department.
func (in *instance) dept(name string, parent store.ID) store.ID {
	in.t.Helper()
	d := &store.Dept{Name: name, ParentID: parent, Status: true}
	in.update(func(tx *store.Tx) error { d.ID = 0; return store.Depts.Create(tx, d) })
	return d.ID
}

// column returns one field of every record in a list's response.
func (in *instance) column(url, field, as string) []string {
	in.t.Helper()
	var p struct{ Data []map[string]json.RawMessage }
	in.ok("GET", url, "", as).data(&p)
	values := []string{}
	for _, r := range p.Data {
		values = append(values, strings.Trim(string(r[field]), `"`))
	}
	return values
}

// lists fails unless a list returns exactly these values of a field, in this order.
func (in *instance) lists(url, field, as string, want ...string) {
	in.t.Helper()
	if got := in.column(url, field, as); !slices.Equal(got, append([]string{}, want...)) {
		in.t.Errorf("%s as %s: %q, want %q", url, as, got, want)
	}
}

// undeclared are fields of records that no body has, with recognizable values.
func undeclared(in *web.Input) (ignored, refused map[string]any) {
	ignored, refused = map[string]any{}, map[string]any{}
	texts := []string{
		encodeZero(store.User{}), encodeZero(store.AppUser{}), encodeZero(store.Role{}), encodeZero(store.Dept{}), encodeZero(store.Permission{}),
		encodeZero(store.Setting{}), encodeZero(store.SettingGroup{}), encodeZero(store.Session{}), encodeZero(store.LoginLog{}), encodeZero(store.PasswordHash{}),
		encodeZero(store.SessionToken{}), encodeZero(people.User{}), encodeZero(rights.Role{}), encodeZero(people.AppUser{}), encodeZero(account.Session{}),
	}
	for _, text := range texts {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			panic(err)
		}
		for name, value := range fields {
			if in.Has("json", name) || slices.Contains(in.State, name) {
				continue
			}
			switch value.(type) {
			case string:
				value = "tampered"
			case float64:
				value = 1
			default:
				value = []int{1}
			}
			if in.ReadOnly[name] {
				ignored[name] = value
			} else {
				refused[name] = value
			}
		}
	}
	return ignored, refused
}

func encodeZero(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// steadyDump is a dump without values that differ between two instances.
func (in *instance) steadyDump() map[string]string {
	all := map[string]string{}
	for key, text := range in.dump() {
		if kind, _, _ := strings.Cut(key, " "); kind != "password_hash" && kind != "session_token" && kind != "install" {
			all[key] = steady(text)
		}
	}
	return all
}

// TestMassAssignment_DeclaredFieldsOnly sends every field of every record to every route that
// writes: the fields of the route's record are ignored (at the small size, by a third of the
// routes), the others rejected.
func TestMassAssignment_DeclaredFieldsOnly(t *testing.T) {
	t.Parallel()
	refusing := withGoodBodies(t)
	before, chosen := refusing.dump(), third(t)
	for _, rt := range bodied() {
		changes := chosen()
		t.Run(rt.Name(), func(t *testing.T) {
			good := goodBodies()[rt.Name()]
			ignored, refused := undeclared(rt.Input)
			if len(refused) == 0 {
				t.Fatal("no field is refused")
			}
			here := refusing.in(t)
			for name, value := range refused {
				body := with(t, good.body, name, string(encodeJSON(t, value)))
				a := here.call(rt.Method, good.url, body, holder(&rt))
				if a.Code != 400 || a.envelope().Errors[name] == "" {
					t.Errorf("%s: %d %s", name, a.Code, a.Body)
				}
			}
			if len(ignored) == 0 || !changes {
				return
			}
			plain, tampered := withGoodBodies(t), withGoodBodies(t)
			first := plain.ok(rt.Method, good.url, plain.withCode(&rt, good.body), holder(&rt))
			body := good.body
			for name, value := range ignored {
				body = with(t, body, name, string(encodeJSON(t, value)))
			}
			second := tampered.ok(rt.Method, good.url, tampered.withCode(&rt, body), holder(&rt))
			if steady(first.Body) != steady(second.Body) {
				t.Errorf("answered %s\nand, with read-only fields, %s", first.Body, second.Body)
			}
			want, got := plain.steadyDump(), tampered.steadyDump()
			for key := range want {
				if want[key] != got[key] {
					t.Errorf("%s is %s, and with read-only fields %s", key, want[key], got[key])
				}
			}
			if len(want) != len(got) {
				t.Errorf("%d records, and with read-only fields %d", len(want), len(got))
			}
		})
	}
	refusing.unchanged(before)
}

// fourLevels creates the departments 1 to 101: 1 contains 10, which contains 100, which
// contains 101; all others are at the top level. Some of them have a user named after
// the department.
func fourLevels(t testing.TB) *instance {
	in := start(t)
	above := map[store.ID]store.ID{10: 1, 100: 10, 101: 100}
	in.update(func(tx *store.Tx) error {
		for id := store.ID(1); id <= 101; id++ {
			if err := store.Depts.Create(tx, &store.Dept{Name: fmt.Sprint("D", id), ParentID: above[id], Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, dept := range []store.ID{0, 1, 2, 10, 11, 100, 101} {
		id := in.member(fmt.Sprint("in.", dept), dept)
		in.update(func(tx *store.Tx) error {
			return store.LoginLogs.Create(tx, &store.LoginLog{UserID: id, Username: fmt.Sprint("in.", dept), Realm: "admin", Result: store.LoginFailed, Count: 1})
		})
	}
	in.update(func(tx *store.Tx) error {
		return store.LoginLogs.Create(tx, &store.LoginLog{Username: "unknown", Realm: "admin", Result: store.LoginFailed, Count: 1})
	})
	return in
}
