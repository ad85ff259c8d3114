package files_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
)

// TestPublicURL: a public URL needs no token, works as long as the file has it, can be
// cached, and is never used again.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f := in.Keep("owner", "open.txt", "for everybody")
	url := fmt.Sprint("/file/list/", f.ID)
	seen := map[string]bool{}
	for name, end := range map[string]func(){
		"made private": func() { in.OK("PUT", url, `{"public":0}`, "owner") },
		"made private of many": func() {
			in.OK("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"public":false}`, "owner")
		},
		"moved to the trash": func() {
			in.OK("DELETE", url, "", "owner")
			in.OK("PUT", fmt.Sprint("/file/trash/", f.ID), "", "owner")
		},
	} {
		if before := in.PublicURL(f.ID); before != "" {
			t.Errorf("it is public at %s before %s", before, name)
		}

		in.OK("PUT", url, `{"public":1}`, "owner").Brief(200, `"public":1`)
		at := in.PublicURL(f.ID)
		in.OK("PUT", url, `{"public":1,"name":"other.txt"}`, "owner")
		if again := in.PublicURL(f.ID); at == "" || seen[at] || again != at {
			t.Errorf("%s: the address is %q, then %q; before %v", name, at, again, seen)
		}

		seen[at] = true
		a := in.OK("GET", at, "", "nobody")
		a.Safe(false)
		if a.Body != "for everybody" ||
			a.Header.Get("Cache-Control") != "public, max-age=60, must-revalidate" ||
			a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
			t.Errorf("%q %v", a.Body, a.Header)
		}

		in.Get("GET", at, "nobody", "If-None-Match", a.Header.Get("Etag")).Brief(304)
		end()
		in.Get("GET", at, "nobody", "If-None-Match", a.Header.Get("Etag")).Brief(404) // a cache that revalidates
		for old := range seen {
			in.Call("GET", old, "", "nobody").Brief(404, `"errorCode":"not_found"`)
			in.Call("HEAD", old, "", "owner").Brief(404)
		}
	}

	a := in.OK("GET", servertest.ContentURL(f.ID), "", "owner")
	if a.Header.Get("Cache-Control") != "private, no-cache" ||
		a.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
		t.Errorf("%v", a.Header)
	}

	for _, key := range []string{"x", "..", "%00", strings.Repeat("A", 26),
		strings.Repeat("A", 300), f.SHA256.String()} {
		if a := in.Call("GET", "/media/"+key, "", "owner"); a.Code != 404 ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", key, a.Code, a.Header)
		}
	}
}

// TestAvatars: an avatar is public, and its URL and its content are deleted when it is
// replaced.
func TestAvatars(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	clerk := in.Clerk("clerk")
	first := in.Avatar("clerk",
		string(picturetest.PNG(t,
			picturetest.Quarters(600, 300, picturetest.Red, picturetest.Lime, picturetest.Blue,
				picturetest.White))))
	a := in.OK("GET", first.AvatarURL, "", "nobody")
	a.Safe(true)
	if b := picturetest.Decode(t, []byte(a.Body), a.Header.Get("Content-Type"), 256, 128).Bounds(); b.Dx() != 256 || b.Dy() != 128 || a.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("%v %v", b, a.Header)
	}

	in.Call("GET", first.AvatarURL+"?thumb=64x64", "", "nobody").Names(400, "thumb")
	in.Get("GET", first.AvatarURL, "nobody", "If-None-Match", a.Header.Get("Etag")).Brief(304)
	for url, as := range map[string]string{
		"/admin/info":                        "clerk",
		fmt.Sprint("/admin/list/", clerk.ID): "owner",
		"/admin/list?keywordSearch=clerk":    "owner",
	} {
		in.OK("GET", url, "", as).Brief(200,
			fmt.Sprintf(`"avatar_id":%d,"avatar_url":%q`, first.AvatarID, first.AvatarURL))
	}

	if export := in.OK("GET", "/admin/list-export", "", "owner").Body; strings.Contains(export,
		"avatar") || strings.Contains(export, "/media/") {
		t.Errorf("exported: %s", export)
	}

	in.Avatar("owner", string(picturetest.PNG(t, picturetest.Quarters(600, 300, picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White)))) // the same content
	swept(in, 1)
	second := in.Avatar("clerk",
		string(picturetest.PNG(t,
			picturetest.Quarters(8, 8, picturetest.White, picturetest.Lime, picturetest.Blue,
				picturetest.Red))))
	if second.AvatarID == first.AvatarID || second.AvatarURL == first.AvatarURL {
		t.Errorf("%+v, then %+v", first, second)
	}

	in.Call("GET", first.AvatarURL, "", "nobody").Brief(404)
	in.OK("GET", second.AvatarURL, "", "nobody")
	swept(in, 2)
	in.OK("DELETE", fmt.Sprint("/admin/list/", clerk.ID), "", "owner")
	in.Call("GET", second.AvatarURL, "", "nobody").Brief(404)
	swept(in, 1)
}

// TestAvatar_InvalidPictures checks that invalid pictures are rejected and keep the previous
// avatar.
func TestAvatar_InvalidPictures(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	picture := string(picturetest.PNG(t,
		picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White)))
	in.Avatar("owner", picture)
	before := in.Dump()
	for name, c := range map[string]struct {
		parts  []servertest.FormPart
		status int
		field  string
	}{
		"nothing": {nil, 400, "file"},
		"a field first": {[]servertest.FormPart{servertest.FieldPart("public", "1"),
			servertest.FilePart("x.png", picture)}, 400, "public"},
		"another name": {[]servertest.FormPart{{
			Header: `Content-Disposition: form-data; name="avatar"; filename="x.png"`,
			Body:   picture,
		}}, 400, "avatar"},
		"an empty file": {[]servertest.FormPart{servertest.FilePart("x.png", "")}, 415,
			"file"},
		"a text": {[]servertest.FormPart{servertest.FilePart("x.png", "words")}, 415,
			"file"},
		"half a picture": {[]servertest.FormPart{servertest.FilePart("x.png", picture[:50])},
			422, "file"},
		"a byte too many": {[]servertest.FormPart{servertest.FilePart("x.png",
			filler(picture, files.MaxAvatarBytes+1))}, 413, "file"},
		"more than the form's": {[]servertest.FormPart{servertest.FilePart("x.png",
			filler(picture, 3<<20))}, 413, "file"},
		"a huge header": {[]servertest.FormPart{{
			Header: "X-Pad: " + strings.Repeat("x", 3<<20),
			Body:   "",
		}}, 413, ""},
	} {
		a := in.Send(in.Multipart("/admin/avatar",
			strings.NewReader(servertest.MultipartBody(c.parts...)), "owner"))
		if e := a.Envelope(); a.Code != c.status || (c.field != "") != (len(e.Errors) == 1) ||
			c.field != "" && e.Errors[c.field] == "" {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		in.Unchanged(before)
	}

	swept(in, 1)
	in.Avatar("owner", filler(picture, files.MaxAvatarBytes))
}

// A file whose public URL would send it with its metadata is marked; a picture of which it cannot
// be removed can't be public.
func TestFile_KeepsMetadataIsSaid(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := func(brand string) string {
		return "\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x00\x00" + brand + "isom"
	}
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
		f := in.Keep("owner", name, c.content)
		url := fmt.Sprint("/file/list/", f.ID)
		in.OK("GET", url, "", "owner").Brief(200, fmt.Sprintf(`"mime":%q`, c.mime),
			fmt.Sprintf(`"keeps_metadata":%d`, map[bool]int{true: 1}[c.keeps]))
		if a := in.Call("PUT", url, `{"public":1}`, "owner"); (a.Code == 422) != c.refused {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}
