package server

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"
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

var logStep = math.Log(bucketStep)

func bucketOf(d time.Duration) int {
	if d <= bucketBase {
		return 0
	}
	return min(buckets-1, int(math.Ceil(math.Log(float64(d)/float64(bucketBase))/logStep)))
}

// bucketTop is the longest duration of a bucket.
func bucketTop(n int) time.Duration {
	return time.Duration(float64(bucketBase) * math.Pow(bucketStep, float64(n)))
}

// tally is what is counted of the requests of some time.
type tally struct {
	Requests  int64                `json:"requests"`
	Classes   [6]int64             `json:"classes"` // by the first digit of the status
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
