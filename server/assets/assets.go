// Package assets sends compiled-in files whose names change with their contents, compressed for
// clients that accept it.
//
// The files are stored as they are, or as NAME.gz, which is unpacked when a client first asks for NAME.
// A file is compressed with zstd or gzip when a client first asks for it so, and the result stays in
// memory for all later requests. Each content has an ETag of its own, ranges and conditions apply to the
// bytes of that content, and HEAD has the headers of GET.
//
// Invariant: a file is compressed at most once in each coding, one file at a time, and the results
// take at most Limit bytes. So clients can neither make the server work again nor fill its memory.
//
//	files := assets.New(console, assets.Limit)
//	found := files.Send(w, r, "assets/3pb8zouq-AppRoles.js")
package assets

import (
	"bytes"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"reeve/server/coding"
	"reeve/server/web"
)

// Limit is the maximum size in bytes of all compressed contents. The whole console takes half of
// it.
const Limit = 4 << 20

// Files sends the files of a file system, which does not change.
type Files struct {
	source fs.FS
	packed map[string]func() ([]byte, error) // unpacks a file that is stored as its name and .gz
	limit  int                               // maximum of size

	mu       sync.Mutex // guards contents
	contents map[key]*content

	working sync.Mutex // held while a file is compressed; guards size
	size    int        // bytes of all compressed contents
}

// key identifies a content: the name of a file, and the coding, "" for the file as it is.
type key struct{ name, coding string }

// content is a file in one coding.
type content struct {
	made sync.Once
	body []byte // compressed bytes; nil if the file is sent as it is
	etag string
}

// New returns the files of a file system. Contents that would exceed the limit, in bytes, are sent
// as they are.
func New(source fs.FS, limit int) *Files {
	f := &Files{source: source, packed: map[string]func() ([]byte, error){}, limit: limit, contents: map[key]*content{}}
	packed, _ := fs.Glob(source, "assets/*.gz") // the only error is a bad pattern
	for _, name := range packed {
		f.packed[strings.TrimSuffix(name, ".gz")] = sync.OnceValues(func() ([]byte, error) { return unpack(source, name) })
	}
	return f
}

func unpack(source fs.FS, name string) ([]byte, error) {
	file, err := source.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// open returns a file as clients see it.
func (f *Files) open(name string) (io.ReadSeeker, bool) {
	if unpack, ok := f.packed[name]; ok {
		text, err := unpack()
		return bytes.NewReader(text), err == nil
	}
	file, err := f.source.Open(name)
	if err != nil {
		return nil, false
	}
	plain, ok := file.(io.ReadSeeker)
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return nil, false
	}
	return plain, ok // nothing has to be closed in memory
}

// Send sends a file in the coding that the client prefers. It reports false if there is no such
// file.
func (f *Files) Send(w http.ResponseWriter, r *http.Request, name string) bool {
	plain, ok := f.open(name)
	if !ok {
		return false
	}

	chosen := coding.Choose(r.Header, codings...)
	c := f.content(key{name, chosen}, plain)
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	h.Set("Etag", c.etag)
	body := plain
	if c.body != nil {
		h.Set("Content-Encoding", chosen)
		body, w = bytes.NewReader(c.body), sized{w, len(c.body)}
	}

	web.CleanRange(r.Header, body) // seeking in memory does not fail
	http.ServeContent(w, r, "", time.Time{}, body)
	return true
}

// content returns the content of a file, which the first caller makes and the others wait for.
func (f *Files) content(k key, plain io.ReadSeeker) *content {
	f.mu.Lock()
	c := f.contents[k]
	if c == nil {
		c = new(content)
		f.contents[k] = c
	}

	f.mu.Unlock()
	c.made.Do(func() {
		text, _ := io.ReadAll(plain) // reading from memory does not fail
		c.body = f.compressed(k.coding, text)
		if c.body != nil {
			text = c.body
		}
		c.etag = web.DigestTag(text)
	})
	return c
}

// compressed returns a text in a coding, or nil if that is not smaller or exceeds the limit.
func (f *Files) compressed(coding string, text []byte) []byte {
	if coding == "" {
		return nil
	}
	f.working.Lock()
	defer f.working.Unlock()
	if f.size >= f.limit {
		return nil
	}
	out := compress(coding, text)
	if len(out) >= len(text) || f.size+len(out) > f.limit {
		return nil
	}
	f.size += len(out)
	return out
}

// sized adds the Content-Length to a compressed content that is sent whole, which http.ServeContent
// leaves out.
type sized struct {
	http.ResponseWriter
	size int
}

func (w sized) WriteHeader(code int) {
	if code == http.StatusOK {
		w.Header().Set("Content-Length", strconv.Itoa(w.size))
	}
	w.ResponseWriter.WriteHeader(code)
}
