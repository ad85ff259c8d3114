package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// A list that is requested with format=csv or format=xlsx is sent as a file: all records that match, without
// paging. The View of its route makes the pages, so that filters, order, permission and data scope
// are those of the list. Each page is read in its own transaction, and sent after that has ended,
// so that a slow client does not keep it open.

const (
	csvFormat  = "csv"
	xlsxFormat = "xlsx"

	// XLSXMedia is the media type of a workbook.
	XLSXMedia = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// fileFormats are the values of the parameter format besides json.
var fileFormats = []string{csvFormat, xlsxFormat}

const (
	MaxExport     = 100_000 // records of one export of a list
	exportRows    = 500     // records that are read in one transaction
	exportOverlap = 50      // records that are read again, since deletions in between shift the others
	deflateMemory = 1 << 20 // bytes that the compression of a workbook takes
)

// export is the state of a list that is being sent as a file.
type export struct {
	format  string
	comma   rune
	columns []string // fields of the records; nil for all
	from    int      // offset of the next page
}

// exports returns the state of a request for a list as a file; nil for other requests.
func (rt *Route) exports(r *http.Request) *export {
	if rt.List == nil || rt.List.Fields == nil || !strings.ContainsAny(r.URL.RawQuery, "%") &&
		!strings.Contains(r.URL.RawQuery, "format") {
		return nil
	}
	query, _ := url.ParseQuery(r.URL.RawQuery) // a parameter that it can't read is none
	for _, format := range query["format"] {
		if slices.Contains(fileFormats, format) {
			return &export{format: format}
		}
	}
	return nil
}

// loggedAs returns the action that the change log has for the request; "" for none.
func (req *Request) loggedAs(rt *Route) string {
	switch {
	case req.HTTP.Method == http.MethodHead:
		return ""
	case req.export != nil:
		return "export"
	}
	return rt.LoggedAs
}

// permitExport returns an error if the request is for an export that the caller may not have.
func (req *Request) permitExport(tx *store.Tx, rt *Route) error {
	if req.export != nil && rt.ExportAccess != "" && !req.Actor.HasPermission(tx, rt.ExportAccess) {
		return errs.New(errs.Denied, "permission %s is required", rt.ExportAccess)
	}
	return nil
}

func onlyCSV(req *Request, name string, faults errs.Faults) {
	if req.export == nil || req.export.format != csvFormat {
		faults.Add(name, "can only be used with format=csv")
	}
}

// exported parses the columns of an export.
func (l *ListInfo) exported(req *Request, q *ListQuery, text string, faults errs.Faults) {
	if req.export == nil {
		faults.Add("columns", "can only be used with format=csv or format=xlsx")
	}
	q.fields = strings.Split(text, ",")
	for i, name := range q.fields {
		custom := l.custom && strings.HasPrefix(name, CustomPrefix)
		if !custom && !slices.Contains(l.Fields, name) || slices.Contains(q.fields[:i], name) {
			faults.Add("columns", "must be different ones of %s", l.Fields)
			return
		}
	}
}

// fieldsOfRecords returns the names of the fields of the records of a page. Lists of app users have none: an export is
// added to the change log, which any number of app users must not fill.
func fieldsOfRecords(access string, page reflect.Type) []string {
	if access == AppOnly {
		return nil
	}
	data, _ := page.FieldByName("Data")
	of := data.Type.Elem()
	if shaped, is := reflect.Zero(of).Interface().(interface{ Shape() reflect.Type }); is {
		of = shaped.Shape()
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	return jsonNames(of)
}

// exportedPage is a page of a list, with records of any kind.
type exportedPage struct {
	Data    []map[string]json.RawMessage
	Total   int
	Damaged []json.RawMessage `json:"damaged_ids"`
}

func pageOf(out *Envelope) (page exportedPage, err error) {
	err = json.Unmarshal(bytes.TrimPrefix(out.Bytes.Bytes(), []byte(dataMember)), &page)
	return page, err
}

// rowWriter writes the rows of a file, with values in JSON.
type rowWriter interface {
	write(values []json.RawMessage) error
	flush() error
	close() error
}

// csvWriter writes CSV.
type csvWriter struct{ *csv.Writer }

func newCSV(w io.Writer, comma rune, header []string) (*csvWriter, error) {
	c := &csvWriter{csv.NewWriter(w)}
	c.Comma = comma
	header = slices.Clone(header)
	header[0] = ByteOrderMark + header[0]
	return c, c.Write(header)
}

func (c *csvWriter) write(values []json.RawMessage) error {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = cellOf(v)
	}
	return c.Write(row)
}

func (c *csvWriter) flush() error {
	c.Flush()
	return c.Error()
}

func (c *csvWriter) close() error { return nil }

// begin sends the header of the file.
func (e *export) begin(req *Request, columns []string) (rowWriter, error) {
	h := req.Writer.Header()
	if e.format == xlsxFormat {
		h.Set("Content-Type", XLSXMedia)
		return newXLSX(&req.Writer, columns)
	}
	h.Set("Content-Type", "text/csv; charset=utf-8")
	return newCSV(&req.Writer, e.comma, columns)
}

// sendList sends a list as a file. out has the first page. A file that can't be completed is cut off.
func (s *Server) sendList(rt *Route, req *Request, out *Envelope) error {
	page, err := pageOf(out)
	if err != nil {
		return err
	}
	if page.Total > MaxExport {
		return errs.New(errs.Malformed,
			"the list has %d records, and an export at most %d; use filters, such as a range of times",
			page.Total, MaxExport)
	}
	e := req.export
	memory := ExportMemory
	if e.format == xlsxFormat {
		memory += deflateMemory
	}
	sent := newSentIDs(page.Total)
	held := memory + sent.bytes()
	if err := req.HoldAnswer(held); err != nil {
		return err
	}

	columns := e.columns
	if columns == nil {
		columns = rt.List.Fields
	}

	name := strings.ReplaceAll(strings.Trim(rt.Path, "/"), "/", "-")
	h := req.Writer.Header()
	h["Content-Security-Policy"] = FileSafe
	h.Set("Content-Disposition",
		`attachment; filename="`+name+"-"+time.Now().UTC().Format("20060102-150405")+"."+e.format+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)

	w, err := e.begin(req, columns)
	if err != nil {
		return err
	}

	rows := 0
	for {
		for _, id := range page.Damaged {
			if sent.add(id) {
				rows++
				row := make([]json.RawMessage, len(columns))
				row[0] = json.RawMessage(strconv.Quote("(damaged: " + string(id) + ")"))
				if err := w.write(row); err != nil {
					return err
				}
			}
		}

		for _, record := range page.Data {
			if id := record["id"]; len(id) > 0 && !sent.add(id) {
				continue
			}
			rows++
			row := make([]json.RawMessage, len(columns))
			for i, name := range columns {
				row[i] = valueIn(record, name)
			}
			if err := w.write(row); err != nil {
				return err
			}
		}

		http.NewResponseController(&req.Writer).SetWriteDeadline(time.Now().Add(WriteTimeout)) // fails only without a connection, in a test
		if err := w.flush(); err != nil {
			return err
		}
		if e.from+exportRows >= page.Total {
			return w.close()
		}
		if rows >= MaxExport {
			return errs.New(errs.Malformed,
				"the list has %d records, and an export at most %d; use filters, such as a range of times",
				page.Total, MaxExport)
		}
		if now := memory + sent.bytes(); now > held { // the list has grown
			if err := req.HoldAnswer(now); err != nil {
				return err
			}
			held = now
		}

		e.from += exportRows - exportOverlap
		if page, err = s.nextPage(rt, req); err != nil {
			return err
		}
	}
}

// nextPage reads the next page of an export, and authorizes the caller again.
func (s *Server) nextPage(rt *Route, req *Request) (page exportedPage, err error) {
	out := newEnvelope(rt.Protocol)
	defer out.release()
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		err := req.Proceed(tx)
		if err == nil {
			err = req.permitExport(tx, rt)
		}
		if err == nil {
			err = rt.View(tx, req, out)
		}
		return err
	})
	if err != nil {
		return page, err
	}
	return pageOf(out)
}

// valueIn returns the value of a field, or of a custom field, of a record.
func valueIn(record map[string]json.RawMessage, name string) json.RawMessage {
	key, custom := strings.CutPrefix(name, CustomPrefix)
	if !custom {
		return record[name]
	}
	var fields map[string]json.RawMessage
	json.Unmarshal(record["fields"], &fields) // without the object there is no value
	return fields[key]
}

// cellOf returns a value as a cell of CSV: nothing for null, else textOf without formulas.
func cellOf(value json.RawMessage) string {
	switch {
	case len(value) == 0 || value[0] == 'n':
		return ""
	case value[0] == '"' || value[0] == '[':
		return SafeCell(textOf(value))
	}
	return string(value)
}

// textOf returns a value as a text: a text without quotation marks, the entries of a list with
// semicolons between them, and all else as JSON.
func textOf(value json.RawMessage) string {
	var text string
	var entries []json.RawMessage
	switch {
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return text
	case value[0] == '[' && json.Unmarshal(value, &entries) == nil:
		texts := make([]string, len(entries))
		for i, entry := range entries {
			if json.Unmarshal(entry, &texts[i]) != nil {
				texts[i] = string(entry)
			}
		}
		return strings.Join(texts, "; ")
	}
	return string(value)
}
