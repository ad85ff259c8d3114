package server

import (
	"encoding/json"
	"reflect"

	"reeve/store"
)

// Resource declares how the interface exposes the records of a collection: which of them,
// how a record is returned, the values that a new one starts with, and, if it is listed by
// indexes, how it can be searched, filtered and sorted.
type Resource[T, Out any] struct {
	of         *store.Collection[T]
	keywords   []string // fields of the collection's Search
	order      string   // default order in words, for the OpenAPI document
	first      store.Order[T]
	descending bool // whether the default order is descending
	columns    []diskColumn[T]
	// only is a condition of every record of the list, which all filters imply; nil if
	// the list has all records.
	only func() store.Condition
	// always is a condition of every record of the list that filters do not imply; nil for none.
	always func() store.Condition
	// search is the condition for keywordSearch in a collection without search texts.
	search func(tx *store.Tx, part string) store.Condition
	// scope limits the list to the records that the caller may see; nil for all.
	scope func(tx *store.Tx, req *Request) (c store.Condition, narrow bool)
	// telling makes the response include the number of records that the scope hides. No
	// parameter changes the number, so that it reveals nothing about these records.
	telling bool
	// custom lets the list be filtered by custom fields, whose values the index has; nil for no custom fields.
	custom *store.Many[T, string]
	realm  string // of the custom fields
	out    func(tx *store.Tx, req *Request, v *T) (Out, error)
	blank  T // a new record, before the fields that are sent; without slices or maps
}

// diskColumn is a field that a Resource can be filtered or sorted by.
type diskColumn[T any] struct {
	name    string
	uses    use
	numbers func(tx *store.Tx, values []int64) store.Condition
	texts   func(tx *store.Tx, values []string) store.Condition
	between func(tx *store.Tx, low, high store.Time) store.Condition
	order   store.Order[T] // for sorted
}

// ids returns the condition for a column of references.
func ids(index interface {
	AnyOf(...store.ID) store.Condition
}) func(*store.Tx, []int64) store.Condition {
	return func(_ *store.Tx, values []int64) store.Condition {
		of := make([]store.ID, 0, len(values))
		for _, n := range values {
			if n > 0 {
				of = append(of, store.ID(n))
			}
		}
		return index.AnyOf(of...)
	}
}

// anyText returns the condition for a column with an index of texts.
func anyText[T any](index *store.Many[T, string]) func(*store.Tx, []string) store.Condition {
	return func(_ *store.Tx, values []string) store.Condition { return index.AnyOf(values...) }
}

// diskList returns the GET route of a declaration, which needs no handler.
func diskList[T, Out any](path, access, title string, t *Resource[T, Out]) Route {
	info, answer := t.info(), reflect.TypeFor[page[Out]]()
	if t.telling {
		answer = reflect.TypeFor[scopedPage[Out]]()
	}
	return Route{
		Method: "GET", Path: path, Access: access, Title: title, out: answer, list: info, handler: "diskList",
		view: func(tx *store.Tx, req *Request, out *envelope) error {
			ask, err := info.ask(req)
			if err != nil {
				return err
			}
			records, damaged, total, err := t.find(tx, req, ask)
			if err != nil {
				return err
			}
			rows := make([]json.RawMessage, 0, len(records))
			for _, v := range records {
				row, err := t.row(tx, req, v)
				switch {
				case store.IsDamage(err):
					tx.NoteDamage(err)
					damaged = append(damaged, t.of.ID(v))
				case err != nil:
					return err
				default:
					rows = append(rows, row)
				}
			}
			hidden, err := t.hidden(tx, req, ask, total)
			if err != nil {
				return err
			}
			writePage(&out.bytes, rows, damaged, total, ask, hidden)
			return nil
		},
	}
}

func (t *Resource[T, Out]) info() *listInfo {
	info := &listInfo{keywords: t.keywords, order: t.order, custom: t.custom != nil}
	for _, c := range t.columns {
		info.columns = append(info.columns, columnInfo{c.name, c.uses, c.numbers != nil})
	}
	return info
}

// find reads the requested page, returns the IDs of its damaged records, and counts the matching records.
func (t *Resource[T, Out]) find(tx *store.Tx, req *Request, ask *listQuery) (page []*T, damaged []store.ID, total int, err error) {
	q, err := t.query(tx, req, ask, ask.offset(), ask.size)
	if err != nil {
		return nil, nil, 0, err
	}
	return t.of.FindIntact(tx, q)
}

// row returns a record as the list has it.
func (t *Resource[T, Out]) row(tx *store.Tx, req *Request, v *T) (json.RawMessage, error) {
	row, err := t.out(tx, req, v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(row)
}

// findIDs returns the IDs of up to limit matching records.
func (t *Resource[T, Out]) findIDs(tx *store.Tx, req *Request, ask *listQuery, limit int) ([]store.ID, error) {
	q, err := t.query(tx, req, ask, 0, limit)
	if err != nil {
		return nil, err
	}
	return t.of.FindIDs(tx, q)
}

// hidden returns the number of records of the whole list that the scope hides. total is
// the number of matches.
func (t *Resource[T, Out]) hidden(tx *store.Tx, req *Request, ask *listQuery, total int) (int, error) {
	if !t.telling {
		return 0, nil
	}
	c, narrow := t.scope(tx, req)
	if !narrow {
		return 0, nil
	}
	whole := store.Query[T]{Where: []store.Condition{t.only()}}
	_, all, err := t.of.Find(tx, whole)
	if err == nil && ask.narrowed() {
		whole.Where = append(whole.Where, c)
		_, total, err = t.of.Find(tx, whole)
	}
	return all - total, err
}

// query converts a list query to a store query.
func (t *Resource[T, Out]) query(tx *store.Tx, req *Request, ask *listQuery, offset, limit int) (store.Query[T], error) {
	q := store.Query[T]{Search: ask.search, Order: t.first, Descending: t.descending, Offset: offset, Limit: limit}
	if t.search != nil && ask.search != "" {
		q.Search, q.Where = "", append(q.Where, t.search(tx, ask.search))
	}
	if t.scope != nil {
		if c, narrow := t.scope(tx, req); narrow {
			q.Where = append(q.Where, c)
		}
	}
	for _, of := range ask.anyOf {
		c := t.column(of.column)
		if c.numbers != nil {
			q.Where = append(q.Where, c.numbers(tx, of.numbers))
		} else {
			q.Where = append(q.Where, c.texts(tx, of.texts))
		}
	}
	for _, r := range ask.ranges {
		q.Where = append(q.Where, t.column(r.column).between(tx, r.low, r.high))
	}
	for _, of := range ask.custom {
		c, err := t.customCondition(tx, req, of)
		if err != nil {
			return q, err
		}
		q.Where = append(q.Where, c)
	}
	if t.only != nil && len(ask.anyOf) == 0 {
		q.Where = append(q.Where, t.only())
	}
	if t.always != nil {
		q.Where = append(q.Where, t.always())
	}
	if ask.sort != "" {
		q.Order, q.Descending = t.column(ask.sort).order, ask.descending
	}
	return q, nil
}

func (t *Resource[T, Out]) column(name string) *diskColumn[T] {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	panic("server: a question names a column that is not declared")
}

// get reads one record of the list if it is in the caller's scope.
func (t *Resource[T, Out]) get(tx *store.Tx, req *Request, id store.ID) (out Out, err error) {
	v, err := t.of.Get(tx, id)
	if err != nil {
		return out, err
	}
	if t.scope != nil {
		if c, narrow := t.scope(tx, req); narrow && !c.Matches(tx, id) {
			return out, t.of.NotFound(id)
		}
	}
	if t.always != nil && !t.always().Matches(tx, id) {
		return out, t.of.NotFound(id)
	}
	return t.out(tx, req, v)
}
