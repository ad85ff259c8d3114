package people_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
)

// export downloads users and returns the names received.
func export(in *servertest.Instance, as string, then func()) (names []string, err error) {
	in.T.Helper()
	text, _, err := in.Download("/admin/list-export", as, then)
	whole := text[:strings.LastIndexByte(string(text), '\n')+1]
	rows, bad := csv.NewReader(strings.NewReader(string(whole))).ReadAll()
	servertest.Must(in.T, bad)
	for _, row := range rows[1:] {
		names = append(names, row[0])
	}
	return names, err
}

// withManyUsers returns an instance with more than two chunks of users, alternately in two
// departments. The second user is the clerk who exports.
func withManyUsers(t *testing.T) (in *servertest.Instance, clerk, role store.ID) {
	in = servertest.Start(t)
	in.Dept("One", 0)
	in.Dept("Two", 0)
	role = in.Role("Exporter", func(r *store.Role) { r.DataScope = "all" }, "admin.list.export")
	clerk = in.Member("clerk", 1, role)
	in.Update(func(tx *store.Tx) error {
		for i := range 2*people.ExportChunk + 10 {
			if err := store.Users.Create(tx, &store.User{
				Username: fmt.Sprintf("user%05d", i),
				DeptID:   store.ID(i%2 + 1),
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return in, clerk, role
}

// TestUserExport_Reauthorized checks that every chunk is authorized again, and that the
// client cannot take a partial export for complete.
func TestUserExport_Reauthorized(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(in *servertest.Instance, clerk, role store.ID){
		"the permission is taken away": func(in *servertest.Instance, _, role store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", role), `{"rule_ids":[]}`, "owner")
		},
		"the permission is disabled": func(in *servertest.Instance, _, _ store.ID) {
			in.SwitchPermission("admin.list.export", "status", 0)
		},
		"the role is disabled": func(in *servertest.Instance, _, role store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"status":0}`, "owner")
		},
		"the role is taken away": func(in *servertest.Instance, clerk, _ store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/list/", clerk), `{"role_ids":[]}`, "owner")
		},
		"the user is disabled": func(in *servertest.Instance, clerk, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", clerk), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *servertest.Instance, clerk, _ store.ID) {
			in.OK("DELETE", fmt.Sprint("/admin/list/", clerk), "", "owner")
		},
		"the user signs out": func(in *servertest.Instance, _, _ store.ID) {
			in.OK("POST", "/admin/logout", "", "clerk")
		},
		"the user is reset": func(in *servertest.Instance, clerk, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", clerk), "", "owner")
		},
		"the session times out": func(in *servertest.Instance, _, _ store.ID) {
			expire(in, "clerk")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, clerk, role := withManyUsers(t)
			names, err := export(in, "clerk", func() { then(in, clerk, role) })
			if !errors.Is(err, io.ErrUnexpectedEOF) || len(names) > people.ExportChunk {
				t.Errorf("%d users came, and the end was %v", len(names), err)
			}
		})
	}
}

// TestUserExport_FollowsData: users who are deleted or leave the scope are not in the
// chunks sent afterwards.
func TestUserExport_FollowsData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(in *servertest.Instance, clerk, role store.ID)
		want int
	}{
		"nothing happens": {nil, 2*people.ExportChunk + 12},
		"the token is replaced": {func(in *servertest.Instance, _, _ store.ID) {
			in.Reauth("clerk")
			in.EndFormerTokens()
		}, 2*people.ExportChunk + 12},
		"the last is deleted": {func(in *servertest.Instance, clerk, _ store.ID) {
			in.OK("DELETE", fmt.Sprint("/admin/list/", clerk+2*people.ExportChunk+10), "", "owner")
		}, 2*people.ExportChunk + 11},
		"the scope shrinks": {func(in *servertest.Instance, _, role store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"dept"}`, "owner")
		}, people.ExportChunk + (people.ExportChunk+12)/2},
		"the clerk moves": {func(in *servertest.Instance, clerk, role store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/list/", clerk), `{"dept_id":0}`, "owner")
			in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"dept_tree"}`, "owner")
		}, people.ExportChunk},
	} {
		t.Run(name, func(t *testing.T) {
			in, clerk, role := withManyUsers(t)
			then := func() {}
			if c.then != nil {
				then = func() { c.then(in, clerk, role) }
			}
			names, err := export(in, "clerk", then)
			if err != nil || len(names) != c.want {
				t.Errorf("%d users came, want %d; the end was %v", len(names), c.want, err)
			}
		})
	}
}

// expire makes a user's session expire.
func expire(in *servertest.Instance, name string) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err != nil {
			return err
		}

		for s, err := range store.SessionByUser.All(tx, u.ID) {
			if err != nil {
				return err
			}
			if _, err := store.Sessions.UpdateQuietly(tx, s.ID, func(s *store.Session) error {
				s.ExpiresAt = tx.Now()
				return nil
			}); err != nil {
				return err
			}
		}

		return nil
	})
}
