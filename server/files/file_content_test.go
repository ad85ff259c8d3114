package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// chunk is the number of bytes of a file that are stored together.
const chunk = 1<<20 - 64

// pattern returns n bytes that differ at every offset, so that wrong ranges are found.
func pattern(n int) string {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%d,", b.Len())
	}
	return b.String()[:n]
}

// TestDownloads requests a file of several chunks, and ranges of it, by each URL that it has.
func TestDownloads(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := pattern(2*chunk + 1000)
	f := in.Keep("owner", "large.txt", body, servertest.FieldPart("public", "1"))
	n := len(body)
	tag := fmt.Sprintf("%q", f.SHA256)
	var link files.LinkOut
	in.OK("POST", fmt.Sprintf("/file/list/%d/link", f.ID), "", "owner").Data(&link)
	for name, c := range map[string]struct {
		headers []string
		status  int
		bytes   string
		ranged  string // Content-Range
	}{
		"whole": {nil, 200, body, ""},
		"the first byte": {[]string{"Range", "bytes=0-0"}, 206, body[:1],
			fmt.Sprintf("bytes 0-0/%d", n)},
		"the last byte": {[]string{"Range", fmt.Sprintf("bytes=%d-", n-1)}, 206,
			body[n-1:], fmt.Sprintf("bytes %d-%d/%d", n-1, n-1, n)},
		"the middle": {[]string{"Range", "bytes=5000-5999"}, 206,
			body[5000:6000], fmt.Sprintf("bytes 5000-5999/%d", n)},
		"the end of a chunk": {[]string{"Range",
			fmt.Sprintf("bytes=%d-%d", chunk-10, chunk-1)}, 206, body[chunk-10 : chunk],
			fmt.Sprintf("bytes %d-%d/%d", chunk-10, chunk-1, n)},
		"the beginning of a chunk": {[]string{"Range",
			fmt.Sprintf("bytes=%d-%d", chunk, chunk+9)}, 206, body[chunk : chunk+10],
			fmt.Sprintf("bytes %d-%d/%d", chunk, chunk+9, n)},
		"over the edge of two": {[]string{"Range",
			fmt.Sprintf("bytes=%d-%d", chunk-1, 2*chunk)}, 206, body[chunk-1 : 2*chunk+1],
			fmt.Sprintf("bytes %d-%d/%d", chunk-1, 2*chunk, n)},
		"the last hundred": {[]string{"Range", "bytes=-100"}, 206, body[n-100:],
			fmt.Sprintf("bytes %d-%d/%d", n-100, n-1, n)},
		"the last that are more": {[]string{"Range", fmt.Sprintf("bytes=-%d", n+5)}, 206,
			body, fmt.Sprintf("bytes 0-%d/%d", n-1, n)},
		"to beyond the end": {[]string{"Range", "bytes=2000000-99999999"}, 206,
			body[2000000:], fmt.Sprintf("bytes 2000000-%d/%d", n-1, n)},
		"from the end on": {[]string{"Range", fmt.Sprintf("bytes=%d-", n)}, 416, "",
			fmt.Sprintf("bytes */%d", n)},
		"the last nothing": {[]string{"Range", "bytes=-0"}, 416, "",
			fmt.Sprintf("bytes */%d", n)},
		"the last nothing, in zeros": {[]string{"Range", "bytes= -000 "}, 416, "",
			fmt.Sprintf("bytes */%d", n)},
		"nothing and the first byte": {[]string{"Range", "bytes=-0,0-0"}, 206, body[:1],
			fmt.Sprintf("bytes 0-0/%d", n)},
		"another unit": {[]string{"Range", "lines=0-5"}, 200, body, ""},
		"the unit in upper case": {[]string{"Range", "Bytes=0-0"}, 206, body[:1],
			fmt.Sprintf("bytes 0-0/%d", n)},
		"no unit":   {[]string{"Range", "0-5"}, 200, body, ""},
		"backwards": {[]string{"Range", "bytes=9-5"}, 416, "", ""},
		"an If-Range that holds": {[]string{"Range", "bytes=0-4", "If-Range", tag}, 206,
			body[:5], fmt.Sprintf("bytes 0-4/%d", n)},
		"an If-Range of another": {[]string{"Range", "bytes=0-4", "If-Range", `"other"`},
			200, body, ""},
		"an If-Range that is a time": {[]string{"Range", "bytes=0-4", "If-Range",
			"Sat, 01 Jan 2028 00:00:00 GMT"}, 200, body, ""},
		"an If-None-Match that holds": {[]string{"If-None-Match", tag}, 304, "", ""},
		"one of several": {[]string{"If-None-Match", `"other", ` + tag}, 304, "",
			""},
		"a weak one":                  {[]string{"If-None-Match", "W/" + tag}, 304, "", ""},
		"any":                         {[]string{"If-None-Match", "*"}, 304, "", ""},
		"an If-None-Match of another": {[]string{"If-None-Match", `"other"`}, 200, body, ""},
		"an If-None-Match without quote": {[]string{"If-None-Match", f.SHA256.String()}, 200, body,
			""},
	} {
		for _, url := range []string{servertest.ContentURL(f.ID), link.URL, f.URL} {
			as := map[bool]string{true: "owner", false: "nobody"}[url == servertest.ContentURL(f.ID)]
			a := in.Get("GET", url, as, c.headers...)
			if a.Code != c.status || c.status < 300 && a.Body != c.bytes ||
				a.Header.Get("Content-Range") != c.ranged {
				t.Errorf("%s: %d with %d bytes, %q: %.200s", name, a.Code, len(a.Body),
					a.Header.Get("Content-Range"), a.Body)
			}
			if length := a.Header.Get("Content-Length"); c.status < 300 &&
				length != fmt.Sprint(len(c.bytes)) {
				t.Errorf("%s: Content-Length %q for %d bytes", name, length, len(c.bytes))
			}
			if got := a.Header.Get("Etag"); c.status < 400 && got != tag ||
				c.status == 416 &&
					(got != "" || a.Envelope().ErrorCode != "range_not_satisfiable") {
				t.Errorf("%s: Etag %s: %.200s", name, got, a.Body)
			}

			head := in.Get("HEAD", url, as, c.headers...)
			if head.Code != c.status ||
				c.status < 400 &&
					(head.Body != "" ||
						head.Header.Get("Content-Length") != a.Header.Get("Content-Length") ||
						head.Header.Get("Etag") != tag) {
				t.Errorf("%s: HEAD %d %v", name, head.Code, head.Header)
			}
		}
	}
}

// A range of an empty file is ignored, since no part of it can be named.
func TestDownload_RangeOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "empty.txt", "")
	for _, header := range []string{"bytes=-5", "bytes=0-", "bytes=-0"} {
		if a := in.Get("GET", servertest.ContentURL(f.ID), "owner", "Range", header); a.Code != 200 || a.Body != "" || a.Header.Get("Content-Range") != "" {
			t.Errorf("%s: %d %v", header, a.Code, a.Header)
		}
	}
}

// TestDownload_MultipleRanges: a few ranges are sent as parts. For too many the whole file is
// sent, since each range could require reading another chunk.
func TestDownload_MultipleRanges(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := pattern(chunk + 1000)
	f := in.Keep("owner", "large.txt", body)
	several := fmt.Sprintf("bytes=0-4,%d-%d,-3", chunk-2, chunk+1)
	a := in.Get("GET", servertest.ContentURL(f.ID), "owner", "Range", several)
	media, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if a.Code != 206 || err != nil || media != "multipart/byteranges" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%d %v, %v", a.Code, a.Header, err)
	}

	parts := multipart.NewReader(strings.NewReader(a.Body), params["boundary"])
	for _, want := range []string{body[:5], body[chunk-2 : chunk+2], body[len(body)-3:]} {
		part, err := parts.NextPart()
		servertest.Must(t, err)
		var got bytes.Buffer
		_, err = got.ReadFrom(part)
		servertest.Must(t, err)
		if got.String() != want || part.Header.Get("Content-Type") != f.MIME {
			t.Errorf("%q %v, want %q", got.String(), part.Header, want)
		}
	}

	for n, status := range map[int]int{web.MaxRanges: 206, web.MaxRanges + 1: 200, 3000: 200} {
		alternating := "bytes=" + strings.Join(slices.Repeat([]string{"0-0"}, n), ", ")
		if a := in.Get("GET", servertest.ContentURL(f.ID), "owner", "Range", alternating); a.Code != status || status == 200 && a.Body != body {
			t.Errorf("%d parts: %d with %d bytes", n, a.Code, len(a.Body))
		}
	}
}

func TestDownload_EmptyFile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "empty", "")
	a := in.OK("GET", servertest.ContentURL(f.ID), "", "owner")
	if a.Body != "" || a.Header.Get("Content-Length") != "0" || f.Size != 0 {
		t.Errorf("%v %q", a.Header, a.Body)
	}
	in.Get("GET", servertest.ContentURL(f.ID), "owner", "Range", "bytes=0-0").Brief(200) // an empty file has no ranges
}

// TestThumbs: thumbnails exist in each listed size and no other, of pictures only. They are
// made once and deleted with the content.
func TestThumbs(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	picture := in.Keep("owner", "x.txt",
		string(picturetest.PNG(t,
			picturetest.Quarters(900, 450, picturetest.Red, picturetest.Lime, picturetest.Blue,
				picturetest.White))))

	text := in.Keep("owner", "x.png", "words")
	for size, want := range map[string][2]int{
		"64x64":   {64, 32},
		"200x200": {200, 100},
		"400x400": {400, 200},
		"800x800": {800, 400},
	} {
		url := servertest.ContentURL(picture.ID) + "?thumb=" + size
		first := in.OK("GET", url, "", "owner")
		small := picturetest.Decode(t, []byte(first.Body), first.Header.Get("Content-Type"),
			want[0], want[1])
		if b := small.Bounds(); b.Dx() != want[0] || b.Dy() != want[1] {
			t.Errorf("%s: %v", size, b)
		}

		kept, err := in.DB.Thumb(picture.SHA256, size)
		if servertest.Must(t, err); !strings.HasSuffix(string(kept), "\n"+first.Body) {
			t.Errorf("%s: kept are %d bytes", size, len(kept))
		}

		servertest.Must(t, in.DB.SaveThumb(picture.SHA256, size, []byte("image/png\nkept"))) // a stored thumbnail is not made again
		second := in.OK("GET", url, "", "owner")
		if tag := fmt.Sprintf(`"%s-%s"`, picture.SHA256, size); second.Body != "kept" ||
			second.Header.Get("Etag") != tag || first.Header.Get("Etag") != tag {
			t.Errorf("%s: the second answer is %q %v", size, second.Body, second.Header)
		}

		in.Get("GET", url, "owner", "If-None-Match", second.Header.Get("Etag")).Brief(304)
		in.Get("GET", url, "owner", "Range", "bytes=1-2").Brief(206, "ep")
		in.Call("GET", servertest.ContentURL(text.ID)+"?thumb="+size, "", "owner").Names(422,
			"thumb")
	}

	for _, size := range []string{"63x64", "200x100", "0x0", "200", "1000000x1000000", "200X200",
		"-1x-1", "200x200x200"} {
		in.Call("GET", servertest.ContentURL(picture.ID)+"?thumb="+size, "", "owner").Names(400,
			"thumb")
	}

	in.OK("DELETE", fmt.Sprint("/file/list/", picture.ID), "", "owner")
	in.Call("GET", servertest.ContentURL(picture.ID)+"?thumb=64x64", "", "owner").Brief(404)
	in.OK("DELETE", fmt.Sprint("/file/trash/", picture.ID), "", "owner")
	swept(in, 1)
	kept, err := in.DB.Thumb(picture.SHA256, "64x64")
	if servertest.Must(t, err); kept != nil {
		t.Errorf("a thumb of %d bytes is left", len(kept))
	}

	servertest.Must(t, in.DB.SaveThumb(picture.SHA256, "64x64", []byte("late")))
	if kept, err := in.DB.Thumb(picture.SHA256, "64x64"); kept != nil || err != nil {
		t.Errorf("a thumb without a picture: %q, %v", kept, err)
	}
}

// TestDownload_Damaged: a client is told that a file is damaged, not where; the health says that.
func TestDownload_Damaged(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "x", "the bytes of a file")
	in.Damaged = true
	path := filepath.Join(in.Dir, "files.db")
	text, err := os.ReadFile(path)
	servertest.Must(t, err)
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	servertest.Must(t, err)
	_, err = out.WriteAt([]byte("T"), int64(bytes.LastIndex(text, []byte("the bytes of a file"))))
	servertest.Must(t, errors.Join(err, out.Close()))
	a := in.Call("GET", servertest.ContentURL(f.ID), "", "owner")
	if a.Brief(500, `"errorCode":"damaged"`); strings.Contains(a.Body, "files.db") {
		t.Errorf("%s", a.Body)
	}
	in.OK("GET", "/system/health", "", "owner").Brief(200, "files.db")
}

// TestDownload_FileDeletedMeanwhile: a download whose file is deleted meanwhile gets
// 404, and is not reported as damage of the disk.
func TestDownload_FileDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	f := in.Keep("owner", "x", "soon gone")
	record := &store.File{Ident: f.Ident, Name: f.Name,
		FileContent: store.FileContent{Digest: f.SHA256, Kind: f.Kind, MIME: f.MIME}}
	in.OK("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.OK("DELETE", fmt.Sprint("/file/trash/", f.ID), "", "owner")
	swept(in, 0)
	r := in.Request("GET", servertest.ContentURL(f.ID), "", "owner")
	w := httptest.NewRecorder()
	req := in.Server.NewRequest(w, r)
	in.Server.Fail(req, in.Server.Files.SendFile(req, &req.Writer, record, "", false))
	if w.Code != 404 || !strings.Contains(w.Body.String(), `"errorCode":"not_found"`) ||
		strings.Contains(log.String(), `"level":"error"`) {
		t.Errorf("%d %s\n%s", w.Code, w.Body, log.String())
	}
}
