package server

import (
	"context"
	"errors"

	"reeve/store/errs"
)

// statusGone is the status under which a request is counted whose client has closed the
// connection before the answer was complete. It is nginx's; nobody is sent it.
const statusGone = 499

// abandoned returns the error of a request that failed because its client has closed
// the connection, or reads too slowly; nil if it failed for another reason. Only such
// errors count: what is wrong with the disk is wrong even if nobody waits for it.
func (req *Request) abandoned(err error) error {
	canceled := errors.Is(err, context.Canceled) && req.http.Context().Err() != nil
	unsent := req.w.err != nil && errors.Is(err, req.w.err)
	if err == nil || !canceled && !unsent {
		return nil
	}
	return errs.New(errs.Malformed, "the client closed the connection before the answer was complete").Coded("client_closed").Because(err)
}
