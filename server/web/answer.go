package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"reeve/server/limit"
	"reeve/store"
)

// A client that does not read its responses makes the server keep them. Their memory has a limit,
// in total, per address and per user. Short responses over HTTP/1.1 do not count: the limit of
// connections bounds those. An HTTP/2 connection carries many requests, so each counts from its
// beginning, whatever it answers.
const (
	answerMemory       = 20 << 20         // bytes of memory of all responses being sent
	answersPerAddress  = answerMemory / 2 // bytes of one address
	answersPerUser     = answerMemory / 4 // bytes of one user or key
	freeAnswer         = 16 << 10         // bytes of a response that do not count
	heavyAnswer        = 128 << 10        // bytes of a response that is made in turn
	unknownSize        = heavyAnswer + 1  // size of the last response of a route without one
	maxBuffer          = 64 << 10         // capacity of a buffer from which a short response is copied
	streamCost         = 16 << 10         // memory of an HTTP/2 request in bytes: two goroutines, buffers, headers
	answerGrace        = 10 * time.Second // for a response that counts, in addition to its time at the minimum rate
	ExportMemory       = 512 << 10        // bytes that an export keeps while its client reads
	maxRefusals        = 128              // HTTP/2 requests being told that the limit is reached
	maxStreams         = 32               // concurrent requests on an HTTP/2 connection
	refusalsPerAddress = maxRefusals / 2
)

// HoldAnswer takes n bytes of memory for a response from the limit until the request ends, and
// moves the deadline of the response so that a client must read it.
func (req *Request) HoldAnswer(n int) error {
	if n <= freeAnswer {
		req.shrinkAnswer(0)
		return nil
	}
	if err := req.reserveAnswer(int64(n)); err != nil {
		return err
	}
	// It fails only without a connection, in a test.
	http.NewResponseController(&req.Writer).SetWriteDeadline(time.Now().Add(answerTime(n)))
	return nil
}

// reserveAnswer takes n bytes from the limit, in place of the bytes that the request holds for its
// response. The response to a write is never refused: the caller must learn that it was carried
// out.
func (req *Request) reserveAnswer(n int64) error {
	n = min(n, answersPerUser) // a larger one is possible, but only alone
	if req.answer == nil {
		req.answer = &held{
			limit:  req.Server.Limits.answers,
			shares: req.shares(answersPerAddress, answersPerUser),
		}
		req.held = append(req.held, req.answer.release)
	}

	a := req.answer
	switch more := n - a.n; {
	case more <= 0:
		a.limit.Release(-more, a.shares...)
	case req.Route.Method != http.MethodGet && req.Route.changes():
		a.limit.Force(more, a.shares...)
	default:
		if err := a.limit.Acquire(more, a.shares...); err != nil {
			return err
		}
	}

	a.n = n
	return nil
}

// shrinkAnswer gives back what a response no longer takes, which has n bytes now.
func (req *Request) shrinkAnswer(n int) {
	if a := req.answer; a != nil && int64(n) < a.n {
		a.limit.Release(a.n-int64(n), a.shares...)
		a.n = int64(n)
	}
}

// answerTime returns the maximum time for sending a response of n bytes.
func answerTime(n int) time.Duration {
	return answerGrace + time.Duration(n)*(limit.PaceTime/limit.PaceBytes)
}

// takeTurn waits until the request may make its response, if that is likely to be large: so few are
// made at once that a flood of them needs little more memory than one. A request with a body takes
// no turn, since its client decides how long the body takes.
func (req *Request) takeTurn() {
	if req.Route.Method == http.MethodGet && req.Route.Raw == nil &&
		(req.size.Load() > heavyAnswer || largePage(req.HTTP.URL.RawQuery)) {
		req.turn = req.Server.making
		req.turn <- struct{}{}
	}
}

// expectAnswer takes memory for a response of the size that the last one of the route had, if that
// was large. So a response that the limit leaves no memory for is not made in the first place.
func (req *Request) expectAnswer(out *Envelope) error {
	n := req.size.Load()
	if req.turn == nil || n <= heavyAnswer || n == unknownSize {
		return nil
	}
	if err := req.reserveAnswer(n); err != nil {
		return err
	}
	out.Bytes.Grow(int(n)) // otherwise it grows in steps, which need twice the memory
	return nil
}

// leaveTurn ends what takeTurn began, if it did.
func (req *Request) leaveTurn() {
	if req.turn != nil {
		<-req.turn
		req.turn = nil
	}
}

// noteSize records how large the response was. Small ones are all alike, so that requests at once
// seldom write the same memory.
func (req *Request) noteSize(n int) {
	if n <= heavyAnswer {
		n = 0
	}
	if was := req.size.Load(); was != int64(n) {
		req.size.Store(int64(n))
	}
}

// largePage reports whether a query may ask for a large page of a list.
func largePage(query string) bool {
	if !strings.Contains(query, "pageSize") && !strings.Contains(query, "%") {
		return false
	}
	values, err := url.ParseQuery(query)
	return err == nil && slices.ContainsFunc(values["pageSize"], func(size string) bool {
		return len(size) > 2
	})
}

// placeKey is the context key of the function that releases the place of an HTTP/2 request.
type placeKey struct{}

// boundStreams returns a handler that counts HTTP/2 requests in the limit of responses. Beyond it,
// a request is refused; beyond the limit of refusals, it is reset without a response.
func (s *Server) boundStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}

		handler, client := next, limit.ClientKey(s.clientAddr(r))
		place := &held{
			limit:  s.Limits.answers,
			n:      streamCost,
			shares: []limit.Share{{Client: client, Most: answersPerAddress}},
		}
		if err := place.acquire(); err != nil {
			place = &held{
				limit:  s.Limits.refusals,
				n:      1,
				shares: []limit.Share{{Client: client, Most: refusalsPerAddress}},
			}
			if place.acquire() != nil {
				panic(http.ErrAbortHandler)
			}
			handler = s.refuse(err)
		}

		defer place.release()
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), placeKey{}, place)))
		// A short response waits in a buffer for the end of the handler, and then for the client.
		// It must not wait when the place is free already.
		http.NewResponseController(w).Flush() // fails only if the client is gone
	})
}

// LeavePlace releases what a request holds that counts in a limit of its own, because it lasts
// long.
func (req *Request) LeavePlace() {
	req.leaveTurn()
	if place, ok := req.HTTP.Context().Value(placeKey{}).(*held); ok {
		place.release()
	}
}

// longAnswer is a response that may take hours, as long as its reader keeps up the
// minimum rate. It stops if the caller loses the permission.
type longAnswer struct {
	req  *Request
	w    http.ResponseWriter
	pace *limit.Pace
	sent int
}

func NewLongAnswer(req *Request, w http.ResponseWriter) *longAnswer {
	control := http.NewResponseController(w)
	return &longAnswer{req: req, w: w, pace: limit.NewPace(req.Server.Grace, func(deadline time.Time) {
		control.SetWriteDeadline(deadline) // fails only without a connection, in a test
	})}
}

func (a *longAnswer) Write(p []byte) (int, error) {
	if a.sent >= askEvery {
		a.sent = 0
		if err := a.req.Server.DB.View(store.Anonymous, a.req.Proceed); err != nil {
			return 0, err
		}
	}
	n, err := a.w.Write(p)
	a.sent += n
	a.pace.Passed(n)
	return n, err
}

// askEvery is the number of bytes of a long response after which the request is
// authorized again.
const askEvery = 1 << 20
