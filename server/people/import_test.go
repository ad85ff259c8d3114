package people_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// TestUserImport_ReauthorizedAfterUpload checks the authorization after the upload, since an upload
// can take long.
func TestUserImport_ReauthorizedAfterUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then   func(in *servertest.Instance, clerk *store.User)
		status int
	}{
		"nothing happens": {func(*servertest.Instance, *store.User) {}, 200},
		"the permission is taken away": {func(in *servertest.Instance, u *store.User) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`,
				"owner")
		}, 403},
		"the user signs out": {func(in *servertest.Instance, _ *store.User) {
			in.OK("POST", "/admin/logout", "", "clerk")
		}, 401},
		"the user is disabled": {func(in *servertest.Instance, u *store.User) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", u.ID), `{"status":0}`, "owner")
		}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			clerk := in.Clerk("clerk", "admin.list.import")
			r := in.Form("/admin/list-import", "username\nnew\n", "clerk")
			r.Body = io.NopCloser(&servertest.Late{Reader: r.Body, First: func() {
				c.then(in, clerk)
			}})
			in.Send(r).Brief(c.status)
			want := []string{"admin", "clerk"}
			if c.status == 200 {
				want = append(want, "new")
			}
			in.Lists("/admin/list", "username", "owner", want...)
		})
	}
}

func TestUserImport_ErrorsByRow(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	in.OK("PUT", "/admin/info", `{"email":"boss@example.org"}`, "owner")
	for name, c := range map[string]struct{ header, row, column string }{
		"a short name":                {"username", "ab", "username"},
		"no name":                     {"username,sex", ",1", "username"},
		"a name that another has":     {"username", "ADMIN", "username"},
		"an address that another has": {"username,email", "new,Boss@Example.org", "email"},
		"no address":                  {"username,email", "new,x", "email"},
		"no telephone number":         {"username,mobile", "new,call me", "mobile"},
		"a sex of 3":                  {"username,sex", "new,3", "sex"},
		"a sex in words":              {"username,sex", "new,female", "sex"},
		"a status of 2":               {"username,status", "new,2", "status"},
		"no such department":          {"username,department", "new,Nowhere", "department"},
		"a department without escape": {"username,department", "new,Head/Office", "department"},
		"a department's own name":     {"username,department", "new,Sales", "department"},
		"one of two departments":      {"username,department", "new,Twin", "department"},
		"no such role":                {"username,roles", "new,Plain;None", "roles"},
		"a role without escape":       {"username,roles", "new,Editor; chief", "roles"},
		"a nickname too long": {"username,nickname", "new," + strings.Repeat("x", 65),
			"nickname"},
	} {
		before := in.Dump()
		file := "\ufeff" + c.header + "\r\n" + c.row + "\r\n"
		created, failed, rows := in.Imported(file)
		if created != 0 || failed != 1 || len(rows) != 1 || rows[0].OK || rows[0].Line != 2 ||
			rows[0].Errors[c.column] == "" || len(rows[0].Errors) != 1 {
			t.Errorf("%s: %d, %d, %+v", name, created, failed, rows)
		}
		in.Upload("/admin/list-import", file, "owner").Names(422, "line 2 "+c.column)
		in.Unchanged(before)
	}
}

// A refused import lists many faults, and not as many as the client likes.
func TestUserImport_ErrorsBounded(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	for _, n := range []int{errs.MaxRowFaults - 100, errs.MaxRowFaults + 100} {
		file := "username\n" + strings.Repeat("x\n", n)
		a := in.Upload("/admin/list-import", file, "owner")
		if got := a.Envelope().Errors; a.Code != 422 || len(got) != min(n, errs.MaxRowFaults) ||
			got["line 2 username"] == "" {
			t.Errorf("%d rows: %d, %d errors", n, a.Code, len(got))
		}
		if _, failed, rows := in.Imported(file); failed != n || len(rows) != n {
			t.Errorf("dry run of %d rows: %d, %d", n, failed, len(rows))
		}
	}
}

func TestInvalidImportFiles(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	in.Clerk("clerk", "admin.list.export")
	before := in.Dump()
	var long strings.Builder
	long.WriteString("username\n")
	for i := range 10_001 {
		fmt.Fprintf(&long, "user%d\n", i)
	}

	for name, file := range map[string]string{
		"empty": "", "a mark alone": "\ufeff",
		"an unknown column": "username,password\nnew,secret\n",
		"no name":           "email\nx@example.org\n", "a column twice": "username,Username\na,b\n",
		"a short row": "username,email\nnew\n", "a long row": "username\nnew,x\n",
		"an open quote": "username\n\"new\n", "too many rows": long.String(),
	} {
		for _, query := range []string{"", "?dry_run=1"} {
			if a := in.Upload("/admin/list-import"+query, file, "owner"); a.Code != 422 ||
				a.Envelope().Errors["file"] == "" {
				t.Errorf("%s: %d %.300s", name, a.Code, a.Body)
			}
		}
	}

	in.Upload("/admin/list-import", "username\n"+strings.Repeat("x", people.MaxImportBytes),
		"owner").Brief(413)
	in.Upload("/admin/list-import?dry_run=2", "username\nnew\n", "owner").Names(400, "dry_run")
	in.Upload("/admin/list-import", "username\nnew\n", "clerk").Brief(403, "admin.list.import")
	in.Upload("/admin/list-import", "username\nnew\n", "nobody").Brief(401)
	in.Call("POST", "/admin/list-import", `{"file":"x"}`, "owner").Brief(415)
	in.Unchanged(before)
}

// TestUserImport_AllOrNothing also checks that imported users have no password.
func TestUserImport_AllOrNothing(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	const good = "Status,username,roles,department,mobile,sex\n" +
		`1,Ann,"Editor\; chief; plain;",head\/office/r\\d,'+49 30 1,2` + "\n" + `0,bert,Back\\slash,"Twin",,` + "\n"
	file := strings.Replace(good, `"Twin"`, "", 1)
	before := in.Dump()
	for _, bad := range []string{"1,cleo,None,,,\n", "1,ANN,,,,\n"} {
		if _, failed, rows := in.Imported(file + bad); failed != 1 || len(rows) != 3 ||
			!rows[0].OK || !rows[1].OK || rows[2].OK || rows[2].Line != 4 {
			t.Errorf("%+v", rows)
		}
		in.Upload("/admin/list-import", file+bad, "owner").Brief(422, `"line 4 `)
	}

	if _, failed, rows := in.Imported(file); failed != 0 || len(rows) != 2 {
		t.Errorf("%+v", rows)
	}

	in.Unchanged(before)
	in.Upload("/admin/list-import", file, "owner").Brief(200, `"dry_run":0,"created":2,"failed":0`)
	in.OK("GET", "/admin/list?keywordSearch=ann", "", "owner").Brief(200, `"mobile":"+49 30 1"`,
		`"dept_name":"R\\D"`, `"role_names":["Editor; chief","Plain"]`, `"sex":2`)
	in.Lists("/admin/list?status=0", "username", "owner", "bert")
	in.Login("ann", "").Brief(401)
	var out struct{ Password string }
	in.OK("PUT", "/admin/list/2/password", "", "owner").Data(&out)
	in.Login("ann", out.Password).Brief(200, `"must_change_password":1`)
}

// TestUserImport_Ceiling: importing users cannot grant more than the caller
// may grant.
func TestUserImport_Ceiling(t *testing.T) {
	t.Parallel()
	in := servertest.WithCeilings(t)
	in.Role("Importer", func(r *store.Role) {
		r.DataScope, r.GrantRoleIDs = "all", []store.ID{2}
	}, "admin.list.import")
	in.Member("importer", 0, 8)
	before := in.Dump()
	for role, lacking := range map[string]string{
		"Owner": "the owner role",
		"Other": "system.setting.delete",
	} {
		in.Upload("/admin/list-import", "username,roles\none,Editor\ntwo,"+role+"\n", "importer").Brief(422, `"line 3 row":`, lacking)
	}

	in.Unchanged(before)
	in.Upload("/admin/list-import", "username,roles\none,Editor\n", "importer").Brief(200)
}

func TestUserExport_EqualsListAndSafe(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	in.OK("PUT", "/admin/info", `{"nickname":"=HYPERLINK(\"x\")","mobile":"+49 1234"}`, "owner")
	in.Create("/admin/list",
		`{"username":"-ann","nickname":"@SUM(1)","email":"+x@example.org","dept_id":2,"role_ids":[2,3],"sex":2}`)
	in.Create("/admin/list",
		`{"username":"bert","nickname":"'quoted, \"twice\"","status":0,"dept_id":3}`)
	const header = web.ByteOrderMark + "username,nickname,email,mobile,sex,department,roles,status\n"
	admin := `admin,"'=HYPERLINK(""x"")",,'+49 1234,0,,Owner,1` + "\n"
	ann := `'-ann,'@SUM(1),'+x@example.org,,2,Head\/Office/R\\D,Editor\; chief;Back\\slash,1` + "\n"
	bert := `bert,"''quoted, ""twice""",,,0,Head\/Office/Sales,,0` + "\n"
	for query, want := range map[string]string{
		"": admin + ann + bert, "?status=0": bert, "?dept_id=1": ann + bert,
		"?keywordSearch=sum": ann, "?role_id=9": "",
		`?sorter={"username":"descend"}`: bert + admin + ann,
	} {
		a := in.OK("GET", "/admin/list-export"+query, "", "owner")
		if a.Body != header+want ||
			!strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment; ") ||
			a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v\n%s", query, a.Header, a.Body)
		}
	}

	in.Call("GET", "/admin/list-export?nonsense=1", "", "owner").Brief(400)
	in.Call("GET", `/admin/list-export?sorter={"email":"ascend"}`, "", "owner").Brief(400)
}

// TestUserExport_CanBeImported: more than a chunk of exported users can be imported
// into another instance.
func TestUserExport_CanBeImported(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, func(in *servertest.Instance) {
		in.Create("/admin/list",
			`{"username":"-ann","nickname":"'=1+1","email":"+x@example.org","mobile":"+49 1","dept_id":2,"role_ids":[2,3],"sex":2,"status":0}`)
		in.Update(func(tx *store.Tx) error {
			for i := range people.ExportChunk + 1 {
				if err := store.Users.Create(tx, &store.User{
					Username: fmt.Sprintf("user%05d", i),
					Nickname: "\"quoted\", 日本",
					DeptID:   3,
					RoleIDs:  []store.ID{4},
					Status:   true,
				}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	first := in.OK("GET", "/admin/list-export", "", "owner").Body
	other := servertest.WithOffice(t, nil)
	header, rest, _ := strings.Cut(first, "\n")
	_, rest, _ = strings.Cut(rest, "\n") // admin exists already
	other.Upload("/admin/list-import", header+"\n"+rest, "owner").Brief(200,
		fmt.Sprintf(`"created":%d,`, people.ExportChunk+2))
	if second := other.OK("GET", "/admin/list-export", "", "owner").Body; second != first {
		t.Errorf("%d bytes came back as %d", len(first), len(second))
	}
}
