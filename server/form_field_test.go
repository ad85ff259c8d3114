package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/people"
	"reeve/server/web"
)

func takesForm(rt *web.Route) bool { return rt.Input != nil && rt.Input.Upload }

// goodForms has a file that each multipart route accepts.
func goodForms(t *testing.T) map[string]formPart {
	return map[string]formPart{
		"POST /file/list":         filePart("a.txt", "text"),
		"POST /admin/avatar":      filePart("a.gif", onePixel),
		"POST /admin/list-import": filePart("a.csv", "username\nnew\n"),
		"POST /user/list-import":  filePart("a.csv", "username\nnew\n"),
	}
}

// goodFormFields has values for all form fields.
var goodFormFields = map[string]string{"group_id": "0", "public": "1", "dry_run": "1", "charset": "utf-8"}

// sendForm sends a form to a route.
func (in *instance) sendForm(url string, parts ...formPart) *reply {
	in.t.Helper()
	return in.send(in.multipart(url, strings.NewReader(multipartBody(parts...)), "owner"))
}

// TestForm_RejectsUnknownFields sends unknown fields before and after the file, and checks that
// each form accepts its own fields in both places.
func TestForm_RejectsUnknownFields(t *testing.T) {
	t.Parallel()
	in := start(t)
	eachRoute(t, in, takesForm, func(in *instance, rt *web.Route) {
		file, known := goodForms(t)[rt.Name()]
		if !known {
			t.Fatalf("add a file that %s accepts to goodForms in server/form_field_test.go", rt.Name())
		}
		before := in.dump()
		for _, name := range []string{"nonsense", "Dry_run", "dry_run[]", "file[]", "uploader_id", "__proto__", "id"} {
			in.sendForm(rt.Path, file, fieldPart(name, "1")).names(400, name)
			in.sendForm(rt.Path, fieldPart(name, ""), file).names(400, name)
		}
		for _, name := range []string{"nonsense", "Dry_run", "file", "dry_run[]"} {
			in.sendForm(rt.Path+"?"+name+"=1", file).names(400, name)
		}
		if !rt.Input.Several {
			in.sendForm(rt.Path, file, file).names(400, "file")
		}
		in.sendForm(rt.Path, file, fieldPart("file", "x")).names(400, "file")
		properties := documented(t, rt)
		for _, f := range rt.Input.Fields {
			if f.From != "form" {
				continue
			}
			if properties[f.Name] == nil {
				t.Errorf("%s is not documented", f.Name)
			}
			in.sendForm(rt.Path, file, fieldPart(f.Name, "nonsense")).names(400, f.Name)
			in.sendForm(rt.Path, fieldPart(f.Name, "nonsense"), file).names(400, f.Name)
			in.sendForm(rt.Path, file, fieldPart(f.Name, goodFormFields[f.Name]), fieldPart(f.Name, goodFormFields[f.Name])).names(400, f.Name)
		}
		in.unchanged(before)
		fields := []formPart{}
		for _, f := range rt.Input.Fields {
			if f.From == "form" {
				fields = append(fields, fieldPart(f.Name, goodFormFields[f.Name]))
			}
		}
		in.sendForm(rt.Path, append(slices.Clone(fields), file)...).brief(200)
		in.sendForm(rt.Path, append([]formPart{file}, fields...)...).brief(200)
	})
}

// documented returns the properties of a route's form in the document.
func documented(t *testing.T, rt *web.Route) openapi.Object {
	_, op := findOperation(rt.Method, rt.Path)
	schema := bodySchema(documentSchemas().doc, op)
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the form is open", rt.Name())
	}
	return schema["properties"].(openapi.Object)
}

// TestImport_DryRunChangesNothing: however dry_run is sent, a dry run must never
// change anything.
func TestImport_DryRunChangesNothing(t *testing.T) {
	t.Parallel()
	in := start(t)
	file := filePart("a.csv", "username\nnew\n")
	dry := func(value string) formPart { return fieldPart("dry_run", value) }
	before := in.dump()
	for name, c := range map[string]struct {
		query string
		parts []formPart
	}{
		"in the query":               {"?dry_run=1", []formPart{file}},
		"in the query as true":       {"?dry_run=true", []formPart{file}},
		"in the form, before":        {"", []formPart{dry("1"), file}},
		"in the form, after":         {"", []formPart{file, dry("1")}},
		"in the form as true, after": {"", []formPart{file, dry("true")}},
		"in both":                    {"?dry_run=1", []formPart{file, dry("1")}},
		"in the query, empty":        {"?dry_run=1", []formPart{file, dry("")}},
	} {
		if a := in.sendForm("/admin/list-import"+c.query, c.parts...); a.Code != 200 || !strings.Contains(a.Body, `"dry_run":1,"created":0`) {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		in.unchanged(before)
	}
	in.sendForm("/admin/list-import?dry_run=0", file, dry("1")).names(400, "dry_run")
	in.sendForm("/admin/list-import?dry_run=1", file, dry("0")).names(400, "dry_run")
	in.sendForm("/admin/list-import", file, dry("yes")).names(400, "dry_run")
	in.sendForm("/admin/list-import?charset=utf-8", file, fieldPart("charset", "gbk")).names(400, "charset")
	in.unchanged(before)
	in.sendForm("/admin/list-import?dry_run=0", file, dry("false")).brief(200, `"created":1`)
}

// TestSpreadsheetFormats, in every charset and with every separator.
func TestSpreadsheetFormats(t *testing.T) {
	t.Parallel()
	in := withOffice(t, nil)
	const western, chinese, easy = "Jürgen Groß", "张三丰", "José, Zoë"
	gbk := map[string]string{chinese: "\xd5\xc5\xc8\xfd\xb7\xe1", "朱镕基": "\xd6\xec\xe9\x46\xbb\xf9", "€": "\x80", "𠀀": "\x95\x32\x82\x36"}
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
		"UTF-8":                               {table(",", chinese), "", chinese},
		"UTF-8, declared":                     {table(",", western), "UTF-8", western},
		"UTF-8 with a mark":                   {"\ufeff" + table(",", chinese), "", chinese},
		"UTF-8 with a mark, wrongly declared": {"\ufeff" + table(",", chinese), "windows-1252", chinese},
		"semicolons":                          {table(";", chinese), "", chinese},
		"tabs":                                {table("\t", "a,b;c"), "", "a,b;c"},
		"commas, others in quotes":            {table(",", "a;b,c"), "", "a;b,c"},
		"UTF-16 LE":                           {wide("\ufeff"+table("\t", chinese), false), "", chinese},
		"UTF-16 BE":                           {wide("\ufeff"+table(";", western), true), "", western},
		"UTF-16 LE without a mark":            {wide(table("\t", chinese), false), "utf-16le", chinese},
		"UTF-16 BE without a mark":            {wide(table("\t", chinese), true), "utf-16be", chinese},
		"Windows-1252":                        {latin(table(";", easy)), "windows-1252", easy},
		"the euro":                            {table(",", "\x80uro"), "cp1252", "€uro"},
		"GB18030":                             {table(",", gbk[chinese]), "GB18030", chinese},
		"GBK":                                 {table(",", gbk["朱镕基"]), "gbk", "朱镕基"},
		"GB18030 of four bytes":               {table(",", gbk["𠀀"]), "gb18030", "𠀀"},
		"GB18030 with a mark":                 {"\x84\x31\x95\x33" + table(",", gbk["朱镕基"]), "", "朱镕基"},
	} {
		t.Run(name, func(t *testing.T) {
			in := in.in(t)
			a := in.sendForm("/admin/list-import", filePart("a.csv", c.file), fieldPart("charset", c.charset))
			a.brief(200, `"created":1`)
			if a.Code != 200 {
				return
			}
			in.lists("/admin/list?keywordSearch=new", "nickname", "owner", c.want)
			id := in.column("/admin/list?keywordSearch=new", "id", "owner")[0]
			in.ok("GET", "/admin/list/"+id, "", "owner").brief(200, `"role_names":["Plain","Back\\slash"]`)
			in.ok("DELETE", "/admin/list/"+id, "", "owner")
		})
	}
	before := in.dump()
	for name, c := range map[string]struct {
		file, charset string
		status        int
		field, text   string
	}{
		"Western":                    {"username,nickname\nok,fine\nnew,M\xfcller\n", "", 422, "file", "line 3, column 6: not UTF-8; state the character encoding as charset: one of utf-8, "},
		"Russian":                    {"username,nickname\nivan,\xc8\xe2\xe0\xed\n", "", 422, "file", "line 2, column 6: not UTF-8; state the character encoding as charset: one of "},
		"Chinese":                    {"username,nickname\nnew," + gbk[chinese] + "\n", "", 422, "file", "line 2, column 5: not UTF-8"},
		"Japanese":                   {"username,nickname\nnew,\x8e\x52\x93\x63\n", "", 422, "file", "line 2, column 5: not UTF-8"},
		"Korean":                     {"username,nickname\nnew,\xb1\xe8\n", "", 422, "file", "line 2, column 5: not UTF-8"},
		"damaged":                    {"username,nickname\nnew,J\xfc,\xff\x81\n", "", 422, "file", "line 2, column 6: not UTF-8"},
		"UTF-16 without a mark":      {wide("username\nnew\n", false), "", 422, "file", "line 1, column 2: not UTF-8"},
		"not UTF-8 as declared":      {"username,nickname\nnew,Jos\xe9\n", "utf-8", 422, "file", "line 2, column 8: cannot be decoded as utf-8"},
		"not UTF-8 behind its mark":  {"\ufeffusername,nickname\nnew,äö\xe9\n", "", 422, "file", "line 2, column 7: cannot be decoded as utf-8"},
		"not GB18030 as declared":    {"username,nickname\nnew,\xd5\xc5\xe9\n", "gb18030", 422, "file", "line 2, column 6: cannot be decoded as gb18030"},
		"undefined in Windows-1252":  {"username,nickname\nnew,\xe4\x81\n", "windows-1252", 422, "file", "line 2, column 6: cannot be decoded as windows-1252"},
		"half a character of UTF-16": {wide("\ufeffusername\nnew\n", false) + "x", "", 422, "file", "line 3, column 1: cannot be decoded as utf-16le"},
		"a lone surrogate":           {wide("\ufeffusername\nn", false) + "\x00\xd8" + wide("\n", false), "", 422, "file", "line 2, column 2: cannot be decoded as utf-16le"},
		"an unknown charset":         {"username\nnew\n", "ebcdic", 400, "charset", "must be one of utf-8, "},
	} {
		t.Run(name, func(t *testing.T) {
			in := in.in(t)
			a := in.sendForm("/admin/list-import?charset="+c.charset, filePart("a.csv", c.file))
			if a.Code != c.status || !strings.HasPrefix(a.envelope().Errors[c.field], c.text) {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			in.unchanged(before)
		})
	}
}

// TestImport_DuplicateNameInFile checks that a name repeated in the file is not reported as taken
// by another user.
func TestImport_DuplicateNameInFile(t *testing.T) {
	t.Parallel()
	in := start(t)
	file := "username;email\nann;a@example.org\nbert;b@example.org\ncleo;B@example.org\n\"BERT\";c@example.org\nadmin;\nAdmin;\n"
	before := in.dump()
	for _, query := range []string{"?dry_run=1", ""} {
		a := in.upload("/admin/list-import"+query, file, "owner")
		got := a.envelope().Errors
		if query != "" {
			var out people.ImportOut
			a.data(&out)
			got = map[string]string{}
			for _, v := range out.Rows {
				for column, text := range v.Errors {
					got[fmt.Sprintf("line %d %s", v.Line, column)] = text
				}
			}
		}
		for at, want := range map[string]string{
			"line 4 email": "is the same as on line 3", "line 5 username": "is the same as on line 3",
			"line 6 username": "is already used by another user", "line 7 username": "is the same as on line 6",
		} {
			if got[at] != want {
				t.Errorf("%s: %q, want %q", at, got[at], want)
			}
		}
		if len(got) != 4 {
			t.Errorf("%q", got)
		}
		in.unchanged(before)
	}
}
