package server

import (
	"context"
	"net/http"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// holdStream acquires a place of an event stream, which requests that wait have, too. A user or an API key has
// at most a quarter of them, and so have all requests without a token together.
func (req *Request) holdStream() error {
	defer req.leavePlace()
	most := max(req.s.limits.streams.total/userStreams, 1)
	if req.Session != nil {
		return req.hold(req.s.limits.streams, 1, share{userKey(req.Actor), most})
	}
	return req.hold(req.s.limits.streams, 1, share{clientKey(req.Addr), most}, share{"without a token", most})
}

// wait waits until the response is another one than the client has, and writes it, or 304 when the time
// is over or the server shuts down. The caller is authorized again whenever something was changed, and
// at the end.
func (c *configRead) wait(seconds int64, out *envelope) error {
	req := c.req
	if err := req.holdStream(); err != nil {
		return err
	}
	req.s.streams.enter()
	defer req.s.streams.leave()
	req.opened = max(time.Since(req.begun), 1)
	limit := time.Duration(seconds) * req.s.streams.second
	control := http.NewResponseController(&req.w)
	control.SetReadDeadline(time.Time{}) // both fail only without a connection, in a test
	control.SetWriteDeadline(time.Now().Add(limit + streamWrite))
	over := time.NewTimer(limit)
	defer over.Stop()
	for last := false; ; {
		woken, known := req.s.streams.wake(), c.etag
		err := c.again(func(tx *store.Tx) error {
			if c.etag == known && last {
				return c.respond(tx, out)
			}
			return nil
		})
		if err != nil || last && c.etag == known {
			return err
		}
		if c.etag != known {
			return c.reveal(out)
		}
		select {
		case <-woken:
		case <-over.C:
			last = true
		case <-req.s.streams.ended:
			last = true
		case <-req.http.Context().Done():
			return context.Canceled
		}
	}
}

// again authorizes the caller again, selects what it gets now and calls then. The operations are not
// recorded as those of the request, which may wait for long.
func (c *configRead) again(then func(tx *store.Tx) error) error {
	return c.req.s.db.View(store.Anonymous, func(tx *store.Tx) error {
		actor, err := c.req.renew(tx)
		if err == nil {
			err = c.choose(tx, actor)
		}
		if err != nil {
			return err
		}
		return then(tx)
	})
}

// reveal writes the response, once the change log says that its secrets are read. It decrypts them in the
// transaction in which the caller was authorized last.
func (c *configRead) reveal(out *envelope) error {
	for range maxRevealTries {
		ready := false
		err := c.again(func(tx *store.Tx) error {
			if ready = c.isCurrent() || c.counted(tx.Now()); ready {
				return c.respond(tx, out)
			}
			return nil
		})
		if err != nil || ready {
			return err
		}
		if err := c.log(); err != nil {
			return err
		}
	}
	return errs.New(errs.Busy, "the settings are being changed too often; try again in a moment").After(limitRetry)
}

// maxRevealTries is how often secrets may change while their reading is being added to the change log.
const maxRevealTries = 5
