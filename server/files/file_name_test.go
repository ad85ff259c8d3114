package files_test

import (
	"fmt"
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"reeve/server/files"
	"reeve/server/openapi"
	"reeve/server/servertest"
)

// TestFileName_Upload uploads files with unusual and hostile names, and checks the name in the
// record and in the download.
func TestFileName_Upload(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	raw := func(disposition string) servertest.FormPart {
		return servertest.FormPart{
			Header: "Content-Disposition: form-data; name=\"file\"; " + disposition,
			Body:   "x",
		}
	}
	for name, c := range map[string]struct {
		part servertest.FormPart
		want string
		ext  string
	}{
		"plain": {servertest.FilePart("report.PDF", "x"), "report.PDF",
			"pdf"},
		"a path": {servertest.FilePart("../../etc/passwd", "x"), "passwd",
			""},
		"a path of Windows": {raw(`filename="..\..\x.txt"`), "x.txt", "txt"},
		"a drive":           {raw(`filename="C:\Users\me\x.txt"`), "x.txt", "txt"},
		"a path that ends":  {servertest.FilePart("dir/", "x"), "dir", ""},
		"slashes alone":     {servertest.FilePart("///", "x"), "file", ""},
		"dots alone":        {servertest.FilePart("..", "x"), "file", ""},
		"dots and spaces":   {servertest.FilePart(" . .. ", "x"), "file", ""},
		"spaces alone":      {servertest.FilePart("   ", "x"), "file", ""},
		"spaces around":     {servertest.FilePart("  a b.txt ", "x"), "a b.txt", "txt"},
		"no stem":           {servertest.FilePart(".htaccess", "x"), ".htaccess", ""},
		"quotes": {servertest.FilePart(`say "hi".txt`, "x"), `say "hi".txt`,
			"txt"},
		"a semicolon": {servertest.FilePart(`a; filename=b.txt`, "x"),
			"a; filename=b.txt", "txt"},
		"a percent sign": {servertest.FilePart(`100%41.txt`, "x"), "100%41.txt",
			"txt"},
		"markup": {servertest.FilePart(`<img src=x onerror=alert(1)>.png`,
			"x"), "<img src=x onerror=alert(1)>.png", "png"},
		"an extension in disguise": {servertest.FilePart("a.png.exe", "x"), "a.png.exe", "exe"},
		"an extension too long": {servertest.FilePart("a.abcdefghijklmnopq", "x"),
			"a.abcdefghijklmnopq", ""},
		"an extension of other signs": {servertest.FilePart("a.tar-gz", "x"), "a.tar-gz", ""},
		"other letters": {servertest.FilePart("Übersicht 日本.txt", "x"),
			"Übersicht 日本.txt", "txt"},
		"composed letters": {servertest.FilePart("👩‍👩‍👧.png", "x"), "👩‍👩‍👧.png", "png"},
		"a text turned around": {servertest.FilePart("a\u202egnp.exe", "x"), "agnp.exe",
			"exe"},
		"marks of direction": {servertest.FilePart("\u200ea\u200f\u061cb\u2066c\u2069.txt", "x"),
			"abc.txt", "txt"},
		"line separators": {servertest.FilePart("a\u2028b\u2029c.txt", "x"),
			"abc.txt", "txt"},
		"control characters": {raw("filename*=UTF-8''a%00b%01c%7f%c2%85.txt"), "abc.txt",
			"txt"},
		"line breaks": {raw("filename*=UTF-8''a%0d%0aSet-Cookie%3a%20x%3d1%0d%0a.txt"),
			"aSet-Cookie: x=1.txt", "txt"},
		"a path by RFC 2231": {raw("filename*=UTF-8''..%2f..%5cx.txt"), "x.txt", "txt"},
		"dots by RFC 2231":   {raw("filename*=UTF-8''%2e%2e"), "file", ""},
		"RFC 2231": {raw("filename*=UTF-8'de'%C3%9Cbersicht.txt"),
			"Übersicht.txt", "txt"},
		"RFC 2231 in pieces": {raw("filename*0=\"one \"; filename*1=\"two.txt\""),
			"one two.txt", "txt"},
		"both ways": {raw("filename=\"plain.txt\"; filename*=UTF-8''exact.txt"),
			"exact.txt", "txt"},
		"no UTF-8": {servertest.FilePart("a\xff\xfeb.txt", "x"), "ab.txt",
			"txt"},
		"no UTF-8 alone": {servertest.FilePart("\xff\xfe", "x"), "file", ""},
		"300 letters": {servertest.FilePart(strings.Repeat("a", 300)+".txt", "x"),
			strings.Repeat("a", 251) + ".txt", "txt"},
		"300 letters of two bytes": {servertest.FilePart(strings.Repeat("ä", 300)+".txt", "x"),
			strings.Repeat("ä", 125) + ".txt", "txt"},
		"300 letters of four bytes": {servertest.FilePart(strings.Repeat("😀", 300), "x"),
			strings.Repeat("😀", 63), ""},
		"300 letters of an extension": {servertest.FilePart("a."+strings.Repeat("b", 300), "x"),
			"a." + strings.Repeat("b", 253), ""},
		"255 letters": {servertest.FilePart(strings.Repeat("a", 255), "x"),
			strings.Repeat("a", 255), ""},
		"60,000 letters": {servertest.FilePart(strings.Repeat("a", 60_000)+".txt",
			"x"), strings.Repeat("a", 251) + ".txt", "txt"},
		"a name that is asked to hide": {servertest.FilePart("~$x.docx", "x"), "~$x.docx", "docx"},
	} {
		a := in.Posts("owner", c.part)
		if a.Code != 200 {
			t.Errorf("%s: %d %.300s", name, a.Code, a.Body)
			continue
		}

		var out files.Files
		a.Data(&out)
		f := out.Data[0]
		if f.Name != c.want || f.Ext != c.ext || len(f.Name) > files.MaxName ||
			!utf8.ValidString(f.Name) {
			t.Errorf("%s: stored as %q with the extension %q, want %q and %q", name, f.Name, f.Ext,
				c.want, c.ext)
		}
		if stored := in.Record(f.ID, "owner"); stored.Name != c.want {
			t.Errorf("%s: read back as %q", name, stored.Name)
		}

		in.OK("PUT", fmt.Sprint("/file/list/", f.ID), string(servertest.EncodeJSON(t, openapi.Object{"name": f.Name})), "owner") // a name that was accepted is accepted again
		saves(in, servertest.ContentURL(f.ID), c.want)
	}

	in.Lists("/file/list?keywordSearch=set-cookie", "name", "owner", "aSet-Cookie: x=1.txt")
}

// saves fails unless a download is to be saved under a name, by one header of plain ASCII.
func saves(in *servertest.Instance, url, name string) {
	in.T.Helper()
	a := in.OK("GET", url, "", "owner")
	values := a.Header.Values("Content-Disposition")
	if len(values) != 1 || strings.ContainsFunc(values[0], func(r rune) bool {
		return r < ' ' || r > '~'
	}) || a.Header.Get("Set-Cookie") != "" {
		in.T.Errorf("%q: the header is %q", name, values)
		return
	}

	kind, params, err := mime.ParseMediaType(values[0])
	if err != nil || kind != "attachment" || params["filename"] != name || len(params) != 1 {
		in.T.Errorf("%q: %q says %s %q, %v", name, values[0], kind, params, err)
	}

	plain, _, _ := strings.Cut(values[0], "; filename*=")
	if _, params, err := mime.ParseMediaType(plain); err != nil ||
		len(params["filename"]) != utf8.RuneCountInString(name) {
		in.T.Errorf("%q: %q says to old clients %q, %v", name, plain, params, err)
	}
}

func TestFileName_Rename(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "old.txt", "words")
	url := fmt.Sprint("/file/list/", f.ID)
	for name, c := range map[string]struct {
		name   string
		status int
	}{
		"another extension":   {"new.PNG", 200},
		"none":                {"new", 200},
		"dots in it":          {"..new..txt", 200},
		"most bytes":          {strings.Repeat("ä", 127) + "x", 200},
		"a byte more":         {strings.Repeat("ä", 128), 422},
		"256 letters":         {strings.Repeat("a", 256), 422},
		"nothing":             {"", 422},
		"spaces":              {"  ", 422},
		"a slash":             {"a/b", 422},
		"a backslash":         {`a\b`, 422},
		"one dot":             {".", 422},
		"dots alone":          {"..", 422},
		"dots and spaces":     {". .", 422},
		"a line break":        {"a\nb", 422},
		"a NUL":               {"a\x00b", 422},
		"a mark of direction": {"a\u202eb", 422},
	} {
		before := in.Dump()
		a := in.Call("PUT", url, string(servertest.EncodeJSON(t, openapi.Object{"name": c.name})),
			"owner")
		if c.status != 200 {
			if a.Code != c.status || a.Envelope().Errors["name"] == "" {
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
			in.Unchanged(before)
			continue
		}
		if a.Brief(c.status); a.Code == 200 {
			saves(in, servertest.ContentURL(f.ID), c.name)
		}
	}

	in.OK("PUT", url, `{"name":"Archive.TAR"}`, "owner").Brief(200, `"ext":"tar"`,
		`"kind":"document"`, `"mime":"text/plain; charset=utf-8"`)
	in.OK("PUT", url, `{"group_id":0}`, "owner").Brief(200, `"name":"Archive.TAR"`)
	in.Call("PUT", url, `{"name":null}`, "owner").Names(422, "name")
}
