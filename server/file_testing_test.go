package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"reeve/server/files"
	"reeve/store"
)

// formPart is one part of a multipart body: its header, verbatim, and its content.
type formPart struct{ header, body string }

// filePart returns a file with a name, as a browser sends it.
func filePart(name, body string) formPart {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
	return formPart{`Content-Disposition: form-data; name="file"; filename="` + name + `"` + "\r\nContent-Type: application/octet-stream", body}
}

// fieldPart returns a form field.
func fieldPart(name, value string) formPart {
	return formPart{fmt.Sprintf("Content-Disposition: form-data; name=%q", name), value}
}

// multipartBody joins parts with the boundary edge.
func multipartBody(parts ...formPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--edge\r\n" + p.header + "\r\n\r\n" + p.body + "\r\n")
	}
	return b.String() + "--edge--\r\n"
}

// multipart returns the request of an upload with a given body.
func (in *instance) multipart(url string, body io.Reader, as string) *http.Request {
	in.t.Helper()
	r := httptest.NewRequest("POST", url, body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=edge")
	authorize(r, in.tokens[as])
	return r
}

// posts sends an upload of parts.
func (in *instance) posts(as string, parts ...formPart) *reply {
	in.t.Helper()
	return in.send(in.multipart("/file/list", strings.NewReader(multipartBody(parts...)), as))
}

// keeps uploads parts, which must succeed, and returns the records.
func (in *instance) keeps(as string, parts ...formPart) []*files.File {
	in.t.Helper()
	a := in.posts(as, parts...)
	if a.Code != http.StatusOK {
		in.t.Fatalf("upload: %d %s", a.Code, a.Body)
	}
	var out files.Files
	a.data(&out)
	return out.Data
}

// keep uploads one file.
func (in *instance) keep(as, name, body string, fields ...formPart) *files.File {
	in.t.Helper()
	return in.keeps(as, append(fields, filePart(name, body))...)[0]
}

// set changes a setting as the owner.
func (in *instance) set(name, value string) {
	in.t.Helper()
	in.ok("PUT", "/system/setting", fmt.Sprintf(`{"values":{%q:%q}}`, name, value), "owner")
}

// record returns a file's record.
func (in *instance) record(id store.ID, as string) *files.File {
	in.t.Helper()
	var f files.File
	in.ok("GET", fmt.Sprint("/file/list/", id), "", as).data(&f)
	return &f
}

// contentURL returns the URL of a file's content.
func contentURL(id store.ID) string { return fmt.Sprintf("/file/list/%d/content", id) }

// blobs returns the number of stored blobs. The sweeper does not run meanwhile.
func (in *instance) blobs() int {
	in.t.Helper()
	var report store.Report
	must(in.t, in.db.VerifyFiles(&report))
	return report.Blobs
}

// swept waits until n blobs are left.
func (in *instance) swept(want int) {
	in.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); in.blobs() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			in.t.Fatalf("%d blobs are left, want %d", in.blobs(), want)
		}
	}
}

// filler returns n bytes that start with head.
func filler(head string, n int) string {
	return head + strings.Repeat("x", n-len(head))
}

// The first bytes by which these kinds are detected.
const (
	imageHead   = "\x89PNG\r\n\x1a\n"
	audioHead   = "fLaC\x00\x00\x00\x22"
	videoHead   = "\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x82\x84webm"
	archiveHead = "\x1f\x8b\x08"
	documentPDF = "%PDF-1.7\n"
	otherHead   = "\x00\x01\x02\x03\xff"
)
