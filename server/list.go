package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Pages of a list.
const (
	defaultPageSize = 10
	maxPageSize     = 1000
)

// List declares a list: what it walks and what may be asked of it.
type List[T any] struct {
	rows     func(tx *store.Tx) []store.Row[T] // in the default order, ties by id
	keywords []string                          // the fields that keywordSearch looks in: those of the rows' text
	order    string                            // the default order, for the document
	columns  []column[T]
}

// column is a field that a list can be filtered or sorted by. Exactly one of
// number and text is set.
type column[T any] struct {
	name   string
	number func(*T) int64 // a store.Time's too, which ranged needs
	text   func(*T) string
	uses   use
}

// use says what a column may be used for.
type use int

const (
	filtered use = 1 << iota // filter={"name":["1"]}
	sorted                   // sorter={"name":"ascend"}
	param                    // name=1
	ranged                   // name[]=from&name[]=to
)

// listInfo is a List without its type, for the OpenAPI document and tests.
type listInfo struct {
	keywords []string
	order    string
	filters  []string
	sorts    []string
	params   []string
	ranges   []string
	numbers  map[string]bool
}

// page is what a list answers.
type page[T any] struct {
	Data     []T `json:"data" doc:"the records of this page"`
	Total    int `json:"total" doc:"how many records match"`
	PageSize int `json:"pageSize"`
	Current  int `json:"current" doc:"the number of this page, from 1"`
}

func (l *List[T]) info() *listInfo {
	info := &listInfo{keywords: l.keywords, order: l.order, numbers: map[string]bool{}}
	for _, c := range l.columns {
		info.numbers[c.name] = c.number != nil
		for u, names := range map[use]*[]string{filtered: &info.filters, sorted: &info.sorts, param: &info.params, ranged: &info.ranges} {
			if c.uses&u != 0 {
				*names = append(*names, c.name)
			}
		}
	}
	return info
}

// serve answers a list: filter, then count, then page.
func (l *List[T]) serve(tx *store.Tx, req *Request, out *envelope) error {
	if req.http.ContentLength != 0 {
		return errs.New(errs.Malformed, "a GET takes no body")
	}
	query, err := parseQuery(req.http.URL.RawQuery)
	if err != nil {
		return err
	}
	ask, err := l.parse(query)
	if err != nil {
		return err
	}
	rows := ask.apply(l.rows(tx))
	from := min((ask.page-1)*ask.size, len(rows))
	to := min(from+ask.size, len(rows))
	writePage(&out.bytes, rows[from:to], len(rows), ask)
	return nil
}

// writePage joins a page of rows that are already encoded.
func writePage[T any](b *bytes.Buffer, rows []store.Row[T], total int, ask *question[T]) {
	b.WriteString(`{"data":[`)
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(row.JSON)
	}
	tail := append(b.AvailableBuffer(), `],"total":`...)
	tail = strconv.AppendInt(tail, int64(total), 10)
	tail = strconv.AppendInt(append(tail, `,"pageSize":`...), int64(ask.size), 10)
	tail = strconv.AppendInt(append(tail, `,"current":`...), int64(ask.page), 10)
	b.Write(append(tail, '}'))
}

// question is what a request asks of a list.
type question[T any] struct {
	page, size int
	keep       []func(store.Row[T]) bool // every one must hold
	compare    func(a, b *T) int         // nil for the default order
}

func (q *question[T]) apply(rows []store.Row[T]) []store.Row[T] {
	if len(q.keep) > 0 {
		kept := make([]store.Row[T], 0, len(rows))
		for _, row := range rows {
			if !slices.ContainsFunc(q.keep, func(holds func(store.Row[T]) bool) bool { return !holds(row) }) {
				kept = append(kept, row)
			}
		}
		rows = kept
	}
	if q.compare != nil {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, b store.Row[T]) int { return cmp.Or(q.compare(a.Value, b.Value), cmp.Compare(a.ID, b.ID)) })
	}
	return rows
}

// parse understands a query string; empty parameters count as absent.
func (l *List[T]) parse(query url.Values) (*question[T], error) {
	q := &question[T]{page: 1, size: defaultPageSize}
	faults := errs.Faults{}
	for name, values := range query {
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			if !l.knows(name) {
				faults.Add(name, "is not a parameter here")
			}
			continue
		}
		switch value := values[0]; name {
		case "page", "current":
			if name == "current" && query.Get("page") != "" && query.Get("page") != value {
				faults.Add(name, "is another name of page, which says otherwise")
			}
			q.page = parseCount(name, value, faults)
		case "pageSize":
			q.size = min(parseCount(name, value, faults), maxPageSize)
		case "keywordSearch":
			l.search(q, value, faults)
		case "sorter":
			l.sort(q, value, faults)
		case "filter":
			l.filter(q, value, faults)
		default:
			l.field(q, name, values, faults)
		}
	}
	return q, faults.Err(errs.Malformed)
}

func (l *List[T]) knows(name string) bool {
	if slices.Contains([]string{"page", "current", "pageSize", "sorter", "filter"}, name) || name == "keywordSearch" && l.keywords != nil {
		return true
	}
	return l.column(name, param) != nil || l.column(strings.TrimSuffix(name, "[]"), ranged) != nil
}

func (l *List[T]) column(name string, u use) *column[T] {
	for i, c := range l.columns {
		if c.name == name && c.uses&u != 0 {
			return &l.columns[i]
		}
	}
	return nil
}

// parseCount reads a positive number; one too large to be one is as good as the
// largest.
func parseCount(name, text string, faults errs.Faults) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil && strings.Trim(text, "0123456789") == "" {
		return 1 << 30
	}
	if err != nil || n < 1 {
		faults.Add(name, "must be a whole number from 1")
		return 1
	}
	return int(n)
}

func (l *List[T]) search(q *question[T], text string, faults errs.Faults) {
	if l.keywords == nil {
		faults.Add("keywordSearch", "is not a parameter here")
		return
	}
	folded := store.Fold(text)
	q.keep = append(q.keep, func(row store.Row[T]) bool { return strings.Contains(row.Text, folded) })
}

// sort reads {"field":"ascend"} or descend. Ties keep the default order's id.
func (l *List[T]) sort(q *question[T], text string, faults errs.Faults) {
	value, err := parseJSON([]byte(text))
	object, ok := value.(map[string]any)
	if err != nil || !ok || len(object) > 1 {
		faults.Add("sorter", `must be like {"sort":"ascend"}, with one field`)
		return
	}
	for name, direction := range object {
		c := l.column(name, sorted)
		switch {
		case c == nil:
			faults.Add("sorter", "this list is not sorted by %q; it can be by %s", name, strings.Join(l.info().sorts, ", "))
		case direction == "ascend":
			q.compare = c.compare
		case direction == "descend":
			q.compare = func(a, b *T) int { return c.compare(b, a) }
		default:
			faults.Add("sorter", "%s must be ascend or descend", name)
		}
	}
}

func (c *column[T]) compare(a, b *T) int {
	if c.number != nil {
		return cmp.Compare(c.number(a), c.number(b))
	}
	return cmp.Compare(store.Fold(c.text(a)), store.Fold(c.text(b)))
}

// filter reads {"field":["1","2"]}, any of; null and [] are ignored.
func (l *List[T]) filter(q *question[T], text string, faults errs.Faults) {
	value, err := parseJSON([]byte(text))
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		faults.Add("filter", `must be like {"status":["1"]}`)
		return
	}
	for name, value := range object {
		c := l.column(name, filtered)
		if c == nil {
			faults.Add("filter", "this list is not filtered by %q; it can be by %s", name, strings.Join(l.info().filters, ", "))
			continue
		}
		array, ok := value.([]any)
		if value == nil || ok && len(array) == 0 {
			continue
		}
		if !ok {
			array = []any{value}
		}
		texts := make([]string, 0, len(array))
		for _, v := range array {
			switch v := v.(type) {
			case string:
				texts = append(texts, v)
			case json.Number:
				texts = append(texts, v.String())
			case bool:
				texts = append(texts, map[bool]string{true: "1", false: "0"}[v])
			default:
				faults.Add("filter", "the values of %s must be texts or numbers", name)
			}
		}
		c.anyOf(q, "filter", texts, faults)
	}
}

// field reads a parameter that is named after a column.
func (l *List[T]) field(q *question[T], name string, values []string, faults errs.Faults) {
	if c := l.column(name, param); c != nil {
		c.anyOf(q, name, values, faults)
		return
	}
	c := l.column(strings.TrimSuffix(name, "[]"), ranged)
	if c == nil || !strings.HasSuffix(name, "[]") {
		faults.Add(name, "is not a parameter here")
		return
	}
	if len(values) != 2 {
		faults.Add(name, "must be given twice: from and to")
		return
	}
	low, errLow := c.bound(values[0], false)
	high, errHigh := c.bound(values[1], true)
	if errLow != nil || errHigh != nil {
		faults.Add(name, "must be times like 2025-05-08T03:04:05Z or dates like 2025-05-08")
		return
	}
	q.keep = append(q.keep, func(row store.Row[T]) bool { n := c.number(row.Value); return low <= n && n <= high })
}

// bound reads one end of a range; a date alone means its first or last moment,
// and nothing means no bound.
func (c *column[T]) bound(text string, end bool) (int64, error) {
	switch {
	case text == "" && end:
		return 1<<63 - 1, nil
	case text == "":
		return -1 << 63, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			day = day.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		return int64(store.TimeOf(day)), nil
	}
	t, err := store.ParseTime(text)
	return int64(t), err
}

// anyOf keeps the rows whose column is one of the values.
func (c *column[T]) anyOf(q *question[T], name string, texts []string, faults errs.Faults) {
	if c.text != nil {
		q.keep = append(q.keep, func(row store.Row[T]) bool { return slices.Contains(texts, c.text(row.Value)) })
		return
	}
	numbers := make([]int64, 0, len(texts))
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(name, "%q is not a whole number", text)
		}
		numbers = append(numbers, n)
	}
	q.keep = append(q.keep, func(row store.Row[T]) bool { return slices.Contains(numbers, c.number(row.Value)) })
}
