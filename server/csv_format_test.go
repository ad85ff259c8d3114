package server_test

import (
	"fmt"
	"math/rand"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/server/web"
)

// TestImport_EveryCharset imports a name in each character encoding, with characters beyond ASCII.
func TestImport_EveryCharset(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for i, c := range people.Charsets {
		nickname, file := "", []byte(nil)
		for _, name := range []string{"王小明", "山田花子", "김철수", "Иван", "Łukasz", "José", "Γιώργος",
			"ישראל", "محمد", "สมชาย", "Āķis", "Ġorġ", "Ŵyn"} {
			text := fmt.Sprintf("username,nickname\nnew%d,%s\n", i, name)
			from := c.From
			if from == nil {
				from = unicode.UTF8
			}
			if b, err := from.NewEncoder().Bytes([]byte(text)); err == nil {
				nickname, file = name, b
				break
			}
		}

		if file == nil {
			t.Errorf("%s: no name can be written in it", c.Name)
			continue
		}

		for _, name := range append(c.Other, c.Name) {
			a := sendForm(in, "/admin/list-import?dry_run=1&charset="+strings.ToUpper(name),
				servertest.FilePart("a.csv", string(file)))
			a.Brief(200, `"failed":0`, `"charset":"`+c.Name+`"`)
		}

		sendForm(in, "/admin/list-import?charset="+c.Name,
			servertest.FilePart("a.csv", string(file))).Brief(200, `"created":1`,
			`"charset":"`+c.Name+`"`)
		in.Lists(fmt.Sprintf("/admin/list?keywordSearch=new%d&pageSize=1&sorter=%s", i,
			url.QueryEscape(`{"id":"descend"}`)), "nickname", "owner", nickname)
	}
}

// TestImport_Spreadsheets has tables as Excel, Numbers and older programs write them.
func TestImport_Spreadsheets(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, c := range map[string]struct {
		file    string
		line    string // of ann
		refused string // part of the error; "" if it is imported
	}{
		"an empty column at the end": {"username,nickname,\nann,A,\nbert,B,\n", `"line":2,`,
			""},
		"several, and none in the row": {"username;nickname;;\nann;A\nbert;B;;\n", `"line":2,`,
			""},
		"an empty column in the middle": {"username,,nickname\nann,,A\nbert,,B\n", `"line":2,`,
			""},
		"rows of separators": {"username,nickname\n,\nann,A\n , \nbert,B\n,\n,,,\n",
			`"line":3,`, ""},
		"sep=": {"sep=;\r\nusername;nickname\r\nann;A\r\nbert;B\r\n",
			`"line":3,`, ""},
		"sep= with another separator": {"\ufeff\"sep=|\"\r\nusername|nickname\r\nann|A,x\r\nbert|B\r\n", `"line":3,`, ""},
		"lone carriage returns": {"username,nickname\rann,A\rbert,\"B\"\r", `"line":2,`,
			""},
		"a value in a column without name": {"username,nickname,\nann,A,\nbert,B,x\n", "",
			"line 3: cell 3 is in a column without a name"},
		"a value beyond the columns": {"username,nickname\nann,A,x\n", "",
			"line 2: cell 3 is in a column without a name"},
		"a row that is too short": {"username,nickname\nann\n", "",
			"line 2: wrong number of cells"},
	} {
		t.Run(name, func(t *testing.T) {
			a := sendForm(in.In(t), "/admin/list-import?dry_run=1",
				servertest.FilePart("a.csv", c.file))
			if c.refused != "" {
				a.Brief(422, c.refused)
				return
			}
			a.Brief(200, `{`+c.line+`"username":"ann","ok":true}`, `"username":"bert","ok":true`,
				`"failed":0`, `"charset":"utf-8"`)
			if n := strings.Count(a.Body, `"line":`); n != 2 {
				t.Errorf("%d rows: %s", n, a.Body)
			}
		})
	}
}

// TestCells_SafeForEverySeparator splits exports as spreadsheets with another list separator do.
func TestCells_SafeForEverySeparator(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	const alphabet = "ab'\"=+-@,;\t\n \r|"
	for range 200_000 {
		cell := make([]byte, random.Intn(8))
		for i := range cell {
			cell[i] = alphabet[random.Intn(len(alphabet))]
		}

		safe := web.SafeCell(string(cell))
		if plain := web.PlainCell(safe); plain != string(cell) {
			t.Fatalf("%q became %q and then %q", cell, safe, plain)
		}

		for _, part := range strings.FieldsFunc(safe, func(r rune) bool {
			return strings.ContainsRune(",;\t\r\n", r)
		}) {
			if part = strings.TrimLeft(part, ` "`); part != "" &&
				strings.ContainsRune("=+-@", rune(part[0])) {
				t.Fatalf("%q became %q, of which a spreadsheet computes %q", cell, safe, part)
			}
		}
	}

	for _, cell := range []string{"plain", "a;b", "it's", "O'Hara; 'x'", "a-b", "x;'y"} {
		if safe := web.SafeCell(cell); safe != cell {
			t.Errorf("%q became %q", cell, safe)
		}
	}
}

// TestExport_Separator exports with each separator, and imports it again.
func TestExport_Separator(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/field", `{"realm":"app","key":"score","type":"number","title":"Score"}`)
	in.Create("/system/field", `{"realm":"app","key":"note","type":"input","title":"Note"}`)
	const nickname, note = `a;=cmd|' /C calc'!A0;b`, `-1,"=2"`
	body := fmt.Sprintf(`{"username":"mallory","nickname":%q,"fields":{"score":-5,"note":%q}}`,
		nickname, note)
	in.Create("/user/list", body)
	for name, comma := range map[string]string{
		"":          ",",
		"comma":     ",",
		"semicolon": ";",
		"%3B":       ";",
		"tab":       "\t",
	} {
		file := in.OK("GET", "/user/list-export?separator="+name, "", "owner").Body
		header := strings.Join([]string{"username", "nickname", "email", "mobile", "roles",
			"status", "fields.score", "fields.note"}, comma)
		if !strings.HasPrefix(file, web.ByteOrderMark+header+"\n") ||
			!strings.Contains(file, comma+"-5"+comma) {
			t.Errorf("%s: %q", name, file)
		}
		in.OK("DELETE", "/user/list?ids="+in.Column("/user/list", "id", "owner")[0], "", "owner")
		sendForm(in, "/user/list-import", servertest.FilePart("a.csv", file)).Brief(200,
			`"created":1`)
		in.Lists("/user/list", "nickname", "owner", nickname)
		in.OK("GET", "/user/list", "", "owner").Brief(200, `"score":-5`,
			fmt.Sprintf(`"note":%q`, note))
	}

	in.Call("GET", "/user/list-export?separator=x", "", "owner").Names(400, "separator")
	in.Call("GET", "/user/list?separator=comma", "", "owner").Names(400, "separator")
}
