package server_test

import (
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// TestBound_ClockChanges goes over days on which clocks were set forward or back at midnight or at
// night, in real zones.
func TestBound_ClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, text, low, high string }{
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T02:59:59.999999Z"}, // begins at 01:00
		{"America/Santiago", "2026-09-05", "2026-09-05T04:00:00Z", "2026-09-06T03:59:59.999999Z"},
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z", "2026-04-05T03:59:59.999999Z"}, // has 25 hours: 23:00 comes twice
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59.999999Z"},
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59.999999Z"}, // midnight comes twice
		{"America/Havana", "2026-10-31", "2026-10-31T04:00:00Z", "2026-11-01T03:59:59.999999Z"},
		{"Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00Z", "2026-03-29T23:59:59.999999Z"},
		{"Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00Z", "2026-10-26T00:59:59.999999Z"},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59.999999Z"},
		{"Africa/Cairo", "2026-04-23", "2026-04-22T22:00:00Z", "2026-04-23T21:59:59.999999Z"},
		{"Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z", "2026-03-29T20:59:59.999999Z"},
		{"Asia/Beirut", "2026-10-24", "2026-10-23T21:00:00Z", "2026-10-24T21:59:59.999999Z"},
		{"Europe/Berlin", "2026-03-29 02:30:00", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00.999999Z"}, // does not exist
		{"Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00.999999Z"}, // exists twice
		{"Europe/Berlin", "2026-06-01 12:00:00", "2026-06-01T10:00:00Z",
			"2026-06-01T10:00:00.999999Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T09:59:59.999999Z"}, // the day before was left out
		{"+05:30", "2026-01-01", "2025-12-31T18:30:00Z", "2026-01-01T18:29:59.999999Z"},
		{"", "2026-11-26 12:00:00.250000", "2026-11-26T12:00:00.25Z", "2026-11-26T12:00:00.25Z"},
		{"", "2026-11-26T12:00:00.25Z", "2026-11-26T12:00:00.25Z", "2026-11-26T12:00:00.25Z"},
	} {
		zone, err := store.ZoneOf(c.zone)
		servertest.Must(t, err)
		for end, want := range map[bool]string{false: c.low, true: c.high} {
			at, err := time.Parse(time.RFC3339Nano, want)
			servertest.Must(t, err)
			got, err := store.Bound(c.text, end, zone)
			if err != nil || got != kv.TimeOf(at) {
				t.Errorf("%s in %s, end %v: %s %v, not %s", c.text, c.zone, end, got, err, want)
			}
		}
	}
}

// TestBound_DaysMeet checks that each day ends where the next begins, in every zone of the table
// and for ten years.
func TestBound_DaysMeet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"America/Santiago", "America/Havana", "Atlantic/Azores",
		"Africa/Cairo", "Asia/Beirut", "Africa/Casablanca", "Australia/Lord_Howe"} {
		zone, err := store.ZoneOf(name)
		servertest.Must(t, err)
		day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 3650 {
			next := day.AddDate(0, 0, 1)
			last, errLast := store.Bound(day.Format(time.DateOnly), true, zone)
			first, errFirst := store.Bound(next.Format(time.DateOnly), false, zone)
			if errLast != nil || errFirst != nil || last+1 != first {
				t.Errorf("%s: %s ends at %s, and the next day begins at %s", name,
					day.Format(time.DateOnly), last, first)
			}
			if at := first.Std().In(zone); at.Format(time.DateOnly) != next.Format(time.DateOnly) ||
				at.Add(-time.Microsecond).Format(time.DateOnly) == next.Format(time.DateOnly) {
				t.Errorf("%s: %s does not begin at %s", name, next.Format(time.DateOnly), at)
			}
			day = next
		}
	}
}
