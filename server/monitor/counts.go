package monitor

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Requests are counted by minute and by hour, in rows of the journal. Counts are small,
// include every request, and are kept longer than events.

const (
	minuteTable, hourTable = "minute", "hour"
	minutesKept            = 3 * 24 * time.Hour
	hoursKept              = 90 * 24 * time.Hour
	maxCountedUsers        = 1000                // maximum number of users counted in one minute
	topKept                = 20                  // maximum number of users in a row
	rowTime                = "2006-01-02T15:04Z" // keys of rows
)

// Durations of requests are counted in buckets that grow by a fifth: bucket n holds
// durations up to 0.05 ms × 1.2ⁿ.
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

// bucketTop returns the longest duration of a bucket.
func bucketTop(n int) time.Duration {
	return time.Duration(float64(bucketBase) * math.Pow(bucketStep, float64(n)))
}

// counts are the counts of requests in a period.
type counts struct {
	Requests  int64                   `json:"requests"`
	Classes   [6]int64                `json:"classes"` // counts by first digit of the status; 0: aborted
	Durations map[int]int64           `json:"durations"`
	Routes    map[string]*routeCounts `json:"routes"`
	Users     map[string]int64        `json:"users"` // key: realm, space, username
}

// routeCounts are the counts of one route.
type routeCounts struct {
	Requests int64 `json:"requests"`
	Failed   int64 `json:"failed"`
	Micros   int64 `json:"us"`
	Slowest  int64 `json:"slowest_us"`
}

func newCounts() *counts {
	return &counts{
		Durations: map[int]int64{},
		Routes:    map[string]*routeCounts{},
		Users:     map[string]int64{},
	}
}

func (c *counts) add(other *counts) {
	c.Requests += other.Requests
	for i, n := range other.Classes {
		c.Classes[i] += n
	}
	for bucket, n := range other.Durations {
		c.Durations[bucket] += n
	}
	for route, sum := range other.Routes {
		c.addRoute(route, sum)
	}
	for user, n := range other.Users {
		c.Users[user] += n
	}
}

func (c *counts) addRoute(name string, sum *routeCounts) {
	all := c.Routes[name]
	if all == nil {
		all = &routeCounts{}
		c.Routes[name] = all
	}
	all.Requests += sum.Requests
	all.Failed += sum.Failed
	all.Micros += sum.Micros
	all.Slowest = max(all.Slowest, sum.Slowest)
}

// quantile returns a quantile of the durations, at most a fifth too long.
func (c *counts) quantile(part float64) time.Duration {
	var all, seen int64
	for _, n := range c.Durations {
		all += n
	}
	for bucket := range buckets {
		if seen += c.Durations[bucket]; all > 0 && float64(seen) >= part*float64(all) {
			return bucketTop(bucket)
		}
	}
	return 0
}

// subtract subtracts counts that will be added again. Slowest stays.
func (c *counts) subtract(other *counts) {
	c.Requests -= other.Requests
	for i, n := range other.Classes {
		c.Classes[i] -= n
	}

	for bucket, n := range other.Durations {
		c.Durations[bucket] -= n
	}

	for route, sum := range other.Routes {
		if had := c.Routes[route]; had != nil {
			had.Requests -= sum.Requests
			had.Failed -= sum.Failed
			had.Micros -= sum.Micros
		}
	}

	for user, n := range other.Users {
		if c.Users[user] -= n; c.Users[user] <= 0 {
			delete(c.Users, user) // a row has only the users with the most requests
		}
	}
}

// row encodes the counts, with only the users that have the most requests.
func (c *counts) row() []byte {
	short := *c
	if len(c.Users) > topKept {
		short.Users = map[string]int64{}
		for _, u := range top(c.Users, topKept, func(n int64) int64 { return n }) {
			short.Users[u] = c.Users[u]
		}
	}
	b, err := json.Marshal(&short)
	if err != nil {
		panic(err) // maps of numbers can be encoded
	}
	return b
}

// top returns the keys of the n largest values in descending order.
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
