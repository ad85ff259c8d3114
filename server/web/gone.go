package web

import (
	"context"
	"errors"

	"reeve/store/errs"
)

// statusGone is the status with which a request is counted whose client has closed the
// connection before the response was complete. It is nginx's, and never sent.
const statusGone = 499

// abandoned returns the error of a request that failed because its client has closed
// the connection or reads too slowly; nil if it failed for another reason: an error of
// the disk counts even if the client is gone.
func (req *Request) abandoned(err error) error {
	canceled := errors.Is(err, context.Canceled) && req.HTTP.Context().Err() != nil
	unsent := req.Writer.err != nil && errors.Is(err, req.Writer.err)
	if err == nil || !canceled && !unsent {
		return nil
	}
	return errs.New(errs.Malformed,
		"the client closed the connection before the response was complete").Coded("client_closed").Because(err)
}
