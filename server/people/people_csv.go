package people

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// peopleCSV describes the CSV files of the users of one realm.
type peopleCSV[T any] struct {
	name string // name of exported files, without date and extension
	// Columns of an export. An import can have them in any order, and hashColumn and custom fields.
	columns []string
	// read returns the user of a row of an import, without roles. It adds the faults of the row.
	read  func(c *importCheck, row csvRow, faults errs.Faults) T
	write func(tx *store.Tx, u *T) []string // returns the row of a user in an export
	// roleID returns the ID of the role with a name.
	roleID func(tx *store.Tx, name string) (store.ID, error)
	sees   func(scope *store.Scope, u *T) bool // reports whether an export has a user; nil for all
}

// hashColumn is the column of an import with the password hashes of another program. Exports do not
// have it.
const hashColumn = "password_hash"

const (
	maxImportRows  = 10_000
	MaxImportBytes = 8 << 20
	MaxCellBytes   = 8 << 10 // a hundred role names
	maxRowBytes    = 16 << 10
)

// csvRow is a row of a CSV file, with its cells by column.
type csvRow struct {
	line  int
	cells map[string]string
}

// readCSV returns the rows, without those whose cells are all empty. The header names some of the
// columns, in any order; columns without a name must be empty, as spreadsheets write them.
func readCSV(text string, columns []string) ([]csvRow, error) {
	text, comma := tableOf(text)
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord = comma, -1
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

		line, _ := reader.FieldPos(0)
		row, err := readRow(header, record, line)
		if err != nil {
			return nil, err
		}
		if row.cells == nil {
			continue
		}
		if len(rows) == maxImportRows {
			return nil, errs.Field(errs.Invalid, "file", "must have at most %d rows", maxImportRows)
		}

		rows = append(rows, row)
	}
}

// readRow returns a row; without cells if all of them are empty.
func readRow(header, record []string, line int) (csvRow, error) {
	row, size, empty := csvRow{line, map[string]string{}}, 0, true
	for i, cell := range record {
		if size += len(cell); len(cell) > MaxCellBytes || size > maxRowBytes {
			return row, errs.Field(errs.Invalid, "file",
				"line %d: a cell must be at most %d bytes and a row at most %d", line,
				MaxCellBytes, maxRowBytes)
		}
		cell = strings.TrimSpace(cell)
		empty = empty && cell == ""
		switch {
		case i < len(header) && header[i] != "":
			row.cells[header[i]] = web.PlainCell(cell)
		case cell != "":
			return row, errs.Field(errs.Invalid, "file",
				"line %d: cell %d is in a column without a name", line, i+1)
		}
	}

	if empty {
		row.cells = nil
	} else if len(record) < len(header) && strings.Join(header[len(record):], "") != "" {
		return row, errs.Field(errs.Invalid, "file", "line %d: wrong number of cells", line)
	}

	return row, nil
}

// tableOf returns a table with line feeds after its rows, and the character that separates its
// cells: that of a first line sep=, which Excel writes and reads, else the first comma, semicolon
// or tab in the header, since no column name contains one.
func tableOf(text string) (string, rune) {
	b, quoted := []byte(text), false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\r' && !quoted && (i+1 == len(b) || b[i+1] != '\n'): // as old programs for the Macintosh
			b[i] = '\n'
		}
	}

	text = string(b)
	first, rest, _ := strings.Cut(text, "\n")
	line := strings.Trim(strings.TrimRight(first, "\r"), `"`)
	if sep, stated := strings.CutPrefix(strings.ToLower(line), "sep="); stated && len(sep) == 1 &&
		strings.Contains(",;\t|", sep) {
		return "\n" + rest, rune(sep[0]) // the empty line keeps the numbers of the others
	}
	if at := strings.IndexAny(first, ",;\t"); at >= 0 {
		return text, rune(first[at])
	}

	return text, ','
}

// readHeader returns the names of the columns, folded.
func readHeader(reader *csv.Reader, columns []string) ([]string, error) {
	header, err := reader.Read()
	if err != nil {
		return nil, csvFault(err)
	}

	for i, name := range header {
		header[i] = fold.Key(strings.TrimSpace(name))
		switch {
		case header[i] == "":
			continue
		case slices.Contains(columns, header[i]):
		case strings.Contains(name, "$"): // a file without a header may have a password hash here
			return nil, errs.Field(errs.Invalid, "file",
				"line 1: cell %d is no name of a column; the columns are %s", i+1, columns)
		default:
			return nil, errs.Field(errs.Invalid, "file",
				"line 1: unknown column %q; the columns are %s", web.Truncate(name, MaxEcho),
				columns)
		}
		if slices.Contains(header[:i], header[i]) {
			return nil, errs.Field(errs.Invalid, "file", "line 1: the column %s appears twice",
				header[i])
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
	case errors.As(err, &parse):
		return errs.Field(errs.Invalid, "file", "line %d: misplaced quotation mark", parse.Line)
	}
	return err
}
