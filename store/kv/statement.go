package kv

import (
	"strconv"
	"strings"
)

// statement returns a query as text for monitoring, with ? for every value, so that queries that
// differ only in values can be grouped.
func (q Query[T]) statement(c *Collection[T]) string {
	var b strings.Builder
	b.WriteString("SCAN " + c.name)
	word := " WHERE "
	for _, w := range q.Where {
		b.WriteString(word + w.statement)
		word = " AND "
	}
	if q.Search != "" {
		b.WriteString(word + "search CONTAINS ?")
	}
	b.WriteString(" ORDER BY ")
	if q.Order.x != nil {
		b.WriteString(q.Order.x.field)
	} else {
		b.WriteString("id")
	}
	if q.Descending {
		b.WriteString(" DESC")
	}
	if q.Limit < NoLimit {
		b.WriteString(" LIMIT " + strconv.Itoa(q.Limit))
	}
	if q.Offset > 0 {
		b.WriteString(" OFFSET ?")
	}
	return b.String()
}

// plan returns PlanScan for a query that reads the collection or its search texts, and
// PlanIndex for one that uses an index.
func (q Query[T]) plan() string {
	if q.Search != "" || len(q.Where) == 0 && q.Order.x == nil {
		return PlanScan
	}
	return PlanIndex
}
