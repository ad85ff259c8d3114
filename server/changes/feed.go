package changes

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"reeve/server/web"
)

const (
	EventStream = "text/event-stream"

	streamBeat  = 15 * time.Second // interval of heartbeats
	StreamWrite = 20 * time.Second // time for a write, after which a client is too slow and is disconnected

	// userStreams is the share of all streams that one user can have.
	userStreams = 4
)

// Feed is what an event stream sends to its caller. Its methods write to the buffer that Begin has
// got.
type Feed interface {
	// Begin authorizes the caller and writes what is sent first.
	Begin(out *bytes.Buffer) error
	// Next authorizes the caller again and writes what is new. It returns a channel that is closed
	// when there may be more; nil if there is more already.
	Next() (woken <-chan struct{}, err error)
	// ID returns the position at which a client can continue.
	ID() string
}

// LastEventID returns the position that the client sends in the header; "" for none.
func LastEventID(req *web.Request) string {
	if last := req.HTTP.Header["Last-Event-Id"]; len(last) > 0 {
		return last[0]
	}
	return ""
}

// served is an open event stream.
type served struct {
	all     *Streams
	req     *web.Request
	feed    Feed
	w       http.ResponseWriter
	control *http.ResponseController
	out     bytes.Buffer
}

// Serve sends a feed as Server-Sent Events until the client or the session ends. It counts in the
// limit of streams.
func (all *Streams) Serve(req *web.Request, feed Feed, w http.ResponseWriter) error {
	if err := HoldStream(req); err != nil {
		return err
	}

	all.Enter()
	defer all.Leave()
	st := &served{all: all, req: req, feed: feed, w: w, control: http.NewResponseController(w)}
	st.out.WriteString("retry: 2000\n")
	if err := feed.Begin(&st.out); err != nil {
		return err
	}

	st.control.SetReadDeadline(time.Time{}) // fails only without a connection, in a test
	h := w.Header()
	h.Set("Content-Type", EventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx
	h.Set("X-Request-Id", req.ID)
	req.Opened = max(time.Since(req.Begun), 1)
	if err := st.send(); err != nil {
		return nil // the client is gone
	}

	st.run()
	return nil
}

// run sends events until the client is gone, too slow or no longer permitted, or until the server
// shuts down or must not serve.
func (st *served) run() {
	halted := st.all.Halted()
	beat := time.NewTimer(st.all.Beat)
	defer beat.Stop()
	for {
		woken, err := st.feed.Next()
		if err != nil || st.req.Server.NotServing() != nil {
			return // the client reconnects, and gets the error if it remains
		}
		if st.out.Len() > 0 {
			if st.send() != nil {
				return
			}
			beat.Reset(st.all.Beat)
		}
		if woken == nil {
			continue
		}

		select {
		case <-woken:
		case <-beat.C:
			fmt.Fprintf(&st.out, ": heartbeat\nid: %s\n\n", st.feed.ID())
			beat.Reset(st.all.Beat)
			if st.send() != nil {
				return
			}
		case <-st.req.HTTP.Context().Done():
			return
		case <-halted:
			return
		case <-st.all.Ended:
			return
		}
	}
}

// send sends what has been written to out.
func (st *served) send() error {
	st.control.SetWriteDeadline(time.Now().Add(StreamWrite)) // fails only without a connection, in a test
	_, err := st.w.Write(st.out.Bytes())
	if st.out.Reset(); st.out.Cap() > 1<<10 {
		st.out = bytes.Buffer{}
	}
	if err == nil {
		err = st.control.Flush()
	}
	return err
}

// HoldStream acquires a place of an event stream, which requests that wait have, too. A user or an
// API key has at most a quarter of them, and so have all requests without a token together.
func HoldStream(req *web.Request) error {
	defer req.LeavePlace()
	most := max(req.Server.Limits.Streams.Total/userStreams, 1)
	if req.Session != nil {
		return req.HoldOne(req.Server.Limits.Streams, most)
	}
	return req.HoldOne(req.Server.Limits.Streams, most, "without a token")
}
