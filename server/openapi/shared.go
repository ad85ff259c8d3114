package openapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"reeve/server/coding"
	"reeve/server/web"
	"reeve/store"
)

func Routes(d *Documents) []web.Route {
	return []web.Route{
		web.Raw("/openapi.json", web.AnyRealm, "Get the OpenAPI document", "application/json",
			d.send, web.Options{
				ETag: true,
				Note: "Returns this document.",
			}),
	}
}

// Documents has the OpenAPI document of the installation, once for each audience. All responses
// share its bytes, so that clients who do not read it take no memory. It is made again when the
// title of the site or a custom field has changed.
type Documents struct {
	make func() (Document, error)
	mu   sync.Mutex // held while a document is made
	last map[store.FieldAudience]*builtDocument
}

// builtDocument is a document, and the values that replace its marks.
type builtDocument struct {
	parts []replacement
	*SharedJSON
}

// replacement replaces a mark in the document.
type replacement struct{ mark, by []byte }

func NewDocuments(make func() (Document, error)) *Documents {
	return &Documents{make: sync.OnceValues(make), last: map[store.FieldAudience]*builtDocument{}}
}

// send sends the document.
func (d *Documents) send(req *web.Request, _ *web.None, _ http.ResponseWriter) error {
	var doc *SharedJSON
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		doc, err = d.Get(tx, req.Actor)
		return err
	})
	if err != nil {
		return err
	}
	writeShared(req, doc)
	return nil
}

// replace returns the replacement of one value by another, both as JSON.
func replace(mark, by any) (part replacement, err error) {
	if part.mark, err = json.Marshal(mark); err == nil {
		part.by, err = json.Marshal(by)
	}
	return part, err
}

// Get returns the document for an actor.
func (d *Documents) Get(tx *store.Tx, a *store.Actor) (*SharedJSON, error) {
	who := web.AudienceOf(a)
	title, err := replace(TitleHere, store.SiteTitle.Get(tx))
	if err != nil {
		return nil, err
	}

	parts, err := customParts(tx, who)
	if err != nil {
		return nil, err
	}

	parts = slices.Insert(parts, 0, title) // the text of a custom field can be the mark of the title
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := d.last[who]; last != nil && slices.EqualFunc(last.parts, parts, replacement.equal) {
		return last.SharedJSON, nil
	}

	doc, err := d.make()
	if err != nil {
		return nil, err
	}

	text := []byte(doc)
	for _, p := range parts {
		text = bytes.Replace(text, p.mark, p.by, 1)
	}

	d.last[who] = &builtDocument{parts, newSharedJSON(text)}
	return d.last[who].SharedJSON, nil
}

func (r replacement) equal(other replacement) bool {
	return bytes.Equal(r.mark, other.mark) && bytes.Equal(r.by, other.by)
}

// SharedJSON is a JSON text that many responses send from the same memory.
type SharedJSON struct {
	Plain, zipped []byte
	etag          string
}

func newSharedJSON(text []byte) *SharedJSON {
	return &SharedJSON{text, coding.Gzip(text), web.DigestTag(text)}
}

// writeShared sends a shared text: 304 if the client already has it.
func writeShared(req *web.Request, doc *SharedJSON) {
	h, body := req.Writer.Header(), doc.Plain
	tag := doc.etag
	h.Set("Cache-Control", web.PrivateChecked[0])
	h.Set("Vary", "Accept-Encoding, Authorization, Cookie")
	if coding.Choose(req.HTTP.Header, "gzip") != "" {
		h.Set("Content-Encoding", "gzip")
		body, tag = doc.zipped, "W/"+doc.etag // weak: the same data in other bytes
	}

	h.Set("Etag", tag)
	if web.Matches(req.HTTP.Header.Get("If-None-Match"), doc.etag) {
		h.Del("Content-Encoding")
		h.Set("X-Request-Id", req.ID)
		req.Writer.WriteHeader(http.StatusNotModified)
		return
	}

	req.WriteEncoded(http.StatusOK, body)
}
