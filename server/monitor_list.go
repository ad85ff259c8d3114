package server

import (
	"encoding/json"
	"fmt"
	"reflect"

	"reeve/server/monitor"
	"reeve/store"
	"reeve/store/errs"
)

// monitorPage is the output of a list of events.
type monitorPage[T any] struct {
	page[T]
	ScannedUntil store.Time `json:"scanned_until" null:"true" doc:"Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete"`
}

// fieldUse is the use of a column that is compared in the JSON of the event.
const fieldUse = param | filtered

// monitorList returns a GET route that lists the events of one kind, newest first.
func monitorList[T any](kind, title string, columns ...string) Route {
	info := &listInfo{keywords: []string{"every text of the event"}, order: "newest first", columns: []columnInfo{
		{"recorded_at", ranged, true}, {"user_id", fieldUse, true}, {"app_user_id", fieldUse, true}, {"min_duration_ms", param, true},
		{"status", fieldUse, false}, {"slow", fieldUse, false}, {"request_id", fieldUse, false},
	}}
	for _, name := range columns {
		info.columns = append(info.columns, columnInfo{name, fieldUse, false})
	}
	rt := Route{
		Method: "GET", Path: "/system/monitor/" + kind, Access: "system.monitor." + kind, Title: title,
		out: reflect.TypeFor[monitorPage[T]](), list: info, unmonitored: true, handler: "monitorList",
	}
	rt.act = func(req *Request, out *envelope) error {
		ask, err := info.ask(req)
		if err != nil {
			return err
		}
		caller, err := req.audience()
		if err != nil {
			return err
		}
		found, err := req.s.monitor.Search(ask.events(kind), caller)
		if err != nil {
			return err
		}
		writePage(&out.bytes, found.Events, nil, found.Total, ask, 0)
		out.bytes.Truncate(out.bytes.Len() - 1)
		until, err := json.Marshal(found.Until)
		fmt.Fprintf(&out.bytes, `,"scanned_until":%s}`, until)
		return err
	}
	return rt
}

// events converts a list query to a query for events.
func (q *listQuery) events(kind string) monitor.Query {
	events := monitor.RecentQuery(kind)
	if len(q.ranges) > 0 {
		events.SetRange(q.ranges[0].low, q.ranges[0].high)
	}
	events.Offset, events.Limit, events.Text = q.offset(), q.size, q.search
	for _, of := range q.anyOf {
		events.Conditions = append(events.Conditions, monitor.Condition{Column: of.column, Texts: of.texts, Numbers: of.numbers})
	}
	return events
}

// requestStory is a request with everything it did.
type requestStory struct {
	Request Encoded[monitor.RequestEvent] `json:"request"`
	Events  []requestPart                 `json:"events" doc:"Events of the request, oldest first; cache and Redis events only with the data scope all"`
}

// requestPart is an event of any kind.
type requestPart struct {
	Kind  string `json:"kind" doc:"Kind of event: auth, query, cache or redis, as in the list of that name"`
	Event any    `json:"event"`
}

type requestDetailIn struct {
	ID string `path:"id" doc:"ID of the request's event, or its request_id"`
}

func getRequestDetail(req *Request, in *requestDetailIn) (*requestStory, error) {
	caller, err := req.audience()
	if err != nil {
		return nil, err
	}
	detail, err := req.s.monitor.Detail(in.ID, caller)
	if err != nil {
		return nil, err
	}
	if detail == nil {
		return nil, errs.New(errs.NotFound, "request %s not found; it may have expired", truncate(in.ID, 64))
	}
	out := &requestStory{Request: Encoded[monitor.RequestEvent]{JSON: detail.Request}, Events: []requestPart{}}
	for _, e := range detail.Events {
		out.Events = append(out.Events, requestPart{e.Kind, e.JSON})
	}
	return out, nil
}
