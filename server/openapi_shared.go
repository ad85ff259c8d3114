package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"reeve/store"
)

// apiDocuments has the OpenAPI document of the installation, once for each audience. All responses
// share its bytes, so that clients who do not read it take no memory. It is made again when the
// title of the site or a custom field has changed.
type apiDocuments struct {
	make func() (document, error)
	mu   sync.Mutex // held while a document is made
	last map[store.FieldAudience]*builtDocument
}

// builtDocument is a document with what its marks were replaced by.
type builtDocument struct {
	parts []replacement
	*sharedJSON
}

// replacement is what a mark in the document is replaced by.
type replacement struct{ mark, by []byte }

func newDocuments(make func() (document, error)) *apiDocuments {
	return &apiDocuments{make: sync.OnceValues(make), last: map[store.FieldAudience]*builtDocument{}}
}

// replace returns the replacement of one value by another, both as JSON.
func replace(mark, by any) (part replacement, err error) {
	if part.mark, err = json.Marshal(mark); err == nil {
		part.by, err = json.Marshal(by)
	}
	return part, err
}

// get returns the document for an actor.
func (d *apiDocuments) get(tx *store.Tx, a *store.Actor) (*sharedJSON, error) {
	who := audienceOf(a)
	title, err := replace(titleHere, store.SiteTitle.Get(tx))
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
		return last.sharedJSON, nil
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
	return d.last[who].sharedJSON, nil
}

func (r replacement) equal(other replacement) bool {
	return bytes.Equal(r.mark, other.mark) && bytes.Equal(r.by, other.by)
}

// sharedJSON is a JSON text that many responses send from the same memory.
type sharedJSON struct {
	plain, zipped []byte
	etag          string
}

func newSharedJSON(text []byte) *sharedJSON {
	return &sharedJSON{text, zipped(text), digestTag(text)}
}

// writeShared sends a shared text: 304 if the client already has it.
func (req *Request) writeShared(doc *sharedJSON) {
	h, body := req.w.Header(), doc.plain
	tag := doc.etag
	h.Set("Cache-Control", privateChecked[0])
	h.Set("Vary", "Accept-Encoding, Authorization, Cookie")
	if accepts(req.http.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body, tag = doc.zipped, "W/"+doc.etag // weak: the same data in other bytes
	}
	h.Set("Etag", tag)
	if matches(req.http.Header.Get("If-None-Match"), doc.etag) {
		h.Del("Content-Encoding")
		h.Set("X-Request-Id", req.ID)
		req.w.WriteHeader(http.StatusNotModified)
		return
	}
	req.writeEncoded(http.StatusOK, body)
}

// digestTag returns the ETag of a text.
func digestTag(text []byte) string {
	sum := sha256.Sum256(text)
	return etag(hex.EncodeToString(sum[:12]))
}
