package files_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// TestUploads sends forms and checks what is stored.
func TestUploads(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/file/group", `{"name":"Papers"}`)
	a, b := servertest.FilePart("a.txt", "first"), servertest.FilePart("b.txt", "second")
	many := func(n int, p servertest.FormPart) []servertest.FormPart {
		return slices.Repeat([]servertest.FormPart{p}, n)
	}
	for name, c := range map[string]struct {
		parts  []servertest.FormPart
		status int
		fault  string   // field with the fault
		want   []string // name, group and public of each record
	}{
		"one file": {[]servertest.FormPart{a}, 200, "",
			[]string{"a.txt 0 false"}},
		"two files": {[]servertest.FormPart{a, b}, 200, "",
			[]string{"a.txt 0 false", "b.txt 0 false"}},
		"the same file twice": {[]servertest.FormPart{a, a}, 200, "",
			[]string{"a.txt 0 false", "a.txt 0 false"}},
		"fields before": {[]servertest.FormPart{servertest.FieldPart("group_id", "1"),
			servertest.FieldPart("public", "1"), a}, 200, "", []string{"a.txt 1 true"}},
		"fields behind": {[]servertest.FormPart{a, b,
			servertest.FieldPart("public", "1"), servertest.FieldPart("group_id", "1")}, 200, "",
			[]string{"a.txt 1 true", "b.txt 1 true"}},
		"fields between": {[]servertest.FormPart{a,
			servertest.FieldPart("group_id", "1"), b}, 200, "",
			[]string{"a.txt 1 false", "b.txt 1 false"}},
		"an empty file": {[]servertest.FormPart{servertest.FilePart("empty",
			"")}, 200, "", []string{"empty 0 false"}},
		"empty fields": {[]servertest.FormPart{servertest.FieldPart("group_id", ""),
			servertest.FieldPart("public", ""), a}, 200, "", []string{"a.txt 0 false"}},
		"a hundred files": {many(100, a), 200, "",
			slices.Repeat([]string{"a.txt 0 false"}, 100)},
		"a hundred and one": {many(101, a), 400, "file", nil},
		"a thousand parts":  {many(1000, a), 400, "file", nil},
		"a thousand fields": {append([]servertest.FormPart{a},
			many(1000, servertest.FieldPart("public", "1"))...), 400, "public", nil},
		"an unknown field": {[]servertest.FormPart{a,
			servertest.FieldPart("name", "x")}, 400, "name", nil},
		"an unknown field first": {[]servertest.FormPart{servertest.FieldPart("uploader_id", "2"),
			a}, 400, "uploader_id", nil},
		"a field in another case": {[]servertest.FormPart{a,
			servertest.FieldPart("Public", "1")}, 400, "Public", nil},
		"a field twice": {[]servertest.FormPart{servertest.FieldPart("public",
			"0"), a, servertest.FieldPart("public", "1")}, 400, "public", nil},
		"an empty field twice": {[]servertest.FormPart{servertest.FieldPart("public",
			""), a, servertest.FieldPart("public", "1")}, 400, "public", nil},
		"a field too long": {[]servertest.FormPart{a,
			servertest.FieldPart("group_id", strings.Repeat("1", web.MaxFormField+1))}, 400,
			"group_id", nil},
		"public of 2": {[]servertest.FormPart{a,
			servertest.FieldPart("public", "2")}, 400, "public", nil},
		"a group in words": {[]servertest.FormPart{a,
			servertest.FieldPart("group_id", "papers")}, 400, "group_id", nil},
		"a group that does not exist": {[]servertest.FormPart{a,
			servertest.FieldPart("group_id", "2")}, 422, "group_id", nil},
		"a group that does not exist first": {[]servertest.FormPart{servertest.FieldPart("group_id", "2"), a, b}, 422, "group_id", nil},
		"no part":                           {nil, 400, "file", nil},
		"no file": {[]servertest.FormPart{servertest.FieldPart("public",
			"1")}, 400, "file", nil},
		"a file without a name": {[]servertest.FormPart{a,
			servertest.FieldPart("file", "text")}, 400, "file", nil},
		"a file with an empty name": {[]servertest.FormPart{servertest.FilePart("", "text")}, 400,
			"file", nil},
		"a part without a name": {[]servertest.FormPart{a, {
			Header: "Content-Disposition: form-data",
			Body:   "x",
		}}, 400, "", nil},
		"a part without a header": {[]servertest.FormPart{a, {
			Header: "X-Nothing: 1",
			Body:   "x",
		}}, 400, "", nil},
		"a part that is no form's": {[]servertest.FormPart{a, {
			Header: `Content-Disposition: attachment; name="file"; filename="x"`,
			Body:   "x",
		}}, 400, "", nil},
		"a header that is none": {[]servertest.FormPart{a, {
			Header: "no colon",
			Body:   "x",
		}}, 400, "", nil},
		"a header of 11 MiB": {[]servertest.FormPart{a, {
			Header: `Content-Disposition: form-data; name="file"; filename="x"; y="` + strings.Repeat("y", 11<<20) + `"`,
			Body:   "x",
		}}, 413, "", nil},
		"a header of 20,000 lines": {[]servertest.FormPart{a, {
			Header: strings.Repeat("X-Many: 1\r\n", 20_000) + "X-Last: 1",
			Body:   "x",
		}}, 400, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			here := in.In(t)
			before := in.Dump()
			a := here.Posts("owner", c.parts...)
			a.Brief(c.status)
			if c.status != 200 {
				if e := a.Envelope(); c.fault != "" &&
					(len(e.Errors) != 1 || e.Errors[c.fault] == "") ||
					c.fault == "" && len(e.Errors) > 0 {
					t.Errorf("%q is not named: %s", c.fault, a.Body)
				}
				here.Unchanged(before)
				return
			}

			var out files.Files
			a.Data(&out)
			var got []string
			for _, f := range out.Data {
				got = append(got, fmt.Sprintln(f.Name, f.GroupID, bool(f.Public)))
				if stored := here.Record(f.ID, "owner"); !cmp.Equal(stored, f) ||
					f.UploaderID != 1 || f.UploaderName != "admin" {
					t.Errorf("answered %+v, and then %+v", f, stored)
				}
			}

			if g := strings.Split(strings.TrimSuffix(strings.Join(got, ""), "\n"), "\n"); !slices.Equal(g, c.want) {
				t.Errorf("%q, want %q", g, c.want)
			}
		})
	}

	swept(in, 3) // "first", "second" and ""
}

func TestInvalidUploadBodies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	before := in.Dump()
	good := servertest.MultipartBody(servertest.FilePart("a.txt", "first"))
	for name, c := range map[string]struct {
		media, body string
		status      int
	}{
		"JSON":              {"application/json", `{"file":"x"}`, 415},
		"a form of fields":  {"application/x-www-form-urlencoded", "file=x", 415},
		"no media type":     {"", good, 415},
		"no boundary":       {"multipart/form-data", good, 415},
		"an empty boundary": {"multipart/form-data; boundary=", good, 415},
		"another boundary":  {"multipart/form-data; boundary=other", good, 400},
		"nothing":           {"multipart/form-data; boundary=edge", "", 400},
		"an end alone":      {"multipart/form-data; boundary=edge", "--edge--\r\n", 400},
		"half a boundary":   {"multipart/form-data; boundary=edge", good[:4], 400},
		"a header cut off":  {"multipart/form-data; boundary=edge", good[:30], 400},
		"a file cut off": {"multipart/form-data; boundary=edge",
			strings.TrimSuffix(good, "\r\n--edge--\r\n"), 400},
	} {
		r := in.Multipart("/file/list", strings.NewReader(c.body), "owner")
		if r.Header.Set("Content-Type", c.media); c.media == "" {
			r.Header.Del("Content-Type")
		}
		if a := in.Send(r); a.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.Code, c.status, a.Body)
		}
	}

	in.Unchanged(before)
	swept(in, 0)
}

// TestUpload_TruncatedLeavesNothing ends uploads in the first chunk of a file, in a later one, and
// after a complete file.
func TestUpload_TruncatedLeavesNothing(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	kept := in.Keep("owner", "kept", "kept")
	before := in.Dump()
	whole := servertest.MultipartBody(servertest.FilePart("one", "one whole file"),
		servertest.FilePart("two", filler(documentPDF, 5<<20)))
	for _, at := range []int{60, 120, 250, 300, 4000, 1 << 20, 3 << 20, len(whole) - 12,
		len(whole) - 5} {
		for name, body := range map[string]io.Reader{
			"ends":  strings.NewReader(whole[:at]),
			"fails": io.MultiReader(strings.NewReader(whole[:at]), servertest.BrokenReader{}),
		} {
			if a := in.Send(in.Multipart("/file/list", body, "owner")); a.Code != 400 {
				t.Errorf("%s at %d: %d %s", name, at, a.Code, a.Body)
			}
		}
	}

	in.Unchanged(before)
	swept(in, 1)
	if a := in.OK("GET", servertest.ContentURL(kept.ID), "", "owner"); a.Body != "kept" {
		t.Errorf("what was there before has become %q", a.Body)
	}
}

// TestUpload_Settings: the maximum size of a kind and one byte more,
// whatever the name; a kind with the limit 0; types that are not allowed.
func TestUpload_Settings(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for kind, head := range map[string]string{
		"image": imageHead, "audio": audioHead, "video": videoHead, "archive": archiveHead,
		"document": documentPDF, "other": otherHead,
	} {
		t.Run(kind, func(t *testing.T) {
			in := in.In(t)
			in.Set("file."+kind+"_megabytes", "1")
			most := filler(head, 1<<20)
			if f := in.Keep("owner", "photo.jpg", most); f.Kind != kind || f.Size != 1<<20 ||
				f.Ext != "jpg" {
				t.Errorf("stored as %+v", f)
			}

			before := in.Dump()
			a := in.Posts("owner", servertest.FilePart("small", head),
				servertest.FilePart("photo.jpg", most+"x"))
			a.Names(413, "file")
			a.Brief(413, "1 MiB for "+kind+" files")
			in.Unchanged(before)
			in.Set("file."+kind+"_megabytes", "0")
			before = in.Dump()
			a = in.Posts("owner", servertest.FilePart("photo.jpg", head))
			a.Names(415, "file")
			a.Brief(415, "photo.jpg is of the kind "+kind)
			in.Unchanged(before)
		})
	}

	swept(in, 6)
}

func TestUpload_AllowedTypes(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	bodies := map[string]string{
		"png":   imageHead,
		"pdf":   documentPDF,
		"text":  "words",
		"html":  "<html><body>",
		"svg":   "<svg xmlns=\"http://www.w3.org/2000/svg\">",
		"other": otherHead,
	}
	for types, allowed := range map[string][]string{
		"*/*":                           {"html", "other", "pdf", "png", "svg", "text"},
		"*":                             {"html", "other", "pdf", "png", "svg", "text"},
		"image/png, *":                  {"html", "other", "pdf", "png", "svg", "text"},
		"image/*":                       {"png", "svg"},
		"image/png":                     {"png"},
		" IMAGE/PNG , application/pdf ": {"pdf", "png"},
		"text/plain":                    {"text"},
		"text/*,*/pdf":                  {"html", "pdf", "text"},
		"[":                             nil,
		"nothing":                       nil,
	} {
		in.Set("file.types", types)
		var got []string
		for name, body := range bodies {
			a := in.Posts("owner", servertest.FilePart("x.png", body))
			if a.Code == 200 {
				got = append(got, name)
			} else {
				a.Names(415, "file")
			}
		}
		if slices.Sort(got); !slices.Equal(got, allowed) {
			t.Errorf("%s allows %q, want %q", types, got, allowed)
		}
	}
}

func TestUpload_Quota(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Set("file.quota_megabytes", "4")
	first := in.Keep("owner", "first", filler(documentPDF, 2<<20))
	before := in.Dump()
	in.Posts("owner", servertest.FilePart("small", "small"),
		servertest.FilePart("second", filler(documentPDF, 3<<20))).Brief(507,
		`"errorCode":"quota_used_up"`, "4 MiB", `"showType":5`)
	in.Unchanged(before)
	swept(in, 1)
	in.OK("DELETE", fmt.Sprint("/file/list/", first.ID), "", "owner")
	in.Posts("owner", servertest.FilePart("second", filler(documentPDF, 3<<20))).Brief(507)
	in.OK("DELETE", fmt.Sprint("/file/trash/", first.ID), "", "owner")
	servertest.Until(t, "the content is deleted", func() bool {
		stored, _ := in.DB.FileBytes()
		return stored == 0
	})
	in.Keep("owner", "second", filler(documentPDF, 3<<20))
	in.Set("file.quota_megabytes", "0")
	in.Set("file.free_megabytes", fmt.Sprint(1<<20))
	in.Posts("owner", servertest.FilePart("third", "third")).Brief(507, `"errorCode":"disk_low"`)
}

// TestUpload_ReauthorizedAfterArrival checks the authorization after the upload, since an upload
// can take long.
func TestUpload_ReauthorizedAfterArrival(t *testing.T) {
	t.Parallel()
	picture := string(picturetest.PNG(t,
		picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White)))
	for name, c := range map[string]struct {
		then          func(in *servertest.Instance, clerk *store.User)
		files, avatar int
	}{
		"nothing happens": {func(*servertest.Instance, *store.User) {}, 200, 200},
		"the permission is taken away": {func(in *servertest.Instance, u *store.User) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`,
				"owner")
		}, 403, 200},
		"the user signs out": {func(in *servertest.Instance, _ *store.User) {
			in.OK("POST", "/admin/logout", "", "clerk")
		}, 401, 401},
		"the user must change the password": {func(in *servertest.Instance, u *store.User) {
			in.Update(func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
					u.MustChangePassword = true
					return nil
				})
				return err
			})
		}, 403, 403},
		"the user is disabled": {func(in *servertest.Instance, u *store.User) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", u.ID), `{"status":0}`, "owner")
		}, 401, 401},
		"the user is deleted": {func(in *servertest.Instance, u *store.User) {
			in.OK("DELETE", fmt.Sprint("/admin/list/", u.ID), "", "owner")
		}, 401, 401},
	} {
		for url, status := range map[string]int{"/file/list": c.files, "/admin/avatar": c.avatar} {
			t.Run(name+" "+url, func(t *testing.T) {
				in := servertest.Start(t)
				clerk := in.Clerk("clerk", "file.list.create")
				var after map[string]string
				body := &servertest.Late{Reader: strings.NewReader(servertest.MultipartBody(servertest.FilePart("a.png", picture))), First: func() {
					c.then(in, clerk)
					after = in.Dump()
				}}
				in.Send(in.Multipart(url, body, "clerk")).Brief(status)
				if status != http.StatusOK {
					in.Unchanged(after)
					swept(in, 0)
				}
			})
		}
	}
}
