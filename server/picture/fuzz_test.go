package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"testing"

	"reeve/server/picture/picturetest"
	"reeve/store/errs"
)

// samplePictures returns small pictures of every kind.
func samplePictures(t testing.TB) map[string][]byte {
	img := picturetest.Quarters(16, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	pal := picturetest.Converted(image.NewPaletted(img.Rect,
		color.Palette{picturetest.Hole, picturetest.Red, picturetest.Lime, picturetest.Blue}), img)
	exif := picturetest.EXIF(binary.BigEndian, 6, "")
	return map[string][]byte{
		"png": picturetest.InPNG(picturetest.PNG(t, img),
			picturetest.PNGChunk("eXIf", exif)),
		"png, 16 bits": picturetest.PNG(t,
			picturetest.Converted(image.NewNRGBA64(img.Rect), img)),
		"png, palette": picturetest.PNG(t, pal),
		"jpeg": picturetest.InJPEG(picturetest.JPEG(t, img),
			picturetest.JPEGSegment(0xE1, picturetest.Join([]byte(exifMark), exif))),
		"jpeg, gray": picturetest.JPEG(t,
			picturetest.Converted(image.NewGray(img.Rect), img)),
		"jpeg, CMYK":       picturetest.Fixture(t, picturetest.CMYKJPEG),
		"jpeg progressive": picturetest.Fixture(t, picturetest.ProgressiveJPEG),
		"gif":              picturetest.GIF(t, pal),
		"webp": picturetest.WebP(picturetest.WebPCanvas(8, 64, 32),
			picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)),
			picturetest.WebPChunk("EXIF", exif)),
		"webp, no loss": picturetest.Fixture(t, picturetest.LosslessWebP),
		"webp, hole":    picturetest.Fixture(t, picturetest.AlphaWebP),
	}
}

// FuzzShrink checks that any input gives a picture or an error about the input, and
// that memory stays within the estimate from its header.
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
		pic, err := inspectPicture(&pictureSource{
			ctx: context.Background(),
			src: bytes.NewReader(data),
		})

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
			picturetest.Decode(t, out, mediaType, 8, 6)
		} else if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.BadMedia) {
			t.Error(err)
		}
	})
}
