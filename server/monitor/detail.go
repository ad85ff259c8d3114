package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"reeve/store"
	"reeve/store/journal"
)

// Detail is a request with all its events.
type Detail struct {
	Request json.RawMessage // a RequestEvent
	Events  []DetailEvent   // oldest first
}

// DetailEvent is an event of a request, encoded.
type DetailEvent struct {
	Kind string
	JSON json.RawMessage
}

// Detail returns a request by the ID of its event or by its RequestID; nil if there is
// none, it has expired, or the caller may not see it.
func (m *Monitor) Detail(id string, caller *Audience) (*Detail, error) {
	j := m.journal.Load()
	if j == nil {
		return nil, nil
	}

	name, found := requestID(j, id)
	if !found {
		return nil, nil
	}

	var out *Detail
	var at []store.Time
	for _, e := range j.Group(name) {
		h, _ := readHeader(e.Head)
		if !caller.seesKind(e.Kind) {
			continue
		}
		if e.Kind == RequestKind {
			if !caller.sees(h) {
				return nil, caller.err
			}
			out = &Detail{Request: withID(e), Events: []DetailEvent{}}
			continue
		}
		if out == nil {
			return nil, nil // the event of the request has expired
		}

		i, _ := slices.BinarySearchFunc(at, h.at, func(a, b store.Time) int {
			if a <= b { // events of the same time keep the order in which they were stored
				return -1
			}
			return 1
		})
		at = slices.Insert(at, i, h.at)
		out.Events = slices.Insert(out.Events, i, DetailEvent{e.Kind, withID(e)})
	}

	return out, nil
}

// requestID returns the RequestID of a request, given that or the ID of its event.
func requestID(j *journal.Journal, id string) (name string, found bool) {
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return id, true
	}
	event, found := j.Get(RequestKind, number)
	var head EventHead
	if !found || json.Unmarshal(event.Body, &head) != nil {
		return "", false
	}
	return head.RequestID, true
}

// withID returns the JSON object of a stored event with its ID as the first member.
func withID(e journal.Event) json.RawMessage {
	members := bytes.TrimPrefix(e.Body, []byte("{"))
	members = bytes.TrimPrefix(members, []byte(`"id":0,`)) // events stored by older versions
	return fmt.Appendf(nil, `{"id":%d,%s`, e.ID, members)
}
