package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/store"
)

// PublicURL returns a file's public URL, "" if it is not public.
func (in *instance) publicURL(id store.ID) string {
	in.t.Helper()
	if f := in.record(id, "owner"); strings.HasPrefix(f.URL, "/media/") {
		return f.URL
	}
	return ""
}

// TestPublicURL: a public URL needs no token, works as long as the file has it, can be
// cached, and is never used again.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	in := start(t)
	f := in.keep("owner", "open.txt", "for everybody")
	url := fmt.Sprint("/file/list/", f.ID)
	seen := map[string]bool{}
	for name, end := range map[string]func(){
		"made private":         func() { in.ok("PUT", url, `{"public":0}`, "owner") },
		"made private of many": func() { in.ok("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"public":false}`, "owner") },
		"moved to the trash": func() {
			in.ok("DELETE", url, "", "owner")
			in.ok("PUT", fmt.Sprint("/file/trash/", f.ID), "", "owner")
		},
	} {
		if before := in.publicURL(f.ID); before != "" {
			t.Errorf("it is public at %s before %s", before, name)
		}
		in.ok("PUT", url, `{"public":1}`, "owner").brief(200, `"public":1`)
		at := in.publicURL(f.ID)
		in.ok("PUT", url, `{"public":1,"name":"other.txt"}`, "owner")
		if again := in.publicURL(f.ID); at == "" || seen[at] || again != at {
			t.Errorf("%s: the address is %q, then %q; before %v", name, at, again, seen)
		}
		seen[at] = true
		a := in.ok("GET", at, "", "nobody")
		a.safe(false)
		if a.Body != "for everybody" || a.Header.Get("Cache-Control") != "public, max-age=60, must-revalidate" || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
			t.Errorf("%q %v", a.Body, a.Header)
		}
		in.get("GET", at, "nobody", "If-None-Match", a.Header.Get("Etag")).brief(304)
		end()
		in.get("GET", at, "nobody", "If-None-Match", a.Header.Get("Etag")).brief(404) // a cache that revalidates
		for old := range seen {
			in.call("GET", old, "", "nobody").brief(404, `"errorCode":"not_found"`)
			in.call("HEAD", old, "", "owner").brief(404)
		}
	}
	a := in.ok("GET", contentURL(f.ID), "", "owner")
	if a.Header.Get("Cache-Control") != "private, no-cache" || a.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
		t.Errorf("%v", a.Header)
	}
	for _, key := range []string{"x", "..", "%00", strings.Repeat("A", 26), strings.Repeat("A", 300), f.SHA256.String()} {
		if a := in.call("GET", "/media/"+key, "", "owner"); a.Code != 404 || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", key, a.Code, a.Header)
		}
	}
}

// avatar sets a user's avatar.
func (in *instance) avatar(as, picture string) (out files.AvatarOut) {
	in.t.Helper()
	a := in.send(in.multipart("/admin/avatar", strings.NewReader(multipartBody(filePart("me.png", picture))), as))
	if a.Code != 200 {
		in.t.Fatalf("avatar: %d %s", a.Code, a.Body)
	}
	a.data(&out)
	return out
}

// TestAvatars: an avatar is public, and its URL and its content are deleted when it is
// replaced.
func TestAvatars(t *testing.T) {
	t.Parallel()
	in := start(t)
	clerk := in.clerk("clerk")
	first := in.avatar("clerk", string(picturetest.PNG(t, picturetest.Quarters(600, 300, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White))))
	a := in.ok("GET", first.AvatarURL, "", "nobody")
	a.safe(true)
	if b := picturetest.Decode(t, []byte(a.Body), a.Header.Get("Content-Type"), 256, 128).Bounds(); b.Dx() != 256 || b.Dy() != 128 || a.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("%v %v", b, a.Header)
	}
	in.call("GET", first.AvatarURL+"?thumb=64x64", "", "nobody").names(400, "thumb")
	in.get("GET", first.AvatarURL, "nobody", "If-None-Match", a.Header.Get("Etag")).brief(304)
	for url, as := range map[string]string{"/admin/info": "clerk", fmt.Sprint("/admin/list/", clerk.ID): "owner", "/admin/list?keywordSearch=clerk": "owner"} {
		in.ok("GET", url, "", as).brief(200, fmt.Sprintf(`"avatar_id":%d,"avatar_url":%q`, first.AvatarID, first.AvatarURL))
	}
	if export := in.ok("GET", "/admin/list-export", "", "owner").Body; strings.Contains(export, "avatar") || strings.Contains(export, "/media/") {
		t.Errorf("exported: %s", export)
	}
	in.avatar("owner", string(picturetest.PNG(t, picturetest.Quarters(600, 300, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White)))) // the same content
	in.swept(1)
	second := in.avatar("clerk", string(picturetest.PNG(t, picturetest.Quarters(8, 8, picturetest.White, picturetest.Lime, picturetest.Blue, picturetest.Red))))
	if second.AvatarID == first.AvatarID || second.AvatarURL == first.AvatarURL {
		t.Errorf("%+v, then %+v", first, second)
	}
	in.call("GET", first.AvatarURL, "", "nobody").brief(404)
	in.ok("GET", second.AvatarURL, "", "nobody")
	in.swept(2)
	in.ok("DELETE", fmt.Sprint("/admin/list/", clerk.ID), "", "owner")
	in.call("GET", second.AvatarURL, "", "nobody").brief(404)
	in.swept(1)
}

// TestAvatar_InvalidPictures checks that invalid pictures are rejected and keep the previous
// avatar.
func TestAvatar_InvalidPictures(t *testing.T) {
	t.Parallel()
	in := start(t)
	picture := string(picturetest.PNG(t, picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White)))
	in.avatar("owner", picture)
	before := in.dump()
	for name, c := range map[string]struct {
		parts  []formPart
		status int
		field  string
	}{
		"nothing":              {nil, 400, "file"},
		"a field first":        {[]formPart{fieldPart("public", "1"), filePart("x.png", picture)}, 400, "public"},
		"another name":         {[]formPart{{`Content-Disposition: form-data; name="avatar"; filename="x.png"`, picture}}, 400, "avatar"},
		"an empty file":        {[]formPart{filePart("x.png", "")}, 415, "file"},
		"a text":               {[]formPart{filePart("x.png", "words")}, 415, "file"},
		"half a picture":       {[]formPart{filePart("x.png", picture[:50])}, 422, "file"},
		"a byte too many":      {[]formPart{filePart("x.png", filler(picture, files.MaxAvatarBytes+1))}, 413, "file"},
		"more than the form's": {[]formPart{filePart("x.png", filler(picture, 3<<20))}, 413, "file"},
		"a huge header":        {[]formPart{{"X-Pad: " + strings.Repeat("x", 3<<20), ""}}, 413, ""},
	} {
		a := in.send(in.multipart("/admin/avatar", strings.NewReader(multipartBody(c.parts...)), "owner"))
		if e := a.envelope(); a.Code != c.status || (c.field != "") != (len(e.Errors) == 1) || c.field != "" && e.Errors[c.field] == "" {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		in.unchanged(before)
	}
	in.swept(1)
	in.avatar("owner", filler(picture, files.MaxAvatarBytes))
}

// A file whose public URL would send it with its metadata is marked; a picture of which it cannot be removed
// can't be public.
func TestFile_KeepsMetadataIsSaid(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := func(brand string) string { return "\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x00\x00" + brand + "isom" }
	for name, c := range map[string]struct {
		content, mime string
		keeps         bool
		refused       bool
	}{
		"a.mp4": {box("isom"), "video/mp4", true, false},
		"a.mov": {box("qt  "), "video/quicktime", true, false},
		"a.svg": {`<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml", true, false},
		"a.cr3": {box("crx "), "image/x-canon-cr3", true, true},
		"a.png": {imageHead, "image/png", false, false},
		"a.txt": {"text", "text/plain; charset=utf-8", true, false},
	} {
		f := in.keep("owner", name, c.content)
		url := fmt.Sprint("/file/list/", f.ID)
		in.ok("GET", url, "", "owner").brief(200, fmt.Sprintf(`"mime":%q`, c.mime), fmt.Sprintf(`"keeps_metadata":%d`, map[bool]int{true: 1}[c.keeps]))
		if a := in.call("PUT", url, `{"public":1}`, "owner"); (a.Code == 422) != c.refused {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}
