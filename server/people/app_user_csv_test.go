package people_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestAppUserImport(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("taken")
	in.Update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, 1, func(u *store.AppUser) error {
			u.Email = "taken@example.org"
			return nil
		})
		return err
	})
	in.Clerk("importer", "user.list.import")
	in.Clerk("exporter", "user.list.export", "admin.list.import", "user.list.query")
	for name, c := range map[string]struct{ header, row, column string }{
		"a short name":                {"username", "ab", "username"},
		"no name":                     {"username,status", ",1", "username"},
		"a name that another has":     {"username", "TAKEN", "username"},
		"an address that another has": {"username,email", "new,Taken@example.org", "email"},
		"no address":                  {"username,email", "new,x", "email"},
		"no telephone number":         {"username,mobile", "new,call me", "mobile"},
		"a status of 2":               {"username,status", "new,2", "status"},
		"a nickname too long": {"username,nickname", "new," + strings.Repeat("x", 65),
			"nickname"},
	} {
		before := in.Dump()
		file := c.header + "\r\n" + c.row + "\r\n"
		var out people.ImportOut
		in.Upload("/user/list-import?dry_run=1", file, "importer").Data(&out)
		if out.Created != 0 || out.Failed != 1 || len(out.Rows) != 1 || out.Rows[0].OK ||
			out.Rows[0].Errors[c.column] == "" || len(out.Rows[0].Errors) != 1 {
			t.Errorf("%s: %+v", name, out)
		}
		in.Upload("/user/list-import", file, "importer").Names(422, "line 2 "+c.column)
		in.Unchanged(before)
	}

	for _, column := range []string{"department", "sex", "email_verified", "password", "id"} {
		in.Upload("/user/list-import", "username,"+column+"\nnew,1\n", "owner").Names(422, "file")
	}

	in.Upload("/user/list-import", "username\nnew\nNEW\n", "owner").Names(422, "line 3 username")
	in.Create("/user/role", `{"name":"Gold"}`)
	in.Upload("/user/list-import", "username,roles\nnew,Silver\n", "owner").Names(422,
		"line 2 roles")
	if a := in.Upload("/user/list-import", "username,roles\nnew,$2y$10$canary\n", "owner"); strings.Contains(a.Body, "canary") {
		t.Errorf("a hash in the wrong column is repeated: %s", a.Body)
	}

	in.Upload("/user/list-import", "username,roles\nnew,gold\n", "importer").Brief(422,
		"line 2 row", store.AppRolePermission)
	in.Upload("/user/list-import", "username\nnew\n", "exporter").Brief(403, "user.list.import")
	in.Upload("/user/list-import", "username\nnew\n", "nobody").Brief(401)
	in.Upload("/user/list-import?invite=1", "username\nnew\n", "importer").Brief(403,
		"user.invite.create")
	in.Call("GET", "/user/list-export", "", "importer").Brief(403, "user.list.export")

	in.Upload("/user/list-import",
		"Status;username;email;mobile;nickname\n1;Ann;a@example.org;'+49 30 1;A\n0;bert;;;\n",
		"importer").Brief(200, `"dry_run":0,"created":2,"failed":0`, `"kind":"app_user_import"`)
	in.OK("GET", "/user/list?keywordSearch=ann", "", "owner").Brief(200, `"mobile":"+49 30 1"`,
		`"nickname":"A"`, `"email":"a@example.org","email_verified":0`)
	in.Lists("/user/list?status=0", "username", "owner", "bert")
	in.Lists("/admin/list?keywordSearch=bert", "username", "owner")
}

// An export has the users that the list selects, and can be imported elsewhere.
func TestAppUserExport(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	roles := func(in *servertest.Instance) {
		in.Create("/user/role", `{"name":"Gold"}`)
		in.Create("/user/role", `{"name":"Half; full"}`)
	}
	roles(in)
	in.Create("/user/list",
		`{"username":"-ann","nickname":"=1+1","email":"+x@example.org","mobile":"+49 1","role_ids":[2,1],"status":0,"password":"long enough it is"}`)
	in.Update(func(tx *store.Tx) error {
		for i := range people.ExportChunk + 1 {
			if err := store.AppUsers.Create(tx, &store.AppUser{
				Username: fmt.Sprintf("user%05d", i),
				Nickname: "\"quoted\", 日本",
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	in.Clerk("exporter", "user.list.export")
	const header = web.ByteOrderMark + "username,nickname,email,mobile,roles,status\n"
	ann := "'-ann,'=1+1,'+x@example.org,'+49 1,Half\\; full;Gold,0\n"
	for query, want := range map[string]string{
		"?status=0":             ann,
		"?keywordSearch=ann":    ann,
		"?keywordSearch=nobody": "",
	} {
		a := in.OK("GET", "/user/list-export"+query, "", "exporter")
		if a.Body != header+want ||
			!strings.HasPrefix(a.Header.Get("Content-Disposition"),
				`attachment; filename="app-users-`) {
			t.Errorf("%s: %v\n%s", query, a.Header, a.Body)
		}
	}

	in.Call("GET", "/user/list-export?dept_id=1", "", "owner").Brief(400)
	first := in.OK("GET", "/user/list-export", "", "owner").Body
	other := servertest.Start(t)
	roles(other)
	other.Upload("/user/list-import", first, "owner").Brief(200,
		fmt.Sprintf(`"created":%d,`, people.ExportChunk+2))
	if second := other.OK("GET", "/user/list-export", "", "owner").Body; second != first {
		t.Errorf("%d bytes came back as %d", len(first), len(second))
	}

	in.OK("GET", "/system/audit?action=export&pageSize=1", "", "owner").Brief(200,
		`/user/list-export`)
}
