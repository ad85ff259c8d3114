package server

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"reeve/store/journal"
)

// tallies are the counts of the running minute and hour.
type tallies struct {
	mu     sync.Mutex
	names  map[*Route]string
	minute time.Time
	now    *tally            // of the minute, without recent
	recent recent            // what settle adds to it
	dirty  bool              // the minute has what is not written
	past   map[string]*tally // minutes that are over and not written yet, by table and key
	hour   map[string]*tally // hours, without what is not over of them; of load and save alone
}

func newTallies(routes []Route) *tallies {
	t := &tallies{names: map[*Route]string{}, now: newTally(), recent: newRecent(), past: map[string]*tally{}, hour: map[string]*tally{}}
	t.names[nil] = otherRoutes
	for i := range routes {
		t.names[&routes[i]] = routes[i].name()
	}
	return t
}

// otherRoutes stands for every address that there is not.
const otherRoutes = "(unknown address)"

// recent is what has been counted since the tally of the minute was last asked for. It
// has no texts as keys, which would take longer than all the rest of counting.
type recent struct {
	requests  int64
	classes   [6]int64
	durations [buckets]int64
	routes    map[*Route]*routeSum
	users     map[tallyUser]*int64
}

type tallyUser struct {
	name string
	app  bool
}

func newRecent() recent {
	return recent{routes: map[*Route]*routeSum{}, users: map[tallyUser]*int64{}}
}

// settle adds the recent counts to the tally of the minute; mu is held.
func (t *tallies) settle() {
	if t.recent.requests == 0 {
		return
	}
	counted := newTally()
	counted.Requests, counted.Classes = t.recent.requests, t.recent.classes
	for bucket, n := range t.recent.durations {
		if n > 0 {
			counted.Durations[bucket] = n
		}
	}
	for rt, sum := range t.recent.routes {
		counted.Routes[t.names[rt]] = sum
	}
	for user, n := range t.recent.users {
		key := "admin " + user.name
		if user.app {
			key = "app " + user.name
		}
		if _, known := t.now.Users[key]; known || len(t.now.Users) < maxTallyUsers {
			t.now.Users[key] += *n
		}
	}
	t.now.add(counted)
	t.recent = newRecent()
}

// add counts a request.
func (t *tallies) add(rt *Route, req *Request, took time.Duration) {
	bucket, class := bucketOf(took), min(max(req.w.status/100, 0), 5)
	if req.mon.broken {
		class = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(req.begun)
	t.dirty = true
	t.recent.requests++
	t.recent.classes[class]++
	t.recent.durations[bucket]++
	sum := t.recent.routes[rt]
	if sum == nil {
		sum = &routeSum{}
		t.recent.routes[rt] = sum
	}
	sum.Requests++
	sum.Micros += took.Microseconds()
	sum.Slowest = max(sum.Slowest, took.Microseconds())
	if req.failed() || req.mon.broken {
		sum.Failed++
	}
	if req.Actor.ID != 0 {
		user := tallyUser{req.Actor.Username, req.Actor.App}
		n := t.recent.users[user]
		if n == nil && len(t.recent.users) < maxTallyUsers {
			n = new(int64)
			t.recent.users[user] = n
		}
		if n != nil {
			*n++
		}
	}
}

// turn begins another minute when it is time; mu is held.
func (t *tallies) turn(now time.Time) {
	minute := now.UTC().Truncate(time.Minute)
	if !minute.After(t.minute) {
		return // also when the clock went back: the minute goes on
	}
	t.settle()
	if t.now.Requests > 0 {
		t.past[t.minute.Format(rowTime)] = t.now
	}
	t.minute, t.now, t.dirty = minute, newTally(), false
}

// load goes on with the minutes and hours that a stop has interrupted. Requests may
// have been counted before the journal was open.
func (t *tallies) load(j *journal.Journal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(time.Now())
	t.settle()
	resume := func(key string, minute *tally) {
		had, hour := readTally(j, minuteTable, key), t.hourOf(j, key)
		if hour.Requests >= had.Requests { // its row has the minute's too, unless it could not be written
			hour.subtract(had)
		}
		minute.add(had)
	}
	for key, minute := range t.past {
		resume(key, minute)
	}
	resume(t.minute.Format(rowTime), t.now)
}

// readTally reads a row; without one, or with a damaged one, counting begins anew.
func readTally(j *journal.Journal, table, key string) *tally {
	for _, row := range j.Rows(table, key, key) {
		if had := newTally(); json.Unmarshal(row, had) == nil {
			return had
		}
	}
	return newTally()
}

func hourKey(minute string) string { return minute[:len("2006-01-02T15:")] + "00Z" }

// hourOf is the hour of a minute, without the minutes that are not over.
func (t *tallies) hourOf(j *journal.Journal, minute string) *tally {
	key := hourKey(minute)
	if t.hour[key] == nil {
		t.hour[key] = readTally(j, hourTable, key)
	}
	return t.hour[key]
}

// save writes the rows that have changed, if any, and, once a minute, deletes those
// that are too old.
func (t *tallies) save(j *journal.Journal) (tried bool, err error) {
	t.mu.Lock()
	t.turn(time.Now())
	t.settle()
	minutes := t.past
	t.past = map[string]*tally{}
	over := len(minutes) > 0
	running := ""
	if t.dirty {
		running = t.minute.Format(rowTime)
		snapshot := newTally()
		snapshot.add(t.now)
		minutes[running], t.dirty = snapshot, false
	}
	t.mu.Unlock()
	if len(minutes) == 0 {
		return false, nil
	}
	rows, hours := map[string][]byte{}, map[string][]byte{}
	for _, key := range slices.Sorted(maps.Keys(minutes)) { // the running one last: its hour has the others
		rows[key] = minutes[key].row()
		whole := newTally()
		whole.add(t.hourOf(j, key))
		whole.add(minutes[key])
		if key != running {
			t.hour[hourKey(key)] = whole
		}
		hours[hourKey(key)] = whole.row()
	}
	err = errors.Join(j.SetRows(minuteTable, rows), j.SetRows(hourTable, hours)) // what cannot be written is lost
	if over {
		err = errors.Join(err, t.expire(j))
	}
	return true, err
}

func (t *tallies) expire(j *journal.Journal) error {
	now := time.Now().UTC()
	for hour := range t.hour { // at most the running one and the one before
		if hour < now.Add(-2*time.Hour).Format(rowTime) {
			delete(t.hour, hour)
		}
	}
	return errors.Join(j.DeleteRows(minuteTable, now.Add(-minutesKept).Format(rowTime)), j.DeleteRows(hourTable, now.Add(-hoursKept).Format(rowTime)))
}
