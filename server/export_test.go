package server

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/store"
)

// interrupted is a response that runs a function once, after the first bytes have been
// written.
type interrupted struct {
	http.ResponseWriter
	then func()
}

func (w *interrupted) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	if then := w.then; then != nil {
		w.then = nil
		then()
	}
	return n, err
}

// download reads a response over a connection and runs a function meanwhile. It returns
// the received bytes, the promised length (-1 if none) and the error at the end.
func (in *instance) download(path, as string, then func()) (body []byte, promised int64, err error) {
	in.t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.server.Handler().ServeHTTP(&interrupted{w, then}, r)
	}))
	defer web.Close()
	r, err := http.NewRequest("GET", web.URL+path, nil)
	must(in.t, err)
	r.Header.Set("Authorization", "Bearer "+in.tokens[as])
	a, err := http.DefaultTransport.RoundTrip(r)
	must(in.t, err)
	defer a.Body.Close()
	if a.StatusCode != 200 {
		in.t.Fatalf("%s answers %d", path, a.StatusCode)
	}
	body, err = io.ReadAll(a.Body)
	return body, a.ContentLength, err
}

// export downloads users and returns the names received.
func (in *instance) export(as string, then func()) (names []string, err error) {
	in.t.Helper()
	text, _, err := in.download("/admin/list-export", as, then)
	whole := text[:strings.LastIndexByte(string(text), '\n')+1]
	rows, bad := csv.NewReader(strings.NewReader(string(whole))).ReadAll()
	must(in.t, bad)
	for _, row := range rows[1:] {
		names = append(names, row[0])
	}
	return names, err
}

// withManyUsers returns an instance with more than two chunks of users, alternately in two
// departments. The second user is the clerk who exports.
func withManyUsers(t *testing.T) (in *instance, clerk, role store.ID) {
	in = start(t)
	in.dept("One", 0)
	in.dept("Two", 0)
	role = in.role("Exporter", func(r *store.Role) { r.DataScope = "all" }, "admin.list.export")
	clerk = in.member("clerk", 1, role)
	in.update(func(tx *store.Tx) error {
		for i := range 2*people.ExportChunk + 10 {
			if err := store.Users.Create(tx, &store.User{Username: fmt.Sprintf("user%05d", i), DeptID: store.ID(i%2 + 1), Status: true}); err != nil {
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
	for name, then := range map[string]func(in *instance, clerk, role store.ID){
		"the permission is taken away": func(in *instance, _, role store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", role), `{"rule_ids":[]}`, "owner")
		},
		"the permission is disabled": func(in *instance, _, _ store.ID) { in.switchPermission("admin.list.export", "status", 0) },
		"the role is disabled": func(in *instance, _, role store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/role/", role), `{"status":0}`, "owner")
		},
		"the role is taken away": func(in *instance, clerk, _ store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/list/", clerk), `{"role_ids":[]}`, "owner")
		},
		"the user is disabled": func(in *instance, clerk, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", clerk), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *instance, clerk, _ store.ID) { in.ok("DELETE", fmt.Sprint("/admin/list/", clerk), "", "owner") },
		"the user signs out":  func(in *instance, _, _ store.ID) { in.ok("POST", "/admin/logout", "", "clerk") },
		"the user is reset": func(in *instance, clerk, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", clerk), "", "owner")
		},
		"the session times out": func(in *instance, _, _ store.ID) { in.expire("clerk") },
	} {
		t.Run(name, func(t *testing.T) {
			in, clerk, role := withManyUsers(t)
			names, err := in.export("clerk", func() { then(in, clerk, role) })
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
		then func(in *instance, clerk, role store.ID)
		want int
	}{
		"nothing happens": {nil, 2*people.ExportChunk + 12},
		"the token is replaced": {func(in *instance, _, _ store.ID) {
			in.reauth("clerk")
			in.endFormerTokens()
		}, 2*people.ExportChunk + 12},
		"the last is deleted": {func(in *instance, clerk, _ store.ID) {
			in.ok("DELETE", fmt.Sprint("/admin/list/", clerk+2*people.ExportChunk+10), "", "owner")
		}, 2*people.ExportChunk + 11},
		"the scope shrinks": {func(in *instance, _, role store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"dept"}`, "owner")
		}, people.ExportChunk + (people.ExportChunk+12)/2},
		"the clerk moves": {func(in *instance, clerk, role store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/list/", clerk), `{"dept_id":0}`, "owner")
			in.ok("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"dept_tree"}`, "owner")
		}, people.ExportChunk},
	} {
		t.Run(name, func(t *testing.T) {
			in, clerk, role := withManyUsers(t)
			then := func() {}
			if c.then != nil {
				then = func() { c.then(in, clerk, role) }
			}
			names, err := in.export("clerk", then)
			if err != nil || len(names) != c.want {
				t.Errorf("%d users came, want %d; the end was %v", len(names), c.want, err)
			}
		})
	}
}

// expire makes a user's session expire.
func (in *instance) expire(name string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err != nil {
			return err
		}
		for s, err := range store.SessionByUser.All(tx, u.ID) {
			if err != nil {
				return err
			}
			if _, err := store.Sessions.UpdateQuietly(tx, s.ID, func(s *store.Session) error { s.ExpiresAt = tx.Now(); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}
