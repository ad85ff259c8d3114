package web

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestXLSX_Values writes values of each kind, and texts that a cell can't have.
func TestXLSX_Values(t *testing.T) {
	t.Parallel()
	const open, end = `<c r="B2" t="inlineStr"><is><t xml:space="preserve">`, `</t></is></c>`
	long := strings.Repeat("𝄞", maxXLSXCell/2) + "ab" // a character of two units
	for value, want := range map[string]string{
		`null`:                  ``,
		``:                      ``,
		`true`:                  `<c r="B2" t="b"><v>1</v></c>`,
		`false`:                 `<c r="B2" t="b"><v>0</v></c>`,
		`-12.5e3`:               `<c r="B2"><v>-12.5e3</v></c>`,
		`1234567890123456`:      open + `1234567890123456` + end,
		`"1"`:                   open + `1` + end,
		`"\u0000\u0007 é\n"`:    open + "\uFFFD\uFFFD é&#xA;" + end,
		`"_x0041_ _X0041_ _x4"`: open + `_x005F_x0041_ _X0041_ _x4` + end,
		`["a",1]`:               open + `a; 1` + end,
		`{"a":1}`:               open + `{&#34;a&#34;:1}` + end,
		`"` + long + `"`:        open + strings.Repeat("𝄞", maxXLSXCell/2) + "…" + end,
	} {
		var file bytes.Buffer
		x, err := newXLSX(&file, []string{"a", "b"})
		if err == nil {
			err = x.write([]json.RawMessage{nil, json.RawMessage(value)})
		}
		if err == nil {
			err = x.close()
		}
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		sheet, err := z.Open("xl/sheet.xml")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(sheet)
		if err != nil || !strings.HasSuffix(string(text), `</row><row r="2">`+want+"</row></sheetData></worksheet>") {
			t.Errorf("%.60s: %v, %.400s", value, err, text[len(text)-min(len(text), 400):])
		}
	}
}

func TestXLSX_Columns(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "A", 26: "Z", 27: "AA", 52: "AZ", 53: "BA", 702: "ZZ", 703: "AAA"} {
		if got := xlsxColumn(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
