package files_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/servertest"
)

// TestTrash moves a file to the trash, restores it, and deletes it permanently.
func TestTrash(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/file/group", `{"name":"Papers"}`)
	f := in.Keep("owner", "paper.txt", "words", servertest.FieldPart("group_id", "1"),
		servertest.FieldPart("public", "1"))
	url, trash := fmt.Sprint("/file/list/", f.ID), fmt.Sprint("/file/trash/", f.ID)
	gone := func() {
		t.Helper()
		for method, at := range map[string]string{
			"GET":    url,
			"PUT":    url,
			"DELETE": url,
			"POST":   url + "/link",
		} {
			in.Call(method, at, map[bool]string{true: "{}"}[method == "PUT"], "owner").Brief(404,
				`"errorCode":"not_found"`)
		}

		in.Call("GET", servertest.ContentURL(f.ID), "", "owner").Brief(404)
		in.Call("GET", f.URL, "", "nobody").Brief(404)
		in.Call("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"group_id":0}`, "owner").Brief(404)
		for _, query := range []string{"", "?group_id=1", "?kind=document", "?public=1",
			"?public=0", "?keywordSearch=paper",
			`?filter={"kind":["document"],"public":["0","1"]}`} {
			in.Lists("/file/list"+query, "name", "owner")
		}

		in.OK("GET", "/file/group/1", "", "owner").Brief(200, `"file_count":0`)
	}

	in.Call("PUT", trash, "", "owner").Brief(404)
	in.Call("DELETE", trash, "", "owner").Brief(404)
	in.Lists("/file/trash", "name", "owner")
	in.OK("DELETE", url, "", "owner")
	gone()
	in.Lists("/file/trash?keywordSearch=PAPER", "name", "owner", "paper.txt")
	in.OK("GET", "/file/trash", "", "owner").Brief(200, `"group_id":1`, `"public":0`,
		`"trashed_at":"20`)
	in.OK("PUT", trash, "", "owner").Brief(200, `"group_id":1`, `"public":0`)
	in.Lists("/file/trash", "name", "owner")
	in.Lists("/file/list?group_id=1", "name", "owner", "paper.txt")
	in.Call("GET", f.URL, "", "nobody").Brief(404)
	in.Call("DELETE", "/file/group/1", "", "owner").Brief(409, `"errorCode":"in_use"`, "1 file")
	in.OK("DELETE", url, "", "owner")
	in.OK("DELETE", "/file/group/1", "", "owner")
	in.OK("PUT", trash, "", "owner").Brief(200, `"group_id":0`)
	if a := in.OK("GET", servertest.ContentURL(f.ID), "", "owner"); a.Body != "words" {
		t.Errorf("the bytes have become %q", a.Body)
	}

	in.OK("DELETE", url, "", "owner")
	in.OK("DELETE", trash, "", "owner")
	gone404 := fmt.Sprintf("/file/trash?ids=%d", f.ID)
	in.Call("PUT", trash, "", "owner").Brief(404)
	in.Call("DELETE", gone404, "", "owner").Brief(404)
	in.Lists("/file/trash", "name", "owner")
	swept(in, 0)
}

// TestFile_Batch: batches are all or nothing, and repeated IDs count once.
func TestFile_Batch(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/file/group", `{"name":"Papers"}`)
	var parts []servertest.FormPart
	for i := range 6 {
		parts = append(parts, servertest.FilePart(fmt.Sprint(i), fmt.Sprint(i)))
	}

	in.Keeps("owner", parts...) // 1 to 6
	in.OK("DELETE", "/file/list?ids=5,6", "", "owner")
	long := strings.TrimSuffix(strings.Repeat("1,", 1001), ",")
	servertest.RunCases(t, in, []servertest.Case{
		{"change one that is unknown", "PUT", "/file/list?ids=1,2,99", `{"group_id":1}`, "owner",
			404, []string{"99"}, nil},
		{"change one in the trash", "PUT", "/file/list?ids=1,5", `{"public":1}`, "owner", 404, nil,
			nil},
		{"change into no group", "PUT", "/file/list?ids=1,2", `{"group_id":9}`, "owner", 422,
			[]string{`"group_id":`}, nil},
		{"change the name of all", "PUT", "/file/list?ids=1,2", `{"name":"x"}`, "owner", 400,
			[]string{`"name":`}, nil},
		{"change none", "PUT", "/file/list", `{"public":1}`, "owner", 400, []string{`"ids":`}, nil},
		{"change the empty", "PUT", "/file/list?ids=", `{"public":1}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"change too many", "PUT", "/file/list?ids=" + long, `{"public":1}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"change with a wrong id", "PUT", "/file/list?ids=1,0", `{"public":1}`, "owner", 400,
			[]string{`"ids":`}, nil},
		{"delete one that is unknown", "DELETE", "/file/list?ids=1,2,99", "", "owner", 404, nil,
			nil},
		{"delete one in the trash", "DELETE", "/file/list?ids=1,6", "", "owner", 404, nil, nil},
		{"delete none", "DELETE", "/file/list", "", "owner", 400, []string{`"ids":`}, nil},
		{"remove one that is unknown", "DELETE", "/file/trash?ids=5,99", "", "owner", 404, nil,
			nil},
		{"remove one that is not in the trash", "DELETE", "/file/trash?ids=5,1", "", "owner", 404,
			nil, nil},
		{"remove none", "DELETE", "/file/trash", "", "owner", 400, []string{`"ids":`}, nil},
	})
	var changed files.Files
	in.OK("PUT", "/file/list?ids=2,1,2,1", `{"group_id":1,"public":1}`, "owner").Data(&changed)
	if len(changed.Data) != 2 || changed.Data[0].ID != 2 || changed.Data[1].ID != 1 ||
		changed.Data[0].GroupID != 1 || changed.Data[0].URL == changed.Data[1].URL ||
		!bool(changed.Data[1].Public) {
		t.Errorf("%+v", changed.Data)
	}

	in.OK("PUT", "/file/list?ids=1", `{}`, "owner").Brief(200, `"group_id":1`, `"public":1`)
	in.OK("DELETE", "/file/list?ids=1,2,1", "", "owner")
	in.Lists("/file/list", "id", "owner", "4", "3")
	in.Lists("/file/trash?sorter="+`{"id":"ascend"}`, "id", "owner", "1", "2", "5", "6")
	in.OK("DELETE", "/file/trash?ids=6,5,6", "", "owner")
	in.Lists("/file/trash?sorter="+`{"id":"ascend"}`, "id", "owner", "1", "2")
	swept(in, 4)
}

// TestFile_StaleChange: a change does not overwrite one that the client has not read.
func TestFile_StaleChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "x", "x")
	url := fmt.Sprint("/file/list/", f.ID)
	whole := string(servertest.EncodeJSON(t, f))
	in.OK("PUT", url, whole, "owner") // nothing has changed, so a repetition is not stale
	in.OK("PUT", url, `{"name":"y"}`, "owner")
	in.Call("PUT", url, whole, "owner").Brief(409, `"errorCode":"stale"`)
	if now := in.Record(f.ID, "owner"); now.Name != "y" {
		t.Errorf("%+v", now)
	}
}

// TestFile_KeepsNameOfDeletedUploader: files of a deleted user keep the uploader's name.
func TestFile_KeepsNameOfDeletedUploader(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("clerk", "file.list.create")
	f := in.Keep("clerk", "x", "left behind")
	in.OK("DELETE", fmt.Sprint("/admin/list/", u.ID), "", "owner")
	if got := in.Record(f.ID, "owner"); got.UploaderID != u.ID || got.UploaderName != "clerk" {
		t.Errorf("%+v", got)
	}
	in.OK("PUT", fmt.Sprint("/file/list/", f.ID), `{"name":"y","public":1}`, "owner")
	in.OK("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.OK("PUT", fmt.Sprint("/file/trash/", f.ID), "", "owner")
	in.OK("GET", servertest.ContentURL(f.ID), "", "owner").Brief(200, "left behind")
}
