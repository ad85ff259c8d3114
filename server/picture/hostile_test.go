package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reeve/server/picture/picturetest"
	"reeve/store/errs"
)

// deflated returns n zeros compressed by zlib.
func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.BestCompression)
	must(t, err)
	_, err = w.Write(make([]byte, n))
	must(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

// hostile is a picture whose header contradicts its content, with the bytes that may be
// allocated for it and the expected error.
type hostile struct {
	data []byte
	most uint64
	kind errs.Kind
	says string
}

func hostilePictures(t testing.TB) map[string]hostile {
	const little = 1 << 20
	photo := picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	plain, progressive := picturetest.JPEG(t, photo), picturetest.Fixture(t,
		picturetest.ProgressiveJPEG)
	lossy, lossless := picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP)), picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LosslessWebP))
	end := picturetest.PNGChunk("IEND", nil)
	frame := plain[bytes.Index(plain, []byte{0xFF, 0xC0}):][:19]
	overlong := picturetest.WebP(lossy)
	binary.LittleEndian.PutUint32(overlong[4:], 15<<20)
	binary.LittleEndian.PutUint32(overlong[16:], 15<<20-12)
	huge := append([]byte{0x2F}, binary.LittleEndian.AppendUint32(nil, 16383|16383<<14)...)
	return map[string]hostile{
		"png of 1.6 billion pixels": {picturetest.Join(picturetest.PNGHeader(40000, 40000,
			1, 0, 0), picturetest.PNGChunk("IDAT", deflated(t, 1<<20)), end), little, errs.Invalid,
			"40 million"},
		"png of one row": {picturetest.Join(picturetest.PNGHeader(39_000_000,
			1, 16, 6, 0), picturetest.PNGChunk("IDAT", deflated(t, 10)), end), little,
			errs.Invalid, "on a side"},
		"png of negative width": {picturetest.Join(picturetest.PNGHeader(1<<31, 1, 8,
			2, 0), end), little, errs.Invalid, "damaged"},
		"png of no width": {picturetest.Join(picturetest.PNGHeader(0, 9, 8, 2,
			0), end), little, errs.Invalid, "damaged"},
		"png of 36 million pixels, no data": {picturetest.Join(picturetest.PNGHeader(6000, 6000,
			8, 0, 0), picturetest.PNGChunk("IDAT", deflated(t, 10)), end), 40 << 20, errs.Invalid,
			"damaged"},
		"the same, interlaced, of 16 bits": {picturetest.Join(picturetest.PNGHeader(6000, 6000,
			16, 6, 1), picturetest.PNGChunk("IDAT", deflated(t, 10)), end), little, errs.Invalid,
			"MiB of memory"},
		"png with too much pixel data": {picturetest.Join(picturetest.PNGHeader(1, 1, 8, 0,
			0), picturetest.PNGChunk("IDAT", deflated(t, 20<<20)), end), little, errs.Invalid,
			"damaged"},
		"png with two headers": {picturetest.Join(picturetest.PNGHeader(1, 1, 8, 0,
			0), picturetest.PNGHeader(9000, 9000, 8, 0, 0)[8:],
			picturetest.PNGChunk("IDAT", deflated(t, 2)), end), little, errs.Invalid, "damaged"},
		"png with a chunk of 2 GiB": {picturetest.Join(picturetest.PNGHeader(1, 1, 8, 0,
			0), []byte{0x7F, 0xFF, 0xFF, 0xFF, 'i', 'C', 'C', 'P', 1, 2, 3}), little, errs.Invalid,
			"damaged"},
		"png with an eXIf of 2 GiB": {picturetest.Join(picturetest.PNGHeader(1, 1, 8, 0,
			0), []byte{0x7F, 0xFF, 0xFF, 0xFF, 'e', 'X', 'I', 'f', 1, 2, 3}), little, errs.Invalid,
			"damaged"},
		"jpeg of four billion pixels": {picturetest.JPEGSized(t, plain, 65535, 65535),
			little, errs.Invalid, "40 million"},
		"jpeg of no height": {picturetest.JPEGSized(t, plain, 100, 0), little,
			errs.Invalid, "no pixels"},
		"jpeg of 36 million pixels": {picturetest.JPEGSized(t, plain, 6000, 6000),
			110 << 20, errs.Invalid, "damaged"},
		"progressive jpeg of as many": {picturetest.JPEGSized(t, progressive, 6000, 6000),
			little, errs.Invalid, "MiB of memory"},
		"progressive jpeg of 16 million": {picturetest.JPEGSized(t, progressive, 4000, 4000),
			15 * 17_000_000, errs.Invalid, "damaged"},
		"jpeg with two frames, small, large": {picturetest.InJPEG(picturetest.JPEGSized(t, plain,
			6000, 6000), frame), little, errs.Invalid, "damaged"},
		"jpeg with two frames, large, small": {picturetest.InJPEG(plain,
			picturetest.JPEGSized(t, picturetest.Join([]byte{0xFF, 0xD8}, frame), 6000, 6000)[2:]),
			little, errs.Invalid, "damaged"},
		"jpeg without an end to its headers": {picturetest.Join(plain[:2],
			bytes.Repeat(picturetest.JPEGSegment(0xE1, make([]byte, 65000)), 30)), 4 << 20,
			errs.Invalid, "damaged"},
		"gif of 3.6 billion pixels": {picturetest.Join(picturetest.GIFHeader(60000, 60000),
			picturetest.GIFFrame(0, 0, 60000, 60000, 1, 0x44)), little, errs.Invalid, "40 million"},
		"gif of no pixels": {picturetest.Join(picturetest.GIFHeader(0, 0),
			picturetest.GIFFrame(0, 0, 0, 0)), little, errs.Invalid, "no pixels"},
		"gif with a frame beyond its screen": {picturetest.Join(picturetest.GIFHeader(10, 10),
			picturetest.GIFFrame(0, 0, 60000, 60000, 1, 0x44)), little, errs.Invalid, "damaged"},
		"gif with a frame beside its screen": {picturetest.Join(picturetest.GIFHeader(10, 10),
			picturetest.GIFFrame(9, 9, 2, 1, 1, 0x44)), little, errs.Invalid, "damaged"},
		"gif with a frame of nothing": {picturetest.Join(picturetest.GIFHeader(10, 10),
			picturetest.GIFFrame(10, 10, 0, 0, 2, 0x2C, 0)), little, errs.Invalid, "damaged"},
		"gif of 36 million pixels, no data": {picturetest.Join(picturetest.GIFHeader(6000, 6000),
			picturetest.GIFFrame(0, 0, 6000, 6000, 1, 0x44)), 40 << 20, errs.Invalid, "damaged"},
		"webp of 268 million pixels": {picturetest.WebP(picturetest.WebPChunk("VP8L", huge)),
			little, errs.Invalid, "40 million"},
		"webp, large canvas, small frame": {picturetest.WebP(picturetest.WebPCanvas(0, 6000,
			6000), lossy), little, errs.Invalid, "damaged"},
		"webp, small canvas, large frame": {picturetest.WebP(picturetest.WebPCanvas(0, 6, 6),
			lossy), little, errs.Invalid, "damaged"},
		"the same without loss": {picturetest.WebP(picturetest.WebPCanvas(0, 6, 6),
			picturetest.WebPChunk("VP8L", huge)), little, errs.Invalid, "damaged"},
		"webp, large canvas, no loss": {picturetest.WebP(picturetest.WebPCanvas(0, 6000,
			6000), lossless), little, errs.Invalid, "MiB of memory"},
		"webp with two canvases": {picturetest.WebP(picturetest.WebPCanvas(0, 64, 32),
			picturetest.WebPCanvas(0, 6000, 6000), lossy), little, errs.Invalid, "damaged"},
		"webp with a canvas of 2^48": {picturetest.WebP(picturetest.WebPCanvas(0, 1<<24,
			1<<24), lossy), little, errs.Invalid, "damaged"},
		"webp with a canvas of one line": {picturetest.WebP(picturetest.WebPCanvas(16, 1<<24,
			1), picturetest.WebPChunk("ALPH", make([]byte, 9)), lossy), little, errs.Invalid,
			"on a side"},
		"webp, 36 million and no alpha": {picturetest.WebP(picturetest.WebPCanvas(16, 6000,
			6000), picturetest.WebPChunk("ALPH", []byte{0}), lossy), little, errs.Invalid,
			"MiB of memory"},
		"webp of no pixels": {picturetest.WebP(picturetest.WebPChunk("VP8 ",
			[]byte{0x10, 0, 0, 0x9D, 1, 0x2A, 0, 0, 0, 0})), little, errs.Invalid, "no pixels"},
		"webp that claims 15 MiB": {overlong, little, errs.Invalid, "damaged"},
		"webp, animated": {picturetest.WebP(picturetest.WebPCanvas(2, 64, 32),
			picturetest.WebPChunk("ANIM", make([]byte, 6))), little, errs.BadMedia, "animated"},
		"webp of nothing": {picturetest.WebP(), little, errs.Invalid, "damaged"},
	}
}

// allocating runs fn and returns the number of bytes allocated meanwhile.
func allocating(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestShrink_HostilePictures(t *testing.T) {
	for name, test := range hostilePictures(t) {
		t.Run(name, func(t *testing.T) {
			var err error
			used := allocating(func() { _, _, err = shrinkBytes(t, test.data, 64, 64) })
			checkPictureFault(t, err, test.kind, test.says)
			if used > test.most {
				t.Errorf("%d KiB were allocated, at most %d are allowed", used>>10, test.most>>10)
			}
		})
	}
}

func checkPictureFault(t *testing.T, err error, kind errs.Kind, says string) {
	t.Helper()
	if !errs.Is(err, kind) || !strings.Contains(errs.Of(err).Fields["file"].String(), says) {
		t.Errorf("got %v, want a fault of kind %d on file that says %q", err, kind, says)
	}
}

// TestShrink_IgnoresBallast has compressed chunks that a naive reader would unpack.
func TestShrink_IgnoresBallast(t *testing.T) {
	photo := picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	bomb := append([]byte("x\x00\x00"), deflated(t, 40<<20)...)
	for name, data := range map[string][]byte{
		"png": picturetest.InPNG(picturetest.PNG(t, photo), picturetest.PNGChunk("iCCP", bomb),
			picturetest.PNGChunk("zTXt", bomb), picturetest.PNGChunk("tEXt", make([]byte, 4<<20))),
		"jpeg": picturetest.InJPEG(picturetest.JPEG(t, photo),
			bytes.Repeat(picturetest.JPEGSegment(0xE2, make([]byte, 65000)), 60)),
		"gif": picturetest.InGIF(picturetest.GIF(t, photo),
			picturetest.Join([]byte{0x21, 0xFE}, picturetest.GIFBlocks(make([]byte, 4<<20)))),
		"webp": picturetest.WebP(picturetest.WebPCanvas(0x20, 64, 32),
			picturetest.WebPChunk("ICCP", make([]byte, 4<<20)),
			picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LossyWebP))),
	} {
		var err error
		used := allocating(func() { _, _, err = shrinkBytes(t, data, 64, 64) })
		must(t, err)
		if used > 3<<20 {
			t.Errorf("%s: %d KiB were allocated", name, used>>10)
		}
	}
}

func TestShrink_OtherFiles(t *testing.T) {
	for name, data := range map[string]string{
		"nothing":          "",
		"one byte":         "\x89",
		"SVG":              `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"SVG with XML":     `<?xml version="1.0"?><svg/>`,
		"HTML":             "<!doctype html><script>alert(1)</script>",
		"TIFF":             "II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"TIFF, big endian": "MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00",
		"BMP":              "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00",
		"icon":             "\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00",
		"AVIF":             "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00",
		"PDF":              "%PDF-1.7\n%\xe2\xe3\xcf\xd3",
		"sound":            "RIFF\x24\x00\x00\x00WAVEfmt ",
		"an old GIF":       "GIF88a\x01\x00\x01\x00",
		"HTML, then a png": "<html>" + string(picturetest.PNG(t,
			picturetest.Quarters(2, 2, picturetest.Red, picturetest.Red, picturetest.Red,
				picturetest.Red))),
		"half a mark": "\x89PNG\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := shrinkBytes(t, []byte(data), 64, 64)
			checkPictureFault(t, err, errs.BadMedia, "must be a PNG, JPEG, GIF or WebP image")
		})
	}
}

// TestShrink_DamagedPictures truncates every kind of picture at every byte, and
// flips a bit of every byte.
func TestShrink_DamagedPictures(t *testing.T) {
	for name, data := range samplePictures(t) {
		for i := range data {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			for how, data := range map[string][]byte{"cut at": data[:i], "wrong at": damaged} {
				if out, mediaType, err := shrinkBytes(t, data, 8, 8); err == nil {
					picturetest.Decode(t, out, mediaType, 8, 8)
				} else if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.BadMedia) {
					t.Errorf("%s %s %d: %v", name, how, i, err)
				}
			}
		}
	}
}

func TestShrink_LargeFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "large.png"))
	must(t, err)
	defer file.Close()
	_, err = file.Write(picturetest.PNG(t,
		picturetest.Quarters(2, 2, picturetest.Red, picturetest.Red, picturetest.Red,
			picturetest.Red)))
	must(t, errors.Join(err, file.Truncate(maxPictureBytes)))
	_, _, err = NewScaler().Scale(context.Background(), file, 8, 8)
	must(t, err)
	must(t, file.Truncate(maxPictureBytes+1))
	_, _, err = NewScaler().Scale(context.Background(), file, 8, 8)
	checkPictureFault(t, err, errs.TooLarge, "64 MiB")
}

func TestDecoding_PanicIsDamage(t *testing.T) {
	pic := &picture{width: 1, height: 1, orientation: upright, format: &pictureFormat{
		name: "test", decode: func(io.Reader) (image.Image, error) {
			var none []int
			return nil, errors.New(string(rune(none[1])))
		},
	}}
	_, err := pic.shrunk(&pictureSource{ctx: context.Background(), src: bytes.NewReader(nil)}, 8, 8)
	checkPictureFault(t, err, errs.Invalid, "damaged")
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("the log would not say why: %v", err)
	}
}
