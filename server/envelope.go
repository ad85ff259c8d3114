package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// envelope is a successful response: data is appended to bytes, and send adds the rest. The response
// of a protocol is the data alone.
type envelope struct {
	bytes bytes.Buffer
	etag  string // ETag of the data, in quotes; "" for none
}

// envelopes are reused, so that a response from memory allocates nothing.
var envelopes = sync.Pool{New: func() any { return new(envelope) }}

// maxPooled is the maximum size in bytes of a pooled buffer, so that one very large
// response does not keep its memory forever.
const maxPooled = 256 << 10

// dataMember begins a response; its data follows.
const dataMember = `{"data":`

func newEnvelope(p *protocol) *envelope {
	out := envelopes.Get().(*envelope)
	out.bytes.Reset()
	if p == nil {
		out.bytes.WriteString(dataMember)
	}
	out.etag = ""
	return out
}

func (out *envelope) release() {
	if out.bytes.Cap() <= maxPooled {
		envelopes.Put(out)
	}
}

// put appends the data of the response.
func (out *envelope) put(data any) error {
	if e, ok := data.(interface {
		encoded() (json.RawMessage, string)
	}); ok {
		b, etag := e.encoded()
		out.bytes.Write(b)
		out.etag = etag
		return nil
	}
	if err := json.NewEncoder(&out.bytes).Encode(data); err != nil { // makes one copy less than Marshal
		return err
	}
	out.bytes.Truncate(out.bytes.Len() - 1) // the line feed
	return nil
}

// record is like put, and sets the ETag if data is a record with a revision.
func (out *envelope) record(req *Request, data any) error {
	if r, ok := data.(revised); ok {
		req.w.Header()["Etag"] = []string{recordTag(r)}
	}
	return out.put(data)
}

// send sends the response: 304 if the client already has this data. It returns an error, and sends
// nothing, if the responses being sent leave no memory for this one.
func (out *envelope) send(req *Request) error {
	if out.etag != "" {
		h := req.w.Header()
		h["Etag"] = []string{out.etag}
		if h["Cache-Control"] == nil {
			h["Cache-Control"] = privateChecked
		}
		if matches(req.http.Header.Get("If-None-Match"), out.etag) {
			h["X-Request-Id"] = []string{req.ID}
			req.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if req.route.protocol == nil {
		out.bytes.WriteString(`,"success":true,"msg":"ok","showType":0}`)
	}
	out.bytes.WriteByte('\n')
	body := out.bytes.Bytes()
	large := len(body) > freeAnswer
	req.noteSize(len(body))
	if large {
		if err := req.holdAnswer(cap(body)); err != nil {
			return err
		}
	}
	body, copied := compressed(req.http, req.w.Header(), body)
	if !copied && !large && cap(body) > maxBuffer {
		body, copied = bytes.Clone(body), true
	}
	if copied { // a client that reads slowly must not keep the buffer, too
		(&envelope{bytes: out.bytes}).release()
		out.bytes = bytes.Buffer{}
		req.shrinkAnswer(cap(body))
	}
	req.writeEncoded(http.StatusOK, body)
	return nil
}

// matches reports whether an If-Match or If-None-Match header contains an entity tag.
func matches(header, etag string) bool {
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
	noStore  = []string{"no-store"}

	privateChecked = []string{"private, no-cache"} // a cache asks each time whether its response is current
	publicChecked  = []string{"public, no-cache"}
	varyingByKey   = []string{"Authorization"}
)

// writeJSON sends a complete JSON response. It fills the header map directly: the names
// are in canonical form, and the shared values are never changed. There is no
// Content-Length: net/http adds it to a response of up to 2 KiB and sends a longer one
// in chunks. With it there would be 9 headers, and a map of more than 8 makes a read 5
// % slower.
func (req *Request) writeJSON(code int, body []byte) {
	body, _ = compressed(req.http, req.w.Header(), body)
	req.writeEncoded(code, body)
}

// writeEncoded is writeJSON for a body in the encoding that the headers name.
func (req *Request) writeEncoded(code int, body []byte) {
	h := req.w.Header()
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = noStore
	}
	h["X-Request-Id"] = []string{req.ID}
	h["Content-Type"] = jsonType
	req.w.WriteHeader(code)
	req.w.Write(body) // an error means that the client has disconnected
}
