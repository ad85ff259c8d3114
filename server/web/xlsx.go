package web

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// xlsxParts are the files of a workbook with one sheet, in which the style 1 is bold, before the sheet
// itself (ECMA-376, Office Open XML, transitional).
var xlsxParts = []struct{ name, content string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/sheet.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="List" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="sheet.xml"/>` +
		`<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>` +
		`<cellXfs count="2"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/></cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`},
}

const (
	xlsxHead = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
		`<sheetFormatPr defaultColWidth="20" defaultRowHeight="15"/><sheetData>`
	xlsxFoot = `</sheetData></worksheet>`

	maxXLSXCell   = 32_767 // UTF-16 code units of a text in a cell
	maxXLSXDigits = 15     // of a number in a cell
)

// xlsxWriter writes a workbook row by row. A text is never a formula in it.
type xlsxWriter struct {
	zip   *zip.Writer
	sheet io.Writer
	row   bytes.Buffer
	rows  int // number of the row
	cells int // number of its cells
}

// newXLSX begins a workbook, whose sheet begins with a header.
func newXLSX(w io.Writer, header []string) (*xlsxWriter, error) {
	x := &xlsxWriter{zip: zip.NewWriter(w)}
	for _, part := range xlsxParts {
		if err := x.begin(part.name, part.content); err != nil {
			return nil, err
		}
	}
	if err := x.begin("xl/sheet.xml", xlsxHead); err != nil {
		return nil, err
	}
	for _, name := range header {
		x.text(name, ` s="1"`)
	}
	return x, x.end()
}

// begin begins a file of the workbook.
func (x *xlsxWriter) begin(name, content string) (err error) {
	if x.sheet, err = x.zip.Create(name); err == nil {
		_, err = io.WriteString(x.sheet, xml.Header+content)
	}
	return err
}

// write writes a row of values in JSON.
func (x *xlsxWriter) write(values []json.RawMessage) error {
	for _, v := range values {
		switch {
		case len(v) == 0 || v[0] == 'n':
			x.cells++ // an empty cell is not written
		case v[0] == 't':
			x.cell(` t="b"`, "<v>1</v>")
		case v[0] == 'f':
			x.cell(` t="b"`, "<v>0</v>")
		case (v[0] == '-' || '0' <= v[0] && v[0] <= '9') && len(v) <= maxXLSXDigits:
			x.cell("", "<v>"+string(v)+"</v>")
		default:
			x.text(textOf(v), "")
		}
	}
	return x.end()
}

// cell adds a cell with attributes and a content.
func (x *xlsxWriter) cell(attributes, content string) {
	x.cells++
	x.row.WriteString(`<c r="` + xlsxColumn(x.cells) + strconv.Itoa(x.rows+1) + `"` + attributes + ">" + content + "</c>")
}

// xlsxColumn returns the name of a column, from 1: A to Z, AA and so on.
func xlsxColumn(n int) (name string) {
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// end writes the row.
func (x *xlsxWriter) end() error {
	x.rows++
	_, err := fmt.Fprintf(x.sheet, `<row r="%d">%s</row>`, x.rows, x.row.Bytes())
	x.row.Reset()
	x.cells = 0
	return err
}

// xlsxEscape is what a spreadsheet would read as the escape of a character.
var xlsxEscape = regexp.MustCompile(`_x[0-9A-Fa-f]{4}`)

// text adds a cell with a text. A longer one than a cell can have ends with "…".
func (x *xlsxWriter) text(s, style string) {
	if len(s) > maxXLSXCell {
		if units := utf16.Encode([]rune(s)); len(units) > maxXLSXCell {
			s = strings.TrimSuffix(string(utf16.Decode(units[:maxXLSXCell-1])), "\uFFFD") + "…"
		}
	}
	var escaped strings.Builder
	xml.EscapeText(&escaped, []byte(xlsxEscape.ReplaceAllString(s, "_x005F$0"))) // a builder has no errors
	x.cell(` t="inlineStr"`+style, `<is><t xml:space="preserve">`+escaped.String()+"</t></is>")
}

func (x *xlsxWriter) flush() error { return x.zip.Flush() }

func (x *xlsxWriter) close() error {
	if _, err := io.WriteString(x.sheet, xlsxFoot); err != nil {
		return err
	}
	return x.zip.Close()
}
