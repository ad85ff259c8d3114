package server

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// peopleCSV describes the CSV files of the users of one realm: what an import and an export of them have
// in common is declared here, and what differs is in its functions.
type peopleCSV[T, Out any] struct {
	list    *Resource[T, Out]
	name    string   // of exported files, without date and extension
	columns []string // of an export; an import can have them in any order, and hashColumn and custom fields
	realm   string   // of the custom fields, whose columns are named fields.KEY
	values  func(u *T) *store.FieldValues
	job     string // kind of the jobs that import
	// Permissions: to import, to invite the imported users, and to import their password hashes.
	access, invites, passwords string
	// read returns the user of a row of an import. It adds the faults of the row, and returns only
	// errors that end the import.
	read   func(c *importCheck, row csvRow, faults errs.Faults) (T, error)
	write  func(tx *store.Tx, u *T) []string   // returns the row of a user in an export
	sees   func(scope *store.Scope, u *T) bool // reports whether an export has a user
	person func(u *T) importedPerson
}

// hashColumn is the column of an import with the password hashes of another program. Exports do not have it.
const hashColumn = "password_hash"

const (
	maxImportRows  = 10_000
	maxImportBytes = 8 << 20
	maxCellBytes   = 8 << 10 // a hundred role names
	maxRowBytes    = 16 << 10
)

// formulaStart are the characters that make a spreadsheet treat a cell as a formula.
const formulaStart = "=+-@\t\r"

// safeCell puts an apostrophe before a cell that a spreadsheet would compute.
func safeCell(cell string) string {
	if cell != "" && strings.ContainsRune(formulaStart+"'", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// plainCell is the inverse of safeCell.
func plainCell(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsRune(formulaStart+"'", rune(cell[1])) {
		return cell[1:]
	}
	return cell
}

// csvRow is a row of a CSV file, with its cells by column.
type csvRow struct {
	line  int
	cells map[string]string
}

// readCSV returns the rows. The header names some of the columns, in any order.
func readCSV(text string, columns []string) ([]csvRow, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = separator(text)
	header, err := readHeader(reader, columns)
	if err != nil {
		return nil, err
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
			return nil, errs.Field(errs.Invalid, "file", "must have at most %d rows", maxImportRows)
		}
		line, _ := reader.FieldPos(0)
		row, size := csvRow{line, map[string]string{}}, 0
		for i, cell := range record {
			if size += len(cell); len(cell) > maxCellBytes || size > maxRowBytes {
				return nil, errs.Field(errs.Invalid, "file", "line %d: a cell must be at most %d bytes and a row at most %d", line, maxCellBytes, maxRowBytes)
			}
			row.cells[header[i]] = plainCell(strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
}

// readHeader returns the names of the columns, folded.
func readHeader(reader *csv.Reader, columns []string) ([]string, error) {
	header, err := reader.Read()
	if err != nil {
		return nil, csvFault(err)
	}
	for i, name := range header {
		header[i] = fold.Key(name)
		switch {
		case slices.Contains(columns, header[i]):
		case strings.Contains(name, "$"): // a file without a header may have a password hash here
			return nil, errs.Field(errs.Invalid, "file", "line 1: cell %d is no name of a column; the columns are %s", i+1, columns)
		default:
			return nil, errs.Field(errs.Invalid, "file", "line 1: unknown column %q; the columns are %s", truncate(name, maxEcho), columns)
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: the column %s appears twice", header[i])
		}
	}
	if !slices.Contains(header, "username") {
		return nil, errs.Field(errs.Invalid, "file", "line 1: the column %s is missing", "username")
	}
	return header, nil
}

func csvFault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errs.Field(errs.Invalid, "file", "must not be empty")
	case errors.As(err, &parse) && errors.Is(err, csv.ErrFieldCount):
		return errs.Field(errs.Invalid, "file", "line %d: wrong number of cells", parse.Line)
	case errors.As(err, &parse):
		return errs.Field(errs.Invalid, "file", "line %d: misplaced quotation mark", parse.Line)
	}
	return err
}

// separator returns the separator of cells: the first comma, semicolon or tab in the
// header, since no column name contains one.
func separator(text string) rune {
	header, _, _ := strings.Cut(text, "\n")
	if at := strings.IndexAny(header, ",;\t"); at >= 0 {
		return rune(header[at])
	}
	return ','
}
