package store

import (
	"errors"
	"strings"
	"time"
	_ "time/tzdata"

	"reeve/store/kv"
)

// ZoneOf parses the parameter tz: the name of a zone, or an offset from UTC.
func ZoneOf(text string) (*time.Location, error) {
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

// Bound parses one end of a range: a time, a local time in the zone, or a date in the
// zone, which means its first or last moment. "" means no bound.
func Bound(text string, end bool, zone *time.Location) (Time, error) {
	switch {
	case text == "" && end:
		return 1<<63 - 1, nil
	case text == "":
		return -1 << 63, nil
	}

	if wall, err := time.Parse(time.DateTime, text); err == nil {
		first, last := moments(wall, zone)
		switch {
		case !end:
			return kv.TimeOf(first), nil
		case strings.ContainsAny(text, ".,"): // time.Parse accepts a fraction, which says exactly when
			return kv.TimeOf(last), nil
		}
		return kv.TimeOf(last.Add(time.Second - time.Microsecond)), nil // to the end of the second
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			next, _ := moments(day.AddDate(0, 0, 1), zone)
			return kv.TimeOf(next.Add(-time.Microsecond)), nil
		}
		first, _ := moments(day, zone)
		return kv.TimeOf(first), nil
	}

	return kv.ParseTime(text)
}

// moments returns the first and the last moment at which clocks in a zone show the date and time of
// wall, which is in UTC: two if they were set back in between, otherwise the same. If clocks were
// set forward past it, it is the moment at which that happened, the first that exists. time.Date
// does not say which moment it returns in these cases.
func moments(wall time.Time, zone *time.Location) (first, last time.Time) {
	before, after := offset(wall.AddDate(0, 0, -1), zone), offset(wall.AddDate(0, 0, 1), zone)
	early, late := wall.Add(-max(before, after)), wall.Add(-min(before, after))
	shows := func(at time.Time) bool { return at.Add(offset(at, zone)).Equal(wall) }
	switch {
	case shows(early) && shows(late):
		return early, late
	case shows(early):
		return early, early
	case shows(late):
		return late, late
	}
	_, forward := early.In(zone).ZoneBounds()
	return forward, forward
}

// offset returns how far clocks in a zone are ahead of UTC.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
