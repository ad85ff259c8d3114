package server

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Answers of JSON are sent compressed to who accepts it. Tokens travel in a header
// that no foreign page can make a browser send, so what an answer's size tells
// (the BREACH attack) can be asked by nobody but who may read the answer; a new
// token's answer is too small to be compressed in any case.

// minCompressed is the size in bytes from which it is worth the time: what is
// smaller goes in one packet either way.
const minCompressed = 1400

// compressor is a gzip writer with what it writes to, for the next answer to use.
type compressor struct {
	zip *gzip.Writer
	out bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	c := new(compressor)
	c.zip, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed) // the only error is of an unknown level
	return c
}}

// compressed gives the body that the client gets and, once that has been sent, what
// it lies in back. The headers say what was done.
func compressed(r *http.Request, h http.Header, body []byte) (sent []byte, release func()) {
	if len(body) < minCompressed {
		return body, func() {}
	}
	if h.Get("Cache-Control") != noStore[0] { // else no cache has it
		h.Add("Vary", "Accept-Encoding")
	}
	if accepted := r.Header["Accept-Encoding"]; len(accepted) == 0 || !accepts(accepted[0], "gzip") {
		return body, func() {}
	}
	c := compressors.Get().(*compressor)
	c.out.Reset()
	c.zip.Reset(&c.out)
	c.zip.Write(body) // a bytes.Buffer takes everything
	c.zip.Close()
	h.Set("Content-Encoding", "gzip")
	if tag := h.Get("Etag"); tag != "" {
		h.Set("Etag", "W/"+tag) // weak: the same data in other bytes
	}
	return c.out.Bytes(), func() {
		if c.out.Cap() <= maxPooled {
			compressors.Put(c)
		}
	}
}
