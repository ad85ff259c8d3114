package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"reeve/store"
)

// Aggregates of requests, by minute and by hour. They are small, count every
// request, and outlive the events.

const (
	minuteTable, hourTable = "minute", "hour"
	minutesKept            = 3 * 24 * time.Hour
	hoursKept              = 90 * 24 * time.Hour
	maxTallyUsers          = 1000 // whose requests are counted apart in one minute
	topKept                = 20   // users that a row keeps
	rowTime                = "2006-01-02T15:04Z"
)

// The durations of requests are counted in buckets, each a fifth wider than the
// one before: bucket n holds up to 0.05 ms × 1.2ⁿ.
const (
	buckets    = 80
	bucketBase = 50 * time.Microsecond
	bucketStep = 1.2
)

func bucketOf(d time.Duration) int {
	if d <= bucketBase {
		return 0
	}
	return min(buckets-1, int(math.Ceil(math.Log(float64(d)/float64(bucketBase))/math.Log(bucketStep))))
}

// bucketTop is the longest duration of a bucket.
func bucketTop(n int) time.Duration {
	return time.Duration(float64(bucketBase) * math.Pow(bucketStep, float64(n)))
}

// tally is what is counted of the requests of some time.
type tally struct {
	Requests  int64                `json:"requests"`
	Classes   [6]int64             `json:"classes"` // by the first digit of the status; 0 of what was broken off
	Durations map[int]int64        `json:"durations"`
	Routes    map[string]*routeSum `json:"routes"`
	Users     map[string]int64     `json:"users"` // by realm and name
}

// routeSum is what is counted of one route.
type routeSum struct {
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	Micros   int64 `json:"us"`
	Slowest  int64 `json:"slowest_us"`
}

func newTally() *tally {
	return &tally{Durations: map[int]int64{}, Routes: map[string]*routeSum{}, Users: map[string]int64{}}
}

func (t *tally) add(other *tally) {
	t.Requests += other.Requests
	for i, n := range other.Classes {
		t.Classes[i] += n
	}
	for bucket, n := range other.Durations {
		t.Durations[bucket] += n
	}
	for route, sum := range other.Routes {
		had := t.Routes[route]
		if had == nil {
			had = &routeSum{}
			t.Routes[route] = had
		}
		had.Requests += sum.Requests
		had.Failed += sum.Failed
		had.Micros += sum.Micros
		had.Slowest = max(had.Slowest, sum.Slowest)
	}
	for user, n := range other.Users {
		t.Users[user] += n
	}
}

// quantile is the duration that a part of the requests stayed under, to a fifth.
func (t *tally) quantile(part float64) time.Duration {
	var all, seen int64
	for _, n := range t.Durations {
		all += n
	}
	for bucket := range buckets {
		if seen += t.Durations[bucket]; all > 0 && float64(seen) >= part*float64(all) {
			return bucketTop(bucket)
		}
	}
	return 0
}

// tallies are the counts of the running minute and hour.
type tallies struct {
	mu     sync.Mutex
	names  map[*Route]string
	minute time.Time
	now    *tally // of the minute
	dirty  bool
	saved  int64             // requests of the minute that its row has
	past   map[string]*tally // minutes that are over and not written yet, by table and key
	hour   map[string]*tally // hours, as read or begun
}

func newTallies(routes []Route) *tallies {
	t := &tallies{names: map[*Route]string{}, now: newTally(), past: map[string]*tally{}, hour: map[string]*tally{}}
	for i := range routes {
		t.names[&routes[i]] = routes[i].name()
	}
	return t
}

// otherRoutes stands for every address that there is not.
const otherRoutes = "(unknown address)"

// add counts a request.
func (t *tallies) add(rt *Route, req *Request, took time.Duration) {
	name := otherRoutes
	if rt != nil {
		name = t.names[rt]
	}
	bucket, class := bucketOf(took), min(max(req.w.status/100, 0), 5)
	if req.mon.broken {
		class = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(req.begun)
	t.dirty = true
	t.now.Requests++
	t.now.Classes[class]++
	t.now.Durations[bucket]++
	sum := t.now.Routes[name]
	if sum == nil {
		sum = &routeSum{}
		t.now.Routes[name] = sum
	}
	sum.Requests++
	sum.Micros += took.Microseconds()
	sum.Slowest = max(sum.Slowest, took.Microseconds())
	if req.w.status >= 400 || req.mon.broken {
		sum.Failed++
	}
	if req.Actor.ID != 0 {
		user := "admin " + req.Actor.Username
		if req.Actor.App {
			user = "app " + req.Actor.Username
		}
		if _, known := t.now.Users[user]; known || len(t.now.Users) < maxTallyUsers {
			t.now.Users[user]++
		}
	}
}

// turn begins another minute when it is time; mu is held.
func (t *tallies) turn(now time.Time) {
	minute := now.UTC().Truncate(time.Minute)
	if !minute.After(t.minute) {
		return // also when the clock went back: the minute goes on
	}
	if t.dirty {
		t.past[t.minute.Format(rowTime)] = t.now
	}
	t.minute, t.now, t.dirty, t.saved = minute, newTally(), false, 0
}

// load goes on with the minute and the hour that a stop has interrupted.
func (t *tallies) load(journal *store.Journal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn(time.Now())
	key, before := t.minute.Format(rowTime), newTally()
	for _, row := range journal.Rows(minuteTable, key, key) {
		if had := newTally(); json.Unmarshal(row, had) == nil {
			before.add(had)
		}
	}
	t.now.add(before)
	hour := t.minute.Truncate(time.Hour).Format(rowTime)
	for _, row := range journal.Rows(hourTable, hour, hour) {
		if had := newTally(); json.Unmarshal(row, had) == nil {
			t.hour[hour] = had
		}
	}
	if before.Requests > 0 && t.hour[hour] != nil { // the hour's row has the minute's too
		t.hour[hour].subtract(before)
		t.dirty = true // or nobody would give it back, if the minute ends without another request
	}
}

// subtract takes out what is counted again.
func (t *tally) subtract(other *tally) {
	t.Requests -= other.Requests
	for i, n := range other.Classes {
		t.Classes[i] -= n
	}
	for bucket, n := range other.Durations {
		t.Durations[bucket] -= n
	}
	for route, sum := range other.Routes {
		if had := t.Routes[route]; had != nil {
			had.Requests -= sum.Requests
			had.Failed -= sum.Failed
			had.Micros -= sum.Micros
		}
	}
	for user, n := range other.Users {
		if t.Users[user] -= n; t.Users[user] <= 0 {
			delete(t.Users, user) // a row keeps those with most alone
		}
	}
}

// save writes the rows that have changed, if any, and deletes those that are too old.
func (t *tallies) save(journal *store.Journal) (tried bool, err error) {
	t.mu.Lock()
	t.turn(time.Now())
	minutes := t.past
	t.past = map[string]*tally{}
	running := ""
	if t.now.Requests > t.saved && t.dirty {
		t.saved = t.now.Requests
		running = t.minute.Format(rowTime)
		snapshot := newTally()
		snapshot.add(t.now)
		minutes[running] = snapshot
	}
	t.mu.Unlock()
	if len(minutes) == 0 {
		return false, nil
	}
	rows, hours := map[string][]byte{}, map[string][]byte{}
	for _, key := range slices.Sorted(maps.Keys(minutes)) { // the running one last, whose hour has those before
		minute := minutes[key]
		rows[key] = minute.row()
		hour := key[:len("2006-01-02T15:")] + "00Z"
		whole := newTally()
		if t.hour[hour] == nil {
			t.hour[hour] = newTally()
		}
		whole.add(t.hour[hour])
		whole.add(minute)
		if key != running {
			t.hour[hour] = whole
		}
		hours[hour] = whole.row()
	}
	now := time.Now().UTC()
	for hour := range t.hour { // at most the running one and the one before
		if hour < now.Add(-2*time.Hour).Format(rowTime) {
			delete(t.hour, hour)
		}
	}
	err = errors.Join(journal.SetRows(minuteTable, rows), journal.SetRows(hourTable, hours))
	if minuteIsOver := running == "" || len(minutes) > 1; minuteIsOver { // often enough for a commit each
		err = errors.Join(err, journal.DeleteRows(minuteTable, now.Add(-minutesKept).Format(rowTime)), journal.DeleteRows(hourTable, now.Add(-hoursKept).Format(rowTime)))
	}
	return true, err
}

// row encodes a tally, with the users of most requests alone.
func (t *tally) row() []byte {
	short := *t
	if len(t.Users) > topKept {
		short.Users = map[string]int64{}
		for _, u := range top(t.Users, topKept, func(n int64) int64 { return n }) {
			short.Users[u] = t.Users[u]
		}
	}
	b, err := json.Marshal(&short)
	if err != nil {
		panic(err) // maps of numbers can always be encoded
	}
	return b
}

// top returns the keys of the greatest values, the greatest first.
func top[V any](m map[string]V, n int, value func(V) int64) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(value(m[b]), value(m[a])), cmp.Compare(a, b))
	})
	return keys[:min(n, len(keys))]
}
