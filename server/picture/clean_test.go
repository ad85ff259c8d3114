package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"testing"

	"reeve/server/picture/picturetest"
)

// cleanPicture returns a picture in its public form.
func cleanPicture(t testing.TB, media string, data []byte) []byte {
	t.Helper()
	pieces, err := Clean(media, bytes.NewReader(data), int64(len(data)))
	must(t, err)
	out, err := io.ReadAll(Stitch(bytes.NewReader(data), pieces))
	must(t, err)
	return out
}

func shrinkBytes(t testing.TB, data []byte, width, height int) ([]byte, string, error) {
	t.Helper()
	return NewScaler().Scale(context.Background(), bytes.NewReader(data), width, height)
}

// shrunkTo scales a picture, which must succeed.
func shrunkTo(t testing.TB, data []byte, width, height int) (image.Image, string) {
	t.Helper()
	out, mediaType, err := shrinkBytes(t, data, width, height)
	must(t, err)
	return picturetest.Decode(t, out, mediaType, width, height), mediaType
}

// pixels decodes a picture and turns it upright.
func pixels(t testing.TB, data []byte) string {
	t.Helper()
	img, _ := shrunkTo(t, data, 800, 800)
	return fmt.Sprint(img.Bounds(), img)
}

// TestClean_KeepsOrientation checks that the orientation survives, and nothing else of
// EXIF.
func TestClean_KeepsOrientation(t *testing.T) {
	img := picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	for orientation := uint16(1); orientation <= 8; orientation++ {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			exif := picturetest.EXIF(order, orientation, "GPS-52.5163N-13.3777E")
			for media, data := range map[string][]byte{
				"image/jpeg": picturetest.InJPEG(picturetest.JPEG(t, img),
					picturetest.JPEGSegment(0xE1, picturetest.Join([]byte(exifMark), exif)),
					picturetest.JPEGSegment(0xE1, picturetest.Join([]byte(exifMark), exif))),
				"image/png": picturetest.InPNG(picturetest.PNG(t, img),
					picturetest.PNGChunk("eXIf", exif)),
				"image/webp": picturetest.WebP(picturetest.WebPCanvas(8, 64, 32),
					picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)),
					picturetest.WebPChunk("EXIF", exif)),
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

// TestAnimations checks that animations keep their frames and nothing between them.
func TestAnimations(t *testing.T) {
	frame := picturetest.Join(make([]byte, 16),
		picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)))
	if out := cleanPicture(t, "image/webp",
		picturetest.WebP(picturetest.WebPCanvas(2, 64, 32),
			picturetest.WebPChunk("ANIM", make([]byte, 6)), picturetest.WebPChunk("ANMF", frame),
			picturetest.WebPChunk("XMP ", []byte("GPS")))); !bytes.Contains(out, frame) ||
		bytes.Contains(out, []byte("GPS")) {
		t.Errorf("%q", out)
	}
	if _, err := Clean("image/webp",
		bytes.NewReader(picturetest.WebP(picturetest.WebPCanvas(2, 64, 32),
			picturetest.WebPChunk("ANMF",
				picturetest.Join(make([]byte, 16), picturetest.WebPChunk("EXIF", []byte("GPS")))))), 100); err != ErrNotCleanable {
		t.Errorf("a frame with EXIF: %v", err)
	}
}

// FuzzCleanPicture: for any input, the pieces lie within it, are few, can be read as
// one file, and contain no metadata; a picture looks as before.
func FuzzCleanPicture(f *testing.F) {
	types := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	for _, data := range samplePictures(f) {
		for i := range types {
			f.Add(uint8(i), data)
		}
	}

	for _, data := range picturetest.WithMetadata(f,
		picturetest.Quarters(16, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White), picturetest.AlphaWebP) {
		for i := range types {
			f.Add(uint8(i), data)
			f.Add(uint8(i), data[:len(data)/2])
		}
	}

	f.Fuzz(func(t *testing.T, of uint8, data []byte) {
		media := types[int(of)%len(types)]
		pieces, err := Clean(media, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if err != ErrNotCleanable {
				t.Fatal(err)
			}
			return
		}

		size := int64(0)
		for _, p := range pieces {
			if p.Own == nil && (p.At < 0 || p.Size <= 0 || p.At+p.Size > int64(len(data))) ||
				p.Own != nil && int64(len(p.Own)) != p.Size {
				t.Fatalf("%+v of %d bytes", p, len(data))
			}
			size += p.Size
		}

		s := Stitch(bytes.NewReader(data), pieces)
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
