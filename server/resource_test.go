package server_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestResource_MismatchedInputRefused(t *testing.T) {
	type text struct {
		Name *string `json:"name"`
	}
	type other struct {
		Name *int64 `json:"name"`
	}
	type plain struct {
		Name string `json:"name"`
	}
	type unknown struct {
		Nickname *string `json:"nickname"`
	}
	for name, c := range map[string]struct {
		build func()
		fails bool
	}{
		"the field":         {func() { web.Assigning[text, store.Dept]() }, false},
		"another type":      {func() { web.Assigning[other, store.Dept]() }, true},
		"no pointer":        {func() { web.Assigning[plain, store.Dept]() }, true},
		"an unknown field":  {func() { web.Assigning[unknown, store.Dept]() }, true},
		"an embedded input": {func() { web.Assigning[people.AppUserIn, store.AppUser]() }, false},
	} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != c.fails {
					t.Errorf("%s: %v", name, p)
				}
			}()
			c.build()
		}()
	}
}

func TestResource_AssignsSentFieldsOnly(t *testing.T) {
	mail, flag := "new@example.org", store.Flag(false)
	u := store.AppUser{Username: "ann", Email: "old@example.org", Mobile: "1", Status: true}
	people.AssignAppUser(&people.AppUserIn{ProfileIn: people.ProfileIn{Email: &mail},
		Status: &flag}, &u)
	if want := (store.AppUser{Username: "ann", Email: mail, Mobile: "1"}); !reflect.DeepEqual(u,
		want) {
		t.Errorf("%+v, want %+v", u, want)
	}
}

// TestResource_MonitoredByOperation checks the name in monitoring, since a closure has no
// meaningful one.
func TestResource_MonitoredByOperation(t *testing.T) {
	in := servertest.Start(t)
	in.Create("/admin/dept", `{"name":"Top"}`)
	for _, c := range []struct{ method, url, body, handler string }{
		{"GET", "/system/dict/1", "", "getDict"},
		{"POST", "/system/dict", `{"code":"c","name":"C"}`, "createDict"},
		{"PUT", "/admin/dept/1", `{"name":"T"}`, "updateDept"},
		{"DELETE", "/admin/dept/1", "", "deleteDept"},
		{"DELETE", "/file/group?ids=7", "", "deleteFileGroups"},
	} {
		in.Call(c.method, c.url, c.body, "owner")
		in.Flush()
		in.Lists("/system/monitor/request?pageSize=1&method="+c.method, "handler", "owner",
			c.handler)
	}

	for _, rt := range server.Routes() {
		if strings.HasPrefix(rt.Handler, "func") {
			t.Errorf("%s has the handler %q", rt.Name(), rt.Handler)
		}
	}
}

// TestResource_DeptScope: the Resource and the store's constraint are declared separately; a record
// with a department obeys both.
func TestResource_DeptScope(t *testing.T) {
	in := servertest.Start(t)
	own := in.Dept("Own", 0)
	in.Member("other", in.Dept("Other", 0))
	in.Member("chief", own, in.Role("chief", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query"))
	var chief *store.Actor
	in.View(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, "chief")
		if err == nil {
			chief = &store.Actor{
				ID:       u.ID,
				Username: u.Username,
				RoleIDs:  u.RoleIDs,
				DeptID:   u.DeptID,
			}
		}
		return err
	})
	scope := web.InDeptScope(store.UserByDept)
	in.View(func(tx *store.Tx) error {
		c, narrow := scope(tx, &web.Request{Actor: chief})
		if ids := c.IDs(tx); !narrow || fmt.Sprint(ids) != fmt.Sprint([]store.ID{chief.ID}) {
			t.Errorf("narrow %t, %v", narrow, ids)
		}
		if _, narrow := scope(tx, &web.Request{Actor: store.System}); narrow {
			t.Error("the system's scope is narrow")
		}
		return nil
	})
}
