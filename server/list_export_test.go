package server_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// exportedRows returns the header and the rows of a list as CSV.
func exportedRows(in *servertest.Instance, url, as string) (header []string, rows [][]string) {
	in.T.Helper()
	a := in.OK("GET", url, "", as)
	if media := a.Header.Get("Content-Type"); media != "text/csv; charset=utf-8" {
		in.T.Errorf("%s: %s", url, media)
	}
	text, marked := strings.CutPrefix(a.Body, web.ByteOrderMark)
	if !marked {
		in.T.Errorf("%s begins with %.20q", url, text)
	}
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	servertest.Must(in.T, err)
	return all[0], all[1:]
}

// manyUsers creates 1,234 users, every second of whom has the roles and the department 1.
func manyUsers(in *servertest.Instance, roles ...store.ID) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		for i := range 1234 {
			if err := store.Users.Create(tx, &store.User{
				Username: fmt.Sprintf("user%05d", i),
				Nickname: fmt.Sprintf("=%d", i),
				DeptID:   store.ID(i % 2),
				RoleIDs:  roles[:len(roles)*(i%2)],
				Status:   i%3 == 0,
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestListExport exports lists on disk and in memory: with the columns, filters, search and order of the request, of all
// pages, safe from formulas, and logged.
func TestListExport(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("One", 0)
	role := in.Role("=Cmd|' /C calc'!A0", nil)
	manyUsers(in, role)

	for url, want := range map[string]struct {
		header, first string
		rows          int
	}{
		`/admin/list?format=csv&columns=nickname,id,dept_name,role_names,last_login_at&keywordSearch=user&sorter={"username":"descend"}&page=7&pageSize=10`: {},
		`/admin/list?format=csv&columns=nickname,dept_name,role_names,login_time&keywordSearch=user&sorter={"username":"descend"}&page=7&pageSize=10`: {
			"nickname,dept_name,role_names,login_time", "'=1233|One|'=Cmd|' /C calc'!A0|", 1234,
		},
		"/admin/list?format=csv&columns=username&status=1&keywordSearch=user": {"username", "user00000", 412},
		"/admin/role?format=csv&columns=name,user_count&keywordSearch=calc":   {"name,user_count", "'=Cmd|' /C calc'!A0|617", 1},
		"/admin/role?format=csv&columns=name&separator=tab":                   {"name", "Owner", 2},
	} {
		url = strings.NewReplacer(`{`, "%7B", `}`, "%7D", `"`, "%22").Replace(url)
		if want.rows == 0 {
			if a := in.Call("GET", url, "", "owner"); a.Code != 400 && a.Code != 422 || !strings.Contains(a.Body, "must be different ones of") {
				t.Errorf("%s: %d %s", url, a.Code, a.Body)
			}
			continue
		}
		before := in.NewestEntry()
		header, rows := exportedRows(in, url, "owner")
		if got := strings.Join(header, ","); got != want.header || len(rows) != want.rows {
			t.Errorf("%s: %s and %d rows", url, got, len(rows))
			continue
		}
		if got := strings.Join(rows[0], "|"); got != want.first {
			t.Errorf("%s: begins with %s", url, got)
		}
		path, _, _ := strings.Cut(url, "?")
		if e := in.EntriesSince(before); len(e) != 1 || e[0].Action != "export" || e[0].Operation.Route != path {
			t.Errorf("%s is logged as %+v", url, e)
		}
	}

	if header, rows := exportedRows(in, "/system/session?format=csv", "owner"); len(rows) == 0 || header[0] != "id" || len(header) < 8 {
		t.Errorf("all columns: %q, %d rows", header, len(rows))
	}
	in.AppUser("customer")
	if a := in.Call("GET", "/api/user/passkey?format=csv", "", "customer"); a.Code != 400 {
		t.Errorf("a list of an app user: %d", a.Code)
	}
	for url, problem := range map[string]string{
		"/admin/role?format=ods":                         "must be one of",
		"/admin/role?columns=name":                       "can only be used with format=csv",
		"/admin/role?separator=tab":                      "can only be used with format=csv",
		"/admin/role?format=csv&columns=name,name":       "must be different ones of",
		"/admin/role?format=csv&columns=":                "",
		"/system/audit?format=csv":                       "unknown parameter",
		"/admin/list?format=csv&columns=fields.unknown":  "",
		"/admin/list?format=csv&columns=username&nick=1": "unknown parameter",
	} {
		if a := in.Call("GET", url, "", "owner"); !strings.Contains(a.Body, problem) || problem != "" && a.Code < 400 {
			t.Errorf("%s: %d %.200s, want %q", url, a.Code, a.Body, problem)
		}
	}
}

// TestListExport_Permitted checks that an export has the permission and the data scope of its list, that one of users needs
// the permission to export them, too, and that each page is authorized again.
func TestListExport_Permitted(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	role := in.Role("Scoped", func(r *store.Role) { r.DataScope = "dept" }, "admin.list.query", "system.session.query")
	in.Member("clerk", 10, role)
	in.Clerk("other", "admin.role.query")
	const users = "/admin/list?format=csv&columns=username"
	for as, code := range map[string]int{"clerk": 403, "other": 403, "owner": 200} {
		if a := in.Call("GET", users, "", as); a.Code != code {
			t.Errorf("%q: %d", as, a.Code)
		}
	}
	if a := in.Call("GET", "/system/loginlog?format=csv", "", "clerk"); a.Code != 403 {
		t.Errorf("without the permission: %d", a.Code)
	}
	_, mine := exportedRows(in, "/system/session?format=csv&columns=username", "clerk")
	_, all := exportedRows(in, "/system/session?format=csv&columns=username", "owner")
	if len(mine) == 0 || len(mine) >= len(all) {
		t.Errorf("the clerk has %d of %d sessions", len(mine), len(all))
	}

	in.Update(func(tx *store.Tx) error {
		for i := range 1600 {
			if err := store.Users.Create(tx, &store.User{Username: fmt.Sprintf("user%05d", i), Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	exporter := in.Role("Exporter", func(r *store.Role) { r.DataScope = "all" }, "admin.list.query", "admin.list.export")
	in.Member("exporter", 1, exporter)
	text, _, err := in.Download(users, "exporter", func() {
		in.SwitchPermission("admin.list.export", "status", 0)
	})
	if err == nil {
		t.Errorf("%d bytes were taken for a whole file after the permission was withdrawn", len(text))
	}
}

// TestListExport_Deletions checks that records that are deleted while an export is being sent don't make it miss others.
func TestListExport_Deletions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var first []store.ID
	in.Update(func(tx *store.Tx) error {
		for i := range 3000 {
			u := &store.User{Username: fmt.Sprintf("user%05d", i), Status: true}
			if err := store.Users.Create(tx, u); err != nil {
				return err
			}
			if i < 20 {
				first = append(first, u.ID)
			}
		}
		return nil
	})
	text, _, err := in.Download("/admin/list?format=csv&columns=username&sorter=%7B%22username%22:%22ascend%22%7D", "owner", func() {
		in.Update(func(tx *store.Tx) error {
			for _, id := range first {
				if err := store.Users.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
	})
	servertest.Must(t, err)
	for i := 20; i < 3000; i++ {
		if n := strings.Count(string(text), fmt.Sprintf("user%05d", i)); n != 1 {
			t.Fatalf("user%05d is there %d times", i, n)
		}
	}
}
