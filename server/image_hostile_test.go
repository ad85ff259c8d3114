package server

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

	"reeve/store/errs"
)

// deflated are n zeros as zlib has them.
func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.BestCompression)
	must(t, err)
	_, err = w.Write(make([]byte, n))
	must(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

// hostile are pictures that promise one thing and hold another, by name, with how
// many bytes may be allocated over them and what the answer says.
type hostile struct {
	data []byte
	most uint64
	kind errs.Kind
	says string
}

func hostilePictures(t testing.TB) map[string]hostile {
	const little = 1 << 20
	photo := quarters(64, 32, red, lime, blue, white)
	plain, progressive := asJPEG(t, photo), fixture(t, progressiveJPEG)
	lossy, lossless := webpChunks(fixture(t, lossyWebP)), webpChunks(fixture(t, losslessWebP))
	end := pngChunk("IEND", nil)
	frame := plain[bytes.Index(plain, []byte{0xFF, 0xC0}):][:19]
	overlong := webpOf(lossy)
	binary.LittleEndian.PutUint32(overlong[4:], 15<<20)
	binary.LittleEndian.PutUint32(overlong[16:], 15<<20-12)
	huge := append([]byte{0x2F}, binary.LittleEndian.AppendUint32(nil, 16383|16383<<14)...)
	return map[string]hostile{
		"png of 1.6 billion pixels":          {joined(pngHeader(40000, 40000, 1, 0, 0), pngChunk("IDAT", deflated(t, 1<<20)), end), little, errs.Invalid, "40 million"},
		"png of one row":                     {joined(pngHeader(39_000_000, 1, 16, 6, 0), pngChunk("IDAT", deflated(t, 10)), end), little, errs.Invalid, "on a side"},
		"png of negative width":              {joined(pngHeader(1<<31, 1, 8, 2, 0), end), little, errs.Invalid, "damaged"},
		"png of no width":                    {joined(pngHeader(0, 9, 8, 2, 0), end), little, errs.Invalid, "damaged"},
		"png of 36 million pixels, no data":  {joined(pngHeader(6000, 6000, 8, 0, 0), pngChunk("IDAT", deflated(t, 10)), end), 40 << 20, errs.Invalid, "damaged"},
		"the same, interlaced, of 16 bits":   {joined(pngHeader(6000, 6000, 16, 6, 1), pngChunk("IDAT", deflated(t, 10)), end), little, errs.Invalid, "MiB of memory"},
		"png with too much pixel data":       {joined(pngHeader(1, 1, 8, 0, 0), pngChunk("IDAT", deflated(t, 20<<20)), end), little, errs.Invalid, "damaged"},
		"png with two headers":               {joined(pngHeader(1, 1, 8, 0, 0), pngHeader(9000, 9000, 8, 0, 0)[8:], pngChunk("IDAT", deflated(t, 2)), end), little, errs.Invalid, "damaged"},
		"png with a chunk of 2 GiB":          {joined(pngHeader(1, 1, 8, 0, 0), []byte{0x7F, 0xFF, 0xFF, 0xFF, 'i', 'C', 'C', 'P', 1, 2, 3}), little, errs.Invalid, "damaged"},
		"png with an eXIf of 2 GiB":          {joined(pngHeader(1, 1, 8, 0, 0), []byte{0x7F, 0xFF, 0xFF, 0xFF, 'e', 'X', 'I', 'f', 1, 2, 3}), little, errs.Invalid, "damaged"},
		"jpeg of four billion pixels":        {jpegSized(t, plain, 65535, 65535), little, errs.Invalid, "40 million"},
		"jpeg of no height":                  {jpegSized(t, plain, 100, 0), little, errs.Invalid, "no pixels"},
		"jpeg of 36 million pixels":          {jpegSized(t, plain, 6000, 6000), 110 << 20, errs.Invalid, "damaged"},
		"progressive jpeg of as many":        {jpegSized(t, progressive, 6000, 6000), little, errs.Invalid, "MiB of memory"},
		"progressive jpeg of 16 million":     {jpegSized(t, progressive, 4000, 4000), 15 * 17_000_000, errs.Invalid, "damaged"},
		"jpeg with two frames, small, large": {inJPEG(jpegSized(t, plain, 6000, 6000), frame), little, errs.Invalid, "damaged"},
		"jpeg with two frames, large, small": {inJPEG(plain, jpegSized(t, joined([]byte{0xFF, 0xD8}, frame), 6000, 6000)[2:]), little, errs.Invalid, "damaged"},
		"jpeg without an end to its headers": {joined(plain[:2], bytes.Repeat(jpegSegment(0xE1, make([]byte, 65000)), 30)), 4 << 20, errs.Invalid, "damaged"},
		"gif of 3.6 billion pixels":          {joined(gifHeader(60000, 60000), gifFrame(0, 0, 60000, 60000, 1, 0x44)), little, errs.Invalid, "40 million"},
		"gif of no pixels":                   {joined(gifHeader(0, 0), gifFrame(0, 0, 0, 0)), little, errs.Invalid, "no pixels"},
		"gif with a frame beyond its screen": {joined(gifHeader(10, 10), gifFrame(0, 0, 60000, 60000, 1, 0x44)), little, errs.Invalid, "damaged"},
		"gif with a frame beside its screen": {joined(gifHeader(10, 10), gifFrame(9, 9, 2, 1, 1, 0x44)), little, errs.Invalid, "damaged"},
		"gif with a frame of nothing":        {joined(gifHeader(10, 10), gifFrame(10, 10, 0, 0, 2, 0x2C, 0)), little, errs.Invalid, "damaged"},
		"gif of 36 million pixels, no data":  {joined(gifHeader(6000, 6000), gifFrame(0, 0, 6000, 6000, 1, 0x44)), 40 << 20, errs.Invalid, "damaged"},
		"webp of 268 million pixels":         {webpOf(webpChunk("VP8L", huge)), little, errs.Invalid, "40 million"},
		"webp, large canvas, small frame":    {webpOf(webpCanvas(0, 6000, 6000), lossy), little, errs.Invalid, "damaged"},
		"webp, small canvas, large frame":    {webpOf(webpCanvas(0, 6, 6), lossy), little, errs.Invalid, "damaged"},
		"the same without loss":              {webpOf(webpCanvas(0, 6, 6), webpChunk("VP8L", huge)), little, errs.Invalid, "damaged"},
		"webp, large canvas, no loss":        {webpOf(webpCanvas(0, 6000, 6000), lossless), little, errs.Invalid, "MiB of memory"},
		"webp with two canvases":             {webpOf(webpCanvas(0, 64, 32), webpCanvas(0, 6000, 6000), lossy), little, errs.Invalid, "damaged"},
		"webp with a canvas of 2^48":         {webpOf(webpCanvas(0, 1<<24, 1<<24), lossy), little, errs.Invalid, "damaged"},
		"webp with a canvas of one line":     {webpOf(webpCanvas(16, 1<<24, 1), webpChunk("ALPH", make([]byte, 9)), lossy), little, errs.Invalid, "on a side"},
		"webp, 36 million and no alpha":      {webpOf(webpCanvas(16, 6000, 6000), webpChunk("ALPH", []byte{0}), lossy), little, errs.Invalid, "MiB of memory"},
		"webp of no pixels":                  {webpOf(webpChunk("VP8 ", []byte{0x10, 0, 0, 0x9D, 1, 0x2A, 0, 0, 0, 0})), little, errs.Invalid, "no pixels"},
		"webp that claims 15 MiB":            {overlong, little, errs.Invalid, "damaged"},
		"webp, animated":                     {webpOf(webpCanvas(2, 64, 32), webpChunk("ANIM", make([]byte, 6))), little, errs.BadMedia, "animated"},
		"webp of nothing":                    {webpOf(), little, errs.Invalid, "damaged"},
	}
}

// allocating runs fn and returns how many bytes were allocated meanwhile.
func allocating(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestShrinkRefusesHostilePicturesAtNoCost(t *testing.T) {
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
	if !errs.Is(err, kind) || !strings.Contains(errs.Of(err).Fields["file"], says) {
		t.Errorf("got %v, want a fault of kind %d on file that says %q", err, kind, says)
	}
}

// TestShrinkIgnoresBallast has chunks that a reader of them would unpack.
func TestShrinkIgnoresBallast(t *testing.T) {
	photo := quarters(64, 32, red, lime, blue, white)
	bomb := append([]byte("x\x00\x00"), deflated(t, 40<<20)...)
	for name, data := range map[string][]byte{
		"png":  inPNG(asPNG(t, photo), pngChunk("iCCP", bomb), pngChunk("zTXt", bomb), pngChunk("tEXt", make([]byte, 4<<20))),
		"jpeg": inJPEG(asJPEG(t, photo), bytes.Repeat(jpegSegment(0xE2, make([]byte, 65000)), 60)),
		"gif":  inGIF(asGIF(t, photo), joined([]byte{0x21, 0xFE}, gifBlocks(make([]byte, 4<<20)))),
		"webp": webpOf(webpCanvas(0x20, 64, 32), webpChunk("ICCP", make([]byte, 4<<20)), webpChunks(fixture(t, lossyWebP))),
	} {
		var err error
		used := allocating(func() { _, _, err = shrinkBytes(t, data, 64, 64) })
		must(t, err)
		if used > 3<<20 {
			t.Errorf("%s: %d KiB were allocated", name, used>>10)
		}
	}
}

func TestShrinkRefusesWhatIsNoPicture(t *testing.T) {
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
		"HTML, then a png": "<html>" + string(asPNG(t, quarters(2, 2, red, red, red, red))),
		"half a mark":      "\x89PNG\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := shrinkBytes(t, []byte(data), 64, 64)
			checkPictureFault(t, err, errs.BadMedia, "must be a png, jpeg, gif or webp picture")
		})
	}
}

// TestShrinkSurvivesPiecesOfPictures cuts every kind of picture at every byte, and
// turns over a bit of every byte.
func TestShrinkSurvivesPiecesOfPictures(t *testing.T) {
	for name, data := range samplePictures(t) {
		for i := range data {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << (i % 8)
			for how, data := range map[string][]byte{"cut at": data[:i], "wrong at": damaged} {
				if out, mediaType, err := shrinkBytes(t, data, 8, 8); err == nil {
					checkShrunk(t, out, mediaType, 8, 8)
				} else if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.BadMedia) {
					t.Errorf("%s %s %d: %v", name, how, i, err)
				}
			}
		}
	}
}

func TestShrinkRefusesALargeFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "large.png"))
	must(t, err)
	defer file.Close()
	_, err = file.Write(asPNG(t, quarters(2, 2, red, red, red, red)))
	must(t, errors.Join(err, file.Truncate(maxPictureBytes)))
	_, _, err = newPictures(newLimit("pictures", maxPictures, "")).shrink(context.Background(), file, 8, 8)
	must(t, err)
	must(t, file.Truncate(maxPictureBytes+1))
	_, _, err = newPictures(newLimit("pictures", maxPictures, "")).shrink(context.Background(), file, 8, 8)
	checkPictureFault(t, err, errs.TooLarge, "64 MiB")
}

func TestADecoderThatPanicsHasReadDamage(t *testing.T) {
	pic := &picture{width: 1, height: 1, orientation: upright, format: &pictureFormat{
		name: "test", decode: func(io.Reader) (image.Image, error) { var none []int; return nil, errors.New(string(rune(none[1]))) },
	}}
	_, err := pic.shrunk(&pictureSource{ctx: context.Background(), src: bytes.NewReader(nil)}, 8, 8)
	checkPictureFault(t, err, errs.Invalid, "damaged")
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("the log would not say why: %v", err)
	}
}
