package monitor

import (
	"encoding/json"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/journal"
)

// requestsIn returns the number of requests in the rows of a table.
func requestsIn(t *testing.T, j *journal.Journal, table string) (n int64) {
	t.Helper()
	for _, row := range j.Rows(table, "", "~") {
		counted := newCounts()
		must(t, json.Unmarshal(row, counted))
		n += counted.Requests
	}
	return n
}

func TestCounters_KeptOverRestart(t *testing.T) {
	count := func(c *counter, n int, at time.Time) {
		for range n {
			c.add(&Facts{Caller: store.Anonymous, Begun: at, Status: 404, Took: time.Millisecond})
		}
	}
	for _, c := range []struct {
		name          string
		before, after int           // requests before and after opening the journal
		later         time.Duration // time after the start
	}{
		{"requests in the same minute", 0, 2, 0},
		{"requests before the journal is open", 2, 1, 0},
		{"none until the next minute", 0, 1, time.Minute},
	} {
		j := journal.Open(t.TempDir(), journal.Options{})
		first, second := newCounter(), newCounter()
		first.load(j)
		count(first, 3, time.Now())
		first.save(j)
		count(second, c.before, time.Now())
		second.load(j)
		count(second, c.after, time.Now().Add(c.later))
		second.save(j)
		want := int64(3 + c.before + c.after)
		if minutes, hours := requestsIn(t, j, minuteTable), requestsIn(t, j, hourTable); minutes != want || hours != want {
			t.Errorf("%s: %d by minute and %d by hour, want %d", c.name, minutes, hours, want)
		}
		must(t, j.Close())
	}
}
