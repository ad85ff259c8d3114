// Package coding has the content codings of responses: which one a client prefers, and gzip.
package coding

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// maxPooled is the maximum size in bytes of a buffer that is kept for reuse.
const maxPooled = 256 << 10

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

// Gzip returns a compressed copy of a body. It has no more capacity than it needs.
func Gzip(body []byte) []byte {
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

// Choose returns the content coding that a client prefers, by its headers, among those offered,
// best first. It returns "" for the body as it is, also to a client that accepts none of them
// (RFC 9110, sections 12.4.1 and 12.5.3).
func Choose(h http.Header, offered ...string) string {
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
