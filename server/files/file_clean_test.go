package files_test

import (
	"bytes"
	"fmt"
	"testing"

	"reeve/server/picture"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/server/web"
)

// scaled returns the pixels of a picture, scaled to at most 800 × 800.
func scaled(t testing.TB, data []byte) string {
	t.Helper()
	out, media, err := picture.NewScaler().Scale(t.Context(), bytes.NewReader(data), 800, 800)
	servertest.Must(t, err)
	img := picturetest.Decode(t, out, media, 800, 800)
	return fmt.Sprint(img.Bounds(), img)
}

// TestPublicPicture_NoMetadata checks that public pictures have no metadata (place, time,
// author) in any kind of response, and that their owner still gets the unmodified file.
func TestPublicPicture_NoMetadata(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, data := range picturetest.WithMetadata(t,
		picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White), picturetest.LossyWebP) {
		f := in.Keep("owner", "photo", string(data), servertest.FieldPart("public", "1"))
		at := in.PublicURL(f.ID)
		whole := in.OK("GET", at, "", "nobody")
		if told := picturetest.FindMetadata(whole.Body); told != "" ||
			len(whole.Body) >= len(data) {
			t.Errorf("%s: it tells %q, %d of %d bytes", name, told, len(whole.Body), len(data))
		}
		if scaled(t, []byte(whole.Body)) != scaled(t, data) {
			t.Errorf("%s: it looks otherwise", name)
		}

		head, again := in.Get("HEAD", at, "nobody"), in.Get("GET", at, "nobody")
		if length := fmt.Sprint(len(whole.Body)); head.Header.Get("Content-Length") != length ||
			again.Body != whole.Body || head.Header.Get("Etag") != whole.Header.Get("Etag") {
			t.Errorf("%s: HEAD %v, want %s bytes", name, head.Header, length)
		}

		for _, r := range [][2]int{{0, 1}, {3, 40}, {20, len(whole.Body)},
			{len(whole.Body) - 5, len(whole.Body)}} {
			part := in.Get("GET", at, "nobody", "Range", fmt.Sprintf("bytes=%d-%d", r[0], r[1]-1))
			if part.Code != 206 || part.Body != whole.Body[r[0]:r[1]] {
				t.Errorf("%s: bytes %v: %d %q", name, r, part.Code, part.Body)
			}
		}

		in.Get("GET", at, "nobody", "Range", fmt.Sprintf("bytes=%d-", len(whole.Body))).Brief(416)
		in.Get("GET", at, "nobody", "If-None-Match", whole.Header.Get("Etag")).Brief(304)
		old := in.Get("GET", at, "nobody", "If-None-Match", web.ETag(f.SHA256.String())) // the tag that an older version sent
		if old.Code != 200 {
			t.Errorf("%s: %d for the tag of the bytes as they were uploaded", name, old.Code)
		}
		if own := in.OK("GET", servertest.ContentURL(f.ID), "", "owner"); own.Body != string(data) ||
			own.Header.Get("Etag") == whole.Header.Get("Etag") {
			t.Errorf("%s: the owner gets %d bytes of %d", name, len(own.Body), len(data))
		}
	}
}

// TestPublicPicture_UncleanableStaysPrivate: HEIC and TIFF can have metadata that is not
// removed.
func TestPublicPicture_UncleanableStaysPrivate(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	tiff := "II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00GPS"
	in.Posts("owner", servertest.FilePart("a.tif", tiff), servertest.FieldPart("public", "1")).Names(422, "public")
	f := in.Keep("owner", "a.tif", tiff)
	in.Call("PUT", fmt.Sprint("/file/list/", f.ID), `{"public":1}`, "owner").Names(422, "public")
	in.Call("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"public":1}`, "owner").Names(422,
		"public")
	if f.MIME != "image/tiff" || in.PublicURL(f.ID) != "" {
		t.Errorf("%s, %s", f.MIME, in.PublicURL(f.ID))
	}
	// A picture in more segments than plausible.
	comments := bytes.Repeat(picturetest.Join(picturetest.JPEGSegment(0xDD, []byte{0, 0}),
		picturetest.JPEGSegment(0xFE, []byte("x"))), 1100)
	many := in.Keep("owner", "b.jpg",
		string(picturetest.InJPEG(picturetest.JPEG(t,
			picturetest.Quarters(16, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
				picturetest.White)), comments)), servertest.FieldPart("public", "1"))
	in.Call("GET", in.PublicURL(many.ID), "", "nobody").Brief(404, `"errorCode":"not_cleanable"`)
	in.OK("GET", servertest.ContentURL(many.ID), "", "owner")
}
