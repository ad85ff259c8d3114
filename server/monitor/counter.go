package monitor

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"reeve/store/journal"
)

// counter counts requests in memory for the current minute, and in rows of the journal for
// each minute and hour.
type counter struct {
	mu     sync.Mutex
	minute time.Time
	now    *counts            // counts of the minute, without recent
	recent recent             // added to now by settle
	dirty  bool               // the minute has counts that are not written
	past   map[string]*counts // previous minutes that are not written yet, by row key

	saving sync.Mutex         // held while rows are read and written, before mu; guards hours
	hours  map[string]*counts // hours without their unfinished minute, by row key
}

// unknownRoute is the name under which requests with an unknown URL are counted.
const unknownRoute = "(unknown address)"

// recent has the counts since the last settle. Its keys are pointers and structs instead of
// one text, since building and hashing texts took longer than the rest of counting.
type recent struct {
	requests  int64
	classes   [6]int64
	durations [buckets]int64
	routes    map[*Route]*routeCounts
	users     map[countedUser]*int64
}

type countedUser struct {
	name string
	app  bool
}

func newRecent() recent {
	return recent{routes: map[*Route]*routeCounts{}, users: map[countedUser]*int64{}}
}

func (c *counter) reset() {
	c.now, c.recent, c.past, c.hours = newCounts(), newRecent(), map[string]*counts{}, map[string]*counts{}
}

// settle adds the recent counts to those of the minute. The caller holds mu.
func (c *counter) settle() {
	if c.recent.requests == 0 {
		return
	}

	c.now.Requests += c.recent.requests
	for class, n := range c.recent.classes {
		c.now.Classes[class] += n
	}

	for bucket, n := range c.recent.durations {
		if n > 0 {
			c.now.Durations[bucket] += n
		}
	}

	for route, sum := range c.recent.routes {
		name := unknownRoute
		if route != nil {
			name = route.Name
		}
		c.now.addRoute(name, sum)
	}

	for user, n := range c.recent.users {
		key := "admin " + user.name
		if user.app {
			key = "app " + user.name
		}
		if _, known := c.now.Users[key]; known || len(c.now.Users) < maxCountedUsers {
			c.now.Users[key] += *n
		}
	}

	c.recent = newRecent()
}

// add counts a request.
func (c *counter) add(f *Facts) {
	bucket, class := bucketOf(f.Took), min(max(f.Status/100, 0), 5)
	if f.aborted() {
		class = 0
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(f.Begun)
	c.dirty = true
	c.recent.requests++
	c.recent.classes[class]++
	c.recent.durations[bucket]++
	sum := c.recent.routes[f.Route]
	if sum == nil {
		sum = &routeCounts{}
		c.recent.routes[f.Route] = sum
	}

	sum.Requests++
	sum.Micros += f.Took.Microseconds()
	sum.Slowest = max(sum.Slowest, f.Took.Microseconds())
	if f.failed() || f.aborted() {
		sum.Failed++
	}
	if f.Caller.ID == 0 {
		return
	}

	user := countedUser{f.Caller.Person().Username, f.Caller.App}
	n := c.recent.users[user]
	if n == nil && len(c.recent.users) < maxCountedUsers {
		n = new(int64)
		c.recent.users[user] = n
	}
	if n != nil {
		*n++
	}
}

// turn starts the minute of now, unless it is the current one. The caller holds mu.
func (c *counter) turn(now time.Time) {
	minute := now.UTC().Truncate(time.Minute)
	if !minute.After(c.minute) {
		return // if the clock was set back, the minute continues
	}
	c.settle()
	if c.now.Requests > 0 {
		c.past[c.minute.Format(rowTime)] = c.now
	}
	c.minute, c.now, c.dirty = minute, newCounts(), false
}

// load adds the stored counts of minutes and hours that a restart interrupted. Requests may
// have been counted before the journal was open.
func (c *counter) load(j *journal.Journal) {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(time.Now())
	c.settle()
	resume := func(key string, minute *counts) {
		stored, hour := readCounts(j, minuteTable, key), c.hourOf(j, key)
		if hour.Requests >= stored.Requests { // the hour includes the minute, unless writing the hour failed
			hour.subtract(stored)
		}
		minute.add(stored)
	}
	for key, minute := range c.past {
		resume(key, minute)
	}

	resume(c.minute.Format(rowTime), c.now)
}

// readCounts reads a row. A missing or damaged row counts as empty.
func readCounts(j *journal.Journal, table, key string) *counts {
	for _, row := range j.Rows(table, key, key) {
		if stored := newCounts(); json.Unmarshal(row, stored) == nil {
			return stored
		}
	}
	return newCounts()
}

// hourKey returns the row key of the hour of a minute.
func hourKey(minute string) string { return minute[:len("2006-01-02T15:")] + "00Z" }

// hourOf returns the counts of the hour of a minute, without its unfinished minute.
func (c *counter) hourOf(j *journal.Journal, minute string) *counts {
	key := hourKey(minute)
	if c.hours[key] == nil {
		c.hours[key] = readCounts(j, hourTable, key)
	}
	return c.hours[key]
}

// takeDirty returns the minutes that are not written, by row key, and the key of the
// current minute if it is one of them.
func (c *counter) takeDirty() (minutes map[string]*counts, current string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(time.Now())
	c.settle()
	minutes = c.past
	c.past = map[string]*counts{}
	if c.dirty {
		current = c.minute.Format(rowTime)
		snapshot := newCounts()
		snapshot.add(c.now)
		minutes[current], c.dirty = snapshot, false
	}
	return minutes, current
}

// save writes the rows that have changed, if any. When a minute has ended, it deletes the
// expired rows.
func (c *counter) save(j *journal.Journal) (tried bool, err error) {
	c.saving.Lock()
	defer c.saving.Unlock()
	minutes, current := c.takeDirty()
	if len(minutes) == 0 {
		return false, nil
	}

	rows, hours, ended := map[string][]byte{}, map[string][]byte{}, false
	for _, key := range slices.Sorted(maps.Keys(minutes)) { // the current minute is the last: its hour includes the others
		rows[key] = minutes[key].row()
		whole := newCounts()
		whole.add(c.hourOf(j, key))
		whole.add(minutes[key])
		if key != current {
			c.hours[hourKey(key)], ended = whole, true
		}
		hours[hourKey(key)] = whole.row()
	}

	err = errors.Join(j.SetRows(minuteTable, rows), j.SetRows(hourTable, hours)) // rows that cannot be written are lost
	if ended {
		err = errors.Join(err, c.expire(j))
	}

	return true, err
}

func (c *counter) expire(j *journal.Journal) error {
	now := time.Now().UTC()
	for hour := range c.hours { // the current hour and the previous one may be needed
		if hour < now.Add(-2*time.Hour).Format(rowTime) {
			delete(c.hours, hour)
		}
	}
	return errors.Join(j.DeleteRows(minuteTable, now.Add(-minutesKept).Format(rowTime)),
		j.DeleteRows(hourTable, now.Add(-hoursKept).Format(rowTime)))
}
