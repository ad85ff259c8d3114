package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"reeve/store/errs"
)

// samplePictures are small ones of every kind.
func samplePictures(t testing.TB) map[string][]byte {
	img := quarters(16, 8, red, lime, blue, white)
	pal := converted(image.NewPaletted(img.Rect, color.Palette{hole, red, lime, blue}), img)
	exif := exifOf(binary.BigEndian, 6, "")
	return map[string][]byte{
		"png":              inPNG(asPNG(t, img), pngChunk("eXIf", exif)),
		"png, 16 bits":     asPNG(t, converted(image.NewNRGBA64(img.Rect), img)),
		"png, palette":     asPNG(t, pal),
		"jpeg":             inJPEG(asJPEG(t, img), jpegSegment(0xE1, joined([]byte(exifMark), exif))),
		"jpeg, gray":       asJPEG(t, converted(image.NewGray(img.Rect), img)),
		"jpeg, CMYK":       fixture(t, cmykJPEG),
		"jpeg progressive": fixture(t, progressiveJPEG),
		"gif":              asGIF(t, pal),
		"webp":             webpOf(webpCanvas(8, 64, 32), webpChunks(fixture(t, lossyWebP)), webpChunk("EXIF", exif)),
		"webp, no loss":    fixture(t, losslessWebP),
		"webp, hole":       fixture(t, alphaWebP),
	}
}

// checkShrunk decodes what has been encoded.
func checkShrunk(t testing.TB, out []byte, mediaType string, width, height int) image.Image {
	t.Helper()
	decode := map[string]func(io.Reader) (image.Image, error){"image/png": png.Decode, "image/jpeg": jpeg.Decode}[mediaType]
	if decode == nil {
		t.Fatalf("the media type is %q", mediaType)
	}
	img, err := decode(bytes.NewReader(out))
	if err != nil {
		t.Fatalf("the result, %s, is none: %v", mediaType, err)
	}
	if b := img.Bounds(); b.Empty() || b.Dx() > width || b.Dy() > height {
		t.Fatalf("the result is %v", b)
	}
	return img
}

// FuzzShrink holds that any input is a picture or a fault of the input, and takes
// the memory that its header led to expect.
func FuzzShrink(f *testing.F) {
	for _, data := range samplePictures(f) {
		f.Add(data)
	}
	for _, test := range hostilePictures(f) {
		if len(test.data) < 1<<12 {
			f.Add(test.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pic, err := inspectPicture(&pictureSource{ctx: context.Background(), src: bytes.NewReader(data)})
		expected := 0
		if err == nil && pic.affordable(8, 6) == nil {
			expected = pic.memory(8, 6)
		}
		var out []byte
		var mediaType string
		used := allocating(func() { out, mediaType, err = shrinkBytes(t, data, 8, 6) })
		if used > uint64(expected)+1<<20 {
			t.Errorf("%d KiB were allocated, %d expected", used>>10, expected>>10)
		}
		if err == nil {
			checkShrunk(t, out, mediaType, 8, 6)
		} else if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.BadMedia) {
			t.Error(err)
		}
	})
}
