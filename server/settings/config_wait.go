package settings

import (
	"context"
	"net/http"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// wait waits until the response is another one than the client has, and writes it, or 304 when the
// time is over or the server shuts down. The caller is authorized again whenever something was
// changed, and at the end.
func (c *configRead) wait(seconds int64, out *web.Envelope) error {
	req := c.req
	if err := changes.HoldStream(req); err != nil {
		return err
	}

	c.reads.streams.Enter()
	defer c.reads.streams.Leave()
	req.Opened = max(time.Since(req.Begun), 1)
	limit := time.Duration(seconds) * c.reads.streams.Second
	control := http.NewResponseController(&req.Writer)
	control.SetReadDeadline(time.Time{}) // both fail only without a connection, in a test
	control.SetWriteDeadline(time.Now().Add(limit + changes.StreamWrite))
	over := time.NewTimer(limit)
	defer over.Stop()
	halted := c.reads.streams.Halted()
	for last := false; ; {
		if err := req.Server.NotServing(); err != nil {
			return err
		}
		woken, known := c.reads.streams.Wake(), c.etag
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
		case <-halted:
			last = true
		case <-over.C:
			last = true
		case <-c.reads.streams.Ended:
			last = true
		case <-req.HTTP.Context().Done():
			return context.Canceled
		}
	}
}

// again authorizes the caller again, selects what it gets now and calls then. The operations are
// not recorded as those of the request, which may wait for long.
func (c *configRead) again(then func(tx *store.Tx) error) error {
	return c.req.Server.DB.View(store.Anonymous, func(tx *store.Tx) error {
		actor, err := c.req.Renew(tx)
		if err == nil {
			err = c.choose(tx, actor)
		}
		if err != nil {
			return err
		}
		return then(tx)
	})
}

// reveal writes the response, once the change log says that its secrets are read. It decrypts them
// in the transaction in which the caller was authorized last.
func (c *configRead) reveal(out *web.Envelope) error {
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
	return errs.New(errs.Busy, "the settings are being changed too often; try again in a moment").After(time.Second)
}

// maxRevealTries is how often secrets may change while their reading is being added to the change
// log.
const maxRevealTries = 5
