package web

import (
	"encoding/json"
	"reflect"

	"reeve/store"
	"reeve/store/kv"
)

// Resource declares how the interface exposes the records of a collection: which of them,
// how a record is returned, the values that a new one starts with, and, if it is listed by
// indexes, how it can be searched, filtered and sorted.
type Resource[T, Out any] struct {
	Collection *kv.Collection[T]
	Keywords   []string // fields of the collection's Search
	Order      string   // default order in words, for the OpenAPI document
	First      kv.Order[T]
	Descending bool // whether the default order is descending
	Columns    []Column[T]
	// Only is a condition of every record of the list, which all filters imply; nil if
	// the list has all records.
	Only func() kv.Condition
	// Always is a condition of every record of the list that filters do not imply; nil for none.
	Always func() kv.Condition
	// Search is the condition for keywordSearch in a collection without search texts.
	Search func(tx *store.Tx, part string) kv.Condition
	// Scope limits the list to the records that the caller may see; nil for all.
	Scope func(tx *store.Tx, req *Request) (c kv.Condition, narrow bool)
	// Named makes the change log find entries by the names of these records.
	Named bool
	// Telling makes the response include the number of records that the scope hides. No
	// parameter changes the number, so that it reveals nothing about these records.
	Telling bool
	// Custom lets the list be filtered by custom fields, whose values the index has; nil for no
	// custom fields.
	Custom *kv.Many[T, string]
	Realm  string // realm of the custom fields
	Output func(tx *store.Tx, req *Request, v *T) (Out, error)
	Blank  T // a new record, before the fields that are sent; without slices or maps
}

// Column is a field that a Resource can be filtered or sorted by.
type Column[T any] struct {
	Name    string
	Uses    use
	Numbers func(tx *store.Tx, values []int64) kv.Condition
	Texts   func(tx *store.Tx, values []string) kv.Condition
	Between func(tx *store.Tx, low, high store.Time) kv.Condition
	Order   kv.Order[T] // order for Sorted
	Named   *Named      // parameter that takes names instead of IDs; nil for none
}

// TimeColumn returns a column of times, for sorting and ranges.
func TimeColumn[T any](name string, index *kv.Many[T, store.Time]) Column[T] {
	return Column[T]{
		Name:    name,
		Uses:    Sorted | Ranged,
		Order:   index.Order(),
		Between: index.Between,
	}
}

// IDs returns the condition for a column of references.
func IDs(index interface {
	AnyOf(...store.ID) kv.Condition
}) func(*store.Tx, []int64) kv.Condition {
	return func(_ *store.Tx, values []int64) kv.Condition {
		of := make([]store.ID, 0, len(values))
		for _, n := range values {
			if n > 0 {
				of = append(of, store.ID(n))
			}
		}
		return index.AnyOf(of...)
	}
}

// AnyText returns the condition for a column with an index of texts.
func AnyText[T any](index *kv.Many[T, string]) func(*store.Tx, []string) kv.Condition {
	return func(_ *store.Tx, values []string) kv.Condition { return index.AnyOf(values...) }
}

// List returns the GET route of a declaration, which needs no handler.
func List[T, Out any](path, access, title string, t *Resource[T, Out], options ...Options) Route {
	answer := reflect.TypeFor[Page[Out]]()
	if t.Telling {
		answer = reflect.TypeFor[scopedPage[Out]]()
	}
	rt := &Route{Method: "GET", Path: path, Access: access, Title: title, Output: answer, List: t.Info()}
	if t.Named {
		rt.named = &namedRecords{t.Collection.Name(), t.named}
	}
	return rt.lists(t, options)
}

// lister is a Resource without its types.
type lister interface {
	rows(*store.Tx, *Request, *ListQuery) (rows []json.RawMessage, damaged []store.ID, total int, err error)
	hidden(tx *store.Tx, req *Request, ask *ListQuery, total int) (int, error)
}

func (rt *Route) lists(t lister, options []Options) Route {
	rt.Handler, rt.List.Fields = "diskList", fieldsOfRecords(rt.Access, rt.Output)
	rt.View = func(tx *store.Tx, req *Request, out *Envelope) error {
		ask, err := rt.List.Ask(req)
		if err != nil {
			return err
		}
		rows, damaged, total, err := t.rows(tx, req, ask)
		if err != nil {
			return err
		}
		hidden, err := t.hidden(tx, req, ask, total)
		if err != nil {
			return err
		}
		WritePage(&out.Bytes, rows, damaged, total, ask, hidden)
		return nil
	}
	return rt.With(options...)
}

// namedRecords finds records of a collection by a folded part of their names, among those that the
// caller sees.
type namedRecords struct {
	collection string
	find       func(tx *store.Tx, req *Request, text string, most int) ([]store.ID, error)
}

// FindNamed finds records of a collection by a folded part of their names. It reports false if no
// list does that.
func (req *Request) FindNamed(tx *store.Tx, collection, text string,
	most int) (found []store.ID, listed bool, err error) {
	for i := range req.Server.Routes {
		if named := req.Server.Routes[i].named; named != nil && named.collection == collection {
			found, err = named.find(tx, req, text, most)
			return found, true, err
		}
	}
	return nil, false, nil
}

func (t *Resource[T, Out]) Info() *ListInfo {
	info := &ListInfo{Keywords: t.Keywords, Order: t.Order, custom: t.Custom != nil}
	for _, c := range t.Columns {
		info.Columns = append(info.Columns, infoOf(c.Name, c.Uses, c.Numbers != nil, c.Named)...)
	}
	return info
}

// find reads the requested page, returns the IDs of its damaged records, and counts the matching
// records.
func (t *Resource[T, Out]) find(tx *store.Tx, req *Request,
	ask *ListQuery) (page []*T, damaged []store.ID, total int, err error) {
	q, err := t.query(tx, req, ask, ask.Offset(), ask.Size)
	if err != nil {
		return nil, nil, 0, err
	}
	return t.Collection.FindIntact(tx, q)
}

// rows is find with the records as the list has them.
func (t *Resource[T, Out]) rows(tx *store.Tx, req *Request,
	ask *ListQuery) (rows []json.RawMessage, damaged []store.ID, total int, err error) {
	records, damaged, total, err := t.find(tx, req, ask)
	if err != nil {
		return nil, nil, 0, err
	}
	rows = make([]json.RawMessage, 0, len(records))
	for _, v := range records {
		row, err := t.row(tx, req, v)
		switch {
		case store.IsDamage(err):
			tx.NoteDamage(err)
			damaged = append(damaged, t.Collection.ID(v))
		case err != nil:
			return nil, nil, 0, err
		default:
			rows = append(rows, row)
		}
	}
	return rows, damaged, total, nil
}

// row returns a record as the list has it.
func (t *Resource[T, Out]) row(tx *store.Tx, req *Request, v *T) (json.RawMessage, error) {
	row, err := t.Output(tx, req, v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(row)
}

// FindIDs returns the IDs of up to limit matching records.
func (t *Resource[T, Out]) FindIDs(tx *store.Tx, req *Request, ask *ListQuery,
	limit int) ([]store.ID, error) {
	q, err := t.query(tx, req, ask, 0, limit)
	if err != nil {
		return nil, err
	}
	return t.Collection.FindIDs(tx, q)
}

// named returns the IDs of up to most records whose names have a folded part.
func (t *Resource[T, Out]) named(tx *store.Tx, req *Request, text string, most int) ([]store.ID, error) {
	return t.FindIDs(tx, req, &ListQuery{Search: text}, most)
}

// hidden returns the number of records of the whole list that the scope hides. total is
// the number of matches.
func (t *Resource[T, Out]) hidden(tx *store.Tx, req *Request, ask *ListQuery,
	total int) (int, error) {
	if !t.Telling {
		return 0, nil
	}
	c, narrow := t.Scope(tx, req)
	if !narrow {
		return 0, nil
	}
	whole := kv.Query[T]{Where: []kv.Condition{t.Only()}}
	_, all, err := t.Collection.Find(tx, whole)
	if err == nil && ask.narrowed() {
		whole.Where = append(whole.Where, c)
		_, total, err = t.Collection.Find(tx, whole)
	}
	return all - total, err
}

// query converts a list query to a store query.
func (t *Resource[T, Out]) query(tx *store.Tx, req *Request, ask *ListQuery,
	offset, limit int) (q kv.Query[T], err error) {
	q = kv.Query[T]{Order: t.First, Descending: t.Descending, Offset: offset, Limit: limit}
	if ask.sort != "" {
		q.Order, q.Descending = t.column(ask.sort).Order, ask.descending
	}
	if t.Search == nil {
		q.Search = ask.Search
	}
	q.Where, err = (&conditions{t.Search, t.Scope, t.Only, t.Always, t.Realm, t.Custom,
		func(name string) condition {
			c := t.column(name)
			return condition{c.Numbers, c.Texts, c.Between, c.Named}
		}}).of(tx, req, ask)
	return q, err
}

func (t *Resource[T, Out]) column(name string) *Column[T] {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Name == name || c.Named != nil && c.Named.Name == name {
			return c
		}
	}
	panic("server: a question names a column that is not declared")
}

// conditions are the fields of a Resource that do not depend on its types.
type conditions struct {
	search       func(tx *store.Tx, part string) kv.Condition
	scope        func(tx *store.Tx, req *Request) (c kv.Condition, narrow bool)
	only, always func() kv.Condition
	realm        string
	custom       store.FieldIndex
	column       func(name string) condition
}

// condition is a Column without the type of the records.
type condition struct {
	numbers func(tx *store.Tx, values []int64) kv.Condition
	texts   func(tx *store.Tx, values []string) kv.Condition
	between func(tx *store.Tx, low, high store.Time) kv.Condition
	named   *Named
}

// of returns the conditions of a list query.
func (t *conditions) of(tx *store.Tx, req *Request, ask *ListQuery) (where []kv.Condition, err error) {
	if t.search != nil && ask.Search != "" {
		where = append(where, t.search(tx, ask.Search))
	}
	if t.scope != nil {
		if c, narrow := t.scope(tx, req); narrow {
			where = append(where, c)
		}
	}

	for _, of := range ask.AnyOf {
		c := t.column(of.Column)
		of, err := c.named.numbers(tx, of)
		if err != nil {
			return nil, err
		}
		if c.numbers != nil {
			where = append(where, c.numbers(tx, of.Numbers))
		} else {
			where = append(where, c.texts(tx, of.Texts))
		}
	}

	for _, r := range ask.Ranges {
		where = append(where, t.column(r.column).between(tx, r.Low, r.High))
	}

	for _, of := range ask.custom {
		c, err := t.customCondition(tx, req, of)
		if err != nil {
			return nil, err
		}
		where = append(where, c)
	}

	if t.only != nil && len(ask.AnyOf) == 0 {
		where = append(where, t.only())
	}
	if t.always != nil {
		where = append(where, t.always())
	}
	return where, nil
}

// Get reads one record of the list if it is in the caller's scope.
func (t *Resource[T, Out]) Get(tx *store.Tx, req *Request, id store.ID) (out Out, err error) {
	v, err := t.Collection.Get(tx, id)
	if err != nil {
		return out, err
	}
	if t.Scope != nil {
		if c, narrow := t.Scope(tx, req); narrow && !c.Matches(tx, id) {
			return out, t.Collection.NotFound(id)
		}
	}
	if t.Always != nil && !t.Always().Matches(tx, id) {
		return out, t.Collection.NotFound(id)
	}
	return t.Output(tx, req, v)
}
