// Takes ten steps against a server with a client that is generated from its OpenAPI
// document, without a type assertion: go run . URL USERNAME PASSWORD.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"slices"

	"reeve-client-check/api"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: client URL USERNAME PASSWORD")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, username, password string) error {
	anonymous, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}

	login, err := anonymous.SignInWithResponse(ctx, api.SignIn{
		Username: username,
		Password: password,
	})
	if err != nil {
		return err
	}
	if login.JSON200 == nil {
		return unexpected("sign in", login.HTTPResponse, login.Body)
	}

	token := login.JSON200.Data.Token
	client, err := api.NewClientWithResponses(url,
		api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		return err
	}

	me, err := client.GetOwnAccountWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	if me.JSON200 == nil || me.JSON200.Data.Info.Username != username {
		return unexpected("read the current user", me.HTTPResponse, me.Body)
	}

	people, err := create(ctx, client)
	if err == nil {
		err = update(ctx, client, people[0])
	}
	if err == nil {
		err = files(ctx, client)
	}
	if err == nil {
		err = importUsers(ctx, client)
	}
	if err != nil {
		return err
	}

	ids := []int64{people[0].Id, people[1].Id, people[2].Id}
	deleted, err := client.DeleteUsersWithResponse(ctx, &api.DeleteUsersParams{Ids: &ids})
	if err != nil {
		return err
	}
	if deleted.JSON200 == nil {
		return unexpected("delete users", deleted.HTTPResponse, deleted.Body)
	}

	out, err := client.SignOutWithResponse(ctx)
	if err != nil {
		return err
	}
	if out.JSON200 == nil {
		return unexpected("sign out", out.HTTPResponse, out.Body)
	}

	again, err := client.GetOwnAccountWithResponse(ctx, nil)
	if err == nil && (again.JSON401 == nil || again.JSON401.ErrorCode == "") {
		err = unexpected("use a token that has ended", again.HTTPResponse, again.Body)
	}

	return err
}

// create makes a department, a role and three users in them, and lists the users.
func create(ctx context.Context, client *api.ClientWithResponses) ([]api.NewUser, error) {
	dept, err := client.CreateDeptWithResponse(ctx, nil, api.CreateDept{Name: "Support"})
	if err != nil {
		return nil, err
	}
	if dept.JSON200 == nil {
		return nil, unexpected("create a department", dept.HTTPResponse, dept.Body)
	}

	role, err := client.CreateRoleWithResponse(ctx, nil, api.CreateRole{
		Name:      "Helper",
		DataScope: new(api.CreateRoleDataScopeDept),
	})
	if err != nil {
		return nil, err
	}
	if role.JSON200 == nil || role.JSON200.Data.DataScope != api.RoleDataScopeDept {
		return nil, unexpected("create a role", role.HTTPResponse, role.Body)
	}

	deptID, roleID := dept.JSON200.Data.Id, role.JSON200.Data.Id
	var people []api.NewUser
	for _, name := range []string{"gus", "hal", "ivy"} {
		user, err := client.CreateUserWithResponse(ctx, nil, api.CreateUser{
			Username: name, Sex: new(api.CreateUserSexN1), Status: new(api.CreateUserStatusN1),
			DeptId: &deptID, RoleIds: &[]int64{roleID},
		})
		if err != nil {
			return nil, err
		}
		if user.JSON200 == nil || user.JSON200.Data.Password == nil ||
			user.JSON200.Data.LoginTime != nil ||
			!slices.Equal(user.JSON200.Data.RoleNames, []string{"Helper"}) {
			return nil, unexpected("create a user", user.HTTPResponse, user.Body)
		}
		people = append(people, user.JSON200.Data)
	}

	list, err := client.ListUsersWithResponse(ctx, &api.ListUsersParams{
		Filter: new(fmt.Sprintf(`{"dept_id":[%d]}`, deptID)),
		Sorter: new(`{"username":"descend"}`), PageSize: new(int64(2)),
	})
	if err != nil {
		return nil, err
	}
	if list.JSON200 == nil || list.JSON200.Data.Total != 3 || len(list.JSON200.Data.Data) != 2 ||
		list.JSON200.Data.Data[0].Username != "ivy" {
		return nil, unexpected("list users", list.HTTPResponse, list.Body)
	}

	return people, nil
}

// update changes a user once; with the version of before it is refused.
func update(ctx context.Context, client *api.ClientWithResponses, user api.NewUser) error {
	change := api.UpdateUser{Nickname: new("Gus"), Version: &user.Version}
	changed, err := client.UpdateUserWithResponse(ctx, user.Id, nil, change)
	if err != nil {
		return err
	}
	if changed.JSON200 == nil || changed.JSON200.Data.Nickname != "Gus" ||
		changed.JSON200.Data.Version <= user.Version {
		return unexpected("update a user", changed.HTTPResponse, changed.Body)
	}

	stale, err := client.UpdateUserWithResponse(ctx, user.Id, nil, change)
	if err != nil {
		return err
	}
	if stale.JSON409 == nil || stale.JSON409.ErrorCode != "stale" {
		return unexpected("update a user of an old version", stale.HTTPResponse, stale.Body)
	}

	return nil
}

// files uploads a file and downloads it.
func files(ctx context.Context, client *api.ClientWithResponses) error {
	const text = "some notes\x00"
	media, body, err := form("notes.txt", text, "public", "0")
	if err != nil {
		return err
	}

	uploaded, err := client.UploadFilesWithBodyWithResponse(ctx, nil, media, body)
	if err != nil {
		return err
	}
	if uploaded.JSON200 == nil || len(uploaded.JSON200.Data.Data) != 1 ||
		uploaded.JSON200.Data.Data[0].Name != "notes.txt" {
		return unexpected("upload a file", uploaded.HTTPResponse, uploaded.Body)
	}

	content, err := client.DownloadFileWithResponse(ctx, uploaded.JSON200.Data.Data[0].Id, nil)
	if err != nil {
		return err
	}
	if content.StatusCode() != http.StatusOK || string(content.Body) != text {
		return unexpected("download it", content.HTTPResponse, content.Body)
	}

	return nil
}

// importUsers has a table validated, of which the second row is wrong.
func importUsers(ctx context.Context, client *api.ClientWithResponses) error {
	media, body, err := form("users.csv", "username,department\njoe,Support\ngus,Support\n",
		"dry_run", "1")
	if err != nil {
		return err
	}

	verdict, err := client.ImportUsersWithBodyWithResponse(ctx, nil, media, body)
	if err != nil {
		return err
	}
	if verdict.JSON200 == nil || verdict.JSON200.Data.Failed != 1 ||
		verdict.JSON200.Data.Job != nil || len(verdict.JSON200.Data.Rows) != 2 ||
		!verdict.JSON200.Data.Rows[0].Ok {
		return unexpected("import users as a dry run", verdict.HTTPResponse, verdict.Body)
	}

	return nil
}

// form is a body with a file and a field.
func form(name, content, field, value string) (media string, body io.Reader, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	file, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(file, content)
	}
	if err == nil {
		err = w.WriteField(field, value)
	}
	if err == nil {
		err = w.Close()
	}
	return w.FormDataContentType(), &b, err
}

func unexpected(step string, r *http.Response, body []byte) error {
	return fmt.Errorf("%s: %s %s", step, r.Status, body)
}
