package web

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// JSON responses are compressed for clients that accept it. Tokens are sent in a header
// that no foreign page can make a browser send, so only a client that may read a response can
// exploit its size (the BREACH attack). The response with a new token is too small to be compressed
// in any case.

// minCompressed is the minimum size in bytes for compression: a smaller response fits
// in one packet either way.
const minCompressed = 1400

// compressor is a reusable gzip writer with its output buffer.
type compressor struct {
	zip *gzip.Writer
	out bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	c := new(compressor)
	c.zip, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed) // the only error is an unknown level
	return c
}}

// Compressed returns the body to send, and whether it is a copy. It sets the headers accordingly.
// The copy has no more capacity than it needs: a client that reads slowly keeps it for a while.
func Compressed(r *http.Request, h http.Header, body []byte) (sent []byte, copied bool) {
	if len(body) < minCompressed {
		return body, false
	}
	if control := h.Get("Cache-Control"); control != "" && control != NoStore[0] { // otherwise no cache stores it
		h.Add("Vary", "Accept-Encoding")
	}
	if accepted := r.Header["Accept-Encoding"]; len(accepted) == 0 || !Accepts(accepted[0], "gzip") {
		return body, false
	}
	h.Set("Content-Encoding", "gzip")
	if tag := h.Get("Etag"); tag != "" {
		h.Set("Etag", "W/"+tag) // weak: the same data in other bytes
	}
	return Zipped(body), true
}

func Zipped(body []byte) []byte {
	c := compressors.Get().(*compressor)
	c.out.Reset()
	c.zip.Reset(&c.out)
	c.zip.Write(body) // a bytes.Buffer never fails
	c.zip.Close()
	out := bytes.Clone(c.out.Bytes())
	if c.out.Cap() <= maxPooled {
		compressors.Put(c)
	}
	return out
}

// Encodings lists how assets are stored, best first.
var Encodings = []struct{ Name, Suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// Accepts reports whether an Accept-Encoding header accepts an encoding, with a weight
// above 0.
func Accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, encoding) && q != "q=0" && q != "q=0.0" {
			return true
		}
	}
	return false
}
