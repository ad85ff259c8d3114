package ops

import (
	"encoding/json"
	"reflect"

	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// MonitorPage is the output of a list of events.
type MonitorPage[T any] struct {
	web.Page[T]
	Node         string     `json:"node" doc:"Name of the node that answers, whose events these are; empty for a server that is the only one"`
	ScannedUntil store.Time `json:"scanned_until" null:"true" doc:"Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete"`
}

// monitorList returns a GET route that lists the events of one kind, newest first.
func monitorList[T any](kind, title string, columns ...string) web.Route {
	info := &web.ListInfo{Keywords: []string{"every text of the event"}, Order: "newest first",
		Columns: []web.ColumnInfo{
			{Name: "recorded_at", Uses: web.Ranged, Number: true}, {
				Name:   "user_id",
				Uses:   web.FieldUse,
				Number: true,
			}, {Name: "app_user_id", Uses: web.FieldUse, Number: true}, {
				Name:   "min_duration_ms",
				Uses:   web.Param,
				Number: true,
			},
			{Name: "status", Uses: web.FieldUse, Number: false}, {
				Name:   "slow",
				Uses:   web.FieldUse,
				Number: false,
			}, {Name: "request_id", Uses: web.FieldUse, Number: false},
		}}
	for _, name := range columns {
		info.Columns = append(info.Columns, web.ColumnInfo{
			Name:   name,
			Uses:   web.FieldUse,
			Number: false,
		})
	}

	rt := web.Route{
		Method:  "GET",
		Path:    "/system/monitor/" + kind,
		Access:  "system.monitor." + kind,
		Title:   title,
		Output:  reflect.TypeFor[MonitorPage[T]](),
		List:    info,
		Options: web.Options{Unmonitored: true},
		Handler: "monitorList",
	}
	rt.Act = func(req *web.Request, out *web.Envelope) error {
		ask, err := info.Ask(req)
		if err != nil {
			return err
		}

		caller, err := req.Audience()
		if err != nil {
			return err
		}

		found, err := req.Server.Monitor.Search(events(ask, kind), caller)
		if err != nil {
			return err
		}

		web.WritePage(&out.Bytes, found.Events, nil, found.Total, ask, 0)
		out.Bytes.Truncate(out.Bytes.Len() - 1)
		rest, err := json.Marshal(struct {
			Node  string     `json:"node"`
			Until store.Time `json:"scanned_until"`
		}{req.Server.NodeName(), found.Until})
		out.Bytes.WriteByte(',')
		out.Bytes.Write(rest[min(1, len(rest)):])
		return err
	}

	return rt
}

// events converts a list query to a query for events.
func events(q *web.ListQuery, kind string) monitor.Query {
	events := monitor.RecentQuery(kind)
	if len(q.Ranges) > 0 {
		events.SetRange(q.Ranges[0].Low, q.Ranges[0].High)
	}
	events.Offset, events.Limit, events.Text = q.Offset(), q.Size, q.Search
	for _, of := range q.AnyOf {
		events.Conditions = append(events.Conditions, monitor.Condition{
			Column:  of.Column,
			Texts:   of.Texts,
			Numbers: of.Numbers,
		})
	}
	return events
}

// RequestStory is a request with everything it did.
type RequestStory struct {
	Request web.Encoded[monitor.RequestEvent] `json:"request"`
	Node    string                            `json:"node" doc:"Name of the node that answers, which has served the request; empty for a server that is the only one"`
	Events  []requestPart                     `json:"events" doc:"Events of the request, oldest first; cache and Redis events only with the data scope all"`
}

// requestPart is an event of any kind.
type requestPart struct {
	Kind  string `json:"kind" doc:"Kind of event: auth, query, cache or redis, as in the list of that name"`
	Event any    `json:"event"`
}

type requestDetailIn struct {
	ID string `path:"id" doc:"ID of the request's event, or its request_id"`
}

func getRequestDetail(req *web.Request, in *requestDetailIn) (*RequestStory, error) {
	caller, err := req.Audience()
	if err != nil {
		return nil, err
	}

	detail, err := req.Server.Monitor.Detail(in.ID, caller)
	if err != nil {
		return nil, err
	}
	if detail == nil {
		return nil, errs.New(errs.NotFound, "request %s not found; it may have expired",
			web.Truncate(in.ID, 64))
	}

	out := &RequestStory{
		Request: web.Encoded[monitor.RequestEvent]{JSON: detail.Request},
		Node:    req.Server.NodeName(),
		Events:  []requestPart{},
	}
	for _, e := range detail.Events {
		out.Events = append(out.Events, requestPart{e.Kind, e.JSON})
	}

	return out, nil
}
