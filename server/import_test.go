package server

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/store"
	"reeve/store/errs"
)

// upload sends a file like a browser's form.
func (in *instance) upload(url, file, as string) *reply {
	in.t.Helper()
	return in.send(in.form(url, file, as))
}

// form builds the request that uploads a file.
func (in *instance) form(url, file, as string) *http.Request {
	in.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	must(in.t, err)
	_, err = part.Write([]byte(file))
	must(in.t, err)
	must(in.t, form.Close())
	r := httptest.NewRequest("POST", url, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	if token := in.tokens[as]; token != "" {
		authorize(r, token)
	}
	return r
}

// late is a body that runs a function before it is read.
type late struct {
	io.Reader
	first func()
}

func (l *late) Read(b []byte) (int, error) {
	if first := l.first; first != nil {
		l.first = nil
		first()
	}
	return l.Reader.Read(b)
}

// TestUserImport_ReauthorizedAfterUpload checks the authorization after the upload, since an upload
// can take long.
func TestUserImport_ReauthorizedAfterUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then   func(in *instance, clerk *store.User)
		status int
	}{
		"nothing happens": {func(*instance, *store.User) {}, 200},
		"the permission is taken away": {func(in *instance, u *store.User) {
			in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`, "owner")
		}, 403},
		"the user signs out": {func(in *instance, _ *store.User) { in.ok("POST", "/admin/logout", "", "clerk") }, 401},
		"the user is disabled": {func(in *instance, u *store.User) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", u.ID), `{"status":0}`, "owner")
		}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			clerk := in.clerk("clerk", "admin.list.import")
			r := in.form("/admin/list-import", "username\nnew\n", "clerk")
			r.Body = io.NopCloser(&late{r.Body, func() { c.then(in, clerk) }})
			in.send(r).brief(c.status)
			want := []string{"admin", "clerk"}
			if c.status == 200 {
				want = append(want, "new")
			}
			in.lists("/admin/list", "username", "owner", want...)
		})
	}
}

// imported returns the counts of the response and the faults of each row.
func (in *instance) imported(file string) (created, failed int, rows []people.Verdict) {
	in.t.Helper()
	a := in.upload("/admin/list-import?dry_run=1", file, "owner")
	var out people.ImportOut
	a.brief(200)
	a.data(&out)
	return out.Created, out.Failed, out.Rows
}

// withOffice returns an instance with departments and roles whose names need quoting.
func withOffice(t testing.TB, more func(in *instance)) *instance {
	in := start(t)
	top := in.dept("Head/Office", 0)
	in.dept(`R\D`, top)
	in.dept("Sales", top)
	in.dept("Twin", 0)
	in.dept("Twin", 0)
	in.role("Editor; chief", nil)
	in.role(`Back\slash`, nil)
	in.role("Plain", nil)
	if more != nil {
		more(in)
	}
	return in
}

func TestUserImport_ErrorsByRow(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	in.ok("PUT", "/admin/info", `{"email":"boss@example.org"}`, "owner")
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
		"a nickname too long":         {"username,nickname", "new," + strings.Repeat("x", 65), "nickname"},
	} {
		before := in.dump()
		file := "\ufeff" + c.header + "\r\n" + c.row + "\r\n"
		created, failed, rows := in.imported(file)
		if created != 0 || failed != 1 || len(rows) != 1 || rows[0].OK || rows[0].Line != 2 || rows[0].Errors[c.column] == "" || len(rows[0].Errors) != 1 {
			t.Errorf("%s: %d, %d, %+v", name, created, failed, rows)
		}
		in.upload("/admin/list-import", file, "owner").names(422, "line 2 "+c.column)
		in.unchanged(before)
	}
}

// A refused import lists many faults, and not as many as the client likes.
func TestUserImport_ErrorsBounded(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	for _, n := range []int{errs.MaxRowFaults - 100, errs.MaxRowFaults + 100} {
		file := "username\n" + strings.Repeat("x\n", n)
		a := in.upload("/admin/list-import", file, "owner")
		if got := a.envelope().Errors; a.Code != 422 || len(got) != min(n, errs.MaxRowFaults) || got["line 2 username"] == "" {
			t.Errorf("%d rows: %d, %d errors", n, a.Code, len(got))
		}
		if _, failed, rows := in.imported(file); failed != n || len(rows) != n {
			t.Errorf("dry run of %d rows: %d, %d", n, failed, len(rows))
		}
	}
}

func TestInvalidImportFiles(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	in.clerk("clerk", "admin.list.export")
	before := in.dump()
	var long strings.Builder
	long.WriteString("username\n")
	for i := range 10_001 {
		fmt.Fprintf(&long, "user%d\n", i)
	}
	for name, file := range map[string]string{
		"empty": "", "a mark alone": "\ufeff", "an unknown column": "username,password\nnew,secret\n", "no name": "email\nx@example.org\n", "a column twice": "username,Username\na,b\n",
		"a short row": "username,email\nnew\n", "a long row": "username\nnew,x\n", "an open quote": "username\n\"new\n", "too many rows": long.String(),
	} {
		for _, query := range []string{"", "?dry_run=1"} {
			if a := in.upload("/admin/list-import"+query, file, "owner"); a.Code != 422 || a.envelope().Errors["file"] == "" {
				t.Errorf("%s: %d %.300s", name, a.Code, a.Body)
			}
		}
	}
	in.upload("/admin/list-import", "username\n"+strings.Repeat("x", people.MaxImportBytes), "owner").brief(413)
	in.upload("/admin/list-import?dry_run=2", "username\nnew\n", "owner").names(400, "dry_run")
	in.upload("/admin/list-import", "username\nnew\n", "clerk").brief(403, "admin.list.import")
	in.upload("/admin/list-import", "username\nnew\n", "nobody").brief(401)
	in.call("POST", "/admin/list-import", `{"file":"x"}`, "owner").brief(415)
	in.unchanged(before)
}

// TestUserImport_AllOrNothing also checks that imported users have no password.
func TestUserImport_AllOrNothing(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	const good = "Status,username,roles,department,mobile,sex\n" +
		`1,Ann,"Editor\; chief; plain;",head\/office/r\\d,'+49 30 1,2` + "\n" + `0,bert,Back\\slash,"Twin",,` + "\n"
	file := strings.Replace(good, `"Twin"`, "", 1)
	before := in.dump()
	for _, bad := range []string{"1,cleo,None,,,\n", "1,ANN,,,,\n"} {
		if _, failed, rows := in.imported(file + bad); failed != 1 || len(rows) != 3 || !rows[0].OK || !rows[1].OK || rows[2].OK || rows[2].Line != 4 {
			t.Errorf("%+v", rows)
		}
		in.upload("/admin/list-import", file+bad, "owner").brief(422, `"line 4 `)
	}
	if _, failed, rows := in.imported(file); failed != 0 || len(rows) != 2 {
		t.Errorf("%+v", rows)
	}
	in.unchanged(before)
	in.upload("/admin/list-import", file, "owner").brief(200, `"dry_run":0,"created":2,"failed":0`)
	in.ok("GET", "/admin/list?keywordSearch=ann", "", "owner").brief(200, `"mobile":"+49 30 1"`, `"dept_name":"R\\D"`, `"role_names":["Editor; chief","Plain"]`, `"sex":2`)
	in.lists("/admin/list?status=0", "username", "owner", "bert")
	in.login("ann", "").brief(401)
	var out struct{ Password string }
	in.ok("PUT", "/admin/list/2/password", "", "owner").data(&out)
	in.login("ann", out.Password).brief(200, `"must_change_password":1`)
}

// TestUserImport_Ceiling: importing users cannot grant more than the caller
// may grant.
func TestUserImport_Ceiling(t *testing.T) {
	t.Parallel()
	in := withCeilings(t)
	in.role("Importer", func(r *store.Role) { r.DataScope, r.GrantRoleIDs = "all", []store.ID{2} }, "admin.list.import")
	in.member("importer", 0, 8)
	before := in.dump()
	for role, lacking := range map[string]string{"Owner": "the owner role", "Other": "system.setting.delete"} {
		in.upload("/admin/list-import", "username,roles\none,Editor\ntwo,"+role+"\n", "importer").brief(422, `"line 3 row":`, lacking)
	}
	in.unchanged(before)
	in.upload("/admin/list-import", "username,roles\none,Editor\n", "importer").brief(200)
}

func TestUserExport_EqualsListAndSafe(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	in.ok("PUT", "/admin/info", `{"nickname":"=HYPERLINK(\"x\")","mobile":"+49 1234"}`, "owner")
	in.create("/admin/list", `{"username":"-ann","nickname":"@SUM(1)","email":"+x@example.org","dept_id":2,"role_ids":[2,3],"sex":2}`)
	in.create("/admin/list", `{"username":"bert","nickname":"'quoted, \"twice\"","status":0,"dept_id":3}`)
	const header = people.ByteOrderMark + "username,nickname,email,mobile,sex,department,roles,status\n"
	admin := `admin,"'=HYPERLINK(""x"")",,'+49 1234,0,,Owner,1` + "\n"
	ann := `'-ann,'@SUM(1),'+x@example.org,,2,Head\/Office/R\\D,Editor\; chief;Back\\slash,1` + "\n"
	bert := `bert,"''quoted, ""twice""",,,0,Head\/Office/Sales,,0` + "\n"
	for query, want := range map[string]string{
		"": admin + ann + bert, "?status=0": bert, "?dept_id=1": ann + bert, "?keywordSearch=sum": ann, "?role_id=9": "", `?sorter={"username":"descend"}`: bert + admin + ann,
	} {
		a := in.ok("GET", "/admin/list-export"+query, "", "owner")
		if a.Body != header+want || !strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment; ") || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v\n%s", query, a.Header, a.Body)
		}
	}
	in.call("GET", "/admin/list-export?nonsense=1", "", "owner").brief(400)
	in.call("GET", `/admin/list-export?sorter={"email":"ascend"}`, "", "owner").brief(400)
}

// TestUserExport_CanBeImported: more than a chunk of exported users can be imported
// into another instance.
func TestUserExport_CanBeImported(t *testing.T) {
	t.Parallel()
	in := withOffice(t, func(in *instance) {
		in.create("/admin/list", `{"username":"-ann","nickname":"'=1+1","email":"+x@example.org","mobile":"+49 1","dept_id":2,"role_ids":[2,3],"sex":2,"status":0}`)
		in.update(func(tx *store.Tx) error {
			for i := range people.ExportChunk + 1 {
				if err := store.Users.Create(tx, &store.User{Username: fmt.Sprintf("user%05d", i), Nickname: "\"quoted\", 日本", DeptID: 3, RoleIDs: []store.ID{4}, Status: true}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	first := in.ok("GET", "/admin/list-export", "", "owner").Body
	other := withOffice(t, nil)
	header, rest, _ := strings.Cut(first, "\n")
	_, rest, _ = strings.Cut(rest, "\n") // admin exists already
	other.upload("/admin/list-import", header+"\n"+rest, "owner").brief(200, fmt.Sprintf(`"created":%d,`, people.ExportChunk+2))
	if second := other.ok("GET", "/admin/list-export", "", "owner").Body; second != first {
		t.Errorf("%d bytes came back as %d", len(first), len(second))
	}
}
