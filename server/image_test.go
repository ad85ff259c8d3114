package server

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/color/palette"
	"testing"
)

// near tells whether a colour is another, give or take what a jpeg loses.
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

// checkQuarters looks at the middle of each quarter.
func checkQuarters(t *testing.T, img image.Image, want ...color.Color) {
	t.Helper()
	b := img.Bounds()
	for i, at := range []image.Point{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		if got := img.At(b.Dx()*at.X/4, b.Dy()*at.Y/4); !near(got, want[i]) {
			t.Errorf("quarter %d is %v, want %v", i, got, want[i])
		}
	}
}

func TestShrinkReadsEveryKindOfPicture(t *testing.T) {
	img := quarters(160, 80, red, lime, blue, white)
	holed := quarters(160, 80, red, lime, blue, hole)
	grey := []color.Color{color.Gray{0}, color.Gray{80}, color.Gray{160}, color.Gray{255}}
	ycc := image.NewYCbCr(image.Rect(0, 0, 160, 80), image.YCbCrSubsampleRatio444)
	for i := range ycc.Y {
		ycc.Y[i], ycc.Cb[i], ycc.Cr[i] = 255, 128, 128
	}
	r := img.Bounds()
	four, fourHoled := []color.Color{red, lime, blue, white}, []color.Color{red, lime, blue, hole}
	for name, test := range map[string]struct {
		data      []byte
		mediaType string
		want      []color.Color
	}{
		"a png":                           {asPNG(t, img), "image/jpeg", four},
		"a png with a hole":               {asPNG(t, holed), "image/png", fourHoled},
		"a png of 16 bits":                {asPNG(t, converted(image.NewRGBA64(r), img)), "image/jpeg", four},
		"a png of 16 bits with a hole":    {asPNG(t, converted(image.NewNRGBA64(r), holed)), "image/png", fourHoled},
		"a png with a palette":            {asPNG(t, converted(image.NewPaletted(r, palette.WebSafe), img)), "image/jpeg", four},
		"a png with a palette and a hole": {asPNG(t, converted(image.NewPaletted(r, color.Palette{red, lime, blue, hole}), holed)), "image/png", fourHoled},
		"a grey png":                      {asPNG(t, converted(image.NewGray(r), quarters(160, 80, grey...))), "image/jpeg", grey},
		"a grey png of 16 bits":           {asPNG(t, converted(image.NewGray16(r), quarters(160, 80, grey...))), "image/jpeg", grey},
		"a jpeg":                          {asJPEG(t, img), "image/jpeg", four},
		"a grey jpeg":                     {asJPEG(t, converted(image.NewGray(r), quarters(160, 80, grey...))), "image/jpeg", grey},
		"a jpeg without subsampling":      {asJPEG(t, ycc), "image/jpeg", []color.Color{white, white, white, white}},
		"a CMYK jpeg":                     {fixture(t, cmykJPEG), "image/jpeg", four},
		"a progressive jpeg":              {fixture(t, progressiveJPEG), "image/jpeg", four},
		"a gif":                           {asGIF(t, img), "image/jpeg", four},
		"a gif with a hole":               {asGIF(t, converted(image.NewPaletted(r, color.Palette{hole, red, lime, blue}), holed)), "image/png", fourHoled},
		"a webp":                          {fixture(t, lossyWebP), "image/jpeg", four},
		"a webp without loss":             {fixture(t, losslessWebP), "image/jpeg", four},
		"a webp with a hole":              {fixture(t, alphaWebP), "image/png", fourHoled},
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

func TestShrinkKeepsTheAspectAndNeverEnlarges(t *testing.T) {
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
			got, mediaType := shrunkTo(t, asPNG(t, quarters(test.w, test.h, red, red, red, red)), test.width, test.height)
			if b := got.Bounds(); b.Dx() != test.wantW || b.Dy() != test.wantH {
				t.Errorf("%d × %d, want %d × %d", b.Dx(), b.Dy(), test.wantW, test.wantH)
			}
			if mediaType != "image/jpeg" {
				t.Errorf("an opaque picture has become %s", mediaType)
			}
			checkQuarters(t, got, red, red, red, red)
		})
	}
	for _, side := range []int{0, -1, maxShrunk + 1} {
		if _, _, err := shrinkBytes(t, asPNG(t, quarters(2, 2, red, red, red, red)), side, 1); err == nil {
			t.Errorf("a picture has been shrunk to a width of %d", side)
		}
	}
}

// TestLossyWebPKeepsItsContrast: white is white and not the 235 of VP8, red is full.
func TestLossyWebPKeepsItsContrast(t *testing.T) {
	for name, text := range map[string]string{"lossy": lossyWebP, "lossy with a hole": alphaWebP, "without loss": losslessWebP} {
		got, _ := shrunkTo(t, fixture(t, text), 64, 32)
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

// TestShrinkMixesNoColourOfTheTransparent has red beside an invisible green: what
// is left to see is red, however faint.
func TestShrinkMixesNoColourOfTheTransparent(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 999, 999))
	for i := range img.Pix[:len(img.Pix)/4] {
		colour := color.NRGBA{0, 255, 0, 0}
		if i%3 == 0 {
			colour = color.NRGBA{255, 0, 0, 255}
		}
		img.SetNRGBA(i%999, i/999, colour)
	}
	for _, side := range []int{10, 300, 700} {
		got, mediaType := shrunkTo(t, asPNG(t, img), side, side)
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

func TestShrinkTurnsPicturesUpright(t *testing.T) {
	// What is seen of red, lime over blue, white, by orientation.
	seen := map[uint16][]color.Color{
		1: {red, lime, blue, white}, 2: {lime, red, white, blue}, 3: {white, blue, lime, red}, 4: {blue, white, red, lime},
		5: {red, blue, lime, white}, 6: {blue, red, white, lime}, 7: {white, lime, blue, red}, 8: {lime, white, red, blue},
	}
	img := quarters(160, 80, red, lime, blue, white)
	for orientation, want := range seen {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			exif := exifOf(order, orientation, "")
			marked := joined([]byte(exifMark), exif)
			for name, data := range map[string][]byte{
				"jpeg":                     inJPEG(asJPEG(t, img), jpegSegment(0xE0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")), jpegSegment(0xE1, marked)),
				"jpeg with XMP before":     inJPEG(asJPEG(t, img), jpegSegment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00<x/>")), jpegSegment(0xE1, marked)),
				"jpeg with bytes to fill":  inJPEG(asJPEG(t, img), []byte{0xFF, 0xFF}, jpegSegment(0xE1, marked)),
				"png":                      inPNG(asPNG(t, img), pngChunk("eXIf", exif)),
				"webp":                     webpOf(webpCanvas(8, 64, 32), webpChunks(fixture(t, lossyWebP)), webpChunk("EXIF", exif)),
				"webp with a mark before":  webpOf(webpCanvas(8, 64, 32), webpChunks(fixture(t, losslessWebP)), webpChunk("EXIF", marked)),
				"progressive jpeg":         inJPEG(fixture(t, progressiveJPEG), jpegSegment(0xE1, marked)),
				"jpeg with a second, of 3": inJPEG(asJPEG(t, img), jpegSegment(0xE1, marked), jpegSegment(0xE1, joined([]byte(exifMark), exifOf(order, 3, "")))),
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

// TestOrientationIsNotSoughtForEver has it behind more chunks than a picture has.
func TestOrientationIsNotSoughtForEver(t *testing.T) {
	exif := exifOf(binary.BigEndian, 6, "")
	for n, want := range map[int]int{100: 8, maxPictureChunks: 4} {
		for name, data := range map[string][]byte{
			"png":  inPNG(asPNG(t, quarters(8, 4, red, lime, blue, white)), bytes.Repeat(pngChunk("prIv", nil), n), pngChunk("eXIf", exif)),
			"webp": webpOf(webpCanvas(8, 64, 32), webpChunks(fixture(t, lossyWebP)), bytes.Repeat(webpChunk("priv", nil), n), webpChunk("EXIF", exif)),
		} {
			got, _ := shrunkTo(t, data, 8, 8)
			if h := got.Bounds().Dy(); h != want {
				t.Errorf("%s behind %d chunks: the height is %d, want %d", name, n, h, want)
			}
		}
	}
}

func TestBrokenOrientationTurnsNothing(t *testing.T) {
	good := exifOf(binary.BigEndian, 6, "")
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
