package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"reeve/store"
)

// part is one part of a multipart body: its header as it stands, and its bytes.
type formPart struct{ header, body string }

// filePart is a file under a name, as a browser sends it.
func filePart(name, body string) formPart {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
	return formPart{`Content-Disposition: form-data; name="file"; filename="` + name + `"` + "\r\nContent-Type: application/octet-stream", body}
}

// fieldPart is a form field.
func fieldPart(name, value string) formPart {
	return formPart{fmt.Sprintf("Content-Disposition: form-data; name=%q", name), value}
}

// multipartBody joins parts; edge is their boundary.
func multipartBody(parts ...formPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--edge\r\n" + p.header + "\r\n\r\n" + p.body + "\r\n")
	}
	return b.String() + "--edge--\r\n"
}

// multipart builds the request of an upload with a body as it stands.
func (in *instance) multipart(url string, body io.Reader, as string) *http.Request {
	in.t.Helper()
	r := httptest.NewRequest("POST", url, body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=edge")
	if token := in.tokens[as]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// posts uploads parts to the files.
func (in *instance) posts(as string, parts ...formPart) *reply {
	in.t.Helper()
	return in.send(in.multipart("/file/list", strings.NewReader(multipartBody(parts...)), as))
}

// keeps uploads parts, which has to succeed, and returns the records.
func (in *instance) keeps(as string, parts ...formPart) []*file {
	in.t.Helper()
	a := in.posts(as, parts...)
	if a.Code != http.StatusOK {
		in.t.Fatalf("upload: %d %s", a.Code, a.Body)
	}
	var out files
	a.data(&out)
	return out.Data
}

// keep uploads one file.
func (in *instance) keep(as, name, body string, fields ...formPart) *file {
	in.t.Helper()
	return in.keeps(as, append(fields, filePart(name, body))...)[0]
}

// set changes a setting as the owner does.
func (in *instance) set(name, value string) {
	in.t.Helper()
	in.ok("PUT", "/system/setting", fmt.Sprintf(`{"values":{%q:%q}}`, name, value), "owner")
}

// record reads a file's record.
func (in *instance) record(id store.ID, as string) *file {
	in.t.Helper()
	var f file
	in.ok("GET", fmt.Sprint("/file/list/", id), "", as).data(&f)
	return &f
}

// contentURL is the address of a file's bytes.
func contentURL(id store.ID) string { return fmt.Sprintf("/file/list/%d/content", id) }

// blobs counts the blobs that are stored; the sweeper waits meanwhile.
func (in *instance) blobs() int {
	in.t.Helper()
	var report store.Report
	must(in.t, in.db.VerifyFiles(&report))
	return report.Blobs
}

// swept waits until so many blobs are left.
func (in *instance) swept(want int) {
	in.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); in.blobs() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			in.t.Fatalf("%d blobs are left, want %d", in.blobs(), want)
		}
	}
}

// filler is n bytes that are told by their head.
func filler(head string, n int) string {
	return head + strings.Repeat("x", n-len(head))
}

// The heads by which these kinds are told.
const (
	imageHead   = "\x89PNG\r\n\x1a\n"
	audioHead   = "fLaC\x00\x00\x00\x22"
	videoHead   = "\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x82\x84webm"
	archiveHead = "\x1f\x8b\x08"
	documentPDF = "%PDF-1.7\n"
	otherHead   = "\x00\x01\x02\x03\xff"
)
