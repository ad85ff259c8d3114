package web

import "strings"

// Cells of CSV files. See SafeCell.

// ByteOrderMark makes spreadsheets read a file as UTF-8 instead of the encoding of their system.
const ByteOrderMark = "\ufeff"

// formulaStart are the characters that make a spreadsheet treat a cell as a formula.
const formulaStart = "=+-@\t\r"

// cellOpens reports whether a cell of a spreadsheet can begin at an offset of a cell: also after
// each character that a spreadsheet may take for a separator although the file has another one.
func cellOpens(cell string, at int) bool {
	return at == 0 || strings.IndexByte(",;\t\r\n", cell[at-1]) >= 0
}

// computed reports whether a spreadsheet may compute a cell that begins with a text, or SafeCell
// has made it one that it does not. Inside a cell, quotation marks and spaces may come first.
func computed(text string, first bool) bool {
	if first && strings.IndexByte(formulaStart+"'", text[0]) >= 0 {
		return true
	}
	text = strings.TrimLeft(strings.TrimLeft(text, "'"), ` "`)
	return text != "" && strings.IndexByte("=+-@", text[0]) >= 0
}

// SafeCell puts an apostrophe before whatever a spreadsheet would compute.
func SafeCell(cell string) string {
	var b strings.Builder
	for i := range len(cell) {
		if cellOpens(cell, i) && computed(cell[i:], i == 0) {
			b.WriteByte('\'')
		}
		b.WriteByte(cell[i])
	}
	return b.String()
}

// PlainCell is the inverse of SafeCell.
func PlainCell(cell string) string {
	var b strings.Builder
	for i := range len(cell) {
		if cell[i] != '\'' || i+1 == len(cell) || !cellOpens(cell, i) ||
			!computed(cell[i+1:], i == 0) {
			b.WriteByte(cell[i])
		}
	}
	return b.String()
}
