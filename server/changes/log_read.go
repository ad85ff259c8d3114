package changes

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

type historyIn struct {
	Collection string   `path:"collection" check:"enum=collection" doc:"Collection of the record"`
	ID         store.ID `path:"id"`
	Before     store.ID `query:"before" doc:"next of the page before"`
	PageSize   store.ID `query:"pageSize" doc:"Maximum number of entries, 10 by default and at most 1000"`
}

// getHistory returns the changes of one record, which may have been deleted.
func getHistory(req *web.Request, in *historyIn) (*LogPage, error) {
	of, exists := audit.Change{Collection: in.Collection, ID: uint64(in.ID)}, false
	subject := store.AccessOf(in.Collection)
	missing := errs.New(errs.NotFound, "%s %d not found", errs.Noun(subject.Table.Noun()), in.ID)
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		exists = subject.Table.Exists(tx, in.ID)
		if NewView(tx, req.Actor).seesChange(&of) {
			return nil
		}
		if err := web.Demand(tx, subject.Query); err != nil {
			return err
		}
		return missing
	})
	if err != nil {
		return nil, err
	}

	q := &logQuery{before: uint64(in.Before), size: web.DefaultPageSize}
	if in.PageSize > 0 {
		q.size = int(min(in.PageSize, web.MaxPageSize))
	}

	q.All = [][]string{{audit.ByRecord(in.Collection, uint64(in.ID))}}
	q.only = func(c *audit.Change) bool { return c.Collection == of.Collection && c.ID == of.ID }
	page, err := q.page(req)
	if err == nil && !exists && len(page.Data) == 0 && in.Before == 0 {
		err = missing
	}

	return page, err
}

type entryIn struct {
	Seq store.ID `path:"seq" doc:"Number of the entry"`
}

// readEntry returns an entry that the caller may read.
func readEntry(req *web.Request, seq uint64) (*audit.Entry, *LogEntry, error) {
	row, err := req.DB.DB.LogEntry(seq)
	if store.IsDamage(err) {
		err = errs.New(errs.Busy,
			"entry %d of the change log is damaged; the system's health names the damage", seq).Coded("damaged").Because(err)
	}
	if err != nil {
		return nil, nil, err
	}

	e, err := row.Decode()
	if err != nil {
		return nil, nil, err
	}

	var out *LogEntry
	err = req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		out, err = NewView(tx, req.Actor).entry(&e, true)
		if err == nil && out == nil {
			err = errs.New(errs.NotFound,
				"audit entry %d not found; it may have been removed by retention", seq)
		}
		return err
	})
	return &e, out, err
}

type exportIn struct {
	From store.ID `query:"from" doc:"Number of the first entry; absent for the oldest"`
	To   store.ID `query:"to" doc:"Number of the last entry; absent for the newest at the beginning of the export"`
}

// exportLog sends entries exactly as they are stored, one per line, so that the chain of hashes can
// be verified. Personal values are sealed. A damaged entry has a line that says so.
func exportLog(req *web.Request, in *exportIn, w http.ResponseWriter) error {
	last := req.DB.DB.LogHead().Seq
	if in.To != 0 {
		last = min(last, uint64(in.To))
	}
	if err := req.HoldAnswer(web.ExportMemory); err != nil {
		return err
	}

	from := max(uint64(in.From), 1)
	rows, next, err := ExportRows(req, from, last)
	if err != nil {
		return err
	}

	h := w.Header()
	h.Set("Content-Type", jsonLines)
	h.Set("Content-Disposition",
		web.Disposition(false, "change-log-"+strconv.FormatUint(from, 10)+".jsonl"))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	out := web.NewLongAnswer(req, w)
	for len(rows) > 0 {
		for _, row := range rows {
			if row.Seq > last {
				return nil
			}
			if _, err := out.Write(append(row.Text, '\n')); err != nil {
				return err
			}
		}
		if rows, next, err = ExportRows(req, next, last); err != nil {
			return err
		}
	}

	return nil
}

// ExportRows reads the next entries of an export, and returns the number at which it continues. A
// damaged entry is replaced by a line that names it.
func ExportRows(req *web.Request, from, last uint64) (rows []audit.Row, next uint64, err error) {
	for ; ; from++ {
		rows, err = req.DB.DB.ReadLog(from, logExport)
		if n := len(rows); n > 0 && (err == nil || store.IsDamage(err)) {
			if err != nil {
				rows = withDamaged(req, rows, from)
			}
			return rows, rows[len(rows)-1].Seq + 1, nil
		}
		if !store.IsDamage(err) || from > last {
			return nil, from, err
		}

		row, err := req.DB.DB.LogEntry(from)
		if store.IsDamage(err) {
			row, err = damagedRow(from), nil
		}
		if !errs.Is(err, errs.NotFound) { // removed by retention
			return []audit.Row{row}, from + 1, err
		}
	}
}

// damagedRow returns the line of an export in place of a damaged entry.
func damagedRow(seq uint64) audit.Row {
	return audit.Row{Seq: seq, Text: fmt.Appendf(nil, `{"damaged":%d}`, seq)}
}

// IsDamagedRow reports whether a row is from damagedRow.
func IsDamagedRow(row audit.Row) bool { return bytes.HasPrefix(row.Text, []byte(`{"damaged":`)) }

// withDamaged adds the lines of damaged entries to the rows of an export, which lack them.
func withDamaged(req *web.Request, rows []audit.Row, from uint64) (all []audit.Row) {
	next := from
	if segments := req.DB.DB.LogSegments(); len(segments) > 0 {
		next = max(next, segments[0].First) // what is before it, retention has removed
	}
	for _, row := range rows {
		for ; next < row.Seq; next++ {
			if _, err := req.DB.DB.LogEntry(next); store.IsDamage(err) {
				all = append(all, damagedRow(next))
			}
		}
		all, next = append(all, row), row.Seq+1
	}
	return all
}
