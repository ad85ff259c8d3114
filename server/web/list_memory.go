package web

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"sort"
	"strings"

	"reeve/store"
	"reeve/store/fold"
)

// MemoryList declares a list of records that are kept in memory: its rows and its
// parameters.
type MemoryList[T any] struct {
	Rows     func(tx *store.Tx) []store.Row[T]                       // rows in the default order, ties by ID
	Under    func(tx *store.Tx, id store.ID) ([]store.Row[T], error) // instead of rows: the children of the path's :id; damaged ones have only an ID
	Keywords []string                                                // fields that keywordSearch searches, which make up the rows' text
	Order    string                                                  // default order in words, for the OpenAPI document
	Columns  []MemoryColumn[T]
}

// MemoryColumn is a field that a MemoryList can be filtered or sorted by. Exactly one of
// Number and Text is set.
type MemoryColumn[T any] struct {
	Name   string
	Number func(*T) int64 // also for a store.Time, which Ranged needs
	Text   func(*T) string
	Uses   use
	Named  *Named // parameter that takes names instead of IDs; nil for none
}

// CachedList returns the GET route of a declaration, which needs no handler.
func CachedList[T any](path, access, title string, l *MemoryList[T], options ...Options) Route {
	info := &ListInfo{Keywords: l.Keywords, Order: l.Order, Under: l.Under != nil}
	for _, c := range l.Columns {
		info.Columns = append(info.Columns, infoOf(c.Name, c.Uses, c.Number != nil, c.Named)...)
	}

	info.Fields = fieldsOfRecords(access, reflect.TypeFor[Page[T]]())
	rt := Route{
		Method:  "GET",
		Path:    path,
		Access:  access,
		Title:   title,
		Output:  reflect.TypeFor[Page[T]](),
		List:    info,
		Handler: "memoryList",
		View: func(tx *store.Tx, req *Request, out *Envelope) error {
			ask, err := info.Ask(req)
			if err != nil {
				return err
			}

			rows, err := l.walk(tx, ask)
			if err != nil {
				return err
			}

			var damaged []store.ID
			isDamaged := func(row store.Row[T]) bool { return row.Value == nil }
			if slices.ContainsFunc(rows, isDamaged) {
				rows = keep(rows, func(row store.Row[T]) bool {
					if isDamaged(row) {
						damaged = append(damaged, row.ID)
					}
					return !isDamaged(row)
				})
			}
			for i, of := range ask.AnyOf {
				if ask.AnyOf[i], err = l.column(of.Column).Named.numbers(tx, of); err != nil {
					return err
				}
			}
			rows = l.apply(rows, ask)
			from := min(ask.Offset(), len(rows))
			var page [DefaultPageSize]json.RawMessage
			encoded := page[:0]
			for _, row := range rows[from:min(from+ask.Size, len(rows))] {
				encoded = append(encoded, row.JSON)
			}

			WritePage(&out.Bytes, encoded, damaged, len(rows)+len(damaged), ask, 0)
			return nil
		},
	}
	return rt.With(options...)
}

// walk returns all rows of the list.
func (l *MemoryList[T]) walk(tx *store.Tx, ask *ListQuery) ([]store.Row[T], error) {
	if l.Under != nil {
		return l.Under(tx, ask.Under)
	}
	return l.Rows(tx), nil
}

// apply filters and sorts the rows. Without conditions it returns them unchanged.
func (l *MemoryList[T]) apply(rows []store.Row[T], ask *ListQuery) []store.Row[T] {
	if ask.Search != "" {
		rows = keep(rows, func(row store.Row[T]) bool {
			return strings.Contains(row.Text, ask.Search)
		})
	}

	for _, of := range ask.AnyOf {
		c := l.column(of.Column)
		rows = keep(rows, func(row store.Row[T]) bool {
			if c.Text != nil {
				return slices.Contains(of.Texts, c.Text(row.Value))
			}
			return slices.Contains(of.Numbers, c.Number(row.Value))
		})
	}

	for _, r := range ask.Ranges {
		c := l.column(r.column)
		rows = keep(rows, func(row store.Row[T]) bool {
			n := c.Number(row.Value)
			return int64(r.Low) <= n && n <= int64(r.High)
		})
	}

	if ask.sort == "" {
		return rows
	}

	c, rows := l.column(ask.sort), slices.Clone(rows)
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		tie := cmp.Compare(a.ID, b.ID)
		if ask.descending {
			a, b = b, a
		}
		return cmp.Or(c.compare(a.Value, b.Value), tie) < 0
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

func (l *MemoryList[T]) column(name string) *MemoryColumn[T] {
	return &l.Columns[slices.IndexFunc(l.Columns, func(c MemoryColumn[T]) bool {
		return c.Name == name || c.Named != nil && c.Named.Name == name
	})]
}

func (c *MemoryColumn[T]) compare(a, b *T) int {
	if c.Number != nil {
		return cmp.Compare(c.Number(a), c.Number(b))
	}
	return fold.Compare(c.Text(a), c.Text(b))
}
