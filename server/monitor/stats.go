package monitor

import (
	"encoding/json"
	"sort"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

// Stats are counts and durations of requests. Requests that were not kept count in full.
type Stats struct {
	Node    string       `json:"node" doc:"Name of the node that answers, whose requests are counted; empty for a server that is the only one"`
	From    store.Time   `json:"from"`
	To      store.Time   `json:"to"`
	Step    int64        `json:"step" doc:"Interval between two points in seconds"`
	Series  []StatsPoint `json:"series" doc:"Points in order of time, without those that have no requests"`
	Total   *StatsPoint  `json:"total,omitempty"`
	Routes  []StatsRoute `json:"routes" doc:"The 20 routes with the largest total duration"`
	Users   []StatsUser  `json:"users" doc:"The 20 users with the most requests, approximately"`
	Dropped int64        `json:"dropped" doc:"Number of requests since start whose events were dropped"`
	Limited store.Flag   `json:"limited" doc:"1 if your data scope is limited: users has only users in it, and series, total, routes and dropped, which include other users, are left out"`
}

// StatsPoint describes the requests of one step. Durations are at most a fifth too long.
type StatsPoint struct {
	Time     store.Time `json:"time" doc:"Start of the step"`
	Requests int64      `json:"requests"`
	OK       int64      `json:"ok" doc:"Number of responses with 2xx or 3xx"`
	Refused  int64      `json:"refused" doc:"Number of responses with 4xx"`
	Failed   int64      `json:"failed" doc:"Number of responses with 5xx, or aborted"`
	P50MS    float64    `json:"p50_ms"`
	P95MS    float64    `json:"p95_ms"`
	P99MS    float64    `json:"p99_ms"`
}

// StatsRoute describes the requests of one route.
type StatsRoute struct {
	Route     string  `json:"route"`
	Requests  int64   `json:"requests"`
	Failed    int64   `json:"failed" doc:"Number of responses with 4xx or 5xx, or aborted"`
	MeanMS    float64 `json:"mean_ms"`
	SlowestMS float64 `json:"slowest_ms"`
}

// StatsUser is the number of requests of one user.
type StatsUser struct {
	Realm    string `json:"realm"`
	Username string `json:"username"`
	Requests int64  `json:"requests"`
}

// statsTop is the maximum number of routes and users in Stats.
const statsTop = 20

// Stats returns the statistics of a period, as far as the caller may see them. For a period
// that starts when only hours are kept, a step is at least an hour.
func (m *Monitor) Stats(from, to time.Time, step time.Duration, caller *Audience) (*Stats, error) {
	out := &Stats{
		From:    kv.TimeOf(from),
		To:      kv.TimeOf(to),
		Series:  []StatsPoint{},
		Routes:  []StatsRoute{},
		Users:   []StatsUser{},
		Dropped: int64(m.dropped.Load()),
	}

	table := minuteTable
	if from.Before(time.Now().Add(-minutesKept)) {
		table, step = hourTable, max(time.Hour, step.Round(time.Hour))
	}

	out.Step = int64(step / time.Second)
	steps, all := m.countsBetween(table, from, to, step)
	if err := caller.filterUsers(all.Users); err != nil {
		return nil, err
	}

	for _, name := range top(all.Users, statsTop, func(n int64) int64 { return n }) {
		realm, username, _ := strings.Cut(name, " ")
		out.Users = append(out.Users, StatsUser{realm, username, all.Users[name]})
	}

	if !caller.SeesAll() {
		out.Limited, out.Dropped = true, 0
		return out, nil
	}

	for at, c := range steps {
		out.Series = append(out.Series, c.point(at))
	}

	sort.Slice(out.Series, func(i, j int) bool { return out.Series[i].Time < out.Series[j].Time })
	total := all.point(from)
	out.Total = &total
	for _, name := range top(all.Routes, statsTop, func(r *routeCounts) int64 { return r.Micros }) {
		r := all.Routes[name]
		out.Routes = append(out.Routes,
			StatsRoute{name, r.Requests, r.Failed, float64(r.Micros/max(1, r.Requests)) / 1000,
				float64(r.Slowest) / 1000})
	}

	return out, nil
}

// countsBetween returns the stored counts of a period, by step and in total.
func (m *Monitor) countsBetween(table string, from, to time.Time,
	step time.Duration) (steps map[time.Time]*counts, all *counts) {
	steps, all = map[time.Time]*counts{}, newCounts()
	j := m.journal.Load()
	if j == nil {
		return steps, all
	}

	for key, row := range j.Rows(table, from.UTC().Truncate(step).Format(rowTime),
		to.UTC().Format(rowTime)) {
		at, err := time.Parse(rowTime, key)
		c := newCounts()
		if err != nil || json.Unmarshal(row, c) != nil {
			continue // a damaged row is a gap
		}
		at = at.Truncate(step)
		if steps[at] == nil {
			steps[at] = newCounts()
		}
		steps[at].add(c)
		all.add(c)
	}

	return steps, all
}

func (c *counts) point(at time.Time) StatsPoint {
	return StatsPoint{
		Time:     kv.TimeOf(at),
		Requests: c.Requests,
		OK:       c.Classes[2] + c.Classes[3],
		Refused:  c.Classes[4],
		Failed:   c.Classes[0] + c.Classes[5],
		P50MS:    ms(c.quantile(0.5)),
		P95MS:    ms(c.quantile(0.95)),
		P99MS:    ms(c.quantile(0.99)),
	}
}
