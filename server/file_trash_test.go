package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/files"
)

// TestTrash moves a file to the trash, restores it, and deletes it permanently.
func TestTrash(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/file/group", `{"name":"Papers"}`)
	f := in.keep("owner", "paper.txt", "words", fieldPart("group_id", "1"), fieldPart("public", "1"))
	url, trash := fmt.Sprint("/file/list/", f.ID), fmt.Sprint("/file/trash/", f.ID)
	gone := func() {
		t.Helper()
		for method, at := range map[string]string{"GET": url, "PUT": url, "DELETE": url, "POST": url + "/link"} {
			in.call(method, at, map[bool]string{true: "{}"}[method == "PUT"], "owner").brief(404, `"errorCode":"not_found"`)
		}
		in.call("GET", contentURL(f.ID), "", "owner").brief(404)
		in.call("GET", f.URL, "", "nobody").brief(404)
		in.call("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"group_id":0}`, "owner").brief(404)
		for _, query := range []string{"", "?group_id=1", "?kind=document", "?public=1", "?public=0", "?keywordSearch=paper", `?filter={"kind":["document"],"public":["0","1"]}`} {
			in.lists("/file/list"+query, "name", "owner")
		}
		in.ok("GET", "/file/group/1", "", "owner").brief(200, `"file_count":0`)
	}
	in.call("PUT", trash, "", "owner").brief(404)
	in.call("DELETE", trash, "", "owner").brief(404)
	in.lists("/file/trash", "name", "owner")
	in.ok("DELETE", url, "", "owner")
	gone()
	in.lists("/file/trash?keywordSearch=PAPER", "name", "owner", "paper.txt")
	in.ok("GET", "/file/trash", "", "owner").brief(200, `"group_id":1`, `"public":0`, `"trashed_at":"20`)
	in.ok("PUT", trash, "", "owner").brief(200, `"group_id":1`, `"public":0`)
	in.lists("/file/trash", "name", "owner")
	in.lists("/file/list?group_id=1", "name", "owner", "paper.txt")
	in.call("GET", f.URL, "", "nobody").brief(404)
	in.call("DELETE", "/file/group/1", "", "owner").brief(409, `"errorCode":"in_use"`, "1 file")
	in.ok("DELETE", url, "", "owner")
	in.ok("DELETE", "/file/group/1", "", "owner")
	in.ok("PUT", trash, "", "owner").brief(200, `"group_id":0`)
	if a := in.ok("GET", contentURL(f.ID), "", "owner"); a.Body != "words" {
		t.Errorf("the bytes have become %q", a.Body)
	}
	in.ok("DELETE", url, "", "owner")
	in.ok("DELETE", trash, "", "owner")
	gone404 := fmt.Sprintf("/file/trash?ids=%d", f.ID)
	in.call("PUT", trash, "", "owner").brief(404)
	in.call("DELETE", gone404, "", "owner").brief(404)
	in.lists("/file/trash", "name", "owner")
	in.swept(0)
}

// TestFile_Batch: batches are all or nothing, and repeated IDs count once.
func TestFile_Batch(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/file/group", `{"name":"Papers"}`)
	var parts []formPart
	for i := range 6 {
		parts = append(parts, filePart(fmt.Sprint(i), fmt.Sprint(i)))
	}
	in.keeps("owner", parts...) // 1 to 6
	in.ok("DELETE", "/file/list?ids=5,6", "", "owner")
	long := strings.TrimSuffix(strings.Repeat("1,", 1001), ",")
	runCases(t, in, []apiCase{
		{"change one that is unknown", "PUT", "/file/list?ids=1,2,99", `{"group_id":1}`, "owner", 404, []string{"99"}, nil},
		{"change one in the trash", "PUT", "/file/list?ids=1,5", `{"public":1}`, "owner", 404, nil, nil},
		{"change into no group", "PUT", "/file/list?ids=1,2", `{"group_id":9}`, "owner", 422, []string{`"group_id":`}, nil},
		{"change the name of all", "PUT", "/file/list?ids=1,2", `{"name":"x"}`, "owner", 400, []string{`"name":`}, nil},
		{"change none", "PUT", "/file/list", `{"public":1}`, "owner", 400, []string{`"ids":`}, nil},
		{"change the empty", "PUT", "/file/list?ids=", `{"public":1}`, "owner", 400, []string{`"ids":`}, nil},
		{"change too many", "PUT", "/file/list?ids=" + long, `{"public":1}`, "owner", 400, []string{`"ids":`}, nil},
		{"change with a wrong id", "PUT", "/file/list?ids=1,0", `{"public":1}`, "owner", 400, []string{`"ids":`}, nil},
		{"delete one that is unknown", "DELETE", "/file/list?ids=1,2,99", "", "owner", 404, nil, nil},
		{"delete one in the trash", "DELETE", "/file/list?ids=1,6", "", "owner", 404, nil, nil},
		{"delete none", "DELETE", "/file/list", "", "owner", 400, []string{`"ids":`}, nil},
		{"remove one that is unknown", "DELETE", "/file/trash?ids=5,99", "", "owner", 404, nil, nil},
		{"remove one that is not in the trash", "DELETE", "/file/trash?ids=5,1", "", "owner", 404, nil, nil},
		{"remove none", "DELETE", "/file/trash", "", "owner", 400, []string{`"ids":`}, nil},
	})
	var changed files.Files
	in.ok("PUT", "/file/list?ids=2,1,2,1", `{"group_id":1,"public":1}`, "owner").data(&changed)
	if len(changed.Data) != 2 || changed.Data[0].ID != 2 || changed.Data[1].ID != 1 || changed.Data[0].GroupID != 1 || changed.Data[0].URL == changed.Data[1].URL || !bool(changed.Data[1].Public) {
		t.Errorf("%+v", changed.Data)
	}
	in.ok("PUT", "/file/list?ids=1", `{}`, "owner").brief(200, `"group_id":1`, `"public":1`)
	in.ok("DELETE", "/file/list?ids=1,2,1", "", "owner")
	in.lists("/file/list", "id", "owner", "4", "3")
	in.lists("/file/trash?sorter="+`{"id":"ascend"}`, "id", "owner", "1", "2", "5", "6")
	in.ok("DELETE", "/file/trash?ids=6,5,6", "", "owner")
	in.lists("/file/trash?sorter="+`{"id":"ascend"}`, "id", "owner", "1", "2")
	in.swept(4)
}

// TestFile_StaleChange: a change does not overwrite one that the client has not read.
func TestFile_StaleChange(t *testing.T) {
	t.Parallel()
	in := start(t)
	f := in.keep("owner", "x", "x")
	url := fmt.Sprint("/file/list/", f.ID)
	whole := string(encodeJSON(t, f))
	in.ok("PUT", url, whole, "owner") // nothing has changed, so a repetition is not stale
	in.ok("PUT", url, `{"name":"y"}`, "owner")
	in.call("PUT", url, whole, "owner").brief(409, `"errorCode":"stale"`)
	if now := in.record(f.ID, "owner"); now.Name != "y" {
		t.Errorf("%+v", now)
	}
}

// TestFile_KeepsNameOfDeletedUploader: files of a deleted user keep the uploader's name.
func TestFile_KeepsNameOfDeletedUploader(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.clerk("clerk", "file.list.create")
	f := in.keep("clerk", "x", "left behind")
	in.ok("DELETE", fmt.Sprint("/admin/list/", u.ID), "", "owner")
	if got := in.record(f.ID, "owner"); got.UploaderID != u.ID || got.UploaderName != "clerk" {
		t.Errorf("%+v", got)
	}
	in.ok("PUT", fmt.Sprint("/file/list/", f.ID), `{"name":"y","public":1}`, "owner")
	in.ok("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.ok("PUT", fmt.Sprint("/file/trash/", f.ID), "", "owner")
	in.ok("GET", contentURL(f.ID), "", "owner").brief(200, "left behind")
}
