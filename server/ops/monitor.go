package ops

import (
	"strconv"
	"time"

	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func MonitorRoutes() []web.Route {
	return []web.Route{
		monitorList[monitor.RequestEvent](monitor.RequestKind, "List requests", "method", "route",
			"address"),
		web.Action("GET", "/system/monitor/request/:id", "system.monitor.request",
			"Get a request with its events", getRequestDetail, web.Options{
				Unmonitored: true,
				Note:        "404 if the request was not recorded or has expired.",
			}),
		monitorList[monitor.AuthEvent](monitor.AuthKind, "List auth events", "type", "result",
			"ability", "username", "address", "route"),
		monitorList[monitor.QueryEvent](monitor.QueryKind, "List database operations",
			"connection", "statement", "mode", "plan", "n_plus_one", "route"),
		monitorList[monitor.CacheEvent](monitor.CacheKind, "List cache events", "cache", "type",
			"route"),
		monitorList[monitor.RedisRecord](monitor.RedisKind, "List Redis events", "connection",
			"type", "command"),
		web.Action("GET", "/system/monitor/stats", "system.monitor.stats",
			"Get request statistics", monitorStats, web.Options{
				Unmonitored: true,
				Note:        "Returns counts and durations of requests over time, by route and by user.",
			}),
		web.Read("/system/monitor/trace", "system.monitor.trace", "List traces", listTraces,
			web.Options{
				Unmonitored: true,
				Note:        "Returns the traces in memory; a restart ends them.",
			}),
		web.Action("POST", "/system/monitor/trace", "system.monitor.trace", "Start a trace",
			startTrace, web.Options{
				Unmonitored: true,
				Note:        "Records every matching request in full, for a limited time.",
			}),
		web.Action("DELETE", "/system/monitor/trace/:id", "system.monitor.trace", "Stop a trace",
			stopTrace, web.Options{
				Unmonitored: true,
				Note:        "Matching requests are no longer recorded in full.",
			}),
		web.Action("DELETE", "/system/monitor/trace", "system.monitor.trace", "Stop traces",
			stopTraces, web.Options{Unmonitored: true}),
	}
}

type statsIn struct {
	From string `query:"from" doc:"Start of the period, a time or a date; one hour before to by default"`
	To   string `query:"to" doc:"End of the period, a time or a date; now by default"`
	Step string `query:"step" doc:"Interval between two points in seconds, a multiple of 60; by default the period has about 60 points"`
}

// maxPoints is the maximum number of steps in a response.
const maxPoints = 2000

// read returns the requested period and step, or their defaults.
func (in *statsIn) read() (from, to time.Time, step time.Duration, err error) {
	faults := errs.Faults{}
	at := func(name, text string, end bool, otherwise time.Time) time.Time {
		if text == "" {
			return otherwise
		}
		t, err := store.Bound(text, end, time.UTC)
		if err != nil {
			faults.Add(name,
				"must be a time such as 2025-05-08T03:04:05Z, or a date such as 2025-05-08")
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
		faults.Add("from", "must not be after the end time")
	}
	if len(faults) == 0 && to.Sub(from)/step > maxPoints {
		faults.Add("step", "must be larger: there would be more than %d points", maxPoints)
	}

	return from, to, step, faults.Err(errs.Malformed)
}

func monitorStats(req *web.Request, in *statsIn) (*monitor.Stats, error) {
	from, to, step, err := in.read()
	if err != nil {
		return nil, err
	}
	caller, err := req.Audience()
	if err != nil {
		return nil, err
	}
	stats, err := req.Server.Monitor.Stats(from, to, step, caller)
	if err == nil {
		stats.Node = req.Server.NodeName()
	}
	return stats, err
}
