package files_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// newVersion uploads a new version of a file.
func newVersion(in *servertest.Instance, f *files.File, as string, parts ...servertest.FormPart) *servertest.Reply {
	in.T.Helper()
	return in.Send(in.Multipart(fmt.Sprintf("/file/list/%d/version", f.ID),
		strings.NewReader(servertest.MultipartBody(parts...)), as))
}

// versionsOf returns the earlier versions of a file, the newest first.
func versionsOf(in *servertest.Instance, f *files.File) []files.Version {
	in.T.Helper()
	var page web.Page[files.Version]
	in.OK("GET", fmt.Sprintf("/file/list/%d/version", f.ID), "", "owner").Data(&page)
	return page.Data
}

// contents returns the current content of a file, and those of its earlier versions, the newest first.
func contents(in *servertest.Instance, f *files.File) string {
	in.T.Helper()
	all := []string{in.OK("GET", servertest.ContentURL(f.ID), "", "owner").Body}
	for _, v := range versionsOf(in, f) {
		all = append(all, in.OK("GET", fmt.Sprintf("%s?version=%d", servertest.ContentURL(f.ID), v.ID), "", "owner").Body)
	}
	return strings.Join(all, " ")
}

// TestVersion replaces the content of a file, returns to an earlier one, and deletes one.
func TestVersion(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "file.list.query", "file.list.update", "file.list.download", "file.list.create")
	f := in.Keep("owner", "plan.txt", "one", servertest.FieldPart("public", "1"))
	is := func(want string) {
		t.Helper()
		if got := contents(in, f); got != want {
			t.Fatalf("the contents are %q, want %q", got, want)
		}
	}

	var out files.File
	newVersion(in, f, "clerk", servertest.FilePart("other.bin", "\x00two")).Brief(200)
	newVersion(in, f, "owner", servertest.FilePart("plan.txt", "three")).Data(&out)
	is("three \x00two one")
	if out.Name != "plan.txt" || out.Size != 5 || out.URL != f.URL || out.UploaderName != "admin" || out.StoredAt <= out.CreatedAt {
		t.Errorf("the file is %+v", out)
	}
	if v := versionsOf(in, f); v[0].AuthorName != "clerk" || v[0].Kind != "other" || v[1].AuthorName != "admin" ||
		v[1].StoredAt != f.CreatedAt || v[0].ReplacedAt < v[0].StoredAt {
		t.Errorf("the versions are %+v", v)
	}
	if body := in.OK("GET", f.URL, "", "nobody").Body; body != "three" {
		t.Errorf("the public URL has %q", body)
	}
	newVersion(in, f, "owner", servertest.FilePart("plan.txt", "three")).Brief(200)
	is("three \x00two one") // the same content again

	first := versionsOf(in, f)[1]
	link := in.Link(f.ID, fmt.Sprintf(`{"version_id":%d}`, first.ID), "owner").URL
	if body := in.OK("GET", link, "", "nobody").Body; body != "one" {
		t.Errorf("the link has %q", body)
	}
	dead(in, "another version", strings.Replace(link, fmt.Sprint("version=", first.ID), fmt.Sprint("version=", first.ID-1), 1))
	dead(in, "the current version", strings.Replace(link, fmt.Sprint("&version=", first.ID), "", 1))

	at := fmt.Sprintf("/file/list/%d/version/%d", f.ID, first.ID)
	in.OK("PUT", at, "", "clerk").Brief(200, `"size":3`)
	is("one three \x00two")
	in.Call("PUT", at, "", "owner").Brief(404)

	two := versionsOf(in, f)[1]
	at = fmt.Sprintf("/file/list/%d/version/%d", f.ID, two.ID)
	in.Call("DELETE", at, "", "clerk").Brief(403)
	in.OK("DELETE", at, "", "owner")
	is("one three")
	swept(in, 2)

	in.OK("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.Call("GET", fmt.Sprintf("/file/list/%d/version", f.ID), "", "owner").Brief(404)
	newVersion(in, f, "owner", servertest.FilePart("plan.txt", "four")).Brief(404)
	in.OK("DELETE", fmt.Sprint("/file/trash/", f.ID), "", "owner")
	swept(in, 0)
}

// TestVersion_IsUndone undoes new versions, and an undo, without losing a content.
func TestVersion_IsUndone(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "plan.txt", "one")
	undo := func(entry string, code int, want string) string {
		t.Helper()
		_, number, _ := strings.Cut(entry, "-")
		a := in.Call("POST", "/system/audit/"+number+"/undo", "", "owner")
		a.Brief(code)
		if got := contents(in, f); got != want {
			t.Fatalf("the contents are %q, want %q", got, want)
		}
		return a.Header.Get("Reeve-Entry")
	}
	two := newVersion(in, f, "owner", servertest.FilePart("a", "two")).Header.Get("Reeve-Entry")
	three := newVersion(in, f, "owner", servertest.FilePart("a", "three")).Header.Get("Reeve-Entry")
	undo(two, 409, "three two one") // the content has changed since
	again := undo(three, 200, "two three one")
	undo(again, 200, "three two one")

	in.Set("file.versions", "1")
	four := newVersion(in, f, "owner", servertest.FilePart("a", "four")).Header.Get("Reeve-Entry")
	in.Set("file.versions", "0")
	five := newVersion(in, f, "owner", servertest.FilePart("a", "five")).Header.Get("Reeve-Entry")
	undo(five, 422, "five") // the content before is gone
	undo(four, 422, "five")
}

// TestVersion_Refuses checks what is refused, and that nothing remains of it.
func TestVersion_Refuses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("reader", "file.list.query", "file.list.create")
	f := in.Keep("owner", "plan.txt", "one")
	other := in.Keep("owner", "other.txt", "other")
	newVersion(in, other, "owner", servertest.FilePart("a", "newer"))
	newVersion(in, f, "reader", servertest.FilePart("a", "two")).Brief(403)
	newVersion(in, f, "owner").Names(400, "file")
	newVersion(in, f, "owner", servertest.FilePart("a", "two"), servertest.FilePart("b", "three")).Names(400, "file")
	newVersion(in, f, "owner", servertest.FilePart("a", "two"), servertest.FieldPart("public", "1")).Brief(400)
	newVersion(in, &files.File{Ident: store.Ident{ID: 99}}, "owner", servertest.FilePart("a", "two")).Brief(404)
	foreign := versionsOf(in, other)[0].ID
	for _, method := range []string{"PUT", "DELETE"} {
		in.Call(method, fmt.Sprintf("/file/list/%d/version/%d", f.ID, foreign), "", "owner").Brief(404)
	}
	in.Call("GET", fmt.Sprintf("%s?version=%d", servertest.ContentURL(f.ID), foreign), "", "owner").Brief(404)
	in.Call("POST", fmt.Sprintf("/file/list/%d/link", f.ID), fmt.Sprintf(`{"version_id":%d}`, foreign), "owner").Names(422, "version_id")
	in.Set("file.document_megabytes", "0")
	newVersion(in, f, "owner", servertest.FilePart("a", documentPDF)).Names(415, "file")
	if got := contents(in, f); got != "one" {
		t.Errorf("the contents are %q", got)
	}
	swept(in, 3)
}

// TestFileName_IsFound filters by an exact name, in which case does not matter.
func TestFileName_IsFound(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/file/group", `{"name":"Papers"}`)
	in.Keep("owner", "Plan.txt", "1")
	in.Keep("owner", "plan.TXT", "2", servertest.FieldPart("group_id", "1"))
	in.Keep("owner", "plan.txt.old", "3")
	in.Keep("owner", "plän.txt", "4")
	in.Lists("/file/list?name=plan.txt", "name", "owner", "plan.TXT", "Plan.txt")
	in.Lists("/file/list?name=plan.txt&group_id=0", "name", "owner", "Plan.txt")
	in.Lists("/file/list?name=PL%C3%84N.TXT", "name", "owner", "plän.txt")
}
