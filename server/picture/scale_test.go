package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/color/palette"
	"testing"

	"reeve/server/picture/picturetest"
)

// near reports whether two colours are equal up to the loss of a JPEG.
func near(got color.Color, want color.Color) bool {
	const loss = 24 << 8
	r, g, b, a := got.RGBA()
	wr, wg, wb, wa := want.RGBA()
	for _, d := range []int{int(r) - int(wr), int(g) - int(wg), int(b) - int(wb), int(a) - int(wa)} {
		if d > loss || d < -loss {
			return false
		}
	}
	return true
}

// checkQuarters checks the colour in the middle of each quarter.
func checkQuarters(t *testing.T, img image.Image, want ...color.Color) {
	t.Helper()
	b := img.Bounds()
	for i, at := range []image.Point{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		if got := img.At(b.Dx()*at.X/4, b.Dy()*at.Y/4); !near(got, want[i]) {
			t.Errorf("quarter %d is %v, want %v", i, got, want[i])
		}
	}
}

func TestShrink_EveryKind(t *testing.T) {
	img := picturetest.Quarters(160, 80, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	holed := picturetest.Quarters(160, 80, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.Hole)
	grey := []color.Color{color.Gray{0}, color.Gray{80}, color.Gray{160}, color.Gray{255}}
	ycc := image.NewYCbCr(image.Rect(0, 0, 160, 80), image.YCbCrSubsampleRatio444)
	for i := range ycc.Y {
		ycc.Y[i], ycc.Cb[i], ycc.Cr[i] = 255, 128, 128
	}

	r := img.Bounds()
	four, fourHoled := []color.Color{picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White}, []color.Color{picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.Hole}
	for name, test := range map[string]struct {
		data      []byte
		mediaType string
		want      []color.Color
	}{
		"a png":             {picturetest.PNG(t, img), "image/jpeg", four},
		"a png with a hole": {picturetest.PNG(t, holed), "image/png", fourHoled},
		"a png of 16 bits": {picturetest.PNG(t,
			picturetest.Converted(image.NewRGBA64(r), img)), "image/jpeg", four},
		"a png of 16 bits with a hole": {picturetest.PNG(t,
			picturetest.Converted(image.NewNRGBA64(r), holed)), "image/png", fourHoled},
		"a png with a palette": {picturetest.PNG(t,
			picturetest.Converted(image.NewPaletted(r, palette.WebSafe), img)), "image/jpeg", four},
		"a png with a palette and a hole": {picturetest.PNG(t,
			picturetest.Converted(image.NewPaletted(r,
				color.Palette{picturetest.Red, picturetest.Lime, picturetest.Blue,
					picturetest.Hole}), holed)), "image/png", fourHoled},
		"a grey png": {picturetest.PNG(t,
			picturetest.Converted(image.NewGray(r), picturetest.Quarters(160, 80, grey...))),
			"image/jpeg", grey},
		"a grey png of 16 bits": {picturetest.PNG(t,
			picturetest.Converted(image.NewGray16(r), picturetest.Quarters(160, 80, grey...))),
			"image/jpeg", grey},
		"a jpeg": {picturetest.JPEG(t, img), "image/jpeg", four},
		"a grey jpeg": {picturetest.JPEG(t,
			picturetest.Converted(image.NewGray(r), picturetest.Quarters(160, 80, grey...))),
			"image/jpeg", grey},
		"a jpeg without subsampling": {picturetest.JPEG(t, ycc), "image/jpeg",
			[]color.Color{picturetest.White, picturetest.White, picturetest.White,
				picturetest.White}},
		"a CMYK jpeg": {picturetest.Fixture(t, picturetest.CMYKJPEG),
			"image/jpeg", four},
		"a progressive jpeg": {picturetest.Fixture(t, picturetest.ProgressiveJPEG),
			"image/jpeg", four},
		"a gif": {picturetest.GIF(t, img), "image/jpeg", four},
		"a gif with a hole": {picturetest.GIF(t,
			picturetest.Converted(image.NewPaletted(r,
				color.Palette{picturetest.Hole, picturetest.Red, picturetest.Lime,
					picturetest.Blue}), holed)), "image/png", fourHoled},
		"a webp": {picturetest.Fixture(t, picturetest.LossyWebP),
			"image/jpeg", four},
		"a webp without loss": {picturetest.Fixture(t, picturetest.LosslessWebP),
			"image/jpeg", four},
		"a webp with a hole": {picturetest.Fixture(t, picturetest.AlphaWebP),
			"image/png", fourHoled},
	} {
		t.Run(name, func(t *testing.T) {
			got, mediaType := shrunkTo(t, test.data, 16, 8)
			if b := got.Bounds(); b.Dx() != 16 || b.Dy() != 8 || mediaType != test.mediaType {
				t.Errorf("%s of %v, want %s of 16 × 8", mediaType, b, test.mediaType)
			}
			checkQuarters(t, got, test.want...)
			again, _, err := shrinkBytes(t, test.data, 16, 8)
			must(t, err)
			if first, _, _ := shrinkBytes(t, test.data, 16, 8); !bytes.Equal(first, again) {
				t.Error("the same picture has two results")
			}
		})
	}
}

func TestShrink_AspectAndSize(t *testing.T) {
	for name, test := range map[string]struct{ w, h, width, height, wantW, wantH int }{
		"fits already":              {20, 10, 256, 256, 20, 10},
		"fits exactly":              {256, 100, 256, 256, 256, 100},
		"one pixel":                 {1, 1, 1, 1, 1, 1},
		"too wide":                  {400, 200, 100, 100, 100, 50},
		"too high":                  {200, 400, 100, 100, 50, 100},
		"both, wider than the room": {400, 300, 100, 90, 100, 75},
		"both, higher":              {300, 400, 100, 90, 68, 90},
		"a little too wide":         {101, 100, 100, 100, 100, 99},
		"a line":                    {3000, 1, 100, 100, 100, 1},
		"a column":                  {1, 3000, 100, 100, 1, 100},
		"odd sizes":                 {1237, 733, 101, 97, 101, 60},
	} {
		t.Run(name, func(t *testing.T) {
			got, mediaType := shrunkTo(t,
				picturetest.PNG(t,
					picturetest.Quarters(test.w, test.h, picturetest.Red, picturetest.Red,
						picturetest.Red, picturetest.Red)), test.width, test.height)
			if b := got.Bounds(); b.Dx() != test.wantW || b.Dy() != test.wantH {
				t.Errorf("%d × %d, want %d × %d", b.Dx(), b.Dy(), test.wantW, test.wantH)
			}
			if mediaType != "image/jpeg" {
				t.Errorf("an opaque picture has become %s", mediaType)
			}
			checkQuarters(t, got, picturetest.Red, picturetest.Red, picturetest.Red,
				picturetest.Red)
		})
	}
	for _, side := range []int{0, -1, maxShrunk + 1} {
		if _, _, err := shrinkBytes(t,
			picturetest.PNG(t,
				picturetest.Quarters(2, 2, picturetest.Red, picturetest.Red, picturetest.Red,
					picturetest.Red)), side, 1); err == nil {
			t.Errorf("a picture has been shrunk to a width of %d", side)
		}
	}
}

// TestLossyWebP_Contrast: white is white, not the 235 of VP8, and red is full
// red.
func TestLossyWebP_Contrast(t *testing.T) {
	for name, text := range map[string]string{
		"lossy":             picturetest.LossyWebP,
		"lossy with a hole": picturetest.AlphaWebP,
		"without loss":      picturetest.LosslessWebP,
	} {
		got, _ := shrunkTo(t, picturetest.Fixture(t, text), 64, 32)
		for i, at := range []image.Point{{16, 8}, {48, 8}, {16, 24}, {48, 24}} {
			r, g, b, a := got.At(at.X, at.Y).RGBA()
			for _, value := range []uint32{r, g, b} {
				if value := value >> 8; a > 0 && value > 8 && value < 247 {
					t.Errorf("%s: quarter %d is %d %d %d", name, i, r>>8, g>>8, b>>8)
				}
			}
		}
	}
}

// TestShrink_TransparentPixels has red beside a fully transparent green:
// only red may be visible, however faint.
func TestShrink_TransparentPixels(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 999, 999))
	for i := range img.Pix[:len(img.Pix)/4] {
		colour := color.NRGBA{0, 255, 0, 0}
		if i%3 == 0 {
			colour = color.NRGBA{255, 0, 0, 255}
		}
		img.SetNRGBA(i%999, i/999, colour)
	}
	for _, side := range []int{10, 300, 700} {
		got, mediaType := shrunkTo(t, picturetest.PNG(t, img), side, side)
		if mediaType != "image/png" {
			t.Fatalf("the result is %s", mediaType)
		}
		for y := range side {
			for x := range side {
				if r, g, b, a := got.At(x, y).RGBA(); g > r/50 || b > r/50 || r != a {
					t.Fatalf("at %d side %d,%d: %d %d %d %d", side, x, y, r, g, b, a)
				}
			}
		}
	}
}

func TestShrink_TurnsUpright(t *testing.T) {
	// The displayed quarters (red, lime over blue, white) by orientation.
	seen := map[uint16][]color.Color{
		1: {picturetest.Red, picturetest.Lime, picturetest.Blue, picturetest.White},
		2: {picturetest.Lime, picturetest.Red, picturetest.White, picturetest.Blue},
		3: {picturetest.White, picturetest.Blue, picturetest.Lime, picturetest.Red},
		4: {picturetest.Blue, picturetest.White, picturetest.Red, picturetest.Lime},
		5: {picturetest.Red, picturetest.Blue, picturetest.Lime, picturetest.White},
		6: {picturetest.Blue, picturetest.Red, picturetest.White, picturetest.Lime},
		7: {picturetest.White, picturetest.Lime, picturetest.Blue, picturetest.Red},
		8: {picturetest.Lime, picturetest.White, picturetest.Red, picturetest.Blue},
	}
	img := picturetest.Quarters(160, 80, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	for orientation, want := range seen {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			exif := picturetest.EXIF(order, orientation, "")
			marked := picturetest.Join([]byte(exifMark), exif)
			for name, data := range map[string][]byte{
				"jpeg": picturetest.InJPEG(picturetest.JPEG(t, img),
					picturetest.JPEGSegment(0xE0,
						[]byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")),
					picturetest.JPEGSegment(0xE1, marked)),
				"jpeg with XMP before": picturetest.InJPEG(picturetest.JPEG(t, img),
					picturetest.JPEGSegment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00<x/>")),
					picturetest.JPEGSegment(0xE1, marked)),
				"jpeg with bytes to fill": picturetest.InJPEG(picturetest.JPEG(t, img),
					[]byte{0xFF, 0xFF}, picturetest.JPEGSegment(0xE1, marked)),
				"png": picturetest.InPNG(picturetest.PNG(t, img),
					picturetest.PNGChunk("eXIf", exif)),
				"webp": picturetest.WebP(picturetest.WebPCanvas(8, 64, 32),
					picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)),
					picturetest.WebPChunk("EXIF", exif)),
				"webp with a mark before": picturetest.WebP(picturetest.WebPCanvas(8, 64, 32),
					picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LosslessWebP)),
					picturetest.WebPChunk("EXIF", marked)),
				"progressive jpeg": picturetest.InJPEG(picturetest.Fixture(t,
					picturetest.ProgressiveJPEG), picturetest.JPEGSegment(0xE1, marked)),
				"jpeg with a second, of 3": picturetest.InJPEG(picturetest.JPEG(t, img),
					picturetest.JPEGSegment(0xE1, marked),
					picturetest.JPEGSegment(0xE1,
						picturetest.Join([]byte(exifMark), picturetest.EXIF(order, 3, "")))),
			} {
				got, _ := shrunkTo(t, data, 8, 6)
				w, h := 8, 4
				if orientation >= 5 {
					w, h = 3, 6
				}
				if b := got.Bounds(); b.Dx() != w || b.Dy() != h {
					t.Errorf("%s, %d: %v", name, orientation, b)
				}
				if got, _ := shrunkTo(t, data, 32, 32); !t.Failed() {
					checkQuarters(t, got, want...)
				}
				if t.Failed() {
					t.Fatalf("%s, orientation %d, %v", name, orientation, order)
				}
			}
		}
	}
}

// TestOrientation_SearchBound has the orientation after more chunks than are
// searched.
func TestOrientation_SearchBound(t *testing.T) {
	exif := picturetest.EXIF(binary.BigEndian, 6, "")
	for n, want := range map[int]int{100: 8, maxPictureChunks: 4} {
		for name, data := range map[string][]byte{
			"png": picturetest.InPNG(picturetest.PNG(t,
				picturetest.Quarters(8, 4, picturetest.Red, picturetest.Lime, picturetest.Blue,
					picturetest.White)), bytes.Repeat(picturetest.PNGChunk("prIv", nil), n),
				picturetest.PNGChunk("eXIf", exif)),
			"webp": picturetest.WebP(picturetest.WebPCanvas(8, 64, 32),
				picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)),
				bytes.Repeat(picturetest.WebPChunk("priv", nil), n),
				picturetest.WebPChunk("EXIF", exif)),
		} {
			got, _ := shrunkTo(t, data, 8, 8)
			if h := got.Bounds().Dy(); h != want {
				t.Errorf("%s behind %d chunks: the height is %d, want %d", name, n, h, want)
			}
		}
	}
}

func TestOrientation_InvalidIgnored(t *testing.T) {
	good := picturetest.EXIF(binary.BigEndian, 6, "")
	at := func(i int, with ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[i:], with)
		return out
	}

	if got := orientationOf(good); got != 6 {
		t.Fatalf("the example has %d", got)
	}

	for name, exif := range map[string][]byte{
		"nothing":                     nil,
		"another byte order":          at(0, 'X', 'X'),
		"the wrong byte order":        at(0, 'I', 'I'),
		"another magic number":        at(2, 0, 43),
		"a directory past the end":    at(4, 0, 0, 1, 0),
		"a directory far past it":     at(4, 0xFF, 0xFF, 0xFF, 0xFF),
		"a directory at its very end": at(4, 0, 0, 0, byte(len(good)-1)),
		"no entries":                  at(8, 0, 0),
		"another tag":                 at(22, 0x01, 0x13),
		"another type":                at(24, 0, 4),
		"two values":                  at(26, 0, 0, 0, 2),
		"0":                           at(30, 0, 0),
		"9":                           at(30, 0, 9),
		"65535":                       at(30, 0xFF, 0xFF),
	} {
		if got := orientationOf(exif); got != upright {
			t.Errorf("%s: %d", name, got)
		}
	}

	for n := range 32 {
		if got := orientationOf(good[:n]); got != upright {
			t.Errorf("%d bytes: %d", n, got)
		}
	}
}
