package servertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"reeve/server/files"
	"reeve/store"
)

// FormPart is one part of a multipart body: its header, verbatim, and its content.
type FormPart struct{ Header, Body string }

// FilePart returns a file with a name, as a browser sends it.
func FilePart(name, body string) FormPart {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
	return FormPart{`Content-Disposition: form-data; name="file"; filename="` + name + `"` + "\r\nContent-Type: application/octet-stream", body}
}

// FieldPart returns a form field.
func FieldPart(name, value string) FormPart {
	return FormPart{fmt.Sprintf("Content-Disposition: form-data; name=%q", name), value}
}

// MultipartBody joins parts with the boundary edge.
func MultipartBody(parts ...FormPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--edge\r\n" + p.Header + "\r\n\r\n" + p.Body + "\r\n")
	}
	return b.String() + "--edge--\r\n"
}

// Multipart returns the request of an upload with a given body.
func (in *Instance) Multipart(url string, body io.Reader, as string) *http.Request {
	in.T.Helper()
	r := httptest.NewRequest("POST", url, body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=edge")
	Authorize(r, in.Tokens[as])
	return r
}

// Posts sends an upload of parts.
func (in *Instance) Posts(as string, parts ...FormPart) *Reply {
	in.T.Helper()
	return in.Send(in.Multipart("/file/list", strings.NewReader(MultipartBody(parts...)), as))
}

// Keeps uploads parts, which must succeed, and returns the records.
func (in *Instance) Keeps(as string, parts ...FormPart) []*files.File {
	in.T.Helper()
	a := in.Posts(as, parts...)
	if a.Code != http.StatusOK {
		in.T.Fatalf("upload: %d %s", a.Code, a.Body)
	}
	var out files.Files
	a.Data(&out)
	return out.Data
}

// Keep uploads one file.
func (in *Instance) Keep(as, name, body string, fields ...FormPart) *files.File {
	in.T.Helper()
	return in.Keeps(as, append(fields, FilePart(name, body))...)[0]
}

// Set changes a setting as the owner.
func (in *Instance) Set(name, value string) {
	in.T.Helper()
	in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{%q:%q}}`, name, value), "owner")
}

// Record returns a file's record.
func (in *Instance) Record(id store.ID, as string) *files.File {
	in.T.Helper()
	var f files.File
	in.OK("GET", fmt.Sprint("/file/list/", id), "", as).Data(&f)
	return &f
}

// ContentURL returns the URL of a file's content.
func ContentURL(id store.ID) string { return fmt.Sprintf("/file/list/%d/content", id) }

// Get sends a request with headers, given as pairs of name and value.
func (in *Instance) Get(method, url, as string, headers ...string) *Reply {
	in.T.Helper()
	r := in.Request(method, url, "", as)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return in.Send(r)
}

// Safe fails unless content is harmless in a browser: it must be saved instead of shown,
// unless the server has generated the picture (inline).
func (a *Reply) Safe(inline bool) {
	a.T.Helper()
	h := a.Header
	kind, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	if h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'; sandbox" ||
		inline != (kind == "inline") || !inline && kind != "attachment" {
		a.T.Errorf("%s: %v", a.Sent, h)
	}
	if media := h.Get("Content-Type"); inline && media != "image/png" && media != "image/jpeg" {
		a.T.Errorf("%s: %s is shown", a.Sent, media)
	}
}

// Link creates a signed link to a file.
func (in *Instance) Link(id store.ID, body, as string) files.LinkOut {
	in.T.Helper()
	var out files.LinkOut
	in.OK("POST", fmt.Sprintf("/file/list/%d/link", id), body, as).Data(&out)
	return out
}

// PublicURL returns a file's public URL, "" if it is not public.
func (in *Instance) PublicURL(id store.ID) string {
	in.T.Helper()
	if f := in.Record(id, "owner"); strings.HasPrefix(f.URL, "/media/") {
		return f.URL
	}
	return ""
}

// Avatar sets a user's avatar.
func (in *Instance) Avatar(as, picture string) (out files.AvatarOut) {
	in.T.Helper()
	a := in.Send(in.Multipart("/admin/avatar",
		strings.NewReader(MultipartBody(FilePart("me.png", picture))), as))
	if a.Code != 200 {
		in.T.Fatalf("avatar: %d %s", a.Code, a.Body)
	}
	a.Data(&out)
	return out
}
