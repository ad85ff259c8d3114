package server

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"strings"
	"testing"
)

// What must not come out again: what a photograph tells about its maker, and what
// a reader other than one of pictures would act on.
var tell = []string{
	"Exif", "GPS-52.5163N-13.3777E", "http://ns.adobe.com/", "<x:xmpmeta", "Maker-of-the-picture", "ICC_PROFILE", "acsp-profile",
	"<script>alert", "</html>", "PK\x03\x04", "Photoshop 3.0", "Comment-of-the-maker", "NETSCAPE", "XMP DataXMP",
}

// telling are the kinds of picture, with all of that in every place that they have.
func telling(t testing.TB, img *image.NRGBA, lossy string) map[string][]byte {
	xmp := "<x:xmpmeta>Maker-of-the-picture<script>alert(1)</script></x:xmpmeta>"
	exif := exifOf(binary.LittleEndian, 1, "GPS-52.5163N-13.3777E")
	script := "Comment-of-the-maker <script>alert(1)</script>"
	tail := []byte("PK\x03\x04<html><script>alert(1)</script></html>")
	pal := converted(image.NewPaletted(img.Rect, color.Palette{hole, red, lime, blue, white}), img)
	flags := byte(0x2C)
	if strings.HasPrefix(string(webpChunks(fixture(t, lossy))), "VP8X") {
		flags |= 0x10
	}
	frames := webpChunks(fixture(t, lossy))
	if flags&0x10 != 0 {
		frames = frames[18:]
	}
	return map[string][]byte{
		"png": joined(inPNG(asPNG(t, img), pngChunk("iCCP", []byte("ICC_PROFILE\x00\x00acsp-profile")), pngChunk("eXIf", append([]byte(exifMark), exif...)), pngChunk("tEXt", []byte("Comment\x00"+script)),
			pngChunk("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00http://ns.adobe.com/"+xmp)), pngChunk("prIv", []byte("Photoshop 3.0"))), tail),
		"jpeg": joined(inJPEG(asJPEG(t, img), jpegSegment(0xE1, append([]byte(exifMark), exif...)), jpegSegment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00"+xmp)),
			jpegSegment(0xE2, []byte("ICC_PROFILE\x00\x01\x01acsp-profile")), jpegSegment(0xED, []byte("Photoshop 3.0\x00")), jpegSegment(0xFE, []byte(script))), tail),
		"gif": joined(inGIF(asGIF(t, pal), joined([]byte{0x21, 0xFE}, gifBlocks([]byte(script))), joined([]byte{0x21, 0xFF, 11}, []byte("NETSCAPE2.0"), gifBlocks([]byte{1, 0, 0})),
			joined([]byte{0x21, 0xFF, 11}, []byte("XMP DataXMP"), gifBlocks([]byte(xmp)))), tail),
		"webp": joined(webpOf(webpCanvas(flags, 64, 32), webpChunk("ICCP", []byte("ICC_PROFILE acsp-profile")), frames, webpChunk("EXIF", append([]byte(exifMark), exif...)),
			webpChunk("XMP ", []byte("http://ns.adobe.com/"+xmp)), webpChunk("priv", []byte(script))), tail),
	}
}

func TestNothingButThePictureIsLeft(t *testing.T) {
	for kind, inputs := range map[string]map[string][]byte{
		"opaque":      telling(t, quarters(64, 32, red, lime, blue, white), lossyWebP),
		"transparent": telling(t, quarters(64, 32, red, lime, blue, hole), alphaWebP),
	} {
		for name, data := range inputs {
			held := 0
			for _, side := range []int{8, 64} {
				out, mediaType, err := shrinkBytes(t, data, side, side)
				must(t, err)
				for _, mark := range tell {
					if bytes.Contains(data, []byte(mark)) {
						held++
					}
					if bytes.Contains(out, []byte(mark)) {
						t.Errorf("%s %s: %q is left", kind, name, mark)
					}
				}
				if parts, want := partsOf(t, out, mediaType), map[string]string{"image/png": "IHDR IDAT IEND", "image/jpeg": "db c0 c4 da"}[mediaType]; parts != want {
					t.Errorf("%s %s: the result has %s, want %s", kind, name, parts, want)
				}
				if wantPNG := kind == "transparent" && name != "jpeg"; wantPNG != (mediaType == "image/png") {
					t.Errorf("%s %s: the result is %s", kind, name, mediaType)
				}
			}
			if held < 12 {
				t.Errorf("%s: the input holds only %d of the marks", name, held)
			}
		}
	}
}

// partsOf names the chunks of a png and the segments of a jpeg, and fails when
// there is anything behind the last.
func partsOf(t *testing.T, data []byte, mediaType string) string {
	t.Helper()
	var parts []string
	if mediaType == "image/png" {
		for rest := data[8:]; len(rest) > 0; {
			parts = append(parts, string(rest[4:8]))
			rest = rest[12+binary.BigEndian.Uint32(rest):]
		}
		return strings.Join(parts, " ")
	}
	at := 2
	for parts == nil || parts[len(parts)-1] != "da" {
		parts = append(parts, string("0123456789abcdef"[data[at+1]>>4])+string("0123456789abcdef"[data[at+1]&15]))
		at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
	}
	if end := at + bytes.Index(data[at:], []byte{0xFF, 0xD9}); end != len(data)-2 {
		t.Errorf("%d bytes behind the end", len(data)-2-end)
	}
	return strings.Join(parts, " ")
}
