package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for systems that have no time zones

	"reeve/store"
	"reeve/store/errs"
)

// Pages of a list.
const (
	defaultPageSize = 10
	maxPageSize     = 1000
)

// use says what a column of a list may be used for.
type use int

const (
	filtered use = 1 << iota // filter={"name":["1"]}
	sorted                   // sorter={"name":"ascend"}
	param                    // name=1
	ranged                   // name[]=from&name[]=to, with or without the brackets, or name=from,to
)

// columnInfo is a column without the way to its values.
type columnInfo struct {
	name   string
	uses   use
	number bool // its values are whole numbers
}

// listInfo is what a list declares: what a request is parsed by, and what the
// OpenAPI document says.
type listInfo struct {
	keywords []string // the fields that keywordSearch looks in; nil for no search
	order    string   // the default order, in words
	columns  []columnInfo
	under    bool // of what belongs to one record, the :id of the path
}

func (l *listInfo) names(u use) []string {
	var names []string
	for _, c := range l.columns {
		if c.uses&u != 0 {
			names = append(names, c.name)
		}
	}
	return names
}

func (l *listInfo) column(name string, u use) *columnInfo {
	for i, c := range l.columns {
		if c.name == name && c.uses&u != 0 {
			return &l.columns[i]
		}
	}
	return nil
}

// page is what a list answers.
type page[T any] struct {
	Data     []T `json:"data" doc:"the records of this page"`
	Total    int `json:"total" doc:"how many records match"`
	PageSize int `json:"pageSize"`
	Current  int `json:"current" doc:"the number of this page, from 1"`
}

// scopedPage is a page of a list of which the caller's data scope may hide records.
type scopedPage[T any] struct {
	page[T]
	Hidden int `json:"hidden,omitempty" doc:"how many records of the whole list, whatever the parameters, are outside your data scope; absent if none"`
}

// writePage joins a page of rows that are already encoded.
func writePage(b *bytes.Buffer, rows []json.RawMessage, total int, ask *question, hidden int) {
	b.WriteString(`{"data":[`)
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(row)
	}
	tail := append(b.AvailableBuffer(), `],"total":`...)
	tail = strconv.AppendInt(tail, int64(total), 10)
	tail = strconv.AppendInt(append(tail, `,"pageSize":`...), int64(ask.size), 10)
	tail = strconv.AppendInt(append(tail, `,"current":`...), int64(ask.page), 10)
	if hidden > 0 {
		tail = strconv.AppendInt(append(tail, `,"hidden":`...), int64(hidden), 10)
	}
	b.Write(append(tail, '}'))
}

// question is what a request asks of a list, every name in it declared.
type question struct {
	under      store.ID // of a list under a record
	page, size int
	search     string // folded; "" for none
	sort       string // a column; "" for the default order
	descending bool
	anyOf      []anyOf
	ranges     []between
}

// anyOf asks for records whose column is one of the values.
type anyOf struct {
	column  string
	texts   []string
	numbers []int64 // of a column of numbers
}

// between asks for records whose column lies in a range, ends included.
type between struct {
	column    string
	low, high store.Time
}

func (q *question) offset() int { return (q.page - 1) * q.size }

// ask understands a list request's query string; empty parameters count as absent.
func (l *listInfo) ask(req *Request) (*question, error) {
	if req.http.ContentLength != 0 {
		return nil, errs.New(errs.Malformed, "a GET takes no body")
	}
	return l.question(req, nil)
}

// question reads the parameters of a list; those of own, of an operation on what a
// list selects, are left to it.
func (l *listInfo) question(req *Request, own *input) (*question, error) {
	q := &question{page: 1, size: defaultPageSize}
	query, err := parseQuery(req.http.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	faults := errs.Faults{}
	if l.under {
		if q.under, err = parseID(req.params.ByName("id")); err != nil {
			faults.Add("id", "%s", err)
		}
	}
	for name, values := range query {
		if own != nil && own.has("query", name) {
			continue
		}
		if !l.knows(name) {
			faults.Add(name, "is not a parameter here")
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			continue
		}
		if len(values) > 1 && l.column(strings.TrimSuffix(name, "[]"), ranged) == nil {
			faults.Add(name, "is given %d times", len(values))
			continue
		}
		switch value := values[0]; name {
		case "page", "current":
			if other := query.Get("page"); name == "current" && other != "" && other != value {
				faults.Add(name, "is another name of page, which says otherwise")
			}
			q.page = parseCount(name, value, faults)
		case "pageSize":
			q.size = min(parseCount(name, value, faults), maxPageSize)
		case "keywordSearch":
			q.search = store.Fold(value)
		case "sorter":
			l.sorter(req.http.Context(), q, value, faults)
		case "filter":
			l.filter(req.http.Context(), q, value, faults)
		case "tz": // of the ranges, see field
			if _, err := zoneOf(value); err != nil {
				faults.Add(name, "must be a time zone like Asia/Shanghai or +08:00")
			}
		default:
			l.field(q, name, values, query, faults)
		}
	}
	return q, faults.Err(errs.Malformed)
}

func (l *listInfo) knows(name string) bool {
	switch name {
	case "page", "current", "pageSize", "sorter", "filter":
		return true
	case "keywordSearch":
		return l.keywords != nil
	case "tz":
		return l.names(ranged) != nil
	}
	return l.column(name, param) != nil || l.column(strings.TrimSuffix(name, "[]"), ranged) != nil
}

// selects reports whether a parameter decides which records a list has, on whatever
// page and in whatever order.
func (l *listInfo) selects(name string) bool {
	return l.knows(name) && !slices.Contains([]string{"page", "current", "pageSize", "sorter"}, name)
}

// narrowed reports whether a question asks for less than everything.
func (q *question) narrowed() bool { return q.search != "" || len(q.anyOf)+len(q.ranges) > 0 }

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

// sorter reads {"field":"ascend"} or descend; {} is no order.
func (l *listInfo) sorter(ctx context.Context, q *question, text string, faults errs.Faults) {
	value, err := parseJSON(ctx, []byte(text), maxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok || len(object) > 1 {
		faults.Add("sorter", `must be like {"sort":"ascend"}, with one field`)
		return
	}
	for name, direction := range object {
		if l.column(name, sorted) == nil {
			if l.names(sorted) == nil {
				faults.Add("sorter", "this list is always %s", l.order)
				return
			}
			faults.Add("sorter", "this list is not sorted by %q; it can be by %s", name, strings.Join(l.names(sorted), ", "))
			return
		}
		if direction != "ascend" && direction != "descend" {
			faults.Add("sorter", "%s must be ascend or descend", name)
		}
		q.sort, q.descending = name, direction == "descend"
	}
}

// filter reads {"field":["1","2"]}, any of; null and [] are ignored.
func (l *listInfo) filter(ctx context.Context, q *question, text string, faults errs.Faults) {
	value, err := parseJSON(ctx, []byte(text), maxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		faults.Add("filter", `must be like {"status":["1"]}`)
		return
	}
	for name, value := range object {
		c := l.column(name, filtered)
		if c == nil {
			faults.Add("filter", "this list is not filtered by %q; it can be by %s", name, strings.Join(l.names(filtered), ", "))
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
		q.oneOf(c, "filter", texts, faults)
	}
}

// oneOf adds a condition, its numbers read.
func (q *question) oneOf(c *columnInfo, parameter string, texts []string, faults errs.Faults) {
	of := anyOf{column: c.name, texts: texts}
	for _, text := range texts {
		if !c.number {
			break
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(parameter, "%q is not a whole number", text)
		}
		of.numbers = append(of.numbers, n)
	}
	q.anyOf = append(q.anyOf, of)
}

// field reads a parameter that is named after a column.
func (l *listInfo) field(q *question, name string, values []string, query url.Values, faults errs.Faults) {
	if c := l.column(name, param); c != nil {
		q.oneOf(c, name, values, faults)
		return
	}
	plain, brackets := strings.CutSuffix(name, "[]")
	if brackets && slices.ContainsFunc(query[plain], func(v string) bool { return v != "" }) {
		faults.Add(name, "is another name of %s, which is given too", plain)
		return
	}
	if len(values) == 1 {
		values = strings.SplitN(values[0], ",", 3)
	}
	if len(values) != 2 {
		faults.Add(name, "must be given twice: from and to")
		return
	}
	zone, err := zoneOf(query.Get("tz"))
	if err != nil {
		return // ask says so
	}
	low, errLow := bound(values[0], false, zone)
	high, errHigh := bound(values[1], true, zone)
	if errLow != nil || errHigh != nil {
		faults.Add(name, "must be times like 2025-05-08T03:04:05Z or 2025-05-08 03:04:05, or dates like 2025-05-08")
		return
	}
	q.ranges = append(q.ranges, between{plain, low, high})
}

// zoneOf reads the parameter tz: the name of a zone, or what it is ahead of UTC.
func zoneOf(text string) (*time.Location, error) {
	if text == "" {
		return time.UTC, nil
	}
	if at, err := time.Parse("-07:00", text); err == nil {
		return at.Location(), nil
	}
	if len(text) > 64 || text == "Local" { // Local is the server's own time zone, which clients must not depend on
		return nil, errors.New("not a zone")
	}
	return time.LoadLocation(text)
}

// bound reads one end of a range: a time, a local time of the zone, or a date of the
// zone, which means its first or last moment. Nothing means no bound.
func bound(text string, end bool, zone *time.Location) (store.Time, error) {
	switch {
	case text == "" && end:
		return 1<<63 - 1, nil
	case text == "":
		return -1 << 63, nil
	}
	if at, err := time.ParseInLocation(time.DateTime, text, zone); err == nil {
		if end { // to the end of the second
			at = at.Add(time.Second - time.Microsecond)
		}
		return store.TimeOf(at), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		if end {
			day = day.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		return store.TimeOf(day), nil
	}
	return store.ParseTime(text)
}
