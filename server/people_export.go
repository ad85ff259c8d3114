package server

import (
	"encoding/csv"
	"net/http"
	"reflect"
	"slices"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// byteOrderMark makes spreadsheets read a file as UTF-8 instead of the encoding of their system.
const byteOrderMark = "\ufeff"

// separators are the values of the parameter separator of an export.
var separators = map[string]rune{"comma": ',', ",": ',', "semicolon": ';', ";": ';', "tab": '\t', "\t": '\t'}

// exportChunk is the number of users that are read in one transaction.
const exportChunk = 1000

// export returns the route that sends all users that the filters of the list select, as CSV.
func (c *peopleCSV[T, Out]) export(path, access, title string) Route {
	info := c.list.info()
	info.csv = true
	return Route{
		Method: "GET", Path: path, Access: access, Title: title, out: reflect.TypeFor[[]byte](), list: info, binary: "text/csv",
		raw: func(req *Request, w http.ResponseWriter) error {
			var ids []store.ID
			var comma rune
			var custom []*store.CustomField
			err := req.db.View(req.Actor, func(tx *store.Tx) error {
				custom = store.CustomFieldsOf(tx, c.realm, audienceOf(req.Actor))
				ask, err := info.ask(req)
				if err != nil {
					return err
				}
				comma = ask.separator
				ids, err = c.list.findIDs(tx, req, ask, store.NoLimit)
				return err
			})
			if err == nil {
				err = req.holdAnswer(exportMemory)
			}
			if err != nil {
				return err
			}
			h := w.Header()
			h.Set("Content-Type", "text/csv; charset=utf-8")
			h.Set("Content-Disposition", `attachment; filename="`+c.name+"-"+time.Now().UTC().Format("20060102-150405")+`.csv"`)
			h.Set("Cache-Control", "no-store")
			h.Set("X-Request-Id", req.ID)
			return c.send(req, w, comma, ids, custom)
		},
	}
}

// send sends users in chunks. Each chunk is read in its own transaction, and sent
// after that has ended, so that a slow client does not keep it open. Each authorizes the
// caller again, and leaves out users who have been deleted or have left the caller's data
// scope since.
func (c *peopleCSV[T, Out]) send(req *Request, w http.ResponseWriter, comma rune, ids []store.ID, custom []*store.CustomField) error {
	out, header := csv.NewWriter(w), slices.Clone(c.columns)
	out.Comma, header[0] = comma, byteOrderMark+header[0]
	for _, f := range custom {
		header = append(header, customPrefix+f.Key)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, exportChunk) {
		rows, err := c.rows(req, chunk, custom)
		if err != nil {
			return err
		}
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // fails only without a connection, in a test
		if err := out.WriteAll(rows); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// rows returns the rows of the users that the caller may see now.
func (c *peopleCSV[T, Out]) rows(req *Request, ids []store.ID, custom []*store.CustomField) (rows [][]string, err error) {
	err = req.db.View(store.Anonymous, func(tx *store.Tx) error {
		if err := req.proceed(tx); err != nil {
			return err
		}
		scope := req.Actor.Scope(tx)
		readable := map[store.ID]bool{} // access may have been withdrawn
		for _, f := range store.CustomFieldsOf(tx, c.realm, audienceOf(req.Actor)) {
			readable[f.ID] = true
		}
		for _, id := range ids {
			u, err := c.list.of.Get(tx, id)
			if errs.Is(err, errs.NotFound) || err == nil && !c.sees(scope, u) {
				continue
			}
			if store.IsDamage(err) {
				tx.NoteDamage(err)
				rows = append(rows, c.damagedRow(id, len(c.columns)+len(custom)))
				continue
			}
			if err != nil {
				return err
			}
			row := c.write(tx, u)
			for i, cell := range row {
				row[i] = safeCell(cell)
			}
			for _, f := range custom {
				cell := ""
				if readable[f.ID] {
					cell = c.values(u).Get(f.ID)
				}
				if f.Type != "number" { // which is a number in a spreadsheet, too
					cell = safeCell(cell)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// damagedRow returns the row in place of a damaged record. It is no username, so that an import of the file
// rejects it.
func (c *peopleCSV[T, Out]) damagedRow(id store.ID, cells int) []string {
	row := make([]string, cells)
	row[0] = "(damaged: " + c.list.of.Name() + " " + id.String() + ")"
	return row
}
