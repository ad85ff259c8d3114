package people

import (
	"encoding/csv"
	"net/http"
	"reflect"
	"slices"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// ExportChunk is the number of users that are read in one transaction.
const ExportChunk = 1000

// exportRoute returns the route that sends all users that the filters of the list select, as CSV.
func (r *Realm[T, Out, P]) exportRoute() web.Route {
	info := r.list.Info()
	info.CSV = true
	rt := web.Route{
		Method: "GET",
		Path:   r.at("/list-export"),
		Access: r.may("list.export"),
		Title:  "Export " + r.noun + "s",
		Output: reflect.TypeFor[[]byte](),
		List:   info,
		Binary: "text/csv",
		Raw: func(req *web.Request, w http.ResponseWriter) error {
			var ids []store.ID
			var comma rune
			var custom []*store.CustomField
			err := req.DB.View(req.Actor, func(tx *store.Tx) error {
				custom = store.CustomFieldsOf(tx, r.list.Realm, web.AudienceOf(req.Actor))
				ask, err := info.Ask(req)
				if err != nil {
					return err
				}
				comma = ask.Separator
				ids, err = r.list.FindIDs(tx, req, ask, kv.NoLimit)
				return err
			})
			if err == nil {
				err = req.HoldAnswer(web.ExportMemory)
			}
			if err != nil {
				return err
			}

			h := w.Header()
			h.Set("Content-Type", "text/csv; charset=utf-8")
			h.Set("Content-Disposition",
				`attachment; filename="`+r.csv.name+"-"+time.Now().UTC().Format("20060102-150405")+`.csv"`)
			h.Set("Cache-Control", "no-store")
			h.Set("X-Request-Id", req.ID)
			return r.send(req, w, comma, ids, custom)
		},
	}
	return rt.With(web.Options{
		LoggedAs: "export",
		Note: "Returns all matching " + r.noun + "s as CSV, with the columns that " +
			r.only("importUsers", "importAppUsers") + " accepts.",
	})
}

// send sends users in chunks. Each chunk is read in its own transaction, and sent
// after that has ended, so that a slow client does not keep it open. Each authorizes the
// caller again, and leaves out users who have been deleted or have left the caller's data
// scope since.
func (r *Realm[T, Out, P]) send(req *web.Request, w http.ResponseWriter, comma rune,
	ids []store.ID, custom []*store.CustomField) error {
	out, header := csv.NewWriter(w), slices.Clone(r.csv.columns)
	out.Comma, header[0] = comma, web.ByteOrderMark+header[0]
	for _, f := range custom {
		header = append(header, web.CustomPrefix+f.Key)
	}

	if err := out.Write(header); err != nil {
		return err
	}

	for chunk := range slices.Chunk(ids, ExportChunk) {
		rows, err := r.rows(req, chunk, custom)
		if err != nil {
			return err
		}
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(web.WriteTimeout)) // fails only without a connection, in a test
		if err := out.WriteAll(rows); err != nil {
			return err
		}
	}

	out.Flush()
	return out.Error()
}

// rows returns the rows of the users that the caller may see now.
func (r *Realm[T, Out, P]) rows(req *web.Request, ids []store.ID,
	custom []*store.CustomField) (rows [][]string, err error) {
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if err := req.Proceed(tx); err != nil {
			return err
		}

		scope := req.Actor.Scope(tx)
		readable := map[store.ID]bool{} // access may have been withdrawn
		for _, f := range store.CustomFieldsOf(tx, r.list.Realm, web.AudienceOf(req.Actor)) {
			readable[f.ID] = true
		}

		for _, id := range ids {
			u, err := r.list.Collection.Get(tx, id)
			if errs.Is(err, errs.NotFound) ||
				err == nil && r.csv.sees != nil && !r.csv.sees(scope, u) {
				continue
			}
			if store.IsDamage(err) {
				tx.NoteDamage(err)
				rows = append(rows, r.damagedRow(id, len(r.csv.columns)+len(custom)))
				continue
			}
			if err != nil {
				return err
			}

			row := r.csv.write(tx, u)
			for i, cell := range row {
				row[i] = web.SafeCell(cell)
			}

			for _, f := range custom {
				cell := ""
				if readable[f.ID] {
					cell = P(u).Member().Fields.Get(f.ID)
				}
				if f.Type != "number" { // which is a number in a spreadsheet, too
					cell = web.SafeCell(cell)
				}
				row = append(row, cell)
			}

			rows = append(rows, row)
		}

		return nil
	})
	return rows, err
}

// damagedRow returns the row in place of a damaged record. It is no username, so that an import of
// the file rejects it.
func (r *Realm[T, Out, P]) damagedRow(id store.ID, cells int) []string {
	row := make([]string, cells)
	row[0] = "(damaged: " + r.list.Collection.Name() + " " + id.String() + ")"
	return row
}
