package files_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// fileKeys are the permissions for files.
var fileKeys = []string{"file.list.query", "file.list.create", "file.list.update",
	"file.list.delete", "file.list.download", "file.trash.query", "file.trash.restore",
	"file.trash.delete"}

// TestFile_DataScope: on every route, files of uploaders outside the data scope are not
// found and not changed.
func TestFile_DataScope(t *testing.T) {
	t.Parallel()
	for _, c := range servertest.InScope {
		t.Run(fmt.Sprint(c.Scope, c.Depts), func(t *testing.T) {
			in := servertest.FourLevels(t)
			up := in.Role("Uploader", nil, "file.list.create")
			role := in.Role("Scoped", func(r *store.Role) {
				r.DataScope, r.DeptIDs = c.Scope, c.Depts
			}, fileKeys...)
			in.Member("clerk", 10, role)
			live, trashed := map[string]store.ID{}, map[string]store.ID{}
			seen := map[string]bool{"clerk": true, "leaver": c.Others}
			for _, name := range c.Users {
				seen[name] = true
			}

			leaver := in.Member("leaver", 10, up)
			users := []string{"clerk", "leaver", "in.0", "in.1", "in.2", "in.10", "in.11",
				"in.100", "in.101"}
			for _, name := range users {
				asUploader(in, name, up)
				live[name] = in.Keep(name, name, "live "+name).ID
				trashed[name] = in.Keep(name, name, "trashed "+name).ID
				in.OK("DELETE", fmt.Sprint("/file/list/", trashed[name]), "", "owner")
			}

			in.OK("DELETE", fmt.Sprint("/admin/list/", leaver), "", "owner")
			want := []string{}
			for i := range users {
				if name := users[len(users)-1-i]; seen[name] {
					want = append(want, name)
				}
			}

			in.Lists("/file/list?pageSize=100", "name", "clerk", want...)
			in.Lists("/file/trash?pageSize=100", "name", "clerk", want...)
			in.Lists("/file/list?pageSize=100&kind=document&public=0", "name", "clerk", want...)
			hidden := len(users) - len(want)
			for _, query := range []string{"", "?pageSize=1&page=3", "?keywordSearch=in.1",
				"?keywordSearch=nothing+has+this", "?kind=image&public=1", "?group_id=8"} {
				hides(in, "/file/list"+query, "clerk", hidden)
			}

			hides(in, "/file/trash", "clerk", hidden)
			hides(in, "/file/trash?keywordSearch=trashed+in.2", "clerk", hidden)
			hides(in, "/file/list", "owner", 0)
			in.OK("GET", "/file/list?pageSize=1", "", "clerk").Brief(200,
				fmt.Sprintf(`"total":%d,`, len(want)))
			in.OK("GET", "/file/trash?pageSize=1&keywordSearch=e", "", "clerk").Brief(200,
				fmt.Sprintf(`"total":%d,`, map[bool]int{true: 2, false: 1}[c.Others]))
			for _, name := range append(users[1:], "clerk") {
				scopedFile(in, live[name], trashed[name], live["clerk"], trashed["clerk"],
					seen[name])
			}
		})
	}
}

// hides checks the number of records outside the caller's scope that a list reports: it is
// the same for all parameters, and absent if it is 0.
func hides(in *servertest.Instance, url, as string, want int) {
	in.T.Helper()
	var list map[string]json.RawMessage
	in.OK("GET", url, "", as).Data(&list)
	if got, told := list["hidden"]; told != (want > 0) || told && string(got) != fmt.Sprint(want) {
		in.T.Errorf("%s as %s: hidden %s, want %d", url, as, got, want)
	}
}

// asUploader creates a user who can upload, and signs them in.
func asUploader(in *servertest.Instance, name string, role store.ID) {
	in.T.Helper()
	var id store.ID
	in.Update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err != nil {
			return err
		}
		id = u.ID
		_, err = store.Users.Update(tx, id, func(u *store.User) error {
			u.RoleIDs = append(u.RoleIDs, role)
			return nil
		})
		return err
	})
	in.Tokens[name] = in.SignIn(id)
}

// scopedFile requests every route for a live and a trashed file of one uploader. A batch with
// the caller's own file and one out of scope must fail.
func scopedFile(in *servertest.Instance, live, trashed, own, ownTrashed store.ID, seen bool) {
	in.T.Helper()
	url, trash := fmt.Sprint("/file/list/", live), fmt.Sprint("/file/trash/", trashed)
	steps := [][3]string{
		{"GET", url, ""},
		{"GET", url + "/content", ""},
		{"HEAD", url + "/content", ""},
		{"POST", url + "/link", ""},
		{"PUT", url, `{}`},
		{"PUT", fmt.Sprintf("/file/list?ids=%d,%d", own, live), `{"public":0}`},
		{"DELETE", url, ""},
		{"PUT", fmt.Sprint("/file/trash/", live), ""},
		{"PUT", trash, ""},
		{"DELETE", fmt.Sprint("/file/list/", trashed), ""},
		{"DELETE", trash, ""},
	}

	status, before := 200, in.Dump()
	if !seen {
		status = 404
		steps = append(steps,
			[3]string{"DELETE", fmt.Sprintf("/file/list?ids=%d,%d", own, live), ""},
			[3]string{"DELETE", fmt.Sprintf("/file/trash?ids=%d,%d", ownTrashed, trashed), ""})
	}

	for _, step := range steps {
		in.Call(step[0], step[1], step[2], "clerk").Brief(status)
	}

	if !seen {
		in.Unchanged(before)
	}
}
