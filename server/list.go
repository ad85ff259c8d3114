package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// Page sizes of a list.
const (
	defaultPageSize = 10
	maxPageSize     = 1000
)

// use is a set of ways in which a column of a list can be used.
type use int

const (
	filtered use = 1 << iota // filter={"name":["1"]}
	sorted                   // sorter={"name":"ascend"}
	param                    // name=1
	ranged                   // name[]=from&name[]=to, with or without the brackets, or name=from,to
)

// columnInfo describes a column without access to its values.
type columnInfo struct {
	name   string
	uses   use
	number bool // whether its values are integers
}

// listInfo is the declaration of a list, for parsing requests and for the OpenAPI
// document.
type listInfo struct {
	keywords []string // fields that keywordSearch searches; nil for no search
	order    string   // default order, in words
	columns  []columnInfo
	under    bool // whether the list has the children of one record, the :id of the path
	custom   bool // whether it can be filtered by custom fields, as fields.KEY
	csv      bool // whether the response is a CSV file, whose separator can be chosen
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

// page is the response of a list.
type page[T any] struct {
	Data     []T `json:"data" doc:"Records of this page"`
	Total    int `json:"total" doc:"Number of matching records, damaged ones included"`
	PageSize int `json:"pageSize" doc:"Maximum number of records per page"`
	Current  int `json:"current" doc:"Number of this page, from 1"`
	// Damaged are not in Data.
	Damaged []store.ID `json:"damaged_ids,omitempty" doc:"IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none"`
}

// scopedPage is a page of a list whose records the caller's data scope may hide.
type scopedPage[T any] struct {
	page[T]
	Hidden int `json:"hidden,omitempty" doc:"Number of records of the whole list, whatever the parameters, outside your data scope; absent if none"`
}

// writePage writes a page of rows that are already encoded.
func writePage(b *bytes.Buffer, rows []json.RawMessage, damaged []store.ID, total int, ask *listQuery, hidden int) {
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
	separator := `,"damaged_ids":[`
	for _, id := range damaged {
		tail = strconv.AppendUint(append(tail, separator...), uint64(id), 10)
		separator = ","
	}
	if len(damaged) > 0 {
		tail = append(tail, ']')
	}
	if hidden > 0 {
		tail = strconv.AppendInt(append(tail, `,"hidden":`...), int64(hidden), 10)
	}
	b.Write(append(tail, '}'))
}

// listQuery is the parsed query of a list. All its column names are declared.
type listQuery struct {
	under      store.ID // parent record, for a list under a record
	page, size int
	search     string // search text, folded; "" for none
	sort       string // column to sort by; "" for the default order
	descending bool
	anyOf      []anyOf
	ranges     []timeRange
	custom     []customFilter
	separator  rune // of a CSV file
}

// anyOf is the condition that a column has one of the values.
type anyOf struct {
	column  string
	texts   []string
	numbers []int64 // for a column of numbers
}

// timeRange is the condition that a column is in an inclusive range.
type timeRange struct {
	column    string
	low, high store.Time
}

func (q *listQuery) offset() int { return (q.page - 1) * q.size }

// ask parses the query string of a list request. Empty parameters count as absent.
func (l *listInfo) ask(req *Request) (*listQuery, error) {
	if req.http.ContentLength != 0 {
		return nil, errs.New(errs.Malformed, "a GET request must not have a body")
	}
	return l.parse(req, nil)
}

// parse parses the parameters of a list, except those of own, the input of an operation
// on the records that a list selects.
func (l *listInfo) parse(req *Request, own *input) (*listQuery, error) {
	q := &listQuery{page: 1, size: defaultPageSize, separator: ','}
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
		if own != nil && own.hasParameter(name) {
			continue
		}
		if !l.knows(name) {
			faults.Add(name, "unknown parameter")
			continue
		}
		if !slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			continue
		}
		if len(values) > 1 && l.column(strings.TrimSuffix(name, "[]"), ranged) == nil && !strings.HasPrefix(name, customPrefix) {
			faults.Add(name, "must be given once, not %d times", len(values))
			continue
		}
		switch value := values[0]; name {
		case "page", "current":
			if other := query.Get("page"); name == "current" && other != "" && other != value {
				faults.Add(name, "conflicts with %s", "page")
			}
			q.page = parseCount(name, value, faults)
		case "pageSize":
			q.size = min(parseCount(name, value, faults), maxPageSize)
		case "keywordSearch":
			q.search = fold.Search(value)
		case "sorter":
			l.sorter(req.http.Context(), q, value, faults)
		case "filter":
			l.filter(req.http.Context(), q, value, faults)
		case "separator":
			if q.separator = separators[value]; q.separator == 0 {
				faults.Add(name, "must be one of %s", []string{"comma", "semicolon", "tab"})
			}
		case "tz": // time zone of the ranges, see field
			if _, err := zoneOf(value); err != nil {
				faults.Add(name, "must be a time zone, such as Asia/Shanghai or +08:00")
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
	case "separator":
		return l.csv
	case "keywordSearch":
		return l.keywords != nil
	case "tz":
		return l.names(ranged) != nil
	}
	if strings.HasPrefix(name, customPrefix) {
		return l.custom
	}
	return l.column(name, param) != nil || l.column(strings.TrimSuffix(name, "[]"), ranged) != nil
}

// selects reports whether a parameter determines which records a list has, regardless
// of page and order.
func (l *listInfo) selects(name string) bool {
	return l.knows(name) && !slices.Contains([]string{"page", "current", "pageSize", "sorter"}, name)
}

// narrowed reports whether the query has a condition.
func (q *listQuery) narrowed() bool {
	return q.search != "" || len(q.anyOf)+len(q.ranges)+len(q.custom) > 0
}

// parseCount parses a positive number; one that is too large counts as 1<<30.
func parseCount(name, text string, faults errs.Faults) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil && strings.Trim(text, "0123456789") == "" {
		return 1 << 30
	}
	if err != nil || n < 1 {
		faults.Add(name, "must be a positive integer")
		return 1
	}
	return int(n)
}

// sorter parses {"field":"ascend"} or "descend"; {} means the default order.
func (l *listInfo) sorter(ctx context.Context, q *listQuery, text string, faults errs.Faults) {
	value, err := parseJSON(ctx, []byte(text), maxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok || len(object) > 1 {
		faults.Add("sorter", `must be an object with one field, such as {"sort":"ascend"}`)
		return
	}
	for name, direction := range object {
		if l.column(name, sorted) == nil {
			if l.names(sorted) == nil {
				faults.Add("sorter", "this list can't be sorted")
				return
			}
			faults.Add("sorter", "can't sort by %q; use one of %s", name, l.names(sorted))
			return
		}
		if direction != "ascend" && direction != "descend" {
			faults.Add("sorter", "%s must be ascend or descend", name)
		}
		q.sort, q.descending = name, direction == "descend"
	}
}

// filter parses {"field":["1","2"]}, which means any of the values; null and [] are
// ignored.
func (l *listInfo) filter(ctx context.Context, q *listQuery, text string, faults errs.Faults) {
	value, err := parseJSON(ctx, []byte(text), maxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		faults.Add("filter", `must be an object, such as {"status":["1"]}`)
		return
	}
	for name, value := range object {
		c := l.column(name, filtered)
		key, custom := strings.CutPrefix(name, customPrefix)
		if c == nil && !(custom && l.custom) {
			faults.Add("filter", "can't filter by %q; use one of %s", name, l.names(filtered))
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
				faults.Add("filter", "values of %s must be strings or numbers", name)
			}
		}
		if c == nil {
			q.custom = append(q.custom, customFilter{key: key, values: texts})
			continue
		}
		q.oneOf(c, "filter", texts, faults)
	}
}

// oneOf adds a condition and parses its numbers.
func (q *listQuery) oneOf(c *columnInfo, parameter string, texts []string, faults errs.Faults) {
	of := anyOf{column: c.name, texts: texts}
	for _, text := range texts {
		if !c.number {
			break
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(parameter, "%q is not an integer", text)
		}
		of.numbers = append(of.numbers, n)
	}
	q.anyOf = append(q.anyOf, of)
}

// field parses a parameter named after a column.
func (l *listInfo) field(q *listQuery, name string, values []string, query url.Values, faults errs.Faults) {
	if key, custom := strings.CutPrefix(name, customPrefix); custom {
		q.customField(key, values, faults)
		return
	}
	if c := l.column(name, param); c != nil {
		q.oneOf(c, name, values, faults)
		return
	}
	plain, brackets := strings.CutSuffix(name, "[]")
	if brackets && slices.ContainsFunc(query[plain], func(v string) bool { return v != "" }) {
		faults.Add(name, "conflicts with %s", plain)
		return
	}
	if len(values) == 1 {
		values = strings.SplitN(values[0], ",", 3)
	}
	if len(values) != 2 {
		faults.Add(name, "must have two values: from and to")
		return
	}
	zone, err := zoneOf(query.Get("tz"))
	if err != nil {
		return // ask reports it
	}
	low, errLow := bound(values[0], false, zone)
	high, errHigh := bound(values[1], true, zone)
	if errLow != nil || errHigh != nil {
		faults.Add(name, "must be times such as 2025-05-08T03:04:05Z or 2025-05-08 03:04:05, or dates such as 2025-05-08")
		return
	}
	q.ranges = append(q.ranges, timeRange{plain, low, high})
}
