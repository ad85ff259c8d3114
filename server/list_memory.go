package server

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/fold"
)

// MemoryList declares a list of records that are kept in memory: its rows and its
// parameters.
type MemoryList[T any] struct {
	rows     func(tx *store.Tx) []store.Row[T]                       // in the default order, ties by ID
	under    func(tx *store.Tx, id store.ID) ([]store.Row[T], error) // instead of rows: the children of the path's :id
	keywords []string                                                // fields that keywordSearch searches, which make up the rows' text
	order    string                                                  // default order in words, for the OpenAPI document
	columns  []memoryColumn[T]
}

// memoryColumn is a field that a MemoryList can be filtered or sorted by. Exactly one of
// number and text is set.
type memoryColumn[T any] struct {
	name   string
	number func(*T) int64 // also for a store.Time, which ranged needs
	text   func(*T) string
	uses   use
}

// memoryList returns the GET route of a declaration, which needs no handler.
func memoryList[T any](path, access, title string, l *MemoryList[T]) Route {
	info := &listInfo{keywords: l.keywords, order: l.order, under: l.under != nil}
	for _, c := range l.columns {
		info.columns = append(info.columns, columnInfo{c.name, c.uses, c.number != nil})
	}
	return Route{
		Method: "GET", Path: path, Access: access, Title: title, out: reflect.TypeFor[page[T]](), list: info, handler: "memoryList",
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
			writePage(&out.bytes, encoded, nil, len(rows), ask, 0)
			return nil
		},
	}
}

// walk returns all rows of the list.
func (l *MemoryList[T]) walk(tx *store.Tx, ask *listQuery) ([]store.Row[T], error) {
	if l.under != nil {
		return l.under(tx, ask.under)
	}
	return l.rows(tx), nil
}

// apply filters and sorts the rows. Without conditions it returns them unchanged.
func (l *MemoryList[T]) apply(rows []store.Row[T], ask *listQuery) []store.Row[T] {
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

func (l *MemoryList[T]) column(name string) *memoryColumn[T] {
	return &l.columns[slices.IndexFunc(l.columns, func(c memoryColumn[T]) bool { return c.name == name })]
}

func (c *memoryColumn[T]) compare(a, b *T) int {
	if c.number != nil {
		return cmp.Compare(c.number(a), c.number(b))
	}
	return fold.Compare(c.text(a), c.text(b))
}
