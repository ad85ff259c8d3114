package assets

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"reeve/embed"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// console returns the committed build of the console.
func console(t testing.TB) fs.FS {
	files, err := fs.Sub(embed.Console, "dist")
	must(t, err)
	return files
}

// get requests a file; headers are names and values.
func get(f *Files, method, name string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/"+name, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if !f.Send(w, r, name) {
		w.Code = http.StatusNotFound
	}
	return w
}

// decoded returns the text of a body in a coding.
func decoded(t testing.TB, coding string, body []byte) []byte {
	t.Helper()
	var src io.Reader = bytes.NewReader(body)
	switch coding {
	case "zstd":
		// A browser refuses a larger window.
		d, err := zstd.NewReader(src, zstd.WithDecoderMaxWindow(maxWindow))
		must(t, err)
		defer d.Close()
		src = d
	case "gzip":
		z, err := gzip.NewReader(src)
		must(t, err)
		src = z
	}

	text, err := io.ReadAll(src)
	must(t, err)
	return text
}

// TestConsole_EveryFileInEveryCoding decodes to the same bytes, has one ETag in each coding, and
// all fit in the limit.
func TestConsole_EveryFileInEveryCoding(t *testing.T) {
	t.Parallel()
	source := console(t)
	files := New(source, Limit)
	sizes, tags := map[string]int{}, map[string]string{}
	must(t, fs.WalkDir(source, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		text, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		if stored, ok := strings.CutSuffix(name, ".gz"); ok {
			name, text = stored, decoded(t, "gzip", text)
		}

		for _, coding := range []string{"", "gzip", "zstd"} {
			w := get(files, "GET", name, "Accept-Encoding", coding)
			h, used := w.Header(), w.Header().Get("Content-Encoding")
			if w.Code != 200 || !bytes.Equal(decoded(t, used, w.Body.Bytes()), text) ||
				used != coding && used != "" ||
				h.Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
				t.Errorf("%s in %q: %d %v", name, coding, w.Code, h)
			}
			if used != coding && len(text) > 200 {
				t.Errorf("%s with %d bytes is sent as it is to a client that accepts %s", name,
					len(text), coding)
			}
			if other := tags[h.Get("Etag")]; other != "" && other != name+used {
				t.Errorf("%s in %q has the ETag of %s", name, coding, other)
			}

			tags[h.Get("Etag")] = name + used
			sizes[coding] += w.Body.Len()
		}

		return nil
	}))
	t.Logf("%d bytes, %d with zstd, %d with gzip", sizes[""], sizes["zstd"], sizes["gzip"])
	if sizes[""] == 0 || max(sizes["zstd"], sizes["gzip"]) > sizes[""]/2 || files.size > Limit*3/4 {
		t.Errorf("%v; %d bytes are kept of at most %d", sizes, files.size, Limit)
	}
}

// TestSend_Packed sends a file that is stored compressed as one that is not, and one that is damaged not
// at all.
func TestSend_Packed(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("console.log('packed');\n"), 1000)
	stored := compress("gzip", text)
	files := New(fstest.MapFS{
		"assets/1-a.js":    {Data: text},
		"assets/2-b.js.gz": {Data: stored},
		"assets/3-c.js.gz": {Data: stored[:len(stored)/2]},
	}, Limit)
	for _, coding := range []string{"", "gzip", "zstd"} {
		plain, packed := get(files, "GET", "assets/1-a.js", "Accept-Encoding", coding), get(files, "GET", "assets/2-b.js", "Accept-Encoding", coding)
		if packed.Code != 200 || !bytes.Equal(packed.Body.Bytes(), plain.Body.Bytes()) || !cmp.Equal(packed.Header(), plain.Header()) {
			t.Errorf("in %q: %d %v, not %v", coding, packed.Code, packed.Header(), plain.Header())
		}
	}
	if w := get(files, "GET", "assets/2-b.js", "Range", "bytes=12-17"); w.Code != 206 || w.Body.String() != string(text[12:18]) {
		t.Errorf("a range: %d %q", w.Code, w.Body)
	}
	if w := get(files, "GET", "assets/3-c.js"); w.Code != 404 {
		t.Errorf("a damaged file: %d", w.Code)
	}
}

// counted counts how often each file is read from its beginning to its end.
type counted struct {
	fs.FS
	reads atomic.Int64
}

type countedFile struct {
	fs.File
	io.Seeker
	of *counted
}

func (c *counted) Open(name string) (fs.File, error) {
	file, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return countedFile{file, file.(io.Seeker), c}, nil
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err == io.EOF {
		f.of.reads.Add(1)
	}
	return n, err
}

func TestFirstUse_ConcurrentRequestsCompressOnce(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("export const answer = 42;\n", 10_000))
	source := &counted{FS: fstest.MapFS{"a.js": {Data: text}}}
	files := New(source, Limit)
	bodies := make([][]byte, 64)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			<-begin
			bodies[i] = get(files, "GET", "a.js", "Accept-Encoding", codings[i%2]).Body.Bytes()
		})
	}

	close(begin)
	all.Wait()
	for i, body := range bodies {
		if !bytes.Equal(body, bodies[i%2]) || !bytes.Equal(decoded(t, codings[i%2], body), text) {
			t.Fatalf("request %d got another body of %d bytes", i, len(body))
		}
	}

	if reads := source.reads.Load(); reads != 2 {
		t.Errorf("the file was read %d times, for two codings", reads)
	}
	if want := len(bodies[0]) + len(bodies[1]); files.size != want {
		t.Errorf("%d bytes are counted, %d are kept", files.size, want)
	}
}

// TestLimit_FurtherFilesUncompressed: nothing is dropped for them, so that nothing is compressed
// a second time.
func TestLimit_FurtherFilesUncompressed(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	letters := rand.New(rand.NewPCG(1, 2))
	source := fstest.MapFS{}
	for i := range 40 {
		text := make([]byte, 3000) // of 64 letters, so that a quarter is saved
		for j := range text {
			text[j] = 'A' + byte(letters.IntN(64))
		}
		source[fmt.Sprintf("%d.js", i)] = &fstest.MapFile{Data: text}
	}

	files := New(source, limit)
	once := map[string]string{}
	for range 2 {
		for name, file := range source {
			w := get(files, "GET", name, "Accept-Encoding", "zstd")
			coding := w.Header().Get("Content-Encoding")
			if w.Code != 200 || !bytes.Equal(decoded(t, coding, w.Body.Bytes()), file.Data) {
				t.Errorf("%s: %d %v", name, w.Code, w.Header())
			}
			if before, known := once[name]; known && before != coding {
				t.Errorf("%s is sent in %q after %q", name, coding, before)
			}
			once[name] = coding
		}
	}

	kept := 0
	for _, c := range files.contents {
		kept += len(c.body)
	}

	if kept != files.size || kept > limit || kept < limit-3000 {
		t.Errorf("%d bytes are kept, %d are counted, of at most %d", kept, files.size, limit)
	}
	if uses := slices.Collect(maps.Values(once)); !slices.Contains(uses, "zstd") ||
		!slices.Contains(uses, "") {
		t.Errorf("the codings are %v", uses)
	}
}

func TestSend_Headers(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("abcdefghij", 1000))
	files := New(fstest.MapFS{
		"a.js":     {Data: text},
		"tiny.css": {Data: []byte("a{}")},
		"dir/b.js": {Data: text},
	}, Limit)
	for _, coding := range []string{"", "gzip", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			accept := []string{"Accept-Encoding", coding}
			whole := get(files, "GET", "a.js", accept...)
			body, tag := whole.Body.Bytes(), whole.Header().Get("Etag")
			want := http.Header{
				"Accept-Ranges":  {"bytes"},
				"Cache-Control":  {"public, max-age=31536000, immutable"},
				"Content-Length": {strconv.Itoa(len(body))},
				"Content-Type":   {"text/javascript; charset=utf-8"},
				"Etag":           {tag},
				"Vary":           {"Accept-Encoding"},
			}
			if coding != "" {
				want.Set("Content-Encoding", coding)
			}
			if diff := cmp.Diff(want, whole.Header()); diff != "" {
				t.Error(diff)
			}

			head := get(files, "HEAD", "a.js", accept...)
			if diff := cmp.Diff(want, head.Header()); diff != "" || head.Body.Len() != 0 {
				t.Errorf("HEAD has %d bytes and %s", head.Body.Len(), diff)
			}

			for name, c := range map[string]struct {
				headers []string
				code    int
				body    []byte
			}{
				"the same tag":       {[]string{"If-None-Match", tag}, 304, nil},
				"another tag":        {[]string{"If-None-Match", `"x"`}, 200, body},
				"only if it matches": {[]string{"If-Match", tag}, 200, body},
				"no match":           {[]string{"If-Match", `"x"`}, 412, nil},
				"a range":            {[]string{"Range", "bytes=3-9"}, 206, body[3:10]},
				"the end":            {[]string{"Range", "bytes=-5"}, 206, body[len(body)-5:]},
				"a range of this body": {[]string{"Range", "bytes=3-9", "If-Range", tag}, 206,
					body[3:10]},
				"a range of another": {[]string{"Range", "bytes=3-9", "If-Range", `"x"`}, 200,
					body},
				"beyond the end":        {[]string{"Range", "bytes=20000-"}, 416, nil},
				"another unit of range": {[]string{"Range", "lines=1-2"}, 200, body},
			} {
				w := get(files, "GET", "a.js", append(c.headers, accept...)...)
				h := w.Header()
				if w.Code != c.code || c.body != nil && !bytes.Equal(w.Body.Bytes(), c.body) ||
					c.body != nil && h.Get("Content-Length") != strconv.Itoa(len(c.body)) ||
					c.body == nil && h.Get("Content-Encoding") != "" && c.code != 412 {
					t.Errorf("%s: %d with %d bytes, %v", name, w.Code, w.Body.Len(), h)
				}
				if c.code < 400 && (h.Get("Etag") != tag || h.Get("Vary") != "Accept-Encoding") {
					t.Errorf("%s: %v", name, h)
				}
			}
		})
	}

	if w := get(files, "GET", "tiny.css", "Accept-Encoding", "zstd, gzip"); w.Body.String() != "a{}" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("a file that compression makes larger: %v", w.Header())
	}

	for _, name := range []string{"none.js", "dir", "", ".", "../a.js", "dir/../a.js", "/a.js",
		"a.js/"} {
		if w := get(files, "GET", name, "Accept-Encoding", "zstd"); w.Code != 404 {
			t.Errorf("%q: %d", name, w.Code)
		}
	}
}

// BenchmarkFirstUse compresses the whole console, as its first users do.
func BenchmarkFirstUse(b *testing.B) {
	source := console(b)
	names, err := fs.Glob(source, "assets/*")
	must(b, err)
	for _, coding := range codings {
		b.Run(coding, func(b *testing.B) {
			for b.Loop() {
				files := New(source, Limit)
				for _, name := range names {
					get(files, "HEAD", name, "Accept-Encoding", coding)
				}
			}
		})
	}
}
