package copies

import (
	"fmt"
	"time"
)

// Keep says how many copies are kept: the newest of each of so many of the newest hours, days, weeks
// and months that have one. Commits are kept for so many days, with the copy that the first of them
// continue.
type Keep struct{ Hourly, Daily, Weekly, Monthly, StreamDays int }

// choose returns which copies are kept, by index. The times are sorted, the newest first; the newest
// is kept in any case.
func (k Keep) choose(times []time.Time, zone *time.Location) []bool {
	kept := make([]bool, len(times))
	for _, class := range []struct {
		most   int
		period func(time.Time) string
	}{
		{k.Hourly, func(t time.Time) string { return t.Format("2006-01-02 15") }},
		{k.Daily, func(t time.Time) string { return t.Format(time.DateOnly) }},
		{k.Weekly, func(t time.Time) string { return fmt.Sprint(t.ISOWeek()) }},
		{k.Monthly, func(t time.Time) string { return t.Format("2006-01") }},
	} {
		last, n := "", 0
		for i, at := range times {
			period := class.period(at.In(zone))
			if period == last {
				continue
			}
			if n++; n > class.most {
				break
			}
			last, kept[i] = period, true
		}
	}
	if len(kept) > 0 {
		kept[0] = true
	}
	return kept
}
