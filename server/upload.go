package server

import (
	"errors"
	"io"
	"net/http"
	"time"

	"reeve/store/errs"
)

// file returns the content of the multipart field file, which must come first.
func (req *Request) file(maxBytes int64) (io.Reader, error) {
	http.NewResponseController(&req.w).SetReadDeadline(time.Now().Add(bodyTimeout)) // fails only where there is no connection, in a test
	req.http.Body = http.MaxBytesReader(&req.w, req.http.Body, maxBytes)
	parts, err := req.http.MultipartReader()
	if err != nil {
		return nil, errs.New(errs.BadMedia, "the body must be multipart/form-data with a field file")
	}
	part, err := parts.NextPart()
	if err != nil {
		return nil, uploadFault(err)
	}
	if part.FormName() != "file" {
		return nil, errs.Field(errs.Malformed, "file", "must be the first field of the form")
	}
	return part, nil
}

// uploadFault is the answer to a body that could not be read.
func uploadFault(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errs.New(errs.TooLarge, "the body has more than %d bytes", tooLarge.Limit)
	}
	return errs.New(errs.Malformed, "the body could not be read to its end").Because(err)
}
