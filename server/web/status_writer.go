package web

import (
	"errors"
	"net/http"
)

// statusWriter records the status and the size of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64 // size of the body
	err    error // error of the connection

	heading func() // called before the headers are sent; nil for nothing

	headOnly bool // whether the handler ends at the first byte of a body, which the client does not get: it may be long or endless
	cut      bool // whether it has ended so
}

// errHeadOnly ends a handler whose response has no body.
var errHeadOnly = errors.New("the response to HEAD has no body")

func (w *statusWriter) WriteHeader(code int) {
	w.begin(code)
	w.ResponseWriter.WriteHeader(code)
}

// begin notes the status, when the headers are about to be sent.
func (w *statusWriter) begin(code int) {
	if w.status != 0 {
		return
	}
	w.status = code
	if w.heading != nil {
		w.heading()
	}
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.headOnly && w.status < 400 {
		if w.status == 0 {
			w.WriteHeader(http.StatusOK)
		}
		w.cut = true
		return 0, errHeadOnly
	}
	w.begin(http.StatusOK)

	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	if err != nil {
		w.err = err
	}

	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
