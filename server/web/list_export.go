package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// A list that is requested with format=csv is sent as a file: all records that match, without
// paging. The View of its route makes the pages, so that filters, order, permission and data scope
// are those of the list. Each page is read in its own transaction, and sent after that has ended,
// so that a slow client does not keep it open.

const csvFormat = "csv"

const (
	MaxExport     = 100_000 // records of one export of a list
	exportRows    = 500     // records that are read in one transaction
	exportOverlap = 50      // records that are read again, since deletions in between shift the others
)

// export is the state of a list that is being sent as CSV.
type export struct {
	comma   rune
	columns []string // fields of the records; nil for all
	from    int      // offset of the next page
}

// exports reports whether a request is for a list as CSV.
func (rt *Route) exports(r *http.Request) bool {
	if rt.List == nil || rt.List.Fields == nil || !strings.ContainsAny(r.URL.RawQuery, "%") &&
		!strings.Contains(r.URL.RawQuery, "format") {
		return false
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	return err == nil && slices.Contains(query["format"], csvFormat)
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
	if req.export == nil {
		faults.Add(name, "can only be used with format=csv")
	}
}

// exported parses the columns of an export.
func (l *ListInfo) exported(req *Request, q *ListQuery, text string, faults errs.Faults) {
	onlyCSV(req, "columns", faults)
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

// sendList sends a list as CSV. out has the first page.
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
	if err := req.HoldAnswer(ExportMemory); err != nil {
		return err
	}

	e := req.export
	columns := e.columns
	if columns == nil {
		columns = rt.List.Fields
	}

	name := strings.ReplaceAll(strings.Trim(rt.Path, "/"), "/", "-")
	h := req.Writer.Header()
	h["Content-Security-Policy"] = FileSafe
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition",
		`attachment; filename="`+name+"-"+time.Now().UTC().Format("20060102-150405")+`.csv"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)

	w := csv.NewWriter(&req.Writer)
	w.Comma = e.comma
	header := slices.Clone(columns)
	header[0] = ByteOrderMark + header[0]
	if err := w.Write(header); err != nil {
		return err
	}

	sent := map[string]bool{} // IDs
	for {
		for _, id := range page.Damaged {
			if key := string(id); !sent[key] {
				sent[key] = true
				row := make([]string, len(columns))
				row[0] = "(damaged: " + key + ")"
				w.Write(row) // an error stays for Error
			}
		}

		for _, record := range page.Data {
			id := string(record["id"])
			if id != "" && sent[id] {
				continue
			}
			sent[id] = true
			row := make([]string, len(columns))
			for i, name := range columns {
				row[i] = cellOf(valueIn(record, name))
			}
			w.Write(row) // an error stays for Error
		}

		http.NewResponseController(&req.Writer).SetWriteDeadline(time.Now().Add(WriteTimeout)) // fails only without a connection, in a test
		w.Flush()
		if err := w.Error(); err != nil || e.from+exportRows >= page.Total {
			return err
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

// cellOf returns a value as a cell: a text without quotation marks, the entries of a list with
// semicolons between them, nothing for null, and all else as JSON.
func cellOf(value json.RawMessage) string {
	var text string
	var entries []json.RawMessage
	switch {
	case len(value) == 0 || value[0] == 'n':
		return ""
	case value[0] == '"' && json.Unmarshal(value, &text) == nil:
		return SafeCell(text)
	case value[0] == '[' && json.Unmarshal(value, &entries) == nil:
		texts := make([]string, len(entries))
		for i, entry := range entries {
			if json.Unmarshal(entry, &texts[i]) != nil {
				texts[i] = string(entry)
			}
		}
		return SafeCell(strings.Join(texts, "; "))
	}
	return string(value)
}
