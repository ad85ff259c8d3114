package web

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
	"reeve/store/names"
)

// Page sizes of a list.
const (
	DefaultPageSize = 10
	MaxPageSize     = 1000
)

// use is a set of ways in which a column of a list can be used.
type use int

const (
	Filtered use = 1 << iota // filter={"name":["1"]}
	Sorted                   // sorter={"name":"ascend"}
	Param                    // name=1
	Ranged                   // name[]=from&name[]=to, with or without the brackets, or name=from,to
)

// ColumnInfo describes a column without access to its values.
type ColumnInfo struct {
	Name   string
	Uses   use
	Number bool        // whether its values are integers
	Kind   *names.Kind // kind of the records whose names it takes; nil for other values
	IDs    string      // column of the IDs of these records
}

// ListInfo is the declaration of a list, for parsing requests and for the OpenAPI
// document.
type ListInfo struct {
	Keywords []string // fields that keywordSearch searches; nil for no search
	Order    string   // default order, in words
	Columns  []ColumnInfo
	Under    bool     // whether the list has the children of one record, the :id of the path
	custom   bool     // whether it can be filtered by custom fields, as fields.KEY
	CSV      bool     // whether the response is a CSV file, whose separator can be chosen
	Fields   []string // fields of its records, if the list can be exported as a file; nil if not
}

func (l *ListInfo) Names(u use) []string {
	var names []string
	for _, c := range l.Columns {
		if c.Uses&u != 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

func (l *ListInfo) Column(name string, u use) *ColumnInfo {
	for i, c := range l.Columns {
		if c.Name == name && c.Uses&u != 0 {
			return &l.Columns[i]
		}
	}
	return nil
}

// Page is the response of a list.
type Page[T any] struct {
	Data     []T `json:"data" doc:"Records of this page"`
	Total    int `json:"total" doc:"Number of matching records, damaged ones included"`
	PageSize int `json:"pageSize" doc:"Maximum number of records per page"`
	Current  int `json:"current" doc:"Number of this page, from 1"`
	// Damaged are not in Data.
	Damaged []store.ID `json:"damaged_ids,omitempty" doc:"IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none"`
}

// scopedPage is a page of a list whose records the caller's data scope may hide.
type scopedPage[T any] struct {
	Page[T]
	Hidden int `json:"hidden,omitempty" doc:"Number of records of the whole list, whatever the parameters, outside your data scope; absent if none"`
}

// WritePage writes a page of rows that are already encoded.
func WritePage(b *bytes.Buffer, rows []json.RawMessage, damaged []store.ID, total int,
	ask *ListQuery, hidden int) {
	b.WriteString(`{"data":[`)
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(row)
	}

	tail := append(b.AvailableBuffer(), `],"total":`...)
	tail = strconv.AppendInt(tail, int64(total), 10)
	tail = strconv.AppendInt(append(tail, `,"pageSize":`...), int64(ask.Size), 10)
	tail = strconv.AppendInt(append(tail, `,"current":`...), int64(ask.Page), 10)
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

// ListQuery is the parsed query of a list. All its column names are declared.
type ListQuery struct {
	Under      store.ID // parent record, for a list under a record
	Page, Size int
	Search     string // search text, folded; "" for none
	sort       string // column to sort by; "" for the default order
	descending bool
	AnyOf      []anyOf
	Ranges     []timeRange
	custom     []customFilter
	Separator  rune     // separator of a CSV file
	fields     []string // columns of a file; nil for all
	from       int      // offset of the first record of the pages, for an export
}

// anyOf is the condition that a column has one of the values.
type anyOf struct {
	Column  string
	Texts   []string
	Numbers []int64 // values for a column of numbers
}

// timeRange is the condition that a column is in an inclusive range.
type timeRange struct {
	column    string
	Low, High store.Time
}

func (q *ListQuery) Offset() int { return q.from + (q.Page-1)*q.Size }

// Ask parses the query string of a list request. Empty parameters count as absent.
func (l *ListInfo) Ask(req *Request) (*ListQuery, error) {
	if req.HTTP.ContentLength != 0 {
		return nil, errs.New(errs.Malformed, "a GET request must not have a body")
	}
	q, err := l.parse(req, nil)
	if e := req.export; err == nil && e != nil {
		e.comma, e.columns = q.Separator, q.fields
		q.Page, q.Size, q.from = 1, exportRows, e.from
	}
	return q, err
}

// parse parses the parameters of a list, except those of own, the input of an operation
// on the records that a list selects.
func (l *ListInfo) parse(req *Request, own *Input) (*ListQuery, error) {
	q := &ListQuery{Page: 1, Size: DefaultPageSize, Separator: ','}
	query, err := parseQuery(req.HTTP.URL.RawQuery)
	if err != nil {
		return nil, err
	}

	faults := errs.Faults{}
	if l.Under {
		if q.Under, err = ParseID(req.Params.ByName("id")); err != nil {
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
		if len(values) > 1 && l.Column(strings.TrimSuffix(name, "[]"), Ranged) == nil &&
			!strings.HasPrefix(name, CustomPrefix) {
			faults.Add(name, "must be given once, not %d times", len(values))
			continue
		}

		switch value := values[0]; name {
		case "page", "current":
			if other := query.Get("page"); name == "current" && other != "" && other != value {
				faults.Add(name, "conflicts with %s", "page")
			}
			q.Page = parseCount(name, value, faults)
		case "pageSize":
			q.Size = min(parseCount(name, value, faults), MaxPageSize)
		case "keywordSearch":
			q.Search = fold.Search(value)
		case "sorter":
			l.sorter(req.HTTP.Context(), q, value, faults)
		case "filter":
			l.filter(req.HTTP.Context(), q, value, faults)
		case "format":
			if value != "json" && !slices.Contains(fileFormats, value) {
				faults.Add(name, "must be one of %s", []string{"json", csvFormat, xlsxFormat})
			}
		case "columns":
			l.exported(req, q, value, faults)
		case "separator":
			if !l.CSV {
				onlyCSV(req, name, faults)
			}
			if q.Separator = separators[value]; q.Separator == 0 {
				faults.Add(name, "must be one of %s", []string{"comma", "semicolon", "tab"})
			}
		case "tz": // time zone of the ranges, see field
			if _, err := store.ZoneOf(value); err != nil {
				faults.Add(name, "must be a time zone, such as Asia/Shanghai or +08:00")
			}
		default:
			l.field(q, name, values, query, faults)
		}
	}

	return q, faults.Err(errs.Malformed)
}

func (l *ListInfo) knows(name string) bool {
	switch name {
	case "page", "current", "pageSize", "sorter", "filter":
		return true
	case "separator":
		return l.CSV || l.Fields != nil
	case "format", "columns":
		return l.Fields != nil
	case "keywordSearch":
		return l.Keywords != nil
	case "tz":
		return l.Names(Ranged) != nil
	}
	if strings.HasPrefix(name, CustomPrefix) {
		return l.custom
	}
	return l.Column(name, Param) != nil || l.Column(strings.TrimSuffix(name, "[]"), Ranged) != nil
}

// Selects reports whether a parameter determines which records a list has, regardless
// of page and order.
func (l *ListInfo) Selects(name string) bool {
	return l.knows(name) &&
		!slices.Contains([]string{"page", "current", "pageSize", "sorter", "format", "columns", "separator"}, name)
}

// narrowed reports whether the query has a condition.
func (q *ListQuery) narrowed() bool {
	return q.Search != "" || len(q.AnyOf)+len(q.Ranges)+len(q.custom) > 0
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
func (l *ListInfo) sorter(ctx context.Context, q *ListQuery, text string, faults errs.Faults) {
	value, err := ParseJSON(ctx, []byte(text), MaxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok || len(object) > 1 {
		faults.Add("sorter", `must be an object with one field, such as {"sort":"ascend"}`)
		return
	}

	for name, direction := range object {
		if l.Column(name, Sorted) == nil {
			if l.Names(Sorted) == nil {
				faults.Add("sorter", "this list can't be sorted")
				return
			}
			faults.Add("sorter", "can't sort by %q; use one of %s", name, l.Names(Sorted))
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
func (l *ListInfo) filter(ctx context.Context, q *ListQuery, text string, faults errs.Faults) {
	value, err := ParseJSON(ctx, []byte(text), MaxValues)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		faults.Add("filter", `must be an object, such as {"status":["1"]}`)
		return
	}

	for name, value := range object {
		c := l.Column(name, Filtered)
		key, custom := strings.CutPrefix(name, CustomPrefix)
		if c == nil && !(custom && l.custom) {
			faults.Add("filter", "can't filter by %q; use one of %s", name, l.Names(Filtered))
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
func (q *ListQuery) oneOf(c *ColumnInfo, parameter string, texts []string, faults errs.Faults) {
	of := anyOf{Column: c.Name, Texts: texts}
	for _, text := range texts {
		if !c.Number {
			break
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(parameter, "%q is not an integer", text)
		}
		of.Numbers = append(of.Numbers, n)
	}
	q.AnyOf = append(q.AnyOf, of)
}

// field parses a parameter named after a column.
func (l *ListInfo) field(q *ListQuery, name string, values []string, query url.Values,
	faults errs.Faults) {
	if key, custom := strings.CutPrefix(name, CustomPrefix); custom {
		q.customField(key, values, faults)
		return
	}
	if c := l.Column(name, Param); c != nil {
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

	zone, err := store.ZoneOf(query.Get("tz"))
	if err != nil {
		return // parse reports it
	}

	low, errLow := store.Bound(values[0], false, zone)
	high, errHigh := store.Bound(values[1], true, zone)
	if errLow != nil || errHigh != nil {
		faults.Add(name,
			"must be times such as 2025-05-08T03:04:05Z or 2025-05-08 03:04:05, or dates such as 2025-05-08")
		return
	}

	q.Ranges = append(q.Ranges, timeRange{plain, low, high})
}

// FieldUse is the use of a column that is compared in the JSON of the event.
const FieldUse = Param | Filtered

// separators are the values of the parameter separator of an export.
var separators = map[string]rune{
	"comma":     ',',
	",":         ',',
	"semicolon": ';',
	";":         ';',
	"tab":       '\t',
	"\t":        '\t',
}
