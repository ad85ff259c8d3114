package reeve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventOpen is the type of the first event of Events: from here on, no event is lost. Its data is
// EventsOpened.
const EventOpen = "open"

// EventsOpened says which of the wanted types of events can come.
type EventsOpened struct {
	Types   []string `json:"types"`   // types that can come
	Limited []string `json:"limited"` // those of them that come only for some records, such as those in the data scope
	All     int      `json:"all"`     // 1 if the data scope of the key is all
	Missing []struct {
		Type       string `json:"type"`
		Permission string `json:"permission"` // missing permission; empty if none would do
		Reason     string `json:"reason"`
	} `json:"missing"` // types that can't come
}

const (
	streamIdle    = 45 * time.Second // silence after which a stream is dead; a comment comes every 15 s
	maxStreamWait = 5 * time.Minute  // a longer Retry-After is cut
)

// Events follows changes in Reeve as they are committed. Types are such as "user.updated" or
// "role.*"; none are all. The first event is EventOpen: read what you keep a copy of after it.
//
//	for event, err := range client.Events(ctx, "user.*") {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// After a failure that may pass, such as a server that restarts, Events continues without a gap
// behind the last event, after a pause that doubles up to 30 s; an entry with several events can
// come twice. It ends when ctx ends, without an error, and with an *Error if another attempt would
// not help:
//
//   - Status 401 or 403: the key is not valid, or can't get any event of one of the types, because
//     it lacks a permission. If it can get only some of several types, the logger has a warning.
//   - Status 400 or 422: a type is not one.
//   - Status 410: the events since the last one are no longer available. Read your data again.
func (c *Client) Events(ctx context.Context, types ...string) iter.Seq2[Event, error] {
	return c.EventsAfter(ctx, "", types...)
}

// EventsAfter is Events from a position, the ID of the last event that has been processed; "" is
// now.
func (c *Client) EventsAfter(ctx context.Context, id string, types ...string) iter.Seq2[Event,
	error] {
	return func(yield func(Event, error) bool) {
		s := &eventStream{client: c, types: types, last: id, retry: followMin, yield: yield}
		s.run(ctx)
	}
}

// eventStream is a loop over events.
type eventStream struct {
	client *Client
	types  []string
	yield  func(Event, error) bool

	last     string        // position: ID of the last event
	retry    time.Duration // first pause, which the server can set
	failures int           // connections in a row that were not opened
	opened   bool          // whether one was opened
}

var errLoopEnded = errors.New("the loop of the caller has ended")

// run connects again and again until the caller's loop, the context or the stream ends.
func (s *eventStream) run(ctx context.Context) {
	for {
		err := s.connect(ctx)
		if ctx.Err() != nil || err == errLoopEnded {
			return
		}

		var failed *Error
		if errors.As(err, &failed) && s.isFinal(failed) {
			s.yield(Event{}, failed)
			return
		}
		if err != nil && s.client.warned.now() {
			s.client.logger.Warn("reeve: events can't be read; trying again", "error", err)
		}

		pause := min(s.retry<<min(s.failures, 10), followMax) + jitter(s.retry)
		if failed != nil {
			pause = max(pause, min(failed.RetryAfter, maxStreamWait))
		}
		s.failures++
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// isFinal reports whether another attempt would fail in the same way. What does not come from Reeve
// may be of a proxy while Reeve restarts, unless it is the first response.
func (s *eventStream) isFinal(e *Error) bool {
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden,
		e.Status == http.StatusUnprocessableEntity, errors.Is(e, errTooLarge):
		return true
	case e.Status == 0, e.Status == http.StatusTooManyRequests, e.Status >= 500:
		return false
	}
	return e.Code != badResponse || !s.opened
}

// connect reads a stream to its end. The error is nil if it has been opened, and not been refused
// since.
func (s *eventStream) connect(ctx context.Context) error {
	c := s.client
	a := c.newAttempt(http.MethodGet, "/system/event")
	a.header.Set("Accept", "text/event-stream")
	if s.last != "" {
		a.header.Set("Last-Event-ID", s.last)
	}
	if len(s.types) > 0 {
		a.target += "?" + url.Values{"types": {strings.Join(s.types, ",")}}.Encode()
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(c.timeout, func() { cancel(context.DeadlineExceeded) })
	defer idle.Stop()
	req, err := http.NewRequestWithContext(ctx, a.method, a.target, nil)
	if err != nil {
		return err
	}

	req.Header = a.header
	c.commits.add(req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return c.unanswered(a, err)
	}

	defer res.Body.Close()
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if res.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return s.read(a, idle, res.Body)
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // the status says enough
	return (&response{res.StatusCode, res.Header, body}).failure(a)
}

// read reads the events of a response, in the format of Server-Sent Events.
func (s *eventStream) read(a *attempt, idle *time.Timer, body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxResponse)
	var kind, data string
	id := s.last
	for lines.Scan() {
		idle.Reset(streamIdle)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data += value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil && ms > 0 {
				s.retry = min(time.Duration(ms)*time.Millisecond, followMax)
			}
		case "": // the end of an event, or a comment
			if lines.Text() != "" {
				continue
			}
			s.last = id
			idle.Stop() // while the caller processes the event
			if err := s.dispatch(a, kind, data); err != nil {
				return err
			}
			idle.Reset(streamIdle)
			kind, data = "", ""
		}
	}

	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return s.client.unanswered(a, errTooLarge)
	}
	return nil
}

// dispatch passes an event on.
func (s *eventStream) dispatch(a *attempt, kind, data string) error {
	if data == "" { // a heartbeat, which has a position only
		return nil
	}

	var change struct {
		At     time.Time `json:"at"`
		Commit string    `json:"commit"`
	}
	opened := new(EventsOpened)
	err := json.Unmarshal([]byte(data), &change)
	if kind == EventOpen && err == nil {
		err = json.Unmarshal([]byte(data), opened)
	}
	if err != nil {
		return (&response{status: http.StatusOK}).unexpected(a, err)
	}

	s.client.commits.note(change.Commit)
	if kind == EventOpen {
		s.failures = 0
		if err := s.checkTypes(a, opened); err != nil || s.opened {
			return err
		}
		s.opened = true
	}
	if !s.yield(Event{s.last, kind, change.At, json.RawMessage(data)}, nil) {
		return errLoopEnded
	}
	return nil
}

// checkTypes returns an error if no event of one of the wanted types can come, so that the caller
// does not wait in vain. It warns if only some of several types can come.
func (s *eventStream) checkTypes(a *attempt, opened *EventsOpened) error {
	for _, want := range s.types {
		object, isAll := strings.CutSuffix(want, "*")
		matches := func(kind string) bool {
			return kind == want || isAll && strings.HasPrefix(kind, object)
		}
		if slices.ContainsFunc(opened.Types, matches) {
			continue
		}
		for _, missing := range opened.Missing {
			if matches(missing.Type) {
				return &Error{
					Method:  a.method,
					Path:    a.path,
					Status:  http.StatusForbidden,
					Code:    "forbidden",
					Message: fmt.Sprintf("no event of the type %s can come: %s", want, missing.Reason),
				}
			}
		}
	}

	if len(s.types) > 0 && len(opened.Missing) > 0 && !s.opened {
		var missing []string
		for _, one := range opened.Missing {
			missing = append(missing, one.Type+": "+one.Reason)
		}
		s.client.logger.Warn("reeve: some of the events can't come", "missing", missing)
	}
	return nil
}
