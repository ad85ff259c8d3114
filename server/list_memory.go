package server

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
)

// List declares a list of records that are kept in memory: what it walks and what
// may be asked of it.
type List[T any] struct {
	rows     func(tx *store.Tx) []store.Row[T]                       // in the default order, ties by id
	under    func(tx *store.Tx, id store.ID) ([]store.Row[T], error) // instead of rows: those that belong to the path's :id
	keywords []string                                                // the fields that keywordSearch looks in: those of the rows' text
	order    string                                                  // the default order, for the document
	columns  []column[T]
}

// column is a field that a List can be filtered or sorted by. Exactly one of
// number and text is set.
type column[T any] struct {
	name   string
	number func(*T) int64 // a store.Time's too, which ranged needs
	text   func(*T) string
	uses   use
}

// list makes a GET route from a declaration; it has no handler.
func list[T any](path, access, title string, l *List[T]) Route {
	info := &listInfo{keywords: l.keywords, order: l.order, under: l.under != nil}
	for _, c := range l.columns {
		info.columns = append(info.columns, columnInfo{c.name, c.uses, c.number != nil})
	}
	return Route{
		Method: "GET", Path: path, Access: access, Title: title, out: reflect.TypeFor[page[T]](), list: info, handler: "list",
		view: func(tx *store.Tx, req *Request, out *envelope) error {
			ask, err := info.ask(req)
			if err != nil {
				return err
			}
			rows, err := l.walk(tx, ask)
			if err != nil {
				return err
			}
			rows = l.apply(rows, ask)
			from := min(ask.offset(), len(rows))
			var page [defaultPageSize]json.RawMessage
			encoded := page[:0]
			for _, row := range rows[from:min(from+ask.size, len(rows))] {
				encoded = append(encoded, row.JSON)
			}
			writePage(&out.bytes, encoded, len(rows), ask, 0)
			return nil
		},
	}
}

// walk returns all the rows that a question is asked of.
func (l *List[T]) walk(tx *store.Tx, ask *question) ([]store.Row[T], error) {
	if l.under != nil {
		return l.under(tx, ask.under)
	}
	return l.rows(tx), nil
}

// apply filters and sorts; without a question it returns the rows as they are.
func (l *List[T]) apply(rows []store.Row[T], ask *question) []store.Row[T] {
	if ask.search != "" {
		rows = keep(rows, func(row store.Row[T]) bool { return strings.Contains(row.Text, ask.search) })
	}
	for _, of := range ask.anyOf {
		c := l.column(of.column)
		rows = keep(rows, func(row store.Row[T]) bool {
			if c.text != nil {
				return slices.Contains(of.texts, c.text(row.Value))
			}
			return slices.Contains(of.numbers, c.number(row.Value))
		})
	}
	for _, r := range ask.ranges {
		c := l.column(r.column)
		rows = keep(rows, func(row store.Row[T]) bool {
			n := c.number(row.Value)
			return int64(r.low) <= n && n <= int64(r.high)
		})
	}
	if ask.sort == "" {
		return rows
	}
	c, rows := l.column(ask.sort), slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b store.Row[T]) int {
		tie := cmp.Compare(a.ID, b.ID)
		if ask.descending {
			a, b = b, a
		}
		return cmp.Or(c.compare(a.Value, b.Value), tie)
	})
	return rows
}

func keep[T any](rows []store.Row[T], holds func(store.Row[T]) bool) []store.Row[T] {
	kept := make([]store.Row[T], 0, len(rows))
	for _, row := range rows {
		if holds(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

func (l *List[T]) column(name string) *column[T] {
	return &l.columns[slices.IndexFunc(l.columns, func(c column[T]) bool { return c.name == name })]
}

func (c *column[T]) compare(a, b *T) int {
	if c.number != nil {
		return cmp.Compare(c.number(a), c.number(b))
	}
	return cmp.Compare(store.Fold(c.text(a)), store.Fold(c.text(b)))
}
