package server

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
	"reeve/server/web"
	"reeve/store"
)

// TestUploads sends forms and checks what is stored.
func TestUploads(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/file/group", `{"name":"Papers"}`)
	a, b := filePart("a.txt", "first"), filePart("b.txt", "second")
	many := func(n int, p formPart) []formPart { return slices.Repeat([]formPart{p}, n) }
	for name, c := range map[string]struct {
		parts  []formPart
		status int
		fault  string   // field with the fault
		want   []string // name, group and public of each record
	}{
		"one file":                          {[]formPart{a}, 200, "", []string{"a.txt 0 false"}},
		"two files":                         {[]formPart{a, b}, 200, "", []string{"a.txt 0 false", "b.txt 0 false"}},
		"the same file twice":               {[]formPart{a, a}, 200, "", []string{"a.txt 0 false", "a.txt 0 false"}},
		"fields before":                     {[]formPart{fieldPart("group_id", "1"), fieldPart("public", "1"), a}, 200, "", []string{"a.txt 1 true"}},
		"fields behind":                     {[]formPart{a, b, fieldPart("public", "1"), fieldPart("group_id", "1")}, 200, "", []string{"a.txt 1 true", "b.txt 1 true"}},
		"fields between":                    {[]formPart{a, fieldPart("group_id", "1"), b}, 200, "", []string{"a.txt 1 false", "b.txt 1 false"}},
		"an empty file":                     {[]formPart{filePart("empty", "")}, 200, "", []string{"empty 0 false"}},
		"empty fields":                      {[]formPart{fieldPart("group_id", ""), fieldPart("public", ""), a}, 200, "", []string{"a.txt 0 false"}},
		"a hundred files":                   {many(100, a), 200, "", slices.Repeat([]string{"a.txt 0 false"}, 100)},
		"a hundred and one":                 {many(101, a), 400, "file", nil},
		"a thousand parts":                  {many(1000, a), 400, "file", nil},
		"a thousand fields":                 {append([]formPart{a}, many(1000, fieldPart("public", "1"))...), 400, "public", nil},
		"an unknown field":                  {[]formPart{a, fieldPart("name", "x")}, 400, "name", nil},
		"an unknown field first":            {[]formPart{fieldPart("uploader_id", "2"), a}, 400, "uploader_id", nil},
		"a field in another case":           {[]formPart{a, fieldPart("Public", "1")}, 400, "Public", nil},
		"a field twice":                     {[]formPart{fieldPart("public", "0"), a, fieldPart("public", "1")}, 400, "public", nil},
		"an empty field twice":              {[]formPart{fieldPart("public", ""), a, fieldPart("public", "1")}, 400, "public", nil},
		"a field too long":                  {[]formPart{a, fieldPart("group_id", strings.Repeat("1", web.MaxFormField+1))}, 400, "group_id", nil},
		"public of 2":                       {[]formPart{a, fieldPart("public", "2")}, 400, "public", nil},
		"a group in words":                  {[]formPart{a, fieldPart("group_id", "papers")}, 400, "group_id", nil},
		"a group that does not exist":       {[]formPart{a, fieldPart("group_id", "2")}, 422, "group_id", nil},
		"a group that does not exist first": {[]formPart{fieldPart("group_id", "2"), a, b}, 422, "group_id", nil},
		"no part":                           {nil, 400, "file", nil},
		"no file":                           {[]formPart{fieldPart("public", "1")}, 400, "file", nil},
		"a file without a name":             {[]formPart{a, fieldPart("file", "text")}, 400, "file", nil},
		"a file with an empty name":         {[]formPart{filePart("", "text")}, 400, "file", nil},
		"a part without a name":             {[]formPart{a, {"Content-Disposition: form-data", "x"}}, 400, "", nil},
		"a part without a header":           {[]formPart{a, {"X-Nothing: 1", "x"}}, 400, "", nil},
		"a part that is no form's":          {[]formPart{a, {`Content-Disposition: attachment; name="file"; filename="x"`, "x"}}, 400, "", nil},
		"a header that is none":             {[]formPart{a, {"no colon", "x"}}, 400, "", nil},
		"a header of 11 MiB":                {[]formPart{a, {`Content-Disposition: form-data; name="file"; filename="x"; y="` + strings.Repeat("y", 11<<20) + `"`, "x"}}, 413, "", nil},
		"a header of 20,000 lines":          {[]formPart{a, {strings.Repeat("X-Many: 1\r\n", 20_000) + "X-Last: 1", "x"}}, 400, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			here := in.in(t)
			before := in.dump()
			a := here.posts("owner", c.parts...)
			a.brief(c.status)
			if c.status != 200 {
				if e := a.envelope(); c.fault != "" && (len(e.Errors) != 1 || e.Errors[c.fault] == "") || c.fault == "" && len(e.Errors) > 0 {
					t.Errorf("%q is not named: %s", c.fault, a.Body)
				}
				here.unchanged(before)
				return
			}
			var out files.Files
			a.data(&out)
			var got []string
			for _, f := range out.Data {
				got = append(got, fmt.Sprintln(f.Name, f.GroupID, bool(f.Public)))
				if stored := here.record(f.ID, "owner"); !cmp.Equal(stored, f) || f.UploaderID != 1 || f.UploaderName != "admin" {
					t.Errorf("answered %+v, and then %+v", f, stored)
				}
			}
			if g := strings.Split(strings.TrimSuffix(strings.Join(got, ""), "\n"), "\n"); !slices.Equal(g, c.want) {
				t.Errorf("%q, want %q", g, c.want)
			}
		})
	}
	in.swept(3) // "first", "second" and ""
}

func TestInvalidUploadBodies(t *testing.T) {
	t.Parallel()
	in := start(t)
	before := in.dump()
	good := multipartBody(filePart("a.txt", "first"))
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
		"a file cut off":    {"multipart/form-data; boundary=edge", strings.TrimSuffix(good, "\r\n--edge--\r\n"), 400},
	} {
		r := in.multipart("/file/list", strings.NewReader(c.body), "owner")
		if r.Header.Set("Content-Type", c.media); c.media == "" {
			r.Header.Del("Content-Type")
		}
		if a := in.send(r); a.Code != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.Code, c.status, a.Body)
		}
	}
	in.unchanged(before)
	in.swept(0)
}

// TestUpload_TruncatedLeavesNothing ends uploads in the first chunk of a file, in a later one, and
// after a complete file.
func TestUpload_TruncatedLeavesNothing(t *testing.T) {
	t.Parallel()
	in := start(t)
	kept := in.keep("owner", "kept", "kept")
	before := in.dump()
	whole := multipartBody(filePart("one", "one whole file"), filePart("two", filler(documentPDF, 5<<20)))
	for _, at := range []int{60, 120, 250, 300, 4000, 1 << 20, 3 << 20, len(whole) - 12, len(whole) - 5} {
		for name, body := range map[string]io.Reader{
			"ends":  strings.NewReader(whole[:at]),
			"fails": io.MultiReader(strings.NewReader(whole[:at]), brokenReader{}),
		} {
			if a := in.send(in.multipart("/file/list", body, "owner")); a.Code != 400 {
				t.Errorf("%s at %d: %d %s", name, at, a.Code, a.Body)
			}
		}
	}
	in.unchanged(before)
	in.swept(1)
	if a := in.ok("GET", contentURL(kept.ID), "", "owner"); a.Body != "kept" {
		t.Errorf("what was there before has become %q", a.Body)
	}
}

// TestUpload_Settings: the maximum size of a kind and one byte more,
// whatever the name; a kind with the limit 0; types that are not allowed.
func TestUpload_Settings(t *testing.T) {
	t.Parallel()
	in := start(t)
	for kind, head := range map[string]string{
		"image": imageHead, "audio": audioHead, "video": videoHead, "archive": archiveHead, "document": documentPDF, "other": otherHead,
	} {
		t.Run(kind, func(t *testing.T) {
			in := in.in(t)
			in.set("file."+kind+"_megabytes", "1")
			most := filler(head, 1<<20)
			if f := in.keep("owner", "photo.jpg", most); f.Kind != kind || f.Size != 1<<20 || f.Ext != "jpg" {
				t.Errorf("stored as %+v", f)
			}
			before := in.dump()
			a := in.posts("owner", filePart("small", head), filePart("photo.jpg", most+"x"))
			a.names(413, "file")
			a.brief(413, "1 MiB for "+kind+" files")
			in.unchanged(before)
			in.set("file."+kind+"_megabytes", "0")
			before = in.dump()
			a = in.posts("owner", filePart("photo.jpg", head))
			a.names(415, "file")
			a.brief(415, "photo.jpg is of the kind "+kind)
			in.unchanged(before)
		})
	}
	in.swept(6)
}

func TestUpload_AllowedTypes(t *testing.T) {
	t.Parallel()
	in := start(t)
	bodies := map[string]string{"png": imageHead, "pdf": documentPDF, "text": "words", "html": "<html><body>", "svg": "<svg xmlns=\"http://www.w3.org/2000/svg\">", "other": otherHead}
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
		in.set("file.types", types)
		var got []string
		for name, body := range bodies {
			a := in.posts("owner", filePart("x.png", body))
			if a.Code == 200 {
				got = append(got, name)
			} else {
				a.names(415, "file")
			}
		}
		if slices.Sort(got); !slices.Equal(got, allowed) {
			t.Errorf("%s allows %q, want %q", types, got, allowed)
		}
	}
}

func TestUpload_Quota(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.set("file.quota_megabytes", "4")
	first := in.keep("owner", "first", filler(documentPDF, 2<<20))
	before := in.dump()
	in.posts("owner", filePart("small", "small"), filePart("second", filler(documentPDF, 3<<20))).brief(507, `"errorCode":"quota_used_up"`, "4 MiB", `"showType":5`)
	in.unchanged(before)
	in.swept(1)
	in.ok("DELETE", fmt.Sprint("/file/list/", first.ID), "", "owner")
	in.posts("owner", filePart("second", filler(documentPDF, 3<<20))).brief(507)
	in.ok("DELETE", fmt.Sprint("/file/trash/", first.ID), "", "owner")
	until(t, "the content is deleted", func() bool { stored, _ := in.db.FileBytes(); return stored == 0 })
	in.keep("owner", "second", filler(documentPDF, 3<<20))
	in.set("file.quota_megabytes", "0")
	in.set("file.free_megabytes", fmt.Sprint(1<<20))
	in.posts("owner", filePart("third", "third")).brief(507, `"errorCode":"disk_low"`)
}

// TestUpload_ReauthorizedAfterArrival checks the authorization after the upload, since an upload
// can take long.
func TestUpload_ReauthorizedAfterArrival(t *testing.T) {
	t.Parallel()
	picture := string(picturetest.PNG(t, picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White)))
	for name, c := range map[string]struct {
		then          func(in *instance, clerk *store.User)
		files, avatar int
	}{
		"nothing happens": {func(*instance, *store.User) {}, 200, 200},
		"the permission is taken away": {func(in *instance, u *store.User) {
			in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", u.RoleIDs[0]), `{"rule_ids":[]}`, "owner")
		}, 403, 200},
		"the user signs out": {func(in *instance, _ *store.User) { in.ok("POST", "/admin/logout", "", "clerk") }, 401, 401},
		"the user must change the password": {func(in *instance, u *store.User) {
			in.update(func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, u.ID, func(u *store.User) error { u.MustChangePassword = true; return nil })
				return err
			})
		}, 403, 403},
		"the user is disabled": {func(in *instance, u *store.User) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", u.ID), `{"status":0}`, "owner")
		}, 401, 401},
		"the user is deleted": {func(in *instance, u *store.User) { in.ok("DELETE", fmt.Sprint("/admin/list/", u.ID), "", "owner") }, 401, 401},
	} {
		for url, status := range map[string]int{"/file/list": c.files, "/admin/avatar": c.avatar} {
			t.Run(name+" "+url, func(t *testing.T) {
				in := start(t)
				clerk := in.clerk("clerk", "file.list.create")
				var after map[string]string
				body := &late{strings.NewReader(multipartBody(filePart("a.png", picture))), func() { c.then(in, clerk); after = in.dump() }}
				in.send(in.multipart(url, body, "clerk")).brief(status)
				if status != http.StatusOK {
					in.unchanged(after)
					in.swept(0)
				}
			})
		}
	}
}
