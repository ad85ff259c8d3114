package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
)

func takesForm(rt *web.Route) bool { return rt.Input != nil && rt.Input.Upload }

// goodForms has a file that each multipart route accepts.
func goodForms(t *testing.T) map[string]servertest.FormPart {
	return map[string]servertest.FormPart{
		"POST /file/list":             servertest.FilePart("a.txt", "text"),
		"POST /file/list/:id/version": servertest.FilePart("a.txt", "other text"),
		"POST /admin/avatar":          servertest.FilePart("a.gif", onePixel),
		"POST /admin/list-import":     servertest.FilePart("a.csv", "username\nnew\n"),
		"POST /user/list-import":      servertest.FilePart("a.csv", "username\nnew\n"),
	}
}

// goodFormFields has values for all form fields.
var goodFormFields = map[string]string{
	"group_id": "0",
	"public":   "1",
	"dry_run":  "1",
	"charset":  "utf-8",
}

// sendForm sends a form to a route.
func sendForm(in *servertest.Instance, url string, parts ...servertest.FormPart) *servertest.Reply {
	in.T.Helper()
	return in.Send(in.Multipart(url, strings.NewReader(servertest.MultipartBody(parts...)),
		"owner"))
}

// TestForm_RejectsUnknownFields sends unknown fields before and after the file, and checks that
// each form accepts its own fields in both places.
func TestForm_RejectsUnknownFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	servertest.EachRoute(t, in, takesForm, func(in *servertest.Instance, rt *web.Route) {
		file, known := goodForms(t)[rt.Name()]
		if !known {
			t.Fatalf("add a file that %s accepts to goodForms in server/form_field_test.go",
				rt.Name())
		}

		in.Upload("/file/list", "text", "owner")
		path := strings.Replace(servertest.URLOf(rt), "999999", "1", 1)
		before := in.Dump()
		for _, name := range []string{"nonsense", "Dry_run", "dry_run[]", "file[]", "uploader_id",
			"__proto__", "id"} {
			sendForm(in, path, file, servertest.FieldPart(name, "1")).Names(400, name)
			sendForm(in, path, servertest.FieldPart(name, ""), file).Names(400, name)
		}

		for _, name := range []string{"nonsense", "Dry_run", "file", "dry_run[]"} {
			sendForm(in, path+"?"+name+"=1", file).Names(400, name)
		}

		if !rt.Input.Several {
			sendForm(in, path, file, file).Names(400, "file")
		}

		sendForm(in, path, file, servertest.FieldPart("file", "x")).Names(400, "file")
		properties := documented(t, rt)
		for _, f := range rt.Input.Fields {
			if f.From != "form" || f.IDs != nil { // see TestNames_InForms
				continue
			}
			if properties[f.Name] == nil {
				t.Errorf("%s is not documented", f.Name)
			}
			sendForm(in, path, file, servertest.FieldPart(f.Name, "nonsense")).Names(400, f.Name)
			sendForm(in, path, servertest.FieldPart(f.Name, "nonsense"), file).Names(400, f.Name)
			sendForm(in, path, file, servertest.FieldPart(f.Name, goodFormFields[f.Name]),
				servertest.FieldPart(f.Name, goodFormFields[f.Name])).Names(400, f.Name)
		}

		in.Unchanged(before)
		fields := []servertest.FormPart{}
		for _, f := range rt.Input.Fields {
			if f.From == "form" && f.IDs == nil {
				fields = append(fields, servertest.FieldPart(f.Name, goodFormFields[f.Name]))
			}
		}

		sendForm(in, path, append(slices.Clone(fields), file)...).Brief(200)
		sendForm(in, path, append([]servertest.FormPart{file}, fields...)...).Brief(200)
	})
}

// documented returns the properties of a route's form in the document.
func documented(t *testing.T, rt *web.Route) openapi.Object {
	_, op := servertest.FindOperation(rt.Method, rt.Path)
	schema := bodySchema(servertest.DocumentSchemas().Doc, op)
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the form is open", rt.Name())
	}
	return schema["properties"].(openapi.Object)
}

// TestImport_DryRunChangesNothing: however dry_run is sent, a dry run must never
// change anything.
func TestImport_DryRunChangesNothing(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	file := servertest.FilePart("a.csv", "username\nnew\n")
	dry := func(value string) servertest.FormPart { return servertest.FieldPart("dry_run", value) }
	before := in.Dump()
	for name, c := range map[string]struct {
		query string
		parts []servertest.FormPart
	}{
		"in the query":               {"?dry_run=1", []servertest.FormPart{file}},
		"in the query as true":       {"?dry_run=true", []servertest.FormPart{file}},
		"in the form, before":        {"", []servertest.FormPart{dry("1"), file}},
		"in the form, after":         {"", []servertest.FormPart{file, dry("1")}},
		"in the form as true, after": {"", []servertest.FormPart{file, dry("true")}},
		"in both":                    {"?dry_run=1", []servertest.FormPart{file, dry("1")}},
		"in the query, empty":        {"?dry_run=1", []servertest.FormPart{file, dry("")}},
	} {
		if a := sendForm(in, "/admin/list-import"+c.query, c.parts...); a.Code != 200 ||
			!strings.Contains(a.Body, `"dry_run":1,"created":0`) {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		in.Unchanged(before)
	}

	sendForm(in, "/admin/list-import?dry_run=0", file, dry("1")).Names(400, "dry_run")
	sendForm(in, "/admin/list-import?dry_run=1", file, dry("0")).Names(400, "dry_run")
	sendForm(in, "/admin/list-import", file, dry("yes")).Names(400, "dry_run")
	sendForm(in, "/admin/list-import?charset=utf-8", file, servertest.FieldPart("charset", "gbk")).Names(400, "charset")
	in.Unchanged(before)
	sendForm(in, "/admin/list-import?dry_run=0", file, dry("false")).Brief(200, `"created":1`)
}

// TestSpreadsheetFormats, in every charset and with every separator.
func TestSpreadsheetFormats(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	const western, chinese, easy = "Jürgen Groß", "张三丰", "José, Zoë"
	gbk := map[string]string{
		chinese: "\xd5\xc5\xc8\xfd\xb7\xe1",
		"朱镕基":   "\xd6\xec\xe9\x46\xbb\xf9",
		"€":     "\x80",
		"𠀀":     "\x95\x32\x82\x36",
	}

	latin := func(s string) string {
		var b []byte
		for _, r := range s {
			b = append(b, byte(r))
		}
		return string(b)
	}

	wide := func(s string, big bool) string {
		var b []byte
		for _, r := range s {
			low, high := byte(r), byte(r>>8)
			if big {
				low, high = high, low
			}
			b = append(b, low, high)
		}
		return string(b)
	}

	table := func(separator, nickname string) string {
		return "username" + separator + "nickname" + separator + "roles\r\nnew" + separator + `"` + nickname + `"` + separator + "\"Plain;Back\\\\slash\"\r\n"
	}
	for name, c := range map[string]struct{ file, charset, want string }{
		"UTF-8":             {table(",", chinese), "", chinese},
		"UTF-8, declared":   {table(",", western), "UTF-8", western},
		"UTF-8 with a mark": {"\ufeff" + table(",", chinese), "", chinese},
		"UTF-8 with a mark, wrongly declared": {"\ufeff" + table(",", chinese), "windows-1252",
			chinese},
		"semicolons":               {table(";", chinese), "", chinese},
		"tabs":                     {table("\t", "a,b;c"), "", "a,b;c"},
		"commas, others in quotes": {table(",", "a;b,c"), "", "a;b,c"},
		"UTF-16 LE": {wide("\ufeff"+table("\t", chinese), false), "",
			chinese},
		"UTF-16 BE": {wide("\ufeff"+table(";", western), true), "",
			western},
		"UTF-16 LE without a mark": {wide(table("\t", chinese), false), "utf-16le",
			chinese},
		"UTF-16 BE without a mark": {wide(table("\t", chinese), true), "utf-16be",
			chinese},
		"Windows-1252":          {latin(table(";", easy)), "windows-1252", easy},
		"the euro":              {table(",", "\x80uro"), "cp1252", "€uro"},
		"GB18030":               {table(",", gbk[chinese]), "GB18030", chinese},
		"GBK":                   {table(",", gbk["朱镕基"]), "gbk", "朱镕基"},
		"GB18030 of four bytes": {table(",", gbk["𠀀"]), "gb18030", "𠀀"},
		"GB18030 with a mark": {"\x84\x31\x95\x33" + table(",", gbk["朱镕基"]), "",
			"朱镕基"},
	} {
		t.Run(name, func(t *testing.T) {
			in := in.In(t)
			a := sendForm(in, "/admin/list-import", servertest.FilePart("a.csv", c.file),
				servertest.FieldPart("charset", c.charset))
			a.Brief(200, `"created":1`)
			if a.Code != 200 {
				return
			}
			in.Lists("/admin/list?keywordSearch=new", "nickname", "owner", c.want)
			id := in.Column("/admin/list?keywordSearch=new", "id", "owner")[0]
			in.OK("GET", "/admin/list/"+id, "", "owner").Brief(200,
				`"role_names":["Plain","Back\\slash"]`)
			in.OK("DELETE", "/admin/list/"+id, "", "owner")
		})
	}

	before := in.Dump()
	for name, c := range map[string]struct {
		file, charset string
		status        int
		field, text   string
	}{
		"Western": {"username,nickname\nok,fine\nnew,M\xfcller\n", "", 422,
			"file",
			"line 3, column 6: not UTF-8; state the character encoding as charset: one of utf-8, "},
		"Russian": {"username,nickname\nivan,\xc8\xe2\xe0\xed\n", "", 422,
			"file",
			"line 2, column 6: not UTF-8; state the character encoding as charset: one of "},
		"Chinese": {"username,nickname\nnew," + gbk[chinese] + "\n", "", 422,
			"file", "line 2, column 5: not UTF-8"},
		"Japanese": {"username,nickname\nnew,\x8e\x52\x93\x63\n", "", 422,
			"file", "line 2, column 5: not UTF-8"},
		"Korean": {"username,nickname\nnew,\xb1\xe8\n", "", 422, "file",
			"line 2, column 5: not UTF-8"},
		"damaged": {"username,nickname\nnew,J\xfc,\xff\x81\n", "", 422, "file",
			"line 2, column 6: not UTF-8"},
		"UTF-16 without a mark": {wide("username\nnew\n", false), "", 422, "file",
			"line 1, column 2: not UTF-8"},
		"not UTF-8 as declared": {"username,nickname\nnew,Jos\xe9\n", "utf-8", 422, "file",
			"line 2, column 8: cannot be decoded as utf-8"},
		"not UTF-8 behind its mark": {"\ufeffusername,nickname\nnew,äö\xe9\n", "", 422, "file",
			"line 2, column 7: cannot be decoded as utf-8"},
		"not GB18030 as declared": {"username,nickname\nnew,\xd5\xc5\xe9\n", "gb18030", 422,
			"file", "line 2, column 6: cannot be decoded as gb18030"},
		"undefined in Windows-1252": {"username,nickname\nnew,\xe4\x81\n", "windows-1252", 422,
			"file", "line 2, column 6: cannot be decoded as windows-1252"},
		"half a character of UTF-16": {wide("\ufeffusername\nnew\n", false) + "x", "", 422, "file",
			"line 3, column 1: cannot be decoded as utf-16le"},
		"a lone surrogate": {wide("\ufeffusername\nn", false) + "\x00\xd8" + wide("\n",
			false), "", 422, "file", "line 2, column 2: cannot be decoded as utf-16le"},
		"an unknown charset": {"username\nnew\n", "ebcdic", 400, "charset",
			"must be one of utf-8, "},
	} {
		t.Run(name, func(t *testing.T) {
			in := in.In(t)
			a := sendForm(in, "/admin/list-import?charset="+c.charset,
				servertest.FilePart("a.csv", c.file))
			if a.Code != c.status || !strings.HasPrefix(a.Envelope().Errors[c.field], c.text) {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			in.Unchanged(before)
		})
	}
}

// TestImport_DuplicateNameInFile checks that a name repeated in the file is not reported as taken
// by another user.
func TestImport_DuplicateNameInFile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	file := "username;email\nann;a@example.org\nbert;b@example.org\ncleo;B@example.org\n\"BERT\";c@example.org\nadmin;\nAdmin;\n"
	before := in.Dump()
	for _, query := range []string{"?dry_run=1", ""} {
		a := in.Upload("/admin/list-import"+query, file, "owner")
		got := a.Envelope().Errors
		if query != "" {
			var out people.ImportOut
			a.Data(&out)
			got = map[string]string{}
			for _, v := range out.Rows {
				for column, text := range v.Errors {
					got[fmt.Sprintf("line %d %s", v.Line, column)] = text
				}
			}
		}

		for at, want := range map[string]string{
			"line 4 email":    "is the same as on line 3",
			"line 5 username": "is the same as on line 3",
			"line 6 username": "is already used by another user",
			"line 7 username": "is the same as on line 6",
		} {
			if got[at] != want {
				t.Errorf("%s: %q, want %q", at, got[at], want)
			}
		}

		if len(got) != 4 {
			t.Errorf("%q", got)
		}

		in.Unchanged(before)
	}
}
