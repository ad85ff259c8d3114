package server

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

var monitorRoutes = []Route{
	monitorList[requestEvent](requestKind, "List requests", "method", "route", "address"),
	unmonitored(free("GET", "/system/monitor/request/:id", "system.monitor.request", "Get a request with its events", joinRequest)),
	monitorList[authEvent](authKind, "List auth events", "type", "result", "ability", "username", "address", "route"),
	monitorList[queryEvent](queryKind, "List database operations", "connection", "statement", "mode", "plan", "n_plus_one", "route"),
	monitorList[cacheEvent](cacheKind, "List cache events", "cache", "type", "route"),
	monitorList[redisRecord](redisKind, "List Redis events", "connection", "type", "command"),
	unmonitored(free("GET", "/system/monitor/stats", "system.monitor.stats", "Get request statistics", monitorStats)),
	unmonitored(read("/system/monitor/trace", "system.monitor.trace", "List traces", listTraces)),
	unmonitored(free("POST", "/system/monitor/trace", "system.monitor.trace", "Start a trace", startTrace)),
	unmonitored(free("DELETE", "/system/monitor/trace/:id", "system.monitor.trace", "Stop a trace", stopTrace)),
	unmonitored(free("DELETE", "/system/monitor/trace", "system.monitor.trace", "Stop traces", stopTraces)),
}

type statsIn struct {
	From string `query:"from" doc:"a time or a date; an hour before to when absent"`
	To   string `query:"to" doc:"a time or a date; now when absent"`
	Step string `query:"step" doc:"seconds between two points, from 60; about 60 points when absent"`
}

// statsOut are counts and times of requests, sampled ones counted in full.
type statsOut struct {
	From    store.Time   `json:"from"`
	To      store.Time   `json:"to"`
	Step    int64        `json:"step" doc:"seconds"`
	Series  []statsPoint `json:"series" doc:"without points in which nothing happened"`
	Total   *statsPoint  `json:"total,omitempty"`
	Routes  []statsRoute `json:"routes" doc:"the 20 that took most time in all"`
	Users   []statsUser  `json:"users" doc:"the 20 with most requests, about"`
	Dropped int64        `json:"dropped" doc:"requests since the start of which no events could be kept"`
	Limited store.Flag   `json:"limited" doc:"1 when the caller's data scope is limited: users are only those in it, and what cannot be told apart by user (series, total, routes, dropped) is left out"`
}

// statsPoint is what happened in one step. Times are right to a fifth.
type statsPoint struct {
	Time     store.Time `json:"time" doc:"when the step begins"`
	Requests int64      `json:"requests"`
	OK       int64      `json:"ok" doc:"answered with 2xx or 3xx"`
	Refused  int64      `json:"refused" doc:"answered with 4xx"`
	Failed   int64      `json:"failed" doc:"answered with 5xx, or broken off"`
	P50MS    float64    `json:"p50_ms"`
	P95MS    float64    `json:"p95_ms"`
	P99MS    float64    `json:"p99_ms"`
}

type statsRoute struct {
	Route     string  `json:"route"`
	Requests  int64   `json:"requests"`
	Failed    int64   `json:"failed" doc:"answered with 4xx or 5xx"`
	MeanMS    float64 `json:"mean_ms"`
	SlowestMS float64 `json:"slowest_ms"`
}

type statsUser struct {
	Realm    string `json:"realm"`
	Username string `json:"username"`
	Requests int64  `json:"requests"`
}

// maxPoints is how many steps an answer has at most.
const maxPoints = 2000

func (in *statsIn) read() (from, to time.Time, step time.Duration, err error) {
	faults := errs.Faults{}
	at := func(name, text string, end bool, otherwise time.Time) time.Time {
		if text == "" {
			return otherwise
		}
		t, err := bound(text, end, time.UTC)
		if err != nil {
			faults.Add(name, "must be a time like 2025-05-08T03:04:05Z or a date like 2025-05-08")
		}
		return t.Std()
	}
	to = at("to", in.To, true, time.Now().UTC())
	from = at("from", in.From, false, to.Add(-time.Hour))
	step = max(time.Minute, to.Sub(from)/60).Round(time.Minute)
	if in.Step != "" {
		seconds, err := strconv.ParseInt(in.Step, 10, 32)
		if err != nil || seconds < 60 || seconds%60 != 0 {
			faults.Add("step", "must be a multiple of 60")
		}
		step = time.Duration(seconds) * time.Second
	}
	if len(faults) == 0 && from.After(to) {
		faults.Add("from", "must not be after to")
	}
	if len(faults) == 0 && to.Sub(from)/step > maxPoints {
		faults.Add("step", "makes more than %d points", maxPoints)
	}
	return from, to, step, faults.Err(errs.Malformed)
}

func monitorStats(req *Request, in *statsIn) (*statsOut, error) {
	from, to, step, err := in.read()
	if err != nil {
		return nil, err
	}
	viewer, err := req.audience()
	if err != nil {
		return nil, err
	}
	m := req.s.monitor
	out := &statsOut{From: store.TimeOf(from), To: store.TimeOf(to), Series: []statsPoint{}, Routes: []statsRoute{}, Users: []statsUser{}, Dropped: int64(m.dropped.Load())}
	table := minuteTable
	if from.Before(time.Now().Add(-minutesKept)) {
		table, step = hourTable, max(time.Hour, step.Round(time.Hour))
	}
	out.Step = int64(step / time.Second)
	steps, all := map[time.Time]*tally{}, newTally()
	if j := m.journal.Load(); j != nil {
		for key, row := range j.Rows(table, from.UTC().Truncate(step).Format(rowTime), to.UTC().Format(rowTime)) {
			at, err := time.Parse(rowTime, key)
			t := newTally()
			if err != nil || json.Unmarshal(row, t) != nil {
				continue // a damaged row is a gap
			}
			at = at.Truncate(step)
			if steps[at] == nil {
				steps[at] = newTally()
			}
			steps[at].add(t)
			all.add(t)
		}
	}
	if err := viewer.names(all.Users); err != nil {
		return nil, err
	}
	for _, name := range top(all.Users, 20, func(n int64) int64 { return n }) {
		realm, username, _ := strings.Cut(name, " ")
		out.Users = append(out.Users, statsUser{realm, username, all.Users[name]})
	}
	if !viewer.scope.All {
		out.Limited, out.Dropped = true, 0
		return out, nil
	}
	for at, t := range steps {
		out.Series = append(out.Series, t.point(at))
	}
	slices.SortFunc(out.Series, func(a, b statsPoint) int { return cmp.Compare(a.Time, b.Time) })
	total := all.point(from)
	out.Total = &total
	for _, name := range top(all.Routes, 20, func(r *routeSum) int64 { return r.Micros }) {
		r := all.Routes[name]
		out.Routes = append(out.Routes, statsRoute{name, r.Requests, r.Failed, float64(r.Micros/max(1, r.Requests)) / 1000, float64(r.Slowest) / 1000})
	}
	return out, nil
}

func (t *tally) point(at time.Time) statsPoint {
	return statsPoint{
		Time: store.TimeOf(at), Requests: t.Requests, OK: t.Classes[2] + t.Classes[3], Refused: t.Classes[4], Failed: t.Classes[0] + t.Classes[5],
		P50MS: ms(t.quantile(0.5)), P95MS: ms(t.quantile(0.95)), P99MS: ms(t.quantile(0.99)),
	}
}
