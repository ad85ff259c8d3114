package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// cleanPicture returns a picture as it is sent to everybody.
func cleanPicture(t testing.TB, media string, data []byte) []byte {
	t.Helper()
	pieces, err := cutPicture(media, bytes.NewReader(data), int64(len(data)))
	must(t, err)
	out, err := io.ReadAll(newStitched(bytes.NewReader(data), pieces))
	must(t, err)
	return out
}

// pixels decodes a picture as it is to be seen.
func pixels(t testing.TB, data []byte) string {
	t.Helper()
	img, _ := shrunkTo(t, data, 800, 800)
	return fmt.Sprint(img.Bounds(), img)
}

// untold is what a public picture must not have: all that tells but how it looks.
func untold(text string) string {
	for _, told := range tell {
		if !slices.Contains([]string{"Exif", "ICC_PROFILE", "acsp-profile", "NETSCAPE"}, told) && strings.Contains(text, told) {
			return told
		}
	}
	return ""
}

// TestPublicPicturesTellNothing of where, when and by whom they were taken, however
// they are asked for; their owner still gets what was uploaded.
func TestPublicPicturesTellNothing(t *testing.T) {
	in := start(t)
	for name, data := range telling(t, quarters(64, 32, red, lime, blue, white), lossyWebP) {
		f := in.keep("owner", "photo", string(data), fieldPart("public", "1"))
		at := in.publicURL(f.ID)
		whole := in.ok("GET", at, "", "nobody")
		if told := untold(whole.Body); told != "" || len(whole.Body) >= len(data) {
			t.Errorf("%s: it tells %q, %d of %d bytes", name, told, len(whole.Body), len(data))
		}
		if pixels(t, []byte(whole.Body)) != pixels(t, data) {
			t.Errorf("%s: it looks otherwise", name)
		}
		head, again := in.get("HEAD", at, "nobody"), in.get("GET", at, "nobody")
		if length := fmt.Sprint(len(whole.Body)); head.Header.Get("Content-Length") != length || again.Body != whole.Body || head.Header.Get("Etag") != whole.Header.Get("Etag") {
			t.Errorf("%s: HEAD %v, want %s bytes", name, head.Header, length)
		}
		for _, r := range [][2]int{{0, 1}, {3, 40}, {20, len(whole.Body)}, {len(whole.Body) - 5, len(whole.Body)}} {
			part := in.get("GET", at, "nobody", "Range", fmt.Sprintf("bytes=%d-%d", r[0], r[1]-1))
			if part.Code != 206 || part.Body != whole.Body[r[0]:r[1]] {
				t.Errorf("%s: bytes %v: %d %q", name, r, part.Code, part.Body)
			}
		}
		in.get("GET", at, "nobody", "Range", fmt.Sprintf("bytes=%d-", len(whole.Body))).brief(416)
		in.get("GET", at, "nobody", "If-None-Match", whole.Header.Get("Etag")).brief(304)
		old := in.get("GET", at, "nobody", "If-None-Match", etag(f.SHA256.String())) // of an answer of an older version
		if old.Code != 200 {
			t.Errorf("%s: %d for the tag of the bytes as they were uploaded", name, old.Code)
		}
		if own := in.ok("GET", contentURL(f.ID), "", "owner"); own.Body != string(data) || own.Header.Get("Etag") == whole.Header.Get("Etag") {
			t.Errorf("%s: the owner gets %d bytes of %d", name, len(own.Body), len(data))
		}
	}
}

// TestOrientationSurvives, and nothing else of EXIF.
func TestOrientationSurvives(t *testing.T) {
	img := quarters(64, 32, red, lime, blue, white)
	for orientation := uint16(1); orientation <= 8; orientation++ {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			exif := exifOf(order, orientation, "GPS-52.5163N-13.3777E")
			for media, data := range map[string][]byte{
				"image/jpeg": inJPEG(asJPEG(t, img), jpegSegment(0xE1, joined([]byte(exifMark), exif)), jpegSegment(0xE1, joined([]byte(exifMark), exif))),
				"image/png":  inPNG(asPNG(t, img), pngChunk("eXIf", exif)),
				"image/webp": webpOf(webpCanvas(8, 64, 32), webpChunks(fixture(t, lossyWebP)), webpChunk("EXIF", exif)),
			} {
				out := cleanPicture(t, media, data)
				if pixels(t, out) != pixels(t, data) || bytes.Contains(out, []byte("GPS")) {
					t.Errorf("%s of orientation %d", media, orientation)
				}
				if again := cleanPicture(t, media, out); !bytes.Equal(again, out) {
					t.Errorf("%s of orientation %d is cleaned twice", media, orientation)
				}
			}
		}
	}
}

// TestPicturesThatCantBeCleanedStayPrivate: HEIC and TIFF have places, too.
func TestPicturesThatCantBeCleanedStayPrivate(t *testing.T) {
	in := start(t)
	tiff := "II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00GPS"
	in.posts("owner", filePart("a.tif", tiff), fieldPart("public", "1")).names(422, "public")
	f := in.keep("owner", "a.tif", tiff)
	in.call("PUT", fmt.Sprint("/file/list/", f.ID), `{"public":1}`, "owner").names(422, "public")
	in.call("PUT", fmt.Sprintf("/file/list?ids=%d", f.ID), `{"public":1}`, "owner").names(422, "public")
	if f.MIME != "image/tiff" || in.publicURL(f.ID) != "" {
		t.Errorf("%s, %s", f.MIME, in.publicURL(f.ID))
	}
	// A picture in more parts than anybody's has.
	comments := bytes.Repeat(joined(jpegSegment(0xDD, []byte{0, 0}), jpegSegment(0xFE, []byte("x"))), maxPieces+10)
	many := in.keep("owner", "b.jpg", string(inJPEG(asJPEG(t, quarters(16, 8, red, lime, blue, white)), comments)), fieldPart("public", "1"))
	in.call("GET", in.publicURL(many.ID), "", "nobody").brief(404, `"errorCode":"not_cleanable"`)
	in.ok("GET", contentURL(many.ID), "", "owner")
	// Animations keep their frames and nothing between them.
	frame := joined(make([]byte, 16), webpChunks(fixture(t, lossyWebP)))
	if out := cleanPicture(t, "image/webp", webpOf(webpCanvas(2, 64, 32), webpChunk("ANIM", make([]byte, 6)), webpChunk("ANMF", frame), webpChunk("XMP ", []byte("GPS")))); !bytes.Contains(out, frame) || bytes.Contains(out, []byte("GPS")) {
		t.Errorf("%q", out)
	}
	if _, err := cutPicture("image/webp", bytes.NewReader(webpOf(webpCanvas(2, 64, 32), webpChunk("ANMF", joined(make([]byte, 16), webpChunk("EXIF", []byte("GPS")))))), 100); err != errUncut {
		t.Errorf("a frame with EXIF: %v", err)
	}
}

// FuzzCleanPicture: whatever the bytes, the pieces lie inside of them, are few, read
// as one, and have nothing that was to be left out; a picture looks as before.
func FuzzCleanPicture(f *testing.F) {
	types := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	for _, data := range samplePictures(f) {
		for i := range types {
			f.Add(uint8(i), data)
		}
	}
	for _, data := range telling(f, quarters(16, 8, red, lime, blue, white), alphaWebP) {
		for i := range types {
			f.Add(uint8(i), data)
			f.Add(uint8(i), data[:len(data)/2])
		}
	}
	f.Fuzz(func(t *testing.T, of uint8, data []byte) {
		media := types[int(of)%len(types)]
		pieces, err := cutPicture(media, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if err != errUncut {
				t.Fatal(err)
			}
			return
		}
		size := int64(0)
		for _, p := range pieces {
			if p.Own == nil && (p.At < 0 || p.Size <= 0 || p.At+p.Size > int64(len(data))) || p.Own != nil && int64(len(p.Own)) != p.Size {
				t.Fatalf("%+v of %d bytes", p, len(data))
			}
			size += p.Size
		}
		s := newStitched(bytes.NewReader(data), pieces)
		out, err := io.ReadAll(s)
		if err != nil || int64(len(out)) != size || len(pieces) > maxPieces {
			t.Fatalf("%d bytes of %d in %d pieces: %v", len(out), size, len(pieces), err)
		}
		for at := range min(size, 40) {
			s.Seek(at, io.SeekStart)
			if b := make([]byte, 1); must1(s.Read(b)) != 1 || b[0] != out[at] {
				t.Fatalf("byte %d", at)
			}
		}
	})
}

func must1(n int, err error) int {
	if err != nil {
		return -1
	}
	return n
}
