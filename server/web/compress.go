package web

import (
	"net/http"

	"reeve/server/coding"
)

// JSON responses are compressed for clients that accept it. Tokens are sent in a header
// that no foreign page can make a browser send, so only a client that may read a response can
// exploit its size (the BREACH attack). The response with a new token is too small to be compressed
// in any case.

// minCompressed is the minimum size in bytes for compression: a smaller response fits
// in one packet either way.
const minCompressed = 1400

// Compressed returns the body to send, and whether it is a copy. It sets the headers accordingly.
// The copy has no more capacity than it needs: a client that reads slowly keeps it for a while.
func Compressed(r *http.Request, h http.Header, body []byte) (sent []byte, copied bool) {
	if len(body) < minCompressed {
		return body, false
	}
	if control := h.Get("Cache-Control"); control != "" && control != NoStore[0] { // otherwise no cache stores it
		h.Add("Vary", "Accept-Encoding")
	}
	if coding.Choose(r.Header, "gzip") == "" {
		return body, false
	}
	h.Set("Content-Encoding", "gzip")
	if tag := h.Get("Etag"); tag != "" {
		h.Set("Etag", "W/"+tag) // weak: the same data in other bytes
	}
	return coding.Gzip(body), true
}
