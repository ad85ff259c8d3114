package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// Envelope is a successful response: data is appended to bytes, and send adds the rest. The
// response of a protocol is the data alone.
type Envelope struct {
	Bytes bytes.Buffer
	ETag  string // ETag of the data, in quotes; "" for none
}

// envelopes are reused, so that a response from memory allocates nothing.
var envelopes = sync.Pool{New: func() any { return new(Envelope) }}

// maxPooled is the maximum size in bytes of a pooled buffer, so that one very large
// response does not keep its memory forever.
const maxPooled = 256 << 10

// dataMember begins a response; its data follows.
const dataMember = `{"data":`

func newEnvelope(p *Protocol) *Envelope {
	out := envelopes.Get().(*Envelope)
	out.Bytes.Reset()
	if p == nil {
		out.Bytes.WriteString(dataMember)
	}
	out.ETag = ""
	return out
}

func (out *Envelope) release() {
	if out.Bytes.Cap() <= maxPooled {
		envelopes.Put(out)
	}
}

// put appends the data of the response.
func (out *Envelope) put(data any) error {
	if e, ok := data.(interface {
		encoded() (json.RawMessage, string)
	}); ok {
		b, etag := e.encoded()
		out.Bytes.Write(b)
		out.ETag = etag
		return nil
	}
	if err := json.NewEncoder(&out.Bytes).Encode(data); err != nil { // makes one copy less than Marshal
		return err
	}
	out.Bytes.Truncate(out.Bytes.Len() - 1) // the line feed
	return nil
}

// Record is like put, and sets the ETag if data is a record with a revision.
func (out *Envelope) Record(req *Request, data any) error {
	if r, ok := data.(Revised); ok {
		req.Writer.Header()["Etag"] = []string{recordTag(r)}
	}
	return out.put(data)
}

// send sends the response: 304 if the client already has this data. It returns an error, and sends
// nothing, if the responses being sent leave no memory for this one.
func (out *Envelope) send(req *Request) error {
	if out.ETag != "" {
		h := req.Writer.Header()
		h["Etag"] = []string{out.ETag}
		if h["Cache-Control"] == nil {
			h["Cache-Control"] = PrivateChecked
		}
		if Matches(req.HTTP.Header.Get("If-None-Match"), out.ETag) {
			h["X-Request-Id"] = []string{req.ID}
			req.Writer.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if req.Route.Protocol == nil {
		out.Bytes.WriteString(`,"success":true,"msg":"ok","showType":0}`)
	}

	out.Bytes.WriteByte('\n')
	body := out.Bytes.Bytes()
	large := len(body) > freeAnswer
	req.noteSize(len(body))
	if large {
		if err := req.HoldAnswer(cap(body)); err != nil {
			return err
		}
	}

	body, copied := Compressed(req.HTTP, req.Writer.Header(), body)
	if !copied && !large && cap(body) > maxBuffer {
		body, copied = bytes.Clone(body), true
	}
	if copied { // a client that reads slowly must not keep the buffer, too
		(&Envelope{Bytes: out.Bytes}).release()
		out.Bytes = bytes.Buffer{}
		req.shrinkAnswer(cap(body))
	}

	req.WriteEncoded(http.StatusOK, body)
	return nil
}

// Matches reports whether an If-Match or If-None-Match header contains an entity tag.
func Matches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
			return true
		}
	}
	return false
}

var (
	jsonType = []string{"application/json"}
	NoStore  = []string{"no-store"}

	PrivateChecked = []string{"private, no-cache"} // a cache asks each time whether its response is current
	PublicChecked  = []string{"public, no-cache"}
	VaryingByKey   = []string{"Authorization"}
)

// writeJSON sends a complete JSON response. It fills the header map directly: the names
// are in canonical form, and the shared values are never changed. There is no
// Content-Length: net/http adds it to a response of up to 2 KiB and sends a longer one
// in chunks. With it there would be 9 headers, and a map of more than 8 makes a read 5
// % slower.
func (req *Request) writeJSON(code int, body []byte) {
	body, _ = Compressed(req.HTTP, req.Writer.Header(), body)
	req.WriteEncoded(code, body)
}

// WriteEncoded is writeJSON for a body in the encoding that the headers name.
func (req *Request) WriteEncoded(code int, body []byte) {
	h := req.Writer.Header()
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = NoStore
	}
	h["X-Request-Id"] = []string{req.ID}
	h["Content-Type"] = jsonType
	req.Writer.WriteHeader(code)
	req.Writer.Write(body) // an error means that the client has disconnected
}

const HTMLMedia = "text/html"
