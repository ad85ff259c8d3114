package server

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// userCSV are the columns of an export, and those that an import can have.
var userCSV = []string{"username", "nickname", "email", "mobile", "sex", "department", "roles", "status"}

const (
	maxImportRows  = 10_000
	maxImportBytes = 8 << 20
	maxCellBytes   = 8 << 10 // a hundred role names
	maxRowBytes    = 16 << 10
)

// roleEscape keeps a semicolon in a role's name apart from those between names.
var roleEscape = strings.NewReplacer(`\`, `\\`, `;`, `\;`)

// formulaStart are the characters with which a spreadsheet takes a cell for a formula.
const formulaStart = "=+-@\t\r"

// safeCell puts an apostrophe before what a spreadsheet would compute.
func safeCell(cell string) string {
	if cell != "" && strings.ContainsRune(formulaStart+"'", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// plainCell undoes safeCell.
func plainCell(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsRune(formulaStart+"'", rune(cell[1])) {
		return cell[1:]
	}
	return cell
}

// csvRow is one row by column.
type csvRow struct {
	line  int
	cells map[string]string
}

// readUserCSV reads the rows; the header says which columns there are, in any order.
func readUserCSV(text string) ([]csvRow, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = separator(text)
	header, err := reader.Read()
	if err != nil {
		return nil, csvFault(err)
	}
	for i, name := range header {
		header[i] = store.Fold(name)
		if !slices.Contains(userCSV, header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: %q is not a column; they are %s", truncate(name, maxEcho), strings.Join(userCSV, ", "))
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: the column %s is there twice", header[i])
		}
	}
	if !slices.Contains(header, "username") {
		return nil, errs.Field(errs.Invalid, "file", "line 1: the column username is missing")
	}
	var rows []csvRow
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, csvFault(err)
		}
		if len(rows) == maxImportRows {
			return nil, errs.Field(errs.Invalid, "file", "has more than %d rows", maxImportRows)
		}
		line, _ := reader.FieldPos(0)
		row, size := csvRow{line, map[string]string{}}, 0
		for i, cell := range record {
			if size += len(cell); len(cell) > maxCellBytes || size > maxRowBytes {
				return nil, errs.Field(errs.Invalid, "file", "line %d: a cell may have %d bytes and a row %d", line, maxCellBytes, maxRowBytes)
			}
			row.cells[header[i]] = plainCell(strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
}

func csvFault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errs.Field(errs.Invalid, "file", "is empty")
	case errors.As(err, &parse):
		return errs.Field(errs.Invalid, "file", "line %d: %s", parse.Line, parse.Err)
	}
	return err
}

// separator is what separates the cells of a table: the first comma, semicolon or tab
// of the header, whose names have none of these.
func separator(text string) rune {
	header, _, _ := strings.Cut(text, "\n")
	if at := strings.IndexAny(header, ",;\t"); at >= 0 {
		return rune(header[at])
	}
	return ','
}

// splitRoles splits at semicolons that have no backslash before them.
func splitRoles(names string) []string {
	var all []string
	var name strings.Builder
	for i := 0; i < len(names); i++ {
		switch {
		case names[i] == '\\' && i+1 < len(names):
			i++
			name.WriteByte(names[i])
		case names[i] == ';':
			all = append(all, strings.TrimSpace(name.String()))
			name.Reset()
		default:
			name.WriteByte(names[i])
		}
	}
	return append(all, strings.TrimSpace(name.String()))
}
