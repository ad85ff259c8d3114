package seal

import "io"

// Reader keeps the first error of its source: age returns one error for bytes that are damaged and
// for bytes that could not be read.
type Reader struct {
	R   io.Reader
	Err error // nil for none, and for the end
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	if err != nil && err != io.EOF && r.Err == nil {
		r.Err = err
	}
	return n, err
}
