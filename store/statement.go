package store

import (
	"strconv"
	"strings"
)

// statement is a query as monitoring shows it: what is asked, with ? for every
// value, so that the same question always reads the same.
func (q Query[T]) statement(c *Collection[T]) string {
	var b strings.Builder
	b.WriteString("SCAN " + c.name)
	word := " WHERE "
	for _, w := range q.Where {
		b.WriteString(word + w.said)
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

// plan is how a query finds what it is after, in a word.
func (q Query[T]) plan() string {
	if q.Search != "" || len(q.Where) == 0 && q.Order.x == nil {
		return PlanScan
	}
	return PlanIndex
}
