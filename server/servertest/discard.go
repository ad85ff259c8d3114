package servertest

import "net/http"

// Discard is a minimal ResponseWriter.
type Discard struct {
	Head  http.Header
	Code  int
	Bytes int
}

func (d *Discard) Header() http.Header { return d.Head }

func (d *Discard) WriteHeader(code int) { d.Code = code }

func (d *Discard) Write(b []byte) (int, error) {
	d.Bytes += len(b)
	return len(b), nil
}
