package web

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"reeve/server/limit"
	"reeve/store/errs"
)

// Limits of a JSON body. A body takes memory as it arrives, and only what has arrived
// counts against the budget, so that slow senders cannot use it up. Small bodies do not
// count: the limit on connections bounds those. Neither does what a large body has beyond
// MaxBody and MaxValues, which few routes allow: maxLargeBodies bounds that.
const (
	MaxBody     = 1 << 20          // bytes, unless the route has a lower limit
	MaxForm     = 64 << 10         // bytes of a form that a person fills in
	maxSmall    = 4 << 10          // bytes, for routes with short bodies
	bodyTimeout = 30 * time.Second // maximum time for a body to arrive after the header
	bodyGrace   = 5 * time.Second  // in addition to the time that the body takes at the minimum rate

	freeBody    = 16 << 10       // bytes of a body that do not count
	BodyMemory  = 32 << 20       // bytes for all larger bodies
	BodyShare   = BodyMemory / 2 // bytes for those of one client
	bodyCost    = 4              // bytes of memory per byte of a body: the buffer doubles, and monitoring copies it
	valueCost   = 160            // approximate maximum of memory per value in bytes: an entry of a small map
	textCost    = 24             // bytes of memory per byte of a text in a body that is parsed, if people have written it
	LargeDecode = 64 << 10       // bytes above which the number of bodies decoded at once is limited
)

// readBody reads a JSON object; nil without a body.
func (req *Request) readBody() (map[string]any, error) {
	r := req.HTTP
	if r.ContentLength == 0 {
		return nil, nil
	}
	if r.Method == http.MethodGet {
		return nil, errs.New(errs.Malformed, "a GET request must not have a body")
	}

	b, err := req.readBytes(req.Route.MaxBody)
	if err != nil || len(bytes.TrimSpace(b)) == 0 {
		return nil, err
	}

	if len(b) <= MaxBody { // monitoring would copy a large one
		req.Observed.body = b
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		media != "application/json" {
		return nil, errs.New(errs.BadMedia, "the Content-Type of the body must be application/json")
	}

	value, err := req.decodeBody(b)
	if err != nil {
		return nil, err
	}

	object, ok := value.(map[string]any)
	if !ok {
		return nil, errs.New(errs.Malformed, "the body must be a JSON object")
	}

	return object, nil
}

// readBytes reads a body of at most most bytes.
func (req *Request) readBytes(most int64) ([]byte, error) {
	declared := req.HTTP.ContentLength
	if declared > most {
		return nil, errs.New(errs.TooLarge, "the body is %d bytes; at most %d are allowed",
			declared, most)
	}
	if declared < 0 {
		declared = most
	}

	arriving, shares := req.Server.Limits.Bodies, req.shares(MaxBodiesPerAddress, MaxBodiesPerUser)
	if err := arriving.Acquire(1, shares...); err != nil {
		return nil, err
	}

	defer arriving.Release(1, shares...)
	control := http.NewResponseController(&req.Writer)
	control.SetReadDeadline(time.Now().Add(bodyTime(declared))) // SetReadDeadline fails only without a connection, in a test
	defer control.SetReadDeadline(time.Time{})
	body := http.MaxBytesReader(&req.Writer, req.HTTP.Body, most)
	b := make([]byte, 0, min(declared+1, 512)) // one more, to see the end
	for {
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		var tooLarge *http.MaxBytesError
		switch {
		case err == io.EOF:
			req.bodyRead = true
			req.idempotency.add(b)
			return b, nil
		case errors.As(err, &tooLarge):
			return nil, errs.New(errs.TooLarge, "the body must be at most %d bytes", most)
		case err != nil:
			return nil, req.bodyFault(err)
		}

		if len(b) == cap(b) {
			if b, err = req.growBody(b, most+1); err != nil {
				return nil, err
			}
		}
	}
}

// growBody is grow for a JSON body, of at most most bytes. What is beyond MaxBody does not count in
// bytes, but as one of the large bodies.
func (req *Request) growBody(b []byte, most int64) ([]byte, error) {
	if cap(b) <= MaxBody {
		return req.grow(b, min(most, MaxBody+1), bodyCost)
	}
	if err := req.holdLarge(); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, min(int64(2*cap(b)), most)), b...), nil
}

// holdLarge makes the request one with a large body until it ends, once.
func (req *Request) holdLarge() error {
	if req.large {
		return nil
	}
	req.large = true
	return req.Hold(req.Server.Limits.LargeBodies, 1)
}

// grow returns a copy of a full buffer with twice the capacity, at most most bytes, and
// takes the increase from the budget, at cost bytes of memory per byte.
func (req *Request) grow(b []byte, most, cost int64) ([]byte, error) {
	size := min(int64(2*cap(b)), most)
	if err := req.holdMemory(cost * max(0, size-max(freeBody, int64(cap(b))))); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, size), b...), nil
}

// bodyTime returns the maximum time for a body of n bytes to arrive.
func bodyTime(n int64) time.Duration {
	return min(bodyTimeout, bodyGrace+time.Duration(n)*(limit.PaceTime/limit.PaceBytes))
}

// bodyFault returns the error for a body that could not be read.
func (req *Request) bodyFault(err error) error {
	if limit.TooSlow(err) {
		req.Server.Limits.Rate.Count()
		return errs.New(errs.Malformed, "the body arrived too slowly").Because(err)
	}
	return errs.New(errs.Malformed, "the body could not be read completely").Because(err)
}

// decodeBody decodes a body within the memory budget.
func (req *Request) decodeBody(b []byte) (any, error) {
	most := cmp.Or(req.Route.MaxValues, MaxValues)
	if len(b) > freeBody {
		values := 1 + bytes.Count(b, []byte(",")) + bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{")) // an upper bound
		if values > MaxValues && most > MaxValues {
			if err := req.holdLarge(); err != nil {
				return nil, err
			}
		}
		if err := req.holdMemory(int64(min(len(b), MaxBody) + valueCost*min(values, MaxValues))); err != nil {
			return nil, err
		}
	}
	defer req.Server.decodeTurn(len(b))()
	return ParseJSON(req.HTTP.Context(), b, most)
}

// decodeTurn waits until a body of n bytes may be decoded. The caller must call done
// afterwards.
func (s *Server) decodeTurn(n int) (done func()) {
	if n <= LargeDecode {
		return func() {}
	}
	s.decoding <- struct{}{}
	return func() { <-s.decoding }
}

// TextTurn waits until a text of n bytes in a body may be parsed, within the memory budget. A text
// that is made for it needs up to 200 times its size, so few are parsed at once. The caller must call
// done afterwards.
func (req *Request) TextTurn(n int) (done func(), err error) {
	if n > freeBody {
		if err := req.holdMemory(textCost * int64(n)); err != nil {
			return nil, err
		}
	}
	return req.Server.decodeTurn(n), nil
}

// holdMemory takes n bytes from the budget until the request ends.
func (req *Request) holdMemory(n int64) error {
	if n == 0 {
		return nil
	}
	return req.Hold(req.Server.Limits.BodyMemory, n,
		limit.Share{Client: req.ClientKey(), Most: BodyShare})
}
