package kv

import (
	"strconv"
	"strings"
)

// statement returns a query as text for monitoring, with ? for every value, so that queries that
// differ only in values can be grouped.
func (q query) statement(c *collection) string {
	var b strings.Builder
	b.WriteString("SCAN " + c.name)
	word := " WHERE "
	for _, w := range q.where {
		b.WriteString(word + w.statement)
		word = " AND "
	}

	if q.search != "" {
		b.WriteString(word + "search CONTAINS ?")
	}

	b.WriteString(" ORDER BY ")
	if q.order != nil {
		b.WriteString(q.order.field)
	} else {
		b.WriteString("id")
	}
	if q.descending {
		b.WriteString(" DESC")
	}
	if q.limit < NoLimit {
		b.WriteString(" LIMIT " + strconv.Itoa(q.limit))
	}
	if q.offset > 0 {
		b.WriteString(" OFFSET ?")
	}

	return b.String()
}

// plan returns PlanScan for a query that reads the collection or its search texts, and
// PlanIndex for one that uses an index.
func (q query) plan() string {
	if q.search != "" || len(q.where) == 0 && q.order == nil {
		return PlanScan
	}
	return PlanIndex
}
