package web

import (
	"bytes"
	"net/http"
	"strconv"
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
	if Coding(r.Header, "gzip") == "" {
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

// leastWeight is the weight of an unchanged body, unless a client names another: below any that
// can be written.
const leastWeight = 0.0005

// Coding returns the content coding that a client prefers, by its headers, among those offered,
// best first. It returns "" for the body as it is, also to a client that accepts none of them
// (RFC 9110, sections 12.4.1 and 12.5.3).
func Coding(h http.Header, offered ...string) string {
	accepted := h["Accept-Encoding"]
	if len(accepted) == 0 {
		return ""
	}
	best, most := "", max(weight(accepted, "identity"), leastWeight)
	for i, coding := range offered {
		if w := weight(accepted, coding); w > most || best == "" && w == most {
			best, most = offered[i], w
		}
	}
	return best
}

// weight returns the weight that headers Accept-Encoding give to a coding, 0 for one that is not
// accepted. An asterisk stands for the codings that are not named, but not for the body as it is.
func weight(accepted []string, coding string) float64 {
	others := 0.0
	for _, header := range accepted {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			name = strings.TrimSpace(name)
			if strings.EqualFold(name, coding) {
				return quality(params)
			}
			if name == "*" && coding != "identity" {
				others = quality(params)
			}
		}
	}
	return others
}

// quality returns the weight in the parameters of a coding: 1 without any, and 0 if it is invalid.
func quality(params string) float64 {
	name, value, _ := strings.Cut(params, "=")
	if strings.TrimSpace(params) == "" {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}
